"""The time of a proof: how it is divided, and that what is cut is said and judged as no more than that."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify.trees import HEAD, MODEL, NEW, NEW_STEP, RUN, tree
from verify import module_training, running
from verify.again import First, settled
from verify.budget import ALONE, SCRIPTS, TRIALS, Budget, Clock, Interrupted, spelled
from verify.environments.building import MARKER, EnvironmentPlan, build
from verify.environments.installer import NO_TIME, find
from verify.environments.interpreters import Interpreter, Unavailable
from verify.evidence import Failure, Recording
from verify.finished import keep, take
from verify.judging.record import RunRecord
from verify.judging.verdict import Judgement, confirmed, judge
from verify.module_training import Sides
from verify.prove import prove
from verify.reading.sources import Sources
from verify.request import Bench, Pair, Request
from verify.sandbox.process import Outcome

HERE = Path(sys.executable)
REQUEST = Request("g", ("A",), ("train.py",), "2.6.6", None, ("lightning",), ("lightning",), HERE, baseline_python=HERE)
TRAINED = Recording("train.py", True, None, (1.0, 0.5), (), ((0.1,), (0.1,)), 2, 2, 1, (), (), "cpu", "32", 1.0)
FAILED = replace(TRAINED, fitted=False, failure=Failure("ValueError", "no", None), losses=(), optimizer_steps=0)
CUT = "the budget of 10 min ended"


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def running_clock(*stages: str, seconds: float = 600, reserved: tuple[str, ...] = ()) -> tuple[Clock, Watch]:
    watch = Watch()
    clock = Clock(Budget(seconds, 100, "go on"), watch)
    clock.reserved = reserved
    clock.divide(stages)
    return clock, watch


def test_the_shares_are_told_and_what_one_leaves_is_the_next_ones() -> None:
    clock = Clock(Budget(600), Watch())
    clock.reserved = (TRIALS,)
    assert clock.divide([SCRIPTS, ALONE]) == (
        "proof: at most 10 min (scripts 5 min, modules alone 3 min, finding which change did it 2 min), "
        "and at most 15 min for environments"
    )
    assert clock.divide([SCRIPTS]) is None, "told once"

    again = Clock(Budget(600), Watch())
    again.goes_on = True
    told = again.divide([SCRIPTS, ALONE])
    assert told and told.startswith("proof: at most 10 min (scripts 9 min 22 s, modules alone 38 s)"), "cut before"

    clock, watch = running_clock(SCRIPTS, ALONE, reserved=(TRIALS,))
    clock.enter(SCRIPTS, 0.5)
    assert clock.allowed() == 150
    clock.enter(SCRIPTS)
    assert clock.allowed() == 300
    watch.at += 60
    clock.enter(ALONE)
    assert clock.allowed() == 420
    clock.enter()
    assert clock.left() == 540
    assert clock.allowed() == 535, "five seconds are kept for ending what runs"
    watch.at += 539.5
    assert clock.is_over() and not clock.told()
    clock.ended("train.py")
    assert clock.told() == "the budget of 10 min ended before this was done: train.py; go on"


def test_what_was_done_before_the_proof_counts_and_the_look_behind_it_has_time() -> None:
    watch = Watch()
    clock = Clock(Budget(600), watch)
    clock.begin(watch.at)
    watch.at += 100
    assert clock.divide([ALONE]) == "proof: at most 7 min 30 s, and at most 15 min for environments"
    clock.enter(ALONE)
    assert (clock.used(), clock.left(), clock.allowed()) == (100, 450, 445)
    watch.at += 460
    assert clock.is_over() and clock.left() == 0

    late = Clock(Budget(60), watch)
    late.begin(watch.at - 90)
    assert late.divide([ALONE]) == "proof: at most 0 s, and at most 15 min for environments"
    assert late.is_over()


def test_environments_count_apart() -> None:
    clock, watch = running_clock(ALONE)
    with clock.paused():
        watch.at += 70
        assert (clock.left(), clock.installing_left()) == (600, 30)
    assert (clock.left(), clock.installing_left()) == (600, 30)
    with clock.paused():
        watch.at += 50
    assert (clock.left(), clock.installing_left()) == (600, 0)


def test_an_environment_that_lacked_the_time_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What did not install in time would be left out of it for ever."""
    left = [5.0, 0.0]
    found = replace(find(threading.Event()), left=lambda: left[0])
    assert replace(found, left=lambda: 0.0).fetch([sys.executable, "-c", ""], tmp_path) == NO_TIME

    def filled(folder: Path, *_: object) -> tuple[str, ...]:
        folder.mkdir()
        left.reverse()
        return ("numpy (not in time)",)

    monkeypatch.setattr("verify.environments.building._fill", filled)
    plan = EnvironmentPlan(("torch", "lightning==2.6.6"), (), ("numpy",))
    with pytest.raises(Unavailable, match=r"the time for environments ended before lightning==2\.6\.6"):
        build(plan, Interpreter(HERE, "3.12.0", {}), found, tmp_path / "cache", lambda text: None)
    assert not list((tmp_path / "cache").glob(f"*/{MARKER}"))


