"""Where a file gives models to Trainers to fit, and whether something can be handed over there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from codemods.code.calls import value_of
from codemods.code.nodes import every_node
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import AssignNode, CallNode, ClassNode, PythonFile
from codemods.code.syntax import is_plain, parameters
from codemods.lightning.calls import fitted_class
from codemods.lightning.configurations.evidence import sections
from codemods.lightning.facts import TRAINER

WORDS = (b"Trainer", b"instantiate(", b"LightningCLI")
"""What a file must hold to fit anything by a Trainer that it is seen to build."""
MODEL = "model"
"""What a model is called that had no name."""
OWN_CLI = "ManualCLI"
"""What a LightningCLI is called that hands something over before it fits."""
BEFORE_FIT = "before_fit"
_FROM_ARGS = f"{TRAINER}.from_argparse_args"
CLI = (f"{ROOT}.cli.LightningCLI", f"{ROOT}.utilities.cli.LightningCLI")
_INSTANTIATE = ("hydra.utils.instantiate", "hydra.utils.call")
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True)
class FitStatement:
    """A statement that fits `model`, both it and the Trainer plain names or attributes, once for each Trainer; where
    `cli` holds, a LightningCLI that does so by itself, and that can be given a `before_fit`.

    `fitted` is the class of the model where that can be seen, `made` the text of the call that makes the model where
    it has no name yet, `built` the line of the call that builds the Trainer. Other rules may move the lines.
    """

    trainer: str
    model: str
    fitted: str | None
    made: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    cli: bool = False
    built: int = field(default=0, compare=False)


@dataclass(frozen=True)
class FileFits:
    """What a file fits: where values can be handed over, and the (line, class of the model) where they cannot."""

    plain: tuple[FitStatement, ...] = ()
    other: tuple[tuple[int, str | None], ...] = ()


def read_fits(file: PythonFile) -> FileFits:
    """What becomes of every Trainer that the file builds, or that is called one; worked out once for all rules."""
    if "fits" not in file.memo:
        file.memo["fits"] = _read(file)
    found: FileFits = file.memo["fits"]
    return found


def _read(file: PythonFile) -> FileFits:
    if not any(word.decode() in file.text for word in WORDS):
        return FileFits()
    scene = _FileTrainers(file)
    plain: list[FitStatement] = []
    other: list[tuple[int, str | None]] = []
    for build in _builds(file):
        found = _fitting(scene, build)
        if isinstance(found, FitStatement):
            plain.append(found)
        elif found is not None:
            other.append(found)
    known = {place.line for place in plain}
    lightning = any(
        target.startswith(ROOT) for names in file.scope.bindings.values() for target in map(canonical, names)
    )
    other += [
        (call.node.lineno, fitted_class(call, file))
        for call in (file.calls_near(("fit",)) if lightning else ())
        if call.node.lineno not in known and isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "fit"
        if "trainer" in ast.unparse(call.node.func.value).lower()
    ]
    return FileFits(tuple(plain), tuple(other))


def cli_statements(file: PythonFile) -> Sequence[tuple[CallNode, ast.stmt]]:
    """The calls of LightningCLI, or of a class of the file right below it, each with the statement of the module that
    it stands in."""
    if "cli statements" not in file.memo:
        file.memo["cli statements"] = tuple(_cli_statements(file)) if "LightningCLI" in file.text else ()
    known: Sequence[tuple[CallNode, ast.stmt]] = file.memo["cli statements"]
    return known


def _cli_statements(file: PythonFile) -> Iterator[tuple[CallNode, ast.stmt]]:
    own = {item.qualname for item in file.classes if is_cli(file, item)}
    for call in file.calls_near(("LightningCLI", *own)):
        function = call.node.func
        if call.scope.resolve(function) in CLI or (isinstance(function, ast.Name) and function.id in own):
            around = (node for node in file.tree.body if node.lineno <= call.node.lineno <= (node.end_lineno or 0))
            yield from ((call, node) for node in around)


def is_cli(file: PythonFile, item: ClassNode) -> bool:
    """Whether a class of the file stands right below LightningCLI."""
    return any(file.scope.resolve(base) in CLI for base in item.node.bases)


def own_cli(file: PythonFile, call: CallNode) -> ClassNode | None:
    """The class of the file, below LightningCLI, that a call builds."""
    function = call.node.func
    name = function.id if isinstance(function, ast.Name) else None
    return next((item for item in file.classes if item.qualname == name and is_cli(file, item)), None)


def _builds(file: PythonFile) -> Iterator[CallNode]:
    """The calls that give a Trainer, or that fit by one of their own."""
    annotated = {id(item.node.value) for item in file.assignments if _is_annotated(item.node, file)}
    hydra = ("instantiate", "call") if "hydra" in file.text else ()
    own = [item.qualname for item in file.classes if is_cli(file, item)] if "LightningCLI" in file.text else []
    words = {"Trainer", *file.spellings("Trainer"), "from_argparse_args", "LightningCLI", *own, *hydra}
    for call in file.calls_near(words):
        dotted = call.scope.resolve(call.node.func)
        given = [call.scope.resolve(each) for each in call.node.args if isinstance(each, ast.Name | ast.Attribute)]
        made = dotted in _INSTANTIATE and call.node.args and _of_trainer(file, call.node.args[0])
        known = dotted in (TRAINER, _FROM_ARGS, *CLI) or TRAINER in given or id(call.node) in annotated
        if known or made or (own and own_cli(file, call)):
            yield call


def _is_annotated(node: ast.Assign | ast.AnnAssign, file: PythonFile) -> bool:
    return isinstance(node, ast.AnnAssign) and file.scope.resolve(node.annotation) == TRAINER


def _of_trainer(file: PythonFile, node: ast.expr) -> bool:
    return any("trainer" in name.lower() for name in sections(file, node))


class _FileTrainers:
    """What is asked of a file for each Trainer in it, worked out once."""

    def __init__(self, file: PythonFile) -> None:
        self.file = file

    @cached_property
    def assigned(self) -> dict[int, list[AssignNode]]:
        """The assignments of each value."""
        return _grouped((id(item.node.value), item) for item in self.file.assignments)

    @cached_property
    def fits(self) -> dict[str, list[CallNode]]:
        """The calls of `name.fit` by name."""
        found = ((_fits_by(call), call) for call in self.file.calls_near(("fit",)))
        return _grouped((name, call) for name, call in found if name is not None)

    @cached_property
    def fitted(self) -> dict[str, str | None]:
        """The one class that the calls of `name.fit` are given, by name; None where it cannot be seen."""
        known = {name: {fitted_class(call, self.file) for call in calls} for name, calls in self.fits.items()}
        return {name: min(each, key=str) if len(each) == 1 else None for name, each in known.items()}

    @cached_property
    def statements(self) -> list[tuple[ast.stmt, CallNode, tuple[int, ...]]]:
        return list(fit_statements(self.file))

    @cached_property
    def loops(self) -> dict[int, tuple[int, ...]]:
        """The loops around each statement."""
        return {id(node): held for node, held in _placed(self.file.tree.body, ())}


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def _fitting(scene: _FileTrainers, build: CallNode) -> FitStatement | tuple[int, str | None] | None:
    """Where what a call builds fits a model, a tuple where that is not plain, None where it only evaluates."""
    file = scene.file
    if build.scope.resolve(build.node.func) in CLI or own_cli(file, build):
        return _by_itself(file, build)
    kept = scene.assigned.get(id(build.node), [])
    name = _kept_as(kept)
    if name is None:
        return build.node.lineno, _fitted_at_once(file, build)
    fits = scene.fits.get(name, [])
    if not fits:
        return None if _evaluates(file, name) else (build.node.lineno, None)
    dotted = scene.fitted[name]
    if len(fits) > 1 or len(file.assignments_to(name)) > 1:
        return build.node.lineno, dotted
    for _, call, around in scene.statements:
        if call is not fits[0] or call.within != build.within or around != scene.loops.get(id(kept[0].node)):
            continue
        model, made = _model(file, call.node)
        if model:
            return FitStatement(name, model, dotted, made, call.node.lineno, built=build.node.lineno)
    return build.node.lineno, dotted


def _by_itself(file: PythonFile, build: CallNode) -> FitStatement | tuple[int, str | None]:
    """What a LightningCLI fits, and where it can be given a method to hand over before it does."""
    given = {item.arg: item.value for item in build.node.keywords}
    model = build.node.args[0] if build.node.args else given.get("model_class")
    dotted = build.scope.resolve(model) if model is not None else None
    run = given.get("run")
    runs = run is None or (isinstance(run, ast.Constant) and run.value is True)
    at_once = runs and None not in given and len(build.node.args) < 3
    once = len([0 for call, _ in cli_statements(file) if call.node is not build.node]) == 0
    own = own_cli(file, build)
    if not at_once or not once or _is_taken(file, own) or any(isinstance(node, ast.ClassDef) for node in build.within):
        return build.node.lineno, dotted
    return FitStatement("self.trainer", "self.model", dotted, line=build.node.lineno, cli=True)


def _is_taken(file: PythonFile, own: ClassNode | None) -> bool:
    """Whether a command line, of a class of the project's own or not, has no place for a `before_fit`."""
    if own is None:
        return OWN_CLI in file.text
    before = own.methods.get(BEFORE_FIT)
    return bool(own.methods.keys() & {"__init__", "fit"}) or (
        before is not None and (not is_plain(before) or bool(parameters(before)))
    )


