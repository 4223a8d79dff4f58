"""What the text and the Markdown report say alike: counts, versions, numbers, and commands to type next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods.finding import Finding, Fix
from fixer.reports.causes import Cause, Effect, causes
from fixer.reports.diff import stat
from fixer.result import Result

if TYPE_CHECKING:
    from fixer.readiness import Readiness
    from verify.evidence import Alone, Environment, Evidence, Gradient, Recording, Role

NONE = "-"
_NAMED = 6
_CHANGING = ("fix", "run", "demo")
_LIGHTNING = ("pytorch-lightning", "lightning")
WAYS: dict[Fix, str] = {"safe": "safe", "unsafe": "--unsafe-fixes does it", "manual": "by hand"}
"""Who repairs what is left."""
_LEFT: dict[Fix, str] = {"safe": "for `fixer fix`", "unsafe": "for `--unsafe-fixes`", "manual": "to repair by hand"}
EFFECTS: dict[Effect, str] = {
    "fails": "Fails on Lightning {}",
    "changes": "Runs, but may give other results",
    "warns": "Works, but is out of date",
}
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class ComparisonRow:
    """One line of the comparison of two trees."""

    name: str
    before: str
    after: str


def plain(text: str) -> str:
    """The text with every character that would steer a terminal or hide written as an escape."""
    return _UNSEEN.sub(_escaped, text)


def block(text: str) -> str:
    """Lines of others, each on one line."""
    return "\n".join(map(one_line, text.splitlines()))


def one_line(text: str) -> str:
    """The text on one line, safe to show."""
    return plain(" ".join(text.split()))


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def place(finding: Finding) -> str:
    """`path:line:column`; in a notebook `path:cell 3:line:column`, cells counted from 1."""
    cell = "" if finding.cell is None else f"cell {finding.cell + 1}:"
    return f"{plain(finding.path)}:{cell}{finding.span.line}:{finding.span.column}"


def further(cause: Cause, most: int | None = None) -> list[str]:
    """The places of a cause behind its first, a line each, with what is said of them where that differs; of many the
    first, and how many more there are."""
    told = []
    for other in cause.places[1:][:most]:
        said = "" if other.message == cause.first.message else f": {one_line(other.message)}"
        why = "" if other.reason == cause.first.reason else f" ({one_line(other.reason)})" if other.reason else ""
        told.append(f"also at {place(other)}{said}{why}")
    more = len(cause.places) - 1 - len(told)
    return [*told, f"and at {count(more, 'more place')}"] if more else told


def short(commit: str) -> str:
    """The first characters of a commit's id; another name of a commit as it is."""
    return commit[:10] if re.fullmatch(r"[0-9a-f]{40,64}", commit) else plain(commit)


def repaired(result: Result) -> list[Finding]:
    """The findings that the result's changes repair: none for `check`, which makes no changes."""
    return [finding for finding in result.findings if finding.applied and result.command != "check"]


def standing(result: Result) -> list[Finding]:
    """The findings that the result's changes do not repair."""
    return [finding for finding in result.findings if not finding.applied or result.command == "check"]


def is_done(result: Result, finding: Finding) -> bool:
    """Whether the place is repaired now, in the files or on the branch."""
    return finding.applied and result.command in _CHANGING


def is_grave(finding: Finding) -> bool:
    """Whether a finding is that a malicious release can be installed: what stands of it is an error."""
    return finding.code == "PIN001" and "malicious" in f"{finding.message} {finding.reason}"


def title(result: Result) -> str:
    """`Lightning 1.9.5 → 2.6.6`, or without a baseline `To Lightning 2.6.6`."""
    baseline = next((version for item in result.evidence if (version := lightning(item, "baseline"))), None)
    return f"Lightning {baseline} → {plain(result.target)}" if baseline else f"To Lightning {plain(result.target)}"


def lightning(evidence: Evidence, role: Role) -> str | None:
    """The Lightning release in which one of the two trees ran."""
    environment = _environment(evidence, role)
    packages = dict(environment.packages) if environment else {}
    return next((plain(packages[name]) for name in _LIGHTNING if name in packages), None)


def summary(result: Result) -> str:
    """The one line that says how it ended. Names in it stand between backticks."""
    if result.error is not None:
        return f"error: {one_line(result.error)}"
    if not (result.findings or result.files or result.evidence):
        return one_line(result.messages[-1]) if result.messages else f"No findings{_unread(result)}."
    if result.command == "check":
        return _checked(result.findings)
    parts = [_outcome(result), _left(standing(result)), _proven(result), _ready(result.readiness)]
    told = "; ".join(part for part in parts if part) + "."
    return told[0].upper() + told[1:]


def _unread(result: Result) -> str:
    return f"; {count(len(result.skipped), 'file')} not read" if result.skipped else ""


