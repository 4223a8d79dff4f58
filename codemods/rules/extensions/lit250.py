"""LIT250: members of Lightning's extension points that a project overrides or reads, and that are gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise

from codemods.code.nodes import walk
from codemods.code.outline import Within
from codemods.code.reaching import definitions
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import parameters, self_name
from codemods.finding import Fix
from codemods.lightning.extension_members import Member, members
from codemods.lightning.facts import ClassFact, Facts
from codemods.lightning.instances import Instances
from codemods.lightning.said_by_files import said_by
from codemods.lightning.versions import LIGHTNING, admits_below
from codemods.rule import Example, Match, Rule, TextEdit, best_levels
from codemods.rules.extensions.transforms import SET, set_in_constructor

DATA = "LightningDataModule"
PACKAGES = ("lightning", "lightning_fabric", "pytorch_lightning")
GIVEN_BY_TRAINER = {"accelerator": "Accelerator", "checkpoint_callback": "ModelCheckpoint", "datamodule": DATA}
ATTRIBUTES = (
    "has_prepared_data",
    *(f"has_{what}_{stage}" for what in ("setup", "teardown") for stage in ("fit", "validate", "test", "predict")),
    *SET,
    "dims",
)
COUNTED = {"train_batch_idx": "trainer.fit_loop.epoch_loop.batch_progress.current.processed"}
"""What a bar said of its Trainer, as 1.9.5 read it; up to 1.5 it counted itself, from the start of each epoch."""
OWN_COUNT = "1.6"
MAKES_BAR = "init_train_tqdm"
BAR = re.compile(r"init_\w+_tqdm")
"""What made a bar, and took nothing for it."""


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    names = _members_in(file.text)
    for item in file.classes if names else ():
        fact = facts.of_class(file, item)
        owners = _lightning_bases(facts, fact) if fact else frozenset()
        unset = _unset(file, facts, item, fact, names) if fact and DATA in owners else []
        yield from unset
        for name in names:
            for member in members()[name]:
                if fact is None or not owners & member.owners or (unset and name in SET):
                    continue
                if DATA not in member.owners or not _is_made_for(facts, fact, name):
                    counted = _counted(file, facts, item, name, member) if name in COUNTED else []
                    yield from counted or _of_class(file, item, name, member)
    yield from _given(file, facts, names)


@lru_cache(maxsize=2)
def _members_in(text: str) -> tuple[str, ...]:
    """The members that a text speaks of, in whatever form its file is looked at."""
    return tuple(name for name in members() if name in text)


def _unset(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, names: Sequence[str]) -> list[Match]:
    """What a data module reads of itself that Lightning set to None, where its constructor can do so."""
    asked = [name for name in SET if name in names and not _is_made_for(facts, fact, name)]
    own = {id(node) for method in item.methods.values() for node in walk(method) if _is_own(node, method)}
    places = [node for name in asked for node in file.attributes(name) if id(node) in own]
    if not places or any(not isinstance(node.ctx, ast.Load) for node in places):
        return []
    (member,) = members()[places[0].attr]
    above = [each for each in facts.ancestry(fact) or () if each is not fact]
    direct = all("__init__" not in each.methods for each in above)
    return [*set_in_constructor(file, item, places, member.since, member.row, direct)]


def _given(file: PythonFile, facts: Facts, names: Sequence[str]) -> Iterator[Match]:
    """What code reads of an object of one of Lightning's classes: of a parameter that is annotated so, of what a
    variable or attribute was made as, of what a Trainer gives."""
    for node, within in file.nodes_near(frozenset(names)) if names else ():
        if not (isinstance(node, ast.Attribute) and node.attr in names and isinstance(node.ctx, ast.Load)):
            continue
        rows = [each for each in members()[node.attr] if not each.parameter]
        if not rows or _made_here(facts, node.attr) or any(_is_own(node, each) for each in _methods(within)):
            continue
        own = node.value.attr if isinstance(node.value, ast.Attribute) and _is_trainer(node.value.value) else ""
        for member in rows:
            asked = Instances(file, facts, partial(_is_owner, member.owners), PACKAGES)
            if GIVEN_BY_TRAINER.get(own) in member.owners or asked.holds(node.value, within):
                message = f"`{node.attr}` was removed in Lightning {member.since}"
                why = member.advice or f"it is `{member.becomes}` now"
                yield Match(file.span(node), message, "manual", f"Not rewritten: {why}.", member.row)
                break


def _methods(within: Within) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions around a place that stand in the body of a class."""
    for outer, inner in pairwise(within):
        if isinstance(outer, ast.ClassDef) and isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner


def _is_owner(owners: frozenset[str], dotted: str) -> bool:
    return canonical(dotted).startswith((f"{ROOT}.", "lightning_fabric.")) and dotted.rpartition(".")[2] in owners


