"""LIT225: what is dead once a project has moved: version checks, fallbacks of imports, and packages that are gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial

from packaging.version import InvalidVersion, Version

from codemods.code.conditions import SWAPPED
from codemods.code.nodes import every_node, walk
from codemods.code.scopes import ROOT, absolute
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.version_checks import NEWEST, answer, questions
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, Rule, best_levels
from codemods.rules.names.table import gone, split

VERSION = f"{ROOT}.__version__"
MISSING = ("ImportError", "ModuleNotFoundError", "Exception")
APPS = ("LightningApp", "LightningFlow", "LightningWork", "LightningPlugin", "CloudCompute", "BuildConfig")
"""What `lightning` itself gave of lightning.app."""
PACKAGES = {
    "lightning.app": ("M316", "lightning.app was removed in Lightning 2.4"),
    "lightning_app": ("M316", "lightning_app has no release that goes with Lightning 2.4 or later"),
    **{f"lightning.{name}": ("M316", "lightning.app, which it is of, was removed in Lightning 2.4") for name in APPS},
    **dict.fromkeys(("lightning.lite", "lightning_lite"), ("M177", "")),
    "torchdistx": ("M317", "Lightning does not support torchdistx since 2.1; build large layers in configure_model"),
}
OLDER, NEWER, BEHIND = ("0.10.0", "1.4.0", "1.9.5"), "2.99.0", "3.0.0"
"""Releases that a check may tell from the target, a later one of 2.x, and one behind it."""
_NUMBER = re.compile(r"\d+(\.\d+)*\S*")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    target = facts.target or NEWEST
    if "__version__" in file.text:
        yield from _versions(file, target)
    yield from _questions(file, facts, target)
    for node in file.tree.body:
        if isinstance(node, ast.Try):
            yield from _fallback(file, node)
    if facts.uses_lightning:
        yield from _packages(file)
        yield from _apps(file)


def _versions(file: PythonFile, target: str) -> Iterator[Match]:
    """Comparisons of Lightning's version whose answer is the same from the target on."""
    every = list(every_node(file.tree))
    compared = [node for node in every if isinstance(node, ast.Compare) and len(node.ops) == 1]
    answers = [(node, said) for node in compared if (said := _answer(file, node, target)) is not None]
    arms = {id(node.test): node for node in every if isinstance(node, ast.If | ast.IfExp)} if answers else {}
    asserted = {id(node.test) for node in every if isinstance(node, ast.Assert)} if answers else set()
    for node, said in answers:
        if _refuses_older(arms.get(id(node)), said) or id(node) in asserted:
            continue
        yield _always(file, node, said, arms.get(id(node)), f"{target} on")


def _always(file: PythonFile, place: ast.expr, answer: bool, node: ast.If | ast.IfExp | None, since: str) -> Match:
    message = f"this version check is always {str(answer).lower()} from Lightning {since}"
    lines = _dead(node, answer)
    dead = f"{lines} never run any more; delete them with the check" if lines else "delete the check"
    reason = f"Not rewritten: {dead} `{brief(file, place)}`, unless the code has to run on older releases."
    return Match(file.span(place), message, "manual", reason)


def _questions(file: PythonFile, facts: Facts, target: str) -> Iterator[Match]:
    """Choices that the version decides by another question than one comparison."""
    for asked in questions(file, facts):
        test = asked.node.test
        compared = (node for node in walk(test) if isinstance(node, ast.Compare) and len(node.ops) == 1)
        told = any(_answer(file, node, target) is not None for node in compared)
        told = told or _refuses_older(asked.node, asked.holds)
        on = {release: answer(file, facts, test, asked.within, release) for release in (*OLDER, NEWER, BEHIND)}
        if not told and on[NEWER] is asked.holds and any(on[release] is not asked.holds for release in OLDER):
            until = "" if on[BEHIND] is asked.holds else ", as far as there is no 3.0"
            yield _always(file, test, asked.holds, asked.node, f"{target} on{until}")


def _answer(file: PythonFile, node: ast.Compare, target: str) -> bool | None:
    """What a comparison gives with the target and every later release, None where it is none of the version."""
    left, right, operator = node.left, node.comparators[0], node.ops[0]
    if _is_version(file, right) and type(operator) in SWAPPED:
        left, right, operator = right, left, SWAPPED[type(operator)]()
    bound = _bound(right) if _is_version(file, left) else None
    if bound is None or bound > Version(target):
        return None
    same = bound == Version(target)
    if isinstance(operator, ast.Gt | ast.Eq | ast.NotEq | ast.LtE) and same:
        return None
    if isinstance(operator, ast.Gt | ast.GtE | ast.NotEq):
        return True
    return False if isinstance(operator, ast.Lt | ast.LtE | ast.Eq) else None


def _is_version(file: PythonFile, node: ast.expr) -> bool:
    names = [part for part in walk(node) if isinstance(part, ast.Attribute | ast.Name)]
    whole = not any(isinstance(part, ast.Subscript | ast.Slice) for part in walk(node))
    return whole and any(file.scope.resolve(part) == VERSION for part in names)


