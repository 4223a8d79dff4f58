from __future__ import annotations

import argparse
import pickle
from pathlib import Path

import pytest
import torch

from codemods.rules.companions.com003 import RULE
from tests.codemods.support import run_rules

HEAD = "import torch\nfrom torch import load as read\n"


def rewritten(text: str, pins: tuple[str, ...] = ()) -> str:
    made = run_rules({"train.py": text}, RULE, pins=pins, unsafe=True)
    assert made.bugs == ()
    return made.final().get("train.py", text.encode()).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.load(path)", "torch.load(path, weights_only=False)"),
        ("read(path, 'cpu')", "read(path, 'cpu', weights_only=False)"),
        ("torch.load(\n    path,  # why\n)", "torch.load(\n    path,  # why\n    weights_only=False,\n)"),
        ("torch.load(\n    path  # why\n)", "torch.load(\n    path,  # why\n    weights_only=False\n)"),
        ("torch.load(path  # why\n)", "torch.load(path, weights_only=False  # why\n)"),
        ("torch.load(\n    path,\n)", "torch.load(\n    path,\n    weights_only=False,\n)"),
    ],
)
@pytest.mark.parametrize("use", ["x['args']", "x['hyper_parameters'].rate", "x.eval()", "x(batch)", "x.state_dict()"])
def test_a_load_says_that_it_trusts_its_file(before: str, after: str, use: str) -> None:
    assert rewritten(f"{HEAD}x = {before}\n{use}\n") == f"{HEAD}x = {after}\n{use}\n"


def test_what_is_asked_at_once_tells_too() -> None:
    assert (
        rewritten(f"{HEAD}x = torch.load(path).eval()\n") == f"{HEAD}x = torch.load(path, weights_only=False).eval()\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}x = torch.load(path, weights_only=True)\n",
        f"{HEAD}model.load_state_dict(torch.load(path))\n",
        f"{HEAD}x = torch.load(path)\nmodel.load_state_dict(x['state_dict'])\n",
        f"{HEAD}x = torch.load(path)\nprint(x.shape, x['epoch'], x.to(device))\n",
        f"{HEAD}def one():\n    x = torch.load(path)\n    return x\n\n\ndef two(x):\n    x.eval()\n",
        f"{HEAD}x = torch.jit.load(path)\nx.eval()\n",
        f"{HEAD}x = torch.load(path, **given)\n",
        "import numpy as np\nx = np.load(path)\n",
        "def load(path):\n    return path\n\n\nx = load('a')\n",
    ],
)
def test_others_are_left(text: str) -> None:
    assert rewritten(text) == text


def test_it_is_never_made_unasked_and_no_word_is_lost_on_what_is_unpacked() -> None:
    text = f"{HEAD}x = torch.load(path)\ny = torch.load(path, **given)\nx.eval()\ny.eval()\n"
    made = run_rules({"train.py": text}, RULE)
    assert made.final() == {}
    assert sorted((finding.fix, finding.applied) for finding in made.findings) == [("manual", False), ("unsafe", False)]


@pytest.mark.parametrize("pins", [("torch<2.6",), ("torch==1.13.1",), ("torch>=2.6",)])
def test_pins_that_leave_no_older_or_no_newer_torch_leave_it(pins: tuple[str, ...]) -> None:
    text = f"{HEAD}x = torch.load(path)\nx.eval()\n"
    assert rewritten(text, pins) == text


def test_what_no_tensor_is_loads_again(tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    torch.save({"args": argparse.Namespace(rate=0.1)}, path)
    text = f"{HEAD}x = torch.load(path)\nrate = x['args'].rate\n"
    with pytest.raises(pickle.UnpicklingError):
        exec(text, {"path": path})
    names = {"path": path}
    exec(rewritten(text), names)
    assert names["x"]["args"].rate == 0.1  # type: ignore[index]
