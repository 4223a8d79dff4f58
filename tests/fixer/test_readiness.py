"""What stops a branch: findings that are left, what the next look finds, and what the proof saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, find, plan
from codemods.engine.scan import Options
from codemods.engine.scan_cache import Memory
from codemods.lightning.pins.stated import pins_of
from codemods.rule import all_rules
from fixer.files import kind_of
from fixer.readiness import Readiness
from fixer.stops import look_again, readiness
from tests.fixer.command import OLD, Ask
from tests.fixer.reports.samples import FAILED, REPAIRED, TRAINED
from tests.support import commit_all
from verify.evidence import Evidence, Failure, Recording

ASKED = "pytorch-lightning==1.8.6\n"
BY_HAND = OLD.decode() + "print(trainer.amp_level)\n"
BROKEN = replace(FAILED, failure=Failure("AttributeError", "'Model' object has no attribute 'x'", "train.py:3"))


def judged(files: dict[str, str], *evidence: Evidence, verified: bool = True) -> tuple[Plan, Readiness | None]:
    """The plan for a project, and whether its result is ready."""
    sources = [Source(path, kind_of(path) or "other", text.encode()) for path, text in files.items()]
    options = Options(all_rules(), pins=pins_of(sources))
    memory = Memory()
    made = plan(sources, options, memory=memory)
    again = look_again(sources, made, options, memory)
    return made, readiness(sources, made, again, evidence, "2.6.6", verified=verified)


def stops(files: dict[str, str], *evidence: Evidence) -> list[tuple[str, str | None, str]]:
    """Place, rule and text of what stops the result for a project."""
    _, answer = judged(files, *evidence)
    return [(stop.place, stop.code, stop.what) for stop in answer.stops] if answer else []


def seen(after: Recording, before: Recording | None = FAILED, problems: Sequence[str] = ()) -> Evidence:
    """A proof of the move that could not tell."""
    item = replace(REPAIRED, codes=("LIT101",), verdict="inconclusive", rung="conforms", before=before, after=after)
    return replace(item, problems=tuple(problems))


def test_a_use_that_is_left_stops_at_its_place_on_the_branch() -> None:
    wrapped = "from pytorch_lightning.metrics import Metric  # moved\n" + BY_HAND
    made, answer = judged({"train.py": wrapped, "requirements.txt": ASKED})
    assert answer and not answer.ready
    (stop,) = answer.stops
    final = made.final()["train.py"].decode().splitlines()
    assert stop.code == "LIT120" and stop.line and "amp_level" in final[stop.line - 1]
    assert "Apex" in stop.todo
    assert answer.headline == "Not ready to merge: 1 place fails on Lightning 2.6.6"


TWICE = """\
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.accuracy = pl.metrics.Accuracy()

    def training_step(self, batch, batch_idx):
        self.accuracy(*filtered(batch))
