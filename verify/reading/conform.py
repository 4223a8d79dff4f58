"""Whether what a file uses of Lightning exists in the target, judged by what the installed package says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verify.reading.hooks import GONE_PARAMETERS, REMOVED, STEPS, is_hook
from verify.reading.uses import Call, Name, OverriddenHook, UnreadFile, Use

SHOWN = 200

Parameters = Sequence[tuple[str, str, bool]]


@dataclass(frozen=True)
class TargetName:
    """What the target says of a name or a method."""

    missing: str | None
    parameters: Parameters | None
    role: str | None = None


@dataclass(frozen=True)
class TargetFacts:
    """What the target says, by dotted name and by (base, method)."""

    names: Mapping[str, TargetName]
    methods: Mapping[tuple[str, str], TargetName]


def facts(events: Iterable[Mapping[str, Any]]) -> TargetFacts:
    """The harness's lines as facts."""
    names: dict[str, TargetName] = {}
    methods: dict[tuple[str, str], TargetName] = {}
    for event in events:
        raw = event.get("parameters")
        parameters = None if raw is None else [(str(name), str(kind), bool(default)) for name, kind, default in raw]
        if event.get("event") == "name":
            names[event["name"]] = TargetName(event["missing"], parameters, event["role"])
        elif event.get("event") == "method":
            missing = None if event["exists"] else "no such hook"
            methods[event["base"], event["method"]] = TargetName(missing, parameters)
    return TargetFacts(names, methods)


def problems(uses: Iterable[Use], known: TargetFacts) -> tuple[str, ...]:
    """Every use that the target does not have, as `path:line: what, why`, in order; very long lists are cut."""
    found: dict[str, tuple[str, int]] = {}
    for use in uses:
        for text in _judge(use, known):
            found.setdefault(f"{use.path}:{use.line}: {text}", (use.path, use.line))
    lines = sorted(found, key=lambda line: (found[line], line))
    rest = len(lines) - SHOWN
    return (*lines[:SHOWN], *([f"and {rest} more"] if rest > 0 else []))


def _judge(use: Use, known: TargetFacts) -> Iterator[str]:
    if isinstance(use, UnreadFile):
        yield f"not read, as {use.why}"
        return
    if isinstance(use, OverriddenHook):
        yield from _judge_hook(use, known)
        return
    fact = known.names.get(use.name)
    if fact is None:
        return
    way = known.names.get(use.reached or "") if isinstance(use, Name) else None
    missing = fact.missing or (way and way.missing)
    if missing:
        yield f"{use.name} ({missing})"
    elif isinstance(use, Call):
        yield from _judge_call(use, fact)


def _judge_call(call: Call, fact: TargetName) -> Iterator[str]:
    if fact.parameters is None:
        return
    short = call.name.rsplit(".", 1)[-1]
    if fact.role == "Trainer" and call.positional:
        yield f"{short}(...) with positional arguments, the target binds them in another order"
    if any(kind == "VAR_KEYWORD" for _, kind, _ in fact.parameters):
        return
    names = {name for name, _, _ in fact.parameters}
    for keyword in call.keywords:
        if keyword not in names:
            yield f"{short}({keyword}=...), the target has no such argument"


def _judge_hook(hook: OverriddenHook, known: TargetFacts) -> Iterator[str]:
    base = known.names.get(hook.base)
    if base is None or base.role is None:
        return
    what = f"{hook.owner}.{hook.name}"
    fact = known.methods.get((hook.base, hook.name))
    if fact is None or fact.missing:
        instead = REMOVED.get(base.role, {}).get(hook.name)
        if instead and not hook.called:
            yield f"{what}, the target never calls it: use {instead}"
        return
    if is_hook(hook.name) and fact.parameters is not None:
        yield from _judge_parameters(hook, what, fact.parameters)


def _judge_parameters(hook: OverriddenHook, what: str, base: Parameters) -> Iterator[str]:
    """Compare a hook's parameters with those that the target passes."""
    passed = [(name, default) for name, kind, default in base if "VAR" not in kind and name != "self"]
    names = {name for name, _ in passed}
    anything = any(kind == "VAR_POSITIONAL" for _, kind, _ in base)
    evaluates = hook.name in STEPS and hook.name != "training_step"
    gone = [
        name
        for name, default in hook.parameters
        if name in GONE_PARAMETERS and name not in names and not (evaluates and default)
    ]
    gone += [name for name, _ in hook.parameters if name == "outputs" and hook.name.endswith("_epoch_end")]
    for name in gone:
        yield f"{what}({name}), the target does not pass it"
    if gone or anything:
        if hook.name == "training_step" and not gone and (extra := _required(hook)[2:]):
            yield f"{what}({', '.join(extra)}), the target does not pass it"
        return
    yield from _judge_counts(hook, what, passed)


def _judge_counts(hook: OverriddenHook, what: str, passed: Sequence[tuple[str, bool]]) -> Iterator[str]:
    required, always = _required(hook), sum(not default for _, default in passed)
    if len(required) > len(passed):
        yield f"{what}({', '.join(required[len(passed) :])}), the target passes {len(passed)} arguments"
    elif not hook.open and hook.name not in STEPS and len(hook.parameters) < always:
        listed = ", ".join(name for name, _ in passed)
        yield f"{what}, the target passes it ({listed})"
    elif len(required) > always and ("dataloader_idx", True) in passed and "_batch_" in hook.name:
        yield f"{what}(dataloader_idx), the target passes it only with several loaders: give it the default 0"


def _required(hook: OverriddenHook) -> list[str]:
    return [name for name, default in hook.parameters if not default]
