"""What autocast's cache does on torch 2.10, and what each repair does about it; the default run leaves it out.

`pytest -m torch210` runs it in the interpreter that FIXER_TEST_TORCH_2_10 names, or in an environment that it builds.
The table of docs/autocast.md is what these tests saw.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codemods.amp import (
    BARE,
    INFERENCE,
    NET,
    POISONED,
    RECYCLED,
    SCRIPT,
    Outcome,
    after,
    run_programs,
    torch210,
)

pytestmark = pytest.mark.torch210

REGION = 'with torch.autocast("cpu", dtype=torch.bfloat16):\n'
WITHOUT_CACHE = 'torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False)'
SECOND = "    loss = (seen(net(x + 1)) - target).float().pow(2).mean()\n"


def _in_outer(text: str) -> str:
    """The program's region inside another one."""
    start = text.index(REGION)
    end = text.index("loss.backward()", start)
    body = "".join(f"    {line}\n" if line else "\n" for line in text[start:end].splitlines())
    return f"{text[:start]}{REGION}{body}{text[end:]}"


REPAIRS = {
    "as it was": lambda text: text,
    "a second region nested around the forward with gradient": lambda text: text.replace(
        SECOND, f"    {REGION}    {SECOND}"
    ),
    "enable_grad around the forward with gradient": lambda text: text.replace(
        SECOND, f"    with torch.enable_grad():\n    {SECOND}"
    ),
    "empty_cache between the two": lambda text: text.replace(SECOND, f"    torch.cuda.empty_cache()\n{SECOND}"),
    "the outermost region split": lambda text: text.replace(SECOND, f"{REGION}{SECOND}"),
    "cache_enabled=False around the part without gradient": lambda text: text.replace(
        "with torch.no_grad():", f"with torch.no_grad(), {WITHOUT_CACHE}:"
    ),
    "the same, and a torch.cpu.amp.autocast inside": lambda text: text.replace(
        "with torch.no_grad():",
        f"with torch.no_grad(), {WITHOUT_CACHE}, torch.cpu.amp.autocast(dtype=torch.bfloat16):",
    ),
    "enabled=False around the part without gradient": lambda text: text.replace(
        "with torch.no_grad():", 'with torch.no_grad(), torch.autocast("cpu", enabled=False):'
    ),
    "the cache cleared between the two": lambda text: text.replace(
        SECOND, f"    torch.clear_autocast_cache()\n{SECOND}"
    ),
}
WORKS_ALONE = {
    "the outermost region split",
    "cache_enabled=False around the part without gradient",
    "enabled=False around the part without gradient",
    "the cache cleared between the two",
}
WORKS_NESTED = WORKS_ALONE - {"the outermost region split"}


def _is_whole(outcome: Outcome) -> bool:
    return outcome.failure is None and not outcome.without


@pytest.fixture(scope="module")
def python() -> str:
    return torch210()


def test_poisoned_programs_fail_or_lose_gradients_and_repaired_ones_do_not(python: str, tmp_path: Path) -> None:
    repaired = {f"{name}, repaired": after(text, "AMP001") for name, text in POISONED.items()}
    made = run_programs({**POISONED, **repaired}, tmp_path, python)
    for name in POISONED:
        old, new = made[name], made[f"{name}, repaired"]
        assert old.torch.startswith("2.10.0")
        assert not _is_whole(old), name
        assert _is_whole(new), name
        assert new.forwards[: len(old.forwards)] == old.forwards and len(new.forwards) == 2


def test_the_ways_in_which_they_fail(python: str, tmp_path: Path) -> None:
    made = run_programs({"norm": NET + SCRIPT, "bare": BARE + SCRIPT, "inference": NET + INFERENCE}, tmp_path, python)
    assert made["norm"].failure is None
    assert made["norm"].without == ["first.weight", "first.bias", "last.weight", "last.bias"]
    assert "does not require grad" in (made["bare"].failure or "")
    assert "Inference tensors cannot be saved for backward" in (made["inference"].failure or "")


