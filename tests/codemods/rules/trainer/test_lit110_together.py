"""Several arguments that become callbacks, in one list however it reaches the Trainer."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import lightning.pytorch as pl
import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import pytorch_lightning as pl\n\n"
GIVEN = {
    "progress_bar_refresh_rate": ("5", "TQDMProgressBar"),
    "checkpoint_callback": ("pl.callbacks.ModelCheckpoint()", "ModelCheckpoint"),
    "log_gpu_memory": ("True", "DeviceStatsMonitor"),
    "weights_summary": ("'full'", "ModelSummary"),
}
PAIRS = list(permutations(GIVEN, 2))
EACH_TWICE = list(pairwise([*GIVEN, *GIVEN][: len(GIVEN) + 1]))
"""Pairs in which each argument comes first once, and second once."""
WAYS = {
    "arguments": "trainer = pl.Trainer({listed}{arguments})\n",
    "second name": "T = pl.Trainer\ntrainer = T({listed}{arguments})\n",
    "dictionary": "given = {{{items}}}\ntrainer = pl.Trainer(**given)\n",
    "dict": "given = dict({listed}{arguments})\ntrainer = pl.Trainer(**given)\n",
    "key by key": "given = {{}}\n{lines}trainer = pl.Trainer(**given)\n",
    "partial": "import functools\nmake = functools.partial(pl.Trainer, {listed}{first})\ntrainer = make({second})\n",
    "function": "def given():\n    return {{{items}}}\n\n\ntrainer = pl.Trainer(**given())\n",
}


def program(way: str, names: tuple[str, str], callbacks: str) -> str:
    """Both arguments, and the callbacks where there are any, in a way."""
    every = ({"callbacks": callbacks} if callbacks else {}) | {name: GIVEN[name][0] for name in names}
    given = [f"{name}={GIVEN[name][0]}" for name in names]
    return HEAD + WAYS[way].format(
        listed=f"callbacks={callbacks}, " if callbacks else "",
        arguments=", ".join(given),
        first=given[0],
        second=given[1],
        items=", ".join(f"'{name}': {value}" for name, value in every.items()),
        lines="".join(f"given['{name}'] = {value}\n" for name, value in every.items()),
    )


@pytest.mark.parametrize("callbacks", ["", "None", "[]", "[pl.callbacks.LearningRateMonitor()]"])
@pytest.mark.parametrize("way", WAYS)
def test_none_of_them_is_lost(way: str, callbacks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[dict[str, Any]] = []
    monkeypatch.setattr(pl, "Trainer", lambda **given: built.append(given))
    for names in EACH_TWICE if callbacks else PAIRS:
        before = program(way, names, callbacks)
        after = rewritten({"train.py": before}, rule("LIT110"), unsafe=True)["train.py"]
        exec(after.replace("pytorch_lightning", "lightning.pytorch"), {})
        given = built.pop()
        made = [type(item).__name__ for item in given["callbacks"]]
        own = ["LearningRateMonitor"] if "Monitor" in callbacks else []
        left = [name for name in names if name in given]
        assert sorted(made) == sorted([*own, *(GIVEN[name][1] for name in names if name not in left)]), after
        assert way == "function" or not left


@pytest.mark.parametrize(
    ("use", "changes"),
    [
        ("given['callbacks'].append(more)", True),
        ("print(given['max_epochs'])", True),
        ("print(given['weights_summary'])", False),
        ("print(given[name])", False),
        ("given.pop('callbacks')", False),
        ("del given['callbacks']", False),
        ("given['callbacks'].pop()", False),
        ("print(len(given['callbacks']))", False),
        ("given['callbacks'].extend(more)", True),
        ("other(given)", False),
    ],
)
def test_what_is_read_of_the_dictionary(use: str, changes: bool) -> None:
    head = "import pytorch_lightning as pl\n\n\ndef run(cfg, name):\n"
    made = f"    given = {{'callbacks': [], 'weights_summary': 'top'}}\n    if cfg:\n        {use}\n"
    text = f"{head}{made}    return pl.Trainer(**given)\n"
    assert bool(run_rules({"train.py": text}, rule("LIT110"), unsafe=True).changes) is changes


MORE = "pl.callbacks.ModelSummary(max_depth=-1)"
LISTED = "callbacks=[\n    A(),  # one\n    # two\n    B(),  # three\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("callbacks=[A()] if x else [B()]", f"callbacks=[*([A()] if x else [B()]), {MORE}]"),
        (f"{LISTED}]", f"{LISTED}    {MORE},\n]"),
    ],
)
def test_one_more_stands_behind_what_is_there(before: str, after: str) -> None:
    text = f"{HEAD}trainer = pl.Trainer(weights_summary='full', {before})\n"
    made = rewritten({"train.py": text}, rule("LIT110"), unsafe=True)["train.py"]
    assert made == f"{HEAD}trainer = pl.Trainer({after})\n"


BARS = (
    "import pytorch_lightning as pl\nfrom pytorch_lightning.callbacks import ProgressBar, RichProgressBar\n\n\n"
    "class Mine(ProgressBar):\n    pass\n\n\n"
)


@pytest.mark.parametrize("given", ["progress_bar_refresh_rate=0", "progress_bar_refresh_rate=5", "process_position=2"])
@pytest.mark.parametrize(
    "bar", ["RichProgressBar()", "Mine()", "RichProgressBar(refresh_rate=2) if x else RichProgressBar()"]
)
def test_a_bar_of_its_own_is_seen_by_its_name(given: str, bar: str) -> None:
    text = f"{BARS}bar = {bar}\npl.Trainer({given}, callbacks=[bar])\n"
    assert refusals({"train.py": text}, "LIT110")
