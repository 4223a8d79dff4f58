from __future__ import annotations

from dataclasses import replace

import pytest

from tests.verify.said import said as told_of
from verify.evidence import Failure, Gradient, Recording, Scheduler
from verify.judging.record import CRASHED, RunRecord, Weight
from verify.judging.verdict import Judgement, judge

RECORDING = Recording(
    script="train.py",
    fitted=True,
    failure=None,
    losses=(1.0, 0.5),
    metrics=(("val_loss", 0.3),),
    learning_rates=((0.1,), (0.1,)),
    optimizer_steps=2,
    global_step=2,
    epochs=1,
    unreached=(),
    weights=(("w", 1.0),),
    device="cpu",
    precision="32",
    seconds=1.0,
)
RAW = RunRecord(RECORDING, (Weight("w", 1.0, (0.6, 0.8)),))
BOOM = Failure("ValueError", "boom", "train.py:3")


def raw(ended: str | None = None, weights: tuple[Weight, ...] = RAW.weights, **changes: object) -> RunRecord:
    return replace(RAW, recording=replace(RECORDING, **changes), ended=ended, weights=weights)  # type: ignore[arg-type]


def failed(ended: str | None = None, failure: Failure = BOOM, losses: tuple[float, ...] = ()) -> RunRecord:
    return raw(ended, fitted=False, failure=failure, losses=losses, learning_rates=(), optimizer_steps=0)


def short(judgement: Judgement) -> tuple[str, str | None]:
    return judgement.verdict, judgement.rung


def test_the_same_numbers_are_preserved() -> None:
    judgement = judge(RAW, RAW, ())
    assert short(judgement) == ("preserved", "same")
    assert (judgement.max_difference, judgement.tolerance) == (0.0, 1e-6)


def test_rounding_is_within_tolerance_and_more_is_not() -> None:
    assert judge(RAW, raw(losses=(1.0, 0.5 + 4e-7)), ()).verdict == "preserved"
    assert judge(RAW, raw(losses=(1.0, 0.5 + 4e-6)), ()).verdict == "changed"


def test_half_precision_is_given_more_room() -> None:
    judgement = judge(raw(precision="bf16"), raw(precision="bf16-mixed", losses=(1.0, 0.503)), ())
    assert (judgement.verdict, judgement.tolerance) == ("preserved", 1e-2)


def test_half_precision_hides_no_rate_norm_or_metric_and_small_rates_count() -> None:
    for precision in ("32", "bf16", "16"):
        for rate, other in ((1e-3, 2e-3), (1e-7, 3e-7), (0.1, 0.1001)):
            then, now = (raw(precision=precision, learning_rates=((each,), (each,))) for each in (rate, other))
            assert "learning rate of step 1" in judge(then, now, ()).reason
            steps = [Scheduler("StepLR", 2, (each,)) for each in (rate, other)]
            then, now = (raw(precision=precision, schedulers=(each,)) for each in steps)
            assert "rates of StepLR" in judge(then, now, ()).reason
        then, now = (raw(precision=precision, gradient_norms=(each,)) for each in (1.0, 5.0))
        assert "gradient norm of step 1" in judge(then, now, ()).reason
        then, now = (raw(precision=precision, schedulers=(Scheduler("A", 2, (), each),)) for each in (0.5, 0.6))
        assert "best metric of A" in judge(then, now, ()).reason
    then, now = (raw(learning_rates=((each,), (each,))) for each in (0.3, 0.1 + 0.2))
    assert judge(then, now, ()).verdict == "preserved"
    then, now = (raw(learning_rates=((0.1,), (each,))) for each in (0.0, 1e-19))
    assert judge(then, now, ()).verdict == "preserved"


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (raw(losses=(1.0, 0.6)), "loss 2: 0.5 became 0.6"),
        (raw(losses=(1.0,)), "losses: 2 became 1"),
        (raw(learning_rates=((0.1,), (0.2,))), "learning rate of step 2"),
        (raw(global_step=4), "global_step: 2 became 4"),
        (raw(optimizer_steps=3), "optimizer steps: 2 became 3"),
        (raw(metrics=(("val_loss", 0.4),)), "metric val_loss: 0.3 became 0.4"),
        (raw(metrics=()), "metric val_loss is no longer logged"),
        (raw(weights=(Weight("w", 1.0, (0.8, 0.6)),)), "weight w by 0.2"),
        (raw(weights=()), "parameter w is gone"),
        (raw(weights=(*RAW.weights, Weight("b", 0.0, (0.0,)))), "parameter b is new"),
    ],
)
def test_every_number_that_differs_is_a_change(after: RunRecord, said: str) -> None:
    judgement = judge(RAW, after, ())
    assert short(judgement) == ("changed", "trains")
    assert said in judgement.reason


