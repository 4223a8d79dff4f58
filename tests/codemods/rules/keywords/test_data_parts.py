"""LIT230: what a data module hands Lightning's own constructor, which keeps it no more."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

TEXT = """\
from pytorch_lightning import LightningDataModule


class Data(LightningDataModule):
    def __init__(self, train_transforms=None, dims=None):
        super().__init__(train_transforms=train_transforms, dims=dims)
        self.root = 3
"""


def test_what_nothing_reads_goes() -> None:
    after = rewritten({"a.py": TEXT, "b.py": "data = Data(train_transforms=1)\ndata.dims = 4\n"}, rule("LIT230"))
    assert after["a.py"] == TEXT.replace("(train_transforms=train_transforms, dims=dims)", "()")


@pytest.mark.parametrize(
    "other",
    ["print(data.dims, data.train_transforms)\n", "for n in ('dims', 'train_transforms'):\n    getattr(data, n)\n"],
)
def test_what_may_be_read_is_for_a_person(other: str) -> None:
    reasons = refusals({"a.py": TEXT, "b.py": other}, "LIT230")
    assert len(reasons) == 2 and all("attribute of your own" in reason for reason in reasons)


@pytest.mark.parametrize("value", ["make(dims)", "[dims]", "dims or next(it)"])
def test_what_does_something_is_for_a_person(value: str) -> None:
    text = TEXT.replace("train_transforms=train_transforms, dims=dims", f"dims={value}")
    assert len(refusals({"a.py": text}, "LIT230")) == 1


def test_what_the_class_reads_itself_is_told_where_it_is_read() -> None:
    text = TEXT + "\n    def setup(self, stage=None):\n        return self.train_transforms, self.dims\n"
    assert run_rules({"a.py": text}, rule("LIT230")).findings == ()
    both = run_rules({"a.py": text}, rule("LIT230"), rule("LIT250"))
    assert {(finding.code, finding.span.line, finding.fix) for finding in both.findings} == {
        ("LIT250", 10, "safe"),
        ("LIT250", 10, "manual"),
    }


def test_of_another_class_it_stays() -> None:
    text = TEXT.replace("LightningDataModule)", "Base)").replace("import LightningDataModule", "import Trainer as Base")
    assert rewritten({"a.py": text}, rule("LIT230"))["a.py"] == text
