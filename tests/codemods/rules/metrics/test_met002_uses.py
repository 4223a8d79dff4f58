"""MET002: names that are something else, or that are used in ways that are not seen."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

PINS = ("torchmetrics>=0.6",)


def after(text: str) -> tuple[set[str], str]:
    made = run_rules({"a.py": text}, rule("MET002"), pins=PINS)
    assert not made.bugs
    return {item.fix for item in made.findings}, made.final().get("a.py", text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        "import torchmetrics.functional as F\nF.text.wer.word_error_rate(p, t)\n",
        "from torchmetrics.functional.text import wer\nwer.word_error_rate(p, t)\n",
        "import torchmetrics\ntorchmetrics.functional.image.psnr.peak_signal_noise_ratio(p, t)\n",
    ],
)
def test_modules_of_today_are_not_the_old_names(text: str) -> None:
    assert after(text) == (set(), text)


@pytest.mark.parametrize(
    "text",
    [
        'from torchmetrics import PSNR\ntable = {"psnr": PSNR}\ntable["psnr"]()\n',
        "import torchmetrics as tm\nkind = tm.WER if words else tm.SNR\nkind(4.0)\n",
        "from functools import partial\nfrom torchmetrics import WER\nmake = partial(WER, True)\n",
        "from torchmetrics import PSNR\npsnr = PSNR(data_range=None)\n",
    ],
)
def test_what_is_given_where_it_is_not_seen_is_for_a_person(text: str) -> None:
    levels, made = after(text)
    assert levels == {"manual"} and made == text


@pytest.mark.parametrize(
    "use",
    [
        "class A:\n    WER = WER()\n",
        "made = WER()\nnames = [WER for WER in (1, 2)]\n",
        "def f(WordErrorRate=None):\n    return WER()\n",
    ],
)
def test_a_name_that_is_bound_twice_keeps_its_old_one(use: str) -> None:
    levels, made = after(f"from torchmetrics import WER\n{use}")
    assert levels == {"safe"} and made == f"from torchmetrics import WordErrorRate as WER\n{use}"