def gradient(reached: int) -> Gradient:
    return Gradient("w", "float32", "float32" if reached else None, reached, False, True, ("training_step",), None)


@pytest.mark.parametrize(
    ("name", "then", "now", "said"),
    [
        ("gradient_norms", (1.0, 2.0), (1.0, 1.0), "gradient norm of step 2: 2 became 1"),
        ("gradients", (gradient(2),), (gradient(4),), "gradients that reached w: 2 became 4"),
        ("unheld", (), ("w",), "no optimizer holds w"),
        ("planned", (("devices", 2),), (("devices", 1),), "devices: 2 became 1"),
        ("planned", (("every", 1),), (("every", 2),), "epochs from validation to validation: 1 became 2"),
        ("schedulers", (Scheduler("StepLR", 2, (0.1,)),), (Scheduler("StepLR", 1, (0.1,)),), "steps of StepLR: 2"),
        ("schedulers", (Scheduler("A", 2, (0.1,)),), (Scheduler("A", 2, (0.2,)),), "rates of A: [0.1] became [0.2]"),
        ("schedulers", (Scheduler("A", 2, (), 0.5),), (Scheduler("A", 2, (), 0.6),), "best metric of A: 0.5"),
        ("schedulers", (Scheduler("A", 2, ()),), (), "schedulers: 1 became 0"),
        ("precision", "bf16", "32-true", "precision: bf16-mixed became 32-true"),
        ("autocast", "bfloat16", None, "autocast: bfloat16 became None"),
        ("graphs", ((8, 3),), ((8, 0),), "nothing is cast to another type any more"),
        ("logged", (("loss", (1.0, 0.5)),), (("loss", (1.0, 0.6)),), "loss, logged for time 2: 0.5 became 0.6"),
        ("logged", (("loss", (1.0,)),), (("loss", (1.0, 1.0)),), "times that loss is logged: 1 became 2"),
    ],
)
def test_what_no_loss_and_no_weight_shows_is_a_change_too(name: str, then: object, now: object, said: str) -> None:
    before, after = ({name: value} for value in (then, now))
    judgement = judge(raw(None, RAW.weights, **before), raw(None, RAW.weights, **after), ())
    assert short(judgement) == ("changed", "trains")
    assert said in judgement.reason
    assert judge(raw(None, RAW.weights, **before), raw(None, RAW.weights, **before), ()).verdict == "preserved"


def test_backward_passes_that_add_up_are_the_same() -> None:
    two = replace(raw(losses=(0.5, 0.25, 1.0, 0.5), optimizer_steps=2), passes=(0, 0, 1, 1))
    one = replace(raw(losses=(0.75, 1.5), optimizer_steps=2), passes=(0, 1))
    other = replace(raw(losses=(0.25, 1.5), optimizer_steps=2), passes=(0, 1))
    assert judge(two, one, ()).verdict == "preserved"
    assert "4 losses became 2" in judge(two, one, ()).reason
    assert judge(two, other, ()).verdict == "changed"
    assert judge(two, replace(one, weights=(Weight("w", 2.0, (1.2, 1.6)),)), ()).verdict == "changed"


@pytest.mark.parametrize(
    ("left", "then", "verdict"),
    [
        ((2.0, 1.0), (3.0,), "preserved"), ((2.0, 1.0), (9.0,), "changed"), ((2.0, 1.0), (), "changed"),
        ((), (9.0,), "changed"),
    ],
)  # fmt: skip
def test_losses_after_the_last_step_add_up_too(left: tuple[float, ...], then: tuple[float, ...], verdict: str) -> None:
    two = replace(raw(losses=(0.5, 0.25, *left), optimizer_steps=1), passes=(0, 0, *(1 for _ in left)))
    one = replace(raw(losses=(0.75, *then), optimizer_steps=1), passes=(0, *(1 for _ in then)))
    assert judge(two, one, ()).verdict == verdict


