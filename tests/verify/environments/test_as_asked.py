"""What is run beside what the tree after asks for: what is solved, what is said of it, and what may be claimed."""

from __future__ import annotations

import sys
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version

from tests.verify.installers import CONTAINED
from verify.environments import as_asked, versions
from verify.environments.as_asked import bound, bounded, fails_today, most, said
from verify.environments.installer import Installer, find
from verify.environments.interpreters import Interpreter, Unavailable, inspect
from verify.environments.solving import Solution, installed, solve
from verify.environments.versions import ReadyEnvironment, RequiredVersions
from verify.evidence import Alone, Environment, Evidence, Fact, Failure, Recording, RequirementFit, Rung, Verdict
from verify.judging.proof_list import replace_by_hand
from verify.request import Request

RUN = Recording("train.py", True, None, *[()] * 3, 8, 8, 2, *[()] * 2, None, None, 0.0)
PROOF = Evidence("g", ("A",), "same", "preserved", "8 losses are the same", before=RUN, after=RUN)
FILES = ("requirements.txt",)
OTHER = RequirementFit(
    FILES, (("torch", "2.3.1", "2.13.0+cpu"), ("torchvision", "0.18.1", "0.28.0")), (), "no torch 2.3.1+cpu can be had"
)
LACKS = RequirementFit(FILES, (), ("tensorboard 2.20.0",))
EXCLUDED = RequirementFit(
    FILES, (), (), "", "Because torchvision==0.18.1 depends on torch==2.3.1 and you require torch==2.1.0"
)


def proof(asked: RequirementFit | None, **changes: object) -> Evidence:
    evidence = replace(PROOF, environments=(Environment("target", "3.11.7", (), "why", asked=asked),))
    return bound(replace(evidence, **changes))


