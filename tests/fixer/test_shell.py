"""What a shell asks of the command line, completion, and what a terminal does, colours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.rule import all_rules
from fixer.config import Config, VerifyConfig
from fixer.reports.settings import as_json
from tests.fixer.command import Ask, environment, old_project, process
from tests.support import commit_all

SCRIPT = "import sys; sys.argv[0] = 'fixer'; from fixer.__main__ import main; main()"


def script(*arguments: str, **env: str) -> str:
    """What `fixer`, as it is installed, prints."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], env=environment(env), capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("fixer che", ["check"]),
        ("fixer fix --inter", ["--interactive"]),
        ("fixer run --require t", ["trains"]),
        ("fixer explain TBP00", ["TBP001", "TBP002"]),
    ],
)
def test_a_shell_is_told_what_may_follow(typed: str, offered: list[str]) -> None:
    words = typed.split()
    told = script(_FIXER_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1))
    assert told.split() == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell: str) -> None:
    told = script("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_FIXER_COMPLETE=complete_" in told
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=told, text=True).returncode == 0


def test_completion_costs_the_help_nothing() -> None:
    """What it needs is loaded where it is asked for alone."""
    loaded = script("--help", PYTHONPROFILEIMPORTTIME="")
    assert "--install-completion" in loaded
    names = loads("--help")
    assert "fixer.cli" in names
    assert not names & {"rich", "codemods.rules", "fixer.choosing", "fixer.pipeline", "tomlkit"}


def test_where_there_is_nothing_to_look_at_no_rule_is_loaded(tmp_path: Path) -> None:
    commit_all(tmp_path)
    names = loads("check", str(tmp_path))
    assert "fixer.pipeline" in names
    assert not names & {"git", "libcst", "codemods.rules.trainer.lit101"}


def loads(*arguments: str) -> set[str]:
    """The modules that a command loads."""
    command = [sys.executable, "-X", "importtime", "-c", SCRIPT, *arguments]
    told = subprocess.run(command, env=environment({}), capture_output=True, text=True, check=True)
    return set(re.findall(r"\|\s+([\w.]+)$", told.stderr, re.MULTILINE))


@pytest.mark.parametrize(
    ("env", "colored"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
    ],
)
def test_colours_in_a_pipe(folder: Path, env: dict[str, str], colored: bool) -> None:
    plain = {name: "" for name in ("FORCE_COLOR", "NO_COLOR") if name in os.environ}
    said = process(folder, "check", **{**plain, **env})
    assert ("\x1b[" in said.out) == colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", said.out) == process(folder, "check", **plain).out
    assert process(folder, "check", "--output-format", "json", **env).report()["findings"]


def test_rules_as_json(ask: Ask) -> None:
    told = json.loads(ask("rules", "--output-format", "json").out)
    assert [item["code"] for item in told] == [rule.code for rule in all_rules()]
    first = json.loads(ask("rules", "TBP001", "--output-format", "json").out)[0]
    assert first.keys() == {
        "code", "name", "fix", "summary", "why", "versions", "breaks_in", "needs", "rows", "references"
    }  # fmt: skip
    assert "no rule mentions nothing-of-that-name" in ask("rules", "nothing-of-that-name").complaint()


def test_what_is_no_report_is_none_after_an_error(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.fixer]\nnonsense = 1\n")
    for command in (("rules", "nonsense"), ("config", tmp_path)):
        said = ask(*command, "--output-format", "json")
        assert (said.code, said.out) == (2, "") and said.err
    assert ask("check", tmp_path, "--output-format", "json").report()["command"] == "check"


def test_settings_as_json(ask: Ask, tmp_path: Path) -> None:
    settings = b'[tool.fixer]\nignore = ["LIT101"]\n[tool.fixer.per-file-ignores]\n"a/**" = ["GRD"]\n'
    folder = old_project(tmp_path / "project", {"train.py": b"", "pyproject.toml": settings})
    told = json.loads(ask("config", folder, "--output-format", "json").out)
    assert told["ignore"] == {"value": ["LIT101"], "origin": "pyproject.toml"}
    assert told["per-file-ignores"] == {"value": {"a/**": ["GRD"]}, "origin": "pyproject.toml"}
    assert told["target"] == {"value": None, "origin": None}
    assert told["verify.enabled"] == {"value": True, "origin": None}
    listed = [line.split()[0] for line in ask("config", folder).out.splitlines()]
    assert list(told) == listed
    held = json.loads(as_json(Config(verify=VerifyConfig(env=(("A", "1"),)))))
    assert held["verify.env"]["value"] == {"A": "1"}
