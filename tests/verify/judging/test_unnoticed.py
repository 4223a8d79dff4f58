"""Changes that no tree can notice are proven by that, and no others are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from verify.environments import versions
from verify.evidence import Rung
from verify.prove import prove
from verify.request import Request

CODE = "import pytorch_lightning as pl\n\npl.Trainer(max_epochs=1).fit(None)\n"
REQUEST = Request("g", ("PIN001",), (), "2.6.6", None, ("lightning>=2.0",), ("lightning>=2.0,!=2.6.2,!=2.6.3",))
TOML = """[project]
name = "mine"
dependencies = ["lightning>=2.0", "numpy"]

[tool.ruff]
line-length = 100
"""
EXCLUDED = TOML.replace('>=2.0"', '>=2.0,!=2.6.2,!=2.6.3"')


def proven(folder: Path, path: str, old: str | None, new: str | None, **more: object) -> str | None:
    """The reason where a change was proven without a run; None where it would be run."""
    for side, text in (("before", old), ("after", new)):
        place = folder / side / path
        place.parent.mkdir(parents=True)
        (folder / side / "train.py").write_text(CODE + str(more.pop("reads", "") if side == "before" else ""))
        if text is not None:
            place.write_text(text)
    request = Request(**{**vars(REQUEST), "changed": (path,), **more})  # type: ignore[arg-type]
    evidence = prove(folder / "before", folder / "after", request, lambda text: None)
    if evidence.verdict != "preserved":
        return None
    assert evidence.before is evidence.after is None and evidence.environments == ()
    return evidence.reason


@pytest.fixture(autouse=True)
def nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be run ends at once."""

    def no_environment(*_: object) -> None:
        raise versions.Unavailable("an environment was asked for")

    monkeypatch.setattr(versions, "target", no_environment)


def test_one_line_of_toml_that_chooses_the_same_release(tmp_path: Path) -> None:
    told = proven(tmp_path, "pyproject.toml", TOML, EXCLUDED)
    assert told == (
        "nothing that runs was changed, so nothing was run: "
        "requirements that choose the same releases (pyproject.toml): Lightning 2.6.6"
    )


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("requirements.txt", "lightning>=2.0\nnumpy\n", "lightning>=2.0,!=2.6.2,!=2.6.3\nnumpy\n"),
        ("setup.py", "setup(requires=['lightning>=2.0'])", "setup(requires=['lightning >=2.0,!=2.6.2'])"),
        ("pyproject.toml", '[tool.poetry.dependencies]\nlightning = ">=2.0"\n',
         '[tool.poetry.dependencies]\nlightning = ">=2.0,!=2.6.2"\n'),
    ],
)  # fmt: skip
def test_exclusions_of_every_kind_of_manifest(tmp_path: Path, path: str, old: str, new: str) -> None:
    told = proven(tmp_path, path, old, new)
    assert told and "requirements that choose the same releases" in told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("lightning>=1.5,<2",), ("lightning>=2.0",)),
        (("lightning>=2.0",), ("lightning>=2.0,<2.5",)),
        (("lightning>=2.0", "torch==2.3.1"), ("lightning>=2.0", "torch>=2.3.1")),
        (("lightning>=2.0", "torchmetrics<1"), ("lightning>=2.0", "torchmetrics>=1")),
    ],
)
def test_requirements_that_choose_otherwise_are_run(tmp_path: Path, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    texts = ["\n".join(pins) for pins in (old, new)]
    assert proven(tmp_path, "requirements.txt", *texts, before_pins=old, after_pins=new) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TOML, EXCLUDED.replace('"numpy"', '"numpy<2"')),
        (TOML, EXCLUDED.replace('"mine"', '"other"')),
        (TOML, EXCLUDED + '[build-system]\nrequires = ["setuptools"]\n'),
        (TOML, "not toml ["),
    ],
)
def test_what_else_a_manifest_says_is_run(tmp_path: Path, old: str, new: str) -> None:
    assert proven(tmp_path, "pyproject.toml", old, new) is None


def test_code_that_is_older_than_the_release_is_run(tmp_path: Path) -> None:
    assert proven(tmp_path, "pyproject.toml", TOML, EXCLUDED, baseline_below="2.0.0") is None


SAME = {"before_pins": ("lightning",), "after_pins": ("lightning",)}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("util.py", "x = 1\n", "x = (1)  # one\n"),
        ("README.md", "before", "after"),
        ("docs/new.rst", None, "new"),
        (".github/workflows/ci.yml", "on: push", "on: pull_request"),
        ("pyproject.toml", TOML, TOML.replace("100", "120")),
        ("config.yaml", "rate: 0.1\n", "# the rate\nrate: 0.1\n"),
        ("config.json", '{"a": 1}', '{\n  "a": 1\n}'),
    ],
)
def test_what_nothing_notices(tmp_path: Path, path: str, old: str | None, new: str) -> None:
    told = proven(tmp_path, path, old, new, **SAME)
    assert told and path in told


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("util.py", "x = 1\n", "x = 2\n"),
        ("util.py", '"""Says this."""\n', '"""Says that."""\n'),
        ("util.py", None, "x = 1\n"),
        ("util.py", "x = (", "x = [\n"),
        ("config.yaml", "rate: 0.1\n", "rate: 0.2\n"),
        ("config.yaml", "a: 1\nb: 2\n", "b: 2\na: 1\n"),
        ("config.json", '{"a": 1}', '{"a": 1.0}'),
        ("data.csv", "1", "2"),
        ("run.sh", "python train.py", "python train.py --fast"),
    ],
)
def test_what_a_tree_may_notice_is_run(tmp_path: Path, path: str, old: str | None, new: str) -> None:
    assert proven(tmp_path, path, old, new, **SAME) is None


def test_a_text_that_code_names_may_be_read(tmp_path: Path) -> None:
    assert proven(tmp_path / "a", "words.md", "one", "two", **SAME) is not None
    assert proven(tmp_path / "b", "words.md", "one", "two", reads="open('words.md')\n", **SAME) is None


@pytest.mark.parametrize(("required", "rung"), [(None, "conforms"), ("conforms", "conforms"), ("same", None)])
def test_no_rung_is_claimed_that_needs_a_run(tmp_path: Path, required: Rung | None, rung: Rung | None) -> None:
    for side, text in (("before", TOML), ("after", EXCLUDED)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "pyproject.toml").write_text(text)
    asked = replace(REQUEST, changed=("pyproject.toml",), required=required)
    assert prove(tmp_path / "before", tmp_path / "after", asked, lambda text: None).rung == rung


def test_code_that_uses_lightning_reaches_no_rung_unless_it_was_looked_up(tmp_path: Path) -> None:
    for side, text in (("before", CODE), ("after", f"# trains\n{CODE}")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "train.py").write_text(text)
    asked = replace(REQUEST, changed=("train.py",), before_pins=(), after_pins=())
    evidence = prove(tmp_path / "before", tmp_path / "after", asked, lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("preserved", None)
    asked = replace(asked, required="conforms")
    assert prove(tmp_path / "before", tmp_path / "after", asked, lambda text: None).verdict == "inconclusive"
