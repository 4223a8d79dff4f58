from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from tests.verify.installers import CONTAINED, FOLDERS, Recorded
from verify.environments.baseline import Choice
from verify.environments.building import EnvironmentPlan
from verify.environments.dates import as_of
from verify.environments.installer import find
from verify.environments.interpreters import Interpreter, Unavailable, inspect, inspect_named
from verify.environments.remembered_names import ASKING, remember, remembered, unanswered
from verify.environments.versions import (
    ReadyEnvironment,
    RequiredVersions,
    baseline,
    baseline_plan,
    given_baseline,
    target,
)
from verify.evidence import Environment
from verify.sandbox.containment import contain


def test_an_interpreter_says_what_it_is_and_what_is_none_is_named() -> None:
    found = inspect(Path(sys.executable))
    assert found.python.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")
    assert "packaging" in found.packages
    with pytest.raises(Unavailable, match="does not run"):
        inspect(Path("/nowhere/python"))


def test_what_fixer_runs_in_serves_as_target(tmp_path: Path) -> None:
    wanted = RequiredVersions("pytorch-lightning", frozenset({"numpy"}))
    ready = target(wanted, "2.6.6", None, find(threading.Event()), tmp_path, lambda text: None)
    assert ready.interpreter.path == Path(sys.executable)
    assert dict(ready.environment.packages)["pytorch-lightning"] == "2.6.6"


class Dark(Recorded):
    """An installer without a network."""

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        return "no address was found"


def test_without_a_network_the_proof_goes_on_with_what_is_here(tmp_path: Path) -> None:
    installer = Dark(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    wanted = RequiredVersions("pytorch-lightning", frozenset({"numpy", "no-such-package"}))
    ready = target(wanted, "2.6.6", None, installer, tmp_path, lambda text: None)
    assert (ready.interpreter.path, ready.absent) == (Path(sys.executable), frozenset({"no-such-package"}))
    assert "as no other is available: pytorch-lightning==2.6.6 cannot be installed: no address" in (
        ready.environment.reason
    )
    assert ready.environment.reason.endswith("beside this torch: no-such-package")
    with pytest.raises(Unavailable, match=r"2\.6\.6 cannot be installed: no address was found"):
        target(wanted, "2.6.6", None, installer, tmp_path, lambda text: None, is_last=False)
    with pytest.raises(Unavailable, match=r"2\.5\.6 cannot be installed: no address was found"):
        target(wanted, "2.5.6", None, installer, tmp_path, lambda text: None)


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
    wanted = RequiredVersions("pytorch-lightning", frozenset())
    held = {"pytorch-lightning": "1.6.5", "torch": "1.13.1"}
    ready = given_baseline(Interpreter(Path("/old"), "3.8.18", held), wanted, ("pytorch-lightning==1.6.*",), {})
    assert ready.environment.reason == "the interpreter that was asked for, with Lightning 1.6.5"
    assert dict(ready.environment.packages) == held
    ready = given_baseline(Interpreter(Path("/old"), "3.8.18", held), wanted, ("pytorch-lightning==1.7.7",), {})
    assert ready.environment.reason.endswith("although the pins ask for pytorch-lightning==1.7.7")
    asked = RequiredVersions("pytorch-lightning", frozenset({"numpy"}), ("numpy<1.20",))
    there = {**held, "numpy": "1.24.0", "rich": "13.0"}
    ready = given_baseline(Interpreter(Path("/old"), "3.8.18", there), asked, (), SAME)
    assert ready.environment.reason.endswith(
        "; of other versions than asked for: numpy 1.24.0 (numpy<1.20); of other versions than in the target: "
        "rich 13.0 (15.0)"
    )
    with pytest.raises(Unavailable, match="/old -m pip install torch pytorch-lightning"):
        given_baseline(Interpreter(Path("/old"), "3.8.18", {}), wanted, (), {})


SAME = {"torch": "2.13.0", "numpy": "2.4.0", "torchvision": "0.28.0", "torchmetrics": "1.9.0", "rich": "15.0"}


def planned(release: str, torch: str | None, name: str = "pytorch-lightning") -> EnvironmentPlan:
    wanted = RequiredVersions(name, frozenset({"numpy", "rich", "torchvision", "wandb"}), ("wandb<1", "rich==9"))
    return baseline_plan(wanted, Choice(Version(release), "why"), SAME, torch)


def test_the_baseline_differs_in_lightning_alone() -> None:
    plan = planned("1.9.5", None)
    assert plan.base == ("torch==2.13.0", "pytorch-lightning==1.9.5", "setuptools<82", "torchmetrics==1.9.0")
    assert plan.extras == ("numpy==2.4.0", "rich==15.0", "torchvision==0.28.0", "wandb<1")
    old = planned("1.5.10", None)
    assert old.base[2:] == ("setuptools<82", "torchmetrics<0.12")
    assert old.overrides == ("setuptools<82",)


@pytest.mark.parametrize(
    ("pins", "packages", "asked"),
    [
        (("torchmetrics==0.10.3",), {"torchmetrics"}, ["torchmetrics==0.10.3", "torchmetrics==1.9.0"]),
        (("torchmetrics>=0.7",), {"torchmetrics"}, ["torchmetrics==1.9.0"]),
        (("torchmetrics==0.6; python_version < '3.8'",), {"torchmetrics"}, ["torchmetrics==1.9.0"]),
        (("torchmetrics==0.10.3",), {"rich"}, ["torchmetrics==1.9.0"]),
        ((), {"torchmetrics"}, ["torchmetrics==1.9.0"]),
    ],
)
def test_metrics_of_the_project_are_its_own_where_they_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pins: tuple[str, ...], packages: set[str], asked: list[str]
) -> None:
    built: list[str] = []

    def build(plan: EnvironmentPlan, *others: Any) -> None:
        built.append(next(line for line in plan.base if line.startswith("torchmetrics")))
        raise Unavailable("nothing installs")

    monkeypatch.setattr("verify.environments.versions.build", build)
    held = Interpreter(Path(sys.executable), "3.11.7", {"torchmetrics": "1.9.0", "torch": "2.13.0"})
    after = ReadyEnvironment(held, Environment("target", held.python, (), "why"))
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    wanted = RequiredVersions("pytorch-lightning", frozenset({"numpy", *packages}), pins)
    with pytest.raises(Unavailable):
        baseline(wanted, ("pytorch-lightning==1.9.5",), None, after, "2.6.6", installer, tmp_path, print)
    assert built == asked


