"""LIT113: the tuner's flags and calls, checked against the newest Tuner."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.tuner import Tuner

from codemods.rules.trainer.lit113 import FLAGS
from codemods.rules.trainer.tuner_calls import BEFORE_UPDATE
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\n\n"


def after(body: str) -> str:
    return rewritten({"a.py": HEAD + body}, rule("LIT113"), unsafe=True)["a.py"][len(HEAD) :]


def test_targets() -> None:
    assert not hasattr(Trainer, "tune") and not hasattr(Trainer, "tuner")
    for _, method in FLAGS.values():
        taken = inspect.signature(getattr(Tuner, method)).parameters
        assert {"model", "train_dataloaders", "val_dataloaders", "datamodule"} <= set(taken)
    assert "attr_name" in inspect.signature(Tuner.lr_find).parameters
    assert "mode" in inspect.signature(Tuner.scale_batch_size).parameters


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "t = pl.Trainer(auto_lr_find=True)\nt.tune(m)\n",
            "t = pl.Trainer()\npl.tuner.Tuner(t).lr_find(m)\n",
        ),
        (
            "t = pl.Trainer(auto_lr_find='rate', max_epochs=1)\nt.tune(m, datamodule=d)\n",
            't = pl.Trainer(max_epochs=1)\npl.tuner.Tuner(t).lr_find(m, datamodule=d, attr_name="rate")\n',
        ),
        (
            "t = pl.Trainer(auto_scale_batch_size='power')\nt.tune(m)\n",
            't = pl.Trainer()\npl.tuner.Tuner(t).scale_batch_size(m, mode="power")\n',
        ),
        (
            "t = pl.Trainer()\nfound = t.tuner.lr_find(m)\n",
            "t = pl.Trainer()\nfound = pl.tuner.Tuner(t).lr_find(m, update_attr=False)\n",
        ),
        (
            "t = pl.Trainer()\nt.tuner.lr_find(m, update_attr=flag)\nt.tuner.scale_batch_size(m)\n",
            "t = pl.Trainer()\npl.tuner.Tuner(t).lr_find(m, update_attr=flag)\npl.tuner.Tuner(t).scale_batch_size(m)\n",
        ),
    ],
)
def test_written(before: str, wanted: str) -> None:
    assert after(before) == wanted


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("t = pl.Trainer(auto_lr_find=flag())\nt.tune(m)\n", "only known when"),
        ("t = pl.Trainer(auto_lr_find=True)\nt.fit(m)\n", "fixer cannot"),
        ("t = pl.Trainer(auto_lr_find=True)\nfound = t.tune(m)\n", "returns is used"),
        ("t = pl.Trainer(auto_lr_find=True)\nt.tune(m, lr_find_kwargs={})\n", "arguments for the tuner"),
        ("def f():\n    return pl.Trainer(auto_scale_batch_size=True)\n", "fixer cannot"),
    ],
)
def test_left_to_a_person(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT113")
    assert why in reason and "Tuner(trainer)" in reason


MADE = "def make(size):\n    return pl.Trainer(max_epochs=2, auto_scale_batch_size=size, auto_lr_find=True)\n"


def test_flags_that_only_tune_obeyed_go_where_nothing_calls_it() -> None:
    pin = ("pytorch-lightning>=1.2,<2",)
    made = run_rules({"a.py": HEAD + MADE}, rule("LIT113"), unsafe=True, pins=pin)
    assert made.final()["a.py"].decode() == HEAD + "def make(size):\n    return pl.Trainer(max_epochs=2)\n"
    assert {(finding.fix, finding.row) for finding in made.findings} == {("unsafe", "M175"), ("unsafe", "M176")}


@pytest.mark.parametrize(
    ("other", "pins"),
    [
        ("from a import make\n\nmake(True).tune(model)\n", ("pytorch-lightning>=1.2",)),
        ("# .tune(model)\n", ("pytorch-lightning==0.9.0",)),
        ("# .tune(model)\n", ()),
    ],
)
def test_flags_that_somebody_may_obey_stay(other: str, pins: tuple[str, ...]) -> None:
    made = run_rules({"a.py": HEAD + MADE, "b.py": other}, rule("LIT113"), unsafe=True, pins=pins)
    assert made.changes == () and {finding.fix for finding in made.findings if finding.path == "a.py"} == {"manual"}


def test_both_flags_are_two_calls() -> None:
    body = "t = pl.Trainer(auto_lr_find=True, auto_scale_batch_size=True)\nt.tune(m)\n"
    tuner = "pl.tuner.Tuner(t)"
    assert after(body) == f"t = pl.Trainer()\n{tuner}.scale_batch_size(m)\n{tuner}.lr_find(m)\n"


CHOICE = """\
def main(args):
    t = pl.Trainer(auto_scale_batch_size="power" if args.batch else None, auto_lr_find=False if args.plain else True)
    model = make(**vars(args))
    # both
    t.tune(model)  # now
