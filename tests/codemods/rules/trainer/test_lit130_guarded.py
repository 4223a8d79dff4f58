"""LIT130: a script whose imports all stand under `if __name__ == "__main__":`."""

from __future__ import annotations

import ast

import pytest

from tests.codemods.support import rule, run_rules

GUARDED = """\
if __name__ == "__main__":
    from argparse import ArgumentParser

    from pytorch_lightning import Trainer

    parser = ArgumentParser()
    parser = Trainer.add_argparse_args(parser)
    args = parser.parse_args([])
    trainer = Trainer.from_argparse_args(args, logger=False)
"""
HEADS = ("", '"""What it does."""\n\n', "# A licence.\n\n", "import_later = True\n\n")


@pytest.mark.parametrize("head", HEADS)
def test_the_functions_and_what_they_import_stand_above_it(head: str) -> None:
    made = run_rules({"a.py": head + GUARDED}, rule("LIT130"))
    assert made.bugs == () and [finding.fix for finding in made.findings] == ["safe", "safe"]
    after = made.final()["a.py"].decode()
    assert after.startswith(head.rstrip()) and "\n\n\n\n" not in after
    assert after.index("import ast\nimport inspect\n\n\ndef plain_value") < after.index("if __name__")
    names: dict[str, object] = {"__name__": "__main__"}
    exec(after.replace("pytorch_lightning", "lightning.pytorch"), names)
    assert type(names["trainer"]).__name__ == "Trainer"
    assert run_rules({"a.py": after}, rule("LIT130")).changes == ()


@pytest.mark.parametrize("head", HEADS)
def test_scripts_that_share_a_module_import_from_it(head: str) -> None:
    text = (head + GUARDED).replace("    parser = Arg", "    from pkg.models import Model\n\n    parser = Arg", 1)
    files = {"pkg/__init__.py": "", "pkg/models.py": "", "pkg/one.py": text, "pkg/two.py": text}
    made = run_rules(files, rule("LIT130"))
    assert made.bugs == () and {finding.fix for finding in made.findings} == {"safe"}
    for path in ("pkg/one.py", "pkg/two.py"):
        after = made.final()[path].decode()
        assert ast.parse(after) and after.startswith(head.rstrip()) and "\n\n\n\n" not in after
