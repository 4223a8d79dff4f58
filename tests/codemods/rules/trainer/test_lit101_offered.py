"""LIT101: a number of GPUs under a condition that says the same already."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule

HEAD = (
    "from argparse import ArgumentParser\n\nfrom pytorch_lightning import Trainer\n\nparser = ArgumentParser()\n"
    "parser.add_argument('--n', type=int, default=0)\na = parser.parse_args()\n"
)
SAME = 'accelerator="gpu" if a.n else "cpu", devices=a.n or 1'
PLAIN = ("a.n > 0", "a.n >= 1", "a.n > 1")


def after(value: str) -> str:
    """The arguments that take the place of `gpus=`."""
    text = rewritten({"a.py": f"{HEAD}Trainer(gpus={value})\n"}, rule("LIT101"))["a.py"]
    return text.splitlines()[-1].removeprefix("Trainer(").removesuffix(")")


@pytest.mark.parametrize(
    "value",
    [
        "a.n if a.n else None",
        "a.n if a.n is not None else None",
        "a.n if a.n != 0 else 0",
        "None if a.n == 0 else a.n",
        "None if a.n is None else a.n",
        "None if not a.n else a.n",
    ],
)
def test_a_condition_that_the_value_says_itself(value: str) -> None:
    assert after(value) == SAME


@pytest.mark.parametrize("test", PLAIN)
def test_a_condition_that_only_some_devices_meet(test: str) -> None:
    assert after(f"a.n if {test} else None") == f'accelerator="gpu" if {test} else "cpu", devices=a.n if {test} else 1'


@pytest.mark.parametrize("test", ["a.n <= 0", "a.n < 1"])
def test_a_condition_that_none_meets(test: str) -> None:
    assert after(f"None if {test} else a.n") == f'accelerator="cpu" if {test} else "gpu", devices=1 if {test} else a.n'


@pytest.mark.parametrize("test", ["a.n > -1", "a.n >= 0", "a.n != 1", "a.other > 0", "a.n < 3", "quick"])
def test_a_condition_of_which_neither_follows_is_asked_with_the_value(test: str) -> None:
    wanted = f'accelerator="gpu" if {test} and a.n else "cpu", devices=a.n or 1 if {test} else 1'
    assert after(f"a.n if {test} else None") == wanted


@pytest.mark.parametrize("n", [None, -1, 0, 1, 2])
@pytest.mark.parametrize("test", ["a.n", "a.n is not None", "a.n != 0", "a.n == 2", "(a.n or 0) > 0"])
def test_what_is_written_asks_for_the_same(test: str, n: int | None) -> None:
    class Parsed:
        pass

    parsed = Parsed()
    parsed.n = n  # type: ignore[attr-defined]
    names = {"a": parsed}
    gpus = eval(f"a.n if {test} else None", names)
    given = eval(f"dict({after(f'a.n if {test} else None')})", names)
    assert given == {"accelerator": "gpu" if gpus else "cpu", "devices": gpus or 1}
