"""Markdown, fit for the body of a pull request."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence

from fixer import __version__
from fixer.readiness import Stop
from fixer.reports import evidence_list, words
from fixer.reports.causes import Cause, causes
from fixer.reports.diff import stat
from fixer.reports.rule_text import Rules
from fixer.result import Commit, FileDiff, Result
from verify.evidence import Evidence

LIMIT = 65_536
"""The most that GitHub takes as the body of a pull request; counted here in bytes, which is never less."""

_NAMES = 20
_LONG = 2_000
_SPECIAL = re.compile(r"[\\`*_\[\]~$]")
_REFERENCE = re.compile(r"([@#])(?=\w)")
_LEADING = re.compile(r"^(\d{0,9})([-+#.)])")


def render(result: Result, rules: Rules) -> str:
    """The whole result. What does not fit is left out from its end, with a note: diffs first."""
    head = _head(result)
    foot = _reproduce(result)
    ready = readiness(result)
    room = LIMIT - _size(head) - _size(foot) - _size(ready)
    proof = _fitted(_proof(result), "### Proof\n\n", room // 2, "more groups")
    room -= _size(proof)
    heading = "### Found\n\n" if result.command == "check" else "### Left for you\n\n"
    left = _fitted(_left(result, rules), heading, room // 2, "more findings")
    room -= _size(left)
    besides = _fitted(notes(result), "### Besides\n\n", room // 2, "more notes and files")
    room -= _size(besides)
    commits = _fitted(
        [commit_line(commit, result) for commit in result.commits], "### What changed\n\n", room // 2, "more commits"
    )
    room -= _size(commits)
    files = _fitted([file_block(file) for file in result.files], "### Files\n\n", room, _more_files(result))
    return f"{head}{ready}{proof}{commits}{files}{left}{besides}{foot}"


def escape(text: str) -> str:
    """Text of others as Markdown that shows it, on one line. What stands between backticks becomes code.

    Neither HTML nor Markdown in it has an effect; on GitHub it mentions nobody and links to no issue.
    """
    parts = re.split(r"`([^`]+)`", words.one_line(text))
    return "".join(code(part) if number % 2 else _escaped(part) for number, part in enumerate(parts))


def code(text: str) -> str:
    """Text as a code span."""
    shown = words.plain(text)
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}" if shown else "` `"


def fence(text: str, language: str) -> str:
    """Text as a code block that nothing in it can end."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{ticks}{language}\n{text}{end}{ticks}\n"


def _row(*cells: str) -> str:
    """A line of a table. A pipe in a cell is escaped, in code as well."""
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |\n"


def list_item(text: str) -> str:
    """An item of a list that is not taken for a heading, a rule or a list of its own."""
    return f"- {_LEADING.sub(lambda match: f'{match[1]}{chr(92)}{match[2]}', text)}\n"


def _escaped(text: str) -> str:
    safe = html.escape(_SPECIAL.sub(lambda match: f"\\{match[0]}", text), quote=False)
    return _REFERENCE.sub(lambda match: f"{match[1]}&#8203;", safe)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall(r"`+", text)), default=0)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def shortened(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]} [...]"


def _fitted(blocks: Sequence[str], heading: str, room: int, more: str) -> str:
    """The blocks under their heading, as many as there is room for, and how many there is none for."""
    if not blocks:
        return ""
    note = f"\n{len(blocks)} {more}.\n\n"
    left = room - _size(heading) - _size(note)
    kept = []
    for block in blocks:
        if _size(block) <= left:
            kept.append(block)
            left -= _size(block)
    missing = len(blocks) - len(kept)
    end = f"{missing} {more}.\n\n" if missing else ""
    shown = "".join(kept).rstrip("\n")
    return f"{heading}{shown}\n\n{end}" if shown else f"{heading}{end}"


def _head(result: Result) -> str:
    told = escape(shortened(words.summary(result)))
    base = f"Base {code(result.base)}." if result.base else ""
    return f"## fixer: {escape(words.title(result))}\n\n{told}\n\n" + (f"{base}\n\n" if base else "")