"""


def test_a_flag_that_is_a_choice_is_asked_before_each_call() -> None:
    assert after(CHOICE) == (
        "def main(args):\n    t = pl.Trainer()\n    model = make(**vars(args))\n    # both\n    # now\n"
        '    if args.batch:\n        pl.tuner.Tuner(t).scale_batch_size(model, mode="power")\n'
        "    if not args.plain:\n        pl.tuner.Tuner(t).lr_find(model)\n"
    )


@pytest.mark.parametrize(
    "line",
    ["args.batch = False", "make(args)", "options = vars(args)\n    options.update(b=1)", "options = vars(args)"],
)
def test_a_choice_that_may_change_before_tune_stays(line: str) -> None:
    body = CHOICE.replace("model = make(**vars(args))", f"model = 1\n    {line}")
    body += "    make(options)\n" if line == "options = vars(args)" else ""
    if line == "options = vars(args)":
        body = body.replace("    # both\n", "    make(options)\n    # both\n")
    assert any("may change" in reason for reason in refusals({"a.py": HEAD + body}, "LIT113"))


PARSED = """\
import argparse


def main(args):
    t = pl.Trainer(auto_lr_find=True if args.find else None)
    model = make(args)
    t.tune(model)


parser = argparse.ArgumentParser()
parser.add_argument("--find", action="store_true")
main(parser.parse_args())
"""


def test_what_a_command_line_gave_and_nothing_sets_stays_the_same() -> None:
    assert "    if args.find:\n" in after(PARSED)


@pytest.mark.parametrize(
    "more",
    [
        "def make(args):\n    args.find = False\n",
        "def make(args):\n    setattr(args, name, False)\n",
        "def make(args):\n    vars(args).update(other)\n",
        "def make(args):\n    args.__dict__.update(other)\n",
    ],
)
def test_what_is_set_somewhere_may_change(more: str) -> None:
    made = run_rules({"a.py": HEAD + PARSED, "b.py": more}, rule("LIT113"))
    assert made.changes == () and "may change" in made.findings[0].reason


def test_a_flag_of_the_command_line_is_asked() -> None:
    head = (
        "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--find', action='store_true')\n"
        "args = parser.parse_args()\n"
    )
    body = f"{head}t = pl.Trainer(auto_lr_find=args.find)\nt.tune(m)\n"
    assert after(body) == f"{head}t = pl.Trainer()\nif args.find:\n    pl.tuner.Tuner(t).lr_find(m)\n"


@pytest.mark.parametrize(
    ("test", "asked"),
    [("flag", False), ("flag is True", False), ("a and flag", False), ("flag or a", True), ("not flag", True)],
)
def test_what_is_asked_already_is_not_asked_again(test: str, asked: bool) -> None:
    body = HEAD + f"t = pl.Trainer(auto_lr_find=True if flag else None)\nif {test}:\n    t.tune(m)\n"
    wanted = "    if flag:\n        pl.tuner" if asked else f"if {test}:\n    pl.tuner"
    assert wanted in rewritten({"a.py": body}, rule("LIT113"), unsafe=True)["a.py"]


ARMS = """\
def main(args, m):
    if args.find:
        t = pl.Trainer(max_epochs=1, auto_lr_find=True)
        t.tune(m)
    else:
        t = pl.Trainer(max_epochs=2)
    t.fit(m)