def _bound(node: ast.expr) -> Version | None:
    """The release that an expression spells: a text, or one that is parsed."""
    texts = [part.value for part in walk(node) if isinstance(part, ast.Constant)]
    if len(texts) != 1 or not isinstance(texts[0], str) or not _NUMBER.fullmatch(texts[0]):
        return None
    try:
        return Version(texts[0])
    except InvalidVersion:
        return None


def _refuses_older(node: ast.If | ast.IfExp | None, answer: bool) -> bool:
    """Whether what never runs any more is what stopped a release that is too old, which the check still does."""
    body = node.orelse if isinstance(node, ast.If) and answer else node.body if isinstance(node, ast.If) else []
    return bool(body) and isinstance(body[-1], ast.Raise)


def _dead(node: ast.If | ast.IfExp | None, answer: bool) -> str | None:
    """The lines that never run."""
    if not isinstance(node, ast.If):
        return None
    body = node.orelse if answer else node.body
    if not body:
        return None
    first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
    return f"lines {first} to {last}" if last > first else f"the statements of line {first}"


def _fallback(file: PythonFile, node: ast.Try) -> Iterator[Match]:
    """An import with a fallback, one of which is of names that the newest Lightning does not have."""
    if not any(_catches(handler) for handler in node.handlers):
        return
    first = _imported(file, node.body)
    second = [name for handler in node.handlers for name in _imported(file, handler.body)]
    if not first or not second:
        return
    old, other = any(map(_is_gone, first)), any(map(_is_gone, second))
    if old == other:
        return
    dead = node.body[0] if old else node.handlers[0]
    what = "the import that is tried" if old else "the fallback"
    message = f"{what} is for names that Lightning no longer has"
    reason = "Not rewritten: keep only the other import, unless the code has to run on older releases too."
    place = dead if isinstance(dead, ast.stmt) else dead.body[0]
    yield Match(file.span(place), message, "manual", reason)


def _catches(handler: ast.ExceptHandler) -> bool:
    names = [part.id for part in walk(handler.type) if isinstance(part, ast.Name)] if handler.type else [*MISSING]
    return any(name in MISSING for name in names)


def _imported(file: PythonFile, body: Sequence[ast.stmt]) -> list[str]:
    """The names under `pl` that statements import from Lightning."""
    dotted: list[str] = []
    for node in body:
        if isinstance(node, ast.ImportFrom):
            dotted += [f"{absolute(node, file.path)}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            dotted += [alias.name for alias in node.names]
    return [found[1] for name in dotted if (found := split(name))]


def _is_gone(name: str) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:length]) in gone() for length in range(2, len(parts) + 1))


def _packages(file: PythonFile) -> Iterator[Match]:
    for node in file.imports:
        for alias in node.names:
            module = absolute(node, file.path) if isinstance(node, ast.ImportFrom) else alias.name
            dotted = f"{module}.{alias.name}" if isinstance(node, ast.ImportFrom) else module
            name = next((name for name in PACKAGES if f"{dotted}.".startswith(f"{name}.")), None)
            if name:
                row, advice = PACKAGES[name]
                advice = advice or f"It was removed in Lightning 2.0; {gone()['pl.lite'].advice}"
                yield Match(file.span(node), f"`{name}` no longer works with Lightning", "manual", f"{advice}.", row)
                break


def _apps(file: PythonFile) -> Iterator[Match]:
    """What is read of `lightning` that was of lightning.app."""
    for name in APPS if "lightning" in file.text else ():
        for node in file.attributes(name):
            if file.scope.resolve(node) in (f"lightning.{name}", f"{ROOT}.{name}"):
                row, advice = PACKAGES[f"lightning.{name}"]
                message = f"`lightning.{name}` no longer works with Lightning"
                yield Match(file.span(node), message, "manual", f"{advice}.", row)


CHECKED = """\
import pytorch_lightning as pl
from packaging import version

if version.parse(pl.__version__) >= version.parse("1.5"):
    steps = 1
else:
    steps = 2
"""
LATER = CHECKED.replace("1.5", "3.0")

RULE = Rule(
    code="LIT225",
    name="dead-after-the-move",
    summary="Version checks and fallbacks for Lightning 1.x are named once nothing needs them",
    why=(
        "A project that asks for Lightning 2.x alone never runs what it kept for 1.x: an arm of a version check, an "
        "import with a fallback. It is named and not removed, since only its owner knows whom the code serves. So are "
        "imports of lightning.app and torchdistx, which 2.x dropped (guide rows M316 and M317)."
    ),
    fix="manual",
    versions="Lightning 2.0 and later",
    triggers=(
        b"__version__",
        b"metadata",
        b"get_distribution",
        b"RequirementCache",
        b"ImportError",
        b"ModuleNotFoundError",
        b"lightning.app",
        b"lightning_app",
        b"lightning.lite",
        b"lightning_lite",
        b"torchdistx",
        *(name.encode() for name in APPS),
    ),
    check=_check,
    examples=(Example(CHECKED, CHECKED), Example(LATER, LATER)),
    rows=partial(best_levels, (("M316", "manual"), ("M317", "manual"))),
    warns=True,
)
