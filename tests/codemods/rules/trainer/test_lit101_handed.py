"""LIT101: `gpus` that reaches a Trainer through dictionaries, classes, partials and constructors of the project."""

from __future__ import annotations

import ast

import pytest

from codemods.rules.trainer.lit101 import RULE
from tests.codemods.rules.trainer.test_lit101 import HEAD, findings, run
from tests.codemods.support import rewritten, rule, run_rules


def test_dictionaries() -> None:
    text = HEAD + (
        "def a():\n    kw = {'max_epochs': 1,\n          'gpus': 1}\n    return Trainer(**kw)\n"
        "def b():\n    kw = dict(gpus=1)\n    return Trainer(**kw)\n"
        "Trainer(**{'gpus': 2})\n"
    )
    assert findings(text) == [(5, "safe"), (8, "safe"), (10, "safe")]
    after = run(text).final()["train.py"].decode()
    assert "    kw = {'max_epochs': 1,\n          'accelerator': \"gpu\",\n          'devices': 1}\n" in after
    assert 'dict(accelerator="gpu", devices=1)' in after
    twice = "kw = {'gpus': 1}\nif quick:\n    kw = {}\nTrainer(**kw)\nTrainer(**vars(args))\nother(**{'gpus': 1})\n"
    assert findings(HEAD + twice) == [(3, "unsafe")]


BUILD = "def build(quick, n: int):\n    kw = dict(max_epochs=1)\n    {}\n    return Trainer(**kw)\n"


def unsafely(text: str) -> str:
    return run_rules({"train.py": text}, RULE, unsafe=True).final()["train.py"].decode()


def test_a_key_that_is_set_by_itself() -> None:
    text = HEAD + BUILD.format("kw['gpus'] = 2")
    assert findings(text) == [(5, "safe")]
    assert '    kw.update(accelerator="gpu", devices=2)\n' in run(text).final()["train.py"].decode()
    cpu = HEAD + BUILD.format('kw["gpus"] = 0')
    assert '    kw["accelerator"] = "cpu"\n' in unsafely(cpu)
    counted = HEAD + BUILD.format("kw['gpus'] = n  # all of them")
    assert '    kw.update(accelerator="gpu" if n else "cpu", devices=n or 1)  # all of them\n' in unsafely(counted)


@pytest.mark.parametrize(
    ("statement", "level"),
    [
        ("if quick: kw['gpus'] = 1", "unsafe"),
        ("kw['gpus'] = 1; save(kw)", "manual"),
        ("kw['gpus'] = 1; kw['devices'] = 1", "manual"),
        ("kw['gpus'] = find()", "manual"),
        ("kw.update(gpus=1)", "safe"),
        ("kw.update({'gpus': 1})", "safe"),
        ("kw.setdefault('gpus', 1)", "manual"),
        ("kw |= {'gpus': 1}", "unsafe"),
        ("kw = {**kw, 'gpus': 1}", "manual"),
        ("kw.update(load(), gpus=1)", "unsafe"),
        ("kw['gpus'] = 1; del kw['gpus']", "manual"),
        ("kw['gpus'] = 1; kw.pop('gpus')", "manual"),
        ("kw['gpus'] = 1; other(**kw)", "manual"),
        ("kw['gpus'] = 1; Trainer(accelerator='cpu', **kw)", "manual"),
    ],
)
def test_keys_set_in_other_ways_are_named(statement: str, level: str) -> None:
    assert findings(HEAD + BUILD.format(statement)) == [(5, level)]
    guarded = "if version.parse(pl.__version__) < version.parse('2.0'):\n        kw['gpus'] = 1"
    assert findings(HEAD + BUILD.format(guarded)) == []


@pytest.mark.parametrize(
    "source",
    [
        "def params():\n    return {'gpus': 1}\nTrainer(**params())\nprint(params())\n",
        "@attr.s\nclass Params:\n    gpus = attr.ib(default=1)\nTrainer(**attr.asdict(Params()))\n",
        "@dataclass\nclass Params:\n    gpus: int = 1\nTrainer(**vars(Params(2)))\n",
        "@dataclass\nclass Params:\n    gpus: int = 1\nTrainer(**vars(Params()))\nprint(Params.gpus)\n",
        "config = {'trainer': {'gpus': 1}, 'model': {}}\nTrainer(**config['trainer'])\n",
        "config = {'trainer': dict(gpus=1)}\nTrainer(**config.get('trainer'))\n",
        "class Params:\n    def __init__(self):\n        self.gpus = 1\nTrainer(**Params().__dict__)\n",
        "parser.add_argument('--gpus')\nargs = parser.parse_args()\nTrainer(**vars(args))\n",
        "@dataclass\nclass Params:\n    _target_: str = 'pytorch_lightning.Trainer'\n    gpus: int = 1\n",
    ],
)
def test_keys_that_come_from_elsewhere_are_named(source: str) -> None:
    assert [level for _, level in findings(HEAD + source)] == ["manual"]
    assert findings(HEAD + source.replace("gpus", "devices")) == []


