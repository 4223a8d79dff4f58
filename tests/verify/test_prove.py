from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.verify.said import said as told_of
from tests.verify.trees import HEAD, NEW, OLD, RANDOM, tree
from verify.evidence import Alone, Evidence, Recording, Verdict
from verify.prove import _with_alone, prove
from verify.request import Request
from verify.running import OUTPUT
from verify.sandbox.process import PREFIX

REQUEST = Request("tbptt", ("TBP001",), ("train.py",), "2.6.6", "2.0.0", ("pytorch-lightning>=1.5",), (), timeout=120)
NOISE = """
import os, sys
assert "FIXER_TEST_SECRET" not in os.environ
assert sys.stdin is None or sys.stdin.read() == ""
print("\\x00garbage\\xff" * 1_000_000)
open("written.txt", "w").write("in the copy")
open(os.path.join(os.environ["HOME"], "written.txt"), "w").write("in a home of its own")
"""


def run(folder: Path, old: str, new: str, said: list[str] | None = None, **changes: object) -> Evidence:
    before, after = tree(folder / "before", train=old), tree(folder / "after", train=new)
    request = Request(**{**vars(REQUEST), **changes})
    return prove(before, after, request, (said if said is not None else []).append)


@pytest.mark.cold
def test_a_rewrite_that_keeps_every_number_is_preserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIXER_TEST_SECRET", "token")
    said: list[str] = []
    evidence = run(tmp_path, NOISE + OLD, NOISE + NEW, said)
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    assert evidence.before and evidence.after
    assert len(evidence.after.losses) == 2 * 3 * 3
    assert evidence.after.losses == pytest.approx(evidence.before.losses, abs=1e-6)
    assert evidence.after.learning_rates[-1] == (0.005,)
    assert evidence.before.global_step == evidence.after.global_step == 18
    assert evidence.max_difference is not None and evidence.max_difference <= 1e-6
    assert [dict(found.packages)["pytorch-lightning"] for found in evidence.environments] == ["1.9.5", "2.6.6"]
    assert sorted(path.name for path in (tmp_path / "after").iterdir()) == ["train.py"]
    told = re.fullmatch(
        r"train\.py: before, on Lightning 1\.9\.5: trained, step 6 of 6, loss ([\d.]+)"
        r"; after, on Lightning 2\.6\.6: trained, step 6 of 6, loss ([\d.]+)",
        said[-1],
    )
    assert told and float(told[1]) == pytest.approx(evidence.after.losses[-1], rel=1e-3)
    assert not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}{os.getpid()}-*"))


def test_code_that_looks_for_the_folder_of_its_project_finds_it(tmp_path: Path) -> None:
    named = (
        "from pathlib import Path\nassert Path(__file__).parent.name == Path.cwd().name == 'my-project', Path.cwd()\n"
    )
    evidence = run(tmp_path, named + OLD, named + NEW, called="my-project")
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    other = run(tmp_path / "other", named + OLD, named + NEW)
    assert "fixer-verify" not in other.reason, other
    assert other.verdict == "inconclusive"


@pytest.mark.cold
def test_random_draws_of_data_and_model_do_not_depend_on_the_version(tmp_path: Path) -> None:
    evidence = run(tmp_path, RANDOM, RANDOM, changed=())
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    assert evidence.max_difference == 0
    assert evidence.after and "val_loss" in dict(evidence.after.metrics)
    assert all("network" in found.reason for found in evidence.environments)


def test_another_learning_rate_is_a_change_that_says_where(tmp_path: Path) -> None:
    evidence = run(tmp_path, OLD, NEW.replace("lr=0.01", "lr=0.02"))
    assert (evidence.verdict, evidence.rung) == ("changed", "trains")
    assert "learning rate of step 1: [0.01] became [0.02]" in evidence.reason
    assert "loss 2" in evidence.reason
    assert evidence.max_difference is not None and evidence.max_difference > 1e-3


def test_a_tree_that_no_longer_trains_is_a_regression(tmp_path: Path) -> None:
    evidence = run(tmp_path, OLD, OLD)
    assert (evidence.verdict, evidence.rung) == ("regressed", None)
    assert "hiddens" in evidence.reason
    assert any("training_step(hiddens)" in problem for problem in evidence.problems)


