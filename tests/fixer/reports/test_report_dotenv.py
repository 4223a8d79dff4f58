"""Key and value lines: one a value, whatever stands in it."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings

from fixer.reports import OutputFormat, render
from fixer.result import Result
from tests.fixer.reports.samples import RESULTS, RULES, RUN

KEYS = ["branch", "pull_request", "base", "target", "findings", "repaired", "left", "files", "commits"]
KEYS += ["verdicts", "ready", "error"]


def test_the_values_of_a_run() -> None:
    told = replace(RUN, pull_request="https://github.com/a/b/pull/1", error="one\ntwo=3\rfour")
    values = dict(line.split("=", 1) for line in render(told, OutputFormat.dotenv, RULES).splitlines())
    assert (values["branch"], values["pull_request"]) == (RUN.branch, "https://github.com/a/b/pull/1")
    assert int(values["findings"]) == int(values["repaired"]) + int(values["left"]) == len(RUN.findings)
    assert values["verdicts"].split(",") == list(dict.fromkeys(item.verdict for item in RUN.evidence))
    assert values["error"] == "one two=3 four"


@settings(max_examples=33, deadline=None)
@given(RESULTS)
def test_any_result_has_the_same_keys_and_nothing_else(result: Result) -> None:
    text = render(result, OutputFormat.dotenv, RULES)
    assert [line.partition("=")[0] for line in text.split("\n")[:-1]] == KEYS
    assert not re.search(r"[\r\x85\u2028\u2029]", text)
