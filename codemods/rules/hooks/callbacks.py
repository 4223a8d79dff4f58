"""Which callbacks notice that they are called before an epoch-end hook of the module, and no more after it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_of_self, is_plain, mentions, parameters
from codemods.lightning.facts import CALLBACK, Facts
from codemods.rules.hooks.epoch_end import STAGES, Stage
from codemods.rules.hooks.given_parts import METRICS, may_change

EVERYTHING = "*"
HANDED = "passes the module or the Trainer on"
LOGGED = "logged_metrics"
SHOWN = "progress_bar_metrics"
BAR = "get_metrics"
"""What a progress bar of Lightning's calls to know what to show."""
MODULES = ("model", "lightning_module")
# What neither the module's hook changes nor a callback that asks for it.
NEUTRAL = frozenset(
    {
        "current_epoch",
        "device",
        "eval",
        "experiment",
        "global_rank",
        "global_step",
        "hparams",
        "is_global_zero",
        "log",
        "log_dict",
        "logger",
        "loggers",
        "max_epochs",
        "print",
        SHOWN,
        "sanity_checking",
        "train",
        "trainer",
        "training",
    }
)
LOGS = frozenset({"log", "log_dict"})
WAITING = tuple(stage.new.encode() for stage in STAGES if not stage.train)
"""The hooks of callbacks that may be called later, which other files may speak of."""


@dataclass(frozen=True)
class Watcher:
    """A callback's new hook: where it stands, and the names that it asks the module and the Trainer for, with
    EVERYTHING where it hands one of them on. `moves` says that nothing in its class keeps it from being called a little
    later, as `on_*_end`, `reads` that all that it does with what was logged is to read it."""

    hook: str
    place: str
    asks: frozenset[str]
    owner: str = ""
    moves: bool = False
    reads: bool = False


def watchers(file: PythonFile) -> tuple[Watcher, ...]:
    """The new hooks that the classes of a file define as callbacks do, with (trainer, module)."""
    found = []
    for item in file.classes:
        for stage in STAGES:
            hook = item.methods.get(stage.new)
            if hook is not None and len(parameters(hook)) > 1:
                asks = frozenset(_MetricLookup(file, item).of(hook, *parameters(hook)[:2]))
                moves = not stage.train and _can_wait(file, item, hook, asks)
                reads = stage.train and asks <= NEUTRAL | METRICS and not may_change(item, hook)
                found.append(Watcher(stage.new, file.path, asks, item.qualname, moves, reads))
    return tuple(found)


def later(hook: str) -> str:
    """The hook that comes behind those of the epoch, the module's too: `on_validation_end`."""
    return hook.replace("_epoch_end", "_end")


def _can_wait(file: PythonFile, item: ClassNode, hook: Function, asks: frozenset[str]) -> bool:
    """Whether a hook may be called when the epoch is over, after what other callbacks do then: it logs nothing by the
    module, which must not be then, sets nothing that they may read, and nobody calls it but Lightning."""
    named = file.attributes(hook.name) or mentions(file.tree, hook.name)
    alone = later(hook.name) not in item.methods and is_plain(hook) and len(parameters(hook)) == 2
    return alone and not named and not may_change(item, hook) and not asks & {EVERYTHING, *LOGS, LOGGED}


def _is_called_elsewhere(facts: Facts, watcher: Watcher) -> bool:
    """Whether another file of code speaks of a hook, other than to call that of a base class."""
    name = watcher.hook.encode()
    spoken = re.compile(rb"(?<!super\(\))\.%b\b|[\"']%b[\"']" % (name, name))
    return any(
        facts.sources[path].kind in ("python", "notebook") and spoken.search(facts.sources[path].unescaped)
        for path in facts.mentions.get(name, frozenset()) - {watcher.place}
    )


def moving(facts: Facts, watcher: Watcher) -> bool:
    """Whether a callback's hook can be called when the epoch is over, whatever the project makes of its class."""
    fact = facts.files[watcher.place].find(watcher.owner) if watcher.moves and watcher.place in facts.files else None
    related = fact is None or len(facts.ancestry(fact)) > 1 or any(True for _ in facts.subclasses(fact))
    alone = fact is not None and not related and facts.kind(fact) == CALLBACK
    return alone and not _is_called_elsewhere(facts, watcher)