def test_a_tree_that_stops_at_what_is_left_by_hand_regresses_no_rewrite(tmp_path: Path) -> None:
    """Its modules are trained alone then; what a rewrite wrote, and the target does not have, is no such thing."""
    left = NEW.replace("pl.Trainer(", "pl.Trainer(gpus=0, ")
    said = (("train.py", "`gpus=` of Trainer was removed in Lightning 2.0"),)
    evidence = run(tmp_path, left, left.replace("loss = ", "loss = 1 * "), by_hand=said)
    assert (evidence.verdict, evidence.rung) == ("preserved", None), evidence
    assert [part.verdict for part in evidence.alone] == ["preserved"]
    at = next(number for number, line in enumerate(left.splitlines(), 1) if "gpus=0" in line)
    told = told_of(evidence)
    assert f"replace by hand, where it stops: train.py:{at}: Trainer(gpus=...), the target has no such argument" in told
    assert "the tree before trains, the patched one does not: TypeError" in told

    written = run(tmp_path / "other", NEW, NEW.replace("pl.Trainer(", "pl.Trainer(accelerators='cpu', "), by_hand=said)
    assert (written.verdict, written.rung) == ("regressed", None), "a rewrite wrote it"
    assert any("accelerators" in problem for problem in written.problems)


def test_a_tree_that_trains_and_then_stops_at_what_is_left_by_hand_regresses_nothing(tmp_path: Path) -> None:
    left = NEW + "pl.Trainer(gpus=0, logger=False)\n"
    said = (("train.py", "`gpus=` of Trainer was removed in Lightning 2.0"),)
    evidence = run(tmp_path, left, left.replace("loss = ", "loss = 1 * "), by_hand=said)
    assert (evidence.verdict, evidence.after and evidence.after.fitted) == ("inconclusive", True), evidence
    told = told_of(evidence)
    assert "replace by hand, where it stops: train.py:" in told and "weights are the same within" in told

    wrong = run(tmp_path / "wrong", left, left.replace("loss = ", "loss = 2 * "), by_hand=said)
    assert wrong.verdict == "regressed", "it trains with other numbers too"


@pytest.mark.parametrize(
    ("ended", "verdict", "kept"),
    [((True, False), "repaired", False), ((True, False), "preserved", True), ((False, False), "repaired", True)],
)
def test_modules_alone_do_not_repair_what_the_script_trained_before(
    ended: tuple[bool, bool], verdict: Verdict, kept: bool
) -> None:
    """The batches that are made up for the patched tree may be none that the tree before takes."""
    before, after = (Recording("train.py", fitted, None, *[()] * 3, 0, None, None, *[()] * 2, None, None, 0.0)
                     for fitted in ended)  # fmt: skip
    script = Evidence("g", ("A",), None, "inconclusive", "of the script", before=before, after=after)
    part = Alone("m.py:M", "", "", (), verdict, "trains", "", None, None, None, after)
    alone = replace(script, verdict=verdict, reason="of the module", alone=(part,))
    assert _with_alone(alone, script).verdict == (verdict if kept else "inconclusive")


def test_a_tree_that_failed_before_is_repaired_with_the_losses_up_to_there(tmp_path: Path) -> None:
    broken = "        if self.trainer.current_epoch == 1: raise RuntimeError('boom')\n"
    old = OLD.replace("        x, y = batch\n", "        x, y = batch\n" + broken)
    evidence = run(tmp_path, old, NEW)
    assert (evidence.verdict, evidence.rung) == ("repaired", "trains")
    assert "RuntimeError: boom" in evidence.reason
    assert "the 9 losses up to that failure are the same" in evidence.reason
    assert evidence.before and evidence.before.failure and evidence.before.failure.place
    assert evidence.before.failure.place.startswith("train.py:")


def test_a_parameter_that_loses_its_gradient_is_a_regression(tmp_path: Path) -> None:
    evidence = run(tmp_path, OLD, NEW.replace("self.head(out)", "self.head(out.detach())"))
    assert evidence.verdict == "regressed"
    assert "no gradient reaches lstm.weight_ih_l0" in evidence.reason


@pytest.mark.cold
def test_scripts_that_hang_are_inconclusive_and_ended(tmp_path: Path) -> None:
    hang = HEAD + "pl.Trainer.fit\nimport time\nwhile True: time.sleep(1)\npl.Trainer().fit()\n"
    started = time.monotonic()
    evidence = run(tmp_path, hang, hang, timeout=10)
    assert evidence.verdict == "inconclusive"
    assert "longer than 10 seconds" in evidence.reason
    assert time.monotonic() - started < 120


