from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from verify.baseline import Choice
from verify.building import Plan, build
from verify.containment import Containment, contain
from verify.dates import as_of
from verify.environments import Ready, Wanted, baseline, baseline_plan, given_baseline, needs, target
from verify.evidence import Environment
from verify.installer import STORE, Installer, find, parse_settings, uv_flags
from verify.interpreters import Interpreter, Unavailable, inspect, inspect_named
from verify.known import remember, remembered, unanswered
from verify.manifests import addresses_in, pins_in

CONTAINED = Containment("limits")
FOLDERS = (sys.prefix, sys.base_prefix, *sys.path)
LISTED = r"""
global.cert='/etc/cert.pem'
global.extra-index-url='https://one/simple\nhttps://two/simple'
global.index-url='https://main/simple'
install.index-url='https://install/simple'
:env:.find-links='/wheels /more'
broken line
global.no-index=
"""


def test_settings_of_pip_are_read_with_its_precedence() -> None:
    settings = parse_settings(LISTED)
    assert settings["index-url"] == "https://install/simple"
    assert settings["cert"] == "/etc/cert.pem"
    assert "no-index" not in settings


def test_uv_is_handed_pips_settings() -> None:
    flags = " ".join(uv_flags(parse_settings(LISTED)))
    assert "--index-strategy unsafe-best-match" in flags
    assert "--default-index https://install/simple" in flags
    assert "--find-links /wheels --find-links /more" in flags
    assert "--extra-index-url https://one/simple --extra-index-url https://two/simple" in flags


def test_the_environment_of_pip_reaches_the_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/planted")
    monkeypatch.setenv("PIP_CERT", "/planted.pem")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    found = find(threading.Event())
    assert "/planted" in found.flags
    assert found.environment["SSL_CERT_FILE"] == "/planted.pem"


def test_installers_get_their_own_secrets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "UV_INDEX_MINE_PASSWORD", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "planted")
    found = {name for name, value in find(threading.Event()).environment.items() if value == "planted"}
    assert found == {"UV_INDEX_MINE_PASSWORD", "HTTPS_PROXY"}


def test_imports_become_distributions() -> None:
    found = needs({"sklearn", "cv2", "yaml", "PIL", "torch", "my_package", "verify"}, {"TensorBoardLogger"})
    assert found == {
        "scikit-learn", "opencv-python-headless", "pyyaml", "pillow", "my-package", "numpy",
        "tensorboard", "tensorboardx",
    }  # fmt: skip


def test_requirement_files_are_read_and_what_is_no_requirement_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r other.txt\nnumpy==1.26.4  # why\n\ntorch>=1\n")
    assert pins_in(tmp_path) == ("numpy==1.26.4", "torch>=1")