def test_a_keyword_that_a_function_hands_on_follows() -> None:
    text = f"{HEAD}def build(**kw):\n    return Trainer(**kw)\nbuild(gpus=1)\n"
    assert rewritten({"train.py": text}, RULE)["train.py"].endswith('build(accelerator="gpu", devices=1)\n')


METHOD = """\
class Run:
    def options(self, quick):
        return {'gpus': 2, 'max_epochs': 1}

    def build(self, quick):
        return Trainer(**self.options(quick))
"""
FIELDS = '    accelerator: str = "gpu"\n    devices: int = 1\n'
TWO = "{'accelerator': \"gpu\", 'devices': 2}"
KEPT = (
    "class Run:\n    def __init__(self):\n        self.kw = {'gpus': 2}\n"
    "    def go(self):\n        Trainer(**self.kw)\n"
)
NESTED = """\
@dataclass
class Machine:
    gpus: int = 1


@dataclass
class Config:
    machine: Machine = field(default_factory=Machine)


"""


@pytest.mark.parametrize(
    ("body", "wanted", "level"),
    [
        (METHOD, "return {'accelerator': \"gpu\", 'devices': 2, 'max_epochs': 1}", "unsafe"),
        (f"{METHOD}\n    def show(self):\n        print(self.options(True))\n", "'gpus': 2", "manual"),
        (f"{METHOD}\n\nclass Other(Run):\n    def options(self, quick):\n        return {{}}\n", "'gpus': 2", "manual"),
        ("def params():\n    return {'gpus': 2}\nTrainer(**params())\n", f"return {TWO}", "unsafe"),
        ("def f(x):\n    kw = {'gpus': 2} if x else {'gpus': 0}\n    Trainer(**kw)\n",
         f"{TWO} if x else {{'accelerator': \"cpu\", 'devices': 1}}", "unsafe"),
        ("def f(x):\n    Trainer(**({'gpus': 2} if x else {}))\n", f"({TWO} if x else {{}})", "unsafe"),
        ("base = {'gpus': 1}\nTrainer(**{**base, 'gpus': 4})\n",
         "{'accelerator': \"gpu\", 'devices': 1}\nTrainer(**{**base, 'accelerator': \"gpu\", 'devices': 4})", "unsafe"),
        ("Trainer(**{'gpus': 2, 'accelerator': 'ddp'})\n",
         "{'devices': 2, 'strategy': 'ddp', 'accelerator': \"gpu\"}", "safe"),
        ("Trainer(**{'gpus': 2, **rest})\n", "{'accelerator': \"gpu\", 'devices': 2, **rest}", "unsafe"),
        ("Trainer(**{\n    'gpus': 2,  # both\n    'a': 1,\n})\n",
         "{\n    'accelerator': \"gpu\",\n    'devices': 2,  # both\n    'a': 1,\n}", "safe"),
        (KEPT, f"self.kw = {TWO}", "unsafe"),
        (f"{KEPT}    def show(self):\n        return self.kw\n", "'gpus': 2", "manual"),
        (f"{NESTED}def main(cfg: Config):\n    Trainer(**asdict(cfg.machine))\n", FIELDS, "unsafe"),
        (f"{NESTED}cfg = Config()\nTrainer(**cfg.machine.__dict__)\n", FIELDS, "unsafe"),
        (f"{NESTED}cfg = cli(Config)\nTrainer(**vars(cfg.machine))\n", FIELDS, "unsafe"),
        (f"{NESTED}class Run:\n    def __init__(self, cfg: 'Config'):\n        self.cfg = cfg\n"
         "    def go(self):\n        Trainer(**vars(self.cfg.machine))\n", FIELDS, "unsafe"),
    ],
)  # fmt: skip
def test_what_reaches_a_trainer_alone_is_exchanged_where_it_is_set(body: str, wanted: str, level: str) -> None:
    made = run_rules({"train.py": HEAD + body}, RULE, unsafe=True)
    assert not made.bugs
    assert {item.fix for item in made.findings} == {level}
    after = made.final().get("train.py", (HEAD + body).encode()).decode()
    assert wanted in after
    ast.parse(after)


SET = "def go():\n    {}kw['gpus'] = 1\n    return Trainer(**kw)\n"