@pytest.mark.parametrize("lightning", ["1.9.5", "2.6.6"])
@pytest.mark.parametrize("installs", [True, False])
def test_other_metrics_than_the_project_pins_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lightning: str, installs: bool
) -> None:
    """Also where Lightning is the same in both trees."""

    def build(plan: EnvironmentPlan, *others: Any) -> tuple[Interpreter, tuple[str, ...]]:
        own = "torchmetrics<0.8" in plan.base
        if own and not installs:
            raise Unavailable("that does not install")
        metrics = "0.7.3" if own else "1.9.0"
        return replace(held, packages={**SAME, "pytorch-lightning": lightning, "torchmetrics": metrics}), ()

    monkeypatch.setattr("verify.environments.versions.build", build)
    held = Interpreter(Path(sys.executable), "3.11.7", {**SAME, "pytorch-lightning": "2.6.6"})
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    wanted = RequiredVersions("pytorch-lightning", frozenset({"numpy", "torchmetrics"}), ("torchmetrics<0.8",))
    after = ReadyEnvironment(held, Environment("target", held.python, (), "why"))
    ready = baseline(wanted, (f"pytorch-lightning=={lightning}",), None, after, "2.6.6", installer, tmp_path, print)
    told = (
        "than in the target: torchmetrics 0.7.3 (1.9.0)"
        if installs
        else "than asked for: torchmetrics 1.9.0 (torchmetrics<0.8)"
    )
    assert f"; of other versions {told}" in ready.environment.reason
    assert dict(ready.environment.packages)["pytorch-lightning"] == lightning
    assert (ready.interpreter is held) is (lightning == "2.6.6" and not installs)


