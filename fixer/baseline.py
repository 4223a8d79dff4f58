"""Findings that a project knows of and lives with for now: a file of their fingerprints."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from fixer.errors import UsageError
from fixer.reports.fingerprint import fingerprints
from fixer.reports.words import count
from fixer.result import Result

FORM = 1


def write(result: Result, path: Path) -> str:
    """Writes all findings as known, and returns what was done. One line a finding, sorted, to be fit for review."""
    named = zip(fingerprints(result.findings), result.findings, strict=True)
    known = {mark: f"{finding.code} {finding.path}: {finding.message}" for mark, finding in named}
    ordered = dict(sorted(known.items(), key=lambda item: (item[1], item[0])))
    path.write_text(json.dumps({"form": FORM, "findings": ordered}, indent=1) + "\n", encoding="utf-8")
    return f"{path}: {count(len(known), 'place')} written; `fixer check --baseline {path}` reports only new ones"


def without_known(result: Result, path: Path) -> Result:
    """The result less its known findings, with what to know of them. Raises UsageError for an unfit file."""
    known = _read(path)
    marks = fingerprints(result.findings)
    new = tuple(item for item, mark in zip(result.findings, marks, strict=True) if mark not in known)
    told = [f"{count(len(result.findings) - len(new), 'known place')} in {path} left out"]
    gone = known - set(marks)
    if gone:
        told.append(f"{path} names {count(len(gone), 'place')} where nothing is found any more: write the file again")
    return replace(result, findings=new, messages=(*result.messages, *told))


def _read(path: Path) -> set[str]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["form"] != FORM:
            raise ValueError(f"form {document['form']}")
        return set(document["findings"])
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; make it with `fixer check --write-baseline {path}`") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path}: no baseline of this fixer ({error}); make it again with `fixer check --write-baseline {path}`"
        ) from None
