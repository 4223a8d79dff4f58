"""What code of older days finds in an interpreter that no longer has it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests import warm
from tests.verify.installers import CONTAINED, Recorded
from verify.environments.installer import Installer
from verify.environments.loading import unloadable
from verify.harness import HARNESS, compat_shims

OF_THEN = """
import collections
import dataclasses
import inspect
import numpy as np
import pytorch_lightning as pl
import torch


@dataclasses.dataclass
class Inner:
    width: int = 3


@dataclasses.dataclass
class Options:
    inner: Inner = Inner()


class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        assert np.float is float and np.Inf == np.infty and np.product([2, 3]) == 6
        assert np.bool8 is np.bool_ and np.isnan(np.NAN) and np.round_(1.6) == 2
        assert inspect.getargspec(lambda first, second=2: 0) == (["first", "second"], None, None, (2,))
        assert isinstance([], collections.Sequence) and not hasattr(collections, "no_such_name")
        from collections import Iterable
        self.net = torch.nn.Linear(Options().inner.width, np.int(1))

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


try:
    @dataclasses.dataclass
    class Refused:
        values: list = []
except ValueError:
    pl.Trainer(max_epochs=1).fit(Module(), torch.utils.data.DataLoader(torch.rand(8, 3), batch_size=4))
"""


def test_names_and_defaults_of_older_pythons_and_numpys_are_there(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OF_THEN)
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["pytorch_lightning"],
        "seed": 1, "seconds": 100, "record": str(tmp_path / "record.jsonl"), "scratch": str(tmp_path),
        "limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1,
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    warm.run(tmp_path / "spec.json", tmp_path)
    events = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert [event for event in events if event["event"] == "failure"] == []
    assert "fitted" in [event["event"] for event in events]
    given = next(event["lent"] for event in events if event["event"] == "loaded")
    assert given == [
        "an unhashable default to __main__.Options.inner", "numpy.float to __main__", "numpy.infty to __main__",
        "numpy.product to __main__", "numpy.bool8 to __main__", "numpy.NAN to __main__", "numpy.round_ to __main__",
        "inspect.getargspec to __main__", "collections.Sequence to __main__", "collections.Iterable to __main__",
        "numpy.int to __main__",
    ]  # fmt: skip


def test_names_are_looked_up_beside_packages_of_older_numpys(tmp_path: Path) -> None:
    (tmp_path / "asking.py").write_text("import numpy\nvalue = numpy.complex(1)\n")
    record = tmp_path / "record.jsonl"
    uses = {"names": ["asking.value", "asking.other"], "methods": []}
    spec = {"mode": "facts", "uses": uses, "seconds": 100, "record": str(record)}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    harness = HARNESS
    subprocess.run([sys.executable, "-B", harness, tmp_path / "spec.json"], env={"PYTHONPATH": str(tmp_path)})
    told = [json.loads(line) for line in record.read_text().splitlines()]
    missing = {event["name"]: event["missing"] for event in told if event["event"] == "name"}
    assert missing == {"asking.value": None, "asking.other": "asking has no other"}


ENUMERATIONS = """
import enum


class LightningEnum(str, enum.Enum): ...


class Stage(LightningEnum):
    FIT = "fit"


class Named(LightningEnum):
    FIT = "fit"
    __str__ = lambda self: "named"
