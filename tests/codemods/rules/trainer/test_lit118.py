"""LIT118: what documents give a Trainer."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

MODEL = "import pytorch_lightning as pl\n\n\nclass Model(pl.LightningModule):\n    pass\n"


def told(text: str, model: str = MODEL) -> list[tuple[int, str]]:
    found = run_rules({"README.md": text, "model.py": model}, rule("LIT118")).findings
    return [(item.span.line, item.reason) for item in found]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("```python\ntrainer = Trainer(\n    gpus=2,  # both\n    max_epochs=3,\n)\n```\n", 2),
        (".. code-block:: python\n\n    pl.Trainer(max_epochs=(1 + 2), gpus=-1).fit(model)\n", 3),
        (">>> trainer = Trainer(gpus=1,\n...     max_epochs=3)\n", 1),
        ("Use `Trainer(gpus=1)` for it.\n", 1),
        ("Use `Trainer(gpus=1, ...)` for it.\n", 1),
        ("trainer = Trainer(gpus=1, \n    ...\n)\n", 1),
        ("Trainer(\n    gpus=2,  # 1) how many\n    max_epochs=3,\n)\n", 1),
        ("Trainer(gpus=2, logger=[':)'])\n", 1),
        ("pl.trainer.Trainer(gpus=2)\n", 1),
    ],
)
def test_a_document_that_shows_what_is_gone_is_named(text: str, line: int) -> None:
    ((found, reason),) = told(text)
    assert found == line
    assert 'write `accelerator="gpu", devices=...`' in reason


def test_each_argument_gets_its_advice() -> None:
    ((_, reason),) = told("Trainer(weights_summary=None, distributed_backend='ddp')\n")
    assert "for weights_summary: " in reason
    assert "for distributed_backend: write `strategy=...`" in reason


def test_a_document_is_named_once() -> None:
    text = "Trainer(gpus=1)\n\nTrainer(tpu_cores=8)\nTrainer(gpus=2)\n"
    (finding,) = run_rules({"README.md": text, "model.py": MODEL}, rule("LIT118")).findings
    assert "`gpus`, `tpu_cores`" in finding.message
    assert "in lines 1, 3, 4" in finding.reason


@pytest.mark.parametrize(
    "text",
    [
        "Trainer(max_epochs=3, accelerator='gpu')\n",
        "MyTrainer(gpus=1)\n",
        "engine.Trainer(gpus=1)\n",
        "Trainer(gpus=1 and so on)\n",
        "Trainer(gpus=1, ...\n",
        "Trainer(model=model, args=training_args)\n",
        "`Trainer(gpus=...)` is gone: write `Trainer(devices=...)`\n",
        "```python\nfrom transformers import Seq2SeqTrainer, Trainer\nTrainer(model, gpus=1)\n```\n",
    ],
)
def test_other_texts_are_left(text: str) -> None:
    assert told(text) == []


def test_projects_without_lightning_are_left() -> None:
    assert told("Trainer(gpus=1)\n", "import torch\n") == []


@pytest.mark.parametrize(
    "name", ["CHANGELOG.md", "training/HISTORY.md", "docs/release_notes.md", "docs/migration.md", "NEWS.md"]
)
def test_documents_about_the_past_are_left(name: str) -> None:
    files = {name: "Trainer(gpus=1)\n", "model.py": MODEL}
    assert run_rules(files, rule("LIT118")).findings == ()


@pytest.mark.parametrize("name", ["exchange_rates.md", "docs/news_recommendation.md", "change_detection.md"])
def test_documents_about_other_news_are_not(name: str) -> None:
    files = {name: "Trainer(gpus=1)\n", "model.py": MODEL}
    assert len(run_rules(files, rule("LIT118")).findings) == 1


@pytest.mark.parametrize(
    ("base", "shown", "count"),
    [("", "Trainer(gpus=1)", 0), ("", "pl.Trainer(gpus=1)", 1), ("(pl.Trainer)", "Trainer(gpus=1)", 1)],
)
def test_a_trainer_of_the_projects_own_takes_what_it_takes(base: str, shown: str, count: int) -> None:
    own = f"import pytorch_lightning as pl\n\n\nclass Trainer{base}:\n    pass\n"
    files = {"README.md": f"{shown}\n", "model.py": MODEL, "engine/own.py": own}
    assert len(run_rules(files, rule("LIT118")).findings) == count


def test_a_trainer_of_lightning_by_import_is_one() -> None:
    assert told("from pytorch_lightning import LightningModule, Trainer\n\nTrainer(gpus=1)\nptl.Trainer(gpus=2)\n")