@pytest.mark.parametrize(("seconds", "text"), [(600, "10 min"), (90, "90 s"), (150, "2 min 30 s"), (0.5, "0.5 s")])
def test_times_are_spelled(seconds: float, text: str) -> None:
    assert spelled(seconds) == text


# -- what is cut is never a regression, nor a change


@pytest.mark.parametrize("side", ["before", "after", "both"])
@pytest.mark.parametrize(
    "new",
    [
        replace(TRAINED, losses=(1.0,), optimizer_steps=1),
        replace(TRAINED, failure=Failure("ValueError", "after fit", None)),
        replace(TRAINED, unreached=("layer.weight",)),
    ],
)
def test_a_training_that_was_cut_neither_regressed_nor_changed(side: str, new: Recording) -> None:
    uncut = judge(RunRecord(TRAINED), RunRecord(new), ())
    assert uncut.verdict in ("regressed", "changed")
    before = RunRecord(TRAINED, ended=CUT if side != "after" else None)
    after = RunRecord(new, ended=CUT if side != "before" else None)
    judged = judge(before, after, ())
    assert judged.verdict == "inconclusive" and CUT in judged.reason


def test_what_was_cut_before_it_trained_did_not_regress() -> None:
    unfitted = replace(FAILED, failure=None)
    assert judge(RunRecord(TRAINED), RunRecord(unfitted, ended=CUT), ()).verdict == "inconclusive"
    assert judge(RunRecord(unfitted, ended=CUT), RunRecord(TRAINED), ()).verdict == "inconclusive"
    assert judge(RunRecord(TRAINED), RunRecord(FAILED), ()).verdict == "regressed"


def test_a_regression_whose_second_run_was_cut_is_not_confirmed() -> None:
    first = judge(RunRecord(TRAINED), RunRecord(FAILED), ())
    now = confirmed(
        first,
        (RunRecord(TRAINED), RunRecord(TRAINED)),
        (RunRecord(FAILED), RunRecord(replace(FAILED, failure=None), ended=CUT)),
    )
    assert now.verdict == "inconclusive"
    assert now.reason == f"not confirmed by a second run: {CUT}; by the first one, {first.reason}"


def test_a_change_is_not_told_from_noise_where_there_is_no_time_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verify.again.run_script", lambda *_, **__: RunRecord(TRAINED, ended=CUT))
    monkeypatch.setattr("verify.again.side", lambda *_: "")
    monkeypatch.setattr("verify.again.accelerators", lambda *_: ())
    runs = First(None, None, type("E", (), {"script": "train.py"})(), Pair(HERE, None, ""), RunRecord(TRAINED), RunRecord(TRAINED), (), False)  # type: ignore[arg-type]  # fmt: skip # noqa: E501
    bench = Bench(tmp_path, REQUEST, None, None, lambda text: None)  # type: ignore[arg-type]
    now = settled(Judgement("changed", "trains", "other numbers"), runs, bench, 0)
    assert (now.verdict, now.rung) == ("inconclusive", "trains") and CUT in now.reason