def wheel(folder: Path, name: str, version: str, *needs: str) -> None:
    folder.mkdir(exist_ok=True)
    told = "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        inside = f"{name}-{version}.dist-info"
        archive.writestr(f"{inside}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{told}")
        archive.writestr(f"{inside}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{inside}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path) -> Installer:
    """An index of our own, with uv to ask it."""
    wheels = tmp_path / "wheels"
    for version in ("2.3.1", "2.13.0+cpu"):
        wheel(wheels, "torch", version)
    wheel(wheels, "torchvision", "0.18.1", "torch==2.3.1")
    wheel(wheels, "torchvision", "0.28.0", "torch==2.13.0")
    wheel(wheels, "lightning", "2.6.6", "torch>=2.1", "numpy")
    wheel(wheels, "numpy", "1.26.4")
    wheel(wheels, "numpy", "2.4.0")
    wheel(wheels, "tensorboard", "2.20.0", "numpy")
    found = find(threading.Event(), CONTAINED)
    assert found.uv, "uv comes with the extra `verify`"
    return replace(found, flags=("--no-index", "--find-links", str(wheels)))


HERE = inspect(Path(sys.executable))
THERE = replace(HERE, packages={"torch": "2.13.0+cpu"})


def chosen(
    lines: str,
    tmp_path: Path,
    index: Installer,
    monkeypatch: pytest.MonkeyPatch,
    *needs: str,
    setup_cfg: str = "",
    lacks: frozenset[str] = frozenset(),
    most_at_once: int = 9,
) -> RequirementFit:
    """What is said of an environment for a tree with these requirements; nothing is installed: the environment is taken
    to hold what it was asked to but what it `lacks`, and the torch that is here where it was asked for none. No more
    distributions than `most_at_once` are to be had in time."""
    tree = tmp_path / "tree"
    tree.mkdir(parents=True)
    (tree / "requirements.txt").write_text(lines)
    (tree / "setup.cfg").write_text(setup_cfg)

    def built(wanted: RequiredVersions, *args: object, solved: Mapping[str, str] | None = None) -> ReadyEnvironment:
        if len(wanted.packages | wanted.unused) > most_at_once:
            if not args[6]:
                raise Unavailable("there was no time")
            return ReadyEnvironment(THERE, Environment("target", HERE.python, (), "no other is available"))
        releases = dict(args[5]) if len(args) > 5 else dict(solved or {})  # type: ignore[call-overload]
        there = releases or {"torch": "2.13.0+cpu", "lightning": "2.6.6", "torchvision": "0.28.0", "numpy": "2.4.0"}
        there |= {name: "9.0" for name in wanted.packages if name not in there}
        there = {name: version for name, version in there.items() if name not in lacks}
        python = replace(HERE, packages=there)
        return ReadyEnvironment(python, Environment("target", HERE.python, (), "why"))

    monkeypatch.setattr(versions, "target", built)
    monkeypatch.setattr(as_asked, "inspect", lambda path: THERE)
    wanted = RequiredVersions("lightning", frozenset({"numpy", *needs}))
    ready = as_asked.target(wanted, wanted.packages, tree, "2.6.6", None, index, tmp_path / "cache", print)
    assert ready.environment.asked
    return ready.environment.asked


def test_what_the_branch_asks_for_as_a_whole_decides_about_the_releases(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numpy 2.4 is newest, and nothing that is imported keeps it out: what only the manifest names does."""
    wheel(tmp_path / "wheels", "old", "1.0", "numpy<2")
    asked = chosen("lightning\nold\ntorchvision\n", tmp_path, index, monkeypatch)
    assert asked == RequirementFit(FILES, newest=True)
    found = solve(["lightning", "old"], ["torch==2.13.0+cpu"], HERE, index, tmp_path / "cache")
    assert found.releases == {"lightning": "2.6.6", "numpy": "1.26.4", "old": "1.0", "torch": "2.13.0+cpu"}


def test_what_nothing_imports_is_installed_too_and_told_where_that_cannot_be(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lightning loads some of it where it is there. What nothing that ran uses bounds no claim."""
    wheel(tmp_path / "wheels", "old", "1.0")
    lines = "lightning\nold\nabsent; python_version < '3'\n"
    assert chosen(lines, tmp_path / "a", index, monkeypatch) == RequirementFit(FILES, newest=True)
    lacking = chosen(lines, tmp_path / "b", index, monkeypatch, lacks=frozenset({"old"}))
    assert lacking == RequirementFit(FILES, newest=True, missing=("old 1.0",))
    assert said(lacking) == "not installed here, and used by nothing that ran: old 1.0"
    assert most(lacking) is None
    late = chosen(lines, tmp_path / "c", index, monkeypatch, lacks=frozenset({"old"}), most_at_once=1)
    assert late == lacking, "without time for all, what is imported is installed alone"


def test_what_only_a_gpu_has_a_use_for_is_left_out(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path / "wheels", "nvidia_cublas", "1.0")
    assert chosen("lightning\nnvidia-cublas\n", tmp_path, index, monkeypatch, most_at_once=1) == RequirementFit(
        FILES, newest=True
    )


def test_another_torch_is_said_where_no_build_of_the_pinned_one_is_here(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = chosen("lightning==2.6.6\ntorch==2.3.1\ntorchvision==0.18.1\n", tmp_path, index, monkeypatch)
    assert asked.differs == (("torch", "2.3.1", "2.13.0+cpu"), ("torchvision", "0.18.1", "0.28.0"))
    assert "torch 2.3.1+cpu is not available here" in asked.why and not asked.excluded


def test_a_build_of_the_pinned_torch_is_taken_where_there_is_one(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path / "wheels", "torch", "2.3.1+cpu")
    assert chosen("lightning\ntorch==2.3.1\ntorchvision==0.18.1\n", tmp_path, index, monkeypatch) == RequirementFit(
        FILES, newest=True
    )


def test_what_nothing_asked_for_brings_is_named(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ("tensorboard", "tensorboardx")
    assert chosen("lightning\n", tmp_path, index, monkeypatch, *both).added == ("tensorboard 9.0",)
    asked = chosen("lightning\ntorch==2.3.1\n", tmp_path / "other", index, monkeypatch, *both)
    assert asked.differs and asked.added == ("tensorboard 9.0",), "it is lacking with any torch"


@pytest.mark.parametrize("named", ["tensorboard", "opencv-python"])
def test_what_the_manifest_names_serves(
    named: str, tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path / "wheels", "opencv_python", "4.0")
    needs = {"tensorboard": ("tensorboard", "tensorboardx"), "opencv-python": ("opencv-python-headless",)}[named]
    assert not chosen(f"lightning\n{named}\n", tmp_path, index, monkeypatch, *needs).added


def test_what_runs_the_tests_is_nothing_that_the_program_lacks(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path / "wheels", "pytest", "9.0")
    assert not chosen("lightning\n", tmp_path, index, monkeypatch, "pytest").added


def test_manifests_that_exclude_each_other_are_told_from_what_this_machine_lacks(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = chosen("lightning\ntorch==2.13.0\ntorchvision==0.18.1\n", tmp_path, index, monkeypatch)
    assert "depends on torch==2.3.1" in asked.excluded
    unknown = solve(["lightning", "a-company-s-own"], (), HERE, index, tmp_path / "cache")
    assert not unknown and not unknown.contradicts, unknown
    without = solve(["lightning"], (), HERE, replace(index, uv=None), tmp_path / "cache")
    assert not without and not without.contradicts and "uv" in without.why


def test_a_python_that_the_branch_refuses_is_said(
    tmp_path: Path, index: Installer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cfg = "[options]\npython_requires = <3.9\n"
    asked = chosen("lightning\n", tmp_path, index, monkeypatch, setup_cfg=cfg)
    assert asked.differs == (("Python", "<3.9", HERE.python),)


def test_what_is_here_is_asked_of_itself() -> None:
    """Nothing is downloaded where the interpreter that fixer runs in meets all of it."""
    found = installed(["torch>=2.1", "pytorch-lightning==2.6.6", "packaging; python_version > '3'"])
    assert found and found["pytorch-lightning"] == "2.6.6" and Version(found["torchmetrics"]) and "fsspec" in found
    assert installed(["torch==1.0"]) is None
    assert installed(["a-name-that-nobody-has"]) is None
    assert installed(["a-name-that-nobody-has; python_version < '3'"]) == {}


@pytest.mark.parametrize(
    ("asked", "verdict", "rung", "first"),
    [
        (None, "preserved", "same", "8 losses are the same"),
        (RequirementFit(FILES), "preserved", "same", "8 losses are the same"),
        (
            OTHER,
            "preserved",
            "trains",
            "Ran with torch 2.13.0+cpu, torchvision 0.28.0; the branch asks for torch 2.3.1, torchvision 0.18.1 "
            "(no torch 2.3.1+cpu can be had); 8 losses",
        ),
        (
            LACKS,
            "preserved",
            "conforms",
            "not in the branch's requirements: tensorboard 2.20.0, without which it does not run: add it; 8 losses",
        ),
        (
            EXCLUDED,
            "inconclusive",
            "conforms",
            "the branch cannot be installed as it asks: Because torchvision==0.18.1",
        ),
    ],
)
def test_the_first_line_says_it_and_the_rung_is_no_higher(
    asked: RequirementFit | None, verdict: Verdict, rung: Rung, first: str
) -> None:
    found = proof(asked)
    assert (found.verdict, found.rung) == (verdict, rung)
    assert found.reason.startswith(first) and found.reason.endswith("8 losses are the same")


def test_a_rung_is_lowered_and_never_raised() -> None:
    assert [most(each) for each in (RequirementFit(FILES), OTHER, LACKS, EXCLUDED)] == [
        None,
        "trains",
        "conforms",
        "conforms",
    ]
    assert proof(OTHER, rung="conforms").rung == "conforms"
    assert proof(OTHER, rung=None, verdict="regressed").rung is None
    assert proof(EXCLUDED, rung=None, verdict="regressed").verdict == "regressed"
    part = Alone("m.py:M", "", "", (), "preserved", "same", "", None, None, None, RUN)
    assert [each.rung for each in proof(LACKS, alone=(part,)).alone] == ["conforms"]


def test_nothing_is_said_of_what_was_not_run() -> None:
    assert proof(OTHER, after=None, rung="conforms", verdict="inconclusive").reason == "8 losses are the same"
    assert "cannot be installed" in proof(EXCLUDED, after=None, rung="conforms").reason


def test_what_could_not_be_solved_and_fits_is_said_as_that() -> None:
    asked = RequirementFit(FILES, (), (), "uv is not here")
    assert said(asked) == "What was run fits requirements.txt, which was not installed as a whole: uv is not here"
    assert most(asked) == "trains"
    assert not Solution({}, "why") and Solution({"torch": "2"})
    assert isinstance(HERE, Interpreter)


ENDED = replace(RUN, fitted=False, failure=Failure("ImportError", "cannot import name AdamW", "train.py:3"))
NEITHER = Evidence(
    "g", ("A",), "conforms", "inconclusive", "neither tree trains", before=ENDED, after=ENDED,
    environments=(Environment("target", "3.11.7", (), "why", asked=RequirementFit(FILES, newest=True)),),
)  # fmt: skip
OLD = Request("g", ("A",), ("train.py",), "2.6.6", None, (), (), written="2021-05-01")


@pytest.mark.parametrize(
    ("second", "verdict", "rung", "first"),
    [
        (
            replace(PROOF, environments=(Environment("target", "3.11.7", (), "dated"),)),
            "preserved",
            "conforms",
            "installed today as requirements.txt ask, it does not train (ImportError: cannot import name AdamW); "
            "ran with packages from when the code was written; 8 losses",
        ),
        (NEITHER, "inconclusive", "conforms", "neither tree trains"),
    ],
)
def test_code_that_does_not_know_the_packages_of_today_is_tried_with_its_own(
    second: Evidence, verdict: Verdict, rung: Rung, first: str, tmp_path: Path
) -> None:
    asked: list[bool] = []

    def prove(before: Path, after: Path, request: Request, progress: object) -> Evidence:
        asked.append(request.as_asked)
        return NEITHER if request.as_asked else second

    found = bounded(prove)(tmp_path, tmp_path, OLD, print)
    assert (found.verdict, found.rung, asked) == (verdict, rung, [True, False])
    assert found.reason.startswith(first)


def test_code_of_today_and_what_has_nothing_newer_is_run_once() -> None:
    assert fails_today(NEITHER, OLD)
    assert not fails_today(NEITHER, replace(OLD, written=None))
    assert not fails_today(replace(NEITHER, verdict="regressed"), OLD)
    assert not fails_today(replace(NEITHER, after=RUN), OLD)
    left = "train.py:9: `terminate_on_nan` of Trainer was removed in Lightning 1.7"
    assert not fails_today(replace(NEITHER, facts=(replace_by_hand(left),)), OLD)
    assert fails_today(replace(NEITHER, facts=(Fact("next", "put data there"),)), OLD)
    held = (Environment("target", "3.11.7", (), "why", asked=RequirementFit(FILES)),)
    assert not fails_today(replace(NEITHER, environments=held), OLD)
