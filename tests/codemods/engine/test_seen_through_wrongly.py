"""What the normal form of one file must not be trusted with: what other files change, what somebody answers, what a
comment says, and names that are other ones in a helper. Nothing of it is rewritten unasked."""

from __future__ import annotations

import pytest

from tests.codemods.backward_programs import BOTH, FIRST, PAIR, PEN, SECOND
from tests.codemods.support import rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\n\n\n"
RUN = "trainer = pl.Trainer(stochastic_weight_avg={0})\n"
METHOD = f"    def run(self):\n        {RUN.format('self._value')}"
HELD = {
    "an object whose method sets what it reads": (
        f"{HEAD}class Config:\n    value = None\n\n    def load(self, read):\n        for key, value in read():\n"
        "            setattr(self, key, value)\n\n\nconfig = Config()\nconfig.load(read)\n" + RUN.format("config.value")
    ),
    "a dataclass that is parsed": (
        f"from dataclasses import dataclass\n{HEAD}@dataclass\nclass Config:\n    value: str = None\n\n"
        "    def parse(self, words):\n        for word in words:\n            setattr(self, *word.split('='))\n\n\n"
        "config = Config()\nconfig.parse(words)\n" + RUN.format("config.value")
    ),
    "an object whose dictionary is filled": (
        f"{HEAD}class Config:\n    value = None\n\n    def __init__(self):\n        self.__dict__.update(read())\n\n\n"
        "config = Config()\n" + RUN.format("config.value")
    ),
    "a namespace whose dictionary is filled": (
        f"from types import SimpleNamespace\n{HEAD}given = SimpleNamespace(value=None)\n"
        "given.__dict__.update(read())\n" + RUN.format("given.value")
    ),
    "an item of a dictionary that the module fills": (
        f'{HEAD}GIVEN = {{"value": None}}\nGIVEN.update(read())\n\n\ndef run():\n    ' + RUN.format('GIVEN["value"]')
    ),
    "a constant of another class": (
        f"{HEAD}class Defaults:\n    _value = None\n\n\nclass Run:\n    def __init__(self, value):\n"
        f"        self._value = value\n\n{METHOD}"
    ),
}


def levels(files: dict[str, str], code: str = "LIT110") -> set[str]:
    """How sure a rule's findings are, none of which is rewritten."""
    made = run_rules(files, rule(code))
    assert made.changes == () and made.bugs == ()
    return {item.fix for item in made.findings}


@pytest.mark.parametrize("name", HELD)
def test_what_may_be_changed_from_elsewhere_is_no_constant(name: str) -> None:
    assert levels({"a.py": HELD[name]}) == {"manual"}


STEP = rule("BWD002").examples[3].before
ASSUMED = {
    "an instance by another name": STEP.partition("    def configure")[0].replace("self", "this")
    + "".join(STEP.partition("    def configure")[1:]),
    "a method that may be missing": STEP.replace(
        "        g.step()\n", '        if hasattr(g, "step"):\n            g.step()\n'
    ),
    "a method that may be no method": STEP.replace(
        "        d.step()\n", "        if callable(d.step):\n            d.step()\n"
    ),
}


@pytest.mark.parametrize("name", ASSUMED)
def test_what_is_only_probable_is_told_and_not_rewritten(name: str) -> None:
    assert ASSUMED[name] != STEP
    made = run_rules({"a.py": ASSUMED[name]}, rule("BWD002"))
    assert made.changes == () and [item.fix for item in made.findings] == ["manual"]


def test_a_property_of_its_own_class_alone_is_known_where_no_file_says_otherwise() -> None:
    text = f"{HEAD}class Run:\n    @property\n    def _value(self):\n        return None\n\n{METHOD}"
    assert "stochastic_weight_avg" not in rewritten({"a.py": text}, rule("LIT110"))["a.py"]
    below = "from a import Run\n\n\nclass Full(Run):\n    @property\n    def _value(self):\n        return True\n"
    for other in (
        below,
        "from a import Run\n\nRun._value = True\n",
        "from a import Run\n\nsetattr(Run, '_value', 1)\n",
    ):
        assert levels({"a.py": text, "b.py": other}) == {"manual"}


@pytest.mark.parametrize("line", ["from b import *\n", "globals().update(read())\n", "exec(read())\n"])
def test_a_constant_that_a_line_of_its_module_may_set_is_not_known(line: str) -> None:
    constant, use = f"{HEAD}VALUE = None\n", RUN.format("VALUE")
    assert levels({"a.py": f"{constant}{line}{use}"}) == {"manual"}
    assert "stochastic_weight_avg" not in rewritten({"a.py": constant + use}, rule("LIT110"))["a.py"]