def readiness(result: Result) -> str:
    """Whether the branch runs on the target, and the first of the uses that stop it."""
    answer = result.readiness
    if answer is None:
        return ""
    heading = f"### {escape(shortened(answer.headline))}\n\n"
    told = [f"- {code(shortened(stop.place))} {escape(shortened(_said(stop)))}\n" for stop in answer.stops]
    return _fitted(told, heading, LIMIT // 8, "more uses") or heading


def _said(stop: Stop) -> str:
    return f"{stop.code}: {stop.what}: {stop.todo}" if stop.code else f"{stop.what}: {stop.todo}"


def _proof(result: Result) -> list[str]:
    overview = [_row("group", "rules", "verdict", "rung", "max difference"), _row(*["---"] * 5)]
    for item in result.evidence:
        rules, far = ", ".join(map(escape, item.codes)), words.difference(item) or words.NONE
        overview.append(_row(code(item.group), rules, f"**{item.outcome}**", item.rung or "none", escape(far)))
    return ["".join(overview) + "\n", *map(numbers, result.evidence)] if result.evidence else []


def numbers(evidence: Evidence) -> str:
    facts = evidence_list.lines(evidence)
    told = [list_item(f"{line.label}: {escape(shortened(line.text))}") for line in facts]
    lines = [f"**{evidence.outcome}** {code(evidence.group)}: {escape(shortened(evidence.reason))}\n\n", *told, "\n"]
    lines += [fence(line.paste, "toml") + "\n" for line in facts if line.paste]
    rows = words.comparison(evidence)
    if rows:
        lines += [_row("", "before", "after"), _row(*["---"] * 3)]
        lines += [_row(row.name, escape(row.before), escape(row.after)) for row in rows]
        lines.append("\n")
    lines += _names("Modules, each trained by itself", words.alone(evidence))
    lines += _names("Gradients", words.flow(evidence))
    lines += _names("The target does not have", evidence.problems)
    lines += _names("The target does not have, in files that were not changed", evidence.left)
    return "".join(lines)


def _names(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{title}:\n\n"
        yield from (list_item(escape(shortened(name))) for name in names[:_NAMES])
        yield f"- and {len(names) - _NAMES} more\n\n" if len(names) > _NAMES else "\n"


def commit_line(commit: Commit, result: Result) -> str:
    """A commit with its own verdict, and the files of it that were not executed."""
    subject = escape(shortened(commit.subject))
    name = "" if commit.subject.startswith(commit.code) else f"{escape(commit.code)}: "
    outcome = evidence_list.outcome_of(result, commit)
    verdict = f": **{outcome}**" if outcome else ""
    found = words.count(len(commit.findings), "finding")
    left = "".join(f"  - {escape(shortened(line.text))}\n" for line in evidence_list.left_of(result, commit)[:_NAMES])
    return f"- {code(words.short(commit.id))} {name}{subject} ({found}){verdict}\n{left}"


def file_block(file: FileDiff) -> str:
    counted = stat(file.diff)
    name = html.escape(words.plain(file.path))
    told = f"<details><summary><code>{name}</code> +{counted.added} -{counted.removed}</summary>"
    return f"{told}\n\n{fence(file.diff, 'diff')}\n</details>\n\n"


def _more_files(result: Result) -> str:
    see = words.next_commands(result)[:1]
    where = f": {code(see[0])} shows them" if see else ""
    return f"more diffs are left out, since a pull request holds {LIMIT:,} characters{where}"


def _left(result: Result, rules: Rules) -> list[str]:
    return [cause_line(cause, rules) for cause in causes(words.standing(result), rules)]


def cause_line(cause: Cause, rules: Rules) -> str:
    """A finding at its first place, and below it the further places."""
    finding = cause.first
    rule = rules.get(finding.code)
    url = rule.url if rule and rule.url and re.fullmatch(r"https://[^\s<>()]+", rule.url) else None
    name = f"[{escape(finding.code)}]({url})" if url else escape(finding.code)
    way = words.WAYS[finding.fix]
    reason = f"<br>{way}: {escape(shortened(finding.reason))}" if finding.reason else f" ({way})"
    more = "".join(f"  - {escape(shortened(line))}\n" for line in words.further(cause, _NAMES))
    return f"- {code(words.place(finding))} {name} {escape(shortened(finding.message))}{reason}\n{more}"


def notes(result: Result) -> list[str]:
    told = [list_item(escape(shortened(message))) for message in result.messages]
    told += [f"- not read: {code(item.path)}: {escape(shortened(item.reason))}\n" for item in result.skipped]
    return told


def _reproduce(result: Result) -> str:
    """The commands that lead from the base to the same branch."""
    if result.branch is None or result.base is None:
        return f"Made by fixer {__version__}.\n"
    install, again = words.reproduction(result)
    commands = [
        install,
        f"git switch --detach {words.plain(result.base)}",
        again,
        words.next_commands(result)[0] if words.next_commands(result) else "",
    ]
    return "### Reproduce\n\n" + fence("\n".join(filter(None, commands)), "sh")
