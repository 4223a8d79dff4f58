"""Each project of a shape: what the rules make of it trains on the new Lightning as it did on 1.9.5."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codemods.support import run_rules
from tests.training import Case, Record, assert_same, differences, same, train, train_many

PROJECTS = Path(__file__).parent.parent / "projects"
CHUNKS = ["lstm_clipped_and_scheduled", "own_split", "state_under_another_name"]
SCALED = ["chunks_clipped_under_a_scaler"]
RANKS = ["chunks_on_two_ranks"]
CLEARED = "torch.clear_autocast_cache()"


def project(name: str) -> dict[str, str]:
    """The texts of a project."""
    folder = PROJECTS / name
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}


def rewritten(files: dict[str, str]) -> dict[str, str]:
    """What all rules make of a project; they must have nothing to leave to a person."""
    made = run_rules(files)
    assert made.bugs == ()
    assert made.findings and all(finding.applied for finding in made.findings), made.findings
    final = made.final()
    return {path: final[path].decode() if path in final else text for path, text in files.items()}


def fails_now(files: dict[str, str]) -> None:
    record = train(files)
    assert record.failure is not None and record.failure.type in ("TypeError", "RuntimeError")


@pytest.mark.parametrize("name", CHUNKS)
def test_it_trains_as_it_did(name: str) -> None:
    before = project(name)
    fails_now(before)
    old, new = same(before, rewritten(before))
    assert old.automatic is True and new.automatic is False


@pytest.mark.parametrize("name", CHUNKS[:1])
def test_it_trains_as_it_did_on_1_8(name: str) -> None:
    before = project(name)
    same(before, rewritten(before), old="1.8.6")


@pytest.mark.parametrize("name", SCALED)
def test_gradients_are_clipped_as_they_were_under_a_scaler(name: str) -> None:
    before = project(name)
    after = rewritten(before)
    old, _ = same(before, after)
    early = after["train.py"].replace("def on_before_optimizer_step(self, optimizer)", "def clip(self, optimizer)")
    early = early.replace("optimizer.step()", "self.clip(optimizer)\n            optimizer.step()")
    wrong = trained({**after, "train.py": early})
    assert any("gradients" in line for line in differences(old, wrong))


def trained(files: dict[str, str]) -> Record:
    record = train(files)
    assert record.failure is None, record.output
    return record


@pytest.mark.parametrize("name", RANKS)
def test_ranks_hold_equal_gradients(name: str) -> None:
    before = project(name)
    old, new = train_many([(Case(before, processes=2), "1.9.5"), (Case(rewritten(before), processes=2), "target")])
    assert_same(old, new)
    assert_same(old.ranks[0], new.ranks[0])
    assert new.losses != new.ranks[0].losses
    assert [step.gradient for step in new.steps] == [step.gradient for step in new.ranks[0].steps]
    assert new.weights == new.ranks[0].weights


@pytest.mark.parametrize("name", SCALED)
def test_each_forward_sees_the_weights_of_the_step_before(name: str) -> None:
    """2.5.4 keeps half-precision copies of weights through a training step, the newest release does not."""
    scaled = project(name)
    script = scaled["train.py"].replace("plugins=[scaled()]", 'precision="bf16-mixed"')
    after = rewritten({**scaled, "train.py": script})
    assert CLEARED in after["train.py"]
    stale = {**after, "train.py": after["train.py"].replace(CLEARED, "pass")}
    cases = [(Case(after), "2.5.4"), (Case(stale), "2.5.4"), (Case(after), "target")]
    cleared, kept, now = train_many(cases)
    assert_same(now, cleared, tolerance=1e-2)
    assert any("losses" in line for line in differences(now, kept, tolerance=1e-2))