@pytest.mark.parametrize(
    ("left", "then", "verdict"),
    [
        ((2.0, 1.0), (3.0,), "repaired"), ((2.0,), (2.0, 1.0), "repaired"), ((), (9.0,), "repaired"),
        ((2.0,), (9.0, 1.0), "changed"), ((2.0, 1.0), (9.0,), "changed"), ((2.0,), (), "changed"),
    ],
)  # fmt: skip
def test_losses_between_the_last_step_and_a_failure_are_compared(
    left: tuple[float, ...], then: tuple[float, ...], verdict: str
) -> None:
    old = replace(failed(losses=(0.5, 0.25, *left)), passes=(0, 0, *(1 for _ in left)))
    old = replace(old, recording=replace(old.recording, optimizer_steps=1))
    new = replace(raw(losses=(0.75, *then, 4.0)), passes=(0, *(1 for _ in then), 2))
    assert judge(old, new, ()).verdict == verdict


def test_norms_of_gradients_are_given_more_room() -> None:
    assert judge(raw(gradient_norms=(1.0,)), raw(gradient_norms=(1.00005,)), ()).verdict == "preserved"


def test_other_numbers_up_to_a_failure_are_a_change_and_no_repair() -> None:
    judgement = judge(failed(losses=(1.0,)), raw(losses=(-1.0, 0.5)), ())
    assert short(judgement) == ("changed", "trains")
    assert "trains now, with different numbers up to that failure: loss 1: 1 became -1" in judgement.reason
    assert "no optimizer holds w" in judge(failed(), raw(unheld=("w",)), ()).reason


@pytest.mark.parametrize("noise", [1.0, float("inf")])
def test_losses_before_a_failure_that_differ_by_themselves_are_not_called_the_same(noise: float) -> None:
    judgement = judge(failed(losses=(1.0,)), raw(losses=(-1.0, 0.5)), (), noise=noise)
    assert short(judgement) == ("repaired", "trains")
    assert "not compared: the losses up to that failure: two runs of the tree before" in told_of(judgement)
    assert "the same" not in told_of(judgement)
    assert (judgement.max_difference, judgement.tolerance) == (None, None)
    little = judge(failed(losses=(1.0,)), raw(losses=(1.02, 0.5)), (), noise=0.01)
    assert (little.verdict, little.tolerance) == ("repaired", 0.03)
    assert little.reason.endswith("the same within 0.03")
    assert "also: two runs of the tree before differ by 0.01; the second" in told_of(little)
    rates = replace(failed(losses=(1.0,)), recording=replace(failed().recording, learning_rates=((0.5,),)))
    assert "learning rate of step 1" in judge(rates, raw(), (), noise=noise).reason


@pytest.mark.parametrize(("left", "pairs"), [((2.0, 1.0), 2), ((2.0,), 2), ((), 1)])
def test_losses_before_a_failure_are_measured_by_their_sums_where_passes_were_merged(
    left: tuple[float, ...], pairs: int
) -> None:
    old = replace(failed(losses=(0.5, 0.25, *left)), passes=(0, 0, *(1 for _ in left)))
    old = replace(old, recording=replace(old.recording, optimizer_steps=1))
    now = (2.0, 1.0) if left == (2.0,) else (3.0,)
    judgement = judge(old, replace(raw(losses=(0.75, *now)), passes=(0, *(1 for _ in now))), ())
    assert (judgement.verdict, judgement.max_difference) == ("repaired", 0.0)
    assert f"the {pairs} sums of the losses of each step up to that failure are the same" in judgement.reason


def test_a_failure_that_became_a_training_of_nothing_is_a_regression() -> None:
    judgement = judge(failed(), raw(optimizer_steps=0, learning_rates=()), ())
    assert short(judgement) == ("regressed", "conforms")
    judgement = judge(failed(), raw(unreached=("w",), gradients=(gradient(0),)), ())
    assert short(judgement) == ("regressed", "conforms")
    assert "no gradient reaches w" in judgement.reason


def test_global_step_is_not_compared_where_the_baseline_counts_batches() -> None:
    assert judge(RAW, raw(global_step=4), (), per_batch=True).verdict == "preserved"


