"""BWD004: hooks told apart by what they do with the gradient, and what they see of it before and after."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.finding import Finding
from codemods.rules.backward.accumulate_grad_hooks import NEW
from codemods.rules.backward.bwd004 import BEFORE, EARLY_AFTER, EARLY_BEFORE, RULE
from tests.codemods.support import rewritten, run_rules, sources


def findings(text: str, *pins: str) -> list[Finding]:
    made = plan(sources({"hooks.py": text}), Options((RULE,), pins=pins))
    assert made.bugs == ()
    return list(made.findings)


def changed(old: str, new: str, text: str = BEFORE) -> str:
    assert old in text
    return text.replace(old, new)


ONE_LINE = changed(
    "                p_tmp = p.expand_as(p)\n                grad_acc = p_tmp.grad_fn",
    "                grad_acc = p.expand_as(p).grad_fn",
)
DEVICES = {
    "one line": (ONE_LINE, "self.make_hook(p)"),
    "view": (changed("p.expand_as(p)", "p.view_as(p)"), "self.make_hook(p)"),
    "nothing kept": (
        changed("                self.grad_accs.append(grad_acc)\n", "").replace("        self.grad_accs = []\n", ""),
        "self.make_hook(p)",
    ),
    "lambda": (changed("self.make_hook(p)", "lambda *_: self.reduce(p.grad)"), "lambda *_: self.reduce(p.grad)"),
    "partial": (
        "from functools import partial\n\n\n"
        + changed("self.make_hook(p)", "partial(self.seen, p)")
        + "\n    def seen(self, p, *unused):\n        self.reduce(p.grad)\n",
        "partial(self.seen, p)",
    ),
    "function around": (
        changed(
            "register_hook(self.make_hook(p))\n",
            "register_hook(hook)\n",
            changed(
                "                p_tmp =",
                "                def hook(*unused):\n                    self.reduce(p.grad)\n\n"
                "                p_tmp =",
            ),
        ),
        "hook",
    ),
}


@pytest.mark.parametrize("name", DEVICES)
def test_device(name: str) -> None:
    before, hook = DEVICES[name]
    after = rewritten({"hooks.py": before}, RULE)["hooks.py"]
    assert f"                p.{NEW}({hook})\n" in after
    assert "grad_acc" not in after and "p_tmp" not in after and "next_functions" not in after


REFUSED = {
    "node used again": (
        changed("                self.grad_accs", "                print(grad_acc)\n                self.grad_accs"),
        "used in another way",
    ),
    "list used again": (BEFORE + "\n    def __len__(self):\n        return len(self.grad_accs)\n", "is used elsewhere"),
    "hook that reads its arguments": (changed("self.reduce(p.grad)", "self.reduce(unused[0])"), "use its arguments"),
    "hook of two arguments": (changed("hook(*unused)", "hook(into, out)"), "use its arguments"),
    "unknown hook": (changed("self.make_hook(p)", "reducer.hook(p)"), "use its arguments"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_device_that_is_not_plain(name: str) -> None:
    text, reason = REFUSED[name]
    (finding,) = findings(text)
    assert finding.fix == "manual" and reason in finding.reason


def test_list_named_in_another_file() -> None:
    made = run_rules({"hooks.py": BEFORE, "other.py": "def free(reducer):\n    del reducer.grad_accs\n"}, RULE)
    assert made.changes == () and "is named in other.py" in made.findings[0].reason


def test_function_that_serves_older_torch_too_is_left_alone() -> None:
    both = f"""\
def attach(p, hook, kept):
    if hasattr(p, "{NEW}"):
        p.{NEW}(hook)
    else:
        p_tmp = p.expand_as(p)
        grad_acc = p_tmp.grad_fn.next_functions[0][0]
        grad_acc.register_hook(lambda *_: hook(p))
        kept.append(grad_acc)
