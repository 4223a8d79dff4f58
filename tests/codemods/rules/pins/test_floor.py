"""Requirements on torch that are raised for what was rewritten."""

from __future__ import annotations

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.lightning.pins.specifier import floored
from codemods.rules.backward.bwd004 import AFTER, BEFORE
from codemods.rules.backward.bwd004 import RULE as HOOKS
from codemods.rules.pins.pin001 import RULE as PINS
from fixer.files import kind_of


def planned(files: dict[str, str], code: str = BEFORE) -> Plan:
    every = {"train.py": code, **files}
    return plan(
        [Source(path, kind_of(path) or "other", text.encode()) for path, text in every.items()],
        Options((HOOKS, PINS), target="2.6.6", pins=tuple(files.get("requirements.txt", "").split("\n"))),
    )


def raised(text: str, path: str = "requirements.txt") -> str:
    """The manifest after the rules, which have rewritten the hooks too."""
    made = planned({path: text})
    assert made.bugs == ()
    final = made.final()
    assert final["train.py"].decode() == AFTER
    after = final.get(path, text.encode()).decode()
    assert planned({path: after}, AFTER).changes == ()
    return after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch>=1.8", "torch>=2.1"),
        ("torch >= 1.13.1, <3  # why", "torch >= 2.1.0, <3  # why"),
        ("torch>=1.13,!=2.0.0", "torch>=2.1,!=2.0.0"),
        ("torch", "torch>=2.1"),
        ("torch>=2.0,<2.4", "torch>=2.1,<2.4"),
        ("torch<3", "torch>=2.1,<3"),
        ("torch>=2.1", "torch>=2.1"),
        ("torch==2.3.1", "torch==2.3.1"),
        ("torch~=2.0", "torch~=2.1"),
    ],
)
def test_raised_with_the_hooks(before: str, after: str) -> None:
    assert raised(f"{before}\n") == f"{after}\n"


def test_poetry() -> None:
    text = '[tool.poetry.dependencies]\ntorch = "^2.0"\n'
    assert raised(text, "pyproject.toml") == text.replace("^2.0", "^2.1")


def test_nothing_was_rewritten() -> None:
    assert planned({"requirements.txt": "torch>=1.8\n"}, AFTER).changes == ()


def test_a_lightning_that_asks_for_it_is_enough() -> None:
    text = "lightning==2.6.6\ntorch>=1.8\n"
    assert raised(text) == text
    older = "lightning>=2.2,<2.6.2\ntorch>=1.8\n"
    assert raised(older) == older.replace("1.8", "2.1")


def test_a_manifest_is_for_the_code_that_has_no_nearer_one() -> None:
    inner = {"examples/gan/requirements.txt": "torch>=1.8\n", "examples/gan/train.py": "import torch\n"}
    root = {"requirements.txt": "torch>=1.12\n", "docs/requirements.txt": "torch\n"}
    made = planned({**inner, **root}).final()
    assert set(made) == {"train.py", "requirements.txt", "docs/requirements.txt"}
    made = planned({**inner, **root, "requirements.txt": "torch>=2.2\n"}).final()
    assert set(made) == {"train.py"}


LEFT = {
    "conda": ({"environment.yaml": "dependencies:\n  - pytorch>=1.8\n"}, "CUDA packages"),
    "built for an older one": (
        {"requirements.txt": "torch>=1.8\ntorchvision<0.16\n"},
        "raise it together with torchvision<0.16",
    ),
    "hashes": ({"requirements.txt": f"torch>=2.0,<2.4 --hash=sha256:{'0' * 64}\n"}, "hashes are those"),
    "too old in another file": (
        {"requirements.txt": "torch>=1.8\n", "dev-requirements.txt": "torch<2.1\n"},
        "raise it",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_left_to_a_person(name: str) -> None:
    files, why = LEFT[name]
    made = planned(files)
    assert made.bugs == ()
    assert made.final()["train.py"].decode() == AFTER
    (reason,) = [item.reason for item in made.findings if item.code == "PIN001" and item.fix == "manual"]
    assert "needs torch>=2.1" in reason and why in reason


@pytest.mark.parametrize(("text", "result"), [("==1.13.1", None), ("<2.1", None), ("===2.2.0", "===2.2.0")])
def test_what_admits_no_release_from_there_on_has_no_floor(text: str, result: str | None) -> None:
    assert floored(text, "2.1.0") == result
