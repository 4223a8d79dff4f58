"""What the callbacks and schedulers of a project look up by name, and what its modules log by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile, TextFile
from codemods.code.syntax import Function, uses

METRICS = "callback_metrics"
CALLBACKS = "EarlyStopping"
PLATEAU = "ReduceLROnPlateau"
CHECKPOINT = "ModelCheckpoint"
BEST = "save_top_k"
DEFAULT = "val_loss"
"""What these watched where nothing was said: the first up to 1.2, the others up to 0.9."""
REDUCED = frozenset({"mean", "sum", "item", "min", "max"})
NUMBERS = ("float", "int", "len", "sum")
KEYED = re.compile(r"""^[ \t-]*["']?monitor["']?\s*[:=]\s*["']?([\w/.\- ]+?)["']?\s*(?:[,#}].*)?$""", re.MULTILINE)


@dataclass(frozen=True)
class MonitoredNames:
    """The names of metrics that a file looks up (`watched`) and logs (`logged`, as patterns); `anything` whether it
    logs some that it does not say, `asks` whether it looks some up that it does not say."""

    watched: frozenset[str] = frozenset()
    logged: frozenset[str] = frozenset()
    anything: bool = False
    asks: bool = False


def watch(file: PythonFile) -> MonitoredNames | None:
    """What a file looks up and logs, None for neither."""
    watched = frozenset([*_monitored(file), *_asked(file)])
    logged = list(_logged(file))
    found = MonitoredNames(watched, frozenset(each for each in logged if each), None in logged, _hands_out(file))
    return found if found != MonitoredNames() else None


def watch_text(file: TextFile) -> MonitoredNames | None:
    """The metrics that a configuration names for a callback or scheduler."""
    watched = frozenset(KEYED.findall(file.text))
    return MonitoredNames(watched) if watched else None


def _monitored(file: PythonFile) -> Iterator[str]:
    for call in file.calls_near(("monitor", CALLBACKS, PLATEAU, BEST)):
        given = [item.value for item in call.node.keywords if item.arg == "monitor"]
        last = (call.scope.resolve(call.node.func) or "").rpartition(".")[2]
        if last == CALLBACKS:
            given += call.node.args[:1]
            silent = not given and all(item.arg for item in call.node.keywords)
        elif last == CHECKPOINT:
            silent = not (given or call.node.args) and _keeps_several(call.node)
        else:
            silent = last == PLATEAU and "monitor" not in file.text
        yield from [DEFAULT] if silent else _texts(given)
    for node, _ in file.nodes_near(("monitor",)):
        if isinstance(node, ast.Dict):
            yield from _texts(value for key, value in zip(node.keys, node.values, strict=True) if _is(key, "monitor"))


def _keeps_several(call: ast.Call) -> bool:
    """Whether a call asks for more than one of the best, which only releases that watch something unasked take."""
    best = [item.value for item in call.keywords if item.arg == BEST]
    number = best[0].value if best and isinstance(best[0], ast.Constant) else None
    return type(number) is int and number > 1 and all(item.arg for item in call.keywords)


def _asked(file: PythonFile) -> Iterator[str]:
    """The keys by which `trainer.callback_metrics` is read."""
    for node, _ in file.nodes_near((METRICS,)):
        if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == METRICS:
            yield from _texts([node.slice])
        elif isinstance(node, ast.Call) and getattr(getattr(node.func, "value", None), "attr", "") == METRICS:
            yield from _texts(node.args[:1])


def _hands_out(file: PythonFile) -> bool:
    """Whether a file reads `callback_metrics` other than by one key that is written there."""
    if METRICS not in file.text:
        return False
    return len(file.attributes(METRICS)) != len(list(_asked(file)))


def _logged(file: PythonFile) -> Iterator[str | None]:
    """Patterns of the names under which a file logs, None for those that a module does not say."""
    for call in file.calls_near(("log", "log_dict")):
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr not in ("log", "log_dict"):
            continue
        given = _first(call, "name" if function.attr == "log" else "dictionary")
        several = function.attr == "log_dict"
        names = given.keys if several and isinstance(given, ast.Dict) else [None if several else given]
        own = isinstance(function.value, ast.Name) and function.value.id == "self"
        for each in names:
            pattern = _pattern(each)
            if pattern or own:
                yield pattern


def _first(call: CallNode, name: str) -> ast.expr | None:
    named = [item.value for item in call.node.keywords if item.arg == name]
    return next(iter([*call.node.args, *named]), None)


def _pattern(node: ast.expr | None) -> str | None:
    """What matches the names that an expression may be, None where it may be any."""
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value))
    if isinstance(node, ast.JoinedStr):
        parts = [re.escape(str(each.value)) if isinstance(each, ast.Constant) else ".*" for each in node.values]
        return "".join(parts) if any(part != ".*" for part in parts) else None
    return None


def _texts(nodes: Iterable[ast.expr | None]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _is(node: ast.expr | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def unheard(every: Iterable[MonitoredNames]) -> tuple[frozenset[str], bool]:
    """The names that are looked up and never logged, as far as it is said; and whether others may be looked up."""
    found = list(every)
    if any(each.anything for each in found):
        return frozenset(), False
    patterns = [re.compile(pattern) for each in found for pattern in each.logged]
    watched = frozenset().union(*(each.watched for each in found))
    lost = {name for name in watched if not any(pattern.fullmatch(name) for pattern in patterns)}
    return frozenset(lost), any(each.asks for each in found)


def is_number(method: Function, node: ast.expr, depth: int = 6) -> bool:
    """Whether an expression of a method is a single number: a mean, a sum, and what is computed of such."""
    if depth == 0:
        return False
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.BinOp):
        return is_number(method, node.left, depth - 1) and is_number(method, node.right, depth - 1)
    if isinstance(node, ast.UnaryOp):
        return is_number(method, node.operand, depth - 1)
    if isinstance(node, ast.Name):
        bound = [each.value for each in walk(method) if isinstance(each, ast.Assign) and _binds(each, node.id)]
        alone = sum(not isinstance(use.ctx, ast.Load) for use in uses(method, node.id)) == len(bound)
        return bool(bound) and alone and all(is_number(method, each, depth - 1) for each in bound)
    return isinstance(node, ast.Call) and _reduces(node)


def _binds(node: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)


def _reduces(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in NUMBERS
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in REDUCED or call.keywords:
        return False
    function = isinstance(call.func.value, ast.Name) and call.func.value.id in ("torch", "np", "numpy")
    return len(call.args) == (1 if function else 0)
