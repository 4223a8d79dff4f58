"""Title and body of a pull request, from templates that the project can replace by its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from fixer import __version__
from fixer.errors import UsageError
from fixer.pulls.life import PullRequestMemo
from fixer.reports import Rules, words
from fixer.reports.causes import causes
from fixer.reports.markdown import (
    LIMIT,
    cause_line,
    code,
    commit_line,
    escape,
    fence,
    file_block,
    list_item,
    notes,
    numbers,
    readiness,
)
from fixer.result import Result

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

_SHOWN = ((None, None), (60, 100), (20, 50), (5, 20), (0, 20), (0, 0))
_NOT_IN_A_TITLE = re.compile(r"\s+")


@dataclass(frozen=True)
class Templates:
    """The project's own templates, as text; None for fixer's."""

    title: str | None = None
    body: str | None = None


@dataclass(frozen=True)
class ChangeGroup:
    """What a template sees of the changes that are judged together, as Markdown."""

    name: str
    verdict: str
    reason: str
    boxes: tuple[str, ...]
    commits: tuple[str, ...]
    numbers: str
    files: tuple[str, ...]
    reproduce: str


def title(result: Result, templates: Templates) -> str:
    """One line of plain text."""
    groups = _codes_by_group(result)
    told = _rendered(
        templates.title if templates.title is not None else _own("title.jinja"),
        "title",
        {
            "result": result,
            "codes": sorted({commit.code for commit in result.commits}),
            "moves": any(name.startswith("lightning-") for name in groups),
        },
    )
    return _NOT_IN_A_TITLE.sub(" ", words.plain(told.strip())) or f"Move to Lightning {result.target}"


def body(
    result: Result,
    templates: Templates,
    memo: PullRequestMemo,
    off: Iterable[str],
    rules: Rules,
    note: str | None = None,
) -> str:
    """Markdown that fits, with the hidden memo at its end. Diffs and findings are left out where it would not. `note`
    says what the server would not do."""
    text = templates.body if templates.body is not None else _own("body.md.jinja")
    if note:
        result = replace(result, messages=(note, *result.messages))
    room = LIMIT - len(memo.line()) - 2
    switched_off = tuple(_box(name, rules, on=False) for name in sorted(off))
    for files, left in _SHOWN:
        told = _rendered(text, "body", _context(result, switched_off, rules, files, left))
        if len(told.encode("utf-8", "replace")) <= room:
            break
    else:
        told = told.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return f"{told.rstrip()}\n\n{memo.line()}"


def _context(
    result: Result, off: tuple[str, ...], rules: Rules, files: int | None, left: int | None
) -> Mapping[str, Any]:
    """What a template sees, with the first `files` diffs of each group and the first `left` findings."""
    standing = causes(words.standing(result), rules)
    cut = (files is not None and len(result.files) > files) or (left is not None and len(standing) > left)
    return {
        "result": result,
        "version": __version__,
        "summary": escape(words.summary(result)),
        "readiness": readiness(result),
        "groups": _groups(result, rules, files),
        "off": off,
        "left": [cause_line(cause, rules) for cause in standing[:left]],
        "notes": notes(result),
        "omitted": f"Not all is shown, since a pull request holds {LIMIT:,} characters." if cut else "",
    }


def _groups(result: Result, rules: Rules, shown: int | None) -> list[ChangeGroup]:
    found = []
    verdicts = {item.group: item for item in result.evidence}
    placed: set[str] = set()
    for name, codes in _codes_by_group(result).items():
        theirs = {item.path for item in result.findings if item.applied and item.code in codes} - placed
        placed |= theirs
        item = verdicts.get(name)
        found.append(
            ChangeGroup(
                name=name,
                verdict=item.outcome if item else "",
                reason=item.reason if item else "",
                boxes=tuple(_box(one, rules, on=True) for one in codes),
                commits=tuple(commit_line(commit, result) for commit in result.commits if commit.group == name),
                numbers=numbers(item) if item else "",
                files=tuple(file_block(file) for file in result.files if file.path in theirs)[:shown],
                reproduce=_reproduce(result, codes),
            )
        )
    return found


def _codes_by_group(result: Result) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for commit in result.commits:
        codes = found.setdefault(commit.group, [])
        if commit.code not in codes:
            codes.append(commit.code)
    return found


def _box(name: str, rules: Rules, *, on: bool) -> str:
    rule = rules.get(name)
    told = f": {escape(rule.summary)}" if rule else ""
    return list_item(f"[{'x' if on else ' '}] {name}{told} <!-- fixer:rule {name} -->").rstrip("\n")


def _reproduce(result: Result, codes: Sequence[str]) -> str:
    if result.base is None:
        return ""
    only = ("--base", result.base, f"--select={','.join(codes)}", "--branch", "reproduced")
    return fence("\n".join(words.reproduction(result, *only)), "sh")


def _own(name: str) -> str:
    return resources.files("fixer.pulls").joinpath(name).read_text(encoding="utf-8")


def _rendered(text: str, what: str, context: Mapping[str, Any]) -> str:
    """A template filled in. What is in it is not trusted: it may come with the project."""
    from jinja2 import TemplateError

    try:
        return _compiled(text).render(context)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        where = f" line {line}:" if line else ""
        raise UsageError(f"[tool.fixer.pull-request] {what}:{where} {error}; fix the template") from None


@lru_cache(16)
def _compiled(text: str) -> Template:
    return _environment().from_string(text)


def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    made = SandboxedEnvironment(
        autoescape=False, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    made.filters |= {"code": code, "escape": escape}
    return made
