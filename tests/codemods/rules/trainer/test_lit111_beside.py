"""LIT111: arguments that ask for nothing, become the same, or may be None, beside others."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("num_processes=2, tpu_cores=None", 'accelerator="cpu", devices=2'),
        ("num_processes=2, distributed_backend=None", 'accelerator="cpu", devices=2'),
        ("tpu_cores=8, num_processes=1", 'accelerator="tpu", devices=8'),
        ("tpu_cores=None, num_processes=1, accelerator=None", 'accelerator="cpu"'),
    ],
)
def test_an_argument_that_asks_for_nothing_counts_for_nothing(given: str, wanted: str) -> None:
    files = {"train.py": f"{HEAD}Trainer({given})\n"}
    assert rewritten(files, rule("LIT111"))["train.py"] == f"{HEAD}Trainer({wanted})\n"


@pytest.mark.parametrize(
    "given",
    [
        "num_processes=2, devices=None",
        "tpu_cores=8, devices=None",
        "num_processes=2, accelerator=None",
        "accelerator='ddp', strategy='dp', devices=1",
    ],
)
@pytest.mark.parametrize("form", ["Trainer({})", "Trainer(**dict({}))"])
def test_an_argument_that_another_would_become_stays_with_it(given: str, form: str) -> None:
    made = run_rules({"train.py": f"{HEAD}{form.format(given)}\n"}, rule("LIT111"), unsafe=True)
    assert (made.bugs, made.changes) == ((), ())
    assert [item.fix for item in made.findings] == ["manual", "manual"]


def test_two_arguments_that_would_become_the_same_stay() -> None:
    text = f"{HEAD}kw = {{}}\nkw['num_processes'] = 2\nTrainer(distributed_backend='ddp_cpu', tpu_cores=8, **kw)\n"
    made = run_rules({"train.py": text}, rule("LIT111"), unsafe=True)
    assert made.bugs == ()
    assert "distributed_backend='ddp_cpu'" in made.final().get("train.py", text.encode()).decode()


@pytest.mark.parametrize(
    "trainer",
    [
        "Trainer(accelerator=None, **{'tpu_cores': 8})",
        "Trainer(num_processes=1, **{'tpu_cores': 8})",
        "Trainer(num_processes=2, **{'gpus': 1})",
        "Trainer(tpu_cores=None, **{'num_processes': 2})",
    ],
)
def test_arguments_and_keys_are_seen_beside_each_other(trainer: str) -> None:
    for unsafe in (False, True):
        made = run_rules({"train.py": f"{HEAD}{trainer}\n"}, rule("LIT111"), unsafe=unsafe)
        assert made.bugs == () and made.findings


@pytest.mark.parametrize("rules", [("LIT111",), ("LIT101", "LIT111")])
@pytest.mark.parametrize("gpus", ["", "gpus=None, "])
def test_a_strategy_named_by_the_accelerator_stays_beside_what_counts_devices(
    rules: tuple[str, ...], gpus: str
) -> None:
    text = f"{HEAD}Trainer({gpus}accelerator='ddp', tpu_cores=8)\n"
    for unsafe in (False, True):
        made = run_rules({"train.py": text}, *map(rule, rules), unsafe=unsafe)
        assert made.bugs == ()
        after = text.replace(gpus, "") if "LIT101" in rules else text
        assert made.final().get("train.py", text.encode()).decode() == after
        left = [item.reason for item in made.findings if item.code == "LIT111"]
        assert len(left) == 2 and not any("other devices are given" in reason for reason in left)


def test_gpus_that_are_none_are_no_other_devices() -> None:
    text = f"{HEAD}Trainer(gpus=None, num_processes=4)\n"
    both = rule("LIT101"), rule("LIT111")
    assert rewritten({"train.py": text}, *both)["train.py"] == f'{HEAD}Trainer(accelerator="cpu", devices=4)\n'
    made = run_rules({"train.py": text}, rule("LIT111"))
    assert [item.fix for item in made.findings] == ["safe"] and made.bugs == ()


PARSED = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--accelerator", default=None)
parser.add_argument("--gpus", type=int, default=1)
args = parser.parse_args()
"""


@pytest.mark.parametrize(
    "trainer",
    ["Trainer.from_argparse_args(args, accelerator=args.accelerator)", "Trainer(accelerator=args.accelerator, **more)"],
)
def test_an_accelerator_that_may_be_none_beside_what_is_not_seen_stays(trainer: str) -> None:
    [finding] = run_rules({"train.py": f"{HEAD}{PARSED}{trainer}\n"}, rule("LIT111"), unsafe=True).findings
    assert (finding.fix, finding.applied) == ("manual", False)
    assert "may be None" in finding.reason


def test_an_accelerator_that_may_be_none_in_a_dictionary_that_is_seen_goes() -> None:
    text = f"{HEAD}def go(acc=None):\n    kw = {{'accelerator': acc, 'max_epochs': 1}}\n    return Trainer(**kw)\n"
    after = rewritten({"train.py": text}, rule("LIT111"))["train.py"]
    assert after == text.replace("'accelerator': acc", "'accelerator': acc or \"cpu\"")


def test_a_strategy_that_a_mapping_may_lack_is_chosen_freely() -> None:
    text = 'from pytorch_lightning import Trainer\n\nTrainer(devices=2, strategy=config["training"].get("backend"))\n'
    after = rewritten({"a.py": text}, rule("LIT111"))["a.py"]
    assert after == text.replace('.get("backend")', '.get("backend") or "auto"')
    for other in ('.get("backend", "ddp")', '["backend"]'):
        assert not run_rules({"a.py": text.replace('.get("backend")', other)}, rule("LIT111")).changes


PLUGIN = f"{HEAD}from pytorch_lightning.plugins import DDPPlugin\nfrom opt import n\n"


def test_none_that_goes_with_the_rewrite_of_its_value_is_not_left() -> None:
    made = run_rules({"train.py": f"{PLUGIN}Trainer(strategy=DDPPlugin() if n > 1 else None)\n"}, rule("LIT111"))
    assert made.final()["train.py"].decode().endswith('Trainer(strategy=DDPStrategy() if n > 1 else "auto")\n')
    assert [item.fix for item in made.findings] == ["safe", "safe"]


def test_none_that_stands_elsewhere_stays_to_be_told() -> None:
    text = f"{PLUGIN}def go(other=None):\n    return Trainer(strategy=DDPPlugin() if n > 1 else other)\n"
    found = run_rules({"train.py": text}, rule("LIT111")).findings
    assert [item.span.line for item in found if item.fix == "manual" and "may be None" in item.reason] == [5]
