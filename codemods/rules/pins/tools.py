"""Jobs of pipelines that run tools alone: they check, build or publish the sources, and install none of the project."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

_TOOLS = frozenset({
    "autopep8", "bandit", "black", "build", "codespell", "docformatter", "flake8", "isort", "pre-commit", "pycodestyle",
    "pydocstyle", "pyflakes", "pyupgrade", "ruff", "twine", "yapf",
})  # fmt: skip
_INSTALLED = _TOOLS | {"pip", "setuptools", "wheel"}
_SHELL = frozenset({"cat", "cd", "echo", "export", "git", "ls", "mkdir", "set"})
_ACTIONS = re.compile(
    r"(?:actions/(?:checkout|setup-python|cache|upload-artifact|download-artifact)|pypa/gh-action-pypi-publish"
    r"|softprops/action-gh-release|psf/black|(?:astral-sh|chartboost)/ruff-action|pre-commit/action"
    r"|EndBug/add-and-commit)@.*",
    re.IGNORECASE,
)
_OPTIONS = frozenset({"-U", "--upgrade", "-q", "--quiet", "--user", "--no-cache-dir"})


def runs_tools_alone(job: Any) -> bool:
    """Whether a YAML node is a job of which every step is known to need nothing of the project."""
    keys = _keys(job)
    if "steps" in keys and isinstance(keys["steps"].value, list):
        return _all_tools(list(_steps(keys["steps"])))
    return False


def commands_of(job: Any) -> list[list[str]] | None:
    """The words of all commands of a job; None where a step is not known to install nothing, or cannot be read."""
    keys = _keys(job)
    steps = list(_steps(keys["steps"])) if "steps" in keys and isinstance(keys["steps"].value, list) else [None]
    found = [words for text in steps for words in (_split(text) if text is not None else [None])]
    return None if None in found else [words for words in found if words is not None]


def is_option(word: str) -> bool:
    """Whether a word is an option of pip that asks for nothing."""
    return word in _OPTIONS


def without_module(words: list[str]) -> list[str]:
    """A command as it is without `python -m`."""
    named = words[:2] and re.fullmatch(r"python3?", words[0])
    return words[2:] if named and words[1:2] == ["-m"] else words


def _keys(node: Any) -> dict[str, Any]:
    """The entries of a mapping; none of what is a list or a scalar."""
    return {str(pair[0].value): pair[1] for pair in node.value if isinstance(pair, tuple)}


def _steps(node: Any) -> Iterator[str | None]:
    """What the steps run; None for one that is not known to need nothing."""
    for step in node.value:
        keys = {name: value.value for name, value in _keys(step).items()}
        if isinstance(keys.get("run"), str):
            yield keys["run"]
        elif not _ACTIONS.fullmatch(str(keys.get("uses", ""))):
            yield None


def _all_tools(commands: list[str | None]) -> bool:
    found = [_of_command(words) for text in commands for words in (_split(text) if text else [None])]
    return "other" not in found and "tool" in found


def _split(text: str) -> Iterator[list[str] | None]:
    for line in re.split(r"\n|;|&&|\|\|?", re.sub(r"\\\n", " ", text)):
        try:
            yield shlex.split(line, comments=True)
        except ValueError:
            yield None


def _of_command(words: list[str] | None) -> str:
    """`tool`, `shell` for what does not matter, or `other`."""
    if words is None:
        return "other"
    if words[:2] and re.fullmatch(r"python3?", words[0]):
        words = words[2:] if words[1:2] == ["-m"] else ["python", *words[1:]]
    if not words or words[0] in _SHELL or words in (["python", "--version"], ["pip", "--version"]):
        return "shell"
    if words[:2] == ["python", "setup.py"] and set(words[2:]) <= {"sdist", "bdist_wheel"}:
        return "tool"
    if words[0] in ("pip", "pip3"):
        named = [re.split(r"[=<>~!\[]", word)[0] for word in words[2:] if word not in _OPTIONS]
        return "shell" if words[1:2] == ["install"] and all(map(_is_tool, named)) else "other"
    return "tool" if words[0] in _TOOLS else "other"


def _is_tool(name: str) -> bool:
    return name in _INSTALLED or name.startswith("flake8-")
