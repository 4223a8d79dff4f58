"""The JSON Schema of `[tool.fixer]`: it takes what fixer takes, and refuses what fixer refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomlkit

from fixer.config import read_config
from fixer.errors import UsageError
from fixer.settings_schema import schema
from tests.fixer.command import ROOT, Ask
from tests.fixer.test_config import FULL

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def documented() -> Iterator[str]:
    """Every block of settings in the documentation."""
    for page in PAGES:
        for block in re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            if "[tool.fixer" in block:
                yield block


def is_taken(text: str) -> bool:
    """Whether an editor shows nothing."""
    return VALIDATOR.is_valid(tomlkit.parse(text).unwrap())


def is_read(text: str) -> bool:
    try:
        read_config(text, "pyproject.toml")
    except UsageError:
        return False
    return True


def keys(table: dict[str, Any], before: str = "") -> Iterator[str]:
    """Every key of the schema, those of tables with the table's before."""
    for key, held in table["properties"].items():
        yield f"{before}{key}"
        if "properties" in held:
            yield from keys(held, f"{before}{key}.")


KEYS = list(keys(schema()["definitions"]["fixer"]))
VALIDATOR = jsonschema.Draft7Validator(schema())


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(schema())
    assert {"select", "verify.command", "pull-request.body"} <= set(KEYS)


@pytest.mark.parametrize("text", [*documented(), FULL], ids=lambda text: text[:40])
def test_all_that_is_documented_is_taken(text: str) -> None:
    VALIDATOR.validate(tomlkit.parse(text).unwrap())


@pytest.mark.parametrize("key", KEYS)
def test_every_key_says_what_it_is(key: str) -> None:
    held: dict[str, Any] = schema()["definitions"]["fixer"]
    for part in key.split("."):
        held = held["properties"][part]
    assert held["description"].endswith(".")
    if "properties" not in held:
        assert f"`{key}`" in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", KEYS)
def test_a_misspelt_key_is_refused(key: str) -> None:
    table, _, name = key.rpartition(".")
    for wrong in (f"{name}s", name[:-1], name.replace("-", "_") if "-" in name else name.upper()):
        text = f"[tool.fixer{'.' + table if table else ''}]\n{wrong} = 1\n"
        assert not is_taken(text) and not is_read(text), text


@pytest.mark.parametrize(
    "setting",
    [
        'select = "LIT"', "select = [1]", 'select = ["lit101"]', 'select = ["LIT101:M016"]', 'ignore = ["LIT101:M016"]',
        'target = "2.6.3"', 'target = "1.9"', 'target = "2.5"', "target = 2.5", 'namespace = "torch"', "exclude = 1",
        'unsafe-fixes = "yes"', "unsafe-fixes = true", 'per-file-ignores = ["LIT"]', "per-file-ignores = {a = ['LIT']}",
        "verify = false", "verify.enabled = false", "verify.timeout = 0", "verify.timeout = 1.5", "verify.devices = 0",
        'verify.devices = "2"', "verify.devices = 2", 'verify.torch = "mine"', 'verify.accelerator = "cpu"',
        'verify.accelerator = "gpu"', "verify.budget = 10", 'verify.budget = "15m"', 'verify.budget = "soon"',
        "verify.budget = 0", 'verify.budget = "10min"', 'verify.budget = " 1.5 h"', 'verify.budget = "0s"',
        'verify.budget = "1..5m"', 'target = "v2.6.3"', 'target = "v2.6.1"',
        "verify.env = {A = 1}", "verify.env = {A = '1'}", "verify.setup = 'a'",
        "pull-request.title = 1", "pull-request = {title = 'a'}",
    ],
)  # fmt: skip
def test_it_says_what_fixer_says(ask: Ask, tmp_path: Path, setting: str) -> None:
    text = f"[tool.fixer]\n{setting}\n"
    (tmp_path / "pyproject.toml").write_text(text)
    assert is_taken(text) == (ask("config", tmp_path).code == 0)


def test_the_rest_of_the_file_is_not_looked_at() -> None:
    assert is_taken('[project]\nnamme = "x"\n[tool.other]\nselect = 1\n')


def test_it_is_printed_for_editors(ask: Ask) -> None:
    said = ask("config", "--schema")
    assert said.code == 0 and json.loads(said.out) == schema()