# -- proofs


def test_a_script_that_sleeps_ends_with_the_budget_and_modules_alone_get_theirs(tmp_path: Path) -> None:
    """The script gets five eighths, and its modules train in the rest."""
    old = "import time\n" + HEAD + MODEL.format(setup="self.automatic_optimization = False", step=NEW_STEP, rate=0.01)
    old += RUN.format(more="").replace("def main():\n", "def main():\n    time.sleep(100)\n")
    before, after = tree(tmp_path / "b", train=old), tree(tmp_path / "a", train=old.replace("0.01", "1e-2 * 1"))
    clock, said = Clock(Budget(24, further="there is more")), list[str]()
    began = time.monotonic()
    found = prove(before, after, replace(REQUEST, clock=clock), said.append)
    assert clock.used() < 34 and time.monotonic() - began < 100
    assert said[0] == "proof: at most 24 s (scripts 15 s, modules alone 9 s), and at most 15 min for environments"
    assert found.verdict != "regressed" and "train.py" in clock.cut, found
    assert re.search(r"the budget of 24 s ended, after \d+ s of it", str(found))  # in the reason, or with what failed
    assert found.reason.endswith("; there is more") and "ended before this was done: train.py" in found.reason


def test_without_time_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.prove._conform", lambda *_: ((), ()))
    monkeypatch.setattr(running, "run", lambda *_: pytest.fail("it was run"))
    before, after = tree(tmp_path / "b", train=NEW), tree(tmp_path / "a", train=NEW.replace("0.01", "1e-2"))
    after.joinpath("train.py").write_text(NEW.replace("max_epochs=3", "max_epochs=4"))
    clock = Clock(Budget(0.5))
    found = prove(before, after, replace(REQUEST, clock=clock), lambda text: None)
    assert (found.verdict, found.rung) == ("inconclusive", "conforms")
    assert found.reason.startswith(
        "no script was run; the budget of 0.5 s ended before this was done: train.py, modules"
    )