@dataclass
class _MetricLookup:
    file: PythonFile
    item: ClassNode
    seen: set[tuple[Function, tuple[str, ...]]] = field(default_factory=set)

    def of(self, method: Function, *watched: str) -> Iterator[str]:
        """The names that a method asks for of some of its parameters, methods and functions of the file that it hands
        them to included."""
        if (method, watched) in self.seen:
            return
        self.seen.add((method, watched))
        known: set[int] = set()
        for node in walk(method):
            if isinstance(node, ast.Attribute) and _is(node.value, watched):
                known.add(id(node.value))
                if node.attr not in MODULES:
                    yield node.attr
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                if node.value.attr in MODULES and _is(node.value.value, watched):
                    yield node.attr
            elif isinstance(node, ast.Call):
                if _is(node.func, watched) or _is_super(node) or _is_type_test(node):
                    known |= {id(child) for child in [node.func, *node.args]}
                if is_of_self(node.func) and node.func.attr == BAR and BAR not in self.item.methods:
                    known |= {id(child) for child in node.args}
                    yield SHOWN
                own = self.item.methods.get(node.func.attr) if is_of_self(node.func) else None
                if followed := own or self._function(node):
                    names = parameters(own) if own else [item.arg for item in followed.args.args]
                    handed = [pair for pair in _pairs(names, node) if _is(pair[1], watched)]
                    known |= {id(argument) for _, argument in handed}
                    yield from self.of(followed, *(name for name, _ in handed)) if handed else ()
        if any(_is(node, watched) and id(node) not in known for node in walk(method)):
            yield EVERYTHING

    def _function(self, node: ast.Call) -> ast.FunctionDef | None:
        """The function of the file that a call runs, where nothing else there has its name."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        found = [each for each in self.file.tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
        if len(found) != 1 or not is_plain(found[0]):
            return None
        return found[0] if sum(_binds(each, name) for each in walk(self.file.tree)) == 1 else None


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a node gives something that name, whatever the scope."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    said = node.asname or node.name if isinstance(node, ast.alias) else getattr(node, "name", getattr(node, "arg", ""))
    return said == name and not isinstance(node, ast.keyword)


def _pairs(names: list[str], node: ast.Call) -> list[tuple[str, ast.expr]]:
    """The arguments of a call, with the names that what it calls has for them."""
    placed = node.args if not any(isinstance(item, ast.Starred) for item in node.args) else []
    return [
        *zip(names, placed, strict=False),
        *((item.arg, item.value) for item in node.keywords if item.arg in names),
    ]


def _is(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_super(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).startswith("super(")


def _is_type_test(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "hasattr", "type")


def noticed(item: ClassNode, stage: Stage, watcher: Watcher) -> str | None:
    """What a callback asks for that the old hook of a class may have changed, or may depend on."""
    if watcher.hook != stage.new:
        return None
    touched = attributes_of(item, stage.old)
    if not touched:
        return None
    shared = sorted(watcher.asks & METRICS) if touched & LOGS else []
    for name in sorted(watcher.asks - NEUTRAL - {EVERYTHING}):
        asked = {name, *(attributes_of(item, name) if name in item.methods else ())}
        shared += sorted((asked & touched) - NEUTRAL)
    if shared:
        return f"asks for {shared[0]}"
    return HANDED if EVERYTHING in watcher.asks else None


def shows(item: ClassNode, stage: Stage, watcher: Watcher) -> bool:
    """Whether a callback shows in a progress bar what the old hook of a class logs."""
    return watcher.hook == stage.new and SHOWN in watcher.asks and bool(attributes_of(item, stage.old) & LOGS)


def attributes_of(item: ClassNode, method: str) -> set[str]:
    """The attributes that a method and those of the class that it calls speak of; base classes are Lightning's."""
    seen, pending, found = set[str](), [method], set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        based = {id(node.func) for node in walk(item.methods[name]) if isinstance(node, ast.Call) and _is_super(node)}
        for node in walk(item.methods[name]):
            if isinstance(node, ast.Attribute) and id(node) not in based:
                found.add(node.attr)
                if node.attr in item.methods:
                    pending.append(node.attr)
    return found


def late(facts: Facts, item: ClassNode, stages: Sequence[Stage]) -> str | None:
    """What is said of a progress bar of the project that shows what an old hook logs."""
    for path, shown in sorted(facts.collected("LIT201").items()):
        for stage in stages:
            if any(shows(item, stage, watcher) for watcher in shown.callbacks):
                when = f"{stage.new}, which 2.x calls before the module's own"
                return f" A callback in {path} shows what it logs: in {when}, that is what the epoch before logged."
    return None


def is_late(item: ClassNode, stage: Stage, watcher: Watcher) -> bool:
    """Whether all that a callback misses is what the old hook of a class logs: it reads that, and changes nothing."""
    return watcher.reads and noticed(item, stage, watcher) is not None


def stale(facts: Facts, item: ClassNode, stages: Sequence[Stage]) -> str | None:
    """What is said of callbacks that read what an old hook logs, and are called before it from now on."""
    for path, shown in sorted(facts.collected("LIT201").items()):
        for stage in stages:
            if watcher := next((each for each in shown.callbacks if is_late(item, stage, each)), None):
                asked = min(watcher.asks & METRICS)
                return (
                    f" Check this: a callback in {path} reads {asked} in {stage.new}, which 2.x calls before the "
                    "module's own: of what that logs, it sees what the epoch before logged."
                )
    return None


def before(facts: Facts, item: ClassNode, stages: Sequence[Stage]) -> str | None:
    """What is said of callbacks that hand on what an old hook leaves, and are called before it from now on."""
    for path, shown in sorted(facts.collected("LIT201").items()):
        for stage in stages:
            if any(noticed(item, stage, each) == HANDED and not moving(facts, each) for each in shown.callbacks):
                return (
                    f" Check this: a callback in {path} {HANDED} in {stage.new}, which 2.x calls before the module's "
                    f"own, and 1.x called after {stage.old}."
                )
    return None


def behind(facts: Facts, item: ClassNode, stages: Sequence[Stage]) -> str | None:
    """What is said of callbacks that read what an old hook leaves, and are called behind it from now on."""
    for path, shown in sorted(facts.collected("LIT201").items()):
        for watcher in shown.callbacks:
            if any(noticed(item, stage, watcher) for stage in stages) and moving(facts, watcher):
                return f" A callback in {path} reads what it leaves: {later(watcher.hook)} comes after it."
    return None
