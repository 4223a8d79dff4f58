"""LIT111: what strategies, devices and plugins become, checked against the newest Lightning."""

from __future__ import annotations

import ast
import inspect

import lightning.pytorch.plugins as plugins
import lightning.pytorch.strategies as strategies
import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.strategies import StrategyRegistry

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.lightning.strategies import GONE, RENAMED, STRATEGIES
from codemods.rules.names.table import OTHERS, gone
from codemods.rules.trainer.lit111 import GONE as ARGUMENTS
from codemods.rules.trainer.plugins import CLASSES, FULL
from tests.codemods.support import refusals, rewritten, rule, run_rules, sources

HEAD = "from pytorch_lightning import Trainer\n"


def call(text: str, unsafe: bool = False) -> str:
    """The last line after the rule."""
    files = {"train.py": f"{HEAD}{text}\n"}
    return rewritten(files, rule("LIT111"), unsafe=unsafe)["train.py"].splitlines()[-1]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("'ddp' if n > 1 else None", 'backend or "auto"'),
        ("'ddp' if n > 1 else 'ddp_spawn'", "backend"),
        ("None", 'backend or "auto"'),
    ],
)
def test_a_variable_of_known_strategies(value: str, wanted: str) -> None:
    text = f"def go(n):\n    backend = {value}\n    return Trainer(distributed_backend="
    files = {"train.py": f"{HEAD}{text}backend)\n"}
    assert rewritten(files, rule("LIT111")) == {
        "train.py": f"{HEAD}{text}backend)\n".replace("distributed_backend=backend", f"strategy={wanted}")
    }


@pytest.mark.parametrize(
    ("pin", "level"),
    [("pytorch-lightning==1.4.9", "safe"), ("pytorch-lightning==2.1.0", "unsafe"), ("lightning>=2.0", "unsafe")],
)
def test_a_strategy_as_accelerator_goes_by_what_ran_it(pin: str, level: str) -> None:
    """No 2.x takes it: what it meant to 1.x is no evidence there for the CPU."""
    made = run_rules({"train.py": f'{HEAD}Trainer(accelerator="ddp")\n'}, rule("LIT111"), unsafe=True, pins=(pin,))
    assert [finding.fix for finding in made.findings] == [level]
    wanted = 'accelerator="cpu", strategy="ddp"' if level == "safe" else 'strategy="ddp"'
    assert made.final()["train.py"].decode() == f"{HEAD}Trainer({wanted})\n"


@pytest.mark.parametrize(
    "lines",
    [
        "backend = find()",
        "backend = 'ddp' if n > 1 else find()",
    ],
)
def test_a_variable_of_others_is_only_likely(lines: str) -> None:
    files = {"train.py": f"{HEAD}def go(n):\n    {lines}\n    return Trainer(distributed_backend=backend)\n"}
    made = run_rules(files, rule("LIT111"))
    assert made.changes == ()
    assert [finding.fix for finding in made.findings] == ["unsafe"]


VARIABLE = f"{HEAD}def go(n):\n    backend = VALUE\n    return Trainer(distributed_backend=backend)\n"


def test_a_variable_of_one_value_is_that_value() -> None:
    after = rewritten({"train.py": VARIABLE.replace("VALUE", "'ddp_cpu'")}, rule("LIT111"))["train.py"]
    assert after.endswith('return Trainer(accelerator="cpu", devices=1, strategy="ddp_spawn")\n')


def test_a_variable_of_what_is_gone_is_what_succeeds_it() -> None:
    files = {"train.py": VARIABLE.replace("VALUE", "'dp' if n > 1 else None")}
    after = rewritten(files, rule("LIT111"), unsafe=True)["train.py"]
    assert after.endswith("return Trainer(strategy='ddp' if n > 1 else 'auto')\n")


@pytest.mark.parametrize("between", ["n = 5", "global n", "for n in range(5):\n        pass"])
def test_a_variable_of_what_may_be_another_choice_by_then_is_left_to_a_person(between: str) -> None:
    files = {"train.py": VARIABLE.replace("VALUE", f"'dp' if n > 1 else None\n    {between}").replace("go(n)", "go()")}
    (found,) = run_rules(files, rule("LIT111"), unsafe=True).findings
    assert (found.fix, found.applied) == ("manual", False)
    assert 'it may be "d' in found.reason and "which strategy= does not take" in found.reason


def test_names_of_strategies_are_lightnings_own() -> None:
    now = set(StrategyRegistry.available_strategies())
    assert {new for new, _ in RENAMED.values()} <= now
    assert now >= STRATEGIES
    assert not now & (set(GONE) | set(RENAMED))


def test_classes_are_lightnings_own() -> None:
    for old, became in CLASSES.items():
        assert not hasattr(plugins, old) and not hasattr(strategies, old)
        taken = inspect.signature(getattr(strategies, became.name)).parameters
        assert all(name in taken or "kwargs" in taken for name, _ in became.arguments)
    left = [name for name, code in OTHERS.items() if code == "LIT111"]
    assert {name.rpartition(".")[2] for name in left} == set(CLASSES)
    assert set(left) <= set(gone())
    assert {name.replace("pl.", "lightning.pytorch.", 1) for name in left} <= set(FULL)


