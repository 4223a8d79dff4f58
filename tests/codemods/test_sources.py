"""Every name, argument, attribute, member and hook that the tables call old, against Lightning 1.9.5 by reflection: it
is there, or was gone by then as its row says. The tests of each rule look up what it becomes in the newest one."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from codemods.lightning import arguments as table
from codemods.lightning.extension_members import members
from codemods.rules.hooks.removed_hooks import DATA_HOOKS, HOOKS
from codemods.rules.names.table import gone, spelled
from codemods.rules.trainer import lit120
from tests import warm
from tests.training.interpreters import python_for

RELEASE = "1.9.5"
KINDS = ("LightningModule", "Callback", "LightningDataModule")
OF_STATE = {"finished", "fn", "stage", "status", "stopped"}
"""Attributes of what Trainer.state is, which the table has beside those of Trainer."""
MEMBERS = [
    (owner, name, row.parameter, row.since)
    for name, rows in members().items()
    for row in rows
    for owner in sorted(row.owners)
]


def attributes() -> dict[str, str]:
    """The attributes of Trainer in the table that are gone, with the last release that had each."""
    with (Path(lit120.__file__).with_name("attributes.csv")).open(encoding="utf-8", newline="") as file:
        return {row["attribute"]: row["last"] for row in csv.DictReader(file) if row["last"] and row["action"] != "set"}


@cache
def old() -> dict[str, Any]:
    """What the release has of all that the tables speak of."""
    asked = {
        "names": [spelled(entry.old, "pytorch_lightning") for entry in gone().values() if entry.last == RELEASE],
        "attributes": sorted(attributes()),
        "methods": [method for method, releases in table.signatures().items() if RELEASE in releases],
        "hooks": sorted({*HOOKS, *DATA_HOOKS}),
        "kinds": KINDS,
        "members": [item[:3] for item in MEMBERS],
    }
    script = Path(__file__).with_name("old_release.py")
    done = warm.program(script, json.dumps(asked), folder=Path.cwd(), python=python_for(RELEASE))
    assert done.returncode == 0, done.stdout
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_release_is_the_one_that_is_meant() -> None:
    assert old()["version"] == RELEASE


def test_names_that_it_had_last_are_there() -> None:
    asked = {spelled(entry.old, "pytorch_lightning") for entry in gone().values() if entry.last == RELEASE}
    assert asked - set(old()["names"]) == set()


@pytest.mark.parametrize("method", [method for method, found in table.signatures().items() if RELEASE in found])
def test_arguments_of_trainer_are_those_of_the_table(method: str) -> None:
    assert old()["signatures"][method] == list(table.signatures()[method][RELEASE])


def test_every_argument_that_is_rewritten_was_one() -> None:
    """The upgrade guide's row M189 names one that no release had: it was an argument of optimizer_step."""
    assert set(table.rows()) - table.once() == {"using_native_amp"}


def test_attributes_of_trainer_went_when_the_table_says() -> None:
    had = {name for name, last in attributes().items() if Version(last) >= Version(RELEASE)}
    assert had - set(old()["attributes"]) == OF_STATE
    gone_before = {name for name, last in attributes().items() if Version(last) < Version("1.9")}
    assert gone_before & set(old()["attributes"]) == set()


def test_members_went_when_the_table_says() -> None:
    absent = [
        (row.owners, name)
        for name, rows in members().items()
        for row in rows
        if Version(row.since) > Version("1.9")
        and not any(
            old()["members"][f"{owner} {name} {other.parameter}"]
            for other in rows
            for owner in row.owners & other.owners
        )
    ]
    assert absent == []
    already = [
        (owner, name)
        for owner, name, parameter, since in MEMBERS
        if Version(since) <= Version("1.8") and old()["members"][f"{owner} {name} {parameter}"]
    ]
    assert already == []


def test_hooks_went_when_the_table_says() -> None:
    wrong = []
    for name, hook in (*HOOKS.items(), *DATA_HOOKS.items()):
        for kind in (item.rpartition(".")[2] for item in hook.kinds):
            there = name in old()["hooks"][kind]
            if there != (Version(hook.since) > Version("1.9")):
                wrong.append((kind, name, hook.since))
    assert wrong == []
