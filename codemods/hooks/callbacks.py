"""Which callbacks notice that they are called before an epoch-end hook of the module, and no more after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from codemods.hooks.epoch_end import STAGES, Stage
from codemods.source import ClassNode, PythonFile
from codemods.syntax import Function, parameters

EVERYTHING = "*"
METRICS = frozenset({"callback_metrics", "logged_metrics"})
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


@dataclass(frozen=True)
class Watcher:
    """A callback's new hook: where it stands, and the names that it asks the module and the Trainer for, with
    EVERYTHING where it hands one of them on."""

    hook: str
    place: str
    asks: frozenset[str]


def watchers(file: PythonFile) -> tuple[Watcher, ...]:
    """The new hooks that the classes of a file define as callbacks do, with (trainer, module)."""
    return tuple(
        Watcher(stage.new, file.path, frozenset(_Asked(item).of(hook, *parameters(hook)[:2])))
        for item in file.classes
        for stage in STAGES
        if (hook := item.methods.get(stage.new)) and len(parameters(hook)) > 1
    )


@dataclass
class _Asked:
    item: ClassNode
    seen: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)

    def of(self, method: Function, *watched: str) -> Iterator[str]:
        """The names that a method asks for of some of its parameters, methods that it hands them to included."""
        if (method.name, watched) in self.seen:
            return
        self.seen.add((method.name, watched))
        known: set[int] = set()
        for node in ast.walk(method):
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
                if _on_self(node) and node.func.attr == BAR and BAR not in self.item.methods:  # type: ignore[attr-defined]
                    known |= {id(child) for child in node.args}
                    yield SHOWN
                followed = self.item.methods.get(node.func.attr) if _on_self(node) else None  # type: ignore[attr-defined]
                if followed and not any(_is(item.value, watched) for item in node.keywords):
                    handed = [
                        (name, argument)
                        for name, argument in zip(parameters(followed), node.args, strict=False)
                        if _is(argument, watched)
                    ]
                    known |= {id(argument) for _, argument in handed}
                    yield from self.of(followed, *(name for name, _ in handed)) if handed else ()
        if any(_is(node, watched) and id(node) not in known for node in ast.walk(method)):
            yield EVERYTHING


def _is(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _is_super(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).startswith("super(")


def _is_type_test(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "hasattr", "type")


def _on_self(node: ast.Call) -> bool:
    function = node.func
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"


def noticed(item: ClassNode, stage: Stage, watcher: Watcher) -> str | None:
    """What a callback asks for that the old hook of a class may have changed, or may depend on."""
    if watcher.hook != stage.new:
        return None
    touched = _attributes(item, stage.old)
    if not touched:
        return None
    if EVERYTHING in watcher.asks:
        return "hands the module or the Trainer on"
    shared = sorted(watcher.asks & METRICS) if touched & LOGS else []
    for name in sorted(watcher.asks - NEUTRAL):
        asked = {name, *(_attributes(item, name) if name in item.methods else ())}
        shared += sorted((asked & touched) - NEUTRAL)
    return f"asks for {shared[0]}" if shared else None


def shows(item: ClassNode, stage: Stage, watcher: Watcher) -> bool:
    """Whether a callback shows in a progress bar what the old hook of a class logs."""
    return watcher.hook == stage.new and SHOWN in watcher.asks and bool(_attributes(item, stage.old) & LOGS)


def _attributes(item: ClassNode, method: str) -> set[str]:
    """The attributes that a method and those of the class that it calls speak of; base classes are Lightning's."""
    seen, pending, found = set[str](), [method], set[str]()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        based = {
            id(node.func) for node in ast.walk(item.methods[name]) if isinstance(node, ast.Call) and _is_super(node)
        }
        for node in ast.walk(item.methods[name]):
            if isinstance(node, ast.Attribute) and id(node) not in based:
                found.add(node.attr)
                if node.attr in item.methods:
                    pending.append(node.attr)
    return found