def test_arguments_are_gone() -> None:
    assert not set(ARGUMENTS) & set(inspect.signature(Trainer.__init__).parameters)


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("Trainer(distributed_backend='ddp')", "Trainer(strategy='ddp')"),
        ("Trainer(distributed_backend=None, gpus=1)", "Trainer(gpus=1)"),
        ("Trainer(distributed_backend='ddp' if n > 1 else None)", "Trainer(strategy='ddp' if n > 1 else 'auto')"),
        ("Trainer(distributed_backend='ddp_cpu')", 'Trainer(accelerator="cpu", devices=1, strategy="ddp_spawn")'),
        (
            "Trainer(distributed_backend='ddp_cpu', num_processes=2)",
            'Trainer(accelerator="cpu", strategy="ddp_spawn", devices=2)',
        ),
        ("Trainer(num_processes=1)", "Trainer()"),
        ("Trainer(num_processes=0, devices=n)", "Trainer(devices=n)"),
        ("Trainer(num_processes=3)", 'Trainer(accelerator="cpu", devices=3)'),
        ("Trainer(accelerator='cpu', num_processes=n)", "Trainer(accelerator='cpu', devices=n or 1)"),
        ("Trainer(tpu_cores=8)", 'Trainer(accelerator="tpu", devices=8)'),
        ("Trainer(tpu_cores=[1])", 'Trainer(accelerator="tpu", devices=[0])'),
        ("Trainer(tpu_cores=None, ipus=None, auto_select_gpus=False)", "Trainer()"),
        ("Trainer(auto_select_gpus=True, gpus=-1)", "Trainer(gpus=-1)"),
        ("Trainer(auto_select_gpus=True, gpus=[0, 2])", "Trainer(gpus=[0, 2])"),
        ("Trainer(accelerator='gpu', devices=-1, auto_select_gpus=True)", "Trainer(accelerator='gpu', devices=-1)"),
        ("Trainer(strategy=None)", 'Trainer(strategy="auto")'),
        ("Trainer(strategy='fsdp_native')", 'Trainer(strategy="fsdp")'),
        ("Trainer(strategy='tpu_spawn')", 'Trainer(strategy="xla")'),
        ("Trainer(accelerator='ddp')", "Trainer(accelerator=\"cpu\", strategy='ddp')"),
        ("Trainer(accelerator=None)", 'Trainer(accelerator="cpu")'),
        ("Trainer(accelerator='gpu' if g else None)", "Trainer(accelerator='gpu' if g else \"cpu\")"),
        (
            "Trainer(accelerator=None if c else 'gpu', devices=None if c else [c])",
            'Trainer(accelerator="cpu" if c else \'gpu\', devices="auto" if c else [c])',
        ),
        ("Trainer(devices=None)", "Trainer()"),
        ("Trainer(devices=1 if cuda else None)", 'Trainer(devices=1 if cuda else "auto")'),
        ("Trainer(accelerator='cpu', devices=[0, 1])", "Trainer(accelerator='cpu', devices=2)"),
    ],
)
def test_written(before: str, wanted: str) -> None:
    assert call(before) == wanted
    node = ast.parse(wanted, mode="eval").body
    assert isinstance(node, ast.Call)
    assert {item.arg for item in node.keywords} <= {"gpus", *inspect.signature(Trainer.__init__).parameters}


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("Trainer(strategy='ddp_fully_sharded')", "FairScale"),
        ("Trainer(strategy='colossalai')", "lightning-colossalai"),
        ("Trainer(distributed_backend='horovod')", "archived"),
        ("Trainer(distributed_backend='ddp', strategy='ddp_spawn')", "given too"),
        ("Trainer(distributed_backend=find())", "only known when"),
        ("Trainer(auto_select_gpus=True)", "find_usable_cuda_devices"),
        ("Trainer(auto_select_gpus=n > 1, gpus=-1)", "find_usable_cuda_devices"),
        ("Trainer(ipus=4)", "removed support"),
        ("Trainer(num_processes=4, devices=2)", "other devices"),
        ("Trainer(tpu_cores=n)", "counted from 0"),
        ("Trainer(tpu_cores=8, devices=2)", "given too"),
    ],
)
def test_left_to_a_person(before: str, why: str) -> None:
    [reason] = refusals({"train.py": f"{HEAD}{before}\n"}, "LIT111")
    assert why in reason


@pytest.mark.parametrize(
    "before",
    [
        "Trainer(strategy='ddp', devices=2, accelerator='gpu')",
        "Trainer(accelerator='gpu', devices=[0])",
        "Trainer(accelerator='auto', devices='auto', strategy='auto')",
        "Trainer(strategy=chosen, accelerator=kind, devices=n)",
        "Trainer(accelerator='ddp', gpus=2)",
        "Engine(distributed_backend='ddp')",
    ],
)
def test_not_spoken_of(before: str) -> None:
    assert run_rules({"train.py": f"{HEAD}{before}\n"}, rule("LIT111")).findings == ()


