"""LIT112: where the checkpoint of a Trainer goes, and that fit resumes from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import pytest
import torch

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n\n\n"


def after(body: str, unsafe: bool = False) -> str:
    return rewritten({"a.py": HEAD + body}, rule("LIT112"), unsafe=unsafe)["a.py"][len(HEAD) :]


BUILD = "def build():\n    return Trainer(resume_from_checkpoint='a')\n\n\n"
KEPT = (
    "class A:\n    def __init__(self):\n        self.t = Trainer(resume_from_checkpoint='a')\n\n"
    "    def go(self):\n        self.t.fit(self)\n"
)


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "t = Trainer(resume_from_checkpoint=p)\nt.fit(m, ckpt_path=a.q)\n",
            "t = Trainer()\nt.fit(m, ckpt_path=a.q or p)\n",
        ),
        (
            "t = Trainer(resume_from_checkpoint=a.q)\nt.fit(m, ckpt_path=a.q)\n",
            "t = Trainer()\nt.fit(m, ckpt_path=a.q)\n",
        ),
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
        (
            "k = {'train_dataloaders': d}\nt = Trainer(resume_from_checkpoint=p)\nt.fit(m, **k)\n",
            "k = {'train_dataloaders': d}\nt = Trainer()\nt.fit(m, ckpt_path=p, **k)\n",
        ),
    ],
)  # fmt: skip
def test_moves(before: str, wanted: str) -> None:
    assert after(before) == wanted


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("t = Trainer(resume_from_checkpoint=p)\nrun(t)\nt.fit(m)\n", "passed on"),
        ("t = Trainer(resume_from_checkpoint=p)\n", "cannot find the `fit`"),
        ("t = Trainer(resume_from_checkpoint=p)\np = None\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=find())\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=a.p)\na.p = None\nt.fit(m)\n", "may change"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(m, ckpt_path='b')\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(m, ckpt_path=q if x else r)\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt.fit(**k)\n", "already"),
        ("k = {'ckpt_path': q}\nt = Trainer(resume_from_checkpoint=p)\nt.fit(m, **k)\n", "already"),
        ("k = {'datamodule': d}\nk[n] = q\nt = Trainer(resume_from_checkpoint=p)\nt.fit(m, **k)\n", "already"),
        ("t = Trainer(resume_from_checkpoint=p)\nt = other\nt.fit(m)\n", "fixer cannot"),
        ("self.t = Trainer(resume_from_checkpoint=p)\nself.t.fit(m)\n", "fixer cannot"),
        (BUILD + "t = build()\nuse(t)\nt.fit(m)\n", "passed on"),
        (BUILD + "t = build()\nt.fit(m)\nother = build\n", "every use of"),
        (BUILD.replace("'a'", "p") + "u = build()\nt = build()\nt.fit(m)\n", "fixer cannot"),
        (KEPT + "        use(self.t)\n", "passed on"),
        (KEPT + "        self.t.fit(self, ckpt_path='b')\n", "already"),
        (KEPT + "\n\na = A()\na.t.fit(m)\n", "every call of its"),
        (KEPT + "\n\na = A()\na.t = find()\n", "every call of its"),
    ],
)
def test_left_to_a_person(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT112")
    assert why in reason and "ckpt_path=" in reason


RESUMED = "    t = Trainer(resume_from_checkpoint=%s)\n"


@pytest.mark.parametrize(
    "body",
    [
        f"def f(c):\n{RESUMED % 'c.a'}    print(c)\n    m = Model(c.b, **vars(c))\n    c.d = 1\n    t.fit(m)\n",
        f"def f(c):\n{RESUMED % 'c'}    c2 = 1\n    t.fit(c2)\n",
        f"def f(c):\n{RESUMED % 'c[0]'}    m = Model(c.get(1), *c[1])\n    t.fit(m)\n",
        f"def f(cs):\n    for c in cs:\n    {RESUMED % 'c.a'}        t.fit(1)\n",
    ],
)
def test_what_changes_nothing_of_the_path(body: str) -> None:
    assert "ckpt_path=c" in after(body)


def test_a_nested_function_that_is_called_once_is_seen_through() -> None:
    found = after(f"def f(m):\n{RESUMED % 1}\n    def again():\n        t.fit(m)\n\n    t.fit(m)\n    again()\n")
    assert found.count("t.fit(m, ckpt_path=1)") == 2


def test_none_had_no_effect() -> None:
    assert after("t = Trainer(resume_from_checkpoint=None)\nuse(t)\n") == "t = Trainer()\nuse(t)\n"


def test_what_may_be_none_is_said_once() -> None:
    text = f"{HEAD}def f(c):\n    p = c.p if c.r else None\n{RESUMED % 'p'}    use(t)\n    t.fit(1)\n"
    assert [each.code for each in run_rules({"a.py": text}, rule("LIT110"), rule("LIT112")).findings] == ["LIT112"]


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
