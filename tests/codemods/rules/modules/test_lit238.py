"""LIT238: loops over a `CombinedLoader`."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.finding import Finding
from tests import warm
from tests.codemods.support import rule, run_rules
from tests.training.interpreters import python_for

PINS = ("pytorch-lightning==1.9.5",)
HEAD = "from pytorch_lightning.trainer.supporters import CombinedLoader\n\n"
LOOK = HEAD + "def look(a, b):\n    loader = CombinedLoader([a, b])\n    {}\n"
TRAINED = """\
from torch.utils.data import DataLoader

from pytorch_lightning.trainer.supporters import CombinedLoader

loader = CombinedLoader({"a": DataLoader(range(4)), "b": DataLoader(range(2))}, "max_size_cycle")
for number, batch in enumerate(loader):
    print(number, len(loader), batch["a"].item(), batch["b"].item())
"""


def _found(text: str, *pins: str) -> tuple[Finding, ...]:
    return run_rules({"look.py": text}, rule("LIT238"), pins=pins).findings


def _done(text: str) -> str:
    made = run_rules({"look.py": text}, rule("LIT238"), pins=PINS)
    assert made.bugs == ()
    return made.final().get("look.py", text.encode()).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for batch in loader: pass", "for batch, *_ in loader: pass"),
        ("for x, y in loader: pass", "for (x, y), *_ in loader: pass"),
        ("for (x, y) in loader: pass", "for (x, y), *_ in loader: pass"),
        ("for [x, y] in loader: pass", "for [x, y], *_ in loader: pass"),
        ("for i, batch in enumerate(loader): pass", "for i, (batch, *_) in enumerate(loader): pass"),
        (
            "for i, (x, y) in enumerate(tqdm(loader), 1): pass",
            "for i, ((x, y), *_) in enumerate(tqdm(loader), 1): pass",
        ),
        ("for batch in tqdm.tqdm(loader, leave=False): pass", "for batch, *_ in tqdm.tqdm(loader, leave=False): pass"),
        ("return [batch['a'] for batch in iter(loader)]", "return [batch['a'] for batch, *_ in iter(loader)]"),
        ("for x, y, z in loader: pass", "for (x, y, z), *_ in loader: pass"),
    ],
)
def test_the_batch_is_the_first_of_three(before: str, after: str) -> None:
    done = _done(LOOK.format(before))
    assert done == LOOK.format(after)
    assert _done(done) == done


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return next(iter(loader))", "Take `[0]`"),
        ("for pair in zip(loader, a): pass", "Take `[0]`"),
        ("return list(loader)", "Take `[0]`"),
        ("for pair in enumerate(loader): pass", "Take `[0]`"),
        ("return len(loader)", "write `len(iter(loader))`"),
        ("for x in loader: _('text')", "Take `[0]`"),
    ],
)
def test_what_else_is_asked_of_it_is_left(line: str, said: str) -> None:
    (found,) = _found(LOOK.format(line), *PINS)
    assert found.fix == "manual" and said in found.reason


@pytest.mark.parametrize(
    "text",
    [
        LOOK.format("for batch, batch_idx, dataloader_idx in loader: pass"),
        LOOK.format("for batch, *_ in loader: pass"),
        LOOK.format("for i, (batch, *_) in enumerate(loader): pass"),
        LOOK.format("return loader"),
        LOOK.format("return trainer.fit(model, loader)"),
        LOOK.format("for x in a: pass"),
        LOOK.format("return len(iter(loader))"),
        LOOK.replace("CombinedLoader([a, b])", "DataLoader(a)").format("for x in loader: pass"),
    ],
)
def test_what_is_no_loop_over_one_stays(text: str) -> None:
    assert _found(text, *PINS) == ()


def test_its_length_is_there_while_it_is_gone_through() -> None:
    text = LOOK.format("for batch, *_ in tqdm(loader): print(len(loader))")
    assert _found(text, *PINS) == ()


def test_a_loader_that_an_object_keeps() -> None:
    text = HEAD + (
        "class Look:\n    def __init__(self, a):\n        self.both = CombinedLoader(a)\n\n"
        "    def go(self):\n        for batch in self.both:\n            pass\n"
    )
    assert "for batch, *_ in self.both" in _done(text)


def test_the_release_that_it_was_written_for_tells() -> None:
    text = LOOK.format("for batch in loader: pass")
    assert _found(text, "lightning==2.4.0") == ()
    (found,) = _found(text)
    assert found.fix == "unsafe"


def test_the_batches_are_those_of_before(tmp_path: Path) -> None:
    """Lightning 1.9.5 before and 2.6.6 after: the same batches, in the same order."""
    after = _done(TRAINED).replace("trainer.supporters", "utilities")
    said = {}
    for release, text in (("1.9.5", TRAINED), ("target", after)):
        (tmp_path / "ask.py").write_text(text)
        done = warm.program(tmp_path / "ask.py", folder=tmp_path, python=python_for(release))
        said[release] = done.stdout.splitlines()[-4:]
    assert said["1.9.5"] == ["0 4 0 0", "1 4 1 1", "2 4 2 0", "3 4 3 1"]
    assert said["target"] == said["1.9.5"]
