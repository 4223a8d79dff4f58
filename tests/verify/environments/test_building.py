"""How environments are built from a plan, and what is left out of them."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify.installers import CONTAINED, FOLDERS, Recorded
from verify.environments.building import EnvironmentPlan, build
from verify.environments.installer import STORE, Installer, find
from verify.environments.interpreters import Unavailable, inspect
from verify.environments.lines import Index
from verify.environments.loading import Repair
from verify.environments.origins import Origins


class Refusing(Installer):
    """One that has no way to install one distribution."""

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        return "no wheels" if "cuda-only" in requirements else super().install(folder, requirements, overrides)


@pytest.mark.parametrize("uv", [True, False])
def test_two_at_once_build_one_environment_that_the_next_finds(tmp_path: Path, uv: bool) -> None:
    found = find(threading.Event())
    tools = Refusing(**{**vars(found), "uv": found.uv if uv else None})
    plan = EnvironmentPlan(("idna", "six==1.17.0"), (), ("cuda-only", "packaging==0.0.1"))
    told: list[str] = []
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(build, plan, inspect(Path(sys.executable)), tools, tmp_path, told.append) for _ in range(2)]
        results = [job.result() for job in jobs]
    assert told == ["building an environment with six==1.17.0"]
    assert results[0] == results[1] == build(plan, inspect(Path(sys.executable)), tools, tmp_path, told.append)
    assert results[0][0].packages["six"] == "1.17.0"
    assert "packaging" in results[0][0].packages
    assert results[0][1] == ("cuda-only (no wheels)",)
    assert list(tmp_path.glob("*/lib/*/site-packages/__pycache__/six.*.pyc")), "nobody can write it later"


def test_without_an_index_the_reason_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    found = find(threading.Event())
    dark = replace(
        found,
        flags=(*found.flags[:2], "--no-index", "--offline"),
        environment={**found.environment, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
    )
    plan = EnvironmentPlan(("torch==0.0.1", "pytorch-lightning==9.9.9"), (), ())
    with pytest.raises(Unavailable, match=r"pytorch-lightning==9\.9\.9 cannot be installed"):
        build(plan, inspect(Path(sys.executable)), dark, tmp_path / "cache", lambda text: None)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir() and path.name != STORE]


def test_the_day_holds_for_what_is_added_and_falls_away_where_nothing_is_found(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    plan = EnvironmentPlan(("torch==1", "pytorch-lightning==1"), (), ("numpy", "rare", "torchvision"), "2024-06-01")
    _, left = build(plan, inspect(Path(sys.executable)), installer, tmp_path, lambda text: None)
    (asked,) = tmp_path.glob("pytorch-lightning-1-*/asked.txt")
    base, whole, *each = [json.loads(line) for line in asked.read_text().splitlines()]
    assert base == ["torch==1", "pytorch-lightning==1"]
    assert whole[0] == "--exclude-newer=2024-06-01"
    assert (asked.parent / "removed.txt").read_text() == "numpy\n"
    free = {flag.split("=")[1] for flag in whole if flag.startswith("--exclude-newer-package=")}
    assert {"torch", "torchvision", "pytorch-lightning"} <= free
    assert not {"numpy", "rare"} & free
    *each, again = each
    assert [given[-1] for given in each] == ["numpy", "rare", "rare", "torchvision"]
    assert [given[0].startswith("--") for given in each] == [True, True, False, True]
    assert again[-1].startswith("numpy==")  # what it was installed with before, since nothing else was
    assert left == ()


def test_of_addresses_only_those_of_git_over_https_are_installed_from(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    good = "good @ git+https://host/good.git"
    evil = [f"evil @ {url}" for url in ("git+file:///home", "git+ssh://git@host/evil", "git+http://host/evil")]
    plan = EnvironmentPlan(("torch==1", "pytorch-lightning==1"), (), (good, *evil))
    _, left = build(plan, inspect(Path(sys.executable)), installer, tmp_path, lambda text: None)
    (asked,) = tmp_path.glob("pytorch-lightning-1-*/asked.txt")
    assert [json.loads(line)[2:] for line in asked.read_text().splitlines()] == [[], ["git+https://host/good.git"]]
    assert left == tuple(f"{line} (of addresses, only git+https:// ones are installed from)" for line in evil)


class Wheels(Installer):
    """Brings the packages that are written down for it, with no index: a folder of text files by requirement."""

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        for name, lines in (("asked.txt", requirements), ("overrides.txt", overrides)):
            with (folder / name).open("a") as stream:
                stream.write(json.dumps(list(lines)) + "\n")
        (place,) = folder.glob("lib/*/site-packages")
        for line in requirements:
            text = BROUGHT.get(line)
            if text is not None:
                name = line.split("=")[0].split("<")[0].rstrip(">")
                (place / f"{name}.py").write_text(text)
                (place / f"{name}-1.dist-info").mkdir(exist_ok=True)
                (place / f"{name}-1.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
                (place / f"{name}-1.dist-info" / "RECORD").write_text(f"{name}.py,,\n")
        return None if set(requirements) & set(BROUGHT) else "no such thing"


BROUGHT = {
    "base": "",
    "numpy": "",
    "numpy<1.24": "complex = 1",
    "numpy>=1.25,<2": "complex = exceptions = bool8 = 1",
    "numpy<2": "complex = exceptions = bool8 = 1",
    "hears": "import numpy\ntry:\n    numpy.complex\nexcept AttributeError:\n"
    "    raise AttributeError(\"module 'numpy' has no attribute 'complex'\") from None",
    "board": "import numpy\nif not hasattr(numpy, 'bool8'):\n"
    "    raise AttributeError(\"module 'numpy' has no attribute 'bool8'\") from None",
    "newer": "import numpy\nif not hasattr(numpy, 'exceptions'):\n"
    "    raise ModuleNotFoundError(\"No module named 'numpy.exceptions'\")",
    "old==1": "x = (",
    "old": "import tabulate",
    "tabulate": "",
    "odd": "import nobody_knows_it",
    "nobody-knows-it": "",
    "never": "raise OSError('needs hardware')",
    "ends": "import os; os._exit(1)",
    "soundfile": "raise OSError('sndfile library not found')",
    "soundfile>=0.12": "",
}


def test_what_does_not_load_gets_other_versions_and_else_is_named(tmp_path: Path) -> None:
    found = find(threading.Event())
    tools = Wheels(**vars(found))
    plan = EnvironmentPlan(("base", "base"), (), ("board", "ends", "hears", "never", "newer", "numpy", "odd", "old==1"))
    _, left = build(plan, inspect(Path(sys.executable)), tools, tmp_path, lambda text: None)
    assert left == (
        "ends (it does not load: it ends the interpreter)",
        "never (it does not load: OSError: needs hardware)",
        "odd (it does not load: ModuleNotFoundError: No module named 'nobody_knows_it')",
    )
    (asked,) = tmp_path.glob("*/asked.txt")
    tried = [json.loads(line)[-1] for line in asked.read_text().splitlines()]
    assert {"numpy<1.24", "numpy>=1.25,<2", "numpy<2", "old", "tabulate"} <= set(tried)
    assert "nobody-knows-it" not in tried
    whole = [json.loads(line) for line in asked.read_text().splitlines()]
    assert any({"numpy<1.24", "newer", "board"} <= set(line) and "numpy" not in line for line in whole)
    assert build(plan, inspect(Path(sys.executable)), tools, tmp_path, lambda text: None)[1] == left


def test_what_others_load_late_gets_a_release_that_brings_its_library(tmp_path: Path) -> None:
    tools, folder = Wheels(**vars(find(threading.Event()))), tmp_path / "env"
    tools.create(folder, Path(sys.executable))
    for line in ("base", "soundfile"):
        assert tools.install(folder, [line]) is None
    assert Repair(folder, tools, (), (), ("base==1", "soundfile==0.14")).run([], "base") == {}
    asked = [json.loads(line) for line in (folder / "asked.txt").read_text().splitlines()]
    assert asked[-1] == ["soundfile>=0.12"]
    overrides = [json.loads(line) for line in (folder / "overrides.txt").read_text().splitlines()]
    assert overrides[-1] == ["base==1"], "what holds the package itself would keep it"


def test_what_nothing_imports_need_not_load(tmp_path: Path) -> None:
    tools = Wheels(**vars(find(threading.Event())))
    plan = EnvironmentPlan(("base", "base"), (), ("never", "tabulate"), unused=frozenset({"never"}))
    there, left = build(plan, inspect(Path(sys.executable)), tools, tmp_path, lambda text: None)
    assert left == () and {"never", "tabulate"} <= set(there.packages)


def test_a_package_of_the_folder_that_we_are_in_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find(threading.Event())
    found.create(tmp_path / "env", Path(sys.executable))
    (tmp_path / "torchvision.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    assert not found.loads(tmp_path / "env", "torchvision")
    assert "ModuleNotFoundError" in found.says(tmp_path / "env", "import torchvision")
    assert not (tmp_path / "ran").exists()


class Blaming(Recorded):
    """Says which requirement is the reason, as uv does: `pinned` installs without its version, `gone` not at all."""

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        super().install(folder, requirements, overrides)
        if "pinned==1" in requirements:
            return "Because pinned==1 has no wheels and you require pinned==1, the requirements are unsatisfiable"
        return "Because gone was not found in the package registry" if "gone" in requirements else None


def test_what_an_installer_blames_is_taken_out_and_the_rest_installed_at_once(tmp_path: Path) -> None:
    installer = Blaming(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    plan = EnvironmentPlan(("torch==1", "pytorch-lightning==1"), (), ("gone", "gone-too", "numpy==1", "pinned==1"))
    _, left = build(plan, inspect(Path(sys.executable)), installer, tmp_path, lambda text: None)
    assert left == ("gone (no index has it)",)
    (asked,) = tmp_path.glob("pytorch-lightning-1-*/asked.txt")
    given = [json.loads(line)[2:] for line in asked.read_text().splitlines()]
    assert given == [
        [],
        ["gone", "gone-too", "numpy==1", "pinned==1"],
        ["gone", "gone-too", "numpy==1", "pinned"],
        ["gone-too", "numpy==1", "pinned"],
        ["gone"],
    ]


def test_a_page_of_wheels_that_cannot_be_read_holds_nothing_else_up(tmp_path: Path) -> None:
    """Found in a public project, whose page is gone: nothing was installed, and numpy was taken out for another."""
    there = Origins(indexes=(Index("find-links", "http://127.0.0.1:9/wheels.html"),))
    plan = EnvironmentPlan(("idna", "six==1.16.0"), (), ("packaging", "six"), "2024-06-01", origins=there)
    found, left = build(plan, inspect(Path(sys.executable)), find(threading.Event()), tmp_path, lambda text: None)
    assert left == ()
    assert {"idna", "six", "packaging"} <= found.packages.keys()


class Noting(Installer):
    """Notes where what is fetched for an environment is kept."""

    def fetch(
        self, command: Sequence[str], place: Path, lists: Mapping[str, Sequence[str]] = {}, seconds: float = 60.0
    ) -> str | None:
        code = "import os, sys; sys.exit(os.environ['UV_CACHE_DIR'] + ' ' + os.environ['PIP_CACHE_DIR'])"
        return super().fetch([sys.executable, "-c", code], place, lists, seconds)


@pytest.mark.parametrize("uv", [True, False])
def test_what_was_fetched_for_one_environment_serves_the_next(tmp_path: Path, uv: bool) -> None:
    found = find(threading.Event())
    tools = Noting(**{**vars(found), "uv": Path(sys.executable) if uv else None})
    store = tmp_path / STORE
    store.mkdir()
    told = {tools.install(store / name, ["six"]) for name in ("one", "two")}
    assert told == {f"{store / 'uv'} {store / 'pip'}"}
