"""The SARIF log: the parts of the 2.1.0 schema that are used, and what code scanning asks for besides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import jsonschema  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from fixer.reports import OutputFormat, render
from fixer.reports.causes import causes
from fixer.reports.diff import unified
from fixer.reports.replacements import replacements
from fixer.result import FileDiff, Result
from tests.fixer.reports.samples import BROKEN, CHECK, MANUAL, RESULTS, RULES, RUN, SAFE, many

ENDS = ("start", "end")


def fixed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TEXT = {"type": "string"}
MESSAGE = fixed(["text"], text=TEXT)
MULTIFORMAT = fixed(["text"], text=TEXT, markdown=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
BAG = {"type": "object"}
LINE = {"type": "integer", "minimum": 1}
ARTIFACT = fixed(["uri"], uri={**TEXT, "pattern": r"^[A-Za-z0-9_.~/%-]*$"}, uriBaseId={"const": "SRCROOT"})
REGION = fixed(["startLine"], startLine=LINE, startColumn=LINE, endLine=LINE, endColumn=LINE)
LOCATION = fixed(
    ["physicalLocation"], physicalLocation=fixed(["artifactLocation"], artifactLocation=ARTIFACT, region=REGION)
)
RELATED = fixed(
    ["physicalLocation", "message"],
    physicalLocation=fixed(["artifactLocation"], artifactLocation=ARTIFACT, region=REGION),
    message=MESSAGE,
)
RULE = fixed(
    ["id"],
    id=TEXT,
    name=TEXT,
    shortDescription=MULTIFORMAT,
    fullDescription=MULTIFORMAT,
    help=MULTIFORMAT,
    helpUri={**TEXT, "pattern": "^https?://"},
    defaultConfiguration=fixed([], level=LEVEL),
    properties=BAG,
)
CHANGE = fixed(
    ["artifactLocation", "replacements"],
    artifactLocation=ARTIFACT,
    replacements={
        "type": "array",
        "minItems": 1,
        "items": fixed(["deletedRegion"], deletedRegion=REGION, insertedContent=fixed([], text=TEXT)),
    },
)
FIX = fixed(["artifactChanges"], description=MESSAGE, artifactChanges={"type": "array", "minItems": 1, "items": CHANGE})
RESULT = fixed(
    ["message", "ruleId", "ruleIndex", "locations", "partialFingerprints"],
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION, "minItems": 1},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    properties=BAG,
    relatedLocations={"type": "array", "minItems": 1, "items": RELATED},
    fixes={"type": "array", "minItems": 1, "items": FIX},
)
NOTIFICATION = fixed(["message"], message=MESSAGE, level=LEVEL, locations={"type": "array", "items": LOCATION})
INVOCATION = fixed(
    ["executionSuccessful"],
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications={"type": "array", "items": NOTIFICATION},
)
DRIVER = fixed(
    ["name"],
    name=TEXT,
    version=TEXT,
    semanticVersion=TEXT,
    rules={"type": "array", "uniqueItems": True, "items": RULE},
)
LOG = fixed(
    ["version", "runs"],
    **{"$schema": TEXT},
    version={"const": "2.1.0"},
    runs={
        "type": "array",
        "items": fixed(
            ["tool", "results"],
            tool=fixed(["driver"], driver=DRIVER),
            invocations={"type": "array", "items": INVOCATION},
            originalUriBaseIds={"type": "object"},
            columnKind={"const": "unicodeCodePoints"},
            results={"type": "array", "items": RESULT},
            properties=BAG,
        ),
    },
)
VALIDATOR = jsonschema.Draft202012Validator(LOG)


def run_of(result: Result) -> Any:
    loaded = json.loads(render(result, OutputFormat.sarif, RULES))
    VALIDATOR.validate(loaded)
    (run,) = loaded["runs"]
    return run


@settings(max_examples=33, deadline=None)
@given(RESULTS)
def test_any_result_is_a_log(result: Result) -> None:
    run = run_of(result)
    rules = run["tool"]["driver"]["rules"]
    found = causes(result.findings, RULES)
    assert [rules[item["ruleIndex"]]["id"] for item in run["results"]] == [cause.first.code for cause in found]
    assert sum(1 + len(item.get("relatedLocations", ())) for item in run["results"]) == len(result.findings)
    prints = [item["partialFingerprints"]["fixerFinding/v2"] for item in run["results"]]
    assert len(set(prints)) == len(prints)


def test_a_result_names_rule_level_and_region() -> None:
    first = run_of(CHECK)["results"][-1]
    assert (first["ruleId"], first["level"]) == ("LIT101", "warning")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "train.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 31, "startColumn": 23, "endLine": 31, "endColumn": 29}


LINES = st.lists(st.sampled_from(["a", "b = 'ü'", "\tc\r", "", "-", "@@ -1 +1 @@", "\\ No newline"]), max_size=8)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


def split(text: str) -> list[str]:
    return [*re.findall(r"[^\n]*\n|[^\n]+", text), ""]


@given(TEXTS, TEXTS)
def test_a_fix_makes_of_the_old_file_the_new_one(before: str, after: str) -> None:
    lines = split(before)
    for made in reversed(replacements(unified("a.py", before, after))):
        place = made["deletedRegion"]
        start, end = (sum(map(len, lines[: place[f"{at}Line"] - 1])) + place[f"{at}Column"] - 1 for at in ENDS)
        text = "".join(lines)
        lines = split(text[:start] + made["insertedContent"]["text"] + text[end:])
    assert "".join(lines) == after


def test_what_a_commit_repairs_carries_its_fix() -> None:
    *others, first = run_of(RUN)["results"]
    (change,) = first["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "train.py"
    assert [made["insertedContent"]["text"] for made in change["replacements"]] == ["trainer = Trainer(devices=1)\n"]
    assert not any("fixes" in item for item in others)
    for result in (CHECK, replace(RUN, command="fix")):
        assert not any("fixes" in item for item in run_of(result)["results"])


def test_a_fix_that_cannot_be_said_is_left_out() -> None:
    for before, after in (("x = '\udce9'\n", "y = '\udce9'\n"), ("\ufeffx\n", "\ufeffy\n")):
        run = run_of(replace(RUN, files=(FileDiff("train.py", unified("train.py", before, after)),)))
        assert not any("fixes" in item for item in run["results"])


def test_a_malicious_release_is_an_error_until_it_is_excluded() -> None:
    grave = replace(SAFE, code="PIN001", message="`lightning` allows 2.6.2 and 2.6.3: malicious")
    levels = [
        run_of(replace(result, findings=(replace(grave, applied=applied),)))["results"][0]["level"]
        for result, applied in ((CHECK, False), (CHECK, True), (RUN, True))
    ]
    assert levels == ["error", "error", "note"]


def test_what_is_repaired_is_a_note_and_what_stands_a_warning() -> None:
    assert [item["level"] for item in run_of(RUN)["results"]] == ["warning", "warning", "note"]


def test_rules_carry_their_words() -> None:
    rule = run_of(CHECK)["tool"]["driver"]["rules"][1]
    assert (rule["id"], rule["name"]) == ("TBP001", "truncated-bptt")
    assert rule["shortDescription"]["text"] == "truncated backpropagation is written by hand"
    assert "truncated_bptt_steps" in rule["help"]["markdown"]


def test_paths_are_percent_encoded() -> None:
    path = "a b/ü:%#?.py"
    place = run_of(replace(CHECK, findings=(replace(SAFE, path=path),)))["results"][0]["locations"][0]
    uri = place["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%20b/%C3%BC%3A%25%23%3F.py"
    assert unquote(uri) == path


def test_fingerprints_survive_lines_that_move_and_tell_twins_apart() -> None:
    def prints(*lines: int) -> list[str]:
        spans = [replace(MANUAL.span, line=line, end_line=line + 1) for line in lines]
        findings = tuple(replace(MANUAL, span=span) for span in spans)
        results = run_of(replace(CHECK, findings=findings))["results"]
        return [item["partialFingerprints"]["fixerFinding/v2"] for item in results]

    assert prints(10, 20) == prints(14, 27)
    assert len({*prints(10), *prints(10, 20), *prints(10, 20, 30)}) == 3


def test_a_notebook_has_no_region() -> None:
    result = run_of(replace(CHECK, findings=(replace(SAFE, path="a.ipynb", cell=0),)))["results"][0]
    assert "region" not in result["locations"][0]["physicalLocation"]
    assert result["message"]["text"].startswith("Cell 1, line 31: ")


def test_errors_and_skipped_files_are_notifications() -> None:
    failed = run_of(BROKEN)["invocations"][0]
    assert failed["executionSuccessful"] is False
    assert failed["toolExecutionNotifications"][0]["level"] == "error"
    told = run_of(RUN)["invocations"][0]
    assert told["executionSuccessful"] is True
    (skipped,) = [item for item in told["toolExecutionNotifications"] if "locations" in item]
    assert skipped["message"]["text"] == "Not read: larger than 1 MB"


def test_three_hundred_places_of_one_cause_are_one_result() -> None:
    run = run_of(replace(CHECK, findings=many(300)))
    assert (len(run["results"]), len(run["tool"]["driver"]["rules"])) == (1, 1)
    assert len(run["results"][0]["relatedLocations"]) == 299
