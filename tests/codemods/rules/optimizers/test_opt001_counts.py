"""OPT001: global_step, which counted a batch once before Lightning 1.6 and counts each optimizer's step since."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.optimizers.opt001 import BEFORE
from tests.codemods.gan_programs import configured, program
from tests.codemods.support import rule, sources
from tests.training import train

OLD = "pytorch-lightning==1.5.10"
LOG = 'self.log("g_loss", loss)'
READ = BEFORE.replace(LOG, 'self.log("g_loss", loss * self.global_step)')
CALLBACK = """\
from pytorch_lightning import Callback


class Images(Callback):
    def __init__(self):
        self.kinds = {"plain": self.save}

    def save(self, pl_module, image):
        print(pl_module.global_step, image)

    def on_validation_end(self, trainer, pl_module):
        self.kinds["plain"](pl_module, pl_module.image)
"""
PROPERTY = """\
    @property
    def global_step(self):
        \"\"\"A batch counts once, though each optimizer makes a step.\"\"\"
        return super().global_step // 2
"""


def made_of(files: dict[str, str], *pins: str) -> Plan:
    made = plan(sources(files), Options((rule("OPT001"),), unsafe=True, pins=pins or (OLD,)))
    assert made.bugs == ()
    return made


def levels(made: Plan) -> set[str]:
    return {finding.fix for finding in made.findings if finding.path == "train.py"}


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": READ},
        {"train.py": READ.replace("self.global_step", "self.trainer.global_step")},
        {"train.py": BEFORE, "images.py": CALLBACK},
        {"train.py": READ, "loss.py": "def weight(global_step, start):\n    return float(global_step > start)\n"},
        {"train.py": READ.replace('self.log("g', 'self.log("global_step", 1.0 * self.global_step); self.log("g')},
        {"train.py": READ, "conf/ae.yaml": "callbacks:\n  every_n_train_steps: null\nmax_steps: ~\n"},
        {"train.py": READ.replace("max_epochs=2", "max_epochs=2, max_steps=None")},
    ],
)
def test_what_asks_the_module_gets_the_count_of_batches(files: dict[str, str]) -> None:
    made = made_of(files)
    assert levels(made) == {"safe"}
    after = made.final()["train.py"].decode()
    assert PROPERTY in after
    assert "trainer.global_step" not in after
    assert "counts a batch once, as before 1.6" in made.findings[0].reason


LOADED = """\
import torch


def load(path):
    state = torch.load(path)
    if "global_step" in state:
        print(f"Step {state['global_step']}")
        step = state["global_step"]
    else:
        step = None
    return state, step


