"""`[tool.fixer]`: what it can hold, and what is said of what it cannot."""

from __future__ import annotations

import pytest

from fixer.config import Config, PullRequestConfig, VerifyConfig, read_config
from fixer.errors import UsageError

FULL = """
[tool.fixer]
select = ["TBP", "LIT001"]
ignore = ["LIT002"]
target = "2.6.1"
unsafe-fixes = true
exclude = ["third_party", "docs/*.py"]

[tool.fixer.verify]
enabled = false
script = "train.py"
args = ["--fast", "1"]
timeout = 90
baseline-python = "../old/bin/python"
target-python = "/new/bin/python"
torch = "project"
accelerator = "cpu"
devices = 2
packages = ["timm==0.9.16"]
data = "tests/tiny"

[tool.fixer.pull-request]
title = ".fixer/title"
body = ".fixer/body.md"
"""


def test_every_key_is_read() -> None:
    assert read_config(FULL, "pyproject.toml") == Config(
        select=("TBP", "LIT001"),
        ignore=("LIT002",),
        target="2.6.1",
        unsafe_fixes=True,
        exclude=("third_party", "docs/*.py"),
        verify=VerifyConfig(
            enabled=False,
            script="train.py",
            args=("--fast", "1"),
            timeout=90.0,
            baseline_python="../old/bin/python",
            target_python="/new/bin/python",
            torch="project",
            accelerator="cpu",
            packages=("timm==0.9.16",),
            devices=2,
            data="tests/tiny",
        ),
        pull_request=PullRequestConfig(".fixer/title", ".fixer/body.md"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[project]\nname = 'x'\n",
        "[project]\nname = 'fixer'\n",
        "[tool]\nfixer = {}\n",
        "[tool.fixer]\n",
        "tool = 'fixer'\n",
        "[project\nname = 'fixer-like'\n",
        "<<<<<<< HEAD\n",
    ],
)
def test_without_settings_the_defaults_hold(text: str) -> None:
    assert read_config(text, "pyproject.toml") == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slect = ['A']", "pyproject.toml: [tool.fixer] unknown key 'slect', did you mean 'select'?"),
        ("unsafe_fixes = true", "unknown key 'unsafe_fixes', did you mean 'unsafe-fixes'?"),
        ("zzz = 1", "unknown key 'zzz', it can hold select, ignore"),
        ("select = 'A'", "[tool.fixer] select must be a list of strings, not 'A'"),
        ("ignore = ['A', 1]", "[tool.fixer] ignore must be a list of strings, not a list of other things"),
        ("target = 2.6", "[tool.fixer] target must be a string, not 2.6"),
        ("unsafe-fixes = 1", "[tool.fixer] unsafe-fixes must be true or false, not 1"),
        ("exclude = {a = 1}", "[tool.fixer] exclude must be a list of strings, not a table"),
        ("verify = true", "[tool.fixer.verify] must be a table, not true"),
        ("verify.enabld = true", "[tool.fixer.verify] unknown key 'enabld', did you mean 'enabled'?"),
        ("verify.timeout = true", "[tool.fixer.verify] timeout must be a number of seconds above 0, not true"),
        ("verify.timeout = 0", "[tool.fixer.verify] timeout must be a number of seconds above 0, not 0"),
        ("verify.timeout = nan", "timeout must be a number of seconds above 0"),
        ("verify.packages = ['no requirement!']", "packages: 'no requirement!' is no requirement; write it"),
        ("verify.accelerator = 'gpu'", '[tool.fixer.verify] accelerator must be "auto" or "cpu", not \'gpu\''),
        ("verify.devices = 0", "[tool.fixer.verify] devices must be a whole number from 1 on, not 0"),
        ("verify.devices = true", "[tool.fixer.verify] devices must be a whole number from 1 on, not true"),
        ("verify.devices = 1.5", "[tool.fixer.verify] devices must be a whole number from 1 on, not 1.5"),
        ("verify.script = 2020-01-01", "[tool.fixer.verify] script must be a string, not date"),
        ("select = [", "pyproject.toml: not valid TOML"),
        ("select = []\nselect = []", "pyproject.toml: not valid TOML"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_config(f"[tool.fixer]\n{text}\n", "pyproject.toml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["tool.fixer = 3\n", "[tool]\nfixer = []\n"])
def test_the_table_itself_must_be_one(text: str) -> None:
    with pytest.raises(UsageError, match="must be a table"):
        read_config(text, "pyproject.toml")


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("third_party", ["third_party/a.py", "src/third_party/b/c.py", "third_party"], ["third_party2/a.py"]),
        ("*_pb2.py", ["a_pb2.py", "x/y/a_pb2.py"], ["a_pb2.pyi", "a.py"]),
        ("docs/*.py", ["docs/a.py"], ["docs/a/b.py", "x/docs/a.py", "docs.py"]),
        ("docs/**/*.py", ["docs/a.py", "docs/a/b/c.py"], ["docs/a.txt"]),
        ("**/tests", ["tests/a.py", "x/y/tests/a.py"], ["tests.py"]),
        ("/setup.py", ["setup.py"], ["x/setup.py"]),
        ("src/", ["src/a.py", "x/src/a.py"], ["srcs/a.py"]),
        ("v?", ["v1/a.py"], ["v12/a.py"]),
        ("a[1].py", ["a[1].py"], ["a1.py"]),
    ],
)
def test_exclude_patterns(pattern: str, matching: list[str], others: list[str]) -> None:
    config = Config(exclude=(pattern,))
    assert [path for path in matching if not config.excludes(path)] == []
    assert [path for path in others if config.excludes(path)] == []
