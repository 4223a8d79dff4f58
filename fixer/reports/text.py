"""The report for a person at a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from codemods.finding import Finding, Fix
from fixer.reports import words
from fixer.reports.causes import Cause, causes
from fixer.reports.diff import stat
from fixer.reports.evidence_list import EvidenceLine, brief, lines, outcome_of, share_lines
from fixer.reports.page import Page, Part, prose
from fixer.reports.rule_text import Rules
from fixer.reports.style import Style
from fixer.result import Result

if TYPE_CHECKING:
    from verify.evidence import Evidence, Outcome

_FEW = 10
_SOME = 5
_PLACES = 3
_MANY = 50
_WORDS = "words: `fixer explain rung`"
MOST = 8
"""So many lines the proof of a group takes, unless all of it is asked for."""
_LEVELS: dict[Fix, str] = {"safe": "green", "unsafe": "yellow", "manual": "magenta"}
_VERDICTS: dict[Outcome, str] = {
    "repaired": "bold green",
    "preserved": "bold green",
    "repaired in part": "bold yellow",
    "preserved in part": "bold yellow",
    "not executed": "dim",
    "changed": "bold yellow",
    "inconclusive": "bold yellow",
    "regressed": "bold red",
}


def render(result: Result, rules: Rules, style: Style) -> str:
    """The whole result, or with `quiet` its last line.

    Without `color`, what `diff` shows is fit for `git apply`. Without `width` no finding is wrapped.
    """
    page = _page(style.color, style.width)
    if style.quiet:
        _summary(page, result)
        return page.text()
    diffs = _diffs(result, style) if result.command == "diff" else ""
    if style.statistics:
        _statistics(page, words.standing(result), rules)
    elif result.command in ("check", "diff"):
        found = causes(words.standing(result), rules)
        _findings(page, result, found, style.verbose)
        _do_first(page, result, found)
    elif result.command == "fix":
        _findings(page, result, causes(result.findings, rules), style.verbose)
        _changes(page, result, style.verbose)
    else:
        _run(page, result, rules, style.verbose)
    _skipped(page, result, style.verbose)
    _messages(page, result)
    _ready(page, result, style.verbose)
    _next(page, result)
    _summary(page, result)
    return diffs + ("\n" if diffs else "") + page.text()


def _statistics(page: Page, findings: Sequence[Finding], rules: Rules) -> None:
    """One line a rule, the most frequent first: how many findings, in how many files, at which levels."""
    rows: list[list[Part]] = []
    for code, number in sorted(Counter(item.code for item in findings).items(), key=lambda item: (-item[1], item[0])):
        mine = [item for item in findings if item.code == code]
        levels = ", ".join(f"{held} {fix}" for fix, held in sorted(Counter(item.fix for item in mine).items()))
        files = words.count(len({item.path for item in mine}), "file")
        summary = words.one_line(rules[code].summary) if code in rules else ""
        rows.append([(str(number), "bold"), (code, "bold red"), (files, ""), (levels, "dim"), (summary, "")])
    if rows:
        page.table(rows, indent=0, padding=2)


def _page(color: bool, width: int | None) -> Page:
    """Rich is loaded only for a terminal."""
    if width is None and not color:
        return Page()
    from fixer.reports.rich_page import RichPage

    return RichPage(color, width)


def _summary(page: Page, result: Result) -> None:
    """The last line."""
    page.gap()
    page.line(prose(words.summary(result), "bold red" if result.error is not None else "bold"), hang=0)


def _run(page: Page, result: Result, rules: Rules, verbose: bool) -> None:
    if result.error is not None and not (result.findings or result.files or result.evidence):
        return
    base = f"  from {words.short(result.base)}" if result.base else ""
    page.line([(words.title(result), "bold"), (f"{base}  ({result.duration_s:.1f} s)", "dim")])
    if verbose and (repaired := words.repaired(result)):
        page.heading("Repaired")
        _findings(page, result, causes(repaired, rules), verbose, indent=2)
    _changes(page, result, verbose)
    _commits(page, result)
    _proof(page, result, verbose)
    _left(page, causes(words.standing(result), rules), verbose)


def _findings(page: Page, result: Result, found: Sequence[Cause], verbose: bool, indent: int = 0) -> None:
    """The causes, by what becomes of them."""
    levels = {fix: fix for fix in _LEVELS}
    applied = {fix: f"{fix}, applied" for fix in _LEVELS}
    for effect, some in groupby(found, key=lambda cause: cause.effect):
        if result.command == "check":
            page.heading(words.EFFECTS[effect].format(words.plain(result.target)))
        for done, mine in groupby(some, key=lambda cause: words.is_done(result, cause.first)):
            _causes(page, list(mine), applied if done else levels, verbose, indent)


def _causes(page: Page, found: Iterable[Cause], levels: Mapping[Fix, str], verbose: bool, indent: int) -> None:
    """A line for what is said at a place, with the further places where it is said too (with `verbose` one a place);
    below, why it is not simply repaired, once for neighbours with the same reason."""
    entries = [(number, places) for cause in found for number, places in _entries(cause, verbose)]
    for (is_rest, reason, fix), alike in groupby(entries, key=_said_below):
        for number, places in alike:
            if is_rest:
                told = f"and at {words.count(len(places), 'more place')} with other names; see them with --verbose"
                page.line([(told, "dim")], indent + 4, hang=0)
            else:
                _alike(page, places, levels[fix], number > 0, verbose, indent)
        if reason and not is_rest and (verbose or fix != "safe"):
            page.line(prose(words.one_line(reason), "dim"), indent + 4, hang=0)


def _said_below(entry: tuple[int, Sequence[Finding]]) -> tuple[bool, str, Fix]:
    """Whether an entry stands for all others of its cause, and the reason and level that are told below it."""
    return entry[0] < 0, entry[1][0].reason, entry[1][0].fix


def _entries(cause: Cause, verbose: bool) -> Iterator[tuple[int, Sequence[Finding]]]:
    """What is said of a cause, each with its places; without `verbose` the first of it, and last all others."""
    alike = cause.alike(reasons=verbose or cause.first.fix != "safe")
    most = len(alike) if verbose or len(alike) <= _FEW else _SOME
    yield from enumerate(alike[:most])
    if alike[most:]:
        yield -1, [place for places in alike[most:] for place in places]


def _alike(page: Page, places: Sequence[Finding], level: str, is_further: bool, verbose: bool, indent: int) -> None:
    """Places of one cause with the same message."""
    if verbose:
        for place in places:
            page.line(_place(place, level), indent, hang=4)
        return
    if is_further:
        page.line([("also ", "dim"), *_at(places[0]), *prose(words.one_line(places[0].message))], indent + 4, hang=4)
    else:
        page.line(_place(places[0], level), indent, hang=4)
    if others := places[1:]:
        more = f", and {len(others) - _PLACES} more" if others[_PLACES:] else ""
        told = f"and in {words.count(len(others), 'more place')}: {', '.join(map(words.place, others[:_PLACES]))}{more}"
        page.line([(told, "dim")], indent + 4, hang=0)


def _do_first(page: Page, result: Result, found: Sequence[Cause]) -> None:
    """What to type next, and how much of it all that does."""
    steps = words.first_steps(result, found)
    if steps:
        page.heading("What to do first  safe, unsafe and manual: `fixer explain manual`")
    wide = max((len(command) for command, _ in steps), default=0)
    for command, told in steps:
        page.line([(f"{command:<{wide}}  ", "cyan"), *prose(told)], 2, hang=wide + 2)
    if result.command == "check" and len(result.findings) > _MANY:
        page.gap()
        page.line(
            prose(
                "`--statistics` counts them by rule; `--write-baseline FILE` "
                "takes them as known (`fixer explain baseline`)",
                "dim",
            )
        )


def _left(page: Page, found: Sequence[Cause], verbose: bool) -> None:
    """What is not repaired, with whether `--unsafe-fixes` does it; of much the first, which hold up the move most."""
    if not found:
        return
    shown = found if verbose or len(found) <= _FEW else found[:_SOME]
    page.heading(f"Left for you  {words.count(len(found), 'finding')}")
    _causes(page, shown, words.WAYS, verbose, 2)
    _more(page, len(found) - len(shown))


def _place(finding: Finding, level: str) -> list[Part]:
    return [
        *_at(finding),
        (words.one_line(finding.code), "bold red"),
        (" ", ""),
        *prose(words.one_line(finding.message)),
        (" ", ""),
        (f"[{level}]", _LEVELS[finding.fix]),
    ]


def _at(finding: Finding) -> list[Part]:
    path, rest = words.plain(finding.path), words.place(finding)[len(words.plain(finding.path)) :]
    return [(path, "bold"), (rest, "cyan"), (" ", "")]


def _changes(page: Page, result: Result, verbose: bool) -> None:
    if not result.files:
        return
    page.heading(f"Changed  {words.totals(result)}")
    shown = result.files if verbose else result.files[:_SOME]
    rows = []
    for file in shown:
        counted = stat(file.diff)
        rows.append([(words.plain(file.path), ""), (f"+{counted.added}", "green"), (f"-{counted.removed}", "red")])
    page.table(rows, indent=2, padding=2, right=True)
    _more(page, len(result.files) - len(shown))


def _commits(page: Page, result: Result) -> None:
    if not result.commits:
        return
    page.heading(f"Commits on {words.plain(result.branch)}" if result.branch else "Commits")
    for commit in result.commits:
        subject = words.one_line(commit.subject)
        code = "" if subject.startswith(commit.code) else f"{words.one_line(commit.code)} "
        told = outcome_of(result, commit)
        verdict = [(f"  {told}", _VERDICTS[told])] if told else []
        page.line([(f"{words.short(commit.id)} ", "yellow"), *prose(f"{code}{subject}"), *verdict], 2)


def _proof(page: Page, result: Result, verbose: bool) -> None:
    """A group after the other, each in at most MOST lines; with `verbose` all that is known."""
    if result.evidence:
        page.heading(f"Proof  {_WORDS}" if verbose else f"Proof  {_WORDS}; all of it: --verbose")
    for number, evidence in enumerate(result.evidence):
        if number:
            page.gap()
        codes = ", ".join(map(words.one_line, evidence.codes))
        group = words.one_line(evidence.group)
        told = f"  group {group}" + (f": {codes}" if codes and codes != group else "")
        head = [(evidence.outcome, _VERDICTS[evidence.outcome]), (f"  ({words.rung(evidence)})", ""), (told, "dim")]
        if verbose:
            page.line(head, 2)
            _whole(page, result, evidence)
        else:
            _brief(page, head, evidence, result.evidence[number - 1] if number else None)


def _brief(page: Page, head: Sequence[Part], evidence: Evidence, earlier: Evidence | None) -> None:
    """The proof of a group in MOST lines; what was told of the group before is not told again."""
    again = earlier is not None and evidence.reason == earlier.reason
    reason = "for the same reason" if again else words.one_line(evidence.reason)
    room = MOST - page.line(head, 2, most=1) - page.line(prose(reason), 4, hang=0, most=3)
    gone = [*evidence.problems, *evidence.left]
    told = [EvidenceLine("not in target", _first(gone))] if gone else []
    told += [EvidenceLine("gradients", _first(flow))] if (flow := words.flow(evidence)) else []
    told = [*brief(evidence, room - len(told), lines(earlier) if earlier and again else ()), *told]
    for number, line in enumerate(told, 1):
        room -= _fact(page, line, 4, most=min(2, room - len(told) + number))
    for line in told:
        if len(line.paste.splitlines()) <= room:
            room -= _pasted(page, line)


def _first(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    return words.one_line(names[0]) + (f", and {len(names) - 1} more" if names[1:] else "")


def _pasted(page: Page, line: EvidenceLine) -> int:
    """The lines of settings that one asks for, as they are to be copied."""
    return sum(page.line([(text, "")], 8, most=1) for text in line.paste.splitlines())


def _fact(page: Page, line: EvidenceLine, indent: int, most: int | None = None) -> int:
    return page.line([(f"{line.label:<13} ", "dim"), *prose(line.text)], indent, hang=14, most=most)


def _whole(page: Page, result: Result, evidence: Evidence) -> None:
    page.line(prose(words.one_line(evidence.reason)), 2, hang=0)
    for line in lines(evidence):
        _fact(page, line, 4)
        _pasted(page, line)
    for share in evidence.shares:
        page.line([(words.one_line(share.code), "bold"), (f"  {share.outcome}", _VERDICTS[share.outcome])], 4)
        for line in share_lines(share):
            _fact(page, line, 6)
    _numbers(page, evidence)
    gone = f"not in Lightning {words.plain(result.target)}"
    _names(page, "modules, each trained by itself", words.alone(evidence))
    _names(page, "gradients", words.flow(evidence))
    _names(page, f"{gone}, in changed files", evidence.problems)
    _names(page, f"{gone}, in files that no rule changed", evidence.left)


def _numbers(page: Page, evidence: Evidence) -> None:
    rows = words.comparison(evidence)
    difference = words.difference(evidence)
    if not rows and difference is None:
        return
    if rows:
        page.gap()
        head = [("", "dim"), ("before", "bold"), ("after", "bold")]
        told = ([(row.name, "dim"), (row.before, ""), (row.after, "")] for row in rows)
        page.table([head, *told], indent=4, padding=3)
    if difference is not None:
        page.line([(f"{'max difference':<15}   ", "dim"), (difference, "")], 4)


def _names(page: Page, title: str, names: Sequence[str]) -> None:
    if names:
        page.line([(f"{title}:", "yellow")], 4)
    for name in names:
        page.line(prose(words.one_line(name)), 6)


def _skipped(page: Page, result: Result, verbose: bool) -> None:
    if not result.skipped:
        return
    page.heading(f"Not read: {words.count(len(result.skipped), 'file')}")
    shown = result.skipped if verbose else result.skipped[:_FEW]
    for item in shown:
        page.line([(words.plain(item.path), ""), (f"  {words.one_line(item.reason)}", "dim")], 2)
    _more(page, len(result.skipped) - len(shown))


def _more(page: Page, number: int) -> None:
    if number > 0:
        page.line([(f"and {number} more; see them with --verbose", "dim")], 2)


def _messages(page: Page, result: Result) -> None:
    """What to know besides; the summary line says the last message where there is nothing else to say."""
    nothing = not (result.findings or result.files or result.evidence or result.error)
    messages = result.messages[:-1] if nothing else result.messages
    if messages:
        page.gap()
    for message in messages:
        page.line([("note: ", "cyan"), *prose(words.one_line(message))], hang=6)


def _ready(page: Page, result: Result, verbose: bool) -> None:
    """Whether the branch runs on the target, and the uses that stop it; what to do once for neighbours alike."""
    answer = result.readiness
    if answer is None:
        return
    page.heading(words.one_line(answer.headline))
    shown = answer.stops if verbose else answer.stops[:_FEW]
    for todo, neighbours in groupby(shown, key=lambda stop: stop.todo):
        for stop in neighbours:
            code = [(f"{words.one_line(stop.code)} ", "bold red")] if stop.code else []
            page.line([(f"{words.plain(stop.place)} ", "cyan"), *code, *prose(words.one_line(stop.what))], 2, hang=4)
        page.line(prose(words.one_line(todo), "dim"), 6, hang=0)
    _more(page, len(answer.stops) - len(shown))
    page.line(prose("how far to trust this: `fixer explain trust`", "dim"), 2)


def _next(page: Page, result: Result) -> None:
    commands = words.next_commands(result)
    if commands:
        page.heading("Next")
    for command in commands:
        page.line([(command, "cyan")], 2)
    if commands:
        undo = f"git branch -D {words.plain(result.branch or '')}"
        page.line(prose(f"Your files and your branch are unchanged; `{undo}` removes the new branch.", "dim"), 2)
    elif result.command == "fix" and result.files:
        page.heading("Next")
        page.line(prose(words.undoing(result), "dim"), 2)


def _diffs(result: Result, style: Style) -> str:
    if not style.color:
        return "".join(file.diff for file in result.files)
    from fixer.reports.rich_page import colored

    repaired = words.repaired(result)
    return "".join(
        colored(file, [finding for finding in repaired if finding.path == file.path], style.width)
        for file in result.files
    )
