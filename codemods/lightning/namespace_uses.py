"""What a script sets on, and asks of, what was parsed under names that Trainer has no more, or means otherwise now."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import targets_of
from codemods.lightning.strategies import GONE, STRATEGIES, is_strategy
from codemods.rule import TextEdit

COMMON = ("args", "hparams", "opt", "opts", "hp", "params")
"""What scripts call what was parsed."""
CHECKPOINT = "checkpoint_callback"
NAMES = frozenset({*STRATEGIES, *GONE, "ddp_cpu"})
"""What `accelerator=` of 1.x took that named a strategy."""
HARDWARE = frozenset({"gpu", "cuda", "auto", "cpu", "tpu", "hpu", "mps"})
"""What it takes in 2.x."""
BY_DEFAULT = "the script names a strategy by the default of --accelerator"


@dataclass(frozen=True)
class NamespaceEdits:
    """The edits by which a script says the same of 2.x, or why there are none. `moved` says that no default of
    `--accelerator` is left, `sets` that it is set otherwise, `listed` that what was parsed brings callbacks along."""

    edits: tuple[TextEdit, ...] = ()
    why: str = ""
    moved: bool = False
    sets: bool = False
    listed: bool = False


@dataclass(frozen=True)
class Default:
    """A default that a script sets, where its name begins, and whether what it stands in is `shared` with others."""

    name: str
    start: int
    value: ast.expr
    call: CallNode
    shared: bool = False


def on_parsed(file: PythonFile, name: str, bases: Collection[str]) -> list[ast.Attribute]:
    """The attributes of that name of what was parsed."""
    return [node for node in file.attributes(name) if ast.unparse(node.value).removeprefix("self.") in bases]


def default_calls(file: PythonFile) -> list[CallNode]:
    """The calls of `set_defaults`."""
    return [
        call
        for call in file.calls_near(["set_defaults"])
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "set_defaults"
    ]


def checkpoint(file: PythonFile, built: Sequence[ast.Call], bases: Collection[str]) -> NamespaceEdits:
    """`args.checkpoint_callback = ModelCheckpoint(...)`, which is one of `callbacks` now; a truth value is
    `enable_checkpointing`."""
    stores = on_parsed(file, CHECKPOINT, bases)
    targets = {id(item.node.targets[0]): item for item in file.assignments if isinstance(item.node, ast.Assign)}
    edits: list[TextEdit] = []
    listed = truth = False
    for node in stores:
        item = targets.get(id(node))
        if item is None or not isinstance(item.node, ast.Assign) or len(item.node.targets) > 1:
            return NamespaceEdits(
                why=f"fixer cannot follow what the script does with {ast.unparse(node)} in line {node.lineno}"
            )
        end = file.offsets(node)[1]
        known, value = literal(item.node.value)
        if known and isinstance(value, bool):
            truth = True
            edits.append(TextEdit(end - len(CHECKPOINT), end, "enable_checkpointing"))
        elif _is_checkpoint(file, item.node.value):
            listed = True
            edits += [TextEdit(end - len(CHECKPOINT), end, "callbacks"), *_in_list(file, item.node.value)]
        else:
            return NamespaceEdits(why=f"fixer cannot tell what {ast.unparse(node)} is in line {node.lineno}")
    if listed and truth:
        return NamespaceEdits(why="the script sets checkpoint_callback to either a callback or a truth value")
    if listed and (on_parsed(file, "callbacks", bases) or "--callbacks" in file.text):
        return NamespaceEdits(why="the script sets callbacks of its own beside checkpoint_callback")
    for call in built if listed else ():
        given = keywords(call).get("callbacks")
        if given is not None and not (isinstance(given, ast.List) and call.args):
            return NamespaceEdits(
                why=f"the callbacks in line {given.lineno} would take the place of checkpoint_callback"
            )
    return NamespaceEdits(tuple(edits), listed=listed)


def _is_checkpoint(file: PythonFile, node: ast.expr) -> bool:
    return any(
        call.node is node
        and (dotted := call.scope.resolve(call.node.func) or "").startswith(f"{ROOT}.callbacks.")
        and dotted.endswith(".ModelCheckpoint")
        for call in file.calls_near(["ModelCheckpoint"])
    )


def _in_list(file: PythonFile, node: ast.expr) -> list[TextEdit]:
    """The edits that put a value into a list, on lines of its own where it has several."""
    start, end = file.offsets(node)
    text = file.text[start:end]
    if "\n" not in text or '"""' in text or "'''" in text:
        return [TextEdit(start, start, "["), TextEdit(end, end, "]")]
    line = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in text else "\n"
    more = [start + match.end() for match in re.finditer(r"\n(?=[^\r\n])", text)]
    edits = [TextEdit(place, place, "    ") for place in more]
    head, tail = f"[{newline}{indent}    ", f",{newline}{indent}]"
    return [TextEdit(start, start, head), *edits, TextEdit(end, end, tail)]


