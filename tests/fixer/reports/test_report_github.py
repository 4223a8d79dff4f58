"""Workflow commands: one a line, and nothing in a message can begin another."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings

from fixer.reports import OutputFormat, render, words
from fixer.reports.causes import causes
from fixer.result import Result
from tests.fixer.reports.samples import BROKEN, CHECK, HOSTILE, MANUAL, RESULTS, RULES, RUN, SAFE

COMMAND = re.compile(r"::(error|warning|notice) ([^:\r\n]*)::([^\r\n]*)")


def report(result: Result) -> str:
    return render(result, OutputFormat.github, RULES)


def test_a_finding_is_a_warning_at_its_place() -> None:
    lines = report(CHECK).splitlines()
    assert lines[-1] == (
        "::warning file=train.py,line=31,endLine=31,col=23,endColumn=29,title=LIT101 trainer-gpus::"
        "`gpus` was removed from Trainer in 2.0%0Asafe: the same devices"
    )


def test_columns_are_left_out_where_lines_differ() -> None:
    line = report(replace(CHECK, findings=(MANUAL,)))
    assert line.startswith("::warning file=src/model.py,line=40,endLine=52,title=TBP001 truncated-bptt::")


def test_what_is_repaired_is_a_notice_after_the_rest() -> None:
    lines = [line for line in report(RUN).splitlines() if "file=" in line and "not read" not in line]
    assert [line.split(" ", 1)[0] for line in lines] == ["::warning", "::warning", "::notice"]
    assert "safe, applied: the same devices" in lines[-1]


def test_an_error_is_one_and_so_is_a_regression() -> None:
    assert report(BROKEN) == "::error title=fixer::no repository here: run fixer inside a git repository\n"
    regressed = replace(RUN, evidence=(replace(RUN.evidence[0], verdict="regressed", reason="it fails"),))
    assert "::error title=lightning-2.6.6%3A regressed::it fails\n" in report(regressed)


def test_a_notebook_is_annotated_without_lines() -> None:
    line = report(replace(CHECK, findings=(replace(SAFE, path="a.ipynb", cell=2),)))
    assert line.startswith("::warning file=a.ipynb,title=LIT101 trainer-gpus::cell 3, line 31: ")


def test_text_and_properties_are_escaped() -> None:
    finding = replace(SAFE, path="a,b:c%d.py", message="100%\r\n::error::x", reason="")
    line = report(replace(CHECK, findings=(finding,)))
    assert line.startswith("::warning file=a%2Cb%3Ac%25d.py,line=31")
    assert line.endswith("::100%25%0D%0A::error::x%0Asafe\n")


def test_a_rule_that_is_not_known_has_its_code_as_title() -> None:
    assert "title=XYZ001::" in report(replace(CHECK, findings=(replace(SAFE, code="XYZ001"),)))


def test_one_cause_is_one_annotation_with_its_further_places() -> None:
    other = replace(SAFE, path="b.py", message="`gpus` is read here", reason="as well")
    lines = report(replace(CHECK, findings=(other, SAFE, replace(SAFE, path="z.py")))).splitlines()
    assert len(lines) == 1 and lines[0].startswith("::warning file=b.py,line=31")
    assert (
        "%0Aalso at train.py:31:23: `gpus` was removed from Trainer in 2.0 (the same devices)%0Aalso at z.py:31:23"
        in lines[0]
    )


@settings(max_examples=33, deadline=None)
@given(RESULTS)
def test_every_line_is_one_command(result: Result) -> None:
    hostile = replace(result, messages=(*result.messages, HOSTILE), error=HOSTILE)
    lines = report(hostile).split("\n")
    assert lines.pop() == ""
    done = [item for item in result.findings if words.is_done(result, item)]
    count = len(causes(done, {})) + len(causes((item for item in result.findings if item not in done), {}))
    count += len(result.evidence) + len(result.skipped) + len(hostile.messages) + 1
    count += result.readiness is not None
    assert len(lines) == count
    assert all(COMMAND.fullmatch(line) for line in lines)
