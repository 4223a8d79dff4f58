"""What poetry, pipenv, uv and lock files say, as lines of a requirement file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verify.environments.dependency_tables import specifier
from verify.environments.manifests import manifests_in


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("^1.2.3", "<2,>=1.2.3"), ("^0.2.3", "<0.3,>=0.2.3"), ("^0.0.3", "<0.0.4,>=0.0.3"), ("^2", "<3,>=2"),
        ("~1.2.3", "<1.3,>=1.2.3"), ("~1", "<2,>=1"), ("1.2.*", "==1.2.*"), ("1.2", "==1.2"), ("*", ""),
        (">=1,<2", "<2,>=1"), (">=1 <2", "<2,>=1"), ("~=1.4.2", "~=1.4.2"), ("^1.x || ^2", ""), ("latest", ""),
    ],
)  # fmt: skip
def test_versions_as_poetry_says_them(asked: str, found: str) -> None:
    assert specifier(asked) == found


def test_groups_and_extras_of_every_tool_are_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[dependency-groups]\ndev = ['a', {include-group = 'x'}]\n[tool.pdm.dev-dependencies]\nd = ['b']\n"
        "[tool.uv]\ndev-dependencies = ['c']\n[tool.hatch.envs.default]\ndependencies = ['d']\n"
        "[tool.poetry.dependencies]\npython = '^3.8'\ne = {version = '~1.2', extras = ['z'], optional = true}\n"
        "[tool.poetry.group.dev.dependencies]\nf = '*'\n[tool.poetry.dev-dependencies]\ng = [{version = '1'}]\n"
    )
    (tmp_path / "setup.cfg").write_text("[options.extras_require]\nx =\n    h>=1\n")
    (tmp_path / "setup.py").write_text(
        "more = ['i']\nsetup(extras_require={'x': more, 'y': ['j']}, tests_require=['k'])"
    )
    (tmp_path / "dev-requirements.txt").write_text("l \\\n  --hash=sha256:00\n")
    (tmp_path / "Pipfile").write_text("[packages]\nm = '*'\n[dev-packages]\nn = '==2'\n")
    found = {pin.text for pin in manifests_in(tmp_path).pins}
    assert found == {"a", "b", "c", "d", "e[z]<1.3,>=1.2", "f", "g==1", "h>=1", "i", "j", "k", "l", "m", "n==2"}


def test_files_that_others_lead_to_are_read_once_and_none_outside(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "deps").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("stranger\n")
    (root / "requirements.txt").write_text("-r deps/base.in\n-r ../outside.txt\n-r requirements.txt\n-c limits.txt\n")
    (root / "deps/base.in").write_text("-r ../requirements.txt\ntimm\n")
    (root / "limits.txt").write_text("numpy<2\n")
    assert [pin.text for pin in manifests_in(root).pins] == ["timm"]


LOCKS = {
    "poetry.lock": "[[package]]\nname = 'timm'\nversion = '0.9.2'\nfiles = [{file = 'a', hash = 'sha256:0a'}]\n",
    "old/poetry.lock": "[[package]]\nname = 'timm'\nversion = '0.9.2'\n[metadata.files]\n"
    "timm = [{file = 'a', hash = 'sha256:0a'}]\n",
    "uv.lock": "[[package]]\nname = 'timm'\nversion = '0.9.2'\nsource = {registry = 'https://pypi.org/simple'}\n"
    "wheels = [{url = 'https://h/a', hash = 'sha256:0a'}]\n",
    "pdm.lock": "[[package]]\nname = 'timm'\nversion = '0.9.2'\nfiles = [{file = 'a', hash = 'sha256:0a'}]\n",
    "pylock.toml": "[[packages]]\nname = 'timm'\nversion = '0.9.2'\nwheels = [{url = 'u', hashes = {sha256 = '0a'}}]\n",
    "Pipfile.lock": json.dumps({"default": {"timm": {"version": "==0.9.2", "hashes": ["sha256:0a"]}}}),
}


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_say_releases_and_hashes(tmp_path: Path, name: str) -> None:
    (tmp_path / name.rpartition("/")[2]).write_text(LOCKS[name])
    found = manifests_in(tmp_path)
    assert (found.agreed, found.hashes, found.addresses) == (["timm==0.9.2"], {"timm==0.9.2": ("sha256:0a",)}, ())
    (tmp_path / "requirements.txt").write_text("timm<0.9\n")
    assert manifests_in(tmp_path).agreed == []


@pytest.mark.parametrize("name", ["poetry.lock", "uv.lock", "pylock.toml", "Pipfile.lock", "Pipfile"])
@pytest.mark.parametrize("text", ["= broken", "package = 3", "[[package]]\nname = 3\n", "[package]\nname = 'x'", "{}"])
def test_files_that_hold_something_else_say_nothing(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "requirements.txt").write_text("timm\n")
    assert [pin.text for pin in manifests_in(tmp_path).pins] == ["timm"]
    assert manifests_in(tmp_path).locked == ()