OVERRIDDEN = {
    "a function of the module": (
        f"{HEAD}def value():\n    return None\n\n\ndef run():\n    " + RUN.format("value()"),
        "import a\n\na.value = read\na.run()\n",
    ),
    "a dictionary of the module": (
        f'{HEAD}GIVEN = {{"value": None}}\n\n\ndef run():\n    ' + RUN.format('GIVEN["value"]'),
        "import a\n\na.GIVEN.update(read())\na.run()\n",
    ),
    "a dictionary that is passed on": (
        f'{HEAD}GIVEN = {{"value": None}}\n\n\ndef run():\n    ' + RUN.format('GIVEN.get("value")'),
        "from a import GIVEN, run\n\nload(GIVEN)\nrun()\n",
    ),
    "a namespace": (
        f"from types import SimpleNamespace\n{HEAD}given = SimpleNamespace(value=None)\n\n\ndef run():\n    "
        + RUN.format("given.value"),
        "from a import given, run\n\nload(given)\nrun()\n",
    ),
    "a dataclass": (
        f"from dataclasses import dataclass\n{HEAD}@dataclass\nclass Given:\n    value: str = None\n\n\n"
        "def run():\n    " + RUN.format("Given().value"),
        "from a import Given, run\n\nload(Given)\nrun()\n",
    ),
    "a class that is set": (
        f"{HEAD}class Given:\n    value = None\n\n\ndef run():\n    " + RUN.format("Given.value"),
        'from a import Given, run\n\nGiven.value = "full"\nrun()\n',
    ),
    "a class below": (
        f"{HEAD}class Run:\n    _value = None\n\n{METHOD}",
        'from a import Run\n\n\nclass Full(Run):\n    _value = "full"\n\n\nFull().run()\n',
    ),
}


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_what_another_file_may_set_is_not_known(name: str) -> None:
    text, other = OVERRIDDEN[name]
    assert levels({"a.py": text, "b.py": other}) == {"manual"}
    assert "stochastic_weight_avg" not in rewritten({"a.py": text}, rule("LIT110"))["a.py"]


ASKED = {
    "LIT101": (f"{HEAD}VALUE = 2\n\n\ndef run():\n    return pl.Trainer(gpus=VALUE)\n", "unsafe"),
    "LIT110": (f"{HEAD}VALUE = True\n\n\ndef run():\n    return pl.Trainer(checkpoint_callback=VALUE)\n", "manual"),
}
"""What reads a constant later, by rule, and what is found where that is not known."""
SET = {
    "an attribute": "a.VALUE = 0\na.run()\n",
    "a patch": "with patch.object(a, 'VALUE', 0):\n    a.run()\n",
    "a loop": "for a.VALUE in (0, 1):\n    a.run()\n",
    "a dictionary": "vars(a)['VALUE'] = 0\na.run()\n",
    "a dictionary by its name": "a.__dict__['VALUE'] = 0\na.run()\n",
    "names that are filled": "vars(a).update(VALUE=0)\na.run()\n",
    "a name of a dictionary": "for key, value in read():\n    setattr(a, key, value)\na.run()\n",
}


@pytest.mark.parametrize("code", ASKED)
@pytest.mark.parametrize("name", SET)
def test_a_value_that_another_file_may_set_is_not_known(name: str, code: str) -> None:
    text, level = ASKED[code]
    assert levels({"a.py": text, "b.py": f"import a\n\n{SET[name]}"}, code) == {level}


@pytest.mark.parametrize("code", ASKED)
def test_a_value_that_another_file_reads_is_known(code: str) -> None:
    read = "import a\n\nprint(a.VALUE)\nself.VALUE = 0\nfit(VALUE=a.VALUE)\n"
    made = run_rules({"a.py": ASKED[code][0], "b.py": read}, rule(code))
    assert [item.fix for item in made.findings] == ["safe"]


@pytest.mark.parametrize("name", SET)
def test_a_value_that_is_read_before_another_file_can_set_it_is_known(name: str) -> None:
    text = f"{HEAD}VALUE = 2\npl.Trainer(gpus=VALUE)\n"
    made = run_rules({"a.py": text, "b.py": f"import a\n\n{SET[name]}"}, rule("LIT101"))
    assert [item.fix for item in made.findings] == ["safe"]


