"""`max_steps` in the configuration of a Trainer: computed by an interpolation, or a number whose epochs can be told."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from codemods.code.source import TextFile
from codemods.lightning.configurations.mappings import Malformed, MappingEntry, read_mappings
from codemods.lightning.configurations.mappings import Mapping as Section
from codemods.lightning.facts import TRAINER, Facts
from codemods.rule import Match, TextEdit
from codemods.rules.steps.budget import told
from codemods.rules.steps.constant_evaluation import BuiltInstance, KnownValues, batches_in
from codemods.rules.steps.modules import assigned
from codemods.rules.steps.settings import read_settings
from codemods.rules.steps.step_count_terms import Count, TermReader

MESSAGE = "`max_steps` is computed from the length of an epoch"
ADVICE = "write max_epochs for it, right for any number of devices and any accumulation."
CLI = b"LightningCLI"
LIMITS = ("limit_train_batches", "overfit_batches")
PLAIN = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")
_RESOLVED = re.compile(r"\$\{([\w.]+):([^${}]*)\}")
_EVALUATED = frozenset({"eval", "calc", "compute", "expr", "math"})
_OPERATORS = {
    **dict.fromkeys(("mul", "multiply", "times", "prod", "product"), "*"),
    **dict.fromkeys(("div", "divide"), "/"),
    **dict.fromkeys(("floordiv", "int_div", "idiv"), "//"),
}
"""What projects call the resolvers that they register with OmegaConf, which has none for arithmetic."""


def configured(file: TextFile, facts: Facts, reads: bool) -> Iterator[Match]:
    """What a configuration says of `max_steps`; with `reads` the project reads `trainer.max_steps`."""
    try:
        sections = read_mappings(file.text, file.kind)
    except Malformed:
        return
    for section in sections:
        entry = next((item for item in section.entries if item.key == "max_steps"), None)
        if entry is None or not _is_trainers(file, section):
            continue
        text = file.text[slice(*entry.value_at)]
        if "${" in text and PLAIN.fullmatch(text.strip("'\"")) is None:
            yield from _interpolated(file, facts, section, entry, reads)
        elif type(entry.value) is int and entry.value > 0:
            yield from _literal(file, facts, section, entry)


def _is_trainers(file: TextFile, section: Section) -> bool:
    """Whether a mapping holds a Trainer's arguments: it says so, is called so, or is the file of such a group."""
    target = section.get("_target_")
    if isinstance(target, str):
        return target.rpartition(".")[2] == TRAINER.rpartition(".")[2]
    return section.path == ("trainer",) or (not section.path and posixpath.dirname(file.path).endswith("trainer"))


def _interpolated(file: TextFile, facts: Facts, section: Section, entry: MappingEntry, reads: bool) -> Iterator[Match]:
    span, text = file.span(*entry.value_at), file.text[slice(*entry.value_at)]
    count = count_of(text)
    leaf = count.first("epochs") if count and count.is_total else None
    epochs = f"${{{ast.unparse(leaf.node)}}}" if leaf else None
    if epochs is None:
        if "epoch" in text.lower():
            yield Match(span, MESSAGE, "manual", f"Not rewritten: {ADVICE}")
        return
    message = f"{MESSAGE}: it means max_epochs={epochs}"
    if why := _refused(file, facts, section, count):
        yield Match(span, message, "manual", f"Not rewritten: {why}.")
        return
    here = next((item for item in section.entries if item.key == "max_epochs"), None)
    same = here is not None and (
        file.text[slice(*here.value_at)].strip("'\"") == epochs or epochs == "${trainer.max_epochs}"
    )
    if reads or section.flow or section.shared or (here is not None and not same):
        why = (
            "the project reads trainer.max_steps; read trainer.estimated_stepping_batches there"
            if reads
            else "max_epochs is given too, and training ends at the limit that is reached first; keep one of the two"
            if here is not None and not same
            else "the mapping is on one line or in several places"
        )
        yield Match(span, message, "manual", f"Not rewritten: {why}.")
        return
    start, end = _line(file.text, entry)
    edit = TextEdit(start, end, "") if same else TextEdit(entry.key_at[0], entry.value_at[1], f"max_epochs: {epochs}")
    reason = (
        "max_epochs ends at the same place on any number of devices. fixer "
        "assumes that the resolver does what its name says."
    )
    yield Match(span, message, "unsafe", reason, edits=(edit,))


def _refused(file: TextFile, facts: Facts, section: Section, count: Count | None) -> str | None:
    """Why a count does not end where `max_epochs` does."""
    limit = next((name for name in LIMITS if section.get(name) is not None), None)
    if limit:
        return f"{limit} makes an epoch shorter than the loader is"
    batches = count.first("batches") if count else None
    settings = read_settings(file.path, facts)
    if batches and type(settings.get(ast.unparse(batches.node))) is int:
        return f"`{ast.unparse(batches.node)}` is a fixed number, not the length of a loader"
    if count and "cases" in count.marks:
        return "in one case it is another number of steps, for which max_epochs has to differ too"
    return None


def _line(text: str, entry: MappingEntry) -> tuple[int, int]:
    """The lines on which an entry stands."""
    end = text.find("\n", entry.value_at[1])
    return text.rfind("\n", 0, entry.key_at[0]) + 1, len(text) if end < 0 else end + 1


