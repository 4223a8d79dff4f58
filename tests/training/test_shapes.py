"""Each project of a shape: what the rules make of it trains on the new Lightning as it did on 1.9.5."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.codemods.support import run_rules
from tests.training import Case, Record, assert_same, differences, same, train, train_many

PROJECTS = Path(__file__).parent.parent / "projects"
CHUNKS = [
    "lstm_clipped_and_scheduled", "chunks_by_a_share", "chunks_epoch_outputs", "chunks_flag_changed",
    "chunks_flag_from_argparse", "chunks_flag_in_hparams", "chunks_half_detached", "chunks_of_a_subclass",
    "chunks_of_dataclasses", "chunks_of_dicts", "chunks_warmed_up", "chunks_without_state", "own_split",
    "several_optimizers_and_chunks",
    "state_under_another_name",
]  # fmt: skip
SILENT = {"chunks_half_detached"}
"""What trains on whole batches now, and says nothing."""
INDEXED = [
    "alternating_without_an_index", "dead_index", "gan_accumulated", "gan_default_none", "gan_early_return",
    "gan_elif", "gan_frequency", "gan_in", "gan_index_handed_on", "gan_own_clipping", "gan_plateau", "gan_scheduled",
    "gan_shared_prefix", "three_optimizers_toggled",
]  # fmt: skip
ACCUMULATED = {"gan_accumulated", "gan_on_two_ranks"}
SCALED = ["chunks_clipped_under_a_scaler", "gan_clipped_under_a_scaler"]
ROUNDED = {"gan_clipped_under_a_scaler"}
RANKS = ["chunks_on_two_ranks", "gan_on_two_ranks"]
UNUSED = {"devices": 2, "strategy": "ddp_find_unused_parameters_true"}
"""What trains any project on two ranks: an optimizer's turn leaves parameters of the others unused."""
CLEARED = "torch.clear_autocast_cache()"


def project(name: str) -> dict[str, str]:
    """The texts of a project."""
    folder = PROJECTS / name
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".txt"))
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}


def rewritten(files: dict[str, str]) -> dict[str, str]:
    """What all rules make of a project; they must have nothing to leave to a person but what is dead afterwards."""
    made = run_rules(files)
    assert made.bugs == ()
    asked = [finding for finding in made.findings if finding.code != "LIT225"]
    assert asked and all(finding.applied for finding in asked), asked
    final = made.final()
    return {path: final[path].decode() if path in final else text for path, text in files.items()}


def fails_now(files: dict[str, str]) -> None:
    record = train(files)
    assert record.failure is not None and record.failure.type in ("TypeError", "RuntimeError", "NotImplementedError")


@pytest.mark.parametrize("name", [*CHUNKS, *INDEXED])
def test_it_trains_as_it_did(name: str) -> None:
    before = project(name)
    if name not in SILENT:
        fails_now(before)
    old, new = same(before, rewritten(before), logged=name not in ACCUMULATED)
    assert old.automatic is True
    assert new.automatic is (name == "dead_index")


def test_flag_of_the_trainer_trains_as_the_flag_of_the_module_did() -> None:
    """No release that still runs takes `Trainer(truncated_bptt_steps=)`, which went in 1.5: before is the same project
    with the module's flag, which did the same from 1.3 on."""
    given = project("chunks_flag_of_the_trainer")
    fails_now(given)
    script, moved = re.subn(r", truncated_bptt_steps=(\d+)\)", ")", given["train.py"])
    script, set_there = re.subn(r"( +)super\(\).__init__\(\)\n", r"\g<0>\1self.truncated_bptt_steps = 3\n", script)
    assert (moved, set_there) == (1, 1)
    old, new = same({**given, "train.py": script}, rewritten(given))
    assert (old.automatic, new.automatic) == (True, False)
    assert len(new.losses) > 6


@pytest.mark.parametrize("name", [CHUNKS[0], "gan_scheduled"])
def test_it_trains_as_it_did_on_1_8(name: str) -> None:
    before = project(name)
    same(before, rewritten(before), old="1.8.6")


@pytest.mark.parametrize("name", SCALED)
def test_gradients_are_clipped_as_they_were_under_a_scaler(name: str) -> None:
    before = project(name)
    after = rewritten(before)
    tolerance = 1e-3 if name in ROUNDED else 1e-6
    old, _ = same(before, after, tolerance=tolerance)
    wrong = train({**after, "train.py": clipped_too_early(after["train.py"])})
    assert wrong.failure is None, wrong.output
    assert any("gradients" in line for line in differences(old, wrong, tolerance))


def clipped_too_early(text: str) -> str:
    """A manual loop that clips before the optimizer's step, where gradients are still scaled."""
    text, hooks = re.subn(r"def on_before_optimizer_step\(self, (\w+)\)", r"def clip(self, \1)", text)
    text, steps = re.subn(r"( +)(\w+)\.step\(\)", r"\1self.clip(\2)\n\1\2.step()", text)
    assert hooks and steps
    return text


@pytest.mark.parametrize("name", RANKS)
def test_ranks_hold_equal_gradients(name: str) -> None:
    before = project(name)
    old, new = train_many([(Case(before, processes=2), "1.9.5"), (Case(rewritten(before), processes=2), "target")])
    assert_same(old, new, logged=name not in ACCUMULATED)
    assert_same(old.ranks[0], new.ranks[0], logged=name not in ACCUMULATED)
    assert_equal_ranks(new)


@pytest.mark.parametrize("name", [*CHUNKS, "chunks_flag_of_the_trainer", *INDEXED])
def test_ranks_of_every_shape_stay_equal(name: str) -> None:
    assert_equal_ranks(train(rewritten(project(name)), processes=2, trainer=UNUSED))


def assert_equal_ranks(record: Record) -> None:
    """Ranks that saw data of their own stepped with equal gradients to equal weights."""
    (other,) = record.ranks
    assert record.failure is None and other.failure is None, record.output
    assert record.steps and record.losses != other.losses
    assert [step.gradient for step in record.steps] == [step.gradient for step in other.steps]
    assert record.weights == other.weights


@pytest.mark.parametrize("name", SCALED)
def test_each_forward_sees_the_weights_of_the_step_before(name: str) -> None:
    """2.5.4 keeps half-precision copies of weights through a training step, the newest release does not.

    Where optimizers are toggled each finds its weights uncopied: those of the others need no gradient meanwhile.
    """
    scaled = project(name)
    script = re.sub(r", gradient_clip_\w+=[^,)]+", "", scaled["train.py"])
    script = script.replace("plugins=[scaled()]", 'precision="bf16-mixed"')
    after = rewritten({**scaled, "train.py": script})
    assert CLEARED in after["train.py"]
    stale = {**after, "train.py": after["train.py"].replace(CLEARED, "pass")}
    cases = [(Case(after), "2.5.4"), (Case(stale), "2.5.4"), (Case(after), "target")]
    cleared, kept, now = train_many(cases)
    assert_same(now, cleared, tolerance=1e-2)
    stale_losses = any("losses" in line for line in differences(now, kept, tolerance=1e-2))
    assert stale_losses is ("toggle_optimizer" not in after["train.py"])
