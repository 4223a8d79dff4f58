"""A plan of what a person took, with what is said of that."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from codemods.code.source import Source
from codemods.engine.offers import OfferedChanges
from codemods.engine.plan import Change, Plan
from codemods.engine.scan import Options, Progress
from codemods.engine.scan_cache import Memory
from fixer.choosing.session import Talk, choose
from fixer.choosing.settings_edit import LeftOut, with_settings
from fixer.errors import UsageError
from fixer.in_force import NAME
from fixer.project import Project
from fixer.reports.words import count

SETTING = "[tool.fixer]"
"""Stands for the code of a rule where settings are changed."""


def taken(
    project: Project,
    sources: Sequence[Source],
    options: Options,
    memory: Memory,
    talk: Talk,
    progress: Progress | None = None,
) -> tuple[Plan, tuple[str, ...]]:
    """Asks about all changes, unsafe ones too. What is to be left out for good is a change of pyproject.toml."""
    talk.tell(f"looking for changes in {project.root}")
    before = next((source.data for source in sources if source.path == NAME), None)

    def problem_of(settings: Sequence[LeftOut]) -> str | None:
        if before is None and os.path.lexists(project.root / NAME):
            return f"{NAME} is not read here; edit it yourself"
        try:
            with_settings(before or b"", settings)
        except UsageError as error:
            return str(error)
        return None

    every = OfferedChanges(sources, replace(options, unsafe=True), progress, memory)
    chosen = choose(every, talk, unsafe=bool(options.unsafe), problem_of=problem_of)
    made, said = chosen.plan, []
    if chosen.taken + chosen.left:
        said.append(f"you took {count(chosen.taken, 'change')} and left {chosen.left}")
    if chosen.lost:
        said.append(
            f"{count(chosen.lost, 'place')} that you took stay as they are: they cannot be told from one that you left"
        )
    if chosen.left_out:
        now = made.final().get(NAME, before or b"")
        after = with_settings(now, chosen.left_out)
        made = replace(made, changes=(*made.changes, Change(SETTING, NAME, now, after)))
        said += [f"{NAME} now says {setting.words()}" for setting in chosen.left_out]
    return made, tuple(said)
