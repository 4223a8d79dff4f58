"""LIT101: `gpus=` of a value that the call works out."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

TEXT = """\
import argparse
from pytorch_lightning import Trainer
from torch.cuda import device_count


def main(args, spare: int, queue):
    return Trainer(gpus={})


parser = argparse.ArgumentParser()
parser.add_argument("--number", type=int, default=0)
parser.add_argument("--ids", type=str)
main(parser.parse_args(), 1, [])
"""


@pytest.mark.parametrize(
    "value", ["device_count() * int(args.number)", "device_count()", "int(args.ids) * 2", "len(args.ids) + 1"]
)
def test_a_product_of_whole_numbers_is_one(value: str) -> None:
    text = TEXT.format(value)
    new = f'accelerator="gpu" if {value} else "cpu", devices={value} or 1'
    assert rewritten({"a.py": text}, rule("LIT101"))["a.py"] == text.replace(f"gpus={value}", new)


@pytest.mark.parametrize("value", ["eval(args.ids)", "args.ids + args.more", "args.number - 1", "eval(queue[0])"])
def test_what_may_be_anything_is_written_twice_by_an_unsafe_fix(value: str) -> None:
    text = TEXT.format(value)
    made = run_rules({"a.py": text}, rule("LIT101"), unsafe=True)
    new = f'accelerator="gpu" if {value} else "cpu", devices={value} or "auto"'
    assert made.final()["a.py"].decode() == text.replace(f"gpus={value}", new)
    assert [item.fix for item in made.findings] == ["unsafe"]


@pytest.mark.parametrize(
    "value",
    [
        "eval(queue.pop())",
        "eval(input())",
        "eval(args.ids, {})",
        "args.number * queue.pop()",
        "args.number - find(args)",
        "device_count(0)",
        "ask(args.number) * 2",
        "(args.number\n        * 2)",
        "args.number and queue.pop()",
    ],
)
def test_what_may_be_another_the_second_time_stays(value: str) -> None:
    assert refusals({"a.py": TEXT.format(value)}, "LIT101", unsafe=True)


def test_a_function_of_the_file_that_is_called_eval_stays() -> None:
    text = TEXT.format("eval(args.ids)") + "\n\ndef eval(text):\n    return queue.pop()\n"
    assert refusals({"a.py": text}, "LIT101", unsafe=True)


DEFAULT = """\
import argparse
from pytorch_lightning import Trainer

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", {})
args = parser.parse_args()
Trainer(gpus=args.gpu)
"""


@pytest.mark.parametrize(
    "said", ['type=int, default="8"', "type=int, default='0'", "type=int, default=' -1'", "type=list, default=[0]"]
)
def test_a_default_that_argparse_reads_as_a_number_is_one(said: str) -> None:
    text = DEFAULT.format(said)
    new = 'accelerator="gpu" if args.gpu else "cpu", devices=args.gpu or 1'
    assert rewritten({"a.py": text}, rule("LIT101"))["a.py"] == text.replace("gpus=args.gpu", new)


@pytest.mark.parametrize(
    "said",
    [
        'default="8"',
        'type=str, default="8"',
        'type=int, default="all"',
        "type=number, default='8'",
        "type=list, default='0'",
        "type=list, default=ids",
    ],
)
def test_a_default_that_stays_a_text_is_not_sure(said: str) -> None:
    (finding,) = run_rules({"a.py": DEFAULT.format(said)}, rule("LIT101")).findings
    assert finding.fix == "unsafe"


GIVEN = (
    "import torch\nfrom pytorch_lightning import Trainer\n\n\ndef find(more=None):\n"
    "    if torch.cuda.device_count() == 0:\n        return None\n    return {}\n\n\n"
    "gpus = find()\nTrainer(gpus=gpus)\n"
)


@pytest.mark.parametrize("value", ["list(range(torch.cuda.device_count()))", "2", "torch.cuda.device_count()"])
def test_what_a_function_gives_back_is_numbers(value: str) -> None:
    text = GIVEN.format(value)
    new = 'accelerator="gpu" if gpus else "cpu", devices=gpus or 1'
    assert rewritten({"a.py": text}, rule("LIT101"))["a.py"] == text.replace("gpus=gpus", new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def find", "@kept\ndef find"),
        ("    return None", "    yield None"),
        ("gpus = find()", "find = choose(find)\ngpus = find()"),
        ("gpus = find()", "gpus = find() or input()"),
        ("return None", "return more"),
    ],
)
def test_what_another_function_gives_is_not_told(old: str, new: str) -> None:
    (finding,) = run_rules({"a.py": GIVEN.format("2").replace(old, new)}, rule("LIT101")).findings
    assert finding.fix != "safe"


@pytest.mark.parametrize("value", ["list(more)", "list('01')", "str(2)", "more", "list(range(2)) or more"])
def test_what_a_function_gives_back_may_be_text(value: str) -> None:
    (finding,) = run_rules({"a.py": GIVEN.format(value)}, rule("LIT101")).findings
    assert finding.fix != "safe"