@pytest.mark.parametrize(
    ("pins", "asked"),
    [
        (("rich>=9,<12",), "rich<12,>=9"),
        (("rich==9; python_version < '3.8'",), "rich"),
        (("rich==12; python_version >= '3.8'", "rich==9; python_version < '3.8'"), "rich==12"),
        (("rich[jupyter]==9",), "rich[jupyter]==9"),
        (("rich==9; extra == 'more'",), "rich"),
    ],
)
def test_a_pin_counts_where_it_holds_and_what_is_imported_is_installed_anyway(
    pins: tuple[str, ...], asked: str
) -> None:
    wanted = RequiredVersions(
        "pytorch-lightning", frozenset({"jsonargparse[signatures]", "rich"}), (*pins, "jsonargparse==4.20")
    )
    plan = baseline_plan(wanted, Choice(Version("1.9.5"), "why"), {}, None)
    assert plan.extras == ("jsonargparse[signatures]==4.20", asked)


def test_what_the_target_could_not_get_is_not_tried_again(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    wanted = RequiredVersions("pytorch-lightning", frozenset({"numpy", "cuda-only"}))
    held = inspect(Path(sys.executable))
    environment = Environment("target", held.python, (), "why")
    for absent, asked in ((frozenset({"cuda-only"}), False), (frozenset(), True)):
        after = ReadyEnvironment(held, environment, frozenset(absent))
        cache = tmp_path / str(asked)
        ready = baseline(
            wanted, ("pytorch-lightning==1.9.5",), None, after, "2.6.6", installer, cache, lambda text: None
        )
        (text,) = (path.read_text() for path in cache.glob("*/asked.txt"))
        assert ("cuda-only" in text) is asked
        assert ("cuda-only (as in the target)" in ready.environment.reason) is not asked


def test_releases_that_pip_refuses_need_uv(tmp_path: Path) -> None:
    installer = Recorded(None, (), {}, threading.Event(), CONTAINED, FOLDERS)
    held = inspect(Path(sys.executable))
    after = ReadyEnvironment(held, Environment("target", held.python, (), "why"))
    wanted = RequiredVersions("pytorch-lightning", frozenset({"numpy"}))
    with pytest.raises(Unavailable, match=r"Lightning 1\.6\.5 .* installs only with uv: `pip install uv`"):
        baseline(wanted, ("pytorch-lightning==1.6.5",), None, after, "2.6.6", installer, tmp_path, print)


def test_packages_that_differ_from_what_was_asked_for_or_from_the_target_are_told(tmp_path: Path) -> None:
    installer = Recorded(Path("uv"), (), {}, threading.Event(), CONTAINED, FOLDERS)
    held = inspect(Path(sys.executable))
    numpy, packaging = (held.packages[name] for name in ("numpy", "packaging"))
    wanted = RequiredVersions("pytorch-lightning", frozenset({"numpy"}), ("numpy==0.1",))
    ready = target(wanted, "2.6.6", None, installer, tmp_path, lambda text: None)
    assert f"of other versions than asked for: numpy {numpy} (numpy==0.1)" in ready.environment.reason
    ready = target(wanted, "2.6.5", None, installer, tmp_path, lambda text: None)
    assert f"numpy {numpy} (numpy==0.1)" in ready.environment.reason
    other = replace(held, packages={**held.packages, "numpy": "0.2", "packaging": "0.3"})
    after = ReadyEnvironment(other, ready.environment)
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
    name = {"event": "name", "name": "pytorch_lightning.Trainer", "missing": None, "role": None}
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


@pytest.mark.parametrize("number", range(len(ASKING)))
def test_what_other_code_asked_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    held = Interpreter(Path("/python"), "3.11.7", {"pytorch-lightning": "2.6.6"}, ())
    remember(tmp_path, held, [{"event": "name", "name": "a.B", "missing": None, "role": None}])
    assert remembered(tmp_path, held)
    (tmp_path / "other.py").write_text("other")
    monkeypatch.setattr(
        "verify.environments.remembered_names.ASKING", (*ASKING[:number], tmp_path / "other.py", *ASKING[number + 1 :])
    )
    assert remembered(tmp_path, held) == ()


def test_a_given_interpreter_with_another_lightning_is_refused(tmp_path: Path) -> None:
    wanted = RequiredVersions("pytorch-lightning", frozenset())
    with pytest.raises(Unavailable, match=r"-m pip install pytorch-lightning==2\.5\.6"):
        target(wanted, "2.5.6", inspect(Path(sys.executable)), find(threading.Event()), tmp_path, lambda text: None)


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
