"""LIT112: Trainers that a function gives back, whose checkpoint its caller says to `fit`."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.codemods.support import rewritten, rule, run_rules

BUILD = """\
import torch
from pytorch_lightning import Trainer


def make_trainer(name, config):
    print(name)
    if torch.cuda.device_count() > 1:
        trainer = Trainer(devices=2, resume_from_checkpoint=config.resume)
    elif name:
        trainer = Trainer(max_epochs=config.epochs, resume_from_checkpoint=config.resume, logger=False)
    else:
        trainer = Trainer(resume_from_checkpoint=config.resume)
    return trainer
"""
RUN = """\
from builders import make_trainer


def main(settings, model, data):
    trainer = make_trainer("own", settings)
    model.prepare(settings)
    trainer.fit(model, data)
    trainer.save_checkpoint(settings.saved)
    return trainer.global_step
"""
FILES = {"builders.py": BUILD, "run.py": RUN}
DROPPED = BUILD.replace(", resume_from_checkpoint=config.resume", "").replace(
    "resume_from_checkpoint=config.resume", ""
)
GIVEN = RUN.replace("fit(model, data)", "fit(model, data, ckpt_path=settings.resume)")


def test_the_caller_says_it_of_all_branches() -> None:
    made = rewritten(FILES, rule("LIT112"))
    assert made == {"builders.py": DROPPED, "run.py": GIVEN}
    assert run_rules(made, rule("LIT112")).changes == ()


def test_a_caller_in_the_same_file_by_keyword() -> None:
    run = RUN.partition("\n\n\n")[2].replace('"own", settings', 'config=settings, name="own"')
    made = rewritten({"a.py": f"{BUILD}\n\n{run}"}, rule("LIT112"))["a.py"]
    wanted = run.replace("fit(model, data)", "fit(model, data, ckpt_path=settings.resume)")
    assert made == f"{DROPPED}\n\n{wanted}"


def test_a_part_of_what_is_given_back() -> None:
    build = BUILD.replace("return trainer", "return name, trainer")
    run = RUN.replace("trainer = make", "_, trainer = make")
    made = rewritten({"builders.py": build, "run.py": run}, rule("LIT112"))
    assert made["run.py"] == GIVEN.replace("trainer = make", "_, trainer = make")
    assert "resume" not in made["builders.py"]


def test_a_parameter_itself() -> None:
    build = BUILD.replace("config.resume", "resume").replace("(name, config)", "(name, config, resume=None)")
    run = RUN.replace('make_trainer("own", settings)', 'make_trainer("own", settings, resume=settings.path.best)')
    made = rewritten({"builders.py": build, "run.py": run}, rule("LIT112"))
    assert "ckpt_path=settings.path.best)" in made["run.py"] and "resume_from" not in made["builders.py"]


def test_what_a_script_sets_before_is_the_same_behind() -> None:
    script = (
        "from run import main\n\nif __name__ == '__main__':\n    cfg = load()\n    cfg.resume = 'a'\n    main(cfg)\n"
    )
    made = rewritten({**FILES, "script.py": script}, rule("LIT112"))
    assert made == {"builders.py": DROPPED, "run.py": GIVEN, "script.py": script}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("builders.py", "Trainer(resume_from_checkpoint=config.resume)", "Trainer()"),
        ("builders.py", "Trainer(resume_from_checkpoint=config.resume)", "None"),
        ("builders.py", "    print(name)\n", "    config = dict(config)\n"),
        ("builders.py", "    print(name)\n", "    config.resume = find(name)\n"),
        ("builders.py", "    return trainer", "    log(trainer)\n    return trainer"),
        ("builders.py", "    return trainer", "    trainer.fit(name)\n    return trainer"),
        ("builders.py", "def make", "@cached\ndef make"),
        ("run.py", "    trainer.fit", "    settings = other()\n    trainer.fit"),
        ("run.py", "    trainer.fit", "    settings.resume = None\n    trainer.fit"),
        ("run.py", "    trainer.fit", '    settings["resume"] = None\n    trainer.fit'),
        ("run.py", "fit(model, data)", "fit(model, data, ckpt_path=model.path)"),
        ("run.py", "fit(model, data)", "fit(model, **data)"),
        ("run.py", "    model.prepare(settings)", "    model.prepare(trainer)"),
        ("run.py", 'make_trainer("own", settings)', 'make_trainer("own", load())'),
        ("run.py", 'make_trainer("own", settings)', "make_trainer(*settings)"),
        ("run.py", "def main", "again = make_trainer\n\n\ndef main"),
    ],
)
def test_what_may_be_another_is_left_and_named(path: str, old: str, new: str) -> None:
    files = {**FILES, path: FILES[path].replace(old, new)}
    assert files != FILES
    made = run_rules(files, rule("LIT112"))
    assert made.changes == ()
    assert {finding.fix for finding in made.findings} == {"manual"}


def test_a_name_that_is_worked_out_may_be_this_one() -> None:
    files = {**FILES, "other.py": "def put(each, name, value):\n    setattr(each, name, value)\n"}
    found = run_rules(files, rule("LIT112"))
    assert found.changes == () and {finding.fix for finding in found.findings} == {"unsafe"}


MODEL = """\
import torch
from lightning.pytorch import LightningModule


class Line(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def prepare(self, settings):
        pass

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
"""


def test_fit_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {**rewritten(FILES, rule("LIT112")), "line.py": MODEL}
    for path, text in made.items():
        text = text.replace("logger=False", "logger=False, accelerator='cpu', enable_progress_bar=False")
        (tmp_path / path).write_text(text.replace("pytorch_lightning", "lightning.pytorch"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec("from line import Line\nfrom run import main", names)
    loader = torch.utils.data.DataLoader(torch.ones(4, 1))
    run, line = names["main"], names["Line"]
    assert callable(run) and callable(line)
    saved = tmp_path / "a.ckpt"
    settings = SimpleNamespace(resume=None, epochs=1, saved=saved)
    assert run(settings, line(), loader) == 4
    settings = SimpleNamespace(resume=saved, epochs=3, saved=saved)
    assert run(settings, line(), loader) == 12
    for name in ("line", "run", "builders"):
        sys.modules.pop(name, None)
