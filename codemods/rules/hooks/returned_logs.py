"""Dicts with `log` and `progress_bar` that a method returns, and the calls of `self.log` that stand for them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    assigned_to,
    crowded_return,
    finally_leaves,
    is_bound,
    is_last,
    is_name,
    is_plain,
    is_self_attribute,
    parameters,
    returns,
    self_name,
    uses,
)
from codemods.rules.hooks.dict_uses import DictUses, is_dict, keys_of
from codemods.rules.hooks.epoch_end import LOGGED, OLDEST, STAGES
from codemods.rules.hooks.shared_keys import is_same_surely, shared_calls
from codemods.rules.hooks.training_steps import AGAIN, STEPS, asked_of_steps

APART = {stage.helper: stage.new for stage in (*STAGES, *OLDEST)}
"""What an old hook that something else calls too has become, and the hook that calls it."""
HOOKS = (*dict.fromkeys(name for stage in (*STAGES, *OLDEST) for name in (stage.old, stage.new)), *APART)


@dataclass(frozen=True)
class ReturnedLog:
    """A `return {..., "log": ...}`, with what is to be logged instead, as source text. `name` is what the dict is
    called in the statement before it, if it is; `sure` whether nothing that 0.x logged by it is left out; `emptied`
    whether nothing is left to return, `last` whether the method ends there, `spread` the dicts whose keys go to the
    others, `unread` the names of those that nothing reads any more."""

    node: ast.Return
    name: str | None
    calls: tuple[str, ...]
    sure: bool
    emptied: bool
    last: bool
    spread: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def hooks_of(item: ClassNode) -> list[Function]:
    """The methods of a class that are called at the end of an epoch, each once, by whatever name."""
    return [
        item.methods[name]
        for name in HOOKS
        if name in item.methods and (name not in APART or any(calls_of(item, APART[name], name)))
    ]


def calls_of(item: ClassNode, method: str, name: str) -> Iterator[ast.Call]:
    """The calls `self.name(...)` in one method of a class."""
    for node in walk(item.methods[method]) if method in item.methods else ():
        if isinstance(node, ast.Call) and is_self_attribute(node.func, name):
            yield node


def calls_from_hooks(item: ClassNode, method: Function) -> int:
    """How many calls there are of a hook of which Lightning gets what it returns, or after which nothing does: in what
    another hook returns, and in the hook that calls one that stands apart."""
    name = method.name
    ends = [node.value for each in hooks_of(item) for node in returns(each) if isinstance(node.value, ast.Call)]
    found = [
        *(call for call in ends if is_self_attribute(call.func, name)),
        *calls_of(item, APART.get(name, ""), name),
    ]
    return len({id(call) for call in found})


def why_not(file: PythonFile, item: ClassNode, method: Function) -> str | None:
    """Why what a method returns cannot be logged by it instead, as far as its class and its head tell."""
    if (
        not is_plain(method, named=True)
        or self_name(method) != "self"
        or finally_leaves(method)
        or crowded_return(method)
    ):
        return f"{method.name} is not an ordinary method"
    if any(name in item.methods for name in _NAMES):
        return "the class has a method `log` of its own"
    if any(isinstance(attribute.ctx, ast.Store) for name in _NAMES for attribute in file.attributes(name)):
        return "the class has an attribute `log` of its own"
    return None


_NAMES = ("log", "log_dict")


def logged_returns(item: ClassNode, method: Function, looked_at: Container[str]) -> list[ast.Return]:
    """The returns of a method that give a dict with `log` or `progress_bar`, as far as it shows that, or a method of
    the class that it calls, other than those that are looked at themselves."""

    def shows(method: Function, value: ast.expr, depth: int) -> bool:
        values = assigned_to(method, value.id) if isinstance(value, ast.Name) else [value]
        return any(keys_of(each) & set(LOGGED) or made(each, depth) for each in values)

    def made(value: ast.expr, depth: int) -> bool:
        name = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
        called = item.methods.get(name) if isinstance(value, ast.Call) and is_self_attribute(value.func, name) else None
        if called is None or name in looked_at or not depth:
            return False
        return any(node.value is not None and shows(called, node.value, depth - 1) for node in returns(called))

    return [node for node in returns(method) if node.value is not None and shows(method, node.value, 3)]


NOT_LOGGED = "which self.log refuses"


def refused_by_log(file: PythonFile, method: Function, values: Iterable[ast.expr]) -> str | None:
    """The one of some values, as it is written, that is plainly nothing that `self.log` takes, with what it is."""
    for value in values:
        made = (
            [*assigned_to(method, value.id), *_taken_from(method, value.id)] if isinstance(value, ast.Name) else [value]
        )
        for what in filter(None, (_no_number(file, each) for each in made)):
            return f"`{file.source_of(value)}` is {what}, {NOT_LOGGED}"
    return None


def _taken_from(method: Function, name: str) -> list[ast.expr]:
    """The calls of which a method binds a name to a part: `figure, axes = plt.subplots()`."""
    several = (node for node in walk(method) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
    return [
        node.value
        for node in several
        if any(is_name(each, name) for target in node.targets if isinstance(target, ast.Tuple) for each in target.elts)
    ]


def _no_number(file: PythonFile, value: ast.expr) -> str | None:
    """What a value is that is plainly no number."""
    if isinstance(value, ast.Call):
        dotted = file.scope.resolve(value.func) or ""
        if getattr(value.func, "attr", "") == "numpy":
            return "an array of NumPy"
        if dotted == "torchvision.utils.make_grid":
            return "an image"
        package = dotted.partition(".")[0]
        return f"an object of {package}" if package in _SHOWING else None
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return "a text"
    kinds = (ast.List, ast.ListComp, ast.Tuple, ast.Set, ast.SetComp, ast.GeneratorExp)
    return "a list of several things" if isinstance(value, kinds) else None


_SHOWING = frozenset({"wandb", "matplotlib", "PIL", "plotly", "seaborn"})
"""Packages of which a logger takes pictures, tables and their like."""


def read_return(
    file: PythonFile, item: ClassNode, method: Function, node: ast.Return, watched: Callable[[str], bool]
) -> ReturnedLog | str:
    """What stands for a returned dict, or why it cannot be told; `watched` says of a key whether callbacks monitor
    it."""
    named = isinstance(node.value, ast.Name)
    value = _named_before(method, node) if named else node.value
    if value is not None and method.name in HOOKS:
        value = _without_logged(DictUses(file, method), value)
    entries = _entries(item, value) if value else None
    if entries is None:
        return "what it returns is not written out as a dict at the `return`"
    parts = dict(entries)
    if len(parts) != len(entries):
        return "the dict has a key twice"
    if logs(method):
        return "the method logs by itself too, and what it returns may be left over"
    if any(name in LOGGED and not isinstance(each, ast.Name | ast.Dict) for name, each in parts.items()):
        return "what is logged is neither a name nor a dict"
    shown = DictUses(file, method)
    log, bar = parts.get("log"), parts.get("progress_bar")
    calls = _calls(shown, log, bar)
    if isinstance(calls, str):
        return calls
    if whole := sorted(_names_in(shown, log, bar) & _of_batch(method)):
        return f"`{whole[0]}` is a part of the batch, where a logger takes single numbers"
    values = [each for node in (log, bar) if node is not None for each in (shown.items(node) or {}).values()]
    if refused := refused_by_log(file, method, [*values, *(parts.values() if method.name in HOOKS else ())]):
        return refused
    hook = method.name in HOOKS
    if hook and named and value and file.has_comment(value.lineno - 1, value.end_lineno or value.lineno):
        return "there is a comment next to the dict, of which nothing would be left"
    others = {name: each for name, each in parts.items() if name not in LOGGED}
    known = [shown.items(each) for each in (log, bar) if each is not None]
    keys = {key for found in known if found for key in found}
    keys |= {name for name, each in others.items() if _is_item(each, log, bar) and _key_of(each) == name}
    open_ended = [each for each in (log, bar) if each is not None and shown.items(each) is None]
    asked = [name for name in others if name not in keys and watched(name)]
    if dicts := [name for name in asked if is_dict(item, method, others[name])]:
        return f"`{dicts[0]}`, which is looked up by name, is a dict, {NOT_LOGGED}"
    sure = None not in known or not (hook or asked)
    if not hook:
        if refused := refused_by_log(file, method, map(others.__getitem__, asked)):
            return refused
        if made := next(
            (name for name in asked if any(isinstance(node, ast.Call) for node in walk(others[name]))), None
        ):
            return f"`{made}`, which is monitored, is worked out in the dict itself"
        pairs = ((_quoted(file, value, name), file.source_of(others[name])) for name in asked)
        beside = [_once(file, key, text, open_ended) for key, text in pairs]
    else:
        beside = []
        texts = {file.source_of(each) for found in known if found for each in found.values()}
        for name, each in others.items():
            text = file.source_of(each)
            if name in keys:
                continue
            if not (text in texts or _is_item(each, log, bar)):
                sure = False
                if name not in asked:
                    continue
            beside.insert(0, _once(file, _quoted(file, value, name), text, open_ended))
    if beside and any(not isinstance(each, ast.Name) for each in open_ended):
        return "what is logged may have one of the other keys too, and nothing is logged twice in one way and another"
    calls[:0] = beside
    again = set() if hook else asked_of_steps(item) - {*others, *LOGGED}
    spread = [
        each for each in (log, bar) if each is not None and again & (shown.items(each) or dict.fromkeys(again)).keys()
    ]
    if spread and named:
        return f"{AGAIN[0]} reads `{min(again)}`, which it returns under `log` or `progress_bar`"
    called = node.value.id if isinstance(node.value, ast.Name) else None
    sure = sure and (log is None or bar is None or is_same_surely(shown, log, bar))
    return ReturnedLog(node, called, tuple(calls), sure, hook, is_last(method.body, node), _spread(file, spread))


def _once(file: PythonFile, key: str, text: str, open_ended: list[ast.expr]) -> str:
    """The call that logs for callbacks alone what the dicts that are logged may have too."""
    call = f"self.log({key}, {text}, logger=False)"
    tests = dict.fromkeys(f"{key} not in {file.source_of(each)}" for each in open_ended)
    return f"if {' and '.join(tests)}:\n    {call}" if tests else call


def _spread(file: PythonFile, dicts: list[ast.expr]) -> tuple[str, ...]:
    """What puts the keys of some dicts into another one."""
    return tuple(dict.fromkeys(_items_of(file, each) for each in dicts))


def _items_of(file: PythonFile, node: ast.expr) -> str:
    """The items of a dict, as those of another one are written."""
    if not isinstance(node, ast.Dict) or not node.keys:
        return f"**{file.source_of(node)}"
    pairs = zip(node.keys, map(file.source_of, node.values), strict=True)
    return ", ".join(f"{file.source_of(key)}: {value}" if key else f"**{value}" for key, value in pairs)


def written_out(item: ClassNode, method: Function, node: ast.Return) -> list[tuple[str, ast.expr]] | None:
    """The keys and values of the dict that a method returns, None where they are not written out there."""
    value = _named_before(method, node) if isinstance(node.value, ast.Name) else node.value
    return _entries(item, value) if value is not None else None


def _without_logged(shown: DictUses, value: ast.expr) -> ast.expr:
    """A dict without `**d` of a dict that it holds as `log` or `progress_bar` too: what is logged goes nowhere else."""
    if not isinstance(value, ast.Dict):
        return value
    pairs = list(zip(value.keys, value.values, strict=True))
    logged = {
        each.id
        for key, each in pairs
        if isinstance(key, ast.Constant)
        and key.value in LOGGED
        and isinstance(each, ast.Name)
        and not set(LOGGED) & (shown.items(each) or {}).keys()
    }
    kept = [(key, each) for key, each in pairs if key or not (isinstance(each, ast.Name) and each.id in logged)]
    return ast.copy_location(ast.Dict([key for key, _ in kept], [each for _, each in kept]), value)


def _names_in(shown: DictUses, *dicts: ast.expr | None) -> set[str]:
    """The names that stand as values in some dicts, as far as these are written out."""
    values = [each for node in dicts if node is not None for each in (shown.items(node) or {}).values()]
    return {each.id for each in values if isinstance(each, ast.Name)}


def _of_batch(method: Function) -> set[str]:
    """The names that a step takes out of its batch, and binds to nothing else."""
    given = parameters(method)[:1] if method.name == STEPS[0] else []
    taken: set[str] = set()
    for node in walk(method) if given else ():
        value = node.value if isinstance(node, ast.Assign) else None
        owner = value.value if isinstance(value, ast.Subscript) else value
        if isinstance(node, ast.Assign) and owner is not None and is_name(owner, given[0]):
            taken |= {each.id for target in node.targets for each in walk(target) if isinstance(each, ast.Name)}
    return {name for name in taken if sum(isinstance(use.ctx, ast.Store) for use in uses(method, name)) == 1}


def _entries(item: ClassNode, value: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """The keys and values of a dict, be it one of `dict(...)` or `OrderedDict(...)`; None where it is none, or not
    all of it is written out."""
    if isinstance(value, ast.Dict):
        keys = [key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        return list(zip(keys, value.values, strict=True)) if len(keys) == len(value.keys) else None
    if not isinstance(value, ast.Call):
        return None
    plain = isinstance(value.func, ast.Name) and value.func.id == "dict" and item.scope.lookup("dict") is None
    if not plain and item.scope.resolve(value.func) != "collections.OrderedDict":
        return None
    if value.args:
        inner = value.args[0]
        return _entries(item, inner) if [inner] == value.args and not value.keywords and _is_display(inner) else None
    named = [(keyword.arg, keyword.value) for keyword in value.keywords if keyword.arg]
    return named if len(named) == len(value.keywords) else None


def _is_display(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict)


def _quoted(file: PythonFile, value: ast.expr | None, name: str) -> str:
    """A key as it is spelled, or as the method spells its strings."""
    spelled = {key.value: file.source_of(key) for key in _displayed(value) if isinstance(key, ast.Constant)}
    return spelled.get(name, f'"{name}"')


def _displayed(value: ast.expr | None) -> list[ast.expr | None]:
    inner = value.args[0] if isinstance(value, ast.Call) and value.args else value
    return inner.keys if isinstance(inner, ast.Dict) else []


def _named_before(method: Function, node: ast.Return) -> ast.expr | None:
    """What a returned name is bound to in the same block before, where the method uses the name for nothing else than
    to return what it has been bound to, and what that is made of stays the same until then."""
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    ends = (
        (block[:index], each.value)
        for block in blocks_of(method)
        for index, each in enumerate(block)
        if isinstance(each, ast.Return) and each.value is not None and is_name(each.value, name)
    )
    bound = {id(end): value for before, end in ends if (value := _last_bound(before, name))}
    loads = [use for use in uses(method, name) if isinstance(use.ctx, ast.Load)]
    stores = [use for use in uses(method, name) if not isinstance(use.ctx, ast.Load)]
    alone = len(stores) == len(bound) and all(id(use) in bound for use in loads)
    return bound.get(id(node.value)) if alone else None


def _last_bound(before: list[ast.stmt], name: str) -> ast.expr | None:
    """What the last statement `name = value` of some statements binds, where it is the same behind all of them."""
    for index in reversed(range(len(before))):
        bound = before[index]
        if isinstance(bound, ast.Assign) and [is_name(target, name) for target in bound.targets] == [True]:
            return bound.value if _stays(bound.value, before[index + 1 :]) else None
    return None


def _stays(value: ast.expr, between: list[ast.stmt]) -> bool:
    """Whether a dict would be the same if it were made behind some statements: of names and literals alone, and of none
    that they bind."""
    parts = [each for each in walk(value) if each is not value]
    plain = not any(isinstance(each, ast.Call | ast.Attribute | ast.Subscript | ast.Await) for each in parts)
    read = {each.id for each in parts if isinstance(each, ast.Name)}
    stored = {
        each.id for statement in between for each in walk(statement) if isinstance(each, ast.Name) and is_bound(each)
    }
    return not between or (plain and not read & stored)


def blocks_of(method: Function) -> Iterator[list[ast.stmt]]:
    """The lists of statements below a method."""
    for node in walk(method):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block


def logs(method: Function) -> bool:
    """Whether a method calls `self.log` or `self.log_dict`."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func) in _LOG_CALLS
        for node in walk(method)
    )


