"""`fixer demo`: a small Lightning 1.x project, broken by Lightning 2, taken the whole way."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from fixer.errors import UsageError
from fixer.pipeline import Progress, RunOptions, run
from fixer.result import Result
from fixer.settings import SharedOptions


def run_demo(verify: bool, progress: Progress, records: Path | None = None, budget: float | None = None) -> Result:
    """Writes the project into a temporary repository, which stays, and runs fixer on it; what the proof records is kept
    in `records`."""
    folder = Path(tempfile.mkdtemp(prefix="fixer-demo-"))
    try:
        write_demo(folder)
        result = run(SharedOptions(path=folder), RunOptions(verify=verify, records=records, budget=budget), progress)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    place = f"the demo project is in {folder}; look at it with `cd {folder} && git log --stat -p {result.branch}`"
    return replace(result, command="demo", project="demo", messages=(*result.messages, place))


def write_demo(folder: Path) -> None:
    """Makes a repository with one commit of the demo project in an empty folder."""
    if shutil.which("git") is None:
        raise UsageError("git is not installed, and fixer works on git repositories; install it")
    with as_file(files("fixer") / "demo_project") as project:
        for file in sorted(project.iterdir()):
            if file.is_file():
                name = ".gitignore" if file.name == "gitignore" else file.name
                shutil.copyfile(file, folder / name)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "A model of noisy waves")


def _git(folder: Path, *arguments: str) -> None:
    settings = ("user.name=demo", "user.email=demo@fixer.invalid", "commit.gpgsign=false", "core.hooksPath=/dev/null")
    options = [part for setting in settings for part in ("-c", setting)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *options, *arguments]
    done = subprocess.run(command, capture_output=True, env=environment)
    if done.returncode:
        raise UsageError(f"{folder}: git {arguments[0]} failed: {done.stderr.decode(errors='replace')}; update git")