"""
    assert findings(both) == []


LOOP = "def attach(module, reduce, masks):\n    for name, p in module.named_parameters():\n"
SILENT = {
    "mask": LOOP + "        p.register_hook(lambda grad: grad * masks[name])\n",
    "clip": LOOP + "        p.register_hook(lambda grad: grad.clamp(-1, 1))\n",
    "log": LOOP + "        p.register_hook(lambda grad: reduce(grad.norm()))\n",
    "both gradients": LOOP
    + "        def hook(grad):\n            reduce(p.grad + grad)\n\n        p.register_hook(hook)\n",
    "flag": LOOP + "        p.register_hook(lambda grad: reduce(name))\n",
    "runner": "def build(runner, hook):\n    runner.register_hook(hook)\n",
    "right already": LOOP + f"        p.{NEW}(lambda p: reduce(p.grad))\n",
}


@pytest.mark.parametrize("name", SILENT)
def test_left_alone(name: str) -> None:
    assert findings(SILENT[name]) == []


EARLY = {
    "method bound to the parameter": (EARLY_BEFORE, EARLY_AFTER),
    "factory": (
        LOOP.replace("name, p in module.named_", "p in module.") + "        p.register_hook(make(p, reduce))\n\n\n"
        "def make(p, reduce):\n    def hook(grad):\n        reduce(p.grad)\n\n    return hook\n",
        LOOP.replace("name, p in module.named_", "p in module.") + f"        p.{NEW}(make(p, reduce))\n\n\n"
        "def make(p, reduce):\n    def hook(_):\n        reduce(p.grad)\n\n    return hook\n",
    ),
    "function for one parameter": (
        "def attach(module, reduce):\n    def one(p):\n        p.register_hook(lambda grad: reduce(p.grad))\n\n"
        "    for p in module.parameters():\n        one(p)\n",
        f"def attach(module, reduce):\n    def one(p):\n        p.{NEW}(lambda _: reduce(p.grad))\n\n"
        "    for p in module.parameters():\n        one(p)\n",
    ),
    "lambda bound to the parameter": (
        LOOP + "        p.register_hook(lambda grad, p=p, name=name: reduce(name, p.grad))\n",
        LOOP + f"        p.{NEW}(lambda p, name=name: reduce(name, p.grad))\n",
    ),
    "lambda bound to it by another name": (
        LOOP + "        p.register_hook(lambda _, own=p: reduce(own.grad))\n",
        LOOP + f"        p.{NEW}(lambda own: reduce(own.grad))\n",
    ),
    "lambda bound to it twice": (
        LOOP + "        p.register_hook(lambda grad, p=p, own=p: reduce(p.grad, own.grad))\n",
        LOOP + f"        p.{NEW}(lambda p, own=p: reduce(p.grad, own.grad))\n",
    ),
    "lambda bound to it at the end": (
        LOOP + "        p.register_hook(lambda grad, name=name, p=p: reduce(name, p.grad))\n",
        LOOP + f"        p.{NEW}(lambda p, name=name: reduce(name, p.grad))\n",
    ),
    "function bound to the parameter": (
        LOOP + "        def hook(grad, p=p):  # late\n            reduce(p.grad)\n\n        p.register_hook(hook)\n",
        LOOP + f"        def hook(p):  # late\n            reduce(p.grad)\n\n        p.{NEW}(hook)\n",
    ),
}


@pytest.mark.parametrize("name", EARLY)
def test_hook_that_reads_the_accumulated_gradient(name: str) -> None:
    before, after = EARLY[name]
    assert [finding.fix for finding in findings(before)] == ["unsafe" if "lambda" in before else "safe"]
    assert rewritten({"hooks.py": before}, RULE, unsafe=True)["hooks.py"] == after


@pytest.mark.parametrize("name", [name for name in EARLY if "bound to" in name and "method" not in name])
def test_hook_bound_to_its_parameter_reads_what_was_accumulated(name: str) -> None:
    """Before, there is no gradient yet; after, each hook has that of its own parameter."""
    seen: list[list[Any]] = []
    for text in EARLY[name]:
        space: dict[str, Any] = {}
        exec(text, space)
        net = torch.nn.Linear(2, 2)
        seen.append([])
        space["attach"](net, lambda *given: seen[-1].append(given[-1]), None)
        net(torch.ones(1, 2)).sum().backward()
        assert [parameter.grad is None for parameter in net.parameters()] == [False, False]
    assert seen[0] == [None, None]
    assert sorted(gradient.dim() for gradient in seen[1]) == [1, 2]


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ("print(p.grad)", "safe"),
        ("seen.append(p.grad)", "safe"),
        ("report(p.grad)", "safe"),
        ("scaled(p.grad)", "unsafe"),
        ("unknown(p.grad)", "unsafe"),
        ("p.grad.mul_(0.9)", "manual"),
        ("p.grad", "manual"),
        ("p.grad * 0.9", "manual"),
    ],
)
def test_a_lambda_must_not_give_anything_back(body: str, level: str) -> None:
    """What a tensor hook gives back replaces the gradient; torch refuses it of the other hook."""
    functions = "def report(g):\n    print(g)\n\n\ndef scaled(g):\n    return g * 2\n\n\n"
    text = f"{functions}{LOOP}        p.register_hook(lambda grad, p=p: {body})\n"
    assert [finding.fix for finding in findings(text)] == [level]
    if level == "manual":
        net = torch.nn.Linear(1, 1)
        net.weight.register_post_accumulate_grad_hook(eval(f"lambda p: {body}"))
        with pytest.raises(RuntimeError, match="should return None"):
            net(torch.ones(1, 1)).sum().backward()


def test_closures_over_the_loop_variable_are_unsafe() -> None:
    text = LOOP + "        p.register_hook(lambda grad: reduce(p.grad))\n"
    assert [finding.fix for finding in findings(text)] == ["unsafe"]
    after = rewritten({"hooks.py": text}, RULE, unsafe=True)["hooks.py"]
    assert after == LOOP + f"        p.{NEW}(lambda p: reduce(p.grad))\n"


def test_hooks_that_look_first_are_unsafe() -> None:
    text = changed("        self.sums", "        if p.grad is not None:\n            self.sums", EARLY_BEFORE)
    assert [(finding.fix, "one backward pass late" in finding.reason) for finding in findings(text)] == [
        ("unsafe", True)
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (EARLY_BEFORE + "\n    def all(self, p):\n        self.reduce(p, None)\n", "used elsewhere too"),
        (LOOP + "        p.register_hook(lambda grad, *, p=p: reduce(p.grad))\n", "more than plain parameters"),
        (LOOP + "        p.register_hook(lambda grad, /: reduce(p.grad))\n", "more than plain parameters"),
        (LOOP + "        p.register_hook(lambda grad=None, p=p: reduce(p.grad))\n", "more than plain parameters"),
        (
            LOOP + "        def hook(\n            grad,\n            p=p,  # its own\n        ):\n"
            "            reduce(p.grad)\n\n        p.register_hook(hook)\n",
            "a comment next to",
        ),
    ],
)
def test_early_hook_that_is_not_plain_is_left(text: str, why: str) -> None:
    (finding,) = findings(text)
    assert finding.fix == "manual" and why in finding.reason


@pytest.mark.parametrize(
    ("pin", "level"), [("torch>=2.1", "safe"), ("torch", "safe"), ("torch>=1.13", "safe"), ("torch<2.1", "manual")]
)
def test_torch_requirement_sets_the_level(pin: str, level: str) -> None:
    assert [finding.fix for finding in findings(BEFORE, pin)] == [level]
    assert [finding.fix for finding in findings(EARLY_BEFORE, pin)] == [level]
    assert [finding.fix for finding in findings(BEFORE, pin, "torch>=2.2")] == [{"manual": "unsafe"}.get(level, level)]


TAKES = """\
import math
from functools import partial

