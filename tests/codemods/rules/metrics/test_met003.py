"""MET003: a ratio of signal to noise without its range."""

from __future__ import annotations

import pytest
import torch
import torchmetrics
from torchmetrics.functional.image import peak_signal_noise_ratio

from tests.codemods.support import rule, run_rules

HEAD = (
    "import torchmetrics\nfrom torchmetrics.image import PeakSignalNoiseRatio\n"
    "from torchmetrics.functional import peak_signal_noise_ratio as psnr\n\n"
)


def levels(text: str, *pins: str) -> list[str]:
    return [item.fix for item in run_rules({"a.py": f"{HEAD}{text}\n"}, rule("MET003"), pins=pins).findings]


@pytest.mark.parametrize(
    "call",
    [
        "PeakSignalNoiseRatio()",
        "torchmetrics.PeakSignalNoiseRatio(base=2)",
        "psnr(a, b)",
        "psnr(a, target=b, base=2.0)",
    ],
)
def test_a_range_that_is_not_said_is_named(call: str) -> None:
    assert levels(f"x = {call}") == ["manual"]


@pytest.mark.parametrize(
    "call",
    [
        "PeakSignalNoiseRatio(1.0)",
        "PeakSignalNoiseRatio(data_range=1)",
        "PeakSignalNoiseRatio(**given)",
        "psnr(a, b, 1.0)",
        "psnr(a, b, data_range=1.0)",
        "psnr(*pair)",
        "mine.PeakSignalNoiseRatio()",
        "print(PeakSignalNoiseRatio)",
    ],
)
def test_what_says_it_or_may_stays(call: str) -> None:
    assert levels(f"x = {call}") == []


@pytest.mark.parametrize(("pin", "named"), [("torchmetrics<1.8", False), ("torchmetrics>=1.0", True)])
def test_releases_that_need_no_range(pin: str, named: bool) -> None:
    assert levels("x = PeakSignalNoiseRatio()", pin) == (["manual"] if named else [])


def test_the_newest_release_refuses_it() -> None:
    with pytest.raises(TypeError, match="data_range"):
        torchmetrics.image.PeakSignalNoiseRatio()
    with pytest.raises(TypeError, match="data_range"):
        peak_signal_noise_ratio(torch.ones(2), torch.zeros(2))
