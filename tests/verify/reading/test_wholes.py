"""What goes by `args` or `cfg` in a project's code, told by what is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verify.harness.alone_arguments import ArgumentHints
from verify.reading.hints import hints
from verify.reading.sources import Sources

MODULE = """
import pytorch_lightning as pl
from parts import Inner

class Net(pl.LightningModule):
    def __init__(self, args, data_cfg):
        super().__init__()
        self.save_hyperparameters(args)
        self.settings = data_cfg
        self.inner = Inner(args)
        self.classes = self.settings["classes"]

    def configure_optimizers(self):
        return self.hparams.optimizer, self.hparams.lr
"""
PARTS = """
class Inner:
    def __init__(self, args):
        self.width, self.depth = args.width, args.depth
        args.check(), args.__dict__
"""
OPTIONS = """
parser.add_argument("--width", type=int, default=6)
parser.add_argument("--lr", type=float, default=0.5)
parser.add_argument("--optimizer", default="adam")
parser.add_argument("--unasked", default="kept")
"""
SETTINGS = """
data = dict(classes=7, root="data", transform=lambda x: x)

class DefaultConfig:
    depth: int = 3
    lr = 0.25

class Palette:
    classes, lr = 99, 99
    width = 99
"""


def values(folder: Path, **files: str) -> dict[str, list[Any]]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return hints(Sources(folder), "module.py").values


def test_a_configuration_is_the_one_that_has_most_of_what_is_asked_of_it(tmp_path: Path) -> None:
    found = values(tmp_path, module=MODULE, parts=PARTS, options=OPTIONS, settings=SETTINGS)
    whole = {"width": 6, "lr": 0.5, "optimizer": "adam", "unasked": "kept", "depth": 3}
    assert found["args"][0] == {"@": "config", "values": whole}
    assert found["data_cfg"] == [{"@": "config", "values": {"classes": 7, "root": "data"}}]


def test_nothing_is_made_of_what_the_project_does_not_say(tmp_path: Path) -> None:
    found = values(tmp_path, module=MODULE, parts=PARTS)
    assert "args" not in found and "data_cfg" not in found


def test_what_a_name_is_elsewhere_goes_before_a_configuration_that_is_hardly_known(tmp_path: Path) -> None:
    module = "def train(config):\n    return config.a, config.b, config.c, config.lr\n"
    options = OPTIONS + 'parser.add_argument("--config", default="conf.yaml")\n'
    found = values(tmp_path, module=module, options=options)
    assert found["config"][0] == "conf.yaml" and found["config"][1]["values"]["lr"] == 0.5


BUILT = """
from net import Inner, Judge
from pl_net import Net

def main(args, rows):
    kinds = len(rows)
    model = Inner(3, kinds, args.depth)
    settings = {"name": "Adam", "kinds": kinds, "rate": args.rate, "judge": Judge, "made": lambda x: x}
    model = Net(
        model=model,
        settings=settings,
        rows=rows,
    )
"""


def test_a_call_is_followed_where_its_name_is_bound_again_and_passes_what_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(BUILT + OPTIONS)
    (call, *_) = hints(Sources(tmp_path), "run.py").calls["Net"]
    unknown = [{"@": "unknown", "name": name} for name in ("kinds", "depth", "rate")]
    assert call["model"] == {"@": "call", "name": "net.Inner", "args": [3, *unknown[:2]], "kwargs": {}}
    held = {"name": "Adam", "kinds": unknown[0], "rate": unknown[2], "judge": {"@": "named", "name": "net.Judge"}}
    assert call["settings"] == {"@": "config", "values": held}
    assert "rows" not in call


def test_what_is_passed_and_not_known_is_guessed_by_its_name() -> None:
    call = {"net": {"@": "call", "name": "a.b", "args": [{"@": "unknown", "name": "classes"}], "kwargs": {}}}
    assert ArgumentHints({"classes": [5]}, (call,)).filled().calls[0]["net"]["args"] == [5]
    assert ArgumentHints({}, (call,)).filled().calls[0]["net"]["args"] == [8]
