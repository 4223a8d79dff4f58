"""What the command line says is to be run for the proof, for this one time: it wins over the settings."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from fixer.errors import UsageError
from fixer.project import Project

COMMAND_LINE = "command line"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class EntryOptions:
    """`--script`, `--command`, `--args` and `--env`; None where nothing was said."""

    script: str | None = None
    command: str | None = None
    args: tuple[str, ...] | None = None
    env: tuple[tuple[str, str], ...] = ()

    @property
    def option(self) -> str | None:
        """An option that was given, None where none was."""
        said = {"--script": self.script, "--command": self.command, "--args": self.args, "--env": self.env or None}
        return next((name for name, value in said.items() if value is not None), None)


def given(script: str | None, command: str | None, args: str | None, env: Sequence[str]) -> EntryOptions:
    """The options as they were typed. Raises UsageError for what cannot be meant."""
    if script is not None and command is not None:
        raise UsageError("--script and --command both name what is to be run; give one of them")
    return EntryOptions(
        script, command, _words("--args", args) if args is not None else None, tuple(map(_variable, env))
    )


def laid_over(project: Project, asked: EntryOptions) -> Project:
    """The project with what was asked for in the place of its settings: a script or a command in that of both and of
    their arguments, variables beside those that are set. Raises UsageError for a script that the project has not."""
    if asked.option is None:
        return project
    held = project.config.verify
    if asked.script is not None:
        held = replace(held, script=_script(project, asked.script), command=None, args=())
    if asked.command is not None:
        _check_command(project, asked.command)
        held = replace(held, script=None, command=asked.command, args=())
    if asked.args is not None:
        if not (held.script or held.command):
            raise UsageError("--args: there is no script to give them to; name it with --script")
        held = replace(held, args=asked.args)
    held = replace(held, env=tuple({**dict(held.env), **dict(asked.env)}.items()))
    return replace(project, config=replace(project.config, verify=held, origin=COMMAND_LINE))


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _NAME.fullmatch(name):
        raise UsageError(f"--env {text}: give NAME=VALUE, such as --env DATA=data/tiny")
    return name, value


def _words(option: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{option} {text}: {str(error).lower()}; write it as in a shell") from None


def _script(project: Project, text: str) -> str:
    """The path of a script from the project's root; it may be given from the current folder too."""
    known = {source.path for source in project.sources}
    here = Path(text).absolute()
    places = [here.resolve(), here] if here.exists() else []
    paths = [place.relative_to(project.root.resolve()).as_posix() for place in places
             if place.is_relative_to(project.root.resolve())]  # fmt: skip
    for path in (*paths, PurePosixPath(text).as_posix()):
        if path in known:
            return path
    lies_there = bool(paths) or (project.root / text).is_file()
    if lies_there and project.committed:
        raise UsageError(f"--script {text}: it is not in the commit {(project.base or '')[:10]}; commit it first")
    raise UsageError(f"--script {text}: there is no such file in the project; give its path from {project.root}")


def _check_command(project: Project, text: str) -> None:
    from verify.reading.entry import started

    words = _words("--command", text)
    script = started(words, {source.path for source in project.sources})[0] if words else None
    if script not in {source.path for source in project.sources}:
        raise UsageError(
            f"--command {text}: it does not start a Python file of the project; give `python FILE ARGS` or "
            "`python -m MODULE ARGS`"
        )