@pytest.mark.parametrize(
    ("argument", "target", "wanted"),
    [
        ("tpu_cores=[1]", "2.6.6", 'accelerator="tpu", devices=[0]'),
        ("tpu_cores=[1]", "2.0.9", 'accelerator="tpu", devices=[1]'),
        ("ipus=4", "2.6.6", None),
        ("ipus=4", "2.0.9", 'accelerator="ipu", devices=4'),
        ('strategy="hpu_parallel"', "2.6.6", None),
        ('strategy="hpu_parallel"', "2.0.9", 'strategy="hpu_parallel"'),
        ('strategy="bagua"', "2.0.9", None),
    ],
)
def test_an_older_target_keeps_what_it_has(argument: str, target: str, wanted: str | None) -> None:
    text = f"from pytorch_lightning import Trainer\n\ntrainer = Trainer({argument})\n"
    made = plan(sources({"a.py": text}), Options((rule("LIT111"),), target=target))
    after = made.final().get("a.py", text.encode()).decode()
    assert [item.fix for item in made.findings] == (["manual"] if wanted is None else ["safe"] * (after != text))
    assert wanted is None or f"Trainer({wanted})" in after


@pytest.mark.parametrize(
    ("before", "wanted", "level"),
    [
        ("Trainer(**{'tpu_cores': 8})", "Trainer(**{'accelerator': \"tpu\", 'devices': 8})", "safe"),
        ("Trainer(**{'gpus': 2, 'distributed_backend': 'ddp'})", "Trainer(**{'gpus': 2, 'strategy': 'ddp'})", "safe"),
        ("Trainer(**{'strategy': None})", "Trainer(**{'strategy': \"auto\"})", "safe"),
        ("Trainer(**{'strategy': 'ddp'})", "Trainer(**{'strategy': 'ddp'})", None),
        ("Trainer(**{'strategy': 'dp'})", "Trainer(**{'strategy': 'ddp'})", "unsafe"),
        ("Trainer(gpus=1, strategy='dp')", "Trainer(gpus=1)", "safe"),
        ("Trainer(devices=1, distributed_backend='dp')", "Trainer(devices=1)", "safe"),
        ("Trainer(gpus=-1, strategy='dp')", "Trainer(gpus=-1, strategy='ddp')", "unsafe"),
        ("Trainer(gpus=n, strategy='dp')", "Trainer(gpus=n, strategy='ddp')", "unsafe"),
        ("Trainer(**{'accelerator': 'ddp'})", "Trainer(accelerator=\"cpu\", strategy='ddp')", "safe"),
        ("Trainer(strategy='ddp', **{'accelerator': 'ddp'})", "", "manual"),
        ("o = {'num_processes': 4}\nsave(o)\nTrainer(**o)", "", "manual"),
    ],
)  # fmt: skip
def test_the_same_in_a_dictionary(before: str, wanted: str, level: str | None) -> None:
    head = "from pytorch_lightning import Trainer\n\n"
    made = run_rules({"train.py": f"{head}{before}\n"}, rule("LIT111"), unsafe=True)
    assert [item.fix for item in made.findings] == ([level] if level else [])
    assert made.final().get("train.py", f"{head}{before}\n".encode()).decode() == f"{head}{wanted or before}\n"


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("Trainer(strategy=('ddp' if x else 'fsdp_native') if y else None)",
         "Trainer(strategy=('ddp' if x else \"fsdp\") if y else 'auto')"),
        ("Trainer(devices=(2 if x else 3) if y else None)", "Trainer(devices=(2 if x else 3) if y else \"auto\")"),
        ("Trainer(devices=None if (y := f()) else 2)", "Trainer(devices=\"auto\" if (y := f()) else 2)"),
    ],
)  # fmt: skip
def test_a_choice_inside_a_choice_keeps_its_parentheses(before: str, wanted: str) -> None:
    assert call(before) == wanted


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("Trainer(strategy='dp' if n > 1 else None)", "Trainer(strategy='ddp' if n > 1 else 'auto')"),
        ("Trainer(strategy='ddp_sharded' if n else 'ddp')", "Trainer(strategy='ddp' if n else 'ddp')"),
        ("Trainer(distributed_backend='dp' if n > 1 else 'ddp_spawn')",
         "Trainer(strategy='ddp' if n > 1 else 'ddp_spawn')"),
        ("Trainer(distributed_backend=('ddp2' if m else None) if n > 1 else 'dp')",
         "Trainer(strategy=('ddp' if m else 'auto') if n > 1 else 'ddp')"),
        ("Trainer(strategy='dp' if n > 1 else 'horovod')", "Trainer(strategy='dp' if n > 1 else 'horovod')"),
        ("Trainer(strategy='dp' if n > 1 else find())", "Trainer(strategy='dp' if n > 1 else find())"),
    ],
)  # fmt: skip
def test_a_choice_of_what_is_gone(before: str, wanted: str) -> None:
    assert call(before, unsafe=True) == wanted
    assert call(before) == before


def test_a_strategy_that_is_gone_says_since_when() -> None:
    assert "removed in 2.0" in GONE["dp"][1] and "removed in 1.8" in GONE["ddp2"][1]
