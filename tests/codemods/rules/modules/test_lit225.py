"""LIT225: what never runs any more."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.support import rule, run_rules, sources

HEAD = "import pytorch_lightning as pl\nfrom packaging.version import Version, parse\n\n"


def findings(text: str, target: str = "2.6.6") -> list[tuple[int, str]]:
    made = plan(sources({"a.py": HEAD + text}), Options((rule("LIT225"),), target=target))
    return [(item.span.line, f"{item.message} {item.reason}") for item in made.findings]


@pytest.mark.parametrize(
    ("test", "answer"),
    [
        ("parse(pl.__version__) >= parse('1.5')", "true"),
        ("Version(pl.__version__) < Version('2.0.0')", "false"),
        ("Version(pl.__version__) >= Version('2.6.6')", "true"),
        ("pl.__version__ == '1.9.5'", "false"),
        ("pl.__version__ != '1.9.5'", "true"),
        ("Version(pl.__version__) < Version('3.0')", None),
        ("Version(pl.__version__) <= Version('2.6.6')", None),
        ("Version(torch.__version__) < Version('1.9')", None),
        ("pl.__version__ < limit", None),
        ("Version(pl.__version__) < Version('1.9') < other", None),
    ],
)
def test_checks_of_the_version(test: str, answer: str | None) -> None:
    found = findings(f"if {test}:\n    a = 1\n    b = 1\nelse:\n    a = 2\n")
    assert len(found) == (answer is not None)
    if answer == "true":
        assert "always true" in found[0][1] and "line 8" in found[0][1]
    elif answer == "false":
        assert "always false" in found[0][1] and "lines 5 to 6" in found[0][1]


@pytest.mark.parametrize(
    "text",
    [
        "if Version(pl.__version__) < Version('1.6'):\n    raise RuntimeError('too old')\n",
        "if Version(pl.__version__) >= Version('1.6'):\n    a = 1\nelse:\n    raise RuntimeError('too old')\n",
        "assert Version(pl.__version__) >= Version('1.6')\n",
    ],
)
def test_a_check_that_refuses_older_releases_stays(text: str) -> None:
    assert findings(text) == []


def test_the_target_decides() -> None:
    text = "NEW = Version(pl.__version__) >= Version('2.5')\n"
    assert len(findings(text)) == 1 and findings(text, "2.0.9") == []


OLD = "from pytorch_lightning.metrics import Metric"
NEW = "from pytorch_lightning.callbacks import Callback"


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        (OLD, NEW, 5),
        (NEW, OLD, 7),
        (NEW, NEW, None),
        (OLD, "Metric = None", None),
        ("import torch", OLD, None),
        ("import lightning.pytorch as pl", "import pytorch_lightning as pl", None),
    ],
)
def test_imports_with_a_fallback(first: str, second: str, line: int | None) -> None:
    found = findings(f"try:\n    {first}\nexcept ImportError:\n    {second}\n")
    assert [number for number, _ in found] == ([line] if line else [])
    assert findings(f"try:\n    {first}\nexcept KeyError:\n    {second}\n") == []


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("from lightning.app import LightningWork\n", "M316"),
        ("import lightning.app as la\n", "M316"),
        ("import lightning_app\n", "M316"),
        ("from lightning.lite import LightningLite\n", "M177"),
        ("import lightning_lite as lite\n", "M177"),
        ("from lightning import LightningFlow, LightningWork\n", "M316"),
        ("import lightning as L\n\nprint(L.CloudCompute)\n", "M316"),
        ("import lightning as L\n\nprint(L.Trainer, mine.CloudCompute)\n", None),
        ("from torchdistx.deferred_init import deferred_init\n", "M317"),
        ("from lightning import pytorch\n", None),
        ("import torchdistxy\n", None),
    ],
)
def test_packages_that_are_gone(text: str, row: str | None) -> None:
    found = run_rules({"a.py": HEAD + text}, rule("LIT225")).findings
    assert [item.row for item in found] == ([row] if row else [])