@pytest.mark.parametrize("nested", [False, True], ids=["alone", "inside another region"])
def test_every_proposed_repair(nested: bool, python: str, tmp_path: Path) -> None:
    place = _in_outer if nested else str
    texts = {name: place(NET + change(SCRIPT)) for name, change in REPAIRS.items()}
    made = run_programs(texts, tmp_path, python)
    assert {name for name, outcome in made.items() if _is_whole(outcome)} == (WORKS_NESTED if nested else WORKS_ALONE)
    plain = made["as it was"].forwards
    same = {name for name, outcome in made.items() if outcome.forwards == plain}
    assert set(made) - same == {"enabled=False around the part without gradient"}


def test_recycling_is_repaired_by_what_openfold_does(python: str, tmp_path: Path) -> None:
    """A gradient mode that a loop computes: found, repaired, and left alone where the cache is cleared already."""
    text = NET + RECYCLED
    by_hand = text.replace(
        "                x = seen", "                torch.clear_autocast_cache()\n                x = seen"
    )
    repaired = after(text, "AMP001", unsafe=True)
    assert repaired != text and after(by_hand, "AMP001", unsafe=True) == by_hand
    made = run_programs({"old": text, "new": repaired, "by hand": by_hand}, tmp_path, python)
    assert not _is_whole(made["old"])
    assert _is_whole(made["new"]) and _is_whole(made["by hand"])
    assert made["new"].forwards == made["old"].forwards == made["by hand"].forwards


BASE = (
    NET
    + """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    @torch.no_grad()
    def history(self, x):
        return self.net(x)
"""
)
INHERITED = """
import torch
from base import Base


class Loss(Base):
    @torch.autocast("cpu", dtype=torch.bfloat16)
    def forward(self, x):
        target = seen(self.history(x))
        return (seen(self.net(x + 1)) - target).float().pow(2).mean()


loss = trained(Loss())
loss(torch.rand(4, 8)).backward()
"""


def test_a_method_and_a_layer_of_a_base_class_in_another_file(python: str, tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(BASE)
    repaired = after(INHERITED, "AMP001", base=BASE)
    assert repaired.count("torch.clear_autocast_cache()") == 1
    found = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    made = run_programs({"old": found + INHERITED, "new": found + repaired}, tmp_path, python)
    assert made["old"].without == ["net.first.weight", "net.first.bias", "net.last.weight", "net.last.bias"]
    assert _is_whole(made["new"])
    assert made["new"].forwards == made["old"].forwards


CLIP = """import torch
from torch import nn
import lightning.pytorch as pl


class Clip(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.image = nn.Linear(8, 8)
        self.scale = nn.Parameter(torch.ones(()))

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        with torch.no_grad():
            images = torch.cat([self.image(part) for part in batch.chunk(2)])
        optimizer.zero_grad()
        for part in batch.chunk(2):
            loss = ((self.image(part) @ images.t()) * self.scale.exp()).float().logsumexp(1).mean()
            seen(loss)
            self.manual_backward(loss)
        self.found = {name: item.grad is not None for name, item in self.named_parameters()}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


clip = trained(Clip())
data = torch.utils.data.DataLoader(torch.rand(4, 8), batch_size=4)
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
pl.Trainer(max_epochs=1, accelerator="cpu", precision="bf16-mixed", **quiet).fit(clip, data)
"""


def test_lightnings_own_region(python: str, tmp_path: Path) -> None:
    """Encoders run twice in a manual step on Lightning 2.5.4: the scale keeps the loss differentiable, in silence."""
    repaired = after(CLIP, "AMP001")
    assert repaired.count("torch.clear_autocast_cache()") == 1
    made = run_programs({"old": CLIP, "new": repaired}, tmp_path, python)
    assert made["old"].failure is None
    assert made["old"].without == ["image.weight", "image.bias"]
    assert made["new"].without == [] and made["new"].failure is None
    assert made["new"].forwards == made["old"].forwards