"""


def test_enumerations_are_written_for_lightning_as_before_python_3_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "old_package" / "utilities"
    place.mkdir(parents=True)
    (place / "enums.py").write_text(ENUMERATIONS)
    monkeypatch.syspath_prepend(str(tmp_path))
    used: dict[str, None] = {}
    compat_shims.lend_enumerations("old_package", used)
    compat_shims.lend_enumerations("no_such_package", used)
    from old_package.utilities.enums import Named, Stage  # type: ignore[import-not-found]

    def written(module: str) -> list[str]:
        space = {"__name__": module, "Stage": Stage, "Named": Named}
        found: list[str] = eval("[f'_has_{Stage.FIT}', f'_has_{Named.FIT}', f'{Stage.FIT:>5}']", space)
        return found

    assert written("pytorch_lightning.core.datamodule") == ["_has_fit", "_has_named", "  fit"]
    assert list(used) == ["enumerations written as their text to pytorch_lightning.core.datamodule"]
    assert written("project") == [f"_has_{format(Stage.FIT)}", "_has_named", format(Stage.FIT, ">5")]
    assert len(used) == 1


def test_code_of_today_is_lent_nothing() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import compat_shims\nused = {}; compat_shims.lend(used)\n"
        "import dataclasses, numpy\nfrom numpy import float64, inf\nnumpy.linalg.norm([1.0])\n"
        "dataclasses.make_dataclass('A', [('a', int, dataclasses.field(default=1))])\n"
        "assert not hasattr(numpy, 'no_such_name') and not used, used\nfrom numpy import Inf\nprint(list(used))\n"
    )
    beside = str(HARNESS.parent)
    done = subprocess.run([sys.executable, "-c", code, beside], capture_output=True, text=True)
    assert done.stdout.strip() == "['numpy.Inf to __main__']", done.stderr


ALONE = """
import pytorch_lightning as pl, torch
from util import x

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""


def test_what_was_lent_while_a_file_was_imported_is_told_of_each_module_that_may_use_it(tmp_path: Path) -> None:
    recipe = {
        "cls": "Model", "arguments": {}, "batch": {"shape": [4, 4], "dtype": "float32", "high": 2, "name": ""},
        "skipped": [], "datamodule": False, "attributes": {}, "validates": False, "tests": False, "left": [],
        "weights": False, "full": None, "slow": False, "shaped": "", "trainer": {},
    }  # fmt: skip
    for name in ("one", "other"):
        (tmp_path / f"{name}.py").write_text(ALONE)
    (tmp_path / "util.py").write_text("import numpy as np\nx = np.float(1)\n")
    records = {name: tmp_path / f"{name}.jsonl" for name in ("one", "other")}
    recipes = [{**recipe, "path": f"{name}.py", "names": [name], "record": str(path)} for name, path in records.items()]
    spec = {
        "mode": "replay", "paths": ["."], "namespaces": ["pytorch_lightning"], "seed": 1, "seconds": 100,
        "record": str(tmp_path / "record.jsonl"), "scratch": str(tmp_path), "limit_train_batches": 2,
        "limit_val_batches": 1, "max_epochs": 1, "recipes": recipes,
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    warm.run(tmp_path / "spec.json", tmp_path)
    told = {name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in records.items()}
    assert all("fitted" in {event["event"] for event in events} for events in told.values())
    lent = {name: [event["lent"] for event in events if event["event"] == "loaded"] for name, events in told.items()}
    assert lent == {"one": [["numpy.float to util"]], "other": [["numpy.float to util"]]}


OLD = """
import collections, inspect
from collections import Mapping
assert isinstance([], collections.Sequence) and inspect.getargspec(print_it := lambda a: a).args == ["a"]
"""


class Here(Recorded):
    """An environment of this interpreter, with what lies in a folder installed too."""

    def says(self, folder: Path, code: str, *args: str) -> str:
        path = {"PYTHONPATH": str(folder)}
        command = [sys.executable, "-c", code, *args]
        return subprocess.run(command, env=path, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_packages_of_an_older_python_load_as_they_do_beside_the_harness(tmp_path: Path) -> None:
    for name, text in (("old_one", OLD), ("broken_one", OLD + "from collections import Nothing\n")):
        (tmp_path / f"{name}.py").write_text(text)
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "RECORD").write_text(f"{name}.py,,\n")
        (folder / "top_level.txt").write_text(f"{name}\n")
    installer: Installer = Here(None, (), {}, threading.Event(), CONTAINED, ())
    found = unloadable(tmp_path, installer, ["old-one", "broken-one"], "pytorch-lightning==2.6.6", set())
    assert list(found) == ["broken-one"] and "Nothing" in found["broken-one"]
