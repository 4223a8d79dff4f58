"""Comments beside arguments that go: what speaks of them keeps them, what speaks of the line does not."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

HEAD = "from pytorch_lightning import Trainer\n\n"


@pytest.mark.parametrize(
    "comment", ["#gpus=1,", "# the first run", "# max_epochs=3, logger=False", "# ---", "# slow on my laptop"]
)
def test_a_comment_of_the_whole_line_stays(comment: str) -> None:
    text = f"{HEAD}t = Trainer(max_epochs=1, progress_bar_refresh_rate=0, flush_logs_every_n_steps=9)  {comment}\n"
    after = rewritten({"a.py": text}, rule("LIT110"))["a.py"]
    assert after == f"{HEAD}t = Trainer(max_epochs=1, enable_progress_bar=False)  {comment}\n"


@pytest.mark.parametrize("comment", ["# keep the logs", "# every step", "# flush: the disk is slow"])
def test_a_comment_that_speaks_of_the_argument_keeps_it(comment: str) -> None:
    text = f"{HEAD}t = Trainer(max_epochs=1, flush_logs_every_n_steps=9)  {comment}\n"
    assert "comment next to it" in refusals({"a.py": text}, "LIT110")[0]


def test_a_comment_beside_the_only_argument_keeps_it() -> None:
    text = f"{HEAD}t = Trainer(flush_logs_every_n_steps=9)  # the first run\n"
    assert "comment next to it" in refusals({"a.py": text}, "LIT110")[0]


def test_of_several_lines_each_keeps_its_own() -> None:
    text = (
        f"{HEAD}t = Trainer(\n    max_epochs=1, flush_logs_every_n_steps=9,  # as in the paper\n    logger=False,\n)\n"
    )
    after = rewritten({"a.py": text}, rule("LIT110"))["a.py"]
    assert after == f"{HEAD}t = Trainer(\n    max_epochs=1,  # as in the paper\n    logger=False,\n)\n"
