"""What stays the same of a finding while the code above it grows and shrinks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from codemods.finding import Finding


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """One for each finding, in their order: made of rule, row, file and message, and of how often that came before."""
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        key = "\0".join((finding.code, finding.row or "", finding.path, finding.message))
        seen[key] += 1
        found.append(hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "replace")).hexdigest()[:32])
    return found


def joined(marks: Iterable[str]) -> str:
    """One of several: another where a place comes or goes."""
    found = list(marks)
    return found[0] if len(found) == 1 else hashlib.sha256("\0".join(sorted(found)).encode()).hexdigest()[:32]
