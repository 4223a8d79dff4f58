"""LIT220: `self.hparams = ...`, which has no setter any more."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import last_name
from codemods.code.nodes import walk
from codemods.code.reaching import reaching
from codemods.code.scopes import ROOT, Scope
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    is_name,
    is_self_attribute,
    own_nodes,
    self_assignments,
    self_name,
    super_init_index,
    taken,
    targets_of,
)
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.guards import fallback_of
from codemods.lightning.versions import LIGHTNING, admits_from
from codemods.rule import Example, Match, NodeEdit, Rule

if TYPE_CHECKING:
    import libcst as cst

KINDS = (MODULE, f"{ROOT}.LightningDataModule")
MESSAGE = "`self.hparams` can no longer be set since Lightning 1.3"
OUTSIDE = (
    "Not rewritten: save_hyperparameters, called from outside, forgets which argument of __init__ they were, so that "
    "checkpoints would not load. Call {name}.hparams.update(...) with a mapping, with vars(...) of a Namespace."
)
ADVICE = "Call self.save_hyperparameters(...) after super().__init__() with the values to store"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    yield from _of_instances(file, facts)
    for item in file.classes:
        places = [(method, node) for method in item.methods.values() for node in self_assignments(method, "hparams")]
        fact = facts.of_class(file, item) if places else None
        if fact is None or facts.kind(fact) not in KINDS or _has_own(facts, fact):
            continue
        for method, node in places:
            if any(_is_tried(file, target) for target in targets_of(node)):
                continue
            plain = facts.kind(fact) != MODULE
            ignored = _arrays(method, node)
            refusal = _refusal(item, method, node, len(places), plain) or _shared_name(facts, ignored)
            if refusal:
                yield Match(file.span(node), MESSAGE, "manual", f"Not rewritten: {refusal}. {ADVICE}.")
                continue
            old = not admits_from(facts, LIGHTNING, "0.8.0")
            change = partial(_saved, this=self_name(method), logged=not plain, ignored=ignored)
            begins = file.lines[node.lineno - 1].lstrip().startswith(ast.unparse(node).partition(" =")[0])
            if begins and _is_saved_too(method, node):
                edit = NodeEdit(node, partial(_dropped, change=change), line=True)
                reason = "save_hyperparameters is called with the same value, and stores it."
            else:
                edit = NodeEdit(node, change)
                reason = (
                    "save_hyperparameters keeps the same values, as what the setter made of them, and in checkpoints."
                )
            if plain:
                reason = "A datamodule kept them and did not log them; the logger refuses two values of one name."
            if old:
                reason += " Before 0.8 any object was kept; one that is neither Namespace nor mapping is an error."
            needs = "1.4.0" if plain else None
            yield Match(file.span(node), MESSAGE, "safe", reason, edits=(edit,), needs=needs)


def _is_tried(file: PythonFile, target: ast.expr) -> bool:
    """Whether a handler does something else where there is no setter."""
    return isinstance(target, ast.Attribute) and fallback_of(file, target) == "other"


def _of_instances(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """`model.hparams = ...` where the name holds modules and data modules of the project alone."""
    for item in file.assignments:
        target = next((each for each in targets_of(item.node) if _is_set_of_name(each)), None)
        kept = target.value if isinstance(target, ast.Attribute) else None
        if not isinstance(kept, ast.Name):
            continue
        space = next((each for each in reversed(item.within) if isinstance(each, Function)), file.tree)
        held = [each.value for each in reaching(space, kept.id, kept)]
        scope = file.scope_within(item.within)
        if not held or not all(_is_made(file, facts, scope, value) for value in held):
            continue
        message = MESSAGE.replace("self", kept.id)
        yield Match(file.span(item.node), message, "manual", OUTSIDE.format(name=kept.id))


def _is_set_of_name(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == "hparams" and isinstance(target.value, ast.Name)


def _is_made(file: PythonFile, facts: Facts, scope: Scope, value: ast.expr | None) -> bool:
    """Whether a value is an instance of such a class, made or loaded here."""
    function = value.func if isinstance(value, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr == "load_from_checkpoint":
        function = function.value
    dotted = scope.resolve(function) if function else None
    fact = facts.find_class(dotted, file.path) if dotted else None
    if fact is None or facts.kind(fact) not in KINDS:
        return False
    return not _has_own(facts, fact)


def _has_own(facts: Facts, fact: ClassFact) -> bool:
    """Whether a class or one above it has such a property of its own."""
    return any("hparams" in member.methods for member in facts.ancestry(fact))


def _refusal(
    item: ClassNode, method: Function, node: ast.Assign | ast.AnnAssign, places: int, plain: bool
) -> str | None:
    """Why what is set is left; a module's setter refused all but a Namespace and a mapping, while a datamodule, where
    `plain` holds, kept any object."""
    if method.name != "__init__" or places > 1 or node not in method.body:
        return "it is not set once, at the top of __init__"
    if not isinstance(node, ast.Assign) or len(node.targets) > 1:
        return "the statement sets other things too"
    called = super_init_index(method)
    if called is None or method.body.index(node) < called:
        return "super().__init__() is not called before it"
    given = _is_given(method, node.value) or _becomes_mapping(item, method, node.value)
    if not (given or (_may_be_mapping(item, node.value) if plain else _is_kept(node.value))):
        return "fixer cannot tell whether what is set is a Namespace or a mapping"
    if plain and (late := _changed_after(method, node)):
        return f"line {late} changes what is set, and save_hyperparameters keeps a copy"
    whole = _used_whole(item)
    return f"line {whole} uses `self.hparams` as a whole, and it is no Namespace any more" if whole else None


def _changed_after(method: Function, node: ast.Assign) -> int | None:
    """The line behind a statement that may change the value of the name that it keeps."""
    name = node.value.id if isinstance(node.value, ast.Name) else None
    for each in own_nodes(method):
        if getattr(each, "lineno", 0) <= node.lineno:
            continue
        owner = each.value if isinstance(each, ast.Attribute | ast.Subscript) else None
        stored = isinstance(each, ast.Attribute | ast.Subscript) and not isinstance(each.ctx, ast.Load)
        called = isinstance(each, ast.Attribute) and each.attr in _CHANGING
        handed = (
            each.args[0] if isinstance(each, ast.Call) and last_name(each.func) == "setattr" and each.args else None
        )
        if name and name in (getattr(owner if stored or called else None, "id", ""), getattr(handed, "id", "")):
            return getattr(each, "lineno", None)
    return None


_CHANGING = ("update", "setdefault", "pop", "popitem", "clear", "__dict__")


def _is_given(method: Function, value: ast.expr) -> bool:
    """Whether a value is a parameter, as it was given."""
    stored = (inner.id for inner in own_nodes(method) if isinstance(inner, ast.Name) and type(inner.ctx) is ast.Store)
    given = {argument.arg for argument in method.args.args[1:]}
    return isinstance(value, ast.Name) and value.id in given - {*stored}


def _becomes_mapping(item: ClassNode, method: Function, value: ast.expr) -> bool:
    """Whether a value is a parameter that nothing but a Namespace or a mapping takes the place of."""
    if not isinstance(value, ast.Name) or value.id not in {argument.arg for argument in method.args.args[1:]}:
        return False
    stores = {id(each) for each in own_nodes(method) if is_name(each, value.id)} - {
        id(each) for each in own_nodes(method) if isinstance(each, ast.Name) and type(each.ctx) is ast.Load
    }
    made = [each for each in own_nodes(method) if isinstance(each, ast.Assign) and id(each.targets[0]) in stores]
    return len(stores) == len(made) and all(_may_be_mapping(item, each.value) for each in made)


def _is_kept(value: ast.expr) -> bool:
    """Whether a module kept a value, whatever it is."""
    return not isinstance(value, ast.Constant | ast.List | ast.Tuple | ast.Set | ast.JoinedStr)


def _may_be_mapping(item: ClassNode, value: ast.expr) -> bool:
    """Whether a value is seen to be a Namespace or a mapping."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Dict)
    name = value.func.id if isinstance(value.func, ast.Name) else ""
    return item.scope.resolve(value.func) in _MAPPINGS or (name in ("dict", "vars") and not item.scope.lookup(name))


