"""Arguments of which it is not proved what they are, or that they can be changed: left, or written so that it fits."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = (
    "import argparse\nfrom pytorch_lightning import Trainer\n"
    "from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint\n\n\n"
)
MADE = (
    "class T({base}):\n    @classmethod\n    def make(cls):\n        return cls({given})\n\n\n"
    "class D(T):\n    def {method}(self, *given, **more):\n        super().{method}()\n"
)


@pytest.mark.parametrize("method", ["__init__", "__new__", "make"])
@pytest.mark.parametrize(
    ("code", "base", "given"),
    [
        ("LIT110", "Trainer", "checkpoint_callback=False"),
        ("LIT101", "Trainer", "gpus=2"),
        ("LIT230", "ModelCheckpoint", "period=3"),
    ],
)
def test_a_class_method_may_build_a_class_below(code: str, base: str, given: str, method: str) -> None:
    assert refusals({"a.py": HEAD + MADE.format(base=base, given=given, method=method)}, code)
    plain = HEAD + MADE.format(base=base, given=given, method="other")
    assert given not in rewritten({"a.py": plain}, rule(code))["a.py"]


def test_a_class_below_in_another_file() -> None:
    text = HEAD + MADE.format(base="ModelCheckpoint", given="period=3", method="other")
    below = (
        "from a import T\n\n\nclass E(T):\n    def __init__(self, period):\n        super().__init__(monitor=period)\n"
    )
    [reason] = refusals({"a.py": text, "b.py": below}, "LIT230")
    assert "E, a subclass" in reason


WATCHING = (
    "class CK({base}):\n    def __init__(self, monitor='val_acc', **kw):\n        super().__init__({hands}, **kw)\n"
)


@pytest.mark.parametrize("base", ["ModelCheckpoint", "EarlyStopping"])
@pytest.mark.parametrize("hands", ["monitor=monitor", "monitor"])
def test_a_monitor_that_the_class_itself_gives(base: str, hands: str) -> None:
    text = HEAD + WATCHING.format(base=base, hands=hands) + "\n\nCK(mode='auto')\n"
    [reason] = refusals({"a.py": text}, "LIT230")
    assert ("cannot tell what it watches" in reason) is (hands == "monitor=monitor")
    assert 'write mode="max" if a higher value is better' in reason or f"it reaches {base} through `CK`" in reason


def test_a_monitor_that_is_seen() -> None:
    assert 'mode="min"' in rewritten({"a.py": f"{HEAD}ModelCheckpoint(mode='auto')\n"}, rule("LIT230"))["a.py"]


OWN = "class A:\n    {mode}\n\n    def make(self):\n        return ModelCheckpoint(monitor='val_acc', mode=self.mode)\n"
BOUND = ["mode = 'min'", "def mode(self):\n        return 'min'", "if x:\n        mode = 'min'"]


@pytest.mark.parametrize("below", BOUND)
@pytest.mark.parametrize("mode", ["mode = 'auto'", "def __init__(self):\n        self.mode = 'auto'"])
def test_an_attribute_that_a_class_below_has_of_its_own(below: str, mode: str) -> None:
    text = HEAD + OWN.format(mode=mode)
    assert run_rules({"a.py": text}, rule("LIT230")).changes
    for files in (
        {"a.py": f"{text}\n\nclass B(A):\n    {below}\n"},
        {
            "a.py": text,
            "b.py": f"from a import A, Trainer\n\n\nclass B(A):\n    {below}\n    y = Trainer(gpus=1)\n",
        },
    ):
        assert not [item for item in run_rules(files, rule("LIT230")).changes if item.path == "a.py"]
        [reason] = [item.reason for item in run_rules(files, rule("LIT230")).findings if item.path == "a.py"]
        assert "`B`, a subclass" in reason


AUTO = HEAD + OWN.format(mode="mode = 'auto'")
MIN = "    mode = 'min'\n"


@pytest.mark.parametrize(
    "others",
    [
        {"b.py": f"from a import A\n\n\nclass M:\n{MIN}\n\nclass B(M, A):\n    pass\n"},
        {"b.py": f"from a import A as Z\n\n\nclass B(Z):\n{MIN}"},
        {"b.py": f"import a\n\n\nclass B(a.A):\n{MIN}"},
        {"b.py": "from a import A\n\n\nclass B(A): ...\n", "c.py": f"from b import B\n\n\nclass C(B):\n{MIN}"},
    ],
)
def test_an_attribute_of_a_class_that_is_below_by_another_file(others: dict[str, str]) -> None:
    [reason] = refusals({"a.py": AUTO, **others}, "LIT230")
    assert "a subclass, has its own `mode`" in reason


@pytest.mark.parametrize(
    "other",
    [
        "from a import A\n\n\nclass B(A):\n    pass\n",
        f"class A:\n    pass\n\n\nclass B(A):\n{MIN}",
        f"from a import A\n\n\nclass B:\n{MIN}",
        f"from a import A\n\n\nclass B(A):\n    def mean(self):\n        mode = 1\n\n\nclass C:\n{MIN}",
    ],
)
def test_an_attribute_that_no_class_below_has_of_its_own(other: str) -> None:
    assert 'mode="max"' in rewritten({"a.py": AUTO, "b.py": other}, rule("LIT230"))["a.py"]


def test_a_class_method_whose_classes_below_leave_the_constructor() -> None:
    text = HEAD + MADE.format(base="Trainer", given="checkpoint_callback=False", method="other")
    plain = "from a import T\n\n\nclass E(T):\n    pass\n"
    assert "cls(enable_checkpointing=False)" in rewritten({"a.py": text, "b.py": plain}, rule("LIT110"))["a.py"]
    mixed = "from a import T\n\n\nclass M:\n    def __init__(self, **kw): ...\n\n\nclass E(M, T):\n    pass\n"
    assert refusals({"a.py": text, "b.py": mixed}, "LIT110")


FLAG = (
    "{before}p = argparse.ArgumentParser()\np.add_argument('--on', type={kind}, default=True)\nargs = p.parse_args()\n"
)
ASKED = FLAG + "Trainer(checkpoint_callback=args.on)\n"
BOOL = (
    "def asked(text):\n    if isinstance(text, bool):\n        return text\n    if text in ('yes', 'on'):\n"
    "        return True\n    return text == '1'\n\n\n"
)


@pytest.mark.parametrize(
    ("before", "kind", "safe"),
    [
        (BOOL, "asked", True),
        ("", "lambda text: text == 'yes'", True),
        ("", "lambda text: bool(strtobool(text))", True),
        ("def asked(text):\n    return ModelCheckpoint(text)\n\n\n", "asked", False),
        ("", "lambda text: ModelCheckpoint(text)", False),
        ("from other import asked\n", "asked", False),
    ],
)
def test_an_option_that_makes_a_text_a_bool(before: str, kind: str, safe: bool) -> None:
    text = HEAD + ASKED.format(before=before, kind=kind)
    assert ("enable_checkpointing=args.on" in rewritten({"a.py": text}, rule("LIT110"))["a.py"]) is safe


def test_a_profiler_is_spelled_for_whatever_an_option_gives() -> None:
    text = HEAD + FLAG.format(before="", kind="made") + "Trainer(profiler=args.on)\n"
    assert '"simple" if args.on is True else args.on or None' in rewritten({"a.py": text}, rule("LIT110"))["a.py"]


@pytest.mark.parametrize(
    ("code", "kind", "given"),
    [
        ("LIT230", "ModelCheckpoint", "period=4"),
        ("LIT101", "Trainer", "gpus=2"),
    ],
)
def test_a_partial_that_another_file_calls(code: str, kind: str, given: str) -> None:
    made = f"{HEAD}from functools import partial\n\nmake = partial({kind})\nprint(make, make)\n"
    for other in (f"from a import make\n\nmake({given})\n", f"import a\n\na.make({given})\n"):
        assert refusals({"a.py": made, "b.py": other}, code)


def test_a_factory_that_a_file_without_a_trainer_calls() -> None:
    text = f"{HEAD}def make(**kw):\n    return Trainer(**kw)\n\n\nmake()\n"
    files = {"a.py": text, "b.py": "from a import make\n\nmake(use_amp=True)\n"}
    assert {item.path for item in run_rules(files, rule("LIT110")).findings} == {"b.py"}
