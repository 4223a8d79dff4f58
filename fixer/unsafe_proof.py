"""`run --prove-unsafe`: changes that are only probably right, kept where the proof finds them right on this project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from fixer.project import Project
from fixer.proof import Progress, ProofOptions, prove_plan
from verify.evidence import Evidence

SHOWN = ("preserved", "repaired")
"""What the proof of a commit has to say for its changes to be kept: the same numbers as before, or a training that
works now and did not before."""
RUNS = ("trains", "same")


def prove_unsafe(
    project: Project, sources: Sequence[Source], options: Options, how: ProofOptions, progress: Progress
) -> tuple[Options, Plan, tuple[Evidence, ...]]:
    """The plan with those unsafe changes that the proof shows to be right here, the options that it was made by, and
    its evidence. What is not shown is taken back by whole codes, and the rest is proven anew. Raises Interrupted."""
    unsafe: bool | frozenset[str] = True
    why: dict[str, str] = {}
    while True:
        options = replace(options, unsafe=unsafe)
        planned = plan(sources, options)
        tried = frozenset(_codes(planned))
        made, evidence = (
            prove_plan(project, sources, options, planned, how, progress) if planned.changes else (planned, ())
        )
        said = dict(_said(evidence))
        shown = frozenset(code for code in tried if said.get(code) == "")
        if shown == tried:
            return replace(options, unsafe=tried), _with_reasons(made, why), evidence
        why |= {code: said.get(code, "nothing of it was proven") for code in tried - shown}
        unsafe = shown
        rest = f"the rest is proven without {', '.join(sorted(tried - shown))}"
        progress(f"the proof does not show that all unsafe changes are right here; {rest}")


def _codes(made: Plan) -> Iterator[str]:
    """The codes of unsafe changes that a plan makes."""
    return (finding.code for finding in made.findings if finding.applied and finding.fix == "unsafe")


def _said(evidence: Sequence[Evidence]) -> Iterator[tuple[str, str]]:
    """Of each code that was proven, why that does not show it to be right; "" where it does."""
    for item in evidence:
        outcomes: Mapping[str, str] = {share.code: share.outcome for share in item.shares}
        for code in item.codes:
            outcome = outcomes.get(code, item.verdict)
            if outcome in SHOWN and item.rung in RUNS:
                yield code, ""
            elif outcome == "not executed" or outcome.endswith(" in part"):
                yield code, "no run executed all of it"
            else:
                yield code, f"{outcome}: {item.reason}"


def _with_reasons(made: Plan, why: Mapping[str, str]) -> Plan:
    """The plan whose findings say why the unsafe changes that were tried were not kept."""
    findings = tuple(
        replace(
            finding,
            reason=f"{finding.reason.rstrip('.')}. Tried and undone, as the "
            f"proof does not show that it is right: {told}.",
        )
        if not finding.applied and finding.fix == "unsafe" and (told := why.get(finding.code, "").rstrip("."))
        else finding
        for finding in made.findings
    )
    return replace(made, findings=findings)