def _is_trainer(node: ast.expr) -> bool:
    """Whether an expression is spelled as a Trainer is."""
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) in ("trainer", "_trainer")


def _made_here(facts: Facts, name: str) -> bool:
    """Whether the project gives its data modules an attribute of that name itself."""
    return any(facts.mentions.get(text) for text in _making(name))


def _is_made_for(facts: Facts, item: ClassFact, name: str) -> bool:
    """Whether the project may give the instances of a class an attribute of that name."""
    return any(_may_be_of(facts, item, maker) for maker in _makers(facts, name))


def _may_be_of(facts: Facts, item: ClassFact, maker: ClassFact | None) -> bool:
    """Whether what makes an attribute may make it for the instances of a class: it is above or below it, or mixed with
    it into another; None is code outside of a class."""
    if maker is None or maker in facts.ancestry(item):
        return True
    return not {item, *facts.subclasses(item)}.isdisjoint({maker, *facts.subclasses(maker)})


def _makers(facts: Facts, name: str) -> frozenset[ClassFact | None]:
    """The classes that have an attribute of a name, and None where it is given to anything else."""
    asked = f"lit250.makers.{name}"
    if asked not in facts.memo:
        facts.memo[asked] = frozenset(
            facts.files[path].find(maker) if maker is not None and path in facts.files else None
            for path, _ in facts.holding(name)
            for maker in said_by(facts, path, _makers_in, name) or ()
        )
    found: frozenset[ClassFact | None] = facts.memo[asked]
    return found


def _makers_in(file: PythonFile, name: str) -> frozenset[str | None]:
    """The same of one file, by the names of the classes, whatever is known of these."""
    stored = [node for node in file.attributes(name) if not isinstance(node.ctx, ast.Load)]
    own = _own_attributes(file) if stored else {}
    defining = {item.qualname for item in file.classes if name in item.methods or definitions(item.node, name)}
    return frozenset({*defining, *(own.get(id(node)) for node in stored)})


def _own_attributes(file: PythonFile) -> dict[int, str]:
    """The classes of a file whose methods read or set an attribute of their instance, by the attribute."""
    return {
        id(node): item.qualname
        for item in file.classes
        for function in item.methods.values()
        for node in walk(function)
        if _is_own(node, function)
    }


def _making(name: str) -> tuple[bytes, ...]:
    return f".{name} =".encode(), f".{name}:".encode(), f"def {name}".encode()


def _lightning_bases(facts: Facts, fact: ClassFact) -> frozenset[str]:
    """The last names of Lightning's own classes among the bases of a class."""
    bases = [base for member in facts.ancestry(fact) or () for base in member.bases if base]
    return frozenset(
        base.rpartition(".")[2] for base in bases if canonical(base).startswith(("lightning.", "lightning_fabric."))
    )


def _of_class(file: PythonFile, item: ClassNode, name: str, member: Member) -> Iterator[Match]:
    method = item.methods.get(name)
    if member.parameter:
        if method and member.parameter in parameters(method):
            message = f"{name} is no longer given `{member.parameter}` since Lightning {member.since}"
            yield Match(file.head(method), message, "manual", f"Not rewritten: {member.advice}.", member.row)
        return
    stored = any(
        isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load)
        for node in walk(item.node)
    )
    if stored:
        return
    if method and BAR.fullmatch(name) and _is_given_more(item, method):
        return
    message = f"`{name}` was removed in Lightning {member.since}"
    own = {id(node) for function in item.methods.values() for node in walk(function) if _is_own(node, function)}
    places = [node for node in file.attributes(name) if id(node) in own]
    decorators = [ast.unparse(each) for each in method.decorator_list] if method else []
    if "property" in decorators and not member.becomes and all("ProgressBar" in owner for owner in member.owners):
        return  # no release read it of a bar but where the class's own code does
    clash = member.becomes in item.methods
    other = member.takes and method and len(parameters(method)) != member.takes and not method.args.vararg
    if not member.becomes or clash or other:
        why = member.advice or f"the class has `{member.becomes}` too, which is its name now"
        if other:
            why = f"`{member.becomes}` takes its place, and is given {member.takes} argument"
        for place in ([file.head(method)] if method else []) + [file.span(node) for node in places]:
            yield Match(place, message, "manual", f"Not rewritten: {why}.", member.row)
        return
    reason = f"It is `{member.becomes}` now."
    unit = f"{file.path}:{item.qualname}:{name}"
    if method:
        start = file.text.index(name, file.offsets(method)[0])
        edit = TextEdit(start, start + len(name), member.becomes)
        yield Match(file.head(method), message, "safe", reason, member.row, (edit,), unit=unit)
    for node in places:
        end = file.offsets(node)[1]
        edit = TextEdit(end - len(name), end, member.becomes)
        yield Match(file.span(node), message, "safe", reason, member.row, (edit,), unit=unit)


