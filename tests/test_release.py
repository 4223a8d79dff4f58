"""What publishes a release: the pages by version, the fragments of the changelog, the workflows."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest
import tomlkit
import yaml

ROOT = Path(__file__).parent.parent
DOCS = runpy.run_path(str(ROOT / "docs" / "versions.py"))


def test_the_pages_lead_to_the_newest_release_and_list_all(tmp_path: Path) -> None:
    for name in ("dev", "0.9.0", "0.10.0", "1.0.0rc1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    (tmp_path / "empty").mkdir()
    DOCS["write"](tmp_path)
    listed = json.loads((tmp_path / "switcher.json").read_text(encoding="utf-8"))
    assert [row["version"] for row in listed] == ["0.10.0", "0.9.0", "1.0.0rc1", "dev"]
    assert "url=0.10.0/" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_every_fragment_has_a_kind_that_is_shown() -> None:
    settings = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8")).unwrap()["tool"]["towncrier"]
    kinds = {kind["directory"] for kind in settings["type"]}
    fragments = [file.name for file in (ROOT / "changes").iterdir() if file.name != "README.md"]
    assert [name for name in fragments if not re.fullmatch(rf"\+?[\w-]+\.({'|'.join(kinds)})\.md", name)] == []
    assert settings["start_string"] in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_release_is_tried_on_every_python_and_only_its_last_job_may_publish() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["try"]["strategy"]["matrix"]["python"] == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    assert [name for name, job in jobs.items() if "id-token" in job["permissions"]] == ["publish"]
    assert (jobs["try"]["needs"], jobs["publish"]["needs"]) == ("build", "try")
    commands = "\n".join(step.get("run", "") for step in jobs["try"]["steps"])
    assert 'pip install -c constraints.txt -e ".[dev]" && pytest -n auto' in commands and "fixer demo" in commands


def test_a_release_names_the_repository_that_it_is_built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object  # type: ignore[attr-defined]
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    settings = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8")).unwrap()
    hook = runpy.run_path(str(ROOT / settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]["path"]))["ProjectUrls"]
    assert "urls" in settings["project"]["dynamic"]
    made: dict[str, dict[str, str]] = {}
    monkeypatch.delenv("PROJECT_HOME", raising=False)
    hook().update(made)
    assert made == {"urls": {}}
    monkeypatch.setenv("PROJECT_HOME", "https://forge.example/team/fixer")
    hook().update(made)
    assert made["urls"]["Issues"] == "https://forge.example/team/fixer/issues"
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    given = [step["env"]["PROJECT_HOME"] for step in jobs["build"]["steps"] if step.get("run") == "python -m build"]
    assert given == ["${{ github.server_url }}/${{ github.repository }}"]