def test_an_interruption_brings_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a script runs, that names conform; while it runs again, what it came to."""
    before, after = tree(tmp_path / "b", train=NEW), tree(tmp_path / "a", train=NEW.replace("epochs=3", "epochs=4"))
    monkeypatch.setattr("verify.prove._conform", lambda *_: ((), ()))
    runs: list[str] = []

    def run_both(*given: object) -> tuple[RunRecord, RunRecord]:
        runs.append(str(given[5]))
        if len(runs) == 2 or sys.argv == ["now"]:
            raise KeyboardInterrupt
        return RunRecord(TRAINED, loaded=("train.py",)), RunRecord(FAILED, loaded=("train.py",))

    for module in ("prove", "again"):
        monkeypatch.setattr(f"verify.{module}.run_both", run_both)
    with pytest.raises(Interrupted) as stop:
        prove(before, after, REQUEST, lambda text: None)
    (found,) = stop.value.evidence
    assert runs == ["0", "0-again"]
    assert (found.verdict, found.codes) == ("inconclusive", ("A",)), "one run tells nothing"
    assert "by the first one, the tree before trains, the patched one does not" in found.reason
    assert found.reason.endswith("interrupted while running train.py again")
    assert found.after == FAILED

    monkeypatch.setattr(sys, "argv", ["now"])
    with pytest.raises(Interrupted) as stop:
        prove(before, after, REQUEST, lambda text: None)
    (found,) = stop.value.evidence
    assert (found.verdict, found.rung) == ("inconclusive", "conforms")
    assert found.reason == "no training came to its end; interrupted while running train.py"


# -- runs that are kept


def outcome(**changes: object) -> Outcome:
    return Outcome(**{"status": 0, "output": "said", "ended": None, "seconds": 2.0, **changes})  # type: ignore[arg-type]


def test_what_came_to_its_end_is_kept_and_nothing_else(tmp_path: Path) -> None:
    record, copy = tmp_path / "record.jsonl", tmp_path / "copy" / "record.jsonl"
    record.write_text('{"event": "end"}\n')
    keep(tmp_path / "kept", "a", outcome(ended=CUT), [record], None)
    assert take(tmp_path / "kept", "a", [copy], None) is None
    keep(tmp_path / "kept", "a", outcome(), [record], None)
    assert take(tmp_path / "kept", "a", [copy], None) == outcome()
    assert copy.read_text() == record.read_text()
    assert take(tmp_path / "kept", "b", [copy], None) is None


@pytest.mark.parametrize(("late", "budget", "is_taken"), [(True, 30, True), (True, 60, False), (False, 60, True)])
def test_a_search_without_end_is_made_again_with_more_time(
    tmp_path: Path, late: bool, budget: float, is_taken: bool
) -> None:
    record = tmp_path / "record.jsonl"
    record.write_text('{"event": "unfound", "late": %s}\n' % str(late).lower())  # noqa: UP031
    keep(tmp_path / "kept", "a", outcome(), [record], 30)
    assert (take(tmp_path / "kept", "a", [tmp_path / "copy"], budget) is not None) == is_taken


def test_a_proof_that_goes_on_takes_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same trees say the same without being run; others are run."""
    before, after = tree(tmp_path / "b", train=NEW), tree(tmp_path / "a", train=NEW.replace("= None", "= (None)"))
    after.joinpath("train.py").write_text(NEW.replace("hiddens = None", "hiddens = None or None"))
    request = replace(REQUEST, finished=tmp_path / "kept")
    first = prove(before, after, request, lambda text: None)
    assert (first.verdict, first.rung) == ("preserved", "same"), first
    once, started = running.run_harness, list[str]()

    def counted(name: str, spec: Mapping[str, object], *given: object) -> object:
        started.append(name)
        return once(name, spec, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "run_harness", counted)
    assert prove(before, after, request, lambda text: None) == first
    assert started == []
    after.joinpath("train.py").write_text(NEW.replace("hiddens = None", "hiddens = 0 or None"))
    prove(before, after, request, lambda text: None)
    assert started == ["after0"], "the tree before is what it was"


# -- modules alone


def test_a_search_is_bound_by_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that computes without a stop, and hears no alarm of its own."""
    monkeypatch.setattr("verify.reading.modules.described", lambda *_: {})
    source = Sources(tree(tmp_path / "tree", model=NEW))
    specs: list[Mapping[str, object]] = []

    def start(name: str, sources: Sources, spec: Mapping[str, object]) -> tuple[Outcome, Path]:
        specs.append(spec)
        return outcome(ended=CUT), tmp_path / "none.jsonl"

    sides = Sides(source, source, None, start, lambda jobs: [], tmp_path, 600)
    for left in (50.0, 10_000.0):
        found = module_training._search(replace(sides, left=lambda left=left: left), source, start, (), "search")  # type: ignore[misc]
        assert found == ([], (f"the search was ended: {CUT}",), True)
    assert [(spec["budget"], spec["seconds"]) for spec in specs] == [(30, 57.5), (240, 320)]


def test_a_module_that_was_cut_after_fit_was_ended(tmp_path: Path) -> None:
    """What came after that in the other tree is no difference."""
    record = tmp_path / "0.jsonl"
    fitted = {"event": "fitted", "metrics": {}, "weights": [], "global_step": 1, "epochs": 1}
    record.write_text(json.dumps(fitted) + "\n")
    assert module_training._read(record, "m", outcome(ended=CUT), {}).ended == CUT
    assert module_training._read(record, "m", outcome(), {}).ended is None
    record.write_text(json.dumps(fitted) + '\n{"event": "end"}\n')
    assert module_training._read(record, "m", outcome(ended=CUT), {}).ended is None, "the next one was cut"
