"""Programs on autocast that the tests rewrite and run, and the interpreter of torch 2.10 that some run in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from tests import warm
from tests.codemods.support import rule, sources

REQUIREMENTS = ("torch==2.10.0", "lightning==2.5.4", "numpy")


def amp(text: str, code: str, *pins: str, unsafe: bool = False, **others: str) -> Plan:
    """The plan of one rule over `model.py` and other files, given as `name="text"` for `name.py`."""
    files = {"model.py": text, **{f"{name}.py": value for name, value in others.items()}}
    made = plan(sources(files), Options((rule(code),), pins=pins, unsafe=unsafe))
    assert made.bugs == ()
    return made


def after(text: str, code: str, *pins: str, unsafe: bool = False, **others: str) -> str:
    """The text of `model.py` after the rule; the same where nothing is rewritten."""
    return amp(text, code, *pins, unsafe=unsafe, **others).final().get("model.py", text.encode()).decode()


def levels(text: str, code: str, *pins: str, **others: str) -> list[tuple[int, str]]:
    """The line and level of each finding in `model.py`."""
    found = amp(text, code, *pins, **others).findings
    return [(item.span.line, item.fix) for item in found if item.path == "model.py"]


@dataclass(frozen=True)
class Outcome:
    """What a program computed: the numbers of its forwards, the names of the parameters that got no gradient, the
    first line of what it failed with, and the torch that it ran on."""

    forwards: list[float]
    without: list[str]
    failure: str | None
    torch: str


RUNNER = """
import json, sys, types, torch
for path in sys.argv[1:]:
    torch.manual_seed(0)
    program = types.ModuleType("program")
    forwards, failure, parameters = [], None, {}
    program.seen = lambda tensor: (forwards.append(tensor.detach().double().sum().item()), tensor)[1]
    program.trained = lambda module: (parameters.update(module.named_parameters()), module)[1]
    try:
        exec(compile(open(path).read(), path, "exec"), program.__dict__)
    except RuntimeError as error:
        failure = str(error).splitlines()[0]
    without = [name for name, item in parameters.items() if item.grad is None]
    print(json.dumps([forwards, without, failure, torch.__version__]), flush=True)
"""


def run_programs(texts: Mapping[str, str], folder: Path, interpreter: str = sys.executable) -> dict[str, Outcome]:
    """Runs programs that report by `seen(tensor)` and `trained(module)`, one after the other in one process."""
    paths = [folder / f"program{number}.py" for number in range(len(texts))]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    (runner := folder / "runner.py").write_text(RUNNER)
    run = warm.program(runner, *map(str, paths), folder=folder, python=interpreter)
    assert run.returncode == 0, run.stdout
    lines = [line for line in run.stdout.splitlines() if line.startswith("[[")]
    return {name: Outcome(*json.loads(line)) for name, line in zip(texts, lines, strict=True)}


def torch210() -> str:
    """The interpreter that FIXER_TEST_TORCH_2_10 names, else one that is built into fixer's cache (7 GB)."""
    named = os.environ.get("FIXER_TEST_TORCH_2_10")
    if named:
        return named
    home = Path(platformdirs.user_cache_dir("fixer")) / "tests" / "torch-2.10.0"
    python = home / "bin" / "python"
    if not (home / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *REQUIREMENTS], check=True)
        (home / "complete").touch()
    return str(python)


NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
        self.last = nn.Linear(8, 8)

    def forward(self, x):
        return self.last(self.norm(self.first(x)))

"""
BARE = NET.replace("self.last(self.norm(self.first(x)))", "self.last(self.first(x))").replace(
    "        self.norm = nn.LayerNorm(8)\n", ""
)
SCRIPT = """
net = trained(Net())
x = torch.rand(4, 8)
with torch.autocast("cpu", dtype=torch.bfloat16):
    with torch.no_grad():
        target = seen(net(x))
    loss = (seen(net(x + 1)) - target).float().pow(2).mean()
loss.backward()
"""
METHOD = """

class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def history(self, x):
        with torch.no_grad():
            return seen(self.net(x))

    @torch.autocast("cpu", dtype=torch.bfloat16)
    def forward(self, x):
        target = self.history(x)
        return (seen(self.net(x + 1)) - target).float().pow(2).mean()


loss = trained(Loss())
loss(torch.rand(4, 8)).backward()
"""
DECORATED = METHOD.replace(
    """    def history(self, x):
        with torch.no_grad():
            return seen(self.net(x))
""",
    """    @torch.no_grad()
    def history(self, x):
        return seen(self.net(x))
""",
)
RECYCLED = """

class Recycled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    @torch.autocast("cpu", dtype=torch.bfloat16)
    def forward(self, x, times):
        for turn in range(times):
            with torch.set_grad_enabled(turn == times - 1):
                x = seen(self.net(x))
        return x


model = trained(Recycled())
model(torch.rand(4, 8), 3).float().pow(2).mean().backward()
"""
INNER = METHOD.replace(
    "            return seen(self.net(x))",
    "            with torch.cpu.amp.autocast(dtype=torch.bfloat16):\n                return seen(self.net(x))",
)
INFERENCE = SCRIPT.replace("torch.no_grad()", "torch.inference_mode()").replace("- target)", "- target.clone())")
NESTED = METHOD.replace(
    "loss(torch.rand(4, 8)).backward()",
    'with torch.autocast("cpu", dtype=torch.bfloat16):\n    loss(torch.rand(4, 8)).backward()',
)
BUILT = """

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x):
        with torch.no_grad():
            target = seen(self.net(x))
        return (seen(self.net(x + 1)) - target).float().pow(2).mean()


pair = Pair()
trained(pair)
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = pair(torch.rand(4, 8))
loss.backward()
"""
POISONED = {
    "script": NET + SCRIPT,
    "script, no layer in float32": BARE + SCRIPT,
    "script, inference mode": BARE + INFERENCE,
    "decorated method and helper": NET + METHOD,
    "decorated method and decorated helper": NET + DECORATED,
    "helper with a region of its own": NET + INNER,
    "method in another region": NET + NESTED,
    "model built by the script, in whose region it runs": NET + BUILT,
}
