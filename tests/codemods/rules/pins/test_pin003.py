"""PIN003: requirements on transformers, and the names that releases of it took out."""

from __future__ import annotations

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.pins.pin001 import RULE as PINS
from codemods.rules.pins.pin003 import RULE
from codemods.rules.trainer.lit101 import RULE as GPUS
from fixer.files import kind_of

ADAMW = "from transformers import (\n    AdamW,\n    BertModel,\n)\n"
TENSORFLOW = "from transformers import TFBertModel\n"


def made(files: dict[str, str]) -> Plan:
    sources = [Source(path, kind_of(path) or "other", text.encode()) for path, text in files.items()]
    found = plan(sources, Options((PINS, RULE), target="2.6.6"))
    assert found.bugs == ()
    return found


def after(path: str, text: str, code: str = ADAMW) -> str:
    files = {path: text, "train.py": code}
    final = made(files).final().get(path, text.encode()).decode()
    assert made({**files, path: final}).changes == ()
    return final


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("transformers", "transformers<4.50"),
        ("transformers  # models", "transformers<4.50  # models"),
        ("transformers>=4.1", "transformers>=4.1,<4.50"),
        ("transformers >= 4.1, != 4.9", "transformers >= 4.1, != 4.9, <4.50"),
        ("transformers>=4.1,<5", "transformers>=4.1,<4.50"),
        ("transformers[torch]~=4.30", "transformers[torch]~=4.30,<4.50"),
        ("transformers<4.50", "transformers<4.50"),
        ("transformers==4.30.2", "transformers==4.30.2"),
        ("transformers~=4.30.0", "transformers~=4.30.0"),
        ("sentence-transformers", "sentence-transformers"),
    ],
)
def test_a_requirement_ends_before_the_release_without_the_name(before: str, wanted: str) -> None:
    assert after("requirements.txt", f"{before}\n") == f"{wanted}\n"


def test_the_first_release_counts() -> None:
    assert after("requirements.txt", "transformers\n", TENSORFLOW) == "transformers<5.0\n"
    assert after("requirements.txt", "transformers\n", TENSORFLOW + ADAMW) == "transformers<4.50\n"


@pytest.mark.parametrize(
    ("path", "before", "wanted"),
    [
        ("setup.py", "from setuptools import setup\nsetup(install_requires=['transformers>=4'])\n", ">=4,<4.50'"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntransformers = "^4.5"\n', '"^4.5,<4.50"'),
        ("environment.yml", "dependencies:\n  - transformers\n  - pip:\n    - transformers\n", "- transformers<4.50\n"),
        ("Dockerfile", "FROM x\nRUN pip install transformers torch\n", "install 'transformers<4.50' torch"),
    ],
)
def test_other_manifests(path: str, before: str, wanted: str) -> None:
    assert wanted in after(path, before)


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    from transformers import AdamW\nexcept ImportError:\n    from torch.optim import AdamW\n",
        "from torch.optim import AdamW\nfrom transformers import BertModel\n",
        "from .transformers import AdamW\n",
        "from mytransformers import AdamW\nimport transformers\n",
        "# from transformers import AdamW\n",
        "from transformers import TFIDF_NAME, Flaxen\n".replace("TFIDF_NAME, ", "").replace("Flaxen", "flax"),
    ],
)
def test_what_runs_with_the_newest_is_left_alone(code: str) -> None:
    text = "transformers>=4.1\n"
    assert after("requirements.txt", text, code) == text
    assert made({"requirements.txt": text, "train.py": code}).findings == ()


def test_code_of_another_manifest() -> None:
    files = {"a/requirements.txt": "transformers\n", "a/x.py": "import y\n", "b/requirements.txt": "transformers\n"}
    final = made({**files, "b/train.py": ADAMW}).final()
    assert final == {"b/requirements.txt": b"transformers<4.50\n"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("transformers>=4.51\n", "remove `from transformers import AdamW`"),
        ("transformers>=4.1 --hash=sha256:00\n", "hashes"),
    ],
)
def test_left_to_a_person(text: str, word: str) -> None:
    found = made({"requirements.txt": text, "train.py": ADAMW})
    assert [item.fix for item in found.findings] == ["manual"] and word in found.findings[0].reason
    assert found.changes == ()


def test_code_whose_transformers_nobody_asks_for() -> None:
    code = f"from pytorch_lightning import Trainer\n{ADAMW}Trainer(gpus=1)\n"
    files = {"requirements.txt": "torch\n", "train.py": code}
    sources = [Source(path, kind_of(path) or "other", text.encode()) for path, text in files.items()]
    found = plan(sources, Options((GPUS, PINS, RULE), target="2.6.6")).findings
    said = [(item.span.line, item.fix, item.reason) for item in found if item.code == "PIN003"]
    assert [item[:2] for item in said] == [(2, "manual")] and "add `transformers<4.50`" in said[0][2]
