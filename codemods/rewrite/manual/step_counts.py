"""Who asks how many steps were made, which a loop over several optimizers counts for each, and Lightning before 1.6
counted for all together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.code.nodes import walked
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, parameters, self_name, uses
from codemods.lightning.facts import CALLBACK, ClassFact, Facts
from codemods.rewrite.manual.hooks import COUNT
from codemods.rewrite.manual.project_obstacles import COUNTS
from codemods.rewrite.manual.shown_counts import shown_alone

SETTINGS = frozenset({"python", "notebook", "yaml", "json", "toml", "shell"})
_HOOKS = ("on_", "setup", "teardown")


@dataclass(frozen=True)
class StepCountUses:
    """Whether something asks the module for its count, and the first file that counts steps in another way."""

    module: bool
    otherwise: str | None


def askers(facts: Facts, own: tuple[ClassFact, ...]) -> StepCountUses:
    """Who asks for the steps of `own`: the class that gets a loop, and those below it."""
    otherwise = {path for path in _limits(facts) if facts.kinds.get(path) in SETTINGS}
    module = False
    for path in facts.mentions.get(COUNT.encode(), ()):
        file = facts.open(path)
        if file is None:
            otherwise |= {path} if facts.kinds.get(path) in SETTINGS else set()
            continue
        ways = set(_ways(facts, file, own))
        module = module or "module" in ways
        if "other" in ways:
            otherwise.add(path)
    return StepCountUses(module, min(otherwise, default=None))


def _limits(facts: Facts) -> frozenset[str]:
    """The files that limit steps by a number."""
    if "step limits" not in facts.of_sources:
        words = [word for word in COUNTS if word != COUNT.encode()]
        limits = {path for word in words for path in facts.mentions.get(word, ()) if not _is_none(facts, path, word)}
        facts.of_sources["step limits"] = frozenset(limits)
    found: frozenset[str] = facts.of_sources["step limits"]
    return found


def _is_none(facts: Facts, path: str, word: bytes) -> bool:
    """Whether a file gives a count of steps None wherever it names it, which is no count."""
    source = facts.sources.get(path)
    if source is None:
        return False
    nothing = re.findall(rb"\b%b\b[\"']?\s*[:=]\s*(?:None|null|~)(?![\w.])" % word, source.data)
    return len(nothing) == len(re.findall(rb"\b%b\b" % word, source.data)) > 0


def _ways(facts: Facts, file: PythonFile, own: tuple[ClassFact, ...]) -> Iterator[str]:
    """How a file asks: of the `module`, of what is no module (`none`), or in an `other` way."""
    counts = _counts(file)
    told = {id(node): _way(facts, file, item, method, node, own) for item, method, node in counts.of_classes}
    for node in file.attributes(COUNT):
        yield told.get(id(node), "other")
    if counts.keys and not {id(key) for key in counts.keys} <= shown_alone(facts, file, COUNT):
        yield "other"


@dataclass(frozen=True)
class _Counts:
    """Where a file speaks of the count: in methods of classes, and as a text that is not the name of what is logged."""

    of_classes: Sequence[tuple[ClassNode, Function, ast.Attribute]]
    keys: Sequence[ast.Constant]


def _counts(file: PythonFile) -> _Counts:
    if "step counts" not in file.memo:
        of_classes = [
            (item, method, node)
            for item in file.classes
            for method in item.methods.values()
            for node, _ in file.nodes_near([COUNT], method)
            if isinstance(node, ast.Attribute) and node.attr == COUNT
        ]
        logged = {id(key) for key in _names_of_logged(file)}
        texts = (node for node in walked(file.tree) if isinstance(node, ast.Constant) and node.value == COUNT)
        file.memo["step counts"] = _Counts(of_classes, [node for node in texts if id(node) not in logged])
    found: _Counts = file.memo["step counts"]
    return found


def _way(
    facts: Facts, file: PythonFile, item: ClassNode, method: Function, node: ast.Attribute, own: tuple[ClassFact, ...]
) -> str:
    fact = facts.of_class(file, item)
    kind = facts.kind(fact) if fact else None
    if fact is None or kind is None or not isinstance(node.ctx, ast.Load):
        return "other"
    this = self_name(method)
    if ast.unparse(node.value) == this:
        return "module" if fact in own else "none"
    if ast.unparse(node.value) == f"{this}.trainer" and fact == own[0]:
        return "module"
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    given = kind == CALLBACK and name in _modules_of(item) and name in parameters(method)
    return "module" if given and all(isinstance(use.ctx, ast.Load) for use in uses(method, name)) else "other"


def _modules_of(item: ClassNode) -> set[str]:
    """The names by which a callback's methods take a module: those that the hooks, which Lightning calls, have for
    it."""
    hooks = [parameters(method) for name, method in item.methods.items() if name.startswith(_HOOKS)]
    return {names[1] for names in hooks if len(names) > 1} - {names[0] for names in hooks if names}


def _names_of_logged(file: PythonFile) -> Iterator[ast.AST]:
    """Where the word is the name of something that is logged."""
    for call in file.calls_near([COUNT]):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr in ("log", "add_scalar"):
            yield from call.node.args[:1]
        if isinstance(function, ast.Attribute) and function.attr in ("log_dict", "log_metrics"):
            yield from (key for each in call.node.args[:1] if isinstance(each, ast.Dict) for key in each.keys if key)
