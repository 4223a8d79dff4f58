"""`fixer demo`: a small Lightning 1.x project, broken by Lightning 2, taken the whole way."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

from fixer.errors import UsageError
from fixer.pipeline import Progress, RunOptions, run
from fixer.result import Result
from fixer.settings import Asked


def run_demo(verify: bool, progress: Progress) -> Result:
    """Writes the project into a temporary repository, which stays, and runs fixer on it."""
    folder = Path(tempfile.mkdtemp(prefix="fixer-demo-"))
    try:
        write_demo(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    result = run(Asked(path=folder), RunOptions(verify=verify), progress)
    place = f"the demo project is in {folder}; look at it with `cd {folder} && git log --stat -p {result.branch}`"
    return replace(result, command="demo", messages=(*result.messages, place))


def write_demo(folder: Path) -> None:
    """Makes a repository with one commit of the demo project in an empty folder."""
    if shutil.which("git") is None:
        raise UsageError("git is not installed, and fixer works on git repositories; install it")
    with as_file(files("fixer") / "demo_project") as project:
        for file in sorted(project.iterdir()):
            if file.is_file():
                name = ".gitignore" if file.name == "gitignore" else file.name
                shutil.copyfile(file, folder / name)
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        (
            "-c",
            "user.name=demo",
            "-c",
            "user.email=demo@fixer.invalid",
            "-c",
            "commit.gpgsign=false",
            "-c",
            "core.hooksPath=/dev/null",
            "commit",
            "--quiet",
            "--message",
            "A model of noisy waves",
        ),
    ):
        subprocess.run(("git", "-C", str(folder), *arguments), check=True, capture_output=True)