_LOG_CALLS = ("self.log", "self.log_dict")


def _is_item(value: ast.expr, *dicts: ast.expr | None) -> bool:
    """Whether an expression is `d[...]` of one of the logged dicts."""
    names = {each.id for each in dicts if isinstance(each, ast.Name)}
    return isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and value.value.id in names


def _key_of(value: ast.expr) -> object:
    """The key of `d["key"]`."""
    key = value.slice if isinstance(value, ast.Subscript) else None
    return key.value if isinstance(key, ast.Constant) else None


def _aligned(file: PythonFile, node: ast.expr) -> str:
    """The text of a dict with its later lines moved as far as its first one moves into `self.log_dict(`, or as that
    line does where nothing stands behind the bracket."""
    text = file.source_of(node)
    first, *rest = text.split("\n")
    line = file.text.splitlines()[node.lineno - 1]
    hangs = first.rstrip() == "{"
    moved = len(line) - len(line.lstrip()) if hangs else node.col_offset - len("self.log_dict(")
    if moved < 0 or any(line[:moved].strip() for line in rest):
        return text
    return "\n".join([first, *(line[moved:] for line in rest)])


def _calls(shown: DictUses, log: ast.expr | None, bar: ast.expr | None) -> list[str] | str:
    """The calls that log and show what 0.x did for the two dicts."""

    def text(node: ast.expr) -> str:
        return _aligned(shown.file, node)

    if log is None or bar is None:
        if log is not None:
            return [f"self.log_dict({text(log)})"]
        return [f"self.log_dict({text(bar)}, prog_bar=True, logger=False)"] if bar is not None else []
    same = isinstance(log, ast.Name) and isinstance(bar, ast.Name) and shown.origin(log.id) == shown.origin(bar.id)
    if same or (isinstance(log, ast.Dict) and text(log) == text(bar)):
        return [f"self.log_dict({text(log)}, prog_bar=True)"]
    logged, barred = shown.items(log), shown.items(bar)
    if logged is None or barred is None:
        return "the keys of `log` and `progress_bar` are not all written out, and one may be in both"
    if shown.alike(logged, barred):
        return [f"self.log_dict({text(log)}, prog_bar=True)"]
    if logged.keys() & barred.keys():
        return shared_calls(shown, log, bar) or "`log` and `progress_bar` share keys"
    return [f"self.log_dict({text(bar)}, prog_bar=True, logger=False)", f"self.log_dict({text(log)})"]
