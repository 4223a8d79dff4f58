"""An argument of Trainer is found, and rewritten to the same, whatever way it is written in."""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

import pytest

from codemods.engine.plan import Plan
from codemods.lightning.arguments import rows
from tests.codemods.fake_lightning import trained
from tests.codemods.ways import Case, cases, outcome, planned, ways

SAMPLE = 12
"""So many arguments are tried besides those that are always; `python -m tests.codemods.ways` tries all."""
ALWAYS = (Case("weights_summary", "None"), Case("max_steps", "None"), Case("gpus", "2"), Case("process_position", "3"))
NAMES = tuple(ways(ALWAYS[0]))
ENOUGH = 0.85


@cache
def rewritten_directly() -> Mapping[Case, list[str]]:
    """Some cases that are rewritten when they are written directly, with what their Trainer is then given."""
    others = random.Random(17).sample([case for case in cases() if case not in ALWAYS], SAMPLE)
    made = {case: planned(ways(case)["direct"]) for case in (*ALWAYS, *others)}
    return {case: given(case, "direct", plan) for case, plan in made.items() if outcome(plan) == "rewritten"}


def given(case: Case, way: str, plan: Plan) -> list[str]:
    """What the Trainer of a rewritten program is given."""
    assert plan.bugs == ()
    final = plan.final()
    files = ways(case)[way]
    return trained({path: final[path].decode() if path in final else text for path, text in files.items()})


@pytest.mark.parametrize("way", NAMES[1:])
def test_each_way_says_and_gives_what_the_direct_one_does(way: str) -> None:
    counted = Counter[str]()
    assert len(rewritten_directly()) > len(ALWAYS)
    for case, wanted in rewritten_directly().items():
        plan = planned(ways(case)[way])
        counted[outcome(plan)] += 1
        if outcome(plan) == "rewritten":
            assert given(case, way, plan) == wanted, case
    assert counted["silent"] == 0
    assert counted["rewritten"] >= ENOUGH * counted.total()


def unsaid(case: Case) -> dict[str, str]:
    """Programs in which the value of an argument is None when they run, and nothing there says so."""
    kind = type(ast.literal_eval(case.value)).__name__
    typed = f"type={kind}" if kind in ("int", "float", "str") else ""
    option = ways(case)["argparse"]["train.py"]
    bare = re.sub(r"(add_argument\('--value').*\)", rf"\1, {typed})", option)
    given = ways(case)["parameter"]["train.py"].replace(f"main({case.value})", "print(main)\nmain(None)")
    looked = ways(case)["variable"]["train.py"].replace(f"value = {case.value}", "value = {}.get('value')")
    return {"an option": bare, "a float": bare.replace("=int", "=float"), "a parameter": given, "a mapping": looked}


def test_a_value_that_turns_out_to_be_none_never_fails() -> None:
    tried = Counter[str]()
    for case in (*rewritten_directly(), *(Case(name, "0.5") for name in rows() if name.endswith(("check", "pct")))):
        for way, text in unsaid(case).items():
            plan = planned({"train.py": text})
            if outcome(plan) == "rewritten":
                tried[way] += 1
                assert len(trained({"train.py": plan.final()["train.py"].decode()})) == 1
    assert min(tried.values()) >= len(unsaid(ALWAYS[0])) == len(tried)


OPTIONS = {
    ("val_percent_check", "type=float, default=1"): "limit_val_batches=float(args.x)",
    ("val_percent_check", "type=float, default=1.0"): "limit_val_batches=args.x",
    ("val_percent_check", "type=float"): "limit_val_batches=args.x",
    ("val_percent_check", "default=None"): "limit_val_batches=1.0 if args.x is None else float(args.x)",
    ("val_percent_check", "required=True"): "limit_val_batches=float(args.x)",
    ("overfit_pct", "type=float"): "overfit_batches=args.x or 0.0",
    ("overfit_pct", "type=int"): "overfit_batches=float(args.x or 0)",
    ("progress_bar_refresh_rate", "type=int"): "TQDMProgressBar(refresh_rate=1 if args.x is None else args.x)",
    ("progress_bar_refresh_rate", "type=int, default=5"): "TQDMProgressBar(refresh_rate=args.x)",
    ("reload_dataloaders_every_epoch", "default=None"): "reload_dataloaders_every_n_epochs=int(bool(args.x))",
    ("accumulate_grad_batches", "type=int"): "accumulate_grad_batches=args.x or 1",
    ("profiler", "default=True"): 'profiler="simple" if args.x is True else args.x or None',
    ("weights_summary", "default=None"): "enable_model_summary=args.x is not None",
    ("weights_summary", "default='top'"): 'callbacks=[ModelSummary(max_depth=-1)] if args.x == "full" else []',
    ("log_gpu_memory", "default='max'"): "callbacks=[DeviceStatsMonitor()] if args.x else []",
    ("num_processes", "type=int"): 'accelerator="cpu", devices=args.x or 1',
    ("num_processes", "type=int, default=2"): 'accelerator="cpu", devices=args.x',
    ("tpu_cores", "type=int"): 'accelerator="tpu" if args.x else "cpu", devices=args.x or 1',
    ("tpu_cores", "type=int, default=8"): 'accelerator="tpu", devices=args.x',
}  # fmt: skip


@pytest.mark.parametrize(("argument", "declared"), OPTIONS)
def test_an_option_keeps_all_its_values(argument: str, declared: str) -> None:
    text = (
        "import argparse\nfrom pytorch_lightning import Trainer\n\np = argparse.ArgumentParser()\n"
        f"p.add_argument('--x', {declared})\nargs = p.parse_args()\nTrainer({argument}=args.x)\n"
    )
    made = planned({"train.py": text}).final()["train.py"].decode()
    assert OPTIONS[argument, declared] in made