def _counted(file: PythonFile, facts: Facts, item: ClassNode, name: str, member: Member) -> list[Match]:
    """What a bar reads of its own count, which the Trainer has; none where the class has such a count itself."""
    own = [(node, each) for each in item.methods.values() for node in walk(each) if _is_own(node, each)]
    every = [(node, each) for node, each in own if isinstance(node, ast.Attribute) and node.attr in (name, "trainer")]
    if {name, "trainer"} & item.methods.keys() or any(not isinstance(node.ctx, ast.Load) for node, _ in every):
        return []
    found = []
    for node, method in every:
        if node.attr == name:
            sure = method.name == MAKES_BAR or not admits_below(facts, LIGHTNING, OWN_COUNT)
            end = file.offsets(node)[1]
            edit = TextEdit(end - len(name), end, COUNTED[name])
            reason = "It is what the Trainer has counted, as the bar itself read it in 1.9."
            if not sure:
                reason += f" Before {OWN_COUNT} the bar counted by itself, in its own hooks: check where it is read."
            message = f"`{name}` was removed in Lightning {member.since}"
            level: Fix = "safe" if sure else "unsafe"
            found.append(Match(file.span(node), message, level, reason, member.row, (edit,)))
    return found


def _is_given_more(item: ClassNode, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method wants more than Lightning ever gave it, and the class calls it with that itself."""
    wanted = len(parameters(method)) - len(method.args.defaults)
    calls = [node for node in walk(item.node) if isinstance(node, ast.Call)]
    return wanted > 0 and any(
        isinstance(node.func, ast.Attribute) and node.func.attr == method.name and (node.args or node.keywords)
        for node in calls
    )


def _is_own(node: ast.AST, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a node is an attribute of the instance, or of what `super()` stands for."""
    if not isinstance(node, ast.Attribute):
        return False
    value = node.value
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id == self_name(function)


BEFORE = """\
from pytorch_lightning.callbacks import TQDMProgressBar


class Bar(TQDMProgressBar):
    def on_train_start(self, trainer, pl_module):
        super().on_train_start(trainer, pl_module)
        self.main_progress_bar.set_description("go")
"""
AFTER = BEFORE.replace("self.main_progress_bar", "self.train_progress_bar")
ELSEWHERE = BEFORE.replace("pytorch_lightning", "somewhere_else")


def _rows() -> tuple[tuple[str, Fix], ...]:
    return best_levels(
        (item.row, "safe" if item.becomes or name in SET else "manual")
        for name, items in members().items()
        for item in items
    )


RULE = Rule(
    code="LIT250",
    name="extension-member",
    summary="Members of strategies, plugins, loggers, profilers, callbacks, data modules and LightningCLI that went",
    why=(
        "A project that extends Lightning overrides or reads members of its classes. Where one is gone the override "
        "is never called, and what is read is an AttributeError (guide rows M029-M038, M073-M076, M079, M080, M111, "
        "M142, M143, M204-M206, M223-M227, M288, M300-M303, M305, M306, M325; pull request 16695)."
    ),
    fix="safe",
    versions="written for Lightning < 2.0",
    triggers=(
        b"master_params",
        b"dispatch",
        b"task_idx",
        b"is_distributed",
        b"setup_environment",
        b"creates_children",
        b"master_address",
        b"master_port",
        b"LoggerBase",
        b"agg_and_log_metrics",
        b"profile_iterable",
        b"_progress_bar",
        b"process_position",
        b"is_disabled",
        b"is_enabled",
        b"_tqdm(",
        b"_batch_idx",
        b"lr_sch_names",
        b"has_setup_",
        b"has_teardown_",
        b"has_prepared_data",
        b"_transforms",
        b"Loop",
        b"optimizer_idx",
        b"opt_idx",
        b"Accelerator",
        b".period",
        b".save_function",
        b".save_checkpoint",
        b".best",
        b".kth_best_model",
        b".dims",
        b"LightningCLI",
        b"torch_distributed_backend",
        b"reconciliate_processes",
        b"pre_configure_ddp",
        b"start_training",
        b"start_evaluating",
        b"start_predicting",
        b"def on_save(",
        b"total_test_batches",
        b"total_predict_batches",
        b"total_batches_current_epoch",
        b"trainer.accelerator.",
        b"CombinedLoader",
        b"reset_experiment",
        b"format_checkpoint_name",
        b"_save_model",
        b"_convert_params",
        b"_flatten_dict",
        b"_sanitize_",
        b"_add_prefix",
    ),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(ELSEWHERE, ELSEWHERE)),
    breaks_in="2.0.0",
    needs="2.0.0",
    rows=_rows,
    mentions=tuple(text for name in ATTRIBUTES for text in _making(name)),
)