def test_manifests_of_all_kinds_are_read(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("needed = ['timm==0.5', f'x']\nsetup(install_requires=needed)\nraise OSError\n")
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires =\n    einops>=0.3\n    lmdb\n")
    (tmp_path / "pyproject.toml").write_text(
        "[project]\ndependencies = ['rich<15']\noptional-dependencies = {dev = ['pytest']}\n"
        "[tool.poetry.dependencies]\nclick = '^8'\n"
    )
    (tmp_path / "environment.yaml").write_text(
        "dependencies:\n  - numpy=1.19.2\n  - pip:\n    - 'tqdm==4.1'\n"
        "    - -e git+https://host/a/taming-transformers.git@master#egg=taming\n  - pip=20\nprefix: x\n"
    )
    (tmp_path / "requirements.txt").write_text("git+https://host/openai/CLIP.git\nhydra-core  # why\n")
    assert pins_in(tmp_path) == (
        "hydra-core", "rich<15", "pytest", "click", "einops>=0.3", "lmdb", "timm==0.5", "tqdm==4.1",
    )  # fmt: skip
    assert [address.url for address in addresses_in(tmp_path)] == [
        "git+https://host/openai/CLIP.git", "git+https://host/a/taming-transformers.git@master",
    ]  # fmt: skip


def test_what_comes_from_an_address_is_not_taken_from_an_index(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("git+https://host/o/CLIP.git\ngit+https://h/p/long-words-of-it@v1\n")
    addresses = addresses_in(tmp_path)
    found = needs({"clip", "long_of_it", "tools", "losses", "timm"}, (), ["losses==2"], addresses)
    assert found == {
        "clip @ git+https://host/o/CLIP.git", "long-of-it @ git+https://h/p/long-words-of-it@v1", "losses", "timm",
        "numpy",
    }  # fmt: skip
    wanted = Wanted("pytorch-lightning", found)
    plan = baseline_plan(wanted, Choice(Version("1.9.5"), "why"), {"clip": "1.0", "timm": "0.6"}, None)
    assert plan.extras[0] == "clip @ git+https://host/o/CLIP.git"
    assert "timm==0.6" in plan.extras


def test_an_address_brings_what_has_its_name_before_what_has_words_of_it(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(
        "git+https://h/o/torch-fidelity.git\ngit+https://h/o/open_clip.git\ngit+https://h/o/CLIP.git\n"
        "git+https://h/o/fork-of-it.git#egg=numpy-extra\n"
    )
    addresses = addresses_in(tmp_path)
    found = needs({"torch", "pytorch_lightning", "clip", "numpy", "numpy_extra"}, (), (), addresses)
    assert found == {"clip @ git+https://h/o/CLIP.git", "numpy", "numpy-extra @ git+https://h/o/fork-of-it.git"}
    assert "clip @ git+https://h/o/open_clip.git" in needs({"clip"}, (), (), addresses[:2])


def test_an_interpreter_says_what_it_is_and_what_is_none_is_named() -> None:
    found = inspect(Path(sys.executable))
    assert found.python.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert "packaging" in found.packages
    with pytest.raises(Unavailable, match="does not run"):
        inspect(Path("/nowhere/python"))


def test_what_fixer_runs_in_serves_as_target(tmp_path: Path) -> None:
    wanted = Wanted("pytorch-lightning", frozenset({"numpy"}))
    ready = target(wanted, "2.6.6", None, find(threading.Event()), tmp_path, lambda text: None)
    assert ready.interpreter.path == Path(sys.executable)
    assert dict(ready.environment.packages)["pytorch-lightning"] == "2.6.6"


def test_an_interpreter_that_settings_name_is_asked_shut_in(tmp_path: Path) -> None:
    contained = contain(tmp_path / "tried")
    found = inspect_named(Path(sys.executable), contained)
    assert replace(found, folders=()) == replace(inspect(Path(sys.executable)), folders=())
    ran = tmp_path / "ran"
    evil = tmp_path / "bin/python"
    evil.parent.mkdir()
    lies = {"python": "3.11", "packages": {}, "folders": ["/root"]}
    evil.write_text(f"#!/bin/sh\ntouch {ran}; env\n")
    evil.chmod(0o755)
    with pytest.raises(Unavailable, match="does not answer as Python does"):
        inspect_named(evil, contained)
    assert contained.level != "full" or not ran.exists()
    evil.write_text(f"#!/bin/sh\necho '{json.dumps(lies)}'\n")
    assert "/root" not in inspect_named(evil, contained).folders


def test_a_baseline_that_was_asked_for_says_what_it_is() -> None:
    wanted = Wanted("pytorch-lightning", frozenset())
    held = {"pytorch-lightning": "1.6.5", "torch": "1.13.1"}
    ready = given_baseline(Interpreter(Path("/old"), "3.8.18", held), wanted, ("pytorch-lightning==1.6.*",))
    assert ready.environment.reason == "the interpreter that was asked for, with Lightning 1.6.5"
    assert dict(ready.environment.packages) == held
    ready = given_baseline(Interpreter(Path("/old"), "3.8.18", held), wanted, ("pytorch-lightning==1.7.7",))
    assert ready.environment.reason.endswith("although the pins ask for pytorch-lightning==1.7.7")
    with pytest.raises(Unavailable, match="/old -m pip install torch pytorch-lightning"):
        given_baseline(Interpreter(Path("/old"), "3.8.18", {}), wanted, ())


SAME = {"torch": "2.13.0", "numpy": "2.4.0", "torchvision": "0.28.0", "torchmetrics": "1.9.0", "rich": "15.0"}


def planned(release: str, torch: str | None, name: str = "pytorch-lightning") -> Plan:
    wanted = Wanted(name, frozenset({"numpy", "rich", "torchvision", "wandb"}), ("wandb<1", "rich==9"))
    return baseline_plan(wanted, Choice(Version(release), "why"), SAME, torch)


def test_the_baseline_differs_in_lightning_alone() -> None:
    plan = planned("1.9.5", None)
    assert plan.base == ("torch==2.13.0", "pytorch-lightning==1.9.5", "setuptools<82", "torchmetrics==1.9.0")
    assert plan.extras == ("numpy==2.4.0", "rich==15.0", "torchvision==0.28.0", "wandb<1")
    old = planned("1.5.10", None)
    assert old.base[2:] == ("setuptools<82", "torchmetrics<0.12")
    assert old.overrides == ("setuptools<82",)


def test_what_the_target_could_not_get_is_not_tried_again(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    wanted = Wanted("pytorch-lightning", frozenset({"numpy", "cuda-only"}))
    held = inspect(Path(sys.executable))
    environment = Environment("target", held.python, (), "why")
    for absent, asked in ((frozenset({"cuda-only"}), False), (frozenset(), True)):
        after = Ready(held, environment, frozenset(absent))
        cache = tmp_path / str(asked)
        ready = baseline(
            wanted, ("pytorch-lightning==1.9.5",), None, after, "2.6.6", installer, cache, lambda text: None
        )
        (text,) = (path.read_text() for path in cache.glob("*/asked.txt"))
        assert ("cuda-only" in text) is asked
        assert ("cuda-only (as in the target)" in ready.environment.reason) is not asked


def test_packages_that_differ_from_what_was_asked_for_or_from_the_target_are_told(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    held = inspect(Path(sys.executable))
    numpy, packaging = (held.packages[name] for name in ("numpy", "packaging"))
    wanted = Wanted("pytorch-lightning", frozenset({"numpy"}), ("numpy==0.1",))
    ready = target(wanted, "2.6.6", None, installer, tmp_path, lambda text: None)
    assert f"of other versions than asked for: numpy {numpy} (numpy==0.1)" in ready.environment.reason
    ready = target(wanted, "2.6.5", None, installer, tmp_path, lambda text: None)
    assert f"numpy {numpy} (numpy==0.1)" in ready.environment.reason
    other = replace(held, packages={**held.packages, "numpy": "0.2", "packaging": "0.3"})
    after = Ready(other, ready.environment)
    ready = baseline(wanted, (), "2.0.0", after, "2.6.6", installer, tmp_path, lambda text: None)
    assert f"numpy {numpy} (numpy==0.2)" in ready.environment.reason
    assert f"of other versions than in the target: packaging {packaging} (0.3)" in ready.environment.reason


def test_the_projects_own_torch_takes_what_goes_with_it() -> None:
    plan = planned("1.8.6", "torch==1.13.1")
    assert plan.base[:2] == ("torch==1.13.1", "pytorch-lightning==1.8.6")
    assert "numpy<2" in plan.base
    assert plan.extras == ("numpy", "rich==15.0", "torchvision", "wandb<1")


@pytest.mark.parametrize(
    ("pin", "old"),
    [
        ("<2.3", True), ("==2.2.*", True), ("<=2.2", True), (">=1.9,<2", True), ("~=1.13.1", True), ("==2.0.1", True),
        ("~=2.0", False), ("==2.3.0", False), (">=2.4", False), ("<3", False), (">=1.9", False), ("!=2.0.*", False),
    ],
)  # fmt: skip
def test_which_torch_knows_only_the_old_numpy(pin: str, old: bool) -> None:
    assert ("numpy<2" in planned("1.9.5", f"torch{pin}").base) is old


def test_what_an_environment_said_is_remembered_until_it_changes(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    held = Interpreter(Path("/python"), "3.11.7", {"pytorch-lightning": "2.6.6"}, (str(packages),))
    name = {"event": "name", "name": "pytorch_lightning.Trainer", "missing": None}
    method = {"event": "method", "base": "pytorch_lightning.Trainer", "method": "fit", "exists": True}
    trainer = "pytorch_lightning.Trainer"
    asked: dict[str, list[Any]] = {"names": [trainer, "pytorch_lightning.x"], "methods": [[trainer, "fit"]]}
    assert unanswered(asked, remembered(tmp_path, held)) == asked
    remember(tmp_path, held, [name, {"event": "end"}])
    remember(tmp_path, held, [method])
    assert remembered(tmp_path, held) == (name, method)
    assert unanswered(asked, remembered(tmp_path, held)) == {"names": ["pytorch_lightning.x"], "methods": []}
    assert remembered(tmp_path, replace(held, packages={"pytorch-lightning": "2.6.5"})) == ()
    os.utime(packages, (0, 0))
    assert remembered(tmp_path, held) == ()
    developed = replace(held, packages={"pytorch-lightning": "2.7.0.dev0"})
    remember(tmp_path, developed, [name])
    assert remembered(tmp_path, developed) == ()


def test_a_given_interpreter_with_another_lightning_is_refused(tmp_path: Path) -> None:
    wanted = Wanted("pytorch-lightning", frozenset())
    with pytest.raises(Unavailable, match=r"-m pip install pytorch-lightning==2\.5\.6"):
        target(wanted, "2.5.6", inspect(Path(sys.executable)), find(threading.Event()), tmp_path, lambda text: None)


class Refusing(Installer):
    """One that has no way to install one distribution."""

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        return "no wheels" if "cuda-only" in requirements else super().install(folder, requirements, overrides)


@pytest.mark.parametrize("uv", [True, False])
def test_two_at_once_build_one_environment_that_the_next_finds(tmp_path: Path, uv: bool) -> None:
    found = find(threading.Event())
    tools = Refusing(**{**vars(found), "uv": found.uv if uv else None})
    plan = Plan(("idna", "six==1.17.0"), (), ("cuda-only", "packaging==0.0.1"))
    told: list[str] = []
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(build, plan, inspect(Path(sys.executable)), tools, tmp_path, told.append) for _ in range(2)]
        results = [job.result() for job in jobs]
    assert told == ["building an environment with six==1.17.0"]
    assert results[0] == results[1] == build(plan, inspect(Path(sys.executable)), tools, tmp_path, told.append)
    assert results[0][0].packages["six"] == "1.17.0"
    assert "packaging" in results[0][0].packages
    assert results[0][1] == ("cuda-only (no wheels)",)


def test_without_an_index_the_reason_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    found = find(threading.Event())
    dark = replace(
        found,
        flags=(*found.flags[:2], "--no-index", "--offline"),
        environment={**found.environment, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
    )
    plan = Plan(("torch==0.0.1", "pytorch-lightning==9.9.9"), (), ())
    with pytest.raises(Unavailable, match=r"pytorch-lightning==9\.9\.9 cannot be installed"):
        build(plan, inspect(Path(sys.executable)), dark, tmp_path / "cache", lambda text: None)
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir() and path.name != STORE]


@pytest.mark.parametrize(
    ("written", "python", "day"),
    [
        ("2024-06-01", "3.11.4", "2024-06-01"),
        ("2019-01-01", "3.11.4", "2022-11-23"),
        ("2026-01-01", "3.11.4", None),
        ("2024-06-01", "3.14.0", "2025-11-06"),
        ("2024-06-01", "3.99.0", None),
        (None, "3.11.4", None),
    ],
)
def test_old_code_gets_the_packages_of_its_day(written: str | None, python: str, day: str | None) -> None:
    assert as_of(written, python, date(2026, 11, 21)) == day


class Recorded(Installer):
    """Notes what is asked for; lists of more than two extras and dated `rare` cannot be installed."""

    def create(self, folder: Path, python: Path) -> str | None:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        (folder / "bin" / "python").chmod(0o755)
        return None

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        with (folder / "asked.txt").open("a") as stream:
            stream.write(json.dumps(list(requirements)) + "\n")
        dated = requirements[0].startswith("--exclude-newer=")
        return "no" if {"rare", "numpy"} <= set(requirements) or (dated and "rare" in requirements) else None

    def loads(self, folder: Path, module: str, first: str = "") -> bool:
        return True

    def says(self, folder: Path, code: str, *args: str) -> str:
        return ""

    def remove(self, folder: Path, name: str) -> None:
        with (folder / "removed.txt").open("a") as stream:
            stream.write(f"{name}\n")


def test_the_day_holds_for_what_is_added_and_falls_away_where_nothing_is_found(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    plan = Plan(("torch==1", "pytorch-lightning==1"), (), ("numpy", "rare", "torchvision"), "2024-06-01")
    _, left = build(plan, inspect(Path(sys.executable)), installer, tmp_path, lambda text: None)
    (asked,) = tmp_path.glob("pytorch-lightning-1-*/asked.txt")
    base, whole, *each = [json.loads(line) for line in asked.read_text().splitlines()]
    assert base == ["torch==1", "pytorch-lightning==1"]
    assert whole[0] == "--exclude-newer=2024-06-01"
    assert (asked.parent / "removed.txt").read_text() == "numpy\n"
    free = {flag.split("=")[1] for flag in whole if flag.startswith("--exclude-newer-package=")}
    assert {"torch", "torchvision", "pytorch-lightning"} <= free
    assert not {"numpy", "rare"} & free
    assert [given[-1] for given in each] == ["numpy", "rare", "rare", "torchvision"]
    assert [given[0].startswith("--") for given in each] == [True, True, False, True]
    assert left == ()


def test_of_addresses_only_those_of_git_over_https_are_installed_from(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    good = "good @ git+https://host/good.git"
    evil = [f"evil @ {url}" for url in ("git+file:///home", "git+ssh://git@host/evil", "git+http://host/evil")]
    plan = Plan(("torch==1", "pytorch-lightning==1"), (), (good, *evil))
    _, left = build(plan, inspect(Path(sys.executable)), installer, tmp_path, lambda text: None)
    (asked,) = tmp_path.glob("pytorch-lightning-1-*/asked.txt")
    assert [json.loads(line)[2:] for line in asked.read_text().splitlines()] == [[], ["git+https://host/good.git"]]
    assert left == tuple(f"{line} (of addresses, only git+https:// ones are installed from)" for line in evil)


class Wheels(Installer):
    """Brings the packages that are written down for it, with no index: a folder of text files by requirement."""

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        with (folder / "asked.txt").open("a") as stream:
            stream.write(json.dumps(list(requirements)) + "\n")
        (place,) = folder.glob("lib/*/site-packages")
        for line in requirements:
            text = BROUGHT.get(line)
            if text is not None:
                name = line.split("=")[0].split("<")[0]
                (place / f"{name}.py").write_text(text)
                (place / f"{name}-1.dist-info").mkdir(exist_ok=True)
                (place / f"{name}-1.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
                (place / f"{name}-1.dist-info" / "RECORD").write_text(f"{name}.py,,\n")
        return None if set(requirements) & set(BROUGHT) else "no such thing"


BROUGHT = {
    "base": "",
    "numpy": "",
    "numpy<1.24": "complex = 1",
    "hears": "import numpy\ntry:\n    numpy.complex\nexcept AttributeError:\n"
    "    raise AttributeError(\"module 'numpy' has no attribute 'complex'\") from None",
    "old==1": "x = (",
    "old": "import further",
    "further": "",
    "never": "raise OSError('needs hardware')",
    "ends": "import os; os._exit(1)",
}


def test_what_does_not_load_gets_other_versions_and_else_is_named(tmp_path: Path) -> None:
    found = find(threading.Event())
    tools = Wheels(**vars(found))
    plan = Plan(("base", "base"), (), ("ends", "hears", "never", "numpy", "old==1"))
    _, left = build(plan, inspect(Path(sys.executable)), tools, tmp_path, lambda text: None)
    assert left == (
        "ends (it does not load: it ends the interpreter)",
        "never (it does not load: OSError: needs hardware)",
    )
    (asked,) = tmp_path.glob("*/asked.txt")
    tried = [json.loads(line)[-1] for line in asked.read_text().splitlines()]
    assert {"numpy<1.24", "old", "further"} <= set(tried)
    assert build(plan, inspect(Path(sys.executable)), tools, tmp_path, lambda text: None)[1] == left


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
    plan = Plan(("torch==1", "pytorch-lightning==1"), (), ("gone", "gone-too", "numpy==1", "pinned==1"))
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