"""


def test_what_two_rules_say_of_one_place_is_one_place() -> None:
    """The name is gone, and what takes its place wants another argument: to a person that is one thing to do."""
    made, answer = judged({"train.py": TWICE, "requirements.txt": ASKED})
    assert {item.code for item in made.findings if not item.applied} >= {"LIT001", "MET001"}
    assert answer and [stop.code for stop in answer.stops] == ["MET001"]
    assert answer.headline == "Not ready to merge: 1 place fails on Lightning 2.6.6"
    imported = TWICE.replace("pl.metrics.", "").replace(
        "as pl", "as pl\nfrom pytorch_lightning.metrics import Accuracy"
    )
    _, answer = judged({"train.py": imported, "requirements.txt": ASKED})
    assert answer and [stop.code for stop in answer.stops] == ["LIT001", "MET001"]
    twice = Readiness(False, "2.6.6", (answer.stops[0], replace(answer.stops[1], line=answer.stops[0].line)))
    assert twice.places == 1


def test_nothing_left_is_ready_and_says_what_was_seen() -> None:
    files = {"train.py": OLD.decode(), "requirements.txt": ASKED}
    good = replace(REPAIRED, codes=("LIT101", "PIN001"))
    assert judged(files, good)[1] == Readiness(True, "2.6.6")
    _, unrun = judged(files, verified=False)
    assert unrun and unrun.ready and "nothing was run" in unrun.headline
    _, unseen = judged(files, replace(good, rung="conforms", verdict="inconclusive"))
    assert unseen and unseen.ready and "no training showed it for LIT101, PIN001" in unseen.headline


def test_nothing_changed_and_nothing_left_is_no_answer() -> None:
    assert judged({"train.py": "print(1)\n"})[1] is None


@pytest.mark.parametrize(
    "text",
    ["x\n", "# GPU\n\n```\npython train.py --gpus 2\n```\n\n```python\ntrainer = Trainer(gpus=1)\n```\n"],
)
def test_documents_and_notes_on_behaviour_stop_nothing(text: str) -> None:
    code = OLD.decode() + "from torch.optim import SGD\n\npl.seed_everything()\n"
    _, answer = judged({"train.py": code, "requirements.txt": ASKED, "README.md": text})
    assert answer and answer.ready


def test_two_ways_to_an_environment_that_contradict_each_other_by_the_next_check() -> None:
    """One of them cannot be installed, and says so; that nobody installs both stops nothing."""
    files = {
        "train.py": OLD.decode(),
        "requirements.txt": f"{ASKED}torch==1.7.1\n",
        "environment.yml": "dependencies:\n  - pytorch=1.7.1\n  - cudatoolkit=10.2\n",
    }
    made, answer = judged(files)
    assert not any("contradicts" in item.message for item in made.findings)
    after = [
        Source(path, kind_of(path) or "other", made.final().get(path, text.encode())) for path, text in files.items()
    ]
    left, checked = find(after, Options(all_rules(), pins=pins_of(after))).findings
    assert left.path == "environment.yml" and "contradicts" in checked.message
    assert answer and not answer.ready
    assert [(stop.path, stop.what) for stop in answer.stops] == [
        ("environment.yml", "`pytorch=1.7.1` cannot be installed with Lightning 2.6.6"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("poetry.lock", '[[package]]\nname = "pytorch-lightning"\nversion = "1.8.6"\n'),
        ("Dockerfile", "FROM pytorch/pytorch:1.8.1-cuda11.1-cudnn8-runtime\n"),
        ("requirements-all.txt", f"{ASKED.strip()} --hash=sha256:00\n"),
    ],
)
def test_what_cannot_be_installed_is_not_ready(name: str, text: str) -> None:
    manifest = '[tool.poetry.dependencies]\npytorch-lightning = "1.8.6"\n'
    files = {"train.py": OLD.decode(), "pyproject.toml": manifest, name: text}
    assert [place.partition(":")[0] for place, *_ in stops(files)] == [name]


def test_code_that_runs_on_neither_release_is_not_ready() -> None:
    files = {"train.py": OLD.decode(), "requirements.txt": ASKED}
    assert stops(files, seen(BROKEN, BROKEN)) == [
        ("train.py:3", None, "AttributeError: 'Model' object has no attribute 'x'")
    ]
    assert stops(files, seen(BROKEN, None))


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("FileNotFoundError", "data/train.csv"),
        ("ModuleNotFoundError", "No module named 'apex'"),
        ("SystemExit", "2"),
        ("RuntimeError", "Found no NVIDIA driver on your system"),
        ("RuntimeError", "ffmpeg or ffprobe could not be found! Please install them"),
    ],
)
@pytest.mark.parametrize("ran", [True, False])
def test_what_is_missing_around_the_code_says_nothing_of_it(type: str, message: str, ran: bool) -> None:
    ended = replace(FAILED, failure=Failure(type, message, "train.py:3"))
    _, answer = judged({"train.py": OLD.decode(), "requirements.txt": ASKED}, seen(ended, ended if ran else None))
    assert answer and answer.ready and answer.caveat


@pytest.mark.parametrize(("old", "is_one"), [("no 'colorlog' in {}configs", False), ("no 'x' in {}configs", True)])
def test_what_failed_so_before_says_nothing_wherever_its_copy_lay(old: str, is_one: bool) -> None:
    copies = [f"file:///tmp/fixer-verify-9-x/{tree}0/tree/own/" for tree in ("before", "after")]
    texts = (old.format(copies[0]), f"no 'colorlog' in {copies[1]}configs")
    before, after = (replace(FAILED, failure=Failure("MissingConfigException", text, "main.py:4")) for text in texts)
    found = stops({"train.py": OLD.decode(), "requirements.txt": ASKED}, seen(after, before))
    assert found == ([("main.py:4", None, "MissingConfigException: no 'colorlog' in file:configs")] if is_one else [])


def test_names_that_the_target_lacks_stop_once() -> None:
    files = {"train.py": BY_HAND, "requirements.txt": ASKED}
    lines = ("train.py:4: Trainer.amp_level (no such name)", "old.py:9: pytorch_lightning.x (no such name)")
    found = stops(files, seen(TRAINED, problems=(*lines, "odd.py:1: not read, as it does not parse")))
    assert [(place, code) for place, code, _ in found] == [("old.py:9", None), ("train.py:4", "LIT120")]


def test_an_argument_that_a_rule_names_is_not_said_again_of_its_call() -> None:
    """The rule names the line of the argument, the proof that of the call; another call is another use."""
    call = f"{OLD.decode()}\nother = pl.Trainer(\n    max_epochs=3,\n    track_grad_norm=norm(),\n)\n"
    lines = [f"train.py:{line}: Trainer(track_grad_norm=...), the target has no such argument" for line in (5, 80)]
    found = stops({"train.py": call, "requirements.txt": ASKED}, seen(TRAINED, problems=lines))
    assert [(place, code) for place, code, _ in found] == [("train.py:7", "LIT110"), ("train.py:80", None)]


def test_what_was_taken_out_of_the_branch_does_not_speak_of_it() -> None:
    gone = replace(REPAIRED, codes=("BWD001",), verdict="regressed", after=BROKEN, problems=("a.py:1: b (gone)",))
    assert stops({"train.py": OLD.decode(), "requirements.txt": ASKED}, gone) == []
    stays = replace(gone, codes=("LIT101",), after=TRAINED, problems=(), reason="no gradient reaches layer")
    assert [what for *_, what in stops({"train.py": OLD.decode(), "requirements.txt": ASKED}, stays)] == [
        "no gradient reaches layer"
    ]


def test_rules_that_were_not_asked_for_leave_what_stops(ask: Ask, folder: Path) -> None:
    (folder / "train.py").write_text(BY_HAND)
    commit_all(folder)
    said = ask("run", folder, "--no-verify", "--select", "PIN")
    assert said.code == 0 and "Not ready to merge: 2 places fail on Lightning 2.6.6" in said.out
    said = ask("run", folder, "--no-verify")
    assert "Not ready to merge: 1 place fails" in said.out and "git switch" in said.out and "git merge" not in said.out
