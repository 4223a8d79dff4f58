"""JUnit XML: a failed test for each finding that stands, and a test for each proof.

The form is the one that pytest's own `--junit-xml` writes, which CI services read.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as xml

from fixer.reports import words
from fixer.reports.causes import Cause, causes
from fixer.reports.rule_text import Rules
from fixer.result import Result
from verify.evidence import Evidence, Outcome

_OUTCOMES: dict[Outcome, str | None] = {
    "repaired": None,
    "preserved": None,
    "repaired in part": None,
    "preserved in part": None,
    "not executed": "skipped",
    "changed": "failure",
    "inconclusive": "skipped",
    "regressed": "failure",
}

_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")


def render(result: Result, rules: Rules) -> str:
    """The result as one test suite. A repaired finding is a test that passes."""
    suite = xml.Element("testsuite", name=f"fixer {result.command}", time=f"{max(result.duration_s, 0):.3f}")
    for cause in causes(result.findings, rules):
        _cause(suite, cause, words.is_done(result, cause.first))
    for evidence in result.evidence:
        _proof(suite, evidence)
    if result.readiness is not None:
        case = xml.SubElement(suite, "testcase", classname="fixer", name="ready to merge")
        if not result.readiness.ready:
            places = "; ".join(f"{stop.place}: {stop.what}" for stop in result.readiness.stops)
            _outcome(case, "failure", result.readiness.headline, places)
    if result.error is not None:
        case = xml.SubElement(suite, "testcase", classname="fixer", name=result.command)
        _outcome(case, "error", result.error)
    for tag, count in (
        ("tests", "testcase"),
        ("failures", "*/failure"),
        ("skipped", "*/skipped"),
        ("errors", "*/error"),
    ):
        suite.set(tag, str(len(suite.findall(count))))
    root = xml.Element("testsuites")
    root.append(suite)
    xml.indent(root)
    return _NOT_XML.sub("\ufffd", xml.tostring(root, encoding="unicode", xml_declaration=False)) + "\n"


def _cause(suite: xml.Element, cause: Cause, done: bool) -> None:
    finding = cause.first
    place = words.place(finding)
    case = xml.SubElement(
        suite,
        "testcase",
        classname=words.plain(finding.path),
        name=f"{finding.code} {place}",
        file=words.plain(finding.path),
    )
    if not done:
        more = "; ".join([f"{finding.fix}: {finding.reason}", *words.further(cause)])
        _outcome(case, "failure", f"{place}: {finding.message}", more)


def _proof(suite: xml.Element, evidence: Evidence) -> None:
    case = xml.SubElement(suite, "testcase", classname="fixer.proof", name=words.one_line(evidence.group))
    outcome = _OUTCOMES[evidence.outcome]
    if outcome:
        _outcome(case, outcome, f"{evidence.outcome}: {evidence.reason}")


def _outcome(case: xml.Element, kind: str, message: str, more: str = "") -> None:
    xml.SubElement(case, kind, message=words.one_line(message)).text = words.one_line(more or message)