GUARD = "if not hasattr(batch, 'penalty'):\n{0}    raise ValueError('no penalty')\n{0}"
ASSERTION = "assert isinstance(batch, dict)\n{0}"
PARTED = {
    "a guard that is answered": (
        f"        try:\n            {FIRST}\n            {{}}{SECOND}\n"
        "        except ValueError:\n            self.skipped += 1\n",
        GUARD.format(" " * 12),
    ),
    "a guard that the caller answers": (f"        {FIRST}\n        {{}}{SECOND}\n", GUARD.format(" " * 8)),
    "a guard that is suppressed": (
        f"        with contextlib.suppress(ValueError):\n            {FIRST}\n            {{}}{SECOND}\n",
        GUARD.format(" " * 12),
    ),
    "an assertion that is answered": (
        f"        try:\n            {FIRST}\n            {{}}{SECOND}\n"
        "        except AssertionError:\n            self.skipped += 1\n",
        ASSERTION.format(" " * 12),
    ),
}


@pytest.mark.parametrize("name", PARTED)
def test_passes_with_something_between_stay_apart(name: str) -> None:
    text, between = PARTED[name]
    made = run_rules({"a.py": f"import contextlib\n{PAIR.replace(BOTH, text.format(between))}"}, rule("BWD002"))
    assert BOTH in PAIR and made.changes == () and made.bugs == ()
    beside = rewritten({"a.py": f"import contextlib\n{PAIR.replace(BOTH, text.format(''))}"}, rule("BWD002"))
    assert "self.manual_backward(fit + 0.1 * penalty)\n" in beside["a.py"]


def test_a_name_that_a_helper_binds_is_not_that_of_another() -> None:
    text = (
        "        def first():\n            return self.manual_backward(fit, retain_graph=True)\n\n"
        "        def run():\n            NAME = penalty\n            first()\n"
        "            self.manual_backward(0.1 * NAME)\n\n        run()\n"
    )
    made = run_rules({"a.py": PAIR.replace(BOTH, text.replace("NAME", "fit"))}, rule("BWD002"))
    assert made.changes == () and made.bugs == () and [item.fix for item in made.findings] == ["manual"]
    other = rewritten({"a.py": PAIR.replace(BOTH, text.replace("NAME", "other"))}, rule("BWD002"))
    assert "self.manual_backward(fit + 0.1 * penalty)\n" in other["a.py"]


STEPS = rule("STP002").examples[0].before
COUNT = "        batches = len("
ABOVE = {
    "a guard": "        if not hasattr(self, 'dm'):\n            raise RuntimeError('call setup first')\n",
    "a guard with a comment": "        if not hasattr(self, 'dm'):  # by setup\n            raise ValueError('no')\n",
    "an assertion": "        assert self.dm is not None, 'call setup first'\n",
    "a class that nobody reads": "        class Kept:\n            pass\n\n",
    "a class that the line behind it reads": "        class Kept(dict):\n            pass\n\n        kept = Kept\n",
    "a name that is deleted": "        kept = 0\n        del kept\n",
}


@pytest.mark.parametrize("name", ABOVE)
def test_no_line_goes_with_a_body_that_does_not_say_it(name: str) -> None:
    made = run_rules({"a.py": STEPS.replace(COUNT, f"{ABOVE[name]}{COUNT}", 1)}, rule("STP002"))
    assert COUNT in STEPS and made.changes == () and made.bugs == ()
    assert [item.fix for item in made.findings] == ["manual"]


def test_a_comment_at_what_wraps_a_body_is_kept() -> None:
    last = STEPS.splitlines()[-1]
    plain = STEPS.replace(last, f"        with contextlib.nullcontext():  # as in the paper\n    {last}")
    plain = f"import contextlib\n{plain}"
    made = run_rules({"a.py": plain}, rule("STP002"))
    assert made.changes == () and [item.fix for item in made.findings] == ["manual"]
    bare = run_rules({"a.py": plain.replace("  # as in the paper", "")}, rule("STP002"))
    assert [item.fix for item in bare.findings] == ["safe"]


def test_a_helper_that_another_file_overrides_is_not_looked_into() -> None:
    text = STEPS.replace(f"{COUNT}self.train_dataloader())", "        batches = self._count()").rstrip()
    text += "\n\n    def _count(self):\n        return len(self.train_dataloader())\n"
    other = "from a import Model\n\n\nclass Other(Model):\n    def _count(self):\n        return 100\n"
    assert [item.fix for item in run_rules({"a.py": text}, rule("STP002")).findings] == ["safe"]
    made = run_rules({"a.py": text, "b.py": other}, rule("STP002"))
    assert made.changes == () and made.bugs == () and [item.fix for item in made.findings] == ["manual"]


