"""LIT230: the depth of a summary, and the file of a profiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lightning.pytorch.profilers import SimpleProfiler

from tests import warm
from tests.codemods.support import rewritten, rule, run_rules
from tests.training.interpreters import python_for

SUMMARY = "from pytorch_lightning.core.memory import ModelSummary\n\nprint(ModelSummary(model, {}))\n"
PROFILER = "import os\nfrom pytorch_lightning.profiler import SimpleProfiler\n\nprofiler = SimpleProfiler({})\n"
ASKED = """\
import json
import torch
from pytorch_lightning import LightningModule
from {module} import ModelSummary


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Linear(2, 1)))


told = [[name for name, _ in ModelSummary(Model(), **given).named_modules] for given in {given}]
open("told.json", "w").write(json.dumps(told))
"""


@pytest.mark.parametrize(
    ("mode", "depth"),
    [("'full'", -1), ('"top"', 1), ("ModelSummary.MODE_FULL", -1), ("ModelSummary.MODE_TOP", 1)],
)
@pytest.mark.parametrize("said", ["mode=", ""])
@pytest.mark.parametrize("module", ["core.memory", "utilities.model_summary"])
def test_a_mode_is_a_depth(module: str, said: str, mode: str, depth: int) -> None:
    text = SUMMARY.replace("core.memory", module)
    made = run_rules({"a.py": text.format(f"{said}{mode}")}, rule("LIT230"))
    assert made.final()["a.py"].decode() == text.format(f"max_depth={depth}")
    assert [item.fix for item in made.findings] == ["safe"]


def test_the_summary_is_of_the_same_layers(tmp_path: Path) -> None:
    told = []
    for release, module, given in (
        ("1.4.9", "pytorch_lightning.core.memory", [{"mode": "full"}, {"mode": "top"}]),
        ("2.6.6", "pytorch_lightning.utilities.model_summary", [{"max_depth": -1}, {"max_depth": 1}]),
    ):
        (tmp_path / "ask.py").write_text(ASKED.format(module=module, given=given))
        done = warm.program(tmp_path / "ask.py", folder=tmp_path, python=python_for(release))
        assert done.returncode == 0, done.stdout
        told.append(json.loads((tmp_path / "told.json").read_text()))
    assert told[0] == told[1]
    assert told[0][1] == ["net"]


@pytest.mark.parametrize(
    "given",
    ["mode=how", "mode='full', max_depth=1", "'full', max_depth=1", "'full', **more", "'full', 2", "model, 'half'"],
)
def test_a_mode_that_is_not_written_out_or_not_alone_is_for_a_person(given: str) -> None:
    text = SUMMARY.format(given).replace("model, model, ", "model, ")
    assert [item.fix for item in run_rules({"a.py": text}, rule("LIT230"), unsafe=True).findings] == ["manual"]


def test_name_and_mode_are_rewritten_together() -> None:
    after = rewritten({"a.py": SUMMARY.format("mode='full'")}, rule("LIT001"), rule("LIT230"))["a.py"]
    assert after == SUMMARY.replace("core.memory", "utilities.model_summary").format("max_depth=-1")


@pytest.mark.parametrize(
    ("path", "folder", "stem"),
    [
        ("'logs/profile.txt'", "'logs'", "'profile'"),
        ("f'{logs}/{run}/profiler.txt'", "f'{logs}/{run}'", "'profiler'"),
        ("os.path.join(logs, run, 'profiler.txt')", "os.path.join(logs, run)", "'profiler'"),
        ("logs + '/profiler.txt'", "logs", "'profiler'"),
        ("logs / 'profiler.txt'", "logs", "'profiler'"),
        ("'profiler.txt'", "'.'", "'profiler'"),
        ("f'{a}/{b}'", "f'{a}'", "f'{b}'"),
        ("f'{logs}/p-{run}.log'", "f'{logs}'", "f'p-{run}.log'"),
    ],
)
def test_the_file_of_a_profiler_is_parted(path: str, folder: str, stem: str) -> None:
    before = PROFILER.format(f"output_filename={path}")
    made = run_rules({"a.py": before}, rule("LIT230"))
    assert (made.changes, [item.fix for item in made.findings]) == ((), ["unsafe"])
    after = rewritten({"a.py": before}, rule("LIT230"), unsafe=True)["a.py"]
    assert after == PROFILER.format(f"dirpath={folder}, filename={stem}")


def test_no_file_was_the_default() -> None:
    before = PROFILER.format("output_filename=None, extended=False")
    assert rewritten({"a.py": before}, rule("LIT230"))["a.py"] == PROFILER.format("extended=False")


@pytest.mark.parametrize("given", ["output_filename=path", "output_filename='a/b.txt', dirpath=d"])
def test_a_file_that_cannot_be_parted_is_for_a_person(given: str) -> None:
    found = run_rules({"a.py": PROFILER.format(given)}, rule("LIT230"), unsafe=True).findings
    assert [item.fix for item in found] == ["manual"]


def test_each_stage_writes_a_file_of_its_own(tmp_path: Path) -> None:
    profiler = SimpleProfiler(dirpath=tmp_path / "logs", filename="profile")

    profiler.setup("fit")
    with profiler.profile("step"):
        pass
    profiler.describe()
    profiler.teardown("fit")
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["fit-profile.txt"]


@pytest.mark.parametrize("given", ["", "intra_step_time=True", "memory_utilization=False, gpu_utilization=True"])
def test_what_a_gpu_monitor_was_told_goes_with_its_name(given: str) -> None:
    before = "from pytorch_lightning.callbacks import GPUStatsMonitor\n\nmonitor = GPUStatsMonitor({})\n"
    made = run_rules({"a.py": before.format(given)}, rule("LIT001"), rule("LIT230"))
    assert made.changes == ()
    assert {item.fix for item in made.findings} == {"unsafe"}
    after = rewritten({"a.py": before.format(given)}, rule("LIT001"), rule("LIT230"), unsafe=True)["a.py"]
    assert after == before.replace("GPUStatsMonitor", "DeviceStatsMonitor").format("")