@pytest.mark.parametrize(
    ("then", "passes", "said"),
    [
        ((1.0, 2.0, 50.0, 4.0), (0, 0, 0, 1), "sum of the losses of step 1: 3 became 53"),
        ((1.0, 2.0, 4.0), (0, 1, 2), "sum of the losses of step 1: 3 became 1"),
        ((1.0, 2.5, 4.0), (0, 0, 1), "loss 2: 2 became 2.5"),
    ],
)
def test_losses_before_a_failure_that_have_another_sum_in_a_step_are_not_called_the_same(
    then: tuple[float, ...], passes: tuple[int, ...], said: str
) -> None:
    """Although each of them is among those of the tree after, in the same place."""
    old = replace(failed(losses=(1.0, 2.0)), passes=(0, 0))
    old = replace(old, recording=replace(old.recording, optimizer_steps=1, learning_rates=((0.1,),)))
    new = replace(raw(losses=then, optimizer_steps=passes[-1] + 1), passes=passes)
    judgement = judge(old, new, ())
    assert judgement.verdict == "changed"
    assert f"with different numbers up to that failure: {said}" in judgement.reason


def test_a_failure_that_is_new_is_a_regression() -> None:
    judgement = judge(RAW, failed(), ())
    assert short(judgement) == ("regressed", "conforms")
    assert "ValueError: boom at train.py:3" in judgement.reason
    assert judge(RAW, raw(failure=BOOM), ()).verdict == "regressed"


def test_a_failure_that_is_gone_is_a_repair() -> None:
    judgement = judge(failed(), RAW, ())
    assert short(judgement) == ("repaired", "trains")
    assert "not compared: no numbers before that failure" in told_of(judgement)
    partly = judge(failed(losses=(1.0,)), RAW, ())
    assert "the 1 losses up to that failure are the same" in partly.reason


def test_the_same_failure_after_fit_is_said_and_no_regression() -> None:
    judgement = judge(raw(failure=BOOM), raw(failure=BOOM), ())
    assert judgement.verdict == "preserved"
    assert "also: after `fit` both scripts fail: ValueError: boom" in told_of(judgement)


def test_another_failure_after_fit_is_not_passing() -> None:
    other = replace(BOOM, type="AttributeError")
    judgement = judge(raw(failure=BOOM), raw(failure=other), ())
    assert short(judgement) == ("inconclusive", "trains")
    assert judgement.reason.endswith("after `fit` they fail differently; the patched tree: AttributeError: boom at "
                                     "train.py:3")  # fmt: skip
    assert "also: the tree before fails: ValueError: boom at train.py:3" in told_of(judgement)
    assert judge(raw(failure=BOOM), raw(), ()).verdict == "preserved"


COPY = "/var/tmp/fixer-verify-90-ab_c/{}0/tree/own/"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "no 'colorlog' in path=file://{}configs, path=pkg://hydra",
            "no 'colorlog' in path=file:configs, path=pkg://h",
        ),
        ("cannot read '{}data/x.csv'", "cannot read 'data/x.csv'"),
        ("<Model object at 0x7f{}> is no Tensor", "is no Tensor"),
    ],
)
def test_the_same_failure_in_two_copies_is_the_same(text: str, said: str) -> None:
    places = [COPY.format(tree) if "0x" not in text else tree[:1] for tree in ("before", "after")]
    runs = [failed(failure=Failure("ValueError", text.format(place), "a.py:1")) for place in places]
    judgement = judge(*runs, ())
    assert judgement.reason.startswith("neither tree trains; both fail in the same way: ValueError")
    assert said in judgement.reason


@pytest.mark.parametrize("losses", [(), (1.0,)])
def test_a_training_without_a_step_in_either_tree_trains_nothing(losses: tuple[float, ...]) -> None:
    still = raw(optimizer_steps=0, learning_rates=(), losses=losses)
    judgement = judge(still, still, ())
    assert short(judgement) == ("inconclusive", "conforms")
    assert "no optimizer steps in either" in judgement.reason
    other = judge(still, raw(optimizer_steps=0, learning_rates=(), losses=losses, metrics=(("val_loss", 0.4),)), ())
    assert short(other) == ("changed", "conforms")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (failed(), failed(), "neither tree trains; both fail in the same way: ValueError"),
        (None, RAW, "trains; the tree before could not be run\nnot compared: the tree before was not run: no network"),
        (None, None, "no network"),
        (RAW, failed(ended="it ran longer than 5 seconds"), "longer than 5 seconds"),
        (failed(ended="it used more"), RAW, "not compared: the tree before was not run: it used more"),
        (failed(failure=Failure("ModuleNotFoundError", "No module named 'apex'", None)), RAW, "apex"),
        (replace(RAW, unusable="ImportError: x"), RAW, "its Lightning could not be loaded"),
        (RAW, replace(RAW, unusable="ImportError: x"), "the target's Lightning could not be loaded"),
        (failed(), raw(unreached=("w",)), "no gradient reaches w"),
        (failed(), raw(fitted=False), "without a call of `fit`"),
    ],
)
def test_not_knowing_is_never_passing(before: RunRecord | None, after: RunRecord | None, said: str) -> None:
    judgement = judge(before, after, (), missing="no network")
    assert judgement.verdict == "inconclusive"
    assert said in told_of(judgement) and len(judgement.reason) <= 200
    assert judgement.rung != "same"


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (raw(unreached=("w",)), "no gradient reaches w"),
        (raw(optimizer_steps=0, learning_rates=()), "no optimizer stepped"),
        (raw(losses=(1.0, float("nan"))), "a loss is not finite"),
    ],
)
def test_a_training_in_name_only_is_a_regression(after: RunRecord, said: str) -> None:
    judgement = judge(RAW, after, ())
    assert short(judgement) == ("regressed", "conforms")
    assert said in judgement.reason


