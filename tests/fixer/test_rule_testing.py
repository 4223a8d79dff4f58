"""`fixer test-rules`: what holds for fixer's own rules is tried on those of others."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import codemods.api
from codemods.rule import own_rules
from codemods.testing.rule_tests import names, run_tests
from tests.fixer.command import ROOT, Ask
from tests.fixer.plugin_projects import PLUGINS

FOLDER = PLUGINS / "folder"
GOOD = (FOLDER / "half.py").read_text()
LOOK = 'calls_of(file, "acme.fit")'


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    """The rule of the fixture, with something else in it."""
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "own.py").write_text(text)
    return folder / "own.py"


def test_rules_that_hold_pass(ask: Ask) -> None:
    said = ask("test-rules", FOLDER, PLUGINS / "renames.toml")
    assert said.code == 0, said.out
    lines = said.out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == ["ACM001", "ACM101", "ACM102"]
    assert "2 examples" in lines[0] and "neutral edits" in lines[0] and "surroundings" in lines[0]
    assert lines[-1].endswith("all passed")


def test_those_of_the_settings_are_tested_where_none_are_named(
    tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "there are no rules of others here" in ask("test-rules").complaint()
    written(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.fixer]\nplugins = ["own.py"]\n')
    assert ask("test-rules").code == 0


def test_an_example_that_does_not_hold_is_shown(tmp_path: Path, ask: Ask) -> None:
    place = written(tmp_path, ("'precision=\"16-mixed\"'", "'precision=\"bf16-mixed\"'"))
    said = ask("test-rules", place)
    assert said.code == 1
    assert "FAILED example 1: becomes something else" in said.out
    assert '-acme.fit(model, precision="bf16-mixed")' in said.out
    assert '+acme.fit(model, precision="16-mixed")' in said.out


def test_a_trap_that_is_not_left_alone_is_shown(tmp_path: Path, ask: Ask) -> None:
    place = written(tmp_path, (LOOK, "file.calls"))
    said = ask("test-rules", place)
    assert said.code == 1 and "FAILED example 2: is not left alone" in said.out


def test_a_rule_that_changes_its_own_result_is_found(tmp_path: Path, ask: Ask) -> None:
    place = written(
        tmp_path,
        ('"16-mixed"', '"x"'),
        ("if known and isinstance(value, bool):", "if known:"),
        ('("precision", precision)', '("half", repr(str(value) + "!"))'),
        ('half=True", \'precision="x"\'', 'half=True", "half=\'True!\'"'),
    )  # fmt: skip
    said = ask("test-rules", place)
    assert said.code == 1
    assert "FAILED example 1: is rewritten to what does not hold" in said.out
    assert "the rule would change its own result again" in said.out or "second run" in said.out


def test_a_rule_that_goes_by_spelling_is_blinded(tmp_path: Path, ask: Ask) -> None:
    spelled = '[call for call in file.calls if file.source_of(call.node.func) == "acme.fit"]'
    place = written(tmp_path, (LOOK, spelled))
    said = ask("test-rules", place, "--verbose")
    assert said.code == 1
    assert "FAILED example 1 with `import alias`: the rule finds less" in said.out
    assert "+import acme as renamed_acme" in said.out
    skipped = ",".join(sorted(name for name in names() if f"with `{name}`" in said.out))
    assert ask("test-rules", place, "--skip", skipped).code == 0


def test_a_rule_that_fails_is_no_rule_that_holds(tmp_path: Path, ask: Ask) -> None:
    said = ask("test-rules", written(tmp_path, ("known, value =", "1 / 0\n        known, value =")))
    assert said.code == 1 and "ZeroDivisionError" in said.out


def test_a_rule_without_a_trap_is_told(tmp_path: Path, ask: Ask) -> None:
    trap = '        Example(BEFORE.replace("acme", "other"), BEFORE.replace("acme", "other")),\n'
    said = ask("test-rules", written(tmp_path, (trap, "")))
    assert said.code == 1 and "no example shows what it leaves alone" in said.out


def test_what_cannot_be_skipped_is_told(ask: Ask) -> None:
    assert "no edit is called 'prints'" in ask("test-rules", FOLDER, "--skip", "prints").complaint()


def test_fixers_own_rules_pass_the_same_tests() -> None:
    rule = next(rule for rule in own_rules() if rule.code == "LIT101")
    tests = list(run_tests(rule, skip=[name for name in names() if name != "print"]))
    assert len(tests) > len(rule.examples) and not [test for test in tests if test.failure]


def test_no_test_runner_is_needed() -> None:
    code = "import sys, codemods.testing.rule_tests, fixer.rule_testing; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_looking_for_rules_loads_no_libcst() -> None:
    code = "import sys, codemods.api, codemods.plugins; sys.exit('libcst' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


PROMISED = """
BuiltObject CALLBACK CallNode ClassFact ClassNode Constants Edit Example Facts Fix MODULE Match Node NodeEdit PythonFile
ReachingArgument Rule Span TRAINER TRAINERS TextEdit TextFile WantedClasses arguments_of built calls_of classes_of
constants_of finding is_open literal rename_keyword replace_keyword replace_source rewrite rules_of_rows set_keyword
touches written_out
"""
"""What docs/tutorial-rule.md promises: a name that goes from here is a new major version."""


def test_what_is_promised_is_there() -> None:
    tree = ast.parse((ROOT / "codemods/api.py").read_text(encoding="utf-8"))
    said = {item.asname for node in tree.body if isinstance(node, ast.ImportFrom) for item in node.names}
    said |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    said |= {node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
    assert said - {None} == set(PROMISED.split())


def test_the_tutorial_takes_nothing_else_and_keeps_to_its_thirty_lines() -> None:
    page = (ROOT / "docs/tutorial-rule.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```python\n(.*?RULE = .*?)^```$", page, re.MULTILINE | re.DOTALL)
    text = text[text.rindex("```python\n") + 10 :] if "```python\n" in text else text
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [node.module for node in imports if isinstance(node, ast.ImportFrom)] == ["codemods.api"] and len(
        imports
    ) == 1
    assert {item.name for item in imports[0].names} <= set(PROMISED.split())
    assert len([line for line in text.splitlines() if line.strip()]) <= 32


def test_everything_promised_says_what_it_is() -> None:
    own = [value for value in vars(codemods.api).values() if getattr(value, "__module__", "") == "codemods.api"]
    assert len(own) > 10 and all(value.__doc__ for value in own)
