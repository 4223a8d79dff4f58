"""The git note of each commit: what the proof says of it. That depends on the machine, so it is no part of it."""

from __future__ import annotations

from collections.abc import Mapping

from fixer.reports.evidence_list import note
from fixer.result import Result


def notes(result: Result) -> Mapping[str, str]:
    """The text for each commit whose group was proven, by the commit's id."""
    judged = {(item.group, code): item for item in result.evidence for code in item.codes}
    return {
        commit.id: "\n".join(note(commit, item)) + "\n"
        for commit in result.commits
        if (item := judged.get((commit.group, commit.code)))
    }
