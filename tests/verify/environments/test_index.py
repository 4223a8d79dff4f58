"""What is asked for on an index that holds strangers' packages under the names of a project's imports."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify.indexes import Index, served
from tests.verify.installers import CONTAINED, FOLDERS, Recorded
from verify.environments.building import EnvironmentPlan, build
from verify.environments.installer import Installer, find
from verify.environments.interpreters import Interpreter, inspect
from verify.environments.local_packages import local_packages
from verify.environments.manifests import manifests_in
from verify.environments.naming import KnownDistributions, named
from verify.environments.origins import origins
from verify.reading.sources import Sources

TRAPS = ("dcn", "utils", "models", "commons", "squatter", "pil")
TRAP = "raise SystemExit('a stranger was here')"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with served(tmp_path / "index") as found:
        for trap in TRAPS:
            found.add(trap, text=TRAP)
        found.add("base")
        found.add("numpy", "2.0")
        found.add("pillow", module="PIL")
        found.add("toolz")
        found.add("corp-tools", needs="dcn")
        found.add("squatter-of-dcn", module="DCN", text=TRAP)
        monkeypatch.setenv("PIP_INDEX_URL", found.url)
        yield found


@pytest.fixture(params=["uv", "pip"])
def uv(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "uv")


def tools(uv: bool) -> Installer:
    found = find(threading.Event())
    return found if uv else replace(found, uv=None)


def environment(
    root: Path, uv: bool, *packages: str, extras: tuple[str, ...] = ()
) -> tuple[Interpreter, tuple[str, ...], frozenset[str]]:
    """What is built for a project that imports these packages, what was left out of it, and what was not asked for."""
    installer = tools(uv)
    manifests = manifests_in(root)
    found = named(packages, (), KnownDistributions(manifests, local_packages(Sources(root))))
    places, _ = origins(manifests, installer.environment)
    asked = extras or tuple(sorted(found.packages))
    plan = EnvironmentPlan(("base", "base"), (), asked, None, places.needed_for(found.packages))
    built, left = build(plan, inspect(Path(sys.executable)), installer, root.parent / "cache", lambda text: None)
    return built, left, frozenset(found.left)


def project(tmp_path: Path, **files: str) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)
    return root


def test_no_stranger_is_asked_for_or_installed(tmp_path: Path, index: Index, uv: bool) -> None:
    """What another package needs is not either, where a manifest takes it from an address. pip has to look whether
    there is something by the name that it may not take."""
    root = project(tmp_path, requirements__txt="corp-tools\ngit+ssh://git@nowhere.invalid/o/DCN.git\n")
    (root / ".gitmodules").write_text('[submodule "x"]\npath = ext/squatter\nurl = https://nowhere.invalid/x\n')
    found, left, unasked = environment(
        root, uv, "DCN", "PIL", "commons", "corp_tools", "models", "squatter", "toolz", "utils"
    )
    assert unasked == {"DCN", "commons", "models", "squatter", "utils"}
    assert set(TRAPS).isdisjoint(found.packages) and set(TRAPS).isdisjoint(index.fetched)
    assert (set(TRAPS) - ({"dcn"} if not uv else set())).isdisjoint(index.asked)
    assert {"pillow", "toolz", "numpy"} <= set(found.packages)
    assert ("corp-tools" in found.packages) is uv
    assert uv or (len(left) == 1 and left[0].startswith("corp-tools ("))


def test_what_does_not_load_for_lack_of_a_module_gets_no_stranger(tmp_path: Path, index: Index) -> None:
    index.add("needy", text="import dcn")
    index.add("needs-known", text="import toolz")
    root = project(tmp_path, requirements__txt="needy\nneeds-known\ngit+ssh://git@nowhere.invalid/o/PIL.git\n")
    index.add("needs-moved", text="import PIL")
    (root / "setup.cfg").write_text("[options]\ninstall_requires = needs-moved\n")
    found, left, _ = environment(root, True, "needy", "needs_known", "needs_moved")
    assert {"dcn", "pillow", "pil"}.isdisjoint(index.asked) and "toolz" in found.packages
    assert [line.partition(" ")[0] for line in left] == ["needs-moved", "needy"]


def test_files_that_have_other_hashes_are_not_installed(tmp_path: Path, index: Index, uv: bool) -> None:
    """Nor in another version, nor for another package's sake."""
    right, wrong = index.add("honest", "1.0"), f"sha256:{'0' * 64}"
    index.add("changed", "1.0", text=TRAP)
    index.add("changed", "0.9", text=TRAP)
    index.add("leans", needs="changed")
    root = project(
        tmp_path,
        requirements__txt=f"honest==1.0 \\\n  --hash={right} \\\n  --hash={wrong}\n"
        f"changed==1.0 --hash={wrong}\nleans\n",
    )
    lines = ("changed==1.0", "honest==1.0", "leans", "numpy")
    found, left, _ = environment(root, uv, "honest", "changed", "leans", extras=lines)
    assert found.packages["honest"] == "1.0" and "changed" not in found.packages
    assert left[0].startswith("changed==1.0 (its files do not have the hashes that the project gives")