def accelerator(file: PythonFile, bases: Collection[str], own: Collection[str]) -> NamespaceEdits:
    """A default of `--accelerator` that names a strategy, and what is compared with one: `strategy` has it now."""
    defaults = [default for call in default_calls(file) for default in _defaults(file, call)]
    spoken = on_parsed(file, "accelerator", bases)
    asked = [node for node in spoken if isinstance(node.ctx, ast.Load)]
    given = [default for default in defaults if default.name == "accelerator"]
    named = any(is_strategy(value) for default in given for value in _values(file, default))
    both = "strategy" in own or any(default.name == "strategy" for default in defaults)
    mixed = both or "accelerator" in own or bool(on_parsed(file, "strategy", bases))
    compared = {id(node) for node in _compared(file)}
    stored = [node for node in spoken if not isinstance(node.ctx, ast.Load)]
    others = mixed or any(id(node) not in compared for node in asked)
    edits = stored[0] if named and stored else _stored(file, stored, others, bool(given))
    if isinstance(edits, ast.Attribute):
        why = f"the script sets {ast.unparse(edits)} in line {edits.lineno}, which may name a strategy"
        return NamespaceEdits(why=why)
    if mixed:
        return NamespaceEdits(why=BY_DEFAULT if named else "")
    sets = bool(edits)
    edits += [_renamed(file, node) for node in asked if id(node) in compared]
    moved = False
    for default in given:
        values = _values(file, default)
        if not any(map(is_strategy, values)):
            if literal(default.value) == (True, None):
                edits.append(TextEdit(*file.offsets(default.value), '"cpu"'))
            continue
        words = {word if isinstance(word := literal(value)[1], str | None) else repr(word) for value in values}
        if lost := sorted(str(word) for word in words - STRATEGIES if word in GONE or word == "ddp_cpu"):
            return NamespaceEdits(why=f'the default of --accelerator is "{lost[0]}", which is gone')
        other = next((node for node in asked if id(node) not in compared), None)
        if words - STRATEGIES or other is not None or default.shared:
            return NamespaceEdits(why=BY_DEFAULT)
        edits.append(TextEdit(default.start, default.start + len("accelerator"), "strategy"))
        moved = True
    return NamespaceEdits(tuple(edits), moved=moved, sets=sets)


def _stored(
    file: PythonFile, stored: Sequence[ast.Attribute], asked: bool, given: bool
) -> list[TextEdit] | ast.Attribute:
    """The edits of what is set as `accelerator`: the name of a strategy is `strategy` now, and None, which left it to
    the number of GPUs, is the CPU; the first place that may name a strategy where they cannot be made. Hardware stays.
    `asked` says whether the script speaks of either otherwise, `given` whether it has a default of its own."""
    alone = [item.node for item in file.assignments if len(targets_of(item.node)) == 1]
    set_to = {id(targets_of(node)[0]): node.value for node in alone if isinstance(node, ast.Assign)}
    values = [set_to.get(id(node)) for node in stored]
    words = {value.value if isinstance(value, ast.Constant) else None for value in values}
    edits: list[TextEdit] = []
    for node, value in zip(stored, values, strict=True):
        word = value.value if isinstance(value, ast.Constant) else ""
        if word in HARDWARE:
            continue
        if asked or value is None:
            return node
        if word is None and words <= {None, *HARDWARE}:
            edits.append(TextEdit(*file.offsets(value), '"cpu"'))
        elif word in STRATEGIES and words == {word} and not given:
            edits.append(_renamed(file, node))
        else:
            return node
    return edits


def _renamed(file: PythonFile, node: ast.Attribute) -> TextEdit:
    end = file.offsets(node)[1]
    return TextEdit(end - len(node.attr), end, "strategy")


def _compared(file: PythonFile) -> Iterator[ast.expr]:
    """The expressions that are compared with names of strategies alone."""
    for node, _ in file.nodes_near(["accelerator"]):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            known, value = literal(node.comparators[0])
            words = [value] if isinstance(value, str) else value if isinstance(value, list | tuple | set) else []
            if known and words and all(isinstance(word, str) and word.lower() in NAMES for word in words):
                yield node.left


def _defaults(file: PythonFile, call: CallNode) -> Iterator[Default]:
    """The defaults that a call sets, those of dictionaries that it is given too."""
    for item in call.node.keywords:
        if item.arg is not None:
            yield Default(item.arg, file.offsets(item)[0], item.value, call)
            continue
        name = item.value.id if isinstance(item.value, ast.Name) else ""
        for mapping in _values(file, Default("", 0, item.value, call)):
            if isinstance(mapping, ast.Dict):
                shared = bool(name) and _is_shared(file, name, mapping)
                for key, value in zip(mapping.keys, mapping.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield Default(key.value, file.offsets(key)[0] + 1, value, call, shared)


def _is_shared(file: PythonFile, name: str, mapping: ast.Dict) -> bool:
    """Whether a dictionary is used, behind the line that makes it, other than to be updated and given to the parser."""
    fine = {id(item.value) for call in default_calls(file) for item in call.node.keywords if item.arg is None}
    nodes = [node for node, _ in file.nodes_near([name])]
    fine |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr == "update"}
    loads = [
        node for node in nodes if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return any(node.lineno > (mapping.end_lineno or 0) and id(node) not in fine for node in loads)


def _values(file: PythonFile, default: Default) -> list[ast.expr]:
    """A value, or those that its function, or else the module, binds its name to."""
    value = default.value
    if not isinstance(value, ast.Name):
        return [value]
    bound = file.assignments_to(value.id)
    here = [item for item in bound if item.within and item.within[-1] in default.call.within]
    return [item.node.value for item in here or bound if item.node.value is not None]