def _checked(findings: Sequence[Finding]) -> str:
    found = causes(findings, {})
    by = {level: sum(cause.first.fix == level for cause in found) for level in ("safe", "unsafe", "manual")}
    parts = [f"{by['safe']} by `fixer fix`"] if by["safe"] else []
    parts += [f"{by['unsafe']} by `fixer fix --unsafe-fixes`"] if by["unsafe"] else []
    parts += [f"{by['manual']} by hand"] if by["manual"] else []
    places = "" if len(found) == len(findings) else f" at {len(findings)} places"
    files = len({finding.path for finding in findings})
    return f"{count(len(found), 'finding')}{places} in {count(files, 'file')}; to repair: {', '.join(parts)}."


def first_steps(result: Result, found: Sequence[Cause]) -> list[tuple[str, str]]:
    """What to type after a look at a project, and what it does of all that was found."""
    asked = [word for word in result.arguments if word not in (".", "--unsafe-fixes")]
    levels = [cause.first.fix for cause in found]
    safe, unsafe, manual = (levels.count(level) for level in ("safe", "unsafe", "manual"))
    steps = []
    if safe:
        told = f"repairs {safe} of {count(len(found), 'finding')}"
        run = "; `fixer run` does it on a new branch, and proves it" if result.base else ""
        steps.append((shlex.join(["fixer", "fix", *map(plain, asked)]), f"{told}{run}"))
    if unsafe:
        much = f"{unsafe} more" if safe else f"{unsafe} of {count(len(found), 'finding')}"
        told = f"repairs {much}, in a way that is probably right: read the diff"
        steps.append((shlex.join(["fixer", "fix", *map(plain, asked), "--unsafe-fixes"]), told))
    if manual:
        first = next(cause.first for cause in found if cause.first.fix == "manual")
        told = f"{count(manual, 'finding')} to repair by hand: begin at {place(first)}"
        steps.append((f"fixer explain {plain(first.code)}", told))
    return steps


def _outcome(result: Result) -> str:
    done = len(causes(repaired(result), {}))
    what = f"{count(len(result.files), 'file')} ({totals(result)})"
    if result.branch is not None:
        held = count(len(result.commits), "commit") if result.commits else "as it was"
        return f"`{plain(result.branch)}`: {held}, {count(done, 'finding')} repaired"
    if not result.files:
        return "" if result.command == "verify" else "Nothing was changed"
    if result.command == "fix":
        return f"Changed {what}, {count(done, 'finding')} repaired"
    return f"{what} would change and repair {count(done, 'finding')}"


def _left(findings: Sequence[Finding]) -> str:
    levels = [cause.first.fix for cause in causes(findings, {})]
    return ", ".join(f"{levels.count(level)} left {way}" for level, way in _LEFT.items() if level in levels)


def _proven(result: Result) -> str:
    evidence = result.evidence
    if not evidence:
        return "not proven" if result.files and result.command in ("run", "demo") else ""
    verdicts = list(dict.fromkeys(item.outcome for item in evidence))
    if len(evidence) == 1:
        return f"proof: {evidence[0].outcome}"
    counted = (f"{sum(item.outcome == verdict for item in evidence)} {verdict}" for verdict in verdicts)
    return f"proof: {', '.join(counted)}"


def _ready(answer: Readiness | None) -> str:
    if answer is None:
        return ""
    if answer.ready:
        return "ready to merge as far as fixer knows" if answer.caveat else "ready to merge"
    return f"not ready: {count(answer.places, 'place')} {'fails' if answer.places == 1 else 'fail'}"


def totals(result: Result) -> str:
    """`+12 -4`: the lines that all diffs add and remove."""
    stats = [stat(file.diff) for file in result.files]
    return f"+{sum(item.added for item in stats)} -{sum(item.removed for item in stats)}"


def next_commands(result: Result) -> list[str]:
    """What to type next, where there is a branch; to merge it only where nothing is known that stops it."""
    if result.branch is None or result.base is None or result.command == "demo":
        return []
    branch = shlex.quote(plain(result.branch))
    merge = [f"git merge {branch}"] if result.readiness is None or result.readiness.ready else []
    return [f"git diff {short(result.base)}..{branch}", f"git switch {branch}", *merge]


def undoing(result: Result) -> str:
    """How what `fix` changed is looked at and undone."""
    if result.base is None:
        return "The files were changed in place, outside of a git repository."
    return "The files were changed in place: `git diff` shows it, `git restore FILE` undoes it (`fixer explain undo`)."


def reproduction(result: Result, *more: str) -> tuple[str, str]:
    """The commands that install this fixer and make the same branch again; of `more`, what the run was not asked for
    itself is asked for besides, and a `--select` in place of its own."""
    from fixer.origin import requirement

    names = [option.partition("=")[0] for option in more if option.startswith("--")]
    asked = [word for word in result.arguments or (".",) if word.partition("=")[0] not in names]
    words = ["fixer", "run", *asked, "--target", result.target, *more]
    return f"pip install {shlex.quote(requirement('verify'))}", shlex.join(map(plain, words))


