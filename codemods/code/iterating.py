"""What a loop goes over, without what only hands it on item by item."""

from __future__ import annotations

import ast
from typing import NamedTuple

from codemods.code.imports import ModuleNames
from codemods.code.nodes import DOING, every_node

BARS = frozenset({
    "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.autonotebook.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm", "tqdm.rich.tqdm",
    "tqdm.tqdm_notebook", "rich.progress.track", "alive_progress.alive_it", "progressbar.progressbar",
})  # fmt: skip
"""What shows how far a loop is, by dotted names."""
CHAIN, SLICE, COUNT, REPEAT = "itertools.chain", "itertools.islice", "itertools.count", "itertools.repeat"


class Turns(NamedTuple):
    """What is gone over, and what each item of it is called."""

    over: ast.expr
    target: ast.expr


def plain_turns(over: ast.expr, target: ast.expr, known: ModuleNames) -> Turns | None:
    """What a loop goes over in its plain form; None where it is in this form."""
    inner = _turned(over, target, known)
    return (plain_turns(inner.over, inner.target, known) or inner) if inner else None


def _turned(over: ast.expr, target: ast.expr, known: ModuleNames) -> Turns | None:
    if isinstance(over, ast.GeneratorExp):
        turn = over.generators[0]
        names = (getattr(turn.target, "id", ""), getattr(over.elt, "id", None))
        same = len(over.generators) == 1 and names[0] == names[1] and not turn.ifs and not turn.is_async
        return Turns(turn.iter, target) if same else None
    if not isinstance(over, ast.Call) or any(isinstance(item, ast.Starred) for item in over.args):
        return None
    name = over.func.id if isinstance(over.func, ast.Name) and over.func.id not in known.taken else ""
    first = over.args[0] if over.args else None
    alone = first if len(over.args) == 1 and not over.keywords else None
    dotted = known.dotted(over.func)
    if dotted in BARS:
        return _shown(over, target, known)
    if alone is not None and (name == "iter" or dotted == CHAIN):
        return Turns(alone, target)
    if first is not None and dotted == SLICE:
        ends = [getattr(item, "value", item) for item in over.args[1:]]
        return Turns(first, target) if ends == [None] and not over.keywords else None
    if name == "enumerate":
        return _numbered(over, target, known)
    return _beside(over, target, known) if name == "zip" and not over.keywords else None


def _shown(call: ast.Call, target: ast.expr, known: ModuleNames) -> Turns | None:
    """What a bar goes over whose other arguments do nothing else."""
    words = {item.arg: item.value for item in call.keywords}
    given = [*call.args, *([words.pop("iterable")] if "iterable" in words and not call.args else [])]
    if not given or None in words or any(_does(item, known) for item in (*given[1:], *words.values())):
        return None
    return Turns(given[0], target)


def _does(node: ast.expr, known: ModuleNames) -> bool:
    """Whether an expression may do something, as a call does."""
    return not known.is_quiet(node) and any(isinstance(item, DOING) for item in every_node(node))


def _numbered(call: ast.Call, target: ast.expr, known: ModuleNames) -> Turns | None:
    """What `enumerate` is given where nobody reads the number."""
    words = [item.arg for item in call.keywords]
    starts = [*call.args[1:], *(item.value for item in call.keywords)]
    pair = _unread_first(target, known)
    plain = call.args and pair and words in ([], ["start"]) and len(starts) <= 1
    return Turns(call.args[0], pair) if plain and pair and all(map(known.is_quiet, starts)) else None


def _beside(call: ast.Call, target: ast.expr, known: ModuleNames) -> Turns | None:
    """What `zip` is given alone, or beside numbers that nobody reads."""
    if len(call.args) == 1:
        single = isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 1
        inner = target.elts[0] if single and isinstance(target, ast.Tuple | ast.List) else None
        return Turns(call.args[0], inner) if inner is not None and not isinstance(inner, ast.Starred) else None
    count = call.args[0] if len(call.args) == 2 else None
    pair = _unread_first(target, known)
    counts = isinstance(count, ast.Call) and known.dotted(count.func) == COUNT and not (count.args or count.keywords)
    return Turns(call.args[1], pair) if counts and pair else None


def is_repeated_once(over: ast.expr, known: ModuleNames) -> bool:
    """Whether a loop has one turn, over the same thing."""
    if not isinstance(over, ast.Call) or known.dotted(over.func) != REPEAT or over.keywords or len(over.args) != 2:
        return False
    times = over.args[1]
    return isinstance(times, ast.Constant) and times.value == 1 and known.is_quiet(over.args[0])


def _unread_first(target: ast.expr, known: ModuleNames) -> ast.expr | None:
    """The second of two targets, where nobody reads the first."""
    pair = target.elts if isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 2 else []
    if not pair or not isinstance(pair[0], ast.Name) or isinstance(pair[1], ast.Starred):
        return None
    return pair[1] if known.names.is_never_read(pair[0].id) else None
