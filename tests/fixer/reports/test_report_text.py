"""The report for a terminal: what it says, on which line, and that texts cannot steer the terminal."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from rich.cells import cell_len

from codemods.finding import Span
from fixer.readiness import Readiness
from fixer.reports import OutputFormat, Style, render
from fixer.reports.diff import unified
from fixer.reports.glossary import entry
from fixer.result import FileDiff, Result, Skipped
from tests.fixer.reports.samples import (
    BROKEN,
    CHECK,
    HOSTILE,
    MANUAL,
    NOTHING,
    PRESERVED,
    REPAIRED,
    RESULTS,
    RULES,
    RUN,
    SAFE,
    UNSAFE,
    many,
)
from verify.evidence import Alone, Evidence, Fact, FactKind, FileCoverage

DIFF = replace(RUN, command="diff", branch=None, commits=(), evidence=(), findings=(SAFE, MANUAL))
FIX = replace(RUN, command="fix", branch=None, commits=(), evidence=())
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def report(
    result: Result, *, color: bool = False, width: int | None = None, verbose: bool = False, quiet: bool = False
) -> str:
    return render(result, OutputFormat.text, RULES, Style(color, width, verbose, quiet))


def last(result: Result) -> str:
    return report(result).splitlines()[-1]


def test_check_lists_a_finding_a_line_and_first_what_is_left_to_do_by_hand() -> None:
    findings = [line for line in report(CHECK).splitlines() if re.match(r"\S+:\d+:\d+ ", line)]
    assert findings == [
        "src/model.py:40:9 TBP001 `training_step` takes `hiddens`, which Lightning 2 no longer passes [manual]",
        "src/cli.py:8:5 LIT101 `gpus` takes a value that is not known here [unsafe]",
        "train.py:31:23 LIT101 `gpus` was removed from Trainer in 2.0 [safe]",
    ]


def test_reasons_stand_below_what_is_not_safe_and_with_verbose_below_all() -> None:
    assert f"    {MANUAL.reason}\n" in report(CHECK)
    assert "the same devices" not in report(CHECK)
    assert "    the same devices\n" in report(CHECK, verbose=True)


def test_neighbours_with_one_reason_share_it() -> None:
    assert report(replace(CHECK, findings=many(300, "think first"))).count("think first") == 1
    listed = report(replace(CHECK, findings=many(300, "think first")), verbose=True).partition("\n\n")[0]
    assert len(listed.splitlines()) == 302


ALIKE = tuple(replace(SAFE, path=f"configs/{number}.yaml") for number in range(5))


def test_what_is_the_same_in_many_places_is_said_once() -> None:
    lines = report(replace(CHECK, findings=(*ALIKE, UNSAFE))).splitlines()
    assert lines[1:5] == [
        "src/cli.py:8:5 LIT101 `gpus` takes a value that is not known here [unsafe]",
        f"    {UNSAFE.reason}",
        "configs/0.yaml:31:23 LIT101 `gpus` was removed from Trainer in 2.0 [safe]",
        "    and in 4 more places: configs/1.yaml:31:23, configs/2.yaml:31:23, configs/3.yaml:31:23, and 1 more",
    ]
    assert lines[-1].startswith("2 findings at 6 places in 6 files; to repair: 1 by `fixer fix`")
    every = report(replace(CHECK, findings=ALIKE), verbose=True)
    assert [path for path in (item.path for item in ALIKE) if f"{path}:31:23 LIT101" not in every] == []


def test_what_is_said_otherwise_of_a_place_is_told_there() -> None:
    reasons = tuple(replace(item, fix="unsafe", reason=item.path) for item in ALIKE)
    text = report(replace(CHECK, findings=reasons))
    assert "more place" not in text and all(f"    {item.path}\n" in text for item in reasons)
    named = report(replace(CHECK, findings=(SAFE, replace(SAFE, path="z.py", message="`gpus` is read here"))))
    assert "\n    also z.py:31:23 `gpus` is read here\n" in named


def test_of_a_cause_with_many_names_the_first_are_told() -> None:
    named = tuple(
        replace(MANUAL, path=f"{n:02}.py", message=f"`name_{n}` was removed", reason=f"{n}") for n in range(14)
    )
    text = report(replace(CHECK, findings=named))
    assert text.count("also ") == 4 and "    and at 9 more places with other names; see them with --verbose\n" in text
    assert (
        text.count(" was removed") == 5
        and report(replace(CHECK, findings=named), verbose=True).count(" was removed") == 14
    )


def test_what_fails_on_the_target_comes_first_and_what_only_warns_last() -> None:
    late = replace(MANUAL, code="TBP009")
    rules = {**RULES, "TBP009": replace(RULES["TBP001"], code="TBP009", warns=True)}
    text = render(
        replace(CHECK, findings=(late, UNSAFE, replace(MANUAL, path="z.py", stops=True))), OutputFormat.text, rules
    )
    heads = [
        "Fails on Lightning 2.6.6\nz.py",
        "Runs, but may give other results\nsrc/cli.py",
        "Works, but is out of date\nsrc/model.py",
    ]
    assert [text.index(head) for head in heads] == sorted(text.index(head) for head in heads)


def test_a_check_ends_with_what_to_type_and_how_much_that_does() -> None:
    text = report(replace(CHECK, arguments=("src", "--unsafe-fixes")))
    assert text[text.index("What to do first") :].splitlines()[1:4] == [
        "  fixer fix src                 repairs 1 of 3 findings; `fixer run` does it on a new branch, and proves it",
        "  fixer fix src --unsafe-fixes  repairs 1 more, in a way that is probably right: read the diff",
        "  fixer explain TBP001          1 finding to repair by hand: begin at src/model.py:40:9",
    ]
    assert "fixer run" not in report(replace(CHECK, base=None))
    assert "What to do first" not in report(replace(CHECK, findings=()))


def test_many_findings_are_said_to_have_a_shorter_form() -> None:
    assert "`--statistics` counts them" in report(replace(CHECK, findings=many(51, "")))
    assert "--statistics" not in report(replace(CHECK, findings=many(50, "")))


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        (
            (SAFE, UNSAFE, MANUAL),
            "3 findings in 3 files; to repair: 1 by `fixer fix`, 1 by `fixer fix --unsafe-fixes`, 1 by hand.",
        ),
        ((SAFE, SAFE, MANUAL), "2 findings at 3 places in 2 files; to repair: 1 by `fixer fix`, 1 by hand."),
        ((SAFE,), "1 finding in 1 file; to repair: 1 by `fixer fix`."),
        ((MANUAL, MANUAL), "1 finding at 2 places in 1 file; to repair: 1 by hand."),
    ],
)
def test_check_ends_with_what_can_be_done(findings: tuple, line: str) -> None:  # type: ignore[type-arg]
    assert last(replace(CHECK, findings=findings)) == line


def test_nothing_to_do_is_said_in_the_words_of_the_command() -> None:
    assert report(NOTHING) == "no file has anything that a rule checks: nothing to do\n"
    assert report(replace(NOTHING, messages=())) == "No findings.\n"


def test_an_error_is_all_there_is() -> None:
    assert report(BROKEN) == "error: no repository here: run fixer inside a git repository\n"


def test_run_tells_what_changed_what_it_proves_and_what_to_type() -> None:
    lines = [line.strip() for line in report(RUN, width=100).splitlines()]
    lines += [line.strip() for line in report(RUN, width=100, verbose=True).splitlines()]
    assert lines[0] == "Lightning 1.9.5 → 2.6.6  from 3f2a1bc49d  (41.2 s)"
    for line in (
        "src/model.py  +2  -1",
        "Commits on fixer/lightning-2.6.6",
        "bbbbbbbbbb LIT101: `Trainer(gpus=...)` becomes `accelerator=`  repaired",
        "repaired  (rung: trains)  group lightning-2.6.6: TBP001, LIT101",
        "before                     after",
        "Lightning         1.9.5                      2.6.6",
        "ended             TypeError at train.py:31   trained",
        "losses            -                          2.312 → 0.4075",
        "optimizer steps   0                          20",
        "max difference    1.5e-08 (tolerance 1e-06)",
        "uncommitted changes in 1 file are left out",
        "git diff 3f2a1bc49d..fixer/lightning-2.6.6",
        "git switch fixer/lightning-2.6.6",
        "git merge fixer/lightning-2.6.6",
    ):
        assert line in [found.removeprefix("note: ") for found in lines]
    assert "train.py:31:23" not in report(RUN) and "train.py:31:23" in report(RUN, verbose=True)
    assert last(RUN) == (
        "`fixer/lightning-2.6.6`: 1 commit, 1 finding repaired; 1 left for `--unsafe-fixes`, "
        "1 left to repair by hand; proof: 1 repaired, 1 preserved."
    )


def test_a_branch_without_proof_is_said_to_have_none() -> None:
    bare = replace(RUN, evidence=(), findings=(SAFE,))
    assert last(bare) == "`fixer/lightning-2.6.6`: 1 commit, 1 finding repaired; not proven."
    again = replace(bare, commits=())
    assert last(again) == "`fixer/lightning-2.6.6`: as it was, 1 finding repaired; not proven."
    dry = replace(bare, branch=None)
    assert last(dry) == "2 files (+3 -2) would change and repair 1 finding; not proven."


def test_one_small_run_fits_one_screen() -> None:
    small = replace(RUN, findings=(SAFE, MANUAL), evidence=RUN.evidence[:1], skipped=(), messages=())
    assert len(report(small, width=80).splitlines()) <= 36


def test_what_is_left_is_told_kind_by_kind() -> None:
    other = replace(MANUAL, code="LIT101", path="src/a.py", reason="other")
    text = report(replace(RUN, findings=(MANUAL, other, replace(MANUAL, path="src/z.py"))))
    left = text[text.index("Left for you") :]
    assert left.index("src/model.py") < left.index("src/z.py") < left.index("src/a.py") < left.index("\n      other")
    assert left.count("builds its optimizers") == 1


def test_fix_marks_what_it_did() -> None:
    text = report(FIX)
    assert "train.py:31:23 LIT101 `gpus` was removed from Trainer in 2.0 [safe, applied]" in text
    assert "[manual]" in text
    assert last(FIX) == (
        "Changed 2 files (+3 -2), 1 finding repaired; 1 left for `--unsafe-fixes`, 1 left to repair by hand."
    )


def test_what_a_person_left_is_not_told_as_work_by_hand() -> None:
    left = replace(FIX, files=(), findings=(replace(SAFE, applied=False), replace(MANUAL, applied=False)))
    assert last(left) == "Nothing was changed; 1 left for `fixer fix`, 1 left to repair by hand."


def test_verify_tells_the_verdict() -> None:
    text = report(
        Result("verify", None, "2.6.6", evidence=(PRESERVED, replace(PRESERVED, problems=("`Trainer(x=)`",))))
    )
    assert "not in target `Trainer(x=)`\n" in text
    assert text.count(PRESERVED.reason) == text.count("for the same reason") == 1
    assert text.splitlines()[-1] == "Proof: 2 preserved."


def test_a_module_alone_is_told_once() -> None:
    assert PRESERVED.after is not None
    after = PRESERVED.after
    one = Alone("model.py:Net", "size=2", "float32 4x2", (), "preserved", "same", "it is", 0.0, 1e-6, after, after)

    def told(*modules: Alone, verbose: bool = False) -> tuple[int, int]:
        evidence = (replace(PRESERVED, alone=modules), replace(PRESERVED, alone=modules))
        text = report(Result("verify", None, "2.6.6", evidence=evidence), verbose=verbose)
        return text.count("Net(size=2), trained by itself on generated batches"), text.count("built with size=2")

    assert (told(one), told(one, verbose=True)) == ((1, 0), (2, 2))


def test_diff_without_colour_is_applied_by_git(tmp_path: Path) -> None:
    files = (
        FileDiff("a.py", unified("a.py", "x\r\ny", "z\x1b\r\ny\n")),
        FileDiff("b.py", unified("b.py", "1\n", "2\n")),
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "a.py").write_bytes(b"x\r\ny")
    (tmp_path / "b.py").write_bytes(b"1\n")
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"]
    subprocess.run(command, cwd=tmp_path, input=report(replace(DIFF, files=files)).encode(), check=True)
    assert (tmp_path / "a.py").read_bytes() == b"z\x1b\r\ny\n"
    assert (tmp_path / "b.py").read_bytes() == b"2\n"


def test_diff_in_colour_shows_both_sides_and_no_control_characters() -> None:
    file = FileDiff("a.py", unified("a.py", "x\r\n", "[red]z[/red]\x1b[2J\r\n"))
    text = report(replace(DIFF, files=(file,)), color=True, width=80)
    assert "\x1b[31m-\x1b[0m" in text and "\x1b[32m+\x1b[0m" in text
    assert "\n-x\n+[red]z[/red]\\x1b[2J\n" in STYLE.sub("", text)
    assert text.rstrip().endswith("1 file (+1 -1) would change and repair 1 finding; 1 left to repair by hand.\x1b[0m")


def test_diff_in_colour_says_at_a_hunk_what_it_repairs() -> None:
    old = "".join(f"{number} = {number}\n" for number in range(30))
    file = FileDiff("a.py", unified("a.py", old, old.replace("20 = 20", "20 = 'x'")))
    near = replace(SAFE, path="a.py", span=Span(21, 1, 21, 3), message="near")
    far = replace(SAFE, path="a.py", span=Span(2, 1, 2, 3), message="far")
    other = replace(SAFE, path="b.py", message="elsewhere")
    lines = STYLE.sub("", report(replace(DIFF, files=(file,), findings=(near, far, other)), color=True)).splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("@@"))
    assert lines[head - 1] == "▎ LIT101 far (the same devices)"
    assert lines[head + 1] == "▎ LIT101 near (the same devices)"
    assert not any("elsewhere" in line for line in lines[: head + 10])


def test_skipped_files_are_counted_and_named_up_to_ten() -> None:
    result = replace(CHECK, skipped=tuple(Skipped(f"big_{index}.py", "too large") for index in range(14)))
    text = report(result)
    assert "Not read: 14 files\n" in text and "and 4 more; see them with --verbose\n" in text
    assert "big_9.py  too large\n" in text and "big_10.py" not in text
    assert "big_13.py" in report(result, verbose=True)


@pytest.mark.parametrize("result", [CHECK, RUN, FIX, DIFF, NOTHING, BROKEN])
def test_quiet_is_the_last_line(result: Result) -> None:
    assert report(result, quiet=True).splitlines() == [last(result)]


def test_markup_and_commands_in_texts_are_only_text() -> None:
    finding = replace(MANUAL, path="::set-env name=a::[bold].py", message=HOSTILE, reason=HOSTILE)
    text = report(replace(CHECK, findings=(finding,), messages=("::error::x", "##[error]y")), width=80)
    assert "[red]x[/red]" in text and "[bold].py" in text
    assert not re.search(r"^\s*::", text, re.MULTILINE) and "##[" not in text
    assert "\x1b" not in text and "\r" not in text


def test_a_finding_is_one_line_when_piped_and_wrapped_on_a_terminal() -> None:
    result = replace(CHECK, findings=(replace(SAFE, message="word " * 60),))
    assert report(result).splitlines()[1].endswith("[safe]")
    assert all(cell_len(line) <= 80 for line in report(result, width=80).splitlines())


@settings(max_examples=40, deadline=None)
@given(RESULTS)
def test_any_result_is_told_without_colour_or_control(result: Result) -> None:
    text = report(replace(result, files=() if result.command == "diff" else result.files), width=80)
    assert text.endswith("\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    assert not re.search(r"^\s*::|##\[", text, re.MULTILINE)


@settings(max_examples=25, deadline=None)
@given(RESULTS)
def test_colour_changes_nothing_but_colour(result: Result) -> None:
    def letters(color: bool) -> str:
        text = STYLE.sub("", report(replace(result, files=()), color=color, width=100))
        return "\n".join(line.rstrip() for line in text.split("\n")).replace(": :", "::").replace("## [", "##[")

    assert letters(color=True) == letters(color=False)


def test_rich_is_loaded_for_the_text_report_alone() -> None:
    script = (
        "import sys; from fixer.reports import OutputFormat, Style, render; from fixer.result import Result; "
        "[render(Result('check', None, '2.6.6'), f, {}) for f in OutputFormat if f != 'text']; "
        "assert not {'rich', 'libcst', 'git', 'torch', 'lightning'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_run_with_hundreds_left_fits_one_screen() -> None:
    kinds = [
        replace(
            MANUAL, code=f"LIT{number}", path=f"src/{number}.py", span=Span(line, 1, line, 5), message=f"old {number}"
        )
        for number in range(101, 131)
        for line in range(1, 11)
    ]
    grown = tuple(FileDiff(f"{number}.py", RUN.files[0].diff) for number in range(60))
    names = tuple(f"`name_{number}`" for number in range(90))
    evidence = tuple(replace(PRESERVED, left=names) if not number else PRESERVED for number in range(3))
    huge = replace(RUN, findings=tuple(kinds), files=grown, evidence=evidence)
    lines = report(huge, width=100).splitlines()
    assert len(lines) <= 70
    assert len(report(replace(huge, evidence=RUN.evidence[:1], skipped=()), width=100).splitlines()) <= 50
    assert "Left for you  30 findings" in lines
    assert "  src/101.py:1:1 LIT101 old 101 [by hand]" in lines
    assert "      and in 9 more places: src/101.py:2:1, src/101.py:3:1, src/101.py:4:1, and 6 more" in lines
    assert "  and 25 more; see them with --verbose" in lines
    assert "  and 55 more; see them with --verbose" in lines and "    not in target `name_0`, and 89 more" in lines
    full = report(huge, verbose=True)
    assert all(f"{finding.path}:{finding.span.line}:1 " in full for finding in kinds) and "`name_89`" in full


def test_what_is_left_says_whether_unsafe_fixes_do_it() -> None:
    text = report(RUN)
    left = text[text.index("Left for you") :]
    assert "[by hand]" in left and "[--unsafe-fixes does it]" in left


def test_numbers_are_shown_where_all_is_asked_for() -> None:
    same, other = replace(PRESERVED, group="A"), replace(PRESERVED, group="B", verdict="changed")
    assert report(replace(RUN, evidence=(same, same, other))).count("    losses ") == 0
    assert report(replace(RUN, evidence=(same, same, other)), verbose=True).count("    losses ") == 3


LONG = "a sentence that goes on and on about one thing " * 9
HUGE = replace(
    PRESERVED,
    codes=tuple(f"LIT{number}" for number in range(101, 131)),
    reason=LONG,
    facts=tuple(Fact(kind, f"{kind} {number}: {LONG}") for kind in get_args(FactKind) for number in range(4)),
    touched=tuple(FileCoverage(f"part{number}.py", "not loaded") for number in range(30)),
    problems=("train.py:7: Trainer(gpus=...)", "other"),
)


@pytest.mark.parametrize("width", [60, 80, 100, 200, None])
@pytest.mark.parametrize("evidence", [REPAIRED, PRESERVED, HUGE])
def test_a_proof_takes_at_most_eight_lines(evidence: Evidence, width: int | None) -> None:
    text = report(Result("verify", None, "2.6.6", evidence=(evidence,)), width=width)
    told = text[text.index("\nProof") :].strip().splitlines()[1:-2]
    assert 3 <= len(told) <= 8
    assert told[0].startswith(f"  {evidence.outcome}  (rung: ")
    if evidence is HUGE:
        assert all(any(line.startswith(f"    {kind} ") for line in told) for kind in ("ran", "not executed", "next"))
    every = report(Result("verify", None, "2.6.6", evidence=(evidence,)), width=width, verbose=True)
    assert all(f"{fact.kind} {number}" in every for number in range(4) for fact in evidence.facts)


SETTINGS = '[tool.fixer.verify]\ndata = "fixer-data"'
STUCK = Evidence("G", ("LIT101",), "conforms", "inconclusive", "it is empty",
                 facts=(Fact("next", 'name it with `data = "fixer-data"`', SETTINGS),))  # fmt: skip


def test_settings_can_be_copied_as_they_stand() -> None:
    result = Result("verify", None, "2.6.6", evidence=(STUCK,))
    for verbose in (False, True):
        assert "\n".join(f"        {line}" for line in SETTINGS.splitlines()) in report(result, verbose=verbose)
    assert f"```toml\n{SETTINGS}\n```\n" in render(result, OutputFormat.markdown, RULES)
    assert "<pre>[tool.fixer.verify]\ndata = &#34;fixer-data&#34;</pre>" in render(result, OutputFormat.html, RULES)


def test_groups_of_one_run_do_not_repeat_what_it_said() -> None:
    other = replace(PRESERVED, group="B", touched=(FileCoverage("b.py", "not loaded"),))
    text = report(replace(RUN, evidence=(PRESERVED, other)))
    assert text.count("largest difference") == 1
    assert (
        "  preserved in part  (rung: same)  group B: AMP001\n    for the same reason\n    not executed  b.py: " in text
    )


def test_a_run_says_that_the_work_is_safe_and_how_to_undo_it() -> None:
    assert "Your files and your branch are unchanged; `git branch -D fixer/lightning-2.6.6` removes" in report(RUN)
    assert "`git restore FILE` undoes it" in report(FIX)
    assert "outside of a git repository" in report(replace(FIX, base=None))
    assert "removes the new branch" not in report(CHECK) and "restore" not in report(CHECK)


def test_words_are_explained_where_they_come_up() -> None:
    shown = {"rung": RUN, "manual": CHECK, "trust": replace(RUN, readiness=Readiness(True, "2.6.6"))}
    assert [word for word, result in shown.items() if f"explain {word}`" not in report(result)] == []
    assert "`fixer explain baseline`" in report(replace(CHECK, findings=many(51, "")))
    assert all(entry(word) for word in (*shown, "baseline", "group", "verdict", "inconclusive", "undo"))
