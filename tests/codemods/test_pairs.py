"""Two arguments of Trainer that are rewritten alone are rewritten together, or told, in whatever way."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.codemods.ways import HEAD, Case, cases, planned

WAYS = {
    "direct": "trainer = pl.Trainer({0}={1}, {2}={3})\n",
    "variables": "x = {1}\ny = {3}\ntrainer = pl.Trainer({0}=x, {2}=y)\n",
    "second name": "Build = pl.Trainer\ntrainer = Build({0}={1}, {2}={3})\n",
    "dictionary": "given = {{'{0}': {1}, '{2}': {3}}}\ntrainer = pl.Trainer(**given)\n",
    "key by key": "given = {{}}\ngiven['{0}'] = {1}\ngiven['{2}'] = {3}\ntrainer = pl.Trainer(**given)\n",
    "mixed": "given = {{'callbacks': [], '{0}': {1}}}\ntrainer = pl.Trainer({2}={3}, **given)\n",
    "partial": "import functools\nbuild = functools.partial(pl.Trainer, {0}={1})\ntrainer = build({2}={3})\n",
    "function": "def build(**given):\n    return pl.Trainer(**given)\n\n\ntrainer = build({0}={1}, {2}={3})\n",
    "class": (
        "class Own(pl.Trainer):\n    def __init__(self, **given):\n        super().__init__(**given)\n\n\n"
        "trainer = Own({0}={1}, {2}={3})\n"
    ),
    "two calls": "def main():\n    a = pl.Trainer({0}={1})\n    print(a)\n    return pl.Trainer({2}={3})\n\n\nmain()\n",
}
SAMPLE = 20
BAR = (Case("progress_bar_refresh_rate", "5"), Case("process_position", "3"))
HIDDEN = (Case("progress_bar_refresh_rate", "0"), Case("process_position", "3"))


def _builds(text: str) -> None:
    space: dict[str, Any] = {}
    exec(text.replace("pytorch_lightning", "lightning.pytorch"), space)


@cache
def _rewritten() -> tuple[Case, ...]:
    """The cases that are rewritten to what the newest Trainer takes as it is."""
    found = []
    for case in cases():
        made = planned({"train.py": HEAD + f"trainer = pl.Trainer({case.argument}={case.value})\n"})
        text = made.final().get("train.py", b"").decode().replace("pytorch_lightning", "lightning.pytorch")
        if text and all(item.applied for item in made.findings) and _is_taken(text):
            found.append(case)
    return tuple(found)


def _is_taken(text: str) -> bool:
    try:
        exec(text, {})
    except Exception:
        return False
    return True


def _pairs() -> list[tuple[Case, Case]]:
    chosen = random.Random(11)
    drawn = (chosen.sample(_rewritten(), 2) for _ in range(SAMPLE))
    return [BAR, HIDDEN, *((one, two) for one, two in drawn if one.argument != two.argument)]


@pytest.mark.parametrize("way", WAYS)
def test_two_arguments(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(_rewritten()) > 100 and len(_pairs()) > 15
    told = 0
    for one, two in _pairs():
        text = HEAD + WAYS[way].format(one.argument, one.value, two.argument, two.value)
        made = planned({"train.py": text})
        assert made.bugs == (), text
        assert len(made.findings) >= len({one, two}) and len(set(made.findings)) == len(made.findings), text
        if all(item.applied for item in made.findings):
            _builds(made.final()["train.py"].decode())
        else:
            told += 1
    assert told <= 0.2 * len(_pairs())


def test_one_progress_bar_is_made_of_two_arguments() -> None:
    made = planned({"train.py": HEAD + WAYS["direct"].format("progress_bar_refresh_rate", 5, "process_position", 3)})
    assert b"callbacks=[pl.callbacks.TQDMProgressBar(refresh_rate=5, process_position=3)]" in made.final()["train.py"]
    none = planned({"train.py": HEAD + WAYS["direct"].format("show_progress_bar", False, "process_position", 3)})
    assert b"pl.Trainer(enable_progress_bar=False)" in none.final()["train.py"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("show_progress_bar=args.bar, process_position=2", "no progress bar may be asked for beside it"),
        ("add_row_log_interval=5, row_log_interval=3", "is to become `log_every_n_steps=` too"),
        ("progress_bar_refresh_rate=0, callbacks=[RichProgressBar()]", "the callbacks hold a progress bar"),
    ],
)
def test_what_does_not_go_together_is_told(given: str, why: str) -> None:
    made = planned({"train.py": HEAD + f"trainer = pl.Trainer({given})\n"})
    assert any(why in item.reason for item in made.findings)
