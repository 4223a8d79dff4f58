"""A Trainer that is given `max_steps`: how it is built, in how many processes it runs, and what share each gets."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass

from codemods.code.calls import value_of
from codemods.code.literals import literal
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import TRAINER, Facts, is_trainer_call
from codemods.rules.steps.call_context import CallContext
from codemods.rules.steps.constant_evaluation import DATALOADER
from codemods.rules.steps.step_count_terms import Count
from codemods.rules.steps.training_loader import with_sizes


@dataclass(frozen=True)
class Trainers:
    """A Trainer that is given `max_steps`."""

    script: CallContext
    keyword: ast.keyword

    @property
    def given(self) -> dict[str | None, ast.expr]:
        return {item.arg: item.value for item in self.script.call.node.keywords}

    def count_of(self, node: ast.expr) -> Count | None:
        """What an expression counts where the Trainer is built."""
        found = self.script.reader().read(self.script.follow(node))
        window = self.script.constant(self.given.get("accumulate_grad_batches"))
        return with_sizes(self.script, found, window) if found and found.cut != 1 else found


def builds_trainer(call: CallNode, file: PythonFile, facts: Facts) -> bool:
    """Whether a call builds a Trainer: Lightning's own, by a class of the project that only derives from it, or by a
    partial."""
    partial_of = call.scope.resolve(call.node.args[0]) if call.node.args else None
    if is_trainer_call(call) or (partial_of == TRAINER and call.scope.resolve(call.node.func) == "functools.partial"):
        return True
    dotted = call.scope.resolve(call.node.func)
    known = facts.find_class(dotted, file.path) if dotted else None
    return (
        known is not None
        and facts.kind(known) == TRAINER
        and all("__init__" not in item.methods for item in facts.ancestry(known))
    )


def is_never_limited(facts: Facts) -> bool:
    """Whether Trainers are seen, and nothing in the project may give one of them `max_steps`."""
    if not facts.trainers or any(trainer.open_ended for trainer in facts.trainers):
        return False
    if any(file.indirect_trainers for file in facts.files.values()):
        return False
    known: bool | None = facts.of_sources.get("max_steps never given")
    if known is None:
        spoken = (source.unescaped for source in facts.sources.values() if b"max_steps" in source.unescaped)
        known = all(len(_LIMIT.findall(text)) == len(_LIMIT_READ.findall(text)) for text in spoken)
        facts.of_sources["max_steps never given"] = known
    return known


_LIMIT = re.compile(rb"max_steps")
_LIMIT_READ = re.compile(rb"\btrainer\.max_steps\b(?!\s*=[^=])")
"""Where it is read of a Trainer."""


def gives_limit(file: PythonFile) -> bool:
    """Whether a call takes `max_steps`, or something has it as a key or an attribute."""
    if '"max_steps"' in file.text or "'max_steps'" in file.text:
        return True
    given = (item.arg for call in file.calls_near(("max_steps",)) for item in call.node.keywords)
    return "max_steps" in given or bool(file.attributes("max_steps"))


def item_of(node: ast.expr, name: str) -> ast.expr | None:
    """What a dictionary that is written out holds under a key."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name), None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return value_of(node, name)
    return None


def _one_device(trainer: Trainers) -> bool:
    given = trainer.given.get("devices", trainer.given.get("gpus"))
    nodes = literal(trainer.given.get("num_nodes", ast.Constant(1)))
    return given is not None and literal(given) in ((True, 1), (True, [0])) and nodes == (True, 1)


def processes(trainer: Trainers, counted: ast.expr) -> tuple[str, ...] | None:
    """The factors, as source text, that say in how many processes training runs, each with its share of the samples;
    none for a single one, None where it is not known or the share cannot be told from the length of the loader."""
    if _one_device(trainer):
        return ()
    return _devices(trainer) if _rounds_up(trainer.script, counted) else None


def _devices(trainer: Trainers) -> tuple[str, ...] | None:
    """The factors of the number of processes where there may be several."""
    given, script = trainer.given, trainer.script
    devices = given.get("devices", given.get("gpus"))
    nodes = literal(given.get("num_nodes", ast.Constant(1)))[1]
    shared = {"use_distributed_sampler", "replace_sampler_ddp"}.isdisjoint(given)
    if devices is None or type(nodes) is not int or not shared:
        return None
    if literal(given.get("strategy", given.get("accelerator", ast.Constant(None))))[1] in ("dp", "ddp2"):
        return None
    known = literal(devices)[1]
    asked = script.follow(devices)
    if type(known) is int and known > 0:
        number = str(known)
    elif isinstance(asked, ast.Call) and script.call.scope.resolve(asked.func) == "torch.cuda.device_count":
        number = f"max(1, {script.file.source_of(devices)})"
    else:
        return None
    return tuple(text for text in (number, str(nodes)) if text != "1")


def dropped(trainer: Trainers, counted: ast.expr | None) -> str | None:
    """The batches of each process, as source text, of a loader that drops its last one: a floor of the share of the
    samples. None where the number of processes is no literal, or a part has no name here."""
    script, factors = trainer.script, _devices(trainer)
    loader = script.follow(counted.args[0]) if isinstance(counted, ast.Call) and counted.args else None
    if not factors or not all(text.isdigit() for text in factors) or not isinstance(loader, ast.Call):
        return None
    given = {item.arg: item.value for item in loader.keywords}
    data, size = loader.args[0] if loader.args else given.get("dataset"), given.get("batch_size")
    drops = literal(given.get("drop_last", ast.Constant(False))) == (True, True)
    if not drops or not _is_plain(script, loader) or not isinstance(data, ast.Name) or not script.sees(data):
        return None
    if not isinstance(size, ast.Constant) and not (isinstance(size, ast.Name) and script.sees(size)):
        return None
    share = f"math.ceil(len({data.id}) / {factors[0] if len(factors) == 1 else _product(factors)})"
    return f"{share} // {script.file.source_of(size)}"


def _product(factors: tuple[str, ...]) -> str:
    return f"({' * '.join(factors)})"


def _is_plain(script: CallContext, loader: ast.Call) -> bool:
    """Whether a call builds torch's loader, without a sampler of its own."""
    given = {item.arg for item in loader.keywords}
    own = script.call.scope.resolve(loader.func) == DATALOADER
    return own and {"sampler", "batch_sampler", None}.isdisjoint(given) and len(loader.args) < 3


def _rounds_up(script: CallContext, counted: ast.expr) -> bool:
    """Whether the loader whose length is taken keeps its last, shorter batch: then a share of its length is the length
    of a share."""
    loader = script.follow(counted.args[0]) if isinstance(counted, ast.Call) and counted.args else None
    if not isinstance(loader, ast.Call) or not _is_plain(script, loader):
        return False
    given = {item.arg: item.value for item in loader.keywords}
    return literal(given.get("drop_last", ast.Constant(False))) == (True, False)


def ranks(trainer: Trainers) -> int:
    """In how many processes the Trainer is told to run; 1 where that is not seen."""
    devices = trainer.script.constant(trainer.given.get("devices", trainer.given.get("gpus")))
    nodes = trainer.script.constant(trainer.given.get("num_nodes", ast.Constant(1)))
    known = [item for item in (devices, nodes) if type(item) is int and item > 0]
    return math.prod(known) if len(known) == 2 else 1
