"""A patched tree that stops at what is left to do by hand: that shows no rewrite to be wrong."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from verify.evidence import Failure
from verify.reading.sources import Sources


def stopped_at(
    failure: Failure | None,
    problems: Iterable[str],
    left: Iterable[tuple[str, str]],
    after: Sources | None = None,
    held: Collection[str] = (),
) -> str | None:
    """The use that the target does not have and that a failure names, at its line or in quotes, where it is `left` to
    do by hand: a path and what is said of it there; or a finding that names the call and the argument for which it
    failed, of a package that the target does not say, the argument alone where its configuration is `held` by the run,
    or the package that is imported in the line of the tree `after` at which it failed, or the checkpoint that it loads.
    None where there is no such:
    then a rewrite wrote it, or forgot it.
    The problems are as `conform.problems` tells them: `path:line: Trainer(gpus=...), the target has no such
    argument`."""
    if failure is None:
        return None
    known = tuple(left)
    named = (problem for problem in problems if _names(failure, problem))
    found = next((problem for problem in named if any(_is_of(problem, *one) for one in known)), None)
    packages = _imported(failure, after) if after else frozenset()
    return found or next(
        (f"{path}: {said}" for path, said in known
         if _is_refused(failure, path, said, held) or _is_unloadable(failure, packages, path, said)
         or _is_unread(failure, path, said)
         or (after and _is_unlogged(failure, path, said, after))),
        None,
    )  # fmt: skip


def refused(failed: Iterable[str], left: Iterable[tuple[str, str]]) -> str | None:
    """The finding of a module with several optimizers, where Lightning refuses just that one for them: `failed` tells
    of each module, `path:Class: error`, why it does not train."""
    known = tuple(left)
    for text in failed:
        label, _, why = text.partition(": ")
        path, _, name = label.rpartition(":")
        for place, said in known if _SEVERAL in why else ():
            if place == path and said.startswith(f"{name} trains several optimizers"):
                return f"{place}: {said}"
    return None


_CONFIGURATIONS = (".yaml", ".yml", ".json")
_REFUSED = re.compile(r"^(\w+)\.__(?:new|init)__\(\).*(?:argument|arguments):? '(\w+)'")


_IMPORTS = ("ImportError", "ModuleNotFoundError", "AttributeError")
_UNLOGGED = re.compile(
    r"(?:monitor=|conditioned on metric )['`\"]?(\w+).*(?:could not find the monitored key|not available)",
    re.DOTALL,
)
_SEVERAL = "multiple optimizers is only supported with manual optimization"
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")


def _is_refused(failure: Failure, path: str, said: str, held: Collection[str]) -> bool:
    """Whether a call failed for an argument that a finding of its file names, together with what is called: `Accuracy
    wants to be told its task`; or one of a configuration that the run read, which names the argument alone."""
    named = _REFUSED.search(failure.message)
    if named is None:
        return False
    if path.endswith(_CONFIGURATIONS):
        return path in held and (f"`{named[2]}`" in said or f"`{named[2]}=`" in said)
    is_there = failure.place is not None and failure.place.rpartition(":")[0] == path
    return is_there and all(re.search(rf"\b{name}\b", said) for name in named.groups())


def _is_unloadable(failure: Failure, packages: Iterable[str], path: str, said: str) -> bool:
    """Whether a program stopped where it imports a package of which a finding says that it cannot be imported."""
    is_there = failure.place is not None and failure.place.rpartition(":")[0] == path
    return is_there and any(f"`{package}` cannot be imported" in said for package in packages)


def _is_unread(failure: Failure, path: str, said: str) -> bool:
    """Whether a file stopped where it loads a checkpoint of which a finding says that its objects are not loaded."""
    is_there = failure.place is not None and failure.place.rpartition(":")[0] == path
    return is_there and "Weights only load failed" in failure.message and said.startswith("loading a checkpoint")


def _is_unlogged(failure: Failure, path: str, said: str, after: Sources) -> bool:
    """Whether a callback or a scheduler misses a metric that a file puts into a dict, which returns what is no longer
    logged, as a finding says."""
    missed = _UNLOGGED.search(failure.message) if "ignores a returned" in said else None
    tree = after.tree(path) if missed else None
    return missed is not None and tree is not None and missed[1] in _keys(tree)


def _keys(tree: ast.Module) -> Iterator[object]:
    """What a file puts into dicts: not what it merely names, as `monitor="val_loss"` does."""
    for node in ast.walk(tree):
        keys: Iterable[ast.expr | None] = node.keys if isinstance(node, ast.Dict) else ()
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            keys = [node.slice]
        yield from (key.value for key in keys if isinstance(key, ast.Constant))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dict":
            yield from (keyword.arg for keyword in node.keywords)


def _imported(failure: Failure, after: Sources) -> frozenset[str]:
    """The packages that the line imports at which a program stopped since an import failed."""
    path, _, line = (failure.place or "").rpartition(":")
    tree = after.tree(path) if path and failure.type in _IMPORTS else None
    found = set()
    for node in ast.walk(tree) if tree else ():
        if not isinstance(node, ast.stmt) or not node.lineno <= int(line) <= (node.end_lineno or 0):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


def _is_of(problem: str, path: str, said: str) -> bool:
    own = problem.partition(": ")[0].rpartition(":")[0]
    return own == path and re.search(rf"\b{_name(problem)}\b", said) is not None


def _name(problem: str) -> str:
    """The last name in what a problem is of; empty where a file was not read."""
    text = problem.partition(": ")[2]
    words = re.findall(r"\w+", re.split(r" \(|, ", text)[0])
    return words[-1] if words and not text.startswith("not read") else ""


def _names(failure: Failure, problem: str) -> bool:
    name = _name(problem)
    if name and re.search(rf"[`'\"](?:[\w.]+\.)?{name}[`'\"]", failure.message):
        return True
    if not name or problem.partition(": ")[0] != failure.place:
        return False
    module = _NO_MODULE.search(failure.message)
    is_within = module is not None and problem.partition(": ")[2].startswith(f"{module[1]}.")
    return is_within or re.search(rf"\b{name}\b", failure.message) is not None
