"""LIT112: where the checkpoint of a Trainer goes, and that fit resumes from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import pytest
import torch

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n\n\n"


def after(body: str) -> str:
    return rewritten({"a.py": HEAD + body}, rule("LIT112"))["a.py"][len(HEAD) :]


BUILD = "def build():\n    return Trainer(resume_from_checkpoint='a')\n\n\n"
KEPT = (
    "class A:\n    def __init__(self):\n        self.t = Trainer(resume_from_checkpoint='a')\n\n"
    "    def go(self):\n        self.t.fit(self)\n"
)


@pytest.mark.parametrize(
    "body",
    [KEPT, f"{BUILD}t = build()\nt.fit(m)\n", f"{BUILD}build().fit(m)\n", f"{BUILD}t = build()\nt.fit(m)\nt.fit(n)\n"],
)
def test_a_trainer_that_is_built_elsewhere(body: str) -> None:
    after = rewritten({"a.py": HEAD + body}, rule("LIT112"))["a.py"]
    assert after.count("ckpt_path='a'") == body.count(".fit(") and "resume" not in after


def test_a_trainer_that_is_built_at_once() -> None:
    after = rewritten({"a.py": f"{HEAD}Trainer(resume_from_checkpoint=p).fit(m)\n"}, rule("LIT112"))["a.py"]
    assert after == f"{HEAD}Trainer().fit(m, ckpt_path=p)\n"


def test_a_trainer_of_another_file_goes_with_its_fit_or_not_at_all() -> None:
    files = {"make.py": HEAD + BUILD, "a.py": "from make import build\n\nt = build()\nt.fit(m)\n"}
    after = rewritten(files, rule("LIT112"))
    assert after["make.py"] == (HEAD + BUILD).replace("resume_from_checkpoint='a'", "")
    assert after["a.py"].endswith("t.fit(m, ckpt_path='a')\n")
    held = {**files, "a.py": files["a.py"].replace("t.fit(m)\n", "t.fit(m)  # fixer: ignore[LIT112]\n")}
    assert rewritten(held, rule("LIT112")) == held
    other = {**files, "b.py": "import make\n\nrun(make.build)\n"}
    assert run_rules(other, rule("LIT112")).changes == ()


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "trainer = Trainer(resume_from_checkpoint='a.ckpt')\ntrainer.fit(model)\n",
            "trainer = Trainer()\ntrainer.fit(model, ckpt_path='a.ckpt')\n",
        ),
        (
            "def f(a):\n    t = Trainer(1, resume_from_checkpoint=a[0])\n    if a:\n        t.fit(m, d)\n    t.te()\n",
            "def f(a):\n    t = Trainer(1)\n    if a:\n        t.fit(m, d, ckpt_path=a[0])\n    t.te()\n",
        ),
        (
            "t = Trainer(resume_from_checkpoint=p)\nt.fit(a)\nt.fit(b)\n",
            "t = Trainer()\nt.fit(a, ckpt_path=p)\nt.fit(b, ckpt_path=p)\n",
        ),
    ],
)  # fmt: skip
def test_moves(before: str, wanted: str) -> None:
    assert after(before) == wanted


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("t = Trainer(resume_from_checkpoint=p)\nrun(t)\nt.fit(m)\n", "handed on"),
        ("t = Trainer(resume_from_checkpoint=p)\n", "not seen here"),
        ("t = Trainer(resume_from_checkpoint=p)\np = None\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=find())\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=a.p)\na.p = None\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(m, ckpt_path=q)\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(**k)\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt = other\nt.fit(m)\n", "not seen"),
        ("self.t = Trainer(resume_from_checkpoint=p)\nself.t.fit(m)\n", "not seen"),
        (BUILD + "t = build()\nuse(t)\nt.fit(m)\n", "handed on"),
        (BUILD + "t = build()\nt.test(m)\n", "fit is not seen"),
        (BUILD + "t = build()\nt.fit(m)\nother = build\n", "used for"),
        (BUILD.replace("'a'", "p") + "t = build()\nt.fit(m)\n", "not seen"),
        (KEPT + "        use(self.t)\n", "handed on"),
        (KEPT + "        self.t.fit(self, ckpt_path='b')\n", "already"),
        (KEPT + "\n\na = A()\na.t.fit(m)\n", "not all"),
        (KEPT + "\n\na = A()\na.t = find()\n", "not all"),
    ],
)
def test_left_to_a_person(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT112")
    assert why in reason and "ckpt_path=" in reason


def test_none_is_anothers() -> None:
    assert run_rules({"a.py": HEAD + "Trainer(resume_from_checkpoint=None)\n"}, rule("LIT112")).findings == ()


class Line(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        return self.layer(batch).sum()  # type: ignore[no-any-return]

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), 0.1)


def test_fit_resumes(tmp_path: Path) -> None:
    loader = torch.utils.data.DataLoader(torch.ones(4, 1))
    options = "logger=False, accelerator='cpu', enable_progress_bar=False, enable_model_summary=False, max_epochs=n"
    options += ", enable_checkpointing=False"
    body = f"    t = Trainer({options}, resume_from_checkpoint=p)\n    t.fit(m, loader)\n"
    build = f"{HEAD}def run(n, p):\n{body}    saved.append(t.global_step)\n    t.save_checkpoint(path)\n"
    moved = rewritten({"a.py": build}, rule("LIT112"))["a.py"].replace("pytorch_lightning", "lightning.pytorch")
    saved: list[int] = []
    names: dict[str, Any] = {"m": Line(), "loader": loader, "saved": saved, "path": tmp_path / "a.ckpt"}
    exec(moved, names)
    names["run"](1, None)
    names["run"](3, tmp_path / "a.ckpt")
    assert saved == [4, 12]