@pytest.mark.parametrize(
    ("body", "levels"),
    [
        ("kw = {}\n" + SET.format(""), ["unsafe"]),
        ("kw = {}\n" + SET.format("global kw; "), ["unsafe"]),
        ("kw = {}\n" + SET.format("") + "def show():\n    print(kw)\n", ["manual"]),
        ("def go(**kw):\n    kw['gpus'] = 1\n    return Trainer(**kw)\n", ["unsafe"]),
        ("def go(**kw):\n    kw['gpus'] = 1\n    log(kw)\n    return Trainer(**kw)\n", ["manual"]),
        (f"{KEPT}print(getattr(Run(), 'kw'))\n", ["manual"]),
        ("kw = {'gpus': 1}\nif pl.__version__ < '2':\n    Trainer(**kw)\nelse:\n    Trainer(devices=1)\n", []),
        ("def go(x):\n    kw = {'gpus': 2}\n    if x:\n        kw['gpus'] = 0\n    Trainer(**kw)\n", ["unsafe"] * 2),
        ("def go():\n    kw = {'gpus': 2}\n    kw['gpus'] = f()\n    Trainer(**kw)\n", ["manual", "manual"]),
    ],
)  # fmt: skip
def test_who_else_gets_a_dictionary(body: str, levels: list[str]) -> None:
    assert [level for _, level in findings(HEAD + body)] == levels


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("other", "from train import base\n\nprint(base['gpus'])\n"),
        ("other", "import train\n\nTool(**train.base)\n"),
    ],
)
def test_a_dictionary_that_another_file_speaks_of_stays(name: str, body: str) -> None:
    text = HEAD + "base = {'gpus': 1}\nTrainer(**base)\n"
    assert findings(text) == [(3, "safe")]
    assert findings(text, **{name: body}) == [(3, "manual")]


def test_a_field_that_another_file_fills_stays() -> None:
    text = HEAD + f"{NESTED}cfg = Config()\nTrainer(**cfg.machine.__dict__)\n"
    assert [level for _, level in findings(text, run="from train import Machine\n\nMachine(2)\n")] == ["manual"]
    assert [level for _, level in findings(text, run="parser.add_argument('--gpus')\n")] == ["manual"]


def test_partial_and_subclasses() -> None:
    text = HEAD + (
        "from functools import partial\nfrom engine import Engine, Other\n"
        "partial(Trainer, gpus=1)\nEngine(gpus=1)\nOther(gpus=1)\n"
        "class Mine(Trainer):\n    def __init__(self, gpus):\n        super().__init__(gpus=gpus)\n"
    )
    engine = (
        "from pytorch_lightning import Trainer\nclass Engine(Trainer):\n"
        "    def __init__(self, **o):\n        o.update(devices=1)\n        super().__init__(**o)\n"
        "class Other:\n    pass\n"
    )
    assert findings(text, engine=engine) == [(5, "manual"), (6, "manual"), (10, "unsafe")]


@pytest.mark.parametrize(
    ("taken", "given", "wanted", "level"),
    [
        ("gpus: int = 1", "gpus=gpus", 'accelerator="gpu" if gpus else "cpu", devices=gpus or 1', "safe"),
        ("a=1", "gpus=2", 'accelerator="gpu", devices=2', "safe"),
        ("gpus=1", "gpus=gpus", 'accelerator="gpu" if gpus else "cpu", devices=gpus or "auto"', "unsafe"),
        ("**more", "gpus=2, **more", 'accelerator="gpu", devices=2, **more', "unsafe"),
        ("gpus=1, accelerator=None", "gpus=gpus, accelerator=accelerator", "", "manual"),
    ],
)
def test_a_constructor_that_calls_lightnings_is_a_call_of_trainer(
    taken: str, given: str, wanted: str, level: str
) -> None:
    text = f"{HEAD}class Mine(Trainer):\n    def __init__(self, {taken}):\n        super().__init__({given})\n"
    [finding] = run_rules({"train.py": text}, rule("LIT101")).findings
    assert finding.fix == level
    after = rewritten({"train.py": text}, rule("LIT101"), unsafe=True)["train.py"]
    assert after == text.replace(f"__init__({given})", f"__init__({wanted or given})")


INIT = "    def __init__(self, {}):\n        {}\n        super().__init__({})\n"


