"""What the normal form adds to what a rule finds in the text: levels, carried edits, failures that are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from codemods.code.source import PythonFile
from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.lightning.facts import Facts
from codemods.rule import Match, TextEdit
from tests.codemods.normal_forms import each_form, shown
from tests.codemods.support import rewritten, rule, run_rules, sources

SCRIPT = """\
from pytorch_lightning import Trainer


def train(args, model):
    trainer = Trainer(max_epochs=3, resume_from_checkpoint=args.resume)
    trainer.fit(model)
"""


def _fails(file: object, facts: object) -> object:
    if getattr(file, "plain", False):
        raise KeyError("nothing is there")
    return rule("LIT112").check(file, facts)  # type: ignore[arg-type]


def test_a_rule_that_fails_on_the_normal_form_says_so_and_keeps_what_it_found() -> None:
    text = SCRIPT.replace("    trainer.fit", "    print(args)\n    trainer.fit")
    made = run_rules({"a.py": text}, replace(rule("LIT112"), check=_fails))  # type: ignore[arg-type]
    told, kept = made.findings
    assert (told.fix, told.span.line) == ("manual", 1)
    assert "LIT112 could not check all of this file" in told.message
    assert "KeyError" in told.reason and "please report it" in told.reason
    assert (kept.fix, kept.span.line) == ("safe", 5)


def test_a_rule_that_does_not_fail_says_nothing_of_it() -> None:
    assert [item.fix for item in run_rules({"a.py": SCRIPT}, rule("LIT112")).findings] == ["safe"]


@pytest.mark.parametrize("line", ["print(trainer)", "assert trainer is not None", "pass", "trainer = trainer"])
def test_what_only_looks_lowers_no_level(line: str) -> None:
    text = SCRIPT.replace("    trainer.fit", f"    {line}\n    trainer.fit")
    after = rewritten({"a.py": text}, rule("LIT112"))["a.py"]
    assert f"    {line}\n" in after
    assert "trainer.fit(model, ckpt_path=args.resume)" in after


def test_an_edit_of_the_arguments_goes_to_the_partial_that_holds_them() -> None:
    text = "import functools\n" + SCRIPT.replace("Trainer(max", "functools.partial(Trainer, max").replace(
        "args.resume)", "args.resume)()"
    )
    after = rewritten({"a.py": text}, rule("LIT112"))["a.py"]
    assert "functools.partial(Trainer, max_epochs=3)()" in after


def test_what_stars_bring_nothing_by_stays_where_it_is_written() -> None:
    text = SCRIPT.replace(
        "    trainer = Trainer(max_epochs=3, ",
        "    debug = False\n    more = {'limit_train_batches': 9} if debug else {}\n"
        "    trainer = Trainer(gpus=1, max_epochs=3,\n                      ",
    ).replace("resume)\n", "resume, **more)\n")
    after = rewritten({"a.py": text}, rule("LIT101"), rule("LIT112"))["a.py"]
    new = 'accelerator="gpu", devices=1, max_epochs=3,\n                      **more)'
    assert f"    trainer = Trainer({new}\n    trainer.fit(model, ckpt_path=args.resume)" in after


def test_both_branches_of_two_equal_values_are_rewritten() -> None:
    text = SCRIPT.replace(
        "trainer = Trainer(max_epochs=3, resume_from_checkpoint=args.resume)",
        "trainer = Trainer(resume_from_checkpoint=args.resume) if __debug__ "
        "else Trainer(resume_from_checkpoint=args.resume)",
    )
    after = rewritten({"a.py": text}, rule("LIT112"))["a.py"]
    assert "trainer = Trainer() if __debug__ else Trainer()" in after


def test_a_parameter_that_a_hook_loses_may_not_be_printed() -> None:
    before = rule("LIT212").examples[0].before
    line = next(item for item in before.split("\n") if "return" in item)
    text = before.replace(line, f"        print(trainer)\n{line}")
    made = run_rules({"a.py": text}, rule("LIT212"))
    assert made.changes == ()
    assert [item.fix for item in made.findings] == ["manual"]


def test_a_value_whose_type_is_asserted_is_not_replaced() -> None:
    before = rule("STP003").examples[0].before
    name = before.split(" = ")[0].split()[-1]
    line = next(item for item in before.split("\n") if item.strip().startswith(f"{name} = "))
    space = line[: len(line) - len(line.lstrip())]
    loose, strict = (
        run_rules({"a.py": before.replace(line, f"{line}\n{space}assert isinstance({name}, {kind})")}, rule("STP003"))
        for kind in ("object", "str")
    )
    assert [item.fix for item in loose.findings] == ["safe"]
    assert [item.fix for item in strict.findings] == ["manual"]


def test_a_part_of_a_tuple_is_not_removed_with_the_whole() -> None:
    before = rule("BWD004").examples[0].before
    name = "grad_acc = p_tmp.grad_fn.next_functions[0][0]"
    text = before.replace(
        name, "grad_acc, other = p_tmp.grad_fn.next_functions[0][0], p_tmp\n                use(other)"
    )
    assert name in before
    made = run_rules({"a.py": text}, rule("BWD004"))
    assert all("use(other)" in data.decode() and "other = " in data.decode() for data in made.final().values())


FORMS = {
    "a lambda called at once": ("x = (lambda: f(1))()", "x = f(1)"),
    "a cast": ("from typing import cast\nx = cast(object, f(1))", "from typing import cast\nx = f(1)"),
    "getattr": ("x = getattr(a, 'b')", "x = a.b"),
    "a starred list": ("f(*[a, b])", "f(a, b)"),
    "one name for another": ("def f():\n    a = b = g()\n    a.c(b)", "def f():\n    b = g()\n    b.c(b)"),
    "onto itself": ("def f(x):\n    x = x\n    return g(x)", "def f(x):\n    return g(x)"),
    "one turn": ("def f(x):\n    for _ in range(1):\n        x.step()", "def f(x):\n    x.step()"),
    "one case": ("def f(x):\n    match 0:\n        case _:\n            x.step()", "def f(x):\n    x.step()"),
    "else pass": (
        "def f(x):\n    if x:\n        x.step()\n    else:\n        pass",
        "def f(x):\n    if x:\n        x.step()",
    ),
    "a local function": (
        "def f(x):\n    def g():\n        return x.y\n    z = g()\n    z.step(z)",
        "def f(x):\n    z = x.y\n    z.step(z)",
    ),
    "suppress nothing": (
        "import contextlib\n\ndef f(x):\n    with contextlib.suppress():\n        x.step()",
        "import contextlib\n\ndef f(x):\n    x.step()",
    ),
}
LEFT = {
    "a lambda that binds": "x = (lambda: (y := 1) + y)()",
    "a cast of another": "def cast(a, b):\n    return f(b)\nx = cast(object, f(1))",
    "getattr with a default": "x = getattr(a, 'b', None)",
    "a private getattr, which no class renames": "class C:\n\n    def f(self):\n        return getattr(self, '__b')",
    "a getattr of its own": "def getattr(a, b):\n    return b\nx = getattr(a, 'b')\ny = getattr(a, 'c')",
    "two turns": "def f(x):\n    for _ in range(2):\n        x.step()",
    "a turn that is left": "def f(x):\n    for _ in range(1):\n        if x:\n            break\n        x.step()",
    "a turn whose number is read": "def f(x):\n    for i in range(1):\n        x.step(i)",
    "two cases": "def f(x):\n    match x:\n        case 1:\n            x.step()\n        case _:\n            pass",
    "a local function that is called twice": "def f(x):\n\n    def g():\n        return x.y()\n    return h(g(), g())",
    "a local function that is passed on": "def f(x):\n\n    def g():\n        return x.y()\n    return (yield h(g))",
    "a suppressed error": ("import contextlib\n\ndef f(x):\n    with contextlib.suppress(KeyError):\n        x.step()"),
}


@each_form(FORMS, LEFT)
def test_form(text: str, plain: str) -> None:
    assert shown(text) == plain


def test_a_class_that_an_assertion_still_names_keeps_its_import() -> None:
    text = (
        "from pytorch_lightning import Trainer\nfrom pytorch_lightning.plugins import DDPPlugin\n\n"
        "plugin = DDPPlugin()\nassert isinstance(plugin, DDPPlugin)\nTrainer(plugins=DDPPlugin())\n"
    )
    assert run_rules({"a.py": text}, rule("LIT111")).changes == ()


def test_a_rewrite_that_takes_away_what_is_still_read_is_thrown_away() -> None:
    def check(file: PythonFile, facts: Facts) -> Iterator[Match]:
        if file.text.startswith("import math"):
            yield Match(file.span(file.tree.body[0]), "gone", "safe", "", edits=(TextEdit(0, len("import math"), ""),))

    made = run_rules(
        {"a.py": "import math\nprint(math.pi)\n"}, replace(rule("LIT112"), check=check, triggers=(b"math",), words=())
    )
    assert made.changes == ()
    assert ["the result reads `math`, which nothing binds any more" in item.reason for item in made.findings] == [True]


@pytest.mark.parametrize(
    ("bound", "level"),
    [
        ("for kind in ('ddp_spawn', 'ddp'):\n", "manual"),
        ("kind, other = 'dp', 1\nif True:\n", "manual"),
    ],
)
def test_a_value_that_a_loop_or_a_pair_binds_is_seen(bound: str, level: str) -> None:
    text = f"from pytorch_lightning import Trainer\n\n{bound}    Trainer(accelerator=kind)\n"
    assert level in [item.fix for item in run_rules({"a.py": text}, rule("LIT111")).findings]


def _breaks(file: object, facts: object = None) -> object:
    raise KeyError("nothing is there")


def test_a_rule_that_fails_says_so_and_the_others_go_on() -> None:
    text = SCRIPT.replace("max_epochs=3", "max_epochs=3, gpus=1")
    broken = replace(rule("LIT112"), check=_breaks)  # type: ignore[arg-type]
    told, kept = run_rules({"a.py": text}, broken, rule("LIT101")).findings
    assert (told.code, told.fix, told.message) == ("LIT112", "manual", "LIT112 could not check this file")
    assert "KeyError" in told.reason and "please report it" in told.reason
    assert (kept.code, kept.fix) == ("LIT101", "safe")


def test_a_file_that_a_rule_cannot_read_is_left_out_and_said() -> None:
    broken = replace(rule("LIT201"), collect=_breaks, triggers=(b"Trainer",), words=frozenset())  # type: ignore[arg-type]
    made = plan(sources({"a.py": SCRIPT, "b.py": "import os\n"}), Options((broken,)))
    [(path, why)] = made.skipped
    assert path == "a.py" and "KeyError" in why and "please report it" in why


def test_a_place_in_a_helper_is_told_where_the_class_that_calls_it_is_rewritten() -> None:
    text = rule("OPT005").examples[0].before
    helper = "def part(self, batch):\n    self.manual_backward(self.loss(batch))\n    self.untoggle_optimizer(0)\n\n\n"
    last = "        self.manual_backward(self.loss(batch))\n        self.untoggle_optimizer(0)\n"
    parted = text.replace("class GAN", f"{helper}class GAN").replace(last, "        part(self, batch)\n")
    assert parted.count("untoggle") == 1
    found = run_rules({"a.py": parted}, rule("OPT005")).findings
    assert [(item.fix, item.span.line) for item in found] == [("manual", 6), ("safe", 12)]
