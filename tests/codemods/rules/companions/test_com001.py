from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch.optim import lr_scheduler

from codemods.rules.companions.com001 import AFTER, BEFORE, BEFORE_IT, OWN, RULE
from tests.codemods.support import run_rules

HEAD = """\
import functools
import torch
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import StepLR, _LRScheduler
"""


CONSTRUCTOR = "    def __init__(self, o, e, verbose):\n        super().__init__(o, e, verbose)\n"


def rewritten(text: str, pins: tuple[str, ...] = ()) -> str:
    made = run_rules({"train.py": text}, RULE, pins=pins)
    assert made.bugs == ()
    return made.final().get("train.py", text.encode()).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("StepLR(o, 3, verbose=True)", "StepLR(o, 3)"),
        ("StepLR(o, verbose=False, step_size=3)", "StepLR(o, step_size=3)"),
        ("lr_scheduler.StepLR(o, 3, verbose=args.loud)", "lr_scheduler.StepLR(o, 3)"),
        ("StepLR(o, 3, 0.1, -1, verbose)", "StepLR(o, 3, 0.1, -1)"),
        ("functools.partial(StepLR, step_size=3, verbose=True)", "functools.partial(StepLR, step_size=3)"),
        ("lr_scheduler.LambdaLR(o, f, -1, True)", "lr_scheduler.LambdaLR(o, f, -1)"),
        ("lr_scheduler.StepLR(\n    o,\n    3,\n    verbose=loud,\n)", "lr_scheduler.StepLR(\n    o,\n    3,\n)"),
    ],
)
def test_it_goes_from_calls_of_schedulers(before: str, after: str) -> None:
    assert rewritten(f"{HEAD}s = {before}\n") == f"{HEAD}s = {after}\n"


@pytest.mark.parametrize(
    "call",
    [
        "super().__init__(optimizer, last_epoch, verbose)",
        "super().__init__(optimizer, last_epoch, verbose=verbose)",
        "super(Own, self).__init__(optimizer, last_epoch, verbose)",
        "super().__init__(\n            optimizer,\n            last_epoch,\n            self.verbose,\n        )",
    ],
)
def test_the_project_s_own_scheduler_is_built_by_the_newest_torch(call: str) -> None:
    text = (
        f"{HEAD}\n\nclass Own(_LRScheduler):\n    verbose = False\n\n"
        f"    def __init__(self, optimizer, last_epoch=-1, verbose=False):\n        {call}\n\n"
        "    def get_lr(self):\n        return [rate / 2 for rate in self.base_lrs]\n"
    )
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.5)
    old: dict[str, Any] = {}
    exec(text, old)
    with pytest.raises(TypeError):
        old["Own"](optimizer)
    new: dict[str, Any] = {}
    exec(rewritten(text), new)
    assert new["Own"](optimizer).get_last_lr() == [0.25]


@pytest.mark.parametrize("more", ["Mixin", "abc.ABC", "Generic[T], metaclass=abc.ABCMeta"])
def test_a_base_beside_the_scheduler_is_asked_behind_it(more: str) -> None:
    own = f"class Own(_LRScheduler, {more}):\n{CONSTRUCTOR}"
    assert rewritten(HEAD + own) == HEAD + own.replace("(o, e, verbose)", "(o, e)")


@pytest.mark.parametrize("name", BEFORE_IT)
def test_it_stood_behind_all_that_there_is_now(name: str) -> None:
    assert len(inspect.signature(getattr(lr_scheduler, name)).parameters) == BEFORE_IT[name]


READING = """

class Own(_LRScheduler):
    def __init__(self, o, e, verbose):
        super().__init__(o, e, verbose)

    def get_lr(self):
        return [1.0] if self.verbose else [2.0]
"""


def test_what_the_base_set_is_still_read() -> None:
    assert rewritten(HEAD + READING) == HEAD + READING
    (found,) = run_rules({"train.py": HEAD + READING}, RULE).findings
    assert found.fix == "manual" and "reads self.verbose" in found.reason
    own = READING.replace("verbose)\n\n", "verbose)\n        self.verbose = verbose\n\n")
    assert rewritten(HEAD + own) == HEAD + own.replace("(o, e, verbose)", "(o, e)")


def test_the_rewritten_module_is_built_by_the_newest_torch() -> None:
    for text, works in ((BEFORE, False), (AFTER, True)):
        space: dict[str, Any] = {}
        exec(text.replace("pytorch_lightning", "lightning.pytorch"), space)
        model = space["Model"]()
        model.layer = torch.nn.Linear(1, 1)
        if works:
            assert model.configure_optimizers()["lr_scheduler"].patience == 3
        else:
            with pytest.raises(TypeError, match="verbose"):
                model.configure_optimizers()


@pytest.mark.parametrize(
    "text",
    [
        "s = Own(o, verbose=True)\n",
        "s = StepLR(o, 3, 0.1, verbose)\n",
        "s = StepLR(o, *verbose)\n",
        "s = functools.partial(StepLR, o, 3, 0.1, verbose)\n",
        "s = functools.partial(print, verbose=True)\n",
        "print(o, verbose=True)\n",
        f"class Own(torch.nn.Module):\n{CONSTRUCTOR}",
        f"class Own(StepLR):\n{CONSTRUCTOR}",
        f"class Own(Base, _LRScheduler):\n{CONSTRUCTOR}",
        "class Own(_LRScheduler):\n    def __init__(self, *verbose):\n        super().__init__(*verbose, 1, 2)\n",
    ],
)
def test_what_is_no_scheduler_of_torch_s_stays(text: str) -> None:
    assert run_rules({"train.py": HEAD + text}, RULE).findings == ()


@pytest.mark.parametrize("pin", ["torch==1.13.1", "torch>=2.0,<2.7", "torch~=2.6.0"])
def test_an_older_torch_keeps_it(pin: str) -> None:
    assert run_rules({"train.py": BEFORE, "own.py": OWN}, RULE, pins=(pin,)).findings == ()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("StepLR(o, 3, verbose=find())", "may do more"),
        ("StepLR(o, 3,\n    verbose=True,  # of old\n)", "there is a comment next to it"),
    ],
)
def test_what_may_be_lost_is_left_to_a_person(call: str, why: str) -> None:
    (found,) = run_rules({"train.py": f"{HEAD}s = {call}\n"}, RULE).findings
    assert found.fix == "manual" and why in found.reason