_MAPPINGS = ("argparse.Namespace", "omegaconf.OmegaConf.create", "omegaconf.DictConfig")


def _arrays(method: Function, node: ast.Assign | ast.AnnAssign) -> tuple[str, ...]:
    """The other parameters that look like arrays: save_hyperparameters compares what it gets with each parameter, to
    find its name, and what an array answers is neither true nor false."""
    value = node.value.id if isinstance(node.value, ast.Name) else ""
    others = [
        each for each in taken(method) if each.arg not in (self_name(method), value) and not _is_plain(method, each)
    ]
    asked = {name for inner in own_nodes(method) if (name := _asked_as_array(inner))}
    return tuple(
        each.arg
        for each in others
        if each.arg in asked
        or _FRAME.search(each.arg)
        or (each.annotation is not None and _ARRAY.search(ast.unparse(each.annotation)))
    )


def _is_plain(method: Function, argument: ast.arg) -> bool:
    """Whether a parameter is no array by its default or its annotation."""
    named = [*method.args.posonlyargs, *method.args.args]
    pairs = [*zip(named[::-1], method.args.defaults[::-1], strict=False)]
    pairs += [(one, other) for one, other in zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True) if other]
    default = next((value for one, value in pairs if one is argument), None)
    told = argument.annotation is not None and _PLAIN.fullmatch(ast.unparse(argument.annotation)) is not None
    return told or (isinstance(default, ast.Constant) and default.value is not None)


