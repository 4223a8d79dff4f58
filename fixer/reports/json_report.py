"""The JSON report: one object, described by `schema.json` beside this module."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from codemods.finding import Finding
from fixer import __version__
from fixer.readiness import Readiness
from fixer.reports.causes import Cause, causes
from fixer.reports.evidence_list import lines, outcome_of
from fixer.reports.rule_text import Rules
from fixer.result import Result
from verify.environments.as_asked import said
from verify.evidence import Alone, Environment, Evidence, Recording, RequirementFit

SCHEMA_VERSION = 3

Json = dict[str, Any]


def render(result: Result, rules: Rules) -> str:
    """The result as one JSON object. A number that JSON cannot hold (NaN, infinities) is null."""
    return json.dumps(document(result, rules), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def schema() -> Json:
    """The JSON Schema of the report."""
    from importlib import resources

    text = resources.files("fixer.reports").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: Json = json.loads(text)
    return loaded


def document(result: Result, rules: Rules) -> Json:
    """The report as plain dicts and lists."""
    return {
        "schema_version": SCHEMA_VERSION,
        "fixer_version": __version__,
        "command": result.command,
        "project": result.project,
        "base": result.base,
        "target": result.target,
        "branch": result.branch,
        "pull_request": result.pull_request,
        "findings": [_finding(cause, result.command != "check") for cause in causes(result.findings, rules)],
        "files": [asdict(file) for file in result.files],
        "commits": [
            {
                "id": commit.id,
                "code": commit.code,
                "group": commit.group,
                "findings": list(commit.findings),
                "subject": commit.subject,
                "verdict": outcome_of(result, commit),
            }
            for commit in result.commits
        ],
        "readiness": _readiness(result.readiness),
        "evidence": [_evidence(evidence) for evidence in result.evidence],
        "skipped": [asdict(skipped) for skipped in result.skipped],
        "messages": list(result.messages),
        "error": result.error,
        "duration_s": _number(result.duration_s),
    }


def each_place(report: Mapping[str, Any]) -> list[Json]:
    """The findings of a report, one for each place."""
    return [{**finding, **place} for finding in report["findings"] for place in finding["places"]]


def _finding(cause: Cause, changes: bool) -> Json:
    first = _place(cause.first, changes)
    places = [_place(place, changes) for place in cause.places]
    return {"code": cause.first.code, "fix": cause.first.fix, "effect": cause.effect, **first, "places": places}


def _place(finding: Finding, changes: bool) -> Json:
    span = finding.span
    return {
        "id": finding.id,
        "row": finding.row,
        "path": finding.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": finding.message,
        "reason": finding.reason,
        "applied": finding.applied and changes,
        "cell": finding.cell,
        "stops": finding.stops,
    }


def _readiness(answer: Readiness | None) -> Json | None:
    if answer is None:
        return None
    return {
        "ready": answer.ready,
        "headline": answer.headline,
        "caveat": answer.caveat,
        "stops": [asdict(stop) for stop in answer.stops],
    }


def _evidence(evidence: Evidence) -> Json:
    return {
        "group": evidence.group,
        "codes": list(evidence.codes),
        "rung": evidence.rung,
        "verdict": evidence.outcome,
        "reason": evidence.reason,
        "facts": [{"kind": line.label, "text": line.text, "paste": line.paste} for line in lines(evidence)],
        "environments": [_environment(environment) for environment in evidence.environments],
        "before": _recording(evidence.before),
        "after": _recording(evidence.after),
        "max_difference": _number(evidence.max_difference),
        "tolerance": _number(evidence.tolerance),
        "furthest": evidence.furthest,
        "files": [asdict(file) for file in evidence.touched],
        "commits": [
            {"code": share.code, "verdict": share.outcome, "files": [asdict(file) for file in share.files]}
            for share in evidence.shares
        ],
        "problems": list(evidence.problems),
        "left": list(evidence.left),
        "alone": [_alone(module) for module in evidence.alone],
    }


def _alone(module: Alone) -> Json:
    return {
        "module": module.module,
        "arguments": module.arguments,
        "batch": module.batch,
        "notes": list(module.notes),
        "trainer": module.trainer,
        "verdict": module.verdict,
        "rung": module.rung,
        "reason": module.reason,
        "max_difference": _number(module.max_difference),
        "tolerance": _number(module.tolerance),
        "furthest": module.furthest,
        "facts": [asdict(fact) for fact in module.facts],
        "before": _recording(module.before),
        "after": _recording(module.after),
    }


def _environment(environment: Environment) -> Json:
    return {
        "role": environment.role,
        "python": environment.python,
        "packages": dict(environment.packages),
        "reason": environment.reason,
        "manifests": list(environment.manifests),
        "asked": _asked(environment.asked),
    }


def _asked(asked: RequirementFit | None) -> Json | None:
    if asked is None:
        return None
    differs = [{"name": name, "asked": wanted, "there": there} for name, wanted, there in asked.differs]
    rest = {"added": list(asked.added), "why": asked.why, "excluded": asked.excluded, "said": said(asked)}
    return {"files": list(asked.files), "differs": differs, **rest}


def _recording(recording: Recording | None) -> Json | None:
    if recording is None:
        return None
    return {
        "script": recording.script,
        "fitted": recording.fitted,
        "failure": asdict(recording.failure) if recording.failure else None,
        "losses": _numbers(recording.losses),
        "metrics": {name: _number(value) for name, value in recording.metrics},
        "learning_rates": [_numbers(rates) for rates in recording.learning_rates],
        "optimizer_steps": recording.optimizer_steps,
        "global_step": recording.global_step,
        "epochs": recording.epochs,
        "unreached": list(recording.unreached),
        "weights": {name: _number(value) for name, value in recording.weights},
        "device": recording.device,
        "devices": recording.devices,
        "precision": recording.precision,
        "seconds": _number(recording.seconds),
        "gradients": [asdict(gradient) for gradient in recording.gradients],
        "lost": [asdict(lost) for lost in recording.lost],
        "logged": {name: _numbers(values) for name, values in recording.logged},
        "gradient_norms": _numbers(recording.gradient_norms),
        "graphs": [list(graph) for graph in recording.graphs],
        "autocast": recording.autocast,
        "schedulers": [
            {"name": item.name, "steps": item.steps, "rates": _numbers(item.rates), "best": _number(item.best)}
            for item in recording.schedulers
        ],
        "planned": dict(recording.planned),
        "unheld": list(recording.unheld),
        "digest": recording.digest,
        "peak_memory": recording.peak_memory,
        "step_seconds": _number(recording.step_seconds),
        "warnings": list(recording.warnings),
        "output": recording.output,
    }


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_number(value) for value in values]