def _kept_as(kept: Sequence[AssignNode]) -> str | None:
    if len(kept) != 1:
        return None
    node = kept[0].node
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def _fits_by(call: CallNode) -> str | None:
    """The plain name of what fits."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr != "fit" or not isinstance(function.value, ast.Name):
        return None
    return function.value.id


def _fitted_at_once(file: PythonFile, build: CallNode) -> str | None:
    """The class that `Trainer(...).fit(...)` fits."""
    for call in file.calls_near(("fit",)):
        if isinstance(call.node.func, ast.Attribute) and call.node.func.value is build.node:
            return fitted_class(call, file)
    return None


def _evaluates(file: PythonFile, name: str) -> bool:
    """Whether every use of a Trainer is a call of a method of it that does not train."""
    used = {
        id(call.node.func.value)
        for call in file.calls_near(("test", "validate", "predict"))
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr in ("test", "validate", "predict")
        if isinstance(call.node.func.value, ast.Name) and call.node.func.value.id == name
    }
    loaded = [
        node
        for node in (every_node(file.tree) if used else ())
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return bool(loaded) and all(id(node) in used for node in loaded)


def _model(file: PythonFile, call: ast.Call) -> tuple[str | None, str]:
    """What a `fit` is given first: the text of a name or an attribute; or, for a call, a free name and the call."""
    given = value_of(call, "model", 0)
    if isinstance(given, ast.Call) and call.args and not re.search(rf"\b{MODEL}\b", file.text):
        return MODEL, file.source_of(given)
    inner = given
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return (ast.unparse(given), "") if given is not None and isinstance(inner, ast.Name) else (None, "")


def fit_statements(file: PythonFile) -> Iterator[tuple[ast.stmt, CallNode, tuple[int, ...]]]:
    """The statements, alone on their lines, that are a call of `fit`, or keep what it gives; with the loops around
    each."""
    calls = {
        id(call.node): call
        for call in file.calls_near(("fit",))
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "fit"
    }
    if not calls:
        return
    for node, around in _placed(file.tree.body, ()):
        value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
        if value is not None and id(value) in calls and _is_alone(file, node):
            yield node, calls[id(value)], around


def _is_alone(file: PythonFile, node: ast.stmt) -> bool:
    before = file.lines[node.lineno - 1].encode()[: node.col_offset]
    behind = file.lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset :].strip()
    return not before.strip() and (not behind or behind.startswith(b"#"))


def _placed(body: Sequence[ast.stmt], loops: tuple[int, ...]) -> Iterator[tuple[ast.stmt, tuple[int, ...]]]:
    """The statements of a body and of those inside them, with the loops around each in its function."""
    for node in body:
        yield node, loops
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _placed(node.body, ())
            continue
        inside = (*loops, id(node)) if isinstance(node, ast.For | ast.While | ast.AsyncFor) else loops
        for name in ("body", "orelse", "finalbody"):
            yield from _placed(getattr(node, name, []), inside)
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            yield from _placed(part.body, inside)
