"""LIT101: numbers of devices that the program works out, in this file and in others."""

from __future__ import annotations

import pytest

from tests.codemods.rules.trainer.test_lit101 import HEAD, findings, run
from tests.codemods.support import rewritten, rule, run_rules

OTHER = (
    "import torch\nALL = torch.cuda.device_count()\nREAD = input()\n"
    "FEW = min(2, torch.cuda.device_count())\nNAMES = ','.join(sorted('01'))\n"
    "class Settings:\n    gpus = torch.cuda.device_count()\n"
)
IMPORTS = HEAD + "import torch\nimport there\nfrom there import ALL, FEW, NAMES, Settings\n"


@pytest.mark.parametrize("value", ["ALL", "FEW", "there.FEW", "Settings.gpus", "there.Settings.gpus"])
def test_counts_of_another_file_are_numbers(value: str) -> None:
    text = IMPORTS + f"Trainer(gpus={value})\n"
    assert findings(text, there=OTHER) == [(6, "safe")]
    after = run(text, there=OTHER).final()["train.py"].decode()
    assert f'Trainer(accelerator="gpu" if {value} else "cpu", devices={value} or 1)' in after


@pytest.mark.parametrize(
    "statements",
    [
        "n = torch.cuda.device_count() - 1",
        "n = 2 if torch.cuda.is_available() else 0",
        "n = 0\nif torch.cuda.is_available():\n    n = torch.cuda.device_count()",
        "n = [int(i) for i in read().split(',')] if quick else None",
        "n = None if quick else torch.cuda.device_count()",
        "if torch.cuda.is_available():\n    n = max(1, torch.cuda.device_count() // 2)\nelse:\n    n = None",
    ],
)
def test_all_that_a_name_is_bound_to_are_numbers(statements: str) -> None:
    assert {level for _, level in findings(f"{IMPORTS}{statements}\nTrainer(gpus=n)\n")} == {"safe"}


@pytest.mark.parametrize(
    "statements",
    [
        "n = 2\nif torch.cuda.is_available():\n    n = '0'",
        "n = torch.cuda.device_count()\nif quick:\n    n = read()",
        "n = min(2, read())",
        "n = NAMES",
        "n = [int(i) for i in read()] if quick else None",
        "n = read().split(',')[0] if quick else None",
        "n = read() + 1",
        "n = torch.cuda.device_count() / 2",
        "n = there.UNKNOWN",
        "n = there.READ",
    ],
)
def test_what_may_be_text_is_not_surely_rewritten(statements: str) -> None:
    found = findings(f"{IMPORTS}{statements}\nTrainer(gpus=n)\n", there=OTHER)
    assert found and "safe" not in {level for _, level in found}


def test_what_another_file_sets_is_not_surely_a_number() -> None:
    setting = "import there\nthere.ALL = input()\n"
    assert findings(IMPORTS + "Trainer(gpus=there.ALL)\n", there=OTHER, cli=setting) == [(6, "unsafe")]


def test_a_parameter_is_taken_for_what_the_calls_of_the_project_give() -> None:
    text = IMPORTS + "def build(gpus):\n    return Trainer(gpus=gpus)\nbuild(torch.cuda.device_count())\n"
    assert findings(text) == [(7, "unsafe")]


@pytest.mark.parametrize(
    ("parameter", "level"), [("n: int", "safe"), ("n: 'int | None'", "safe"), ("n", "unsafe"), ("n: str", "unsafe")]
)
def test_a_count_beside_an_accelerator_that_is_named(parameter: str, level: str) -> None:
    text = IMPORTS + f"def build({parameter}):\n    return Trainer(gpus=n, accelerator='gpu')\n"
    (finding,) = run_rules({"a.py": text}, rule("LIT101")).findings
    after = rewritten({"a.py": text}, rule("LIT101"), unsafe=True)["a.py"]
    assert finding.fix == level and after.endswith("    return Trainer(devices=n or \"auto\", accelerator='gpu')\n")
    other = text.replace("'gpu'", "'cpu'")
    assert rewritten({"a.py": other}, rule("LIT101"), unsafe=True)["a.py"] == other


COMPARED = "def go(gpus, args):\n{}    return Trainer(gpus=gpus)\n"