def _asked_as_array(node: ast.AST) -> str | None:
    """The name of what a node takes for an array."""
    if isinstance(node, ast.Attribute) and node.attr in _OF_ARRAYS and isinstance(node.value, ast.Name):
        return node.value.id
    made = isinstance(node, ast.Call) and last_name(node.func) in _OF_NUMPY and node.args
    first = node.args[0] if made and isinstance(node, ast.Call) else None
    return first.id if isinstance(first, ast.Name) else None


def _shared_name(facts: Facts, ignored: Sequence[str]) -> str | None:
    """Why parameters cannot be left out of what is kept: what is kept loses the values of their names, too."""
    for name in ignored:
        named = re.compile(rf"(?:hparams|hp|args|cfg|config|opt)(?:\.|\[[\"']){name}\b|--{name}\b".encode())
        if any(named.search(source.unescaped) for source in facts.sources.values()):
            return (
                f"`{name}` may be an array, which save_hyperparameters cannot compare, and a value of that name is kept"
            )
    return None


_OF_ARRAYS = ("iloc", "loc", "columns", "values", "shape", "astype")
_OF_NUMPY = ("FloatTensor", "LongTensor", "as_tensor", "asarray", "from_numpy", "tensor")
_FRAME = re.compile(r"(^|_)(df|dataframe|ndarray|array)s?_?\d*$|^df_(train|val|valid|test|eval)", re.IGNORECASE)
_ARRAY = re.compile(r"\b(DataFrame|Series|ndarray|NDArray|array)\b")
_PLAIN = re.compile(r"(?:Optional\[)?(?:str|int|float|bool|Path|pathlib\.Path)\]?(?: \| None)?")


def _used_whole(item: ClassNode) -> int | None:
    """The line in which `self.hparams` is handed to `vars`, or asked for its `__dict__`."""
    for node in walk(item.node):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "vars"
            and any(is_self_attribute(argument, "hparams") for argument in node.args)
        ):
            return node.lineno
        if isinstance(node, ast.Attribute) and node.attr == "__dict__" and is_self_attribute(node.value, "hparams"):
            return node.lineno
    return None