state, step = load("last.ckpt")
print("step", step)
print("at {:06}".format(step))
"""
CALLED = "from load import load\n\n_, reached = load('last.ckpt')\nprint(f'{reached:06}')\n"


CACHED = LOADED.replace("\n\nstate, step = load(", "\n\nload = cached(load, output=True)\nstate, step = load(")


@pytest.mark.parametrize(
    ("loaded", "caller"),
    [(LOADED, ""), (LOADED, CALLED), (CACHED, "")],
    ids=["here", "and in another file", "of a function that is cached"],
)
def test_a_count_that_is_shown_alone_counts_nothing(loaded: str, caller: str) -> None:
    made = made_of({"train.py": READ, "load.py": loaded, "show.py": caller})
    assert levels(made) == {"safe"}
    assert PROPERTY in made.final()["train.py"].decode()


CARRIED = {
    "it names a file": (LOADED + "open(f'{step:06}.txt', 'w')\n", ""),
    "a folder is named after it": (LOADED + "folder = '{:06}'.format(step)\n", ""),
    "it is written into a file": (LOADED + "print(step, file=table)\n", ""),
    "another file names a folder after it": (LOADED, CALLED + "folder = f'{reached:06}'\n"),
    "another file prints an attribute of the module": (LOADED, "import load\n\nprint(load.load('a.ckpt')[1])\n"),
    "it is compared": (LOADED + "late = step > 9\n", ""),
    "it goes into a name of another kind": (LOADED + "def late(step):\n    return 9 > step\n", ""),
    "it is handed to a function": (LOADED + "late(step)\n", ""),
    "the result is not unpacked": (LOADED + "state = load('first.ckpt')\n", ""),
    "the function itself is handed on": (LOADED + "loader = load\n", ""),
    "another file uses the result": (LOADED, CALLED + "late = reached > 9\n"),
    "another file calls it in its own way": (LOADED, "import load\n\nprint(load.load('last.ckpt')[1] > 9)\n"),
    "another file gives it another name": (LOADED, "from load import load as get\n\nprint(get('last.ckpt')[1] > 9)\n"),
    "it decides": (LOADED.replace("step = state", 'step = 1 if state["global_step"] else state'), ""),
}


@pytest.mark.parametrize("texts", CARRIED.values(), ids=CARRIED.keys())
def test_a_count_that_is_used_takes_a_look(texts: tuple[str, str]) -> None:
    made = made_of({"train.py": READ, "load.py": texts[0], "show.py": texts[1]})
    assert levels(made) == {"unsafe"}


def test_a_number_that_varies_is_asked_for() -> None:
    returned = "return generator if self.one else [generator, discriminator]"
    after = made_of({"train.py": READ.replace("return [generator, discriminator], []", returned)}).final()["train.py"]
    assert b"return steps and steps // (len(self.trainer.optimizers) or 1)" in after


@pytest.mark.parametrize(
    "files",
    [
        {"train.py": READ.replace("max_epochs=2", "max_steps=200")},
        {"train.py": READ, "config.yaml": "trainer:\n  max_steps: 200\n"},
        {"train.py": READ, "config.yaml": "trainer:\n  max_steps: null\n---\ntrainer:\n  max_steps: 200\n"},
        {"train.py": READ, "stop.py": "def late(trainer):\n    return trainer.global_step > 9\n"},
        {"train.py": READ, "load.py": 'import torch\n\nleft = 900 - torch.load("last.ckpt")["global_step"]\n'},
        {"train.py": READ, "images.py": CALLBACK.replace("pl_module.global_step", "trainer.global_step")},
        {"train.py": READ, "images.py": CALLBACK.replace("def save(self, pl_module", "def save(self, net")},
        {"train.py": READ + "\n\nclass Small(GAN):\n    @property\n    def global_step(self):\n        return 3\n"},
        {
            "train.py": READ
            + "\n\nclass Small(GAN):\n    def late(self):\n        return self.trainer.global_step > 9\n"
        },
    ],
)
def test_what_counts_otherwise_takes_a_look(files: dict[str, str]) -> None:
    made = made_of(files)
    assert levels(made) == {"unsafe"}
    assert "it now grows 2 times as fast" in made.findings[0].reason
    assert "def global_step" not in made.final()["train.py"].decode().partition("class Small")[0]


def test_optimizers_that_take_turns_count_batches() -> None:
    turns = '({"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": 2})'
    made = made_of(
        program(
            "def training_step(self, batch, batch_idx, optimizer_idx):\n    return self.g_loss(batch) "
            "* self.trainer.global_step\n",
            configure=configured(turns),
        )
    )
    assert levels(made) == {"safe"}
    assert "def global_step" not in made.final()["train.py"].decode()


@pytest.mark.parametrize(("pin", "kept"), [("pytorch-lightning<2", True), ("pytorch-lightning>=1.6,<2", True)])
def test_a_release_that_counted_each_step(pin: str, kept: bool) -> None:
    made = made_of({"train.py": READ}, pin)
    assert levels(made) == {"safe"}
    assert ("def global_step" not in made.final()["train.py"].decode()) is kept


COUNTED = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    assert self.global_step == 5 * self.current_epoch + batch_idx
    self.log(f"step_{optimizer_idx}", float(self.global_step))
    loss = self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
    return loss * (1 + self.global_step)
"""


def test_counted_as_on_1_5() -> None:
    """The assertion holds on 1.5.10 before the rewrite, and on the target after it."""
    made = made_of(program(COUNTED))
    assert levels(made) == {"safe"}
    record = train({"train.py": made.final()["train.py"].decode()})
    assert record.failure is None, record.failure


TURNS = configured('({"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": 2})')
TAKEN = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    assert optimizer_idx == [0, 1, 1][(5 * self.current_epoch + batch_idx) % 3]
    return self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
"""


def test_turns_go_on_over_epochs_as_before_1_4() -> None:
    made = made_of(program(TAKEN, configure=TURNS), "pytorch-lightning==1.3.8")
    assert levels(made) == {"safe"}
    record = train({"train.py": made.final()["train.py"].decode()})
    assert record.failure is None, record.failure


@pytest.mark.parametrize(
    ("pin", "across"),
    [
        ("pytorch-lightning==0.8.5", True),
        ("pytorch-lightning>=1.2,<1.4", True),
        ("pytorch-lightning>=1.2", False),
        ("pytorch-lightning==1.4.9", False),
        ("pytorch-lightning==2.1.0", False),
        ("torch==2.1.0", False),
    ],
)
def test_turns_begin_anew_with_each_epoch_where_a_later_release_may_run_it(pin: str, across: bool) -> None:
    after = made_of(program(configure=TURNS), pin).final()["train.py"].decode()
    assert ("turns[self.trainer.fit_loop.total_batch_idx % len(turns)]" in after) is across
    assert ("turns[batch_idx % len(turns)]" in after) is not across