@pytest.mark.cold
def test_a_script_that_leaves_without_a_word_is_inconclusive(tmp_path: Path) -> None:
    gone = HEAD + "import os\nprint('x' * 10_000 + 'goodbye', flush=True)\nos._exit(7)\npl.Trainer().fit()\n"
    evidence = run(tmp_path, gone, gone)
    assert (evidence.verdict, evidence.rung) == ("inconclusive", "conforms")
    assert "exit status 7" in evidence.reason
    for seen in (evidence.before, evidence.after):
        assert seen and len(seen.output) == OUTPUT and seen.output.endswith("xgoodbye\n")


def test_no_script_is_inconclusive_but_the_names_are_looked_up(tmp_path: Path) -> None:
    library = "import pytorch_lightning as pl\n\n\ndef build():\n    return pl.Trainer(gpus=1)\n"
    evidence = run(tmp_path, library, library)
    assert (evidence.verdict, evidence.rung) == ("inconclusive", None)
    assert "next: name a script that trains, with" in told_of(evidence) and "[tool.fixer.verify]" in told_of(evidence)
    assert evidence.problems == ("train.py:5: Trainer(gpus=...), the target has no such argument",)


@pytest.mark.cold
def test_a_given_interpreter_without_lightning_says_what_to_install(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    evidence = run(tmp_path, OLD, NEW, python=bare / "bin" / "python")
    assert (evidence.verdict, evidence.rung) == ("inconclusive", None)
    assert "install torch" in evidence.reason


@pytest.mark.cold
def test_a_lightning_that_cannot_be_loaded_here_lacks_no_names(tmp_path: Path) -> None:
    """torchmetrics loads librosa 0.9 where it is there, and that a library of the system: each name was missing."""
    python = tmp_path / "broken"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python)], check=True)
    (site,) = python.glob("lib/*/site-packages")
    for name, version in (("torch", "2.13.0"), ("pytorch_lightning", "2.6.6")):
        (site / f"{name}-{version}.dist-info").mkdir()
        (site / f"{name}-{version}.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    (site / "pytorch_lightning").mkdir()
    (site / "pytorch_lightning" / "__init__.py").write_text("raise OSError('cannot load library libsndfile.so')\n")
    evidence = run(tmp_path, OLD, NEW, python=python / "bin" / "python")
    assert (evidence.verdict, evidence.rung, evidence.problems, evidence.left) == ("inconclusive", None, (), ())
    assert evidence.reason == (
        "the target's Lightning could not be loaded: "
        "importing pytorch_lightning fails: OSError: cannot load library libsndfile.so"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_survives_the_end_of_fixer(interrupts: None, tmp_path: Path, number: signal.Signals) -> None:
    hang = HEAD + "import time\nopen(PATH, 'w').write('here')\nwhile True: time.sleep(1)\npl.Trainer().fit()\n"
    text = hang.replace("PATH", repr("lives"))
    before, after = tree(tmp_path / "before", train=text), tree(tmp_path / "after", train=text)
    program = (
        "import sys; from pathlib import Path; from verify.request import Request; from verify.prove import prove;"
        "request = Request('g', (), (), '2.6.6', None, (), ());"
        "prove(Path(sys.argv[1]), Path(sys.argv[2]), request, lambda text: None)"
    )
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    root = Path(__file__).parents[2]
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(root)}
    child = subprocess.Popen([sys.executable, "-c", program, str(before), str(after)], env=environment)
    _wait(lambda: len(list(temporary.glob("*/*/tree/*/lives"))) == 2)
    assert _running(str(temporary))
    child.send_signal(number)
    child.wait(timeout=60)
    _wait(lambda: not _running(str(temporary)))
    assert not _running(str(temporary))
    if number == signal.SIGINT:
        assert list(temporary.iterdir()) == []


def _wait(done: object) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and not done():  # type: ignore[operator]
        time.sleep(0.1)


def _running(text: str) -> list[str]:
    """The processes whose command line names this place."""
    lines = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            lines.append(" ".join(process.cmdline()))
    return [line for line in lines if text in line]
