"""IGN001: a `# fixer: ignore[CODE]` comment that leaves nothing out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from codemods.code.source import Ignore, PythonFile, TextFile
from codemods.finding import Span
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, TextEdit, all_rules, others_rules

_BRACKETS = re.compile(r"\[[^\]]*\]")


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    rules = {rule.code: rule for rule in all_rules()}
    lines = file.lines if isinstance(file, PythonFile) else file.text.split("\n")
    for comment in file.ignore_comments:
        line = lines[comment.line - 1]
        if isinstance(file, TextFile) and not _is_comment(line, comment):
            continue
        unknown = [code for code in comment.codes if code != "*" and code.split(":")[0] not in rules]
        for code in () if others_rules().left_out else unknown:
            message = f"`{code}` in `# fixer: ignore[...]` is not a rule"
            yield Match(_span(comment), message, "manual", _meant(code, rules))
        idle = [code for code in comment.codes if code not in unknown and _is_idle(code, comment, file, facts)]
        if idle:
            yield _match(file, line, comment, idle)


def _is_comment(line: str, comment: Ignore) -> bool:
    """Whether the words are a comment of a YAML file, as far as the quotes before them tell."""
    before = line[: comment.start]
    return (not before or before[-1].isspace()) and not any(before.count(quote) % 2 for quote in "\"'")


def _is_idle(code: str, comment: Ignore, file: PythonFile | TextFile, facts: Facts) -> bool:
    """Whether the rules that a code stands for looked, and it left nothing of theirs out."""
    rules = all_rules()
    if not facts.served.isdisjoint({(file.path, comment.line, code), (file.path, 0, code)}):
        return False
    if code == "*":
        name = file.path.rpartition("/")[2]
        looked = all(rule.code in facts.asked and name not in rule.names for rule in rules)
        return looked and not others_rules().left_out
    return any(rule.code == code.split(":")[0] and rule.code in facts.asked and not rule.last for rule in rules)


def _meant(code: str, codes: Collection[str]) -> str:
    if any(known.startswith(code) for known in codes):
        return f"A comment needs whole codes, and {code} is the beginning of several: name the ones that it is for."
    near = get_close_matches(code.split(":")[0], codes)
    return (
        f"It silences nothing; write {' or '.join(f'`# fixer: ignore[{each}]`' for each in near)} if you meant it."
        if near
        else "It silences nothing: remove it."
    )


def _match(file: PythonFile | TextFile, line: str, comment: Ignore, idle: list[str]) -> Match:
    what = "this comment silences" if idle == ["*"] else f"`ignore[{', '.join(idle)}]` silences"
    message = f"{what} nothing"
    if not line[: comment.start].strip():
        reason = (
            "It is alone on its line, where no finding begins or ends: put it at the end of the line that it is for."
        )
        return Match(_span(comment), message, "manual", reason)
    start = sum(map(len, file.text.splitlines(keepends=True)[: comment.line - 1]))
    written = line[comment.start : comment.end]
    if kept := [code for code in comment.codes if code not in idle]:
        edit = TextEdit(start + comment.start, start + comment.end, _BRACKETS.sub(f"[{', '.join(kept)}]", written))
    else:
        edit = _removed(line, start, comment)
    if file.text[start + comment.start : start + comment.end] != written:
        return Match(_span(comment), message, "manual", "Not rewritten: the file's line ends are mixed; remove it.")
    return Match(_span(comment), message, "safe", "No rule finds anything on its line.", edits=(edit,))


def _removed(line: str, start: int, comment: Ignore) -> TextEdit:
    """What else the comment says stays, as a comment."""
    before, behind = line[: comment.start].rstrip(), line[comment.end :].rstrip()
    gap = start + len(before)
    rest = behind.lstrip(" \t:;,.-")
    if not rest:
        return TextEdit(gap, start + comment.end + len(behind), "")
    return TextEdit(start + comment.start, start + comment.end + behind.index(rest), "" if rest[0] == "#" else "# ")


def _span(comment: Ignore) -> Span:
    return Span(comment.line, comment.start + 1, comment.line, comment.end + 1)


HEAD = "from pytorch_lightning import Trainer\n\n"
BEFORE = f"{HEAD}trainer = Trainer(max_epochs=1)  # fixer: ignore[LIT101]\n"
AFTER = f"{HEAD}trainer = Trainer(max_epochs=1)\n"
ONE_OF_TWO = f"{HEAD}trainer = Trainer(max_epochs=1, gpus=1)  # fixer: ignore[LIT101, LIT110]\n"
ONE_LEFT = f"{HEAD}trainer = Trainer(max_epochs=1, gpus=1)  # fixer: ignore[LIT101]\n"
MISSPELLED = f"{HEAD}trainer = Trainer(max_epochs=1)  # fixer: ignore[LIT1O1]\n"

RULE = Rule(
    code="IGN001",
    name="idle-ignore",
    summary="a `# fixer: ignore[CODE]` that leaves nothing out is removed",
    why=(
        "A comment that outlived what it was for hides the next finding on its line. Only codes of rules that looked "
        "are judged: those that `--select` or `--ignore` leave out are not, a comment for all rules only where all "
        "looked, and PIN001 and PIN002 never. A code that no rule has is named with the nearest that there are, and a "
        "comment alone on its line, which silences nothing, with where it belongs."
    ),
    fix="safe",
    versions="any",
    triggers=(b"fixer:",),
    kinds=("python", "yaml"),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(ONE_OF_TWO, ONE_LEFT), Example(MISSPELLED, MISSPELLED)),
    last=True,
    judges_ignores=True,
    warns=True,
)