def test_the_index_that_a_project_names_is_asked_where_the_user_names_none(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(tmp_path, requirements__txt="corp-thing\n")
    with served(tmp_path / "corp") as corp:
        corp.add("corp-thing")
        (root / "requirements.txt").write_text(f"--extra-index-url {corp.url}\ncorp-thing\n")
        assert "corp-thing" not in environment(root, True, "corp_thing")[0].packages and corp.asked == []
        monkeypatch.delenv("PIP_INDEX_URL")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", index.url)
        (root / "requirements.txt").write_text(f"--index-url {corp.url}\ncorp-thing\n")
        found = environment(root, True, "corp_thing")[0].packages
        assert "corp-thing" in found and set(TRAPS).isdisjoint({*index.asked, *corp.asked})


def test_another_version_than_the_one_asked_for_keeps_the_extras(tmp_path: Path, index: Index, uv: bool) -> None:
    index.add("leaning", needs="toolz; extra == 'more'\nProvides-Extra: more")
    root = project(tmp_path, requirements__txt="leaning[more]==9.0\n")
    found, left, _ = environment(root, uv, "leaning", extras=("leaning[more]==9.0",))
    assert {"leaning", "toolz"} <= set(found.packages) and not left


@pytest.mark.parametrize("option", ["--extra-index-url", "--index-url"])
def test_an_index_that_is_not_reached_keeps_only_its_own_out(
    tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    """What is known to be everybody's comes from the index of all; a stranger's of an unknown name does not."""
    monkeypatch.delenv("PIP_INDEX_URL")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", index.url)
    root = project(tmp_path, requirements__txt=f"{option} http://127.0.0.1:9/simple\nsquatter\nnumpy\ntoolz\n")
    found, left, _ = environment(root, True, "numpy", "toolz", "squatter", extras=("numpy", "squatter", "toolz"))
    assert {"numpy", "toolz"} <= set(found.packages) and "squatter" not in {*found.packages, *index.fetched}
    assert left == ("squatter (the index that the project names for it is not reached)",)


@pytest.mark.parametrize(
    ("line", "settings", "told"),
    [
        ("--extra-index-url https://corp/simple", {}, "looked on https://corp/simple too"),
        ("-i https://user:secret@corp/simple", {}, "looked on https://user@corp/simple too"),
        ("--index-url https://pypi.org/simple", {}, ""),
        ("--index-url https://corp/simple", {"PIP_INDEX_URL": "https://mine"}, "name the index to ask"),
        ("--index-url https://corp/simple", {"PIP_NO_INDEX": "1"}, "name the index to ask"),
        ("--extra-index-url http://corp/simple", {}, "only https:// ones are asked"),
        ("--extra-index-url https://${TOKEN}@corp/simple", {}, "filled in from variables"),
        ("--find-links ./wheels", {}, "not looked on ./wheels (requirements.txt: only https:// ones are asked)"),
        ("--find-links https://data.pyg.org/whl/torch-1.12.0+cu113.html", {}, "built for other releases of torch"),
        (
            "-f https://dl.fbaipublicfiles.com/pytorch3d/wheels/x.html",
            {},
            "built for other releases of torch",
        ),
        ("--no-index", {}, "not looked on --no-index"),
    ],
)
def test_which_places_of_a_project_are_asked_is_told(
    tmp_path: Path, line: str, settings: dict[str, str], told: str
) -> None:
    root = project(tmp_path, requirements__txt=f"{line}\ntimm\n")
    found, said = origins(manifests_in(root), settings)
    assert told in said and bool(said) is bool(told) and "secret" not in said
    assert bool(found.indexes) is (" too" in said)


def test_indexes_of_uv_poetry_and_pipenv_are_the_projects(tmp_path: Path) -> None:
    root = project(
        tmp_path,
        pyproject__toml="[[tool.uv.index]]\nurl = 'https://a/s'\n[[tool.uv.index]]\nurl = 'https://x/s'\n"
        "explicit = true\nname = 'x'\n[tool.uv.sources]\nsecret-thing = {index = 'x'}\n"
        "[[tool.poetry.source]]\nurl = 'https://b/s'\nname = 'b'\n",
        Pipfile="[[source]]\nurl = 'https://c/s'\n[[source]]\nurl = 'https://d/s'\n",
    )
    found, _ = origins(manifests_in(root), {})
    assert [(index.option, index.place) for index in found.indexes] == [
        ("extra-index-url", "https://b/s"), ("extra-index-url", "https://a/s"),
        ("index-url", "https://c/s"), ("extra-index-url", "https://d/s"),
    ]  # fmt: skip
    assert found.barred([]) == ["secret-thing"]
    left = named(["secret_thing"], (), KnownDistributions(manifests_in(root))).left
    assert "pyproject.toml takes it from x" in left["secret_thing"]


def test_environments_from_other_places_are_others(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    places = origins(manifests_in(project(tmp_path, requirements__txt="git+https://h/o/dcn\n")), {})[0]
    plan = EnvironmentPlan(("torch==1", "pytorch-lightning==1"), (), ("toolz",))
    folders = {
        build(one, inspect(Path(sys.executable)), installer, tmp_path / "cache", print)[0].path
        for one in (plan, replace(plan, origins=places), plan)
    }
    assert len(folders) == 2
