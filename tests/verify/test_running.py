"""What is around a script while it runs: which Lightning is watched, and what runs first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import warm
from tests.verify.trees import tree
from verify.judging.record import read
from verify.reading.sources import Sources
from verify.running import namespaces

BOTH = ("lightning", "pytorch-lightning")
OLD, NEW = "pytorch_lightning", "lightning.pytorch"


@pytest.mark.parametrize(
    ("files", "config", "installed", "found"),
    [
        ({"run": "import pytorch_lightning\n", "other": "import lightning\n"}, "", BOTH, [OLD]),
        ({"run": "import model\n", "model": "import lightning.pytorch as pl\n"}, "", BOTH, [NEW]),
        ({"run": "i('model')\n", "model": "import lightning\n"}, "", BOTH, [NEW]),
        ({"run": "i('a')\n", "a": "import lightning\n", "b": "import pytorch_lightning\n"}, "", BOTH[1:], [OLD]),
        ({"run": "i('a')\n", "a": "import lightning\n"}, "", BOTH[1:], [NEW]),
        ({"run": "import hydra\nimport lightning\n"}, "pytorch_lightning.Trainer", BOTH, [NEW, OLD]),
        ({"run": "import hydra\nimport lightning\n"}, "pytorch_lightning.Trainer", BOTH[:1], [NEW]),
        ({"run": "import yaml\nimport lightning\n"}, "pytorch_lightning.Trainer", BOTH, [NEW]),
        ({"run": "print()\n"}, "", BOTH, []),
    ],
)  # fmt: skip
def test_whatever_lightning_a_script_gets_at_is_watched(
    tmp_path: Path, files: dict[str, str], config: str, installed: tuple[str, ...], found: list[str]
) -> None:
    root = tree(tmp_path / "p", **files)
    (root / "conf.yaml").write_text(f"trainer:\n  _target_: {config}\n")
    assert namespaces(Sources(root), "run.py", installed) == found


@pytest.mark.parametrize(("number", "failure"), [(0, None), (3, "SetupFailed")])
def test_what_is_to_run_first_runs_with_the_variables_that_are_set(
    tmp_path: Path, number: int, failure: str | None
) -> None:
    train = "import os, sys\nassert os.environ['WORD'] == open('made').read() == 'x' and sys.argv[1:] == ['--y']\n"
    make = f"import os, sys\nopen(sys.argv[1], 'w').write(os.environ['WORD'])\nsys.exit({number})\n"
    root = tree(tmp_path / "p", make=make)
    (root / "pkg").mkdir()
    (root / "pkg" / "train.py").write_text(train)
    spec = {
        "mode": "train", "script": "pkg/train.py", "args": ["--y"], "module": "pkg.train", "namespaces": [], "seed": 1,
        "seconds": 100, "variables": {"WORD": "x"}, "setup": [["make.py", "made"]], "scratch": str(tmp_path),
        "record": str(tmp_path / "record.jsonl"),
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    warm.run(tmp_path / "spec.json", root)
    told = read(tmp_path / "record.jsonl", "pkg/train.py")
    assert (told.recording.failure and told.recording.failure.type) == failure
    assert ("pkg/train.py" in told.loaded) is (failure is None)
    if failure:
        assert told.recording.failure and told.recording.failure.message == (
            "`python make.py made`, which is to be run first, ends with 3"
        )