def _is_saved_too(method: Function, node: ast.stmt) -> bool:
    """Whether `__init__` hands the same to save_hyperparameters: before the statement, with nothing in between that may
    change it, or behind it, with nothing in between that may read what is kept, or return."""
    if not isinstance(node, ast.Assign) or not _is_given(method, node.value):
        return False
    value, this = ast.unparse(node.value), self_name(method)
    saved = f"{this}.save_hyperparameters({value})"
    at = method.body.index(node)
    for index, line in enumerate(method.body):
        if isinstance(line, ast.Expr) and ast.unparse(line) == saved:
            between = [inner for other in method.body[min(at, index) + 1 : max(at, index)] for inner in walk(other)]
            if index < at:
                return not _may_change(between, this, value)
            return not any(
                isinstance(inner, ast.Call | ast.FunctionDef | ast.Lambda | ast.Return)
                or is_self_attribute(inner, "hparams", this)
                for inner in between
            )
    return False


def _may_change(nodes: Sequence[ast.AST], this: str, value: str) -> bool:
    """Whether nodes do more with the value that is set, and with what is kept, than read a part of it: they call what
    has one of them or a part, set anything but an attribute of the instance, or take one whole."""
    held = {value, *(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))}
    read: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Call):
            if any(is_name(inner, this) for inner in walk(node)) or _owner(node) in held:
                return True
        elif isinstance(node, ast.Attribute | ast.Subscript):
            if isinstance(node.ctx, ast.Load):
                read.add(id(node.value))
            elif not (isinstance(node, ast.Attribute) and is_name(node.value, this)) or node.attr in _KEPT:
                return True
    return any(
        (is_name(node, value) or any(is_self_attribute(node, name, this) for name in _KEPT)) and id(node) not in read
        for node in nodes
    )


def _owner(call: ast.Call) -> str:
    """The name of what a method is called of, or of what that is a part of."""
    node = call.func
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) and node is not call.func else ""


_KEPT = ("hparams", "_hparams")


def _dropped(line: cst.SimpleStatementLine, *, change: Callable[[Any], cst.Expr]) -> Any:
    """Nothing where the line holds the statement alone, else the line with the statement changed."""
    import libcst as cst

    said = [*(each.comment for each in line.leading_lines), line.trailing_whitespace.comment]
    if len(line.body) == 1 and not any(said):
        return cst.RemovalSentinel.REMOVE
    return line.with_changes(body=[change(line.body[0]), *line.body[1:]])


def _saved(node: Any, *, this: str, logged: bool, ignored: Sequence[str] = ()) -> cst.Expr:
    import libcst as cst

    names = ", ".join(f'"{name}"' for name in ignored)
    more = [*([f"ignore=[{names}]"] if ignored else []), *([] if logged else ["logger=False"])]
    call = cst.ensure_type(cst.parse_expression(f"{this}.save_hyperparameters({', '.join(more)})"), cst.Call)
    args = [cst.Arg(value=node.value), *call.args]
    return cst.Expr(value=call.with_changes(args=args), semicolon=node.semicolon)


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams  # of argparse
        self.layer = torch.nn.Linear(self.hparams.width, 1)
"""
AFTER = BEFORE.replace("self.hparams = hparams", "self.save_hyperparameters(hparams)")
BUILT = BEFORE.replace("self.hparams = hparams", "self.hparams = dict(width=hparams)")
BUILT_AFTER = BUILT.replace("self.hparams = dict(width=hparams)", "self.save_hyperparameters(dict(width=hparams))")
NOT_LIGHTNING = BEFORE.replace("(LightningModule)", "(torch.nn.Module)")

RULE = Rule(
    code="LIT220",
    name="hparams-setter",
    summary="`self.hparams = hparams` becomes `self.save_hyperparameters(hparams)`",
    why=(
        "Lightning 1.3 took the setter of `hparams` away: the statement is an AttributeError. save_hyperparameters "
        "does what the setter did: it keeps a Namespace or dict as a dict whose keys are attributes too."
    ),
    fix="safe",
    versions="written for Lightning < 1.3; the result runs on 1.0 and later",
    triggers=(b".hparams = ", b".hparams]", b".hparams=", b".hparams:", b".hparams,", b'"hparams",', b"'hparams',"),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(BUILT, BUILT_AFTER), Example(NOT_LIGHTNING, NOT_LIGHTNING)),
    breaks_in="1.3.0",
    needs="1.0.0",
)
