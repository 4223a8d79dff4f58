"""Running rules on texts, as the tests do it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from pathlib import Path

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rule import Rule, all_rules
from codemods.testing.neutrality import Fired, fired
from codemods.testing.texts import cell as cell
from codemods.testing.texts import notebook as notebook
from codemods.testing.texts import sources as sources

LONGEST = 25_000
"""In bytes: LibCST takes seconds for a file that is longer."""


def of_standard_library(*folders: str) -> list[Path]:
    """The files of some folders of Python's own modules, but for a few that are long."""
    own = Path(ast.__file__).parent
    found = (path for folder in folders for path in (own / folder).glob("*.py"))
    return sorted(path for path in found if path.stat().st_size < LONGEST)


@functools.cache
def fired_examples() -> tuple[Fired, ...]:
    """The examples in Python in which their rule finds something, of all rules."""
    return tuple(fired())


def run_rules(
    files: Mapping[str, str | bytes], *rules: Rule, jobs: int = 1, unsafe: bool = False, pins: tuple[str, ...] = ()
) -> Plan:
    """The plan of these rules (all where none is given) over the files, with unsafe repairs if asked for."""
    made = plan(sources(files), Options(rules or all_rules(), jobs=jobs, unsafe=unsafe, pins=pins))
    assert not [why for _, why in made.skipped if "please report it" in why]
    return made


def rule(code: str) -> Rule:
    """The rule of that code."""
    return next(item for item in all_rules() if item.code == code)


def rewritten(files: Mapping[str, str], *rules: Rule, unsafe: bool = False) -> dict[str, str]:
    """The text of every file after the rules, which must not have been thrown away."""
    made = run_rules(files, *rules, unsafe=unsafe)
    assert made.bugs == ()
    final = made.final()
    return {path: final[path].decode() if path in final else text for path, text in files.items()}


def refusals(files: Mapping[str, str], code: str, unsafe: bool = False) -> list[str]:
    """The reasons for which a rule left the files alone; it must have changed nothing."""
    made = run_rules(files, rule(code), unsafe=unsafe)
    assert made.changes == ()
    assert made.bugs == ()
    return [finding.reason for finding in made.findings if finding.fix == "manual"]