def comparison(evidence: Evidence) -> list[ComparisonRow]:
    """The two trees side by side: versions, what was run, how it ended and its numbers."""
    if not (evidence.environments or evidence.before or evidence.after):
        return []
    old, new = _environment(evidence, "baseline"), _environment(evidence, "target")
    before, after = evidence.before, evidence.after
    rows = [ComparisonRow("Lightning", lightning(evidence, "baseline") or NONE, lightning(evidence, "target") or NONE)]
    rows += [ComparisonRow("Python, torch", _stack(old), _stack(new))] if old or new else []
    if before or after:
        rows += [
            ComparisonRow("script", *(plain(tree.script) if tree else NONE for tree in (before, after))),
            ComparisonRow("ended", _ended(before), _ended(after)),
            ComparisonRow("losses", _losses(before), _losses(after)),
            ComparisonRow(
                "optimizer steps", *(str(tree.optimizer_steps) if tree else NONE for tree in (before, after))
            ),
            ComparisonRow("global step", *(_optional(tree.global_step) if tree else NONE for tree in (before, after))),
            ComparisonRow("gradients reach", _reached(before), _reached(after)),
        ]
    return rows


def flow(evidence: Evidence) -> list[str]:
    """What the gradients of the two trees did that a person should look at, a line each."""
    trees = (("before", evidence.before), ("after", evidence.after))
    return [f"{when}: {line}" for when, tree in trees if tree is not None for line in _flow(tree)]


def alone(evidence: Evidence) -> list[str]:
    """The modules that were trained by themselves, a line each: how it ended, of what each was made, and on what."""
    return [_alone(module) for module in evidence.alone]


def _alone(module: Alone) -> str:
    notes = "".join(f"; {one_line(note)}" for note in module.notes)
    made = (
        f"built with {one_line(module.arguments) or 'no arguments'}, on generated batches of {one_line(module.batch)}"
    )
    told = f"{module.verdict} (rung: {module.rung or 'none'}): {one_line(module.reason)}"
    return f"{plain(module.module)}: {told}; {made}{notes}"


def _flow(recording: Recording) -> Iterable[str]:
    for lost in recording.lost:
        how = f"; taken out of the graph by {plain(lost.cut)}" if lost.cut else ""
        yield f"no gradient flows back from the loss of {plain(lost.loss)}{how}"
    rows = recording.gradients
    cuts = dict.fromkeys(row.cut for row in rows if not row.reached)
    for cut in cuts:
        names = [row.name for row in rows if not row.reached and row.cut == cut]
        yield f"no gradient reaches {_few(names)}" + (f"; cut by {plain(cut)}" if cut else "")
    if zero := [row.name for row in rows if row.zero]:
        yield f"only zeros reach {_few(zero)}"
    if odd := [row.name for row in rows if not row.finite]:
        yield f"gradients that are not finite reach {_few(odd)}"
    if other := [f"{row.name} ({row.dtype}, gradient {row.gradient})" for row in rows if _is_cast(row)]:
        yield f"gradients of another type reach {_few(other)}"


def _is_cast(row: Gradient) -> bool:
    return row.gradient is not None and row.gradient != row.dtype


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(plain(name) for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if names[_NAMED:] else "")


def _reached(recording: Recording | None) -> str:
    """How many trainable parameters gradients reached, their types, and the losses that these came from."""
    if recording is None or not recording.gradients:
        return NONE
    rows = recording.gradients
    got = [row for row in rows if row.reached]
    kinds = ", ".join(dict.fromkeys(plain(row.dtype) for row in rows))
    losses = list(dict.fromkeys(plain(loss) for row in got for loss in row.losses))
    source = f", from {_few(losses)}" if losses else ""
    return f"{len(got)} of {count(len(rows), 'parameter')} ({kinds}){source}"


def difference(evidence: Evidence) -> str | None:
    """The largest difference between the numbers of the two trees, None where nothing was compared."""
    if evidence.max_difference is None:
        return None
    within = "" if evidence.tolerance is None else f" (tolerance {evidence.tolerance:.2g})"
    place = f" at {one_line(evidence.furthest)}" if evidence.furthest and evidence.max_difference else ""
    return f"{evidence.max_difference:.2g}{place}{within}"


def rung(evidence: Evidence) -> str:
    """The highest rung that held, in words."""
    return f"rung: {evidence.rung or 'none'}"


def _environment(evidence: Evidence, role: Role) -> Environment | None:
    return next((item for item in evidence.environments if item.role == role), None)


def _stack(environment: Environment | None) -> str:
    if environment is None:
        return NONE
    torch = dict(environment.packages).get("torch", NONE)
    return f"{plain(environment.python)}, {plain(torch)}"


def _ended(recording: Recording | None) -> str:
    if recording is None:
        return "not run"
    if recording.failure is None:
        return "trained" if recording.fitted else "without training"
    where = f" at {plain(recording.failure.place)}" if recording.failure.place else ""
    return f"{'trained, then ' if recording.fitted else ''}{plain(recording.failure.type)}{where}"


def _losses(recording: Recording | None) -> str:
    if recording is None or not recording.losses:
        return NONE
    return " → ".join(f"{loss:.4g}" for loss in _ends(recording.losses))


def _ends(losses: Sequence[float]) -> Iterable[float]:
    return losses if len(losses) == 1 else (losses[0], losses[-1])


def _optional(number: int | None) -> str:
    return NONE if number is None else str(number)