"""


def test_a_trainer_of_one_arm_is_tuned_there() -> None:
    wanted = ARMS.replace(", auto_lr_find=True", "").replace("t.tune(m)", "pl.tuner.Tuner(t).lr_find(m)")
    assert after(ARMS) == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    t.fit(m)\n", "    t.tune(m)\n    t.fit(m)\n"),
        ("    t.fit(m)\n", "    hand(t)\n    t.fit(m)\n"),
        ("    t.fit(m)\n", "    return lambda: t.tune(m)\n"),
        ("        t = pl.Trainer(max_epochs=2)\n", "        pass\n    t = t or make()\n    t.tune(m)\n"),
    ],
)
def test_a_trainer_of_one_arm_that_others_may_tune_is_for_a_person(old: str, new: str) -> None:
    assert any("Tuner(trainer)" in reason for reason in refusals({"a.py": HEAD + ARMS.replace(old, new)}, "LIT113"))


def test_a_flag_of_one_arm_that_is_never_obeyed_goes() -> None:
    body = ARMS.replace("        t.tune(m)\n", "").replace("max_epochs=1", "move_metrics_to_cpu=False")
    [finding] = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert (finding.fix, finding.applied) == ("safe", True)


def test_a_call_of_tune_is_told_where_its_trainer_is_not_followed() -> None:
    body = (
        "def f(m):\n    make(pl.Trainer(auto_lr_find=True))\n\n\ndef g(trainer: pl.Trainer, m):\n    trainer.tune(m)\n"
    )
    found = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert [(finding.span.line, finding.fix) for finding in found] == [(4, "manual"), (8, "manual")]


def test_a_value_that_is_not_seen_is_taken_to_be_a_flag() -> None:
    body = HEAD + "t = pl.Trainer(auto_lr_find=flag)\nt.tune(m)\n"
    made = run_rules({"a.py": body}, rule("LIT113"), unsafe=True)
    assert made.final()["a.py"].decode() == HEAD + "t = pl.Trainer()\nif flag:\n    pl.tuner.Tuner(t).lr_find(m)\n"
    assert [finding.fix for finding in made.findings] == ["unsafe"]


def test_a_flag_of_a_trainer_that_is_never_tuned_goes() -> None:
    body = "t = pl.Trainer(auto_lr_find=flag, move_metrics_to_cpu=False)\nt.test(m)\n"
    assert after(body) == "t = pl.Trainer(move_metrics_to_cpu=False)\nt.test(m)\n"


@pytest.mark.parametrize(
    "body",
    [
        "t = pl.Trainer(auto_lr_find=flag)\nt.fit(m)\n",
        "t = pl.Trainer(auto_lr_find=flag, move_metrics_to_cpu=False)\nhand(t)\nother.tune(m)\n",
    ],
)
def test_a_flag_that_an_old_fit_obeyed_or_others_may_stays(body: str) -> None:
    assert refusals({"a.py": HEAD + body}, "LIT113")


@pytest.mark.parametrize("made", ["pl.Trainer(", "pl.Trainer.from_argparse_args(args, "])
def test_what_other_rules_write_beside_a_flag_tells_no_release(made: str) -> None:
    text = f"{HEAD}t = {made}auto_lr_find=flag, gpus=1, checkpoint_callback=False)\nt.fit(m)\n"
    changed = run_rules({"a.py": text}, rule("LIT101"), rule("LIT110"), rule("LIT113"))
    assert "auto_lr_find=flag" in changed.final()["a.py"].decode()


def test_one_flag_is_one_finding() -> None:
    made = run_rules({"a.py": HEAD + CHOICE.replace("t.tune", "tune")}, rule("LIT110"), rule("LIT113"))
    assert [finding.code for finding in made.findings] == ["LIT113", "LIT113"]


def test_a_flag_that_is_off_goes() -> None:
    assert after("t = pl.Trainer(auto_lr_find=False)\nt.tune(m)\n").startswith("t = pl.Trainer()\n")


def test_what_no_tuner_takes_is_for_a_person() -> None:
    text = f"{HEAD}trainer = pl.Trainer()\ntrainer.lr_find(m, num_accumulation_steps=2)\n"
    [reason] = refusals({"a.py": text}, "LIT113")
    assert "takes no `num_accumulation_steps=`" in reason


@pytest.mark.parametrize("use", ["trainer.lr_find(m, mine=4)", "find = trainer.lr_find"])
def test_a_method_of_the_projects_own_trainer_is_left_alone(use: str) -> None:
    own = "class Mine(pl.Trainer):\n    def lr_find(self, model, mine=3):\n        return mine\n\n\n"
    assert run_rules({"a.py": f"{HEAD}{own}trainer = Mine()\n{use}\n"}, rule("LIT113")).findings == ()


@pytest.mark.parametrize("body", ["model.tuner.lr_find(x)\n", "f(auto_lr_find=True)\n"])
def test_not_spoken_of(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT113")).findings == ()


@pytest.mark.parametrize(
    "body",
    [
        "trainer = pl.Trainer.from_argparse_args(args)\ntrainer.tune(model)\n",
        "def main(trainer: pl.Trainer, model):\n    trainer.tune(model, datamodule=model.data)\n",
    ],
)
def test_tune_is_found_where_its_flags_are_not_seen(body: str) -> None:
    [finding] = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert finding.fix == "manual" and "`trainer.tune()`" in finding.message


@pytest.mark.parametrize("body", ["guitar = Guitar()\nguitar.tune(string)\n", "study.tune(trainer)\n"])
def test_what_is_no_trainer_may_be_tuned(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT113")).findings == ()


def test_the_old_name_of_the_dataloaders_goes_with_the_tuner() -> None:
    head = "from pytorch_lightning import Trainer\n\n"
    hand = f"{head}trainer = Trainer()\ntrainer.tuner.lr_find(model, train_dataloader=data, num_training=3)\n"
    after = rewritten({"train.py": hand}, rule("LIT113"), unsafe=True)["train.py"]
    assert "Tuner(trainer).lr_find(model, train_dataloaders=data, num_training=3, update_attr=False)" in after
    flag = f"{head}trainer = Trainer(auto_lr_find=True)\ntrainer.tune(model, train_dataloader=data)\n"
    after = rewritten({"train.py": flag}, rule("LIT113"), rule("LIT114"), unsafe=True)["train.py"]
    assert "Tuner(trainer).lr_find(model, train_dataloaders=data)" in after


def test_a_search_leaves_the_rate_of_the_model_alone() -> None:
    assert inspect.signature(Tuner.lr_find).parameters["update_attr"].default is True
    assert list(inspect.signature(Tuner.lr_find).parameters).index("update_attr") == BEFORE_UPDATE + 1
    assert inspect.signature(Tuner.scale_batch_size).parameters["margin"].default == 0.05
    assert inspect.signature(Tuner.scale_batch_size).parameters["max_val"].default == 8192


def test_what_stars_bring_may_say_it_too() -> None:
    body = "t = pl.Trainer()\nt.tuner.lr_find(m, **given)\n"
    [finding] = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert finding.fix == "unsafe" and "`**`" in finding.reason
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"), unsafe=True)["a.py"]
    assert after.endswith("pl.tuner.Tuner(t).lr_find(m, update_attr=False, **given)\n")


@pytest.mark.parametrize(
    "body",
    [
        "tuner = pl.Trainer(max_epochs=1).tuner\ntuner.lr_find(m)\n",
        "def search(trainer: pl.Trainer):\n    return trainer.tuner\n",
    ],
)
def test_a_tuner_that_is_kept_is_named(body: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT113")
    assert "Tuner(trainer).lr_find" in reason and "update_attr=False" in reason


def test_a_tuner_of_a_plain_trainer_is_built_of_it() -> None:
    body = "trainer = pl.Trainer()\nt = trainer.tuner\nt.lr_find(m)\n"
    after = rewritten({"a.py": HEAD + body}, rule("LIT113"), unsafe=True)["a.py"]
    assert after.endswith("t = pl.tuner.Tuner(trainer)\nt.lr_find(m, update_attr=False)\n")


@pytest.mark.parametrize("body", ["t = model.tuner\n", "import pytorch_lightning.tuner\n", "self.trainer.tuner = 3\n"])
def test_other_tuners_are_not_named(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT113")).findings == ()


@pytest.mark.parametrize("flags", ["auto_lr_find=True", "fast_dev_run=True", "**given"])
def test_a_trainer_that_is_tuned_where_it_is_built_is_named(flags: str) -> None:
    body = f"pl.Trainer({flags}).tune(model=m, datamodule=d)\n"
    assert any("Tuner(trainer).scale_batch_size" in reason for reason in refusals({"a.py": HEAD + body}, "LIT113"))


def test_a_model_by_its_name_is_tuned_too() -> None:
    body = "def f(trainer: pl.Trainer):\n    trainer.tune(model=m)\n"
    assert len(refusals({"a.py": HEAD + body}, "LIT113")) == 1


def test_the_advice_names_the_import() -> None:
    text = "from pytorch_lightning import Trainer\n\n\ndef ask(trainer: Trainer):\n    return trainer.tuner.lr_find\n"
    (reason,) = refusals({"a.py": text}, "LIT113")
    assert "`Tuner(trainer).lr_find(...)`, with `from lightning.pytorch.tuner import Tuner`" in reason


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("t.lr_find(m)", "pl.tuner.Tuner(t).lr_find(m, update_attr=False)"),
        (
            "t.lr_find(m, train_dataloader=d, max_lr=0.1)",
            "pl.tuner.Tuner(t).lr_find(m, train_dataloaders=d, max_lr=0.1, update_attr=False)",
        ),
        ('t.scale_batch_size(m, mode="binsearch")', 'pl.tuner.Tuner(t).scale_batch_size(m, mode="binsearch")'),
        ("pl.Trainer().lr_find(m)", "pl.tuner.Tuner(pl.Trainer()).lr_find(m, update_attr=False)"),
    ],
)
def test_the_methods_that_trainers_had_to_0_9(call: str, after: str) -> None:
    files = {"a.py": f"{HEAD}t = pl.Trainer()\nfound = {call}\n"}
    made = rewritten(files, rule("LIT113"), unsafe=True)["a.py"]
    assert made == f"{HEAD}t = pl.Trainer()\nfound = {after}\n"
    assert rewritten({"a.py": made}, rule("LIT113"), unsafe=True)["a.py"] == made


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("t = pl.Trainer()\nt.scale_batch_size(m, 'power')\n", "write their names"),
        ("t = pl.Trainer()\nt.lr_find(*given)\n", "write their names"),
        ("def f(trainer):\n    trainer.lr_find(m)\n", "whether it is a Trainer's"),
        ("t = pl.Trainer()\nfind = t.lr_find\n", "where it is used"),
    ],
)
def test_the_methods_of_0_9_that_are_only_named(body: str, why: str) -> None:
    [reason] = refusals({"a.py": HEAD + body}, "LIT113")
    assert why in reason and "Tuner(trainer)" in reason


@pytest.mark.parametrize(
    "body",
    [
        "tuner = pl.tuner.Tuner(pl.Trainer())\ntuner.lr_find(m)\n",
        "engine.lr_find(m)\n",
        "class Mine(pl.Trainer):\n    def lr_find(self): ...\n\n    def go(self):\n        self.lr_find()\n",
    ],
)
def test_methods_of_that_name_of_others_stay(body: str) -> None:
    assert run_rules({"a.py": HEAD + body}, rule("LIT113")).findings == ()


@pytest.mark.parametrize(
    "body",
    [
        't = pl.Trainer(auto_scale_batch_size="power")\nt.tune(m)\n',
        "t = pl.Trainer(auto_scale_batch_size=True)\nt.tune(m)\n",
        "t = pl.Trainer(auto_lr_find=True)\nt.tune(m)\n",
        "t = pl.Trainer()\nt.tuner.scale_batch_size(m)\n",
        "t = pl.Trainer()\nt.tuner.lr_find(m, update_attr=True)\n",
        "t = pl.Trainer()\nt.scale_batch_size(m)\n",
    ],
)
def test_a_search_is_not_safe_as_it_finds_something_else(body: str) -> None:
    [finding] = run_rules({"a.py": HEAD + body}, rule("LIT113")).findings
    assert finding.fix == "unsafe" and not finding.applied
    assert ("8192" if "batch" in body else "2.5.3") in finding.reason


TUNER = "from pytorch_lightning.tuner import Tuner\n"
TUNES = "    t = Trainer()\n    t.tuner.lr_find(m)\n"


@pytest.mark.parametrize(
    "body",
    [
        f"def f(m):\n    from ray.tune import Tuner\n{TUNES}    return Tuner\n",
        f"def f(m):\n    Tuner = 3\n{TUNES}",
        f"def f(m):\n    def Tuner(x):\n        return x\n\n{TUNES}",
        f"def f(m, Tuner):\n{TUNES}",
        f"def g():\n    global Tuner\n    Tuner = 3\n\n\ndef f(m):\n{TUNES}",
        f"def f(m):\n{TUNES}    {TUNER}    return Tuner\n",
        f"def f(m, a):\n    if a:\n        {TUNER}        Tuner(a)\n{TUNES}",
        f"def f(m):\n{TUNES}\n\nfrom ray.tune import *\n",
        f"from ray.tune import *\n\n\ndef f(m):\n{TUNES}    return Tuner\n",
        f"try:\n    from ray.tune import *\nexcept ImportError:\n    pass\n\n\ndef f(m):\n{TUNES}",
        f"from lightning_ray.tune import Tuner\n\n\ndef f(m):\n{TUNES}    return Tuner\n",
    ],
)
def test_a_name_that_is_another_thing_where_it_would_be_read(body: str) -> None:
    [reason] = refusals({"a.py": f"from pytorch_lightning import Trainer\n\n\n{body}"}, "LIT113", unsafe=True)
    assert "`Tuner`" in reason


def test_an_import_of_the_same_before_it_serves() -> None:
    text = f"from pytorch_lightning import Trainer\n\n\ndef f(m):\n    {TUNER}    Tuner(m)\n{TUNES}"
    after = rewritten({"a.py": text}, rule("LIT113"), unsafe=True)["a.py"]
    assert after.endswith("    Tuner(t).lr_find(m, update_attr=False)\n")


def test_an_import_stands_behind_a_star() -> None:
    text = f"from pytorch_lightning import Trainer\nfrom ray.tune import *\n\n\ndef f(m):\n{TUNES}"
    after = rewritten({"a.py": text}, rule("LIT113"), unsafe=True)["a.py"]
    assert after.startswith(f"from pytorch_lightning import Trainer\nfrom ray.tune import *\n{TUNER}")
