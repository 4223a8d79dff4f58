"""Ways on which a dictionary reaches a Trainer that say that its keys stay as they are, or go for another."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
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
        "n = 'ddp'\ndef options():\n    n = 'horovod'\n    return {'distributed_backend': n}\nTrainer(**options())\n",
        "def options():\n    n = 'bagua'\n    return {'distributed_backend': n}\n"
        "def go():\n    n = 'ddp'\n    Trainer(**options())\n",
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
        ("if kw := {'gpus': 1}:\n    Trainer(**kw)\n", [2]),
        ("Trainer(**(kw := {'gpus': 1}))\nprint(kw)\n", [2]),
        (CASES.format("'kw', [{'gpus': 1}, pytest.param({'gpus': 2}, id='two')]"), [3, 3]),
        (CASES.format("('n', 'kw'), [(1, {'gpus': 1}), (2, {})]"), [3]),
        (CASES.format("('kw',), [({'gpus': 1},)]"), [3]),
        (CASES.format("'kw,', [({'gpus': 1})]"), [3]),
        (CASES.format("argnames='kw', argvalues=[{'gpus': 1}]"), [3]),
        (CASES.format("'n, kw', argvalues=[pytest.param(1, {'gpus': 1})]"), [3]),
        (CASES.format("3, [{'gpus': 1}]"), []),
        (CASES.format("[3, None], [{'gpus': 1}]"), []),
        (CASES.format("{'kw': 3}, [{'gpus': 1}]"), []),
        (CASES.format("find(), [{'gpus': 1}]"), []),
    ],
)
def test_a_dictionary_from_a_loop_or_an_unpacking_is_named(text: str, lines: list[int]) -> None:
    assert told(text) == [(line, "manual") for line in lines]


def test_a_dictionary_of_a_plain_unpacking_is_rewritten_where_it_stands() -> None:
    after = planned("kw, n = {'gpus': 1}, 2\nTrainer(**kw)\n").final()["train.py"].decode()
    assert "kw, n = {'accelerator': \"gpu\", 'devices': 1}, 2\nTrainer(**kw)\n" in after


def test_a_key_of_several_strings_is_exchanged_whole() -> None:
    text = "Trainer(**{'weights_' 'summary': None, 'replace_' \"sampler_ddp\": x, 'gpus' '': 1})\n"
    after = planned(text).final()["train.py"].decode()
    wanted = "'enable_model_summary': False, 'use_distributed_sampler': x, 'accelerator': \"gpu\", 'devices': 1"
    assert f"Trainer(**{{{wanted}}})" in after


FILLED = "kw = dict(max_epochs=3, weights_summary=None)\n{}Trainer(**kw)\n"


@pytest.mark.parametrize(
    "between",
    [
        "kw['callbacks'] = []\n",
        "kw['gpus'] = 2; x = 1\nif x:\n    pass\nkw.update(logger=False)\n",
        "kw.update({'logger': find()}, callbacks=[])\n",
        "kw['logger'] = True\nif x:\n    Trainer(**kw)\n",
    ],
)
def test_a_dictionary_that_is_filled_line_by_line_before_its_first_trainer_is_one_place(between: str) -> None:
    for text in (FILLED.format(between), "def go(x):\n" + indented(FILLED.format(between))):
        assert {level for _, level in told(text)} == {"safe"}


IN_ONE_FUNCTION = [
    "if x:\n    Trainer(**kw)\nkw['callbacks'] = []\n",
    "if x:\n    kw['callbacks'] = []\n",
    "for x in y:\n    kw['callbacks'] = []\n",
    "kw['max_epochs'] = 4\n",
    "kw.setdefault('max_steps', 4)\n",
    "x = kw.update(max_steps=4)\n",
]
ELSEWHERE = [
    "def build():\n    return Trainer(**kw)\nbuild()\nkw['callbacks'] = []\n",
    "kw[x] = 1\n",
    "kw.update(find())\n",
    "kw.update(**x)\n",
    "kw |= {'max_steps': 4}\n",
]


@pytest.mark.parametrize("between", ELSEWHERE)
def test_a_dictionary_that_is_filled_in_other_ways_is_taken_to_be_one_place(between: str) -> None:
    for text in (FILLED.format(between), "def go(x):\n" + indented(FILLED.format(between))):
        assert [level for line, level in told(text) if level != "manual"] in ([], ["unsafe"])
        assert "safe" not in [level for _, level in told(text)]


@pytest.mark.parametrize("between", IN_ONE_FUNCTION)
def test_a_key_that_nothing_beside_it_changes_goes_however_its_function_fills_the_dictionary(between: str) -> None:
    plain = FILLED.format(between)
    guarded = f'if __name__ == "__main__":\n{indented(plain)}'
    for text in (plain, guarded, "def go(x):\n" + indented(plain)):
        assert {level for _, level in told(text)} == {"safe"}
        assert "max_epochs=3, enable_model_summary=False)" in planned(text).final()["train.py"].decode()


@pytest.mark.parametrize("between", ["if x:\n    kw['num_nodes'] = 2\n", "if x:\n    kw['plugins'] = [found()]\n"])
def test_a_key_about_the_hardware_does_not_beside_another_that_is_there_at_times(between: str) -> None:
    text = f"kw = dict(max_epochs=3, gpus=2)\n{between}Trainer(**kw)\n"
    levels = [level for _, level in told(text)]
    assert levels and "safe" not in levels


@pytest.mark.parametrize(
    ("own", "level"),
    [
        ("pass", "safe"),
        ("def save_checkpoint(self, path):\n        pass", "safe"),
        ("def __init__(self, **kwargs):\n        super().__init__(**{**kwargs, 'max_epochs': 2})", "manual"),
        ("def __new__(cls, **kwargs):\n        return object.__new__(cls)", "manual"),
    ],
)
def test_a_trainer_of_the_project_gets_a_dictionary_as_lightnings_does(own: str, level: str) -> None:
    """Found in a public project, which gives one dictionary to two of its own Trainers."""
    made = f"class Mine(Trainer):\n    {own}\n\nkw = dict(max_epochs=3, weights_summary=None)\n"
    text = f"{made}trainer = Mine(**kw)\nif found:\n    trainer = Mine(**kw)\n"
    assert {each for _, each in told(text)} == {level}
    assert ("enable_model_summary" in planned(text).final().get("train.py", b"").decode()) is (level == "safe")


def indented(text: str) -> str:
    return "".join(f"    {line}" for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("gpus=2", "tpu_cores=8"),
        ("num_processes=3", "gpus=2"),
        ("weights_summary=None", "enable_model_summary=False"),
        ("gpus=2", "distributed_backend='ddp', num_processes=2"),
        ("gpus=0", "accelerator='cpu'"),
        ("gpus=2", "accelerator='gpu'"),
    ],
)
def test_a_key_whose_successor_another_call_gives_stays(key: str, given: str) -> None:
    for calls in (f"Trainer(**kw)\nTrainer({given}, **kw)\n", f"Trainer({given}, **kw)\nTrainer(**kw)\n"):
        text = f"kw = dict(max_epochs=1, {key})\n{calls}"
        assert f"dict(max_epochs=1, {key})" in planned(text).final().get("train.py", text.encode()).decode()


@pytest.mark.parametrize(
    "calls",
    [
        "Trainer(**kw)\nTrainer(**kw, **more)\n",
        "Trainer(**more, **kw)\nTrainer(**kw)\n",
        "Trainer(**kw)\nTrainer.from_argparse_args(args, **kw)\n",
    ],
)
@pytest.mark.parametrize("key", ["'gpus': 0", "'num_processes': 2", "'weights_summary': None"])
def test_a_key_that_another_call_gets_beside_what_is_not_the_same_stays(calls: str, key: str) -> None:
    text = f"kw = {{{key}}}\nmore = found({{'accelerator': 'cpu'}})\n{calls}"
    assert {level for line, level in told(text) if line == 2} == {"manual"}
    assert f"kw = {{{key}}}" in planned(text).final().get("train.py", text.encode()).decode()


@pytest.mark.parametrize(
    "filled",
    [
        "kw['gpus'], kw['max_epochs'] = 0, epochs\n",
        "kw['gpus'] = kw['devices'] = 1\n",
        "for kw['gpus'], kw['max_epochs'] in runs:\n    pass\n",
        "with run() as kw['accelerator']:\n    pass\n",
        "[*kw['gpus']] = 1\n",
    ],
)
def test_a_dictionary_that_is_filled_by_more_than_plain_statements_stays(filled: str) -> None:
    text = f"kw = {{'gpus': 0, 'max_epochs': 1}}\n{filled}Trainer(**kw)\n"
    assert (2, "manual") in told(text)
    assert planned(text).changes == ()


@pytest.mark.parametrize("given", ["gpus=2", "accelerator='gpu'", "max_epochs=3, num_nodes=2"])
def test_a_key_that_no_argument_of_another_call_meets_goes(given: str) -> None:
    text = f"kw = dict(max_steps=1, weights_summary=None)\nTrainer(**kw)\nTrainer({given}, **kw)\n"
    assert "dict(max_steps=1, enable_model_summary=False)" in planned(text).final()["train.py"].decode()


def test_dictionaries_of_each_other_are_not_followed_for_ever() -> None:
    names = [f"kw{number}" for number in range(14)]
    filled = "".join(f"{name}.update({other})\n" for name in names for other in names)
    made = "".join(f"{name} = dict({name}_of, gpus=1)\n" for name in names)
    found = told(f"{made}{filled}Trainer(**kw0)\n")
    assert found and {fix for _, fix in found} <= {"manual", "unsafe"}