def test_what_was_not_reached_before_need_not_be_reached_now() -> None:
    assert judge(raw(unreached=("w",)), raw(unreached=("w",)), ()).verdict == "preserved"


def test_no_rung_stands_on_names_that_do_not_exist() -> None:
    judgement = judge(RAW, RAW, ("train.py:1: x",))
    assert short(judgement) == ("preserved", None)


def test_the_largest_difference_has_a_place() -> None:
    off = judge(RAW, raw(losses=(1.0, 0.75)), ())
    assert (off.verdict, off.max_difference, off.furthest) == ("changed", 0.25, "loss 2")
    rated = judge(raw(learning_rates=((0.1,), (0.1,))), raw(learning_rates=((0.1,), (0.4,))), ())
    assert rated.furthest == "learning rate of step 2"
    partly = judge(failed(losses=(1.0, 0.5)), raw(losses=(1.0, 0.5 + 4e-7)), ())
    assert (partly.verdict, partly.furthest) == ("repaired", "loss 2")


def test_a_reason_stays_one_short_sentence_however_long_an_exception_is() -> None:
    long = replace(BOOM, message="no such argument; " * 200)
    for judgement in (judge(RAW, failed(failure=long), ()), judge(failed(failure=long), RAW, ())):
        assert len(judgement.reason) <= 230, judgement.reason
        assert judgement.reason.count("; ") <= 8


CRASH = Failure(CRASHED, "the process ended with exit status 1: Local abort before MPI_INIT", None)


def test_a_process_that_was_aborted_is_neither_a_regression_nor_a_repair() -> None:
    """On a machine with mpi4py and no `ssh`, OpenMPI ended a training that had nothing wrong with it."""
    judgement = judge(RAW, failed(failure=CRASH), ())
    assert short(judgement) == ("inconclusive", "conforms")
    assert "ended by something outside of Python" in judgement.reason and "MPI_INIT" in judgement.reason
    judgement = judge(failed(failure=CRASH), RAW, ())
    assert short(judgement) == ("inconclusive", "trains")
    assert "MPI_INIT" in " ".join(told.text for told in judgement.facts)


def test_a_process_that_is_aborted_after_its_training_hides_no_other_number() -> None:
    judgement = judge(RAW, raw(failure=CRASH), ())
    assert short(judgement) == ("inconclusive", "trains")
    assert "both train the same" in judgement.reason and "MPI_INIT" in judgement.reason
    other = judge(RAW, raw(failure=CRASH, losses=tuple(loss * 2 for loss in RECORDING.losses)), ())
    assert other.verdict == "changed"
    assert judge(RAW, raw(failure=BOOM), ()).verdict == "regressed"


def test_what_lightning_itself_asks_for_is_no_regression() -> None:
    lacking = "Requirement 'wandb>=0.12.10' not met. HINT: Try running `pip install -U 'wandb>=0.12.10'`"
    found = judge(RAW, failed(failure=Failure("ModuleNotFoundError", lacking, "train.py:3")), ())
    assert found.verdict == "inconclusive" and "`wandb>=0.12.10`" in found.reason
    other = judge(RAW, failed(failure=Failure("ModuleNotFoundError", "No module named 'nets'", "train.py:3")), ())
    assert other.verdict == "regressed"