def count_of(text: str) -> Count | None:
    """What an interpolation computes, read by the names of its resolvers and settings."""
    text = PLAIN.sub(r"\1", text.strip().strip("'\""))
    for _ in range(6):
        found = _RESOLVED.search(text)
        if found is None:
            break
        name, inner = found.group(1).rpartition(".")[2], found.group(2).strip().strip("'\"")
        if name not in _EVALUATED:
            if name not in _OPERATORS:
                return None
            inner = f" {_OPERATORS[name]} ".join(f"({part.strip()})" for part in inner.split(","))
        text = f"{text[: found.start()]}({inner}){text[found.end() :]}"
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return TermReader(lambda name: [], lambda item: ast.unparse(item).endswith("trainer"), lambda item: None).read(node)


def _literal(file: TextFile, facts: Facts, section: Section, entry: MappingEntry) -> Iterator[Match]:
    """The epochs that a plain number comes to, by each configuration that it is a part of."""
    for settings in _wholes(file, facts, section):
        ranks = _ranks(settings)
        window, epochs = settings.get("trainer.accumulate_grad_batches", 1), settings.get("trainer.max_epochs")
        limited = any(settings.get(f"trainer.{name}") is not None for name in LIMITS)
        built = None if limited else _trained(settings, facts, file, ranks)
        found = told(entry.value, epochs, window, batches_in(built) if built else None, ranks)
        if found:
            reason = f"{found[1]} By the configuration alone: a command line may say otherwise."
            yield Match(file.span(*entry.value_at), found[0], "manual", reason)
            return


def _wholes(file: TextFile, facts: Facts, section: Section) -> Iterator[dict[str, Any]]:
    """The settings of every configuration that has this mapping as its `trainer`."""
    if section.path == ("trainer",):
        yield _settled(read_settings(file.path, facts))
        return
    folder = posixpath.dirname(posixpath.dirname(file.path))
    for path in sorted(facts.sources):
        if posixpath.dirname(path) == folder and path.endswith((".yaml", ".yml")):
            settings = read_settings(path, facts)
            if settings.get("trainer.max_steps") == section.get("max_steps"):
                yield _settled(settings)


def _settled(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those that stand for another replaced by it."""
    found = dict(settings)
    for _ in range(4):
        for key, value in found.items():
            if isinstance(value, str) and (link := PLAIN.fullmatch(value)) and link.group(1) in found:
                found[key] = found[link.group(1)]
    return found


def _ranks(settings: Mapping[str, Any]) -> int:
    devices, nodes = settings.get("trainer.devices", settings.get("trainer.gpus")), settings.get("trainer.num_nodes", 1)
    if type(devices) is not int or type(nodes) is not int or devices < 1 or nodes < 1:
        return 1
    return devices * nodes


def _trained(settings: Mapping[str, Any], facts: Facts, file: TextFile, ranks: int) -> BuiltInstance | None:
    """What has the loader that is trained on: the one data module that a configuration or a LightningCLI names, or
    else the module."""
    named = [
        (str(value), key.rpartition(".")[0])
        for key, value in settings.items()
        if key.endswith(("._target_", ".class_path")) and isinstance(value, str)
    ]
    named += _of_cli(facts)
    found: dict[bool, list[BuiltInstance]] = {True: [], False: []}
    for dotted, prefix in dict.fromkeys(named):
        opened = facts.find_opened(dotted, file.path)
        if opened and "train_dataloader" in opened[1].methods:
            is_module = "training_step" in opened[1].methods
            found[is_module].append(_built(*opened, _arguments(settings, prefix), facts, ranks))
    every = found[False] or found[True]
    return every[0] if len(every) == 1 else None


def _of_cli(facts: Facts) -> list[tuple[str, str]]:
    """The classes that a LightningCLI of the project is given, with the sections of their arguments."""
    names: list[tuple[str, str]] = []
    for path in sorted(facts.mentions.get(CLI, ())):
        opened = facts.open(path)
        for call in opened.calls_near(["LightningCLI"]) if opened else ():
            if not (call.scope.resolve(call.node.func) or "").endswith("cli.LightningCLI"):
                continue
            given = {"model": call.node.args[:1], "data": call.node.args[1:2]}
            words = {"model_class": "model", "datamodule_class": "data"}
            given |= {words[item.arg]: [item.value] for item in call.node.keywords if item.arg in words}
            for prefix, nodes in given.items():
                names += [(dotted, prefix) for node in nodes if (dotted := call.scope.resolve(node))]
    return names


def _arguments(settings: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The scalars that a section gives the class that it names."""
    found: dict[str, Any] = {}
    for start in (f"{prefix}.", f"{prefix}.init_args."):
        for key, value in settings.items():
            name = key.removeprefix(start)
            if key.startswith(start) and name.isidentifier() and name not in ("_target_", "class_path"):
                found[name] = value
    return found


def _built(file: Any, item: Any, given: Mapping[str, Any], facts: Facts, ranks: int) -> BuiltInstance:
    """An instance of a class as its section in a configuration builds it."""
    module = assigned(file.tree)
    outside = KnownValues(file, facts, file.scope, lambda name: module.get(name, []), ranks=ranks)
    words = [ast.keyword(name, ast.Constant(value)) for name, value in given.items()]
    return BuiltInstance(file, item, ast.Call(ast.Name(item.node.name, ast.Load()), [], words), outside)