@pytest.mark.parametrize(
    ("body", "level"),
    [
        ("    pass\n", "safe"),
        (INIT.format("a=1, **rest", "rest['callbacks'] = []", "b=a, **rest"), "safe"),
        (
            INIT.format("accelerator=None, devices=None, **o", "pass", "accelerator=accelerator, devices=devices, **o"),
            "safe",
        ),
        (INIT.format("accelerator=None, **o", "pass", "accelerator='cpu', **o"), "manual"),
        (INIT.format("accelerator=None, **o", "accelerator = 'cpu'", "accelerator=accelerator, **o"), "manual"),
        (INIT.format("**o", "o['devices'] = 1", "**o"), "manual"),
        (INIT.format("**o", "o.update(x)", "**o"), "manual"),
        (INIT.format("**o", "pass", "devices=2, **o"), "manual"),
        (INIT.format("**o", "pass", "max_epochs=1"), "manual"),
    ],
)
def test_a_trainer_of_the_project_that_hands_on_what_it_is_given(body: str, level: str) -> None:
    engine = f"from pytorch_lightning import Trainer\nclass Engine(Trainer):\n{body}"
    text = "from engine import Engine\nEngine(gpus=1, max_epochs=3)\n"
    assert (2, level) in findings(text, engine=engine)


@pytest.mark.parametrize("below", ["", "class Engine(Own):\n    pass\n"])
def test_a_trainer_of_the_project_that_takes_it_itself(below: str) -> None:
    name = "Own" if below else "Engine"
    own = f"class {name}(Trainer):\n{INIT.format('gpus=1, **o', 'pass', 'gpus=gpus, **o')}"
    made = run_rules(
        {"engine.py": f"{HEAD}{own}{below}", "train.py": "from engine import Engine\nEngine(gpus=1, max_epochs=3)\n"},
        rule("LIT101"),
    )
    assert {(item.path, item.fix) for item in made.findings} == {("engine.py", "unsafe")}


@pytest.mark.parametrize(
    ("asked", "level"),
    [
        ("gpus = kw.get('gpus', 1)", "manual"),
        ("gpus = kw['gpus'] if 'gpus' in kw else 1", "manual"),
        ("gpus = 1 if 'accelerator' not in kw else None", "manual"),
        ("gpus = 2 if kw.get('quick') else 1", "unsafe"),
        ("gpus = other.get('gpus', 1)", "unsafe"),
        ("gpus = kw.pop('gpus', 1)", "unsafe"),
    ],
)
def test_what_is_handed_on_behind_it_may_hold_it_too(asked: str, level: str) -> None:
    text = HEAD + f"def build(other, **kw):\n    {asked}\n    return Trainer(**{{**dict(gpus=gpus), **kw}})\n"
    (found,) = run(text).findings
    assert found.fix == level
    assert ("`kw`, which is passed on with it, may hold" in found.reason) is (level == "manual")


HELD = HEAD + "def build(n: int, quick):\n    how = {}\n    return Trainer(gpus=n, accelerator=how)\n"


@pytest.mark.parametrize(
    ("value", "strategy"),
    [
        ("'ddp' if n > 1 else None", 'how or "auto"'),
        ("'ddp'", "how"),
        ("'ddp' if n > 1 else 'ddp_spawn'", "how"),
        ("None if quick else ('ddp' if n > 1 else None)", 'how or "auto"'),
    ],
)
def test_a_strategy_in_a_variable_is_named_by_it(value: str, strategy: str) -> None:
    text = HELD.format(value)
    after = text.replace(
        "gpus=n, accelerator=how", f'devices=n or 1, strategy={strategy}, accelerator="gpu" if n else "cpu"'
    )
    assert rewritten({"train.py": text}, rule("LIT101"))["train.py"] == after


@pytest.mark.parametrize(
    "value",
    ["'dp' if n > 1 else None\n    n = 5", "'horovod' if n > 1 else None", "'ddp_cpu'", "find()",
     "'ddp' if n > 1 else find()"],
)  # fmt: skip
def test_what_a_variable_may_hold_that_is_called_otherwise_stays(value: str) -> None:
    made = run_rules({"train.py": HELD.format(value)}, RULE, unsafe=True)
    assert made.changes == () and [item.fix for item in made.findings] == ["manual"]


@pytest.mark.parametrize("value", ["accelerator='dp' if n > 1 else None", "accelerator=None if n < 2 else 'dp'"])
def test_a_choice_of_what_is_gone_is_one_of_what_succeeds_it(value: str) -> None:
    text = HELD.format("0").replace("accelerator=how", value)
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    choice = value.removeprefix("accelerator=").replace("'dp'", "'ddp'").replace("None", "'auto'")
    given = f'devices=n or 1, strategy={choice}, accelerator="gpu" if n else "cpu"'
    assert made.final()["train.py"].decode() == text.replace(f"gpus=n, {value}", given)
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert made.findings[0].reason.startswith("the same devices") and "batch of its own" in made.findings[0].reason