CHILD = "class Child(Model):\n    "
AGAIN = {
    "a method below": f"{CHILD}def _pen(self, y):\n        self.seen = y\n",
    "a coroutine below": f"{CHILD}async def _pen(self, y):\n        self.seen = y\n",
    "a name below": f"{CHILD}_pen = None\n",
    "an import below": f"{CHILD}from c import _pen\n",
    "a class below": f"{CHILD}class _pen:\n        pass\n",
    "a call below": f"{CHILD}def training_step(self, batch, batch_idx):\n        self._pen(batch.mean())\n",
    "an object's own": f"{CHILD}def __init__(self):\n        self._pen = print\n",
    "a mixin": "class Mixin:\n    def _pen(self, y):\n        self.seen = y\n",
    "an attribute that is set": "Model._pen = print\n",
    "an attribute that is set by its name": 'setattr(Model, "_pen", print)\n',
    "an attribute that is patched": 'patch("a.Model._pen")\n',
    "an attribute that is patched by a keyword": "patch.multiple(Model, _pen=print)\n",
    "a call of an object": "Model()._pen(3)\n",
}


@pytest.mark.parametrize("name", AGAIN)
def test_a_method_that_anything_else_names_is_not_looked_into(name: str) -> None:
    alone = rewritten({"a.py": PEN}, rule("BWD002"))["a.py"]
    assert "self.manual_backward(fit + penalty)\n" in alone and "    def _pen(self, y):\n        pass\n" in alone
    other = run_rules({"a.py": PEN, "b.py": f"from a import Model\n\n\n{AGAIN[name]}"}, rule("BWD002"))
    assert other.changes == () and [item.fix for item in other.findings] == ["manual"]
    same = run_rules({"a.py": f"{PEN}\n\n{AGAIN[name]}"}, rule("BWD002"))
    assert same.changes == () and same.bugs == ()


def test_a_method_beside_another_class_is_looked_into() -> None:
    for files in ({"a.py": f"{PEN}\n\nclass Other:\n    pass\n"}, {"a.py": PEN, "b.py": "from a import Model\n"}):
        assert "    def _pen(self, y):\n        pass\n" in rewritten(files, rule("BWD002"))["a.py"]


MODEL = f"{HEAD}class M(pl.LightningModule):\n    def setup(self, stage):\n        "
LENT = {
    "a function that another file calls": (
        MODEL + 'self.a = again(self, "a")\n\n\ndef again(self, path):\n    return self.load_from_checkpoint(path)\n',
        "from a import again\nfrom c import Student\n\nagain(Student, 's')\n",
    ),
    "a method that another file calls": (
        MODEL + 'self.a = self._again(self, "a")\n\n    def _again(self, model, path):\n'
        "        return model.load_from_checkpoint(path)\n",
        "from a import M\nfrom c import Student\n\n\nclass N(M):\n    def new(self):\n"
        "        return self._again(Student, 's')\n",
    ),
    "a function that calls the object otherwise": (
        MODEL + 'self.a = again(self, "a")\n\n\ndef again(model, path):\n    return model.load_from_checkpoint(path)\n',
        "",
    ),
    "a method that calls its object otherwise": (
        MODEL + 'self.a = self._again(self, "a")\n\n    def _again(this, model, path):\n'
        "        return model.load_from_checkpoint(path)\n",
        "",
    ),
}


@pytest.mark.parametrize("name", LENT)
def test_text_in_a_helper_is_left_where_it_says_something_else(name: str) -> None:
    text, other = LENT[name]
    made = run_rules({"a.py": text, "b.py": other}, rule("LIT222"))
    assert made.changes == () and made.bugs == ()
    assert {item.fix for item in made.findings} == {"manual"}


def test_a_line_behind_a_statement_of_a_helper_says_its_names() -> None:
    before = rule("GRD006").examples[0].before
    line = "        self.bert = AutoModel.from_pretrained(name)\n"
    helper = "\n\n\ndef load(module, name):\n    module.bert = AutoModel.from_pretrained(name)\n"
    made = run_rules({"a.py": before.replace(line, "        load(self, name)\n").rstrip() + helper}, rule("GRD006"))
    assert line in before and made.changes == () and made.bugs == ()
    assert [item.fix for item in made.findings] == ["manual"]
    same = {"a.py": before.replace(line, "        load(self, name)\n").rstrip() + helper.replace("module", "self")}
    assert "(name)\n    self.bert.train()\n" in rewritten(same, rule("GRD006"))["a.py"]


