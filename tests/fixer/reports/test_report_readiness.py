"""Whether the branch runs on the target, as each report says it."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as xml

import pytest

from fixer.readiness import Readiness
from fixer.reports import OutputFormat, render
from fixer.reports.words import next_commands
from tests.fixer.reports.samples import BRANCH, NOT_READY, RULES, RUN, STOP

READY = replace(RUN, readiness=Readiness(True, "2.6.6"))
UNSEEN = replace(RUN, readiness=Readiness(True, "2.6.6", caveat="nothing was run"))


def test_to_merge_is_offered_only_where_nothing_stops() -> None:
    assert f"git merge {BRANCH}" in next_commands(READY)
    assert f"git merge {BRANCH}" not in next_commands(NOT_READY)
    for format in OutputFormat:
        assert "git merge" not in render(NOT_READY, format, RULES)


@pytest.mark.parametrize(
    ("format", "place"),
    [
        (OutputFormat.text, "src/model.py:41 TBP001"),
        (OutputFormat.markdown, "`src/model.py:41` TBP001"),
        (OutputFormat.html, '<code>src/model.py:41</code> <a href="#rule-TBP001">TBP001</a>'),
        (OutputFormat.github, "src/model.py:41: `training_step`"),
        (OutputFormat.junit, "src/model.py:41: `training_step`"),
    ],
)
def test_the_uses_that_stop_it_are_a_list(format: OutputFormat, place: str) -> None:
    told = render(NOT_READY, format, RULES)
    assert "Not ready to merge: 1 place fails on Lightning 2.6.6" in told and place in told
    assert "Not ready" not in render(READY, format, RULES)


def test_what_to_do_stands_with_each() -> None:
    after = render(NOT_READY, OutputFormat.text, RULES).partition("Not ready")[2]
    assert STOP.todo in after
    assert after.rstrip().endswith("not ready: 1 place fails.")


def test_an_answer_that_was_not_seen_says_so() -> None:
    told = render(UNSEEN, OutputFormat.text, RULES)
    assert "Ready to merge, as far as fixer knows: nothing was run\n" in told
    assert "Ready to merge\n" in render(READY, OutputFormat.text, RULES)


def test_in_a_notebook_the_cell_is_named() -> None:
    stop = replace(STOP, path="a.ipynb", cell=2)
    told = render(replace(RUN, readiness=Readiness(False, "2.6.6", (stop,))), OutputFormat.text, RULES)
    assert "\n  a.ipynb:cell 3:41 TBP001 " in told


def test_machines_are_told_too() -> None:
    document = json.loads(render(NOT_READY, OutputFormat.json, RULES))["readiness"]
    assert not document["ready"] and document["caveat"] == ""
    assert document["stops"] == [
        {"path": "src/model.py", "line": 41, "what": STOP.what, "todo": STOP.todo, "code": "TBP001", "cell": None}
    ]
    assert json.loads(render(RUN, OutputFormat.json, RULES))["readiness"] is None
    for result, word in ((NOT_READY, "false"), (READY, "true"), (RUN, "")):
        assert f"\nready={word}\n" in render(result, OutputFormat.dotenv, RULES)
    case = xml.fromstring(render(NOT_READY, OutputFormat.junit, RULES)).find(".//testcase[@name='ready to merge']")
    assert case is not None and case.find("failure") is not None
