"""The reports that CI services read: GitLab's code quality and JUnit XML."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as xml

import jsonschema  # type: ignore[import-untyped]
from hypothesis import given, settings

from fixer.reports import OutputFormat, render
from fixer.result import Result
from tests.fixer.reports.samples import BROKEN, CHECK, MANUAL, RESULTS, RULES, RUN, SAFE, UNSAFE
from verify.evidence import Verdict

CODE_QUALITY = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "location", "severity"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string"},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
VALIDATOR = jsonschema.Draft202012Validator(CODE_QUALITY)


def quality(result: Result) -> Any:
    return json.loads(render(result, OutputFormat.gitlab, RULES))


def suite(result: Result) -> xml.Element:
    found = xml.fromstring(render(result, OutputFormat.junit, RULES)).find("testsuite")
    assert found is not None
    return found


def test_code_quality_has_what_stands() -> None:
    entries = quality(RUN)
    assert [entry["location"]["path"] for entry in entries] == ["src/cli.py", "src/model.py"]
    assert [entry["severity"] for entry in entries] == ["minor", "major"]
    assert len(quality(CHECK)) == 3


def test_code_quality_tells_two_findings_of_one_kind_apart() -> None:
    twice = (UNSAFE, replace(UNSAFE, span=replace(UNSAFE.span, line=30)))
    assert len({entry["fingerprint"] for entry in quality(replace(CHECK, findings=twice))}) == 2
    moved = replace(UNSAFE, span=replace(UNSAFE.span, line=99))
    assert (
        quality(replace(CHECK, findings=(UNSAFE,)))[0]["fingerprint"]
        == (quality(replace(CHECK, findings=(moved,)))[0]["fingerprint"])
    )


def test_code_quality_points_at_a_notebook_as_a_whole() -> None:
    (entry,) = quality(replace(CHECK, findings=(replace(MANUAL, path="a.ipynb", cell=2),)))
    assert entry["location"] == {"path": "a.ipynb", "lines": {"begin": 1}}
    assert entry["description"].startswith("cell 3, line 40: ")


def test_junit_fails_for_what_stands_and_passes_for_what_is_repaired() -> None:
    found = suite(RUN)
    outcome = {str(case.get("name")): [child.tag for child in case] for case in found}
    assert outcome["LIT101 train.py:31:23"] == []
    assert outcome["TBP001 src/model.py:40:9"] == ["failure"]
    assert outcome["lightning-2.6.6"] == [] and outcome["AMP001"] == []
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == ("5", "2", "0")


def test_junit_tells_the_verdicts_apart() -> None:
    outcomes: dict[Verdict, list[str]] = {"regressed": ["failure"], "inconclusive": ["skipped"], "preserved": []}
    for verdict, tags in outcomes.items():
        evidence = replace(RUN.evidence[0], verdict=verdict)
        case = suite(replace(RUN, findings=(SAFE,), evidence=(evidence,))).findall("testcase")[-1]
        assert [child.tag for child in case] == tags


def test_junit_has_the_error_of_a_command() -> None:
    found = suite(BROKEN)
    assert found.get("errors") == "1"
    error = found.find("testcase/error")
    assert error is not None and error.get("message") == BROKEN.error


def test_junit_holds_no_character_that_xml_forbids() -> None:
    error = suite(replace(BROKEN, error="a\ufffe\ud800\x00b")).find("testcase/error")
    assert error is not None and error.get("message") == "a\ufffd\ufffd\\x00b"


@settings(max_examples=25, deadline=None)
@given(RESULTS)
def test_every_result_fits_the_formats(result: Result) -> None:
    VALIDATOR.validate(quality(result))
    assert int(str(suite(result).get("tests"))) == len(suite(result).findall("testcase"))
