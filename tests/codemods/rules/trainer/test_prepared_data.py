"""LIT110: `prepare_data_per_node=False`, which the module and the data module say for themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from pytorch_lightning import LightningDataModule, LightningModule, Trainer\n\n\n"
CLASSES = (
    "class Data(LightningDataModule):\n    def prepare_data(self):\n        print('here')\n\n\n"
    "class Model(LightningModule):\n    pass\n\n\n"
)
MAIN = (
    "def main(config):\n    dm = Data()\n    model = Model()\n"
    "    trainer = Trainer(max_epochs=1, prepare_data_per_node=False)\n"
    "    if config:\n        trainer.fit(model, datamodule=dm)\n    else:\n        trainer.test(model, datamodule=dm)\n"
)
TEXT = HEAD + CLASSES + MAIN


def after(text: str, lines: str) -> str:
    """The text without the argument, and with lines behind the Trainer."""
    return text.replace("max_epochs=1, prepare_data_per_node=False)\n", f"max_epochs=1)\n{lines}")


def test_what_may_prepare_data_says_where() -> None:
    made = rewritten({"a.py": TEXT}, rule("LIT110"))["a.py"]
    assert made == after(TEXT, "    dm.prepare_data_per_node = False\n")
    assert run_rules({"a.py": made}, rule("LIT110")).changes == ()


DM, BOTH = (
    "    dm.prepare_data_per_node = False\n",
    "    model.prepare_data_per_node = False\n    dm.prepare_data_per_node = False\n",
)
SAID = "    def __init__(self):\n        super().__init__()\n        self.prepare_data_per_node = False\n\n"
IF, DATA, MODEL = "    if config:\n", "    dm = Data()\n", "    model = Model()\n"
SHAPES = {
    "both": ("(LightningModule):\n    pass", "(LightningModule):\n    def prepare_data(self):\n        pass", BOTH),
    "neither": ("def prepare_data", "def prepare", ""),
    "said": ("class Data(LightningDataModule):\n", f"class Data(LightningDataModule):\n{SAID}", ""),
    "either": (MODEL, "    model = Model() if config else Model()\n", DM),
    "other class": (MODEL, f"{IF}    {MODEL}    else:\n        model = Other()\n", None),
    "second": ("datamodule=dm", "dm", DM),
    "parameter": ("def main(config)", "def main(config: dict, dm: Data)", None),
    "twice": (DATA, f"    dm = None\n{IF}    {DATA}", None),
    "later": (IF, DATA + IF, None),
    "passed on": (IF, f"    run(trainer)\n{IF}", None),
    "star": (IF, f"    trainer.fit(*config)\n{IF}", None),
    "method": (IF, f"    fit = trainer.fit\n{IF}", None),
    "call": (IF, f"    trainer.fit(build())\n{IF}", None),
    "one line": ("    trainer = Trainer(", "    if config: trainer = Trainer(", None),
    "unknown": ("dm = Data()", "dm = bring()", None),
    "computed": ("node=False)\n", "node=bool(config))\n", None),
}


@pytest.mark.parametrize(("old", "new", "lines"), SHAPES.values(), ids=SHAPES)
def test_other_shapes(old: str, new: str, lines: str | None) -> None:
    text = TEXT.replace(old, new)
    assert text != TEXT
    made = run_rules({"a.py": text}, rule("LIT110"))
    if lines is None:
        assert made.changes == () and [finding.fix for finding in made.findings] == ["manual"]
    else:
        assert rewritten({"a.py": text}, rule("LIT110"))["a.py"] == after(text, lines)


def test_an_own_class_for_each_branch_that_says_it_may_be_bound_anywhere() -> None:
    said = (
        "    def __init__(self):\n        super().__init__()\n        self.prepare_data_per_node = False\n\n"
        "    def prepare_data(self):\n        pass\n"
    )
    text = f"{HEAD}class A(LightningDataModule):\n{said}\n\nclass B(LightningDataModule):\n{said}\n\n"
    text += (
        "class Model(LightningModule):\n    pass\n\n\ntrainer = Trainer(max_epochs=1, prepare_data_per_node=False)\n"
    )
    text += "if __debug__:\n    data = A()\nelse:\n    data = B()\ntrainer.fit(Model(), data)\n"
    assert run_rules({"a.py": text}, rule("LIT110")).changes == ()
    named = text.replace("trainer.fit(Model()", "model = Model()\ntrainer.fit(model")
    assert rewritten({"a.py": named}, rule("LIT110"))["a.py"] == after(named, "")


def test_the_hook_runs_where_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = (
        "    def train_dataloader(self):\n        return torch.utils.data.DataLoader(torch.ones(2, 1))\n\n"
        "    def prepare_data(self):\n        print('per node:', self.prepare_data_per_node)\n"
    )
    model = (
        "class Model(LightningModule):\n    def training_step(self, batch, batch_idx):\n"
        "        return (self.layer(batch)).sum()\n\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(1, 1)\n\n"
        "    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), 0.1)\n\n\n"
    )
    given = "logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator='cpu', max_epochs=1"
    text = "import torch\n" + HEAD + f"class Data(LightningDataModule):\n{body}\n\n" + model
    text += MAIN.replace("max_epochs=1", given)
    made = rewritten({"a.py": text}, rule("LIT110"))["a.py"].replace("pytorch_lightning", "lightning.pytorch")
    space: dict[str, Any] = {}
    exec(compile(made, "a.py", "exec"), space)
    space["main"](True)
    assert "per node: False" in capsys.readouterr().out


def test_a_value_that_is_read_is_set_so() -> None:
    text = TEXT.replace("node=False", "node=config.per_node")
    lines = "    dm.prepare_data_per_node = config.per_node\n"
    assert rewritten({"a.py": text}, rule("LIT110"))["a.py"] == after(TEXT, lines)
    said = text.replace("class Data(LightningDataModule):\n", f"class Data(LightningDataModule):\n{SAID}")
    assert [finding.fix for finding in run_rules({"a.py": said}, rule("LIT110")).findings] == ["manual"]


@pytest.mark.parametrize("path", ["b.py", "none"])
def test_a_trainer_that_another_file_or_nothing_runs_is_left(path: str) -> None:
    body = "data = Data()\ntrainer = Trainer(prepare_data_per_node=False)\n"
    own = "trainer.fit(Model(), data)\n".replace("Model()", "model") if path == "b.py" else ""
    text = f"{HEAD}{CLASSES}model = Model()\n{body}{own}"
    files = {"a.py": text, path: "from a import trainer\n\nprint(trainer)\n"} if own else {"a.py": text}
    made = run_rules(files, rule("LIT110"))
    assert made.changes == () and [finding.fix for finding in made.findings] == ["manual"]