def test_words_of_the_caller_are_other_ones_in_a_helper_that_takes_them_crosswise() -> None:
    text = PAIR.replace(BOTH, "        self._both(penalty, fit)\n")
    text += f"\n    def _both(self, fit, penalty):\n{BOTH}"
    after = rewritten({"a.py": text}, rule("BWD002"))["a.py"]
    assert "self._both(penalty, fit)" in after and "(fit + 0.1 * penalty)" in after


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("functools.partial(pl.Trainer, gpus=pick(), max_epochs=3)(gpus=2)", "LIT101"),
        ("functools.partial(pl.Trainer, weights_summary=register('x'))(weights_summary=None)", "LIT110"),
    ],
)
def test_a_keyword_of_a_partial_that_is_overridden_stays(call: str, code: str) -> None:
    made = run_rules({"a.py": f"import functools\nimport pytorch_lightning as pl\n\ntrainer = {call}\n"}, rule(code))
    assert made.changes == () and made.bugs == ()
    assert [item.fix for item in made.findings] == ["manual"] * 2


@pytest.mark.parametrize("code", ["LIT110", "LIT111"])
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("functools.partial(pl.Trainer, **options)({})", "functools.partial(pl.Trainer, **options)({})"),
        ("functools.partial(pl.Trainer, {})(**options)", "functools.partial(pl.Trainer, {})(**options)"),
        ("functools.partial(pl.Trainer, {0})({0})", None),
    ],
)
def test_a_keyword_beside_what_a_partial_is_given_is_told(call: str, expected: str | None, code: str) -> None:
    old, new = {
        "LIT110": ("weights_summary=None", "enable_model_summary=False"),
        "LIT111": ("tpu_cores=8", 'accelerator="tpu", devices=8'),
    }[code]
    head = "import functools\nimport pytorch_lightning as pl\n\ntrainer = "
    made = run_rules({"a.py": f"{head}{call.format(old)}\n"}, rule(code), unsafe=True)
    assert {item.fix for item in made.findings} == {"manual" if expected is None else "unsafe"}
    assert expected is None or made.final()["a.py"].decode() == f"{head}{expected.format(new)}\n"
    assert expected is not None or made.changes == ()


BACKWARD = rule("BWD001").examples[0].before


def test_what_stands_on_several_lines_is_read_in_brackets() -> None:
    call = "        loss.backward()\n"
    after = rewritten(
        {"a.py": BACKWARD.replace(call, "        (\n            loss\n            .backward(*[])\n        )\n")},
        rule("BWD001"),
    )["a.py"]
    assert call in BACKWARD and "self.manual_backward(loss)\n" in after
    text = f"{HEAD}trainer = pl.Trainer(\n    checkpoint_callback=not\n        True,\n)\n"
    assert "enable_checkpointing=not\n        True" in rewritten({"a.py": text}, rule("LIT110"))["a.py"]


def test_no_text_is_put_into_a_string_that_says_an_attribute() -> None:
    text = (
        "from pytorch_lightning.plugins import PrecisionPlugin\n\n\nclass P(PrecisionPlugin):\n    def f(self):\n"
        '        a = getattr(self, "master_params"                   )\n        return self.master_params, a\n'
    )
    made = run_rules({"a.py": text}, rule("LIT250"))
    assert made.bugs == () and [item.fix for item in made.findings] == ["manual", "safe"]
    assert text.splitlines()[5] in made.final()["a.py"].decode()


REBUILT = rule("GRD001").examples[1].before
TUNED = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(auto_lr_find=True)\n"


def test_a_function_of_another_package_may_be_read_before_it_is_called() -> None:
    call = "        return torch.tensor(loss, requires_grad=True)\n"
    text = REBUILT.replace(call, f"        make = torch.tensor\n{call.replace('torch.tensor', 'make')}")
    after = rewritten({"a.py": text}, rule("GRD001"))["a.py"]
    assert call in REBUILT and "        make = torch.tensor\n        return loss\n" in after


def test_what_a_release_takes_away_is_not_left_where_it_is_read() -> None:
    text = f"{TUNED}tune = trainer.tune\ntune(model)\n"
    made = run_rules({"a.py": text}, rule("LIT113"))
    assert made.changes == () and {item.fix for item in made.findings} == {"manual"}


def test_a_loop_that_calls_something_stays_one() -> None:
    loop = rule("BWD002").examples[1]
    assert loop.before != loop.after and "for loss in (fit, penalty):" in loop.before
    assert rewritten({"a.py": loop.before}, rule("BWD002"))["a.py"] == loop.after