BESIDE = "from pytorch_lightning import Trainer\n\n\ndef go(x, more):\n    MADE\n    return Trainer(gpus=2, **kw)\n"


@pytest.mark.parametrize(
    ("made", "level"),
    [
        ("kw = {'precision': 16} if x else {}", "safe"),
        ("if x:\n        kw = {'precision': 16}\n    else:\n        kw = {}", "safe"),
        ("kw = dict(logger=False)\n    kw['max_epochs'] = x", "safe"),
        ("kw = {'precision': 16, **more}", "unsafe"),
        ("kw = more", "unsafe"),
    ],
)
def test_what_comes_by_two_stars_beside_it_counts_where_it_is_about_the_hardware(made: str, level: str) -> None:
    found = run_rules({"a.py": BESIDE.replace("MADE", made)}, rule("LIT101"), unsafe=True)
    assert [item.fix for item in found.findings] == [level]
    assert 'Trainer(accelerator="gpu", devices=2, **kw)' in found.final()["a.py"].decode()


TWICE = """\
import torch
from pytorch_lightning import Trainer


def run(model, n):
    options = {{"gpus": n, "max_epochs": 2}}
    first = Trainer(**options)
    first.fit(model)
    options = {{"gpus": {second}, "logger": False}}
    {line}
    trainer = Trainer(**options)
    trainer.test(model)
"""


def test_a_name_for_one_dictionary_after_the_other() -> None:
    text = TWICE.format(second="n", line='options["deterministic"] = True').replace("(model, n)", "(model, n: int)")
    made = rewritten({"a.py": text}, rule("LIT101"))["a.py"]
    assert made == text.replace('"gpus": n', '"accelerator": "gpu" if n else "cpu", "devices": n or 1')
    assert run_rules({"a.py": made}, rule("LIT101")).changes == ()


def test_what_runs_when_it_is_called_may_see_the_last_of_them() -> None:
    text = TWICE.format(second="n", line="print(options)").replace("(model, n)", "(model, n: int)")
    text = text.replace(
        "    first = Trainer(**options)\n    first.fit(model)\n", "    make = lambda: Trainer(**options)\n"
    )
    found = run_rules({"a.py": text}, rule("LIT101")).findings
    assert found and {finding.fix for finding in found} <= {"manual", "unsafe"}


@pytest.mark.parametrize(
    ("line", "levels"),
    [
        ('options["gpus"] = None', ["safe", "unsafe", "unsafe"]),
        ("options.update(find())", ["safe", "unsafe"]),
        ("options = dict(options)", ["manual", "manual"]),
        ("if n:\n        options = {}", ["unsafe", "unsafe"]),
    ],
)
def test_what_is_put_into_the_second_is_not_in_the_first(line: str, levels: list[str]) -> None:
    text = TWICE.format(second="n", line=line).replace("(model, n)", "(model, n: int)")
    found = run_rules({"a.py": text}, rule("LIT101")).findings
    assert [finding.fix for finding in found] == levels


@pytest.mark.parametrize(
    ("made", "level"),
    [
        ("more = dict()", "safe"),
        ("more = {}", "safe"),
        ("more = {}\n    look(more)", "unsafe"),
        ("more = {}\n    more[key] = 1", "unsafe"),
        ("more = find()", "unsafe"),
        ("more = {}\n    if key:\n        more = find()", "unsafe"),
    ],
)
def test_what_an_empty_dictionary_gives_is_nothing(made: str, level: str) -> None:
    text = f"from pytorch_lightning import Trainer\n\n\ndef go(key):\n    {made}\n    return Trainer(gpus=2, **more)\n"
    assert {finding.fix for finding in run_rules({"a.py": text}, rule("LIT101")).findings} == {level}


@pytest.mark.parametrize(
    ("parameters", "levels"),
    [("gpus=None, **more", []), ("**more", ["manual"]), ("devices=1, **more", ["manual"])],
)
@pytest.mark.parametrize("decorator", ["", "    @staticmethod\n"])
def test_a_method_that_takes_gpus_itself_hands_them_on_to_nobody(
    parameters: str, levels: list[str], decorator: str
) -> None:
    own = parameters if decorator else f"self, {parameters}"
    text = (
        "from pytorch_lightning import Trainer\n\n\nclass Model:\n"
        f"{decorator}    def build({own}):\n        return Trainer(max_epochs=3, **more)\n\n"
        "    def fit(self, n):\n        return self.build(gpus=n)\n"
    )
    assert [item.fix for item in run_rules({"a.py": text}, rule("LIT101")).findings] == levels
