"""Each project that fails or does not train as it is: what the rules make of it trains as the right one does."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten
from tests.training import Case, assert_same, differences, train, train_many
from tests.training.test_shapes import PROJECTS, UNUSED, assert_equal_ranks, project

CUT = "            hiddens = tuple(part.detach() for part in hiddens)\n"
CLIPS = (
    "    def on_before_optimizer_step(self, optimizer):\n"
    "        self.clip_gradients(optimizer, gradient_clip_val=0.01)\n\n"
)
NESTED = "            hiddens = tuple(tuple(part.detach() for part in state) for state in hiddens)\n"
FAILS = {
    "loop_without_flag": "MisconfigurationException",
    "loop_flag_lost": "MisconfigurationException",
    "loop_unknown_optimizer": "AttributeError",
    "loop_undetached": "RuntimeError",
    "loop_half_detached": "RuntimeError",
    "loop_detached_at_the_wrong_depth": "AttributeError",
    "loop_over_a_number": "TypeError",
    "loop_clipped_by_the_trainer": "MisconfigurationException",
    "loop_loss_returned": "MisconfigurationException",
    "backward_through_stepped_weights": "RuntimeError",
    "hook_too_early": "AttributeError",
}
DIFFERS = ["loop_zeroed_too_late", "loop_never_zeroed", "loop_without_step", "loop_stepped_behind", "loop_of_k_chunks"]
OTHERS = {
    "backward_accumulated", "backward_adaptive_weight", "hook_on_a_node", "kept_graph", "loop_backward_raw",
    "loop_scheduler_forgotten", "raw_backward", "two_passes",
}  # fmt: skip
RIGHT: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "loop_detached_at_the_wrong_depth": ("loop_detached_at_the_wrong_depth", ((CUT, NESTED),)),
    "loop_clipped_by_the_trainer": (
        "loop_right",
        (("    def configure_optimizers", CLIPS + "    def configure_optimizers"),),
    ),
    "backward_through_stepped_weights": (
        "backward_through_stepped_weights",
        (("judged = self.critic(fake)", "judged = self.critic(fake.detach())"),),
    ),
    "hook_too_early": ("hook_on_a_node", ()),
}
"""Which project is right, and with what in it changed: the loop that is right where nothing is said."""


def right(name: str) -> dict[str, str]:
    like, changes = RIGHT.get(name, ("loop_right", ()))
    files = project(like)
    for old, new in changes:
        assert old in files["train.py"]
        files["train.py"] = files["train.py"].replace(old, new)
    return files


@pytest.mark.parametrize("name", FAILS)
def test_what_failed_trains(name: str) -> None:
    before = project(name)
    broken, after, expected = train_many(
        [(Case(before), "target"), (Case(rewritten(before)), "target"), (Case(right(name)), "target")]
    )
    assert broken.failure is not None and broken.failure.type == FAILS[name]
    assert after.automatic is False
    assert_same(after, expected)


@pytest.mark.parametrize("name", DIFFERS)
def test_what_trained_wrongly_trains_rightly(name: str) -> None:
    before = project(name)
    wrong, after, expected = train_many(
        [(Case(before), "target"), (Case(rewritten(before)), "target"), (Case(right(name)), "target")]
    )
    assert list(differences(wrong, expected))
    assert after.automatic is False
    assert_same(after, expected)


def test_a_forgotten_scheduler_steps_once_an_epoch() -> None:
    before = project("loop_scheduler_forgotten")
    rates = [[step.rates[0] for step in train(files).steps] for files in (before, rewritten(before, unsafe=True))]
    half = len(rates[0]) // 2
    assert rates[0] == pytest.approx([0.1] * 2 * half)
    assert rates[1] == pytest.approx([0.1] * half + [0.01] * half)


ROUNDED = 1e-2
"""What bfloat16 may differ by: where a processor has no kernel for a whole LSTM in it, a cached weight sums up the
gradients of its uses in 8 bits, and others do so in 24."""


def test_stale_weights_are_cleared_where_autocast_caches() -> None:
    before = project("loop_stale_weights")
    cached, now, cleared = train_many(
        [(Case(before), "2.5.4"), (Case(before), "target"), (Case(rewritten(before)), "2.5.4")]
    )
    assert list(differences(cached, now, ROUNDED))
    assert_same(cleared, now, ROUNDED)


def test_a_raw_backward_lets_ranks_differ() -> None:
    before = project("loop_backward_raw")
    before["train.py"] = before["train.py"].replace("max_epochs=2", 'max_epochs=2, devices=2, strategy="ddp"')
    apart, together = train_many(
        [(Case(before, processes=2), "target"), (Case(rewritten(before), processes=2), "target")]
    )
    assert apart.weights != apart.ranks[0].weights
    assert together.failure is None and together.weights == together.ranks[0].weights


@pytest.mark.parametrize("name", [*FAILS, *DIFFERS, *sorted(OTHERS)])
def test_ranks_of_every_repaired_step_stay_equal(name: str) -> None:
    assert_equal_ranks(train(rewritten(project(name), unsafe=True), processes=2, trainer=UNUSED))


def test_accumulation_steps_at_the_end_of_an_epoch_and_averages() -> None:
    before = project("backward_accumulated")
    meant = {
        **before,
        "train.py": before["train.py"].replace("self.manual_backward(loss)", "self.manual_backward(loss / 3)"),
    }
    meant["train.py"] = meant["train.py"].replace("% 3 == 0:", "% 3 == 0 or self.trainer.is_last_batch:")
    dropped, after, expected = train(before), train(rewritten(before, unsafe=True)), train(meant)
    assert (dropped.global_step, after.global_step) == (2, 4)
    assert_same(after, expected)


def test_accumulation_then_trains_as_automatic_accumulation_does() -> None:
    """Five batches in windows of three: two steps an epoch, where the loop by hand made one."""
    before = project("backward_accumulated")
    text = before["train.py"]
    for old, new in (
        ("        self.automatic_optimization = False\n", ""),
        ("        optimizer = self.optimizers()\n", ""),
        ("        self.manual_backward(loss)\n", "        return loss\n"),
        ("        if (batch_idx + 1) % 3 == 0:\n            optimizer.step()\n            optimizer.zero_grad()\n", ""),
        ("max_epochs=2", "max_epochs=2, accumulate_grad_batches=3"),
    ):
        assert old in text
        text = text.replace(old, new)
    whole, automatic = train(rewritten(before, unsafe=True)), train({"train.py": text})
    assert whole.global_step == automatic.global_step == 4
    assert whole.weights == {name: pytest.approx(values, abs=1e-6) for name, values in automatic.weights.items()}


def test_one_pass_for_a_weight_in_place_of_three() -> None:
    before = project("backward_adaptive_weight")
    old, new = train(before), train(rewritten(before, unsafe=True))
    assert (len(old.losses), len(new.losses)) == (12, 4)
    assert new.weights == {name: pytest.approx(values, abs=1e-6) for name, values in old.weights.items()}
    assert [step.gradient for step in new.steps] == pytest.approx([step.gradient for step in old.steps], abs=1e-6)


def test_one_pass_on_the_sum_in_place_of_two() -> None:
    before = project("two_passes")
    old, new = train(before), train(rewritten(before))
    assert len(old.losses) == 2 * len(new.losses) > 0
    assert new.weights == {name: pytest.approx(values, abs=1e-6) for name, values in old.weights.items()}
    assert [step.gradient for step in new.steps] == pytest.approx([step.gradient for step in old.steps], abs=1e-6)


@pytest.mark.parametrize("name", ["kept_graph", "raw_backward", "hook_on_a_node"])
def test_what_is_only_simpler_trains_the_same(name: str) -> None:
    before = project(name)
    after = rewritten(before)
    assert after["train.py"] != before["train.py"]
    assert_same(train(before), train(after))


def test_a_dead_state_goes() -> None:
    before = project("dead_hiddens")
    after = rewritten(before)
    assert "hiddens" not in after["train.py"].partition('"""')[2].partition('"""')[2]
    assert_same(train(before, on="1.9.5"), train(after))


@pytest.mark.parametrize("name", sorted({"loop_right", *(like for like, _ in RIGHT.values() if "hook" not in like)}))
def test_what_is_right_stays(name: str) -> None:
    files = right("loop_without_flag" if name == "loop_right" else name)
    assert (PROJECTS / name).is_dir()
    assert rewritten(files, unsafe=True)["train.py"] == files["train.py"]
