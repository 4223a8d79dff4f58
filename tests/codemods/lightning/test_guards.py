"""What is a question for a release, and what only speaks of some version."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

TEXT = """\
import pytorch_lightning as pl


def go(args, version, loggers, known):
    if {}:
        pl.Trainer(gpus=2)
"""


@pytest.mark.parametrize(
    "test",
    [
        "args.version is not None",
        "version is None and known",
        "not args.version",
        "version",
        "loggers(name='a', version=version).exists()",
        "known or not loggers(version).path",
    ],
)
def test_a_version_of_something_else_hides_nothing(test: str) -> None:
    found = run_rules({"a.py": TEXT.format(test)}, rule("LIT101")).findings
    assert [finding.fix for finding in found] == ["safe"]


@pytest.mark.parametrize(
    "test",
    [
        "OLD_VERSION",
        "parse(known.version) < parse('2.0')",
        "not IS_VERSION_2",
        "version < known",
        "compare(args.version, '2.0') < 0",
        "known(pl.__version__)",
        "tuple(map(int, version.split('.'))) < (2, 0)",
    ],
)
def test_a_question_for_a_release_is_not_answered(test: str) -> None:
    found = run_rules({"a.py": TEXT.format(test)}, rule("LIT101")).findings
    assert [finding.fix for finding in found] == ["manual"]
    assert "inside a version check" in found[0].reason