@pytest.mark.parametrize(
    "before",
    [
        "    if gpus > 1:\n        raise NotImplementedError\n",
        "    assert 0 <= gpus\n",
        "    if gpus >= 1 and args:\n        print(gpus)\n",
        "    gpus = read()\n    if gpus < 1:\n        gpus = None\n    if gpus > 0:\n        print()\n",
    ],
)
def test_what_is_compared_with_a_number_before_is_one(before: str) -> None:
    assert findings(HEAD + COMPARED.format(before)) == [(HEAD.count("\n") + before.count("\n") + 2, "safe")]


@pytest.mark.parametrize(
    "before",
    [
        "    if gpus == 1:\n        print()\n",
        "    if args and gpus > 1:\n        print()\n",
        "    if args:\n        if gpus > 1:\n            print()\n",
        "    if gpus > 1:\n        print()\n    gpus = read()\n",
        "    if gpus > args:\n        print()\n",
        "    if args.gpus > 1:\n        print()\n",
        "    def later():\n        assert gpus > 1\n",
    ],
)
def test_what_may_not_be_compared_before_may_be_text(before: str) -> None:
    assert [level for _, level in findings(HEAD + COMPARED.format(before))] == ["unsafe"]


@pytest.mark.parametrize(
    "around",
    [
        "    assert gpus > 1\n    for each in args:\n        Trainer(gpus=gpus)\n        gpus = each\n",
        "    assert gpus > 1\n    while args:\n        Trainer(gpus=gpus)\n        gpus = args.pop()\n",
        "    assert gpus > 1\n    with args as gpus:\n        Trainer(gpus=gpus)\n",
        "    assert gpus > 1\n    try:\n        gpus = args()\n    except OSError:\n        Trainer(gpus=gpus)\n",
        "    assert gpus > 1\n    made = lambda: Trainer(gpus=gpus)\n    gpus = args()\n    return made()\n",
        "    assert gpus > 1\n    made = lambda gpus: Trainer(gpus=gpus)\n    return made(args)\n",
    ],
)
def test_what_is_given_anew_after_the_comparison_may_be_text(around: str) -> None:
    assert [level for _, level in findings(f"{HEAD}def go(gpus, args):\n{around}")] == ["unsafe"]


def test_a_comparison_before_a_loop_that_leaves_it_alone_counts() -> None:
    text = f"{HEAD}def go(gpus, args):\n    assert gpus > 1\n    for each in args:\n        Trainer(gpus=gpus)\n"
    assert [level for _, level in findings(text)] == ["safe"]


def test_a_comparison_around_the_call_counts_too() -> None:
    text = HEAD + "def go(args):\n    if args.gpus > 1:\n        return Trainer(gpus=args.gpus)\n"
    assert {level for _, level in findings(text)} == {"safe"}


@pytest.mark.parametrize(
    ("beside", "level"),
    [("'ddp' if args.gpus > 1 else None", "safe"), ("'ddp' if args.gpus and args.gpus > 1 else None", "unsafe")],
)
def test_a_comparison_in_the_call_itself_counts_too(beside: str, level: str) -> None:
    text = HEAD + f"def go(args):\n    return Trainer(gpus=args.gpus, logger={beside})\n"
    assert {found for _, found in findings(text)} == {level}


@pytest.mark.parametrize(
    ("given", "now"),
    [
        ("gpus=len(read().split(','))", "accelerator=\"gpu\", devices=len(read().split(','))"),
        ("gpus=len(read().split(',')), accelerator='gpu'", "devices=len(read().split(',')), accelerator='gpu'"),
    ],
)
def test_the_parts_of_a_text_are_one_at_least(given: str, now: str) -> None:
    text = f"{IMPORTS}Trainer({given})\n"
    assert findings(text) == [(6, "safe")]
    assert f"Trainer({now})" in run(text).final()["train.py"].decode()


@pytest.mark.parametrize("parts", ["read().split()", "read().split(None)", "read().split(*given)", "split(',')"])
def test_parts_that_may_be_none(parts: str) -> None:
    assert findings(f"{IMPORTS}Trainer(gpus=len({parts}))\n") == [(6, "manual")]
