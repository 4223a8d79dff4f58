from __future__ import annotations

import pytest

from verify.judging.requirements import misfit

OLD = ("pytorch-lightning==1.9.5", "torch")
BOTH = ("pytorch_lightning",)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (("pytorch-lightning==1.8.6",), "`pytorch-lightning==1.8.6` does not allow 2.6.6"),
        (("pytorch-lightning<2.6",), "does not allow 2.6.6"),
        (("PyTorch_Lightning>=3",), "does not allow 2.6.6"),
    ],
)
def test_requirements_that_were_rewritten_wrongly_are_named(after: tuple[str, ...], said: str) -> None:
    assert said in misfit(OLD, after, "2.6.6", BOTH)


@pytest.mark.parametrize(
    "after", [("pytorch-lightning==2.6.6",), ("pytorch-lightning>=2.6.6,<3",), OLD, (), ("torch", "not a requirement")]
)
def test_what_fits_or_was_left_alone_is_not(after: tuple[str, ...]) -> None:
    assert misfit(OLD, after, "2.6.6", BOTH) == ""


def test_the_distribution_must_bring_what_is_imported() -> None:
    old, new = ("lightning==2.1.0",), ("pytorch-lightning==2.6.6",)
    assert "import lightning, which" in misfit(old, new, "2.6.6", ("lightning",))
    assert misfit(old, new, "2.6.6", BOTH) == ""
    assert misfit(OLD, ("lightning==2.6.6",), "2.6.6", (*BOTH, "lightning")) == ""