import torch


class Offload:
    def attach(self):
        for p in self.model.parameters():
            self.hooks.append(p.register_hook(partial(self.take, p)))

    def take(self, p, grad):
        empty = torch.empty_like(grad)
        self.regions[p].copy_(grad)
        return empty
"""


TAKEN = """\
import math


class Offload:
    def attach(self):
        for p in self.model.parameters():
            self.hooks.append(p.register_post_accumulate_grad_hook(self.take))

    def take(self, p):
        grad = p.grad
        self.regions[p].copy_(grad)
        p.grad = None
"""


def test_hook_that_takes_the_gradient_away() -> None:
    assert [finding.fix for finding in findings(TAKES)] == ["unsafe"]
    assert rewritten({"hooks.py": TAKES}, RULE, unsafe=True)["hooks.py"] == TAKEN
    assert findings(changed("empty_like", "zeros_like", TAKES)) == []


def test_the_file_begins_without_a_hole_where_its_first_import_goes() -> None:
    text = changed("import math\n", "", TAKES)
    after = rewritten({"hooks.py": text}, RULE, unsafe=True)["hooks.py"]
    assert after.startswith("class Offload:\n")


NOT_TAKEN = {
    "gradient read elsewhere": TAKES
    + "\n    def sizes(self):\n        return [p.grad.numel() for p in self.model.parameters()]\n",
    "hook used elsewhere": TAKES + "\n    def again(self, p):\n        self.take(p, self.old)\n",
    "empty tensor used": changed("        return empty", "        self.last = empty\n        return empty", TAKES),
    "left early": changed(
        "        self.regions", "        if self.off:\n            return grad\n        self.regions", TAKES
    ),
    "hook of a function": changed("partial(self.take, p)", "lambda grad: self.take(p, grad)", TAKES)
    + "\n\ndef attach(p, keep):\n    def hook(grad):\n        empty = torch.empty_like(grad)\n        return empty\n\n"
    "    p.register_hook(hook)\n",
}


@pytest.mark.parametrize("name", NOT_TAKEN)
def test_hook_that_takes_the_gradient_away_and_is_not_plain(name: str) -> None:
    assert [finding.fix for finding in findings(NOT_TAKEN[name])] == ["manual"]


def test_what_is_taken_stays_the_same() -> None:
    """Two passes: each gradient by itself, as the hook before accumulation saw it."""
    seen = []
    for text in (TAKES, TAKEN):
        space: dict[str, Any] = {}
        exec(text, space)
        offload = space["Offload"]()
        offload.model, offload.hooks = torch.nn.Linear(2, 1, bias=False), []
        offload.regions = {p: torch.zeros_like(p) for p in offload.model.parameters()}
        offload.attach()
        for scale in (1.0, 3.0):
            offload.model.zero_grad()
            torch.autograd.backward(offload.model(torch.full((1, 2), scale)).sum())
        seen.append([region.tolist() for region in offload.regions.values()])
    assert seen[0] == seen[1] == [[[3.0, 3.0]]]


STEPPING = f"""\
def train(model, optimizers, loader, window):
    def hook(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in model.parameters():
        p.{NEW}(hook)
    for index, batch in enumerate(loader):
        (model(batch) / window).backward()
        if index % window != 0:
            continue
        print(index)
"""


def test_stepping_hook_under_accumulation_is_named() -> None:
    assert [finding.fix for finding in findings(STEPPING)] == ["manual"]
    assert findings(changed(" / window", "", STEPPING)) == []
    assert findings(changed("index % window", "index % 10", STEPPING)) == []


def run(text: str, reduce: Any, passes: int) -> Any:
    """What a class's hooks see in that many backward passes of one parameter with a gradient of 3."""
    space: dict[str, Any] = {}
    exec(text, space)
    module = torch.nn.Module()
    module.p = torch.nn.Parameter(torch.ones(2))
    reducer = space["Reducer"](module, reduce)
    for _ in range(passes):
        torch.autograd.backward((3 * module.p).sum())
    return reducer


def test_device_saw_the_accumulated_gradient_and_so_does_the_new_hook() -> None:
    old: list[list[float]] = []
    new: list[list[float]] = []
    run(BEFORE, lambda grad: old.append(grad.tolist()), 2)
    run(rewritten({"hooks.py": BEFORE}, RULE)["hooks.py"], lambda grad: new.append(grad.tolist()), 2)
    assert old == new == [[3.0, 3.0], [6.0, 6.0]]


def test_device_that_nobody_keeps_never_runs_and_the_new_hook_does() -> None:
    text = DEVICES["nothing kept"][0]
    seen: list[Any] = []
    run(text, seen.append, 1)
    assert seen == []
    run(rewritten({"hooks.py": text}, RULE)["hooks.py"], seen.append, 1)
    assert len(seen) == 1