STAYS = {
    "what a choice gives may be None": "Trainer(val_percent_check=0.5 if find() else None)",
    "an option of which only some values say nothing": "Trainer(automatic_optimization=args.x)",
    "an option that the tuner obeyed": "Trainer(auto_lr_find=args.x)",
    "an option that may hold a list": "Trainer(tpu_cores=args.several)",
    "an option that is set later": "args.set = find()\nTrainer(prepare_data_per_node=args.set)",
}


@pytest.mark.parametrize("stays", STAYS)
def test_an_option_that_says_more_is_left_to_a_person(stays: str) -> None:
    options = "".join(f"p.add_argument('--{name}')\n" for name in ("x", "set"))
    text = (
        "import argparse\nfrom pytorch_lightning import Trainer\n\np = argparse.ArgumentParser()\n"
        f"{options}p.add_argument('--several', nargs='+')\nargs = p.parse_args()\n{STAYS[stays]}\n"
    )
    plan = planned({"train.py": text})
    assert plan.changes == ()
    assert [item.fix for item in plan.findings] == ["manual"]


OTHERS = {
    "a dataclass": "@dataclass\nclass Conf:\n    value: object = {}\n\n\nconf = Conf()\n",
    "an object": "conf = SimpleNamespace(value={})\n",
    "one given by a call": "class Conf:\n    def __init__(self, value):\n        self.value = value\n\n\n"
    "conf = Conf(value={})\n",
    "an item": "conf = {{'value': {}}}\n",
}
VALUES = ("strategy='dp'", "max_steps=None", "accumulate_grad_batches=None", "profiler=True", "devices=None")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("other", OTHERS)
def test_what_an_object_was_made_with_is_told_of(other: str, value: str) -> None:
    name, _, text = value.partition("=")
    read = "conf['value']" if other == "an item" else "conf.value"
    code = f"import pytorch_lightning as pl\n{OTHERS[other].format(text)}pl.Trainer({name}={read})\n"
    plan = planned({"train.py": code})
    levels = [item.fix for item in plan.findings]
    assert levels in (["manual"], ["safe"], ["unsafe"]), plan.findings
    if plan.changes:
        after = plan.final()["train.py"].decode().splitlines()[-1]
        assert (levels == ["unsafe"]) == (after == "pl.Trainer(strategy='ddp')")
        assert after in (
            "pl.Trainer(strategy='ddp')",
            "pl.Trainer(max_steps=-1)",
            "pl.Trainer()",
            'pl.Trainer(profiler="simple")',
            'pl.Trainer(devices="auto")',
        ), after


@pytest.mark.parametrize("again", ["if value is None:\n        value = 5", "value = find(value)", "value = value or 5"])
def test_a_parameter_that_is_bound_again_is_not_what_it_was(again: str) -> None:
    head = "import pytorch_lightning as pl\n\n\ndef go(value=None):\n"
    text = f"{head}    {again}\n    pl.Trainer(max_steps=value)\n\n\ngo()\n"
    assert planned({"train.py": text}).findings == ()


def test_a_parameter_that_may_be_bound_again_is_told_of() -> None:
    head = "import pytorch_lightning as pl\n\n\ndef go(value=None, other=False):\n"
    text = f"{head}    if other:\n        value = 5\n    pl.Trainer(strategy=value)\n\n\ngo()\n"
    assert {item.code for item in planned({"train.py": text}).findings} == {"LIT111"}


def test_there_are_ways_enough() -> None:
    assert len(NAMES) >= 14
    assert ways(ALWAYS[0])["direct"]["train.py"].count("weights_summary=None") == 1


TRAPS = {
    "a name that is bound again": "limit = None\nlimit = 5\npl.Trainer(max_steps=limit)\n",
    "a parameter of which a call is not seen": "def go(limit=5):\n    pl.Trainer(max_steps=limit)\n\n\nrun(go)\n",
    "an attribute of another class": "class A:\n    limit = None\n\n\nclass B:\n    limit = 5\n\n\n"
    "pl.Trainer(max_steps=B.limit)\n",
    "a name that is not None there": "if limit is not None:\n    pl.Trainer(max_steps=limit)\n",
    "a Trainer that says it itself": "class Own(pl.Trainer):\n    def __init__(self, max_steps):\n"
    "        super().__init__(max_steps=max_steps or -1)\n\n\nOwn(max_steps=None)\n",
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_what_cannot_be_is_not_found(trap: str) -> None:
    text = f"import pytorch_lightning as pl\n\n{TRAPS[trap]}"
    assert [item for item in planned({"train.py": text}).findings if item.code == "STP004"] == []


LEFT = {
    "a parameter that may be something else": "def go(each=None):\n    pl.Trainer(prepare_data_per_node=each)\n\n\n"
    "run(go)\n",
    "a partial that is called twice": "from functools import partial\n\n"
    "make = partial(pl.Trainer, weights_summary=None)\nmake()\nmake(max_epochs=1)\n",
    "a dictionary that is used elsewhere": "o = {'weights_summary': None}\npl.Trainer(**o)\nsave(o)\n",
    "values that become different things": "def go(x):\n    pl.Trainer(weights_summary=None if x else 'full')\n\n\n"
    "go(1)\n",
}  # fmt: skip


@pytest.mark.parametrize("left", LEFT)
def test_what_cannot_be_proved_is_left_to_a_person(left: str) -> None:
    text = f"import pytorch_lightning as pl\n\n{LEFT[left]}"
    plan = planned({"train.py": text})
    assert plan.changes == ()
    assert {item.fix for item in plan.findings if item.row in ("M045", "M064")} == {"manual"}
