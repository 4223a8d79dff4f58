"""Ways on which a dictionary reaches a Trainer that say that its keys stay as they are, or go for another."""

from __future__ import annotations

import pytest

from codemods.plan import Plan
from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning import Trainer\n"
CODES = ("LIT101", "LIT110", "LIT111")


def planned(text: str) -> Plan:
    made = run_rules({"train.py": HEAD + text}, *map(rule, CODES), unsafe=True)
    assert made.bugs == ()
    return made


def told(text: str) -> list[tuple[int, str]]:
    """The line and level of what is found."""
    return [(item.span.line, item.fix) for item in planned(text).findings]


BUILD = "def go(quick):\n    kw = MADE\n    if quick:\n        NEXT\n    return Trainer(**kw)\n"


@pytest.mark.parametrize(
    ("made", "neighbour"),
    [
        ("{'gpus': 2}", "kw['accelerator'] = 'cpu'"),
        ("{'gpus': 2, 'max_epochs': 1}", "kw['strategy'] = 'ddp'"),
        ("dict(gpus=2)", "kw.update(devices=3)"),
        ("{'distributed_backend': 'dp'}", "kw['gpus'] = 1"),
        ("{'num_processes': 2}", "kw['strategy'] = 'ddp'"),
    ],
)
def test_a_key_beside_one_that_is_there_at_times_stays(made: str, neighbour: str) -> None:
    text = BUILD.replace("MADE", made).replace("NEXT", neighbour)
    found = planned(text)
    assert made in found.final().get("train.py", text.encode()).decode()
    first = next(item for item in found.findings if item.span.line == 3)
    assert first.fix == "manual"
    assert "(train.py:5)" in first.reason


def test_keys_that_one_dictionary_sets_together_go_together() -> None:
    text = "def go(x):\n    return Trainer(**({'gpus': 2, 'accelerator': 'ddp'} if x else {}))\n"
    after = planned(text).final()["train.py"].decode()
    assert "({'devices': 2, 'strategy': 'ddp', 'accelerator': \"gpu\"} if x else {})" in after


@pytest.mark.parametrize(
    "text",
    [
        "def options(n):\n    return {'num_processes': n, 'distributed_backend': n}\nTrainer(**options(3))\n",
        "n = 'ddp'\ndef options():\n    n = None\n    return {'distributed_backend': n}\nTrainer(**options())\n",
    ],
)
def test_names_are_not_read_where_the_call_stands(text: str) -> None:
    assert {level for _, level in told(text)} == {"manual"}


@pytest.mark.parametrize(
    "text",
    [
        "import hydra\n@hydra.main()\ndef options():\n    return {'gpus': 2}\nTrainer(**options())\n",
        "class A:\n    @wrapped\n    def options(self):\n        return {'gpus': 2}\n"
        "    def go(self):\n        Trainer(**self.options())\n",
        "from elsewhere import create\nTrainer(**create({'gpus': 2}))\n",
        "from elsewhere import vars\nTrainer(**vars({'gpus': 2}))\n",
        "class Box(dict):\n    def __setitem__(self, key, value):\n        super().__setitem__(key, str(value))\n"
        "def go():\n    kw = Box()\n    kw['gpus'] = 2\n    Trainer(**kw)\n",
    ],
)
def test_what_strangers_and_own_classes_hand_on_stays(text: str) -> None:
    assert [level for _, level in told(text)] == ["manual"]
    assert planned(text).changes == ()


@pytest.mark.parametrize(
    "text",
    [
        "import functools\n@functools.lru_cache\ndef options():\n    return {'gpus': 2}\nTrainer(**options())\n",
        "from omegaconf import OmegaConf\nTrainer(**OmegaConf.create({'gpus': 2}))\n",
        "import copy\nTrainer(**copy.deepcopy({'gpus': 2}))\n",
    ],
)
def test_what_is_known_to_hand_keys_on_lets_them_go(text: str) -> None:
    assert [level for _, level in told(text)] == ["unsafe"]
    assert '"gpu"' in planned(text).final()["train.py"].decode()


CASES = "import pytest\n@pytest.mark.parametrize({})\ndef test(kw, n):\n    Trainer(**kw)\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("for kw in ({'gpus': 1}, {'gpus': 2}):\n    Trainer(**kw)\n", [2, 2]),
        ("for cfg in [{'gpus': 1}]:\n    kw = cfg\n    Trainer(**kw)\n", [2]),
        ("every = [{'gpus': 1}, {}]\nfor i, kw in enumerate(every):\n    Trainer(**kw)\n", [2]),
        ("every = {'a': {'gpus': 1}}\nfor name, kw in every.items():\n    Trainer(**kw)\n", [2]),
        ("def go(every={}):\n    return [Trainer(**kw) for kw in ({'gpus': 1},)]\n", [3]),
        ("kw, n = {'gpus': 1}, 2\nTrainer(**kw)\n", [2]),
        ("if kw := {'gpus': 1}:\n    Trainer(**kw)\n", [2]),
        (CASES.format("'kw', [{'gpus': 1}, pytest.param({'gpus': 2}, id='two')]"), [3, 3]),
        (CASES.format("('n', 'kw'), [(1, {'gpus': 1}), (2, {})]"), [3]),
    ],
)
def test_a_dictionary_from_a_loop_or_an_unpacking_is_named(text: str, lines: list[int]) -> None:
    assert told(text) == [(line, "manual") for line in lines]


def test_a_key_of_several_strings_is_exchanged_whole() -> None:
    text = "Trainer(**{'weights_' 'summary': None, 'replace_' \"sampler_ddp\": x, 'gpus' '': 1})\n"
    after = planned(text).final()["train.py"].decode()
    wanted = "'enable_model_summary': False, 'use_distributed_sampler': x, 'accelerator': \"gpu\", 'devices': 1"
    assert f"Trainer(**{{{wanted}}})" in after
