"""The JSON report keeps its contract for any result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings

from fixer.reports import OutputFormat, render
from fixer.reports.json_report import each_place, schema
from fixer.result import Result, Skipped
from tests.fixer.reports.samples import CHECK, MANUAL, NEW, REPAIRED, RESULTS, RULES, RUN, SAFE, TRAINED
from verify.evidence import RequirementFit

VALIDATOR = jsonschema.Draft202012Validator(schema())


def report(result: Result) -> Any:
    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(render(result, OutputFormat.json, RULES), parse_constant=refuse)


def objects(node: Any) -> list[Any]:
    below = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return [node, *(found for child in below for found in objects(child))]


def test_the_schema_is_a_schema_that_names_and_describes_everything() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    fixed = [node for node in objects(schema()) if isinstance(node, dict) and node.get("additionalProperties") is False]
    assert len(fixed) == 21
    for node in fixed:
        assert sorted(node["required"]) == sorted(node["properties"])
        assert all("description" in field for field in node["properties"].values())


@settings(max_examples=50, deadline=None)
@given(RESULTS)
def test_any_result_is_one_object_that_the_schema_admits(result: Result) -> None:
    VALIDATOR.validate(report(result))


@pytest.mark.parametrize("path", ["findings/0/fix", "evidence/0/verdict", "command", "schema_version"])
def test_the_schema_refuses_other_words(path: str) -> None:
    loaded = report(RUN)
    *parents, last = path.split("/")
    node = loaded
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node[name]
    node[last] = "other"
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(loaded)


def test_the_fields_hold_what_the_result_holds() -> None:
    loaded = report(RUN)
    assert (loaded["command"], loaded["branch"], loaded["target"]) == ("run", "fixer/lightning-2.6.6", "2.6.6")
    finding = next(item for item in loaded["findings"] if item["applied"])
    assert (finding["code"], finding["row"], finding["path"]) == ("LIT101", "M017", "train.py")
    assert [finding[name] for name in ("line", "column", "end_line", "end_column")] == [31, 23, 31, 29]
    assert finding["applied"] and finding["id"] == loaded["commits"][0]["findings"][0]
    assert loaded["evidence"][0]["before"]["failure"]["place"] == "train.py:31"
    assert loaded["evidence"][0]["environments"][0]["packages"]["lightning"] == "1.9.5"
    assert loaded["evidence"][1]["after"]["weights"] == {"layer.weight": 1.5}


def test_one_cause_is_one_finding_and_each_place_keeps_what_is_said_of_it() -> None:
    others = (replace(SAFE, path="a.py", message="elsewhere", reason="why not"), replace(SAFE, path="z.py", row="M018"))
    loaded = report(replace(RUN, findings=(SAFE, *others, MANUAL)))
    assert [(item["code"], len(item["places"])) for item in loaded["findings"]] == [("TBP001", 1), ("LIT101", 3)]
    flat = each_place(loaded)
    assert sorted(item["id"] for item in flat) == sorted(item.id for item in (SAFE, *others, MANUAL))
    assert {(item["path"], item["row"], item["message"], item["reason"]) for item in flat if item["fix"] == "safe"} == {
        (item.path, item.row, item.message, item.reason) for item in (SAFE, *others)
    }


def test_numbers_that_json_cannot_hold_are_null() -> None:
    after = replace(TRAINED, losses=(float("nan"), 1.0, float("inf")), learning_rates=((float("-inf"),),))
    loaded = report(replace(RUN, evidence=(replace(REPAIRED, after=after, max_difference=float("nan")),)))
    assert loaded["evidence"][0]["after"]["losses"] == [None, 1.0, None]
    assert loaded["evidence"][0]["after"]["learning_rates"] == [[None]]
    assert loaded["evidence"][0]["max_difference"] is None


def test_check_applies_nothing() -> None:
    findings = tuple(replace(finding, applied=True) for finding in CHECK.findings)
    assert not any(finding["applied"] for finding in report(replace(CHECK, findings=findings))["findings"])


def test_a_path_that_is_no_unicode_does_not_break_the_report() -> None:
    skipped = (Skipped("caf\udce9.py", "its name is no UTF-8"),)
    assert report(replace(CHECK, skipped=skipped))["skipped"][0]["path"] == "caf?.py"


def test_the_page_names_every_field() -> None:
    page = Path(__file__).parents[3].joinpath("docs", "json-schema.md").read_text(encoding="utf-8")
    shapes = [schema(), *schema()["$defs"].values()]
    assert {name for shape in shapes for name in shape["properties"] if f"`{name}`" not in page} == set()


def test_how_an_environment_stands_to_what_the_branch_asks_for_is_in_it() -> None:
    asked = RequirementFit(("requirements.txt",), (("torch", "2.3.1", "2.13.0"),), ("tensorboard 2.20.0",), "no build")
    there = replace(NEW, asked=asked)
    told = report(replace(RUN, evidence=(replace(RUN.evidence[0], environments=(there,)),)))
    VALIDATOR.validate(told)
    found = told["evidence"][0]["environments"][0]["asked"]
    assert found["differs"] == [{"name": "torch", "asked": "2.3.1", "there": "2.13.0"}]
    assert found["said"].startswith("Ran with torch 2.13.0; the branch asks for torch 2.3.1 (no build)")
