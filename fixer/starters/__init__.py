"""`fixer init`: the settings and the files for CI that fit a project. What is there is never overwritten."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from fixer.errors import UsageError
from fixer.forge import place_of
from fixer.gitio import Repository, find_repository
from fixer.origin import address, requirement
from fixer.settings import NEWEST
from fixer.tokens import ForgeKind

_SETTINGS = "pyproject.toml"
_WORKFLOW = ".github/workflows/fixer.yml"
_PIPELINE = ".gitlab-ci.yml"
_PART = ".gitlab/fixer.gitlab-ci.yml"


@dataclass(frozen=True)
class Starter:
    """A file to write, or text to add to the end of one that is there; `why` says what it is for."""

    path: str
    text: str
    why: str
    added: bool = False


@dataclass(frozen=True)
class InitPlan:
    """What `init` would write below a root, and what it leaves as it is, with the reason."""

    root: Path
    starters: tuple[Starter, ...]
    left: tuple[str, ...]

    def text(self) -> str:
        """All of it, to be read before it is written."""
        shown = [
            f"{'add to' if one.added else 'new'} {one.path}  ({one.why})\n"
            + "".join(f"  | {line}".rstrip() + "\n" for line in one.text.splitlines())
            for one in self.starters
        ]
        return "\n".join([*shown, *(f"{line}\n" for line in self.left)])

    def write(self) -> None:
        """Writes it. Raises UsageError for a file that has come to be there meanwhile, and OSError."""
        for one in self.starters:
            place = self.root / one.path
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                with place.open("a" if one.added else "x", encoding="utf-8", newline="") as file:
                    file.write(one.text)
            except FileExistsError:
                raise UsageError(f"{place}: there is such a file now; it is left as it is") from None


def begin(path: Path) -> InitPlan:
    """What fits a project: its settings, and the files for the server that its remote names. Raises UsageError where
    there is no such folder."""
    if not path.is_dir():
        raise UsageError(f"{path}: there is no such folder; give the folder of a project")
    repository = find_repository(path.resolve())
    root = repository.root if repository else path.resolve()
    starters, left = [], []
    for one in (_settings(root), _pipeline(root, _kind(root, repository))):
        if isinstance(one, Starter):
            starters.append(one)
        else:
            left.append(one)
    if not address() and any(one.path != _SETTINGS for one in starters):
        left.append(
            f"the jobs install `{requirement()}` from the package index: see that it is yours there, "
            "or name where you took fixer from"
        )
    return InitPlan(root, tuple(starters), tuple(left))


def _settings(root: Path) -> Starter | str:
    text = _own("settings.toml").replace("@TARGET@", NEWEST)
    place = root / _SETTINGS
    if not place.exists():
        return Starter(_SETTINGS, text, "the settings of fixer")
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    there = place.read_text(encoding="utf-8", errors="replace")
    try:
        tool = tomlkit.parse(there).unwrap().get("tool", {})
    except (TOMLKitError, ValueError) as error:
        raise UsageError(f"{place}: not valid TOML: {error}; fix it first") from None
    if "fixer" in tool:
        return f"{_SETTINGS} has [tool.fixer] already: it is left as it is"
    gap = "\n" if there.endswith("\n") or not there else "\n\n"
    return Starter(_SETTINGS, gap + text, "the settings of fixer", added=True)


def _pipeline(root: Path, kind: ForgeKind | None) -> Starter | str:
    if kind is None:
        return "no remote on GitHub or GitLab is known: no file for CI is written (see docs/ci.md of fixer)"
    path, why = _WORKFLOW, "checks pull requests, and opens one of its own each week"
    if kind == "gitlab":
        if (root / _PIPELINE).is_file() and "fixer-migrate:" in (root / _PIPELINE).read_text("utf-8", "replace"):
            return f"{_PIPELINE} has the jobs of fixer already: it is left as it is"
        path = _PART if (root / _PIPELINE).exists() else _PIPELINE
        why = f"include it in {_PIPELINE}, and schedule a pipeline" if path == _PART else "schedule a pipeline for it"
    if os.path.lexists(root / path):
        return f"{path} is there already: it is left as it is"
    text = _own(f"{kind}.yml").replace("@FIXER@", requirement())
    return Starter(path, text.replace("@FIXER[verify,bot]@", requirement("verify,bot")), why)


def _kind(root: Path, repository: Repository | None) -> ForgeKind | None:
    """Where the project lies: by its remotes, `origin` first, else by the files that it has for CI."""
    names = repository.git("remote").decode("utf-8", "replace").split() if repository else []
    for name in sorted(names, key=lambda one: (one != "origin", one)):
        assert repository is not None
        place = place_of(os.fsdecode(repository.git("remote", "get-url", name)).strip())
        if place:
            return place.kind
    if (root / ".github").is_dir():
        return "github"
    return "gitlab" if (root / _PIPELINE).exists() else None


def _own(name: str) -> str:
    return resources.files("fixer.starters").joinpath(name).read_text(encoding="utf-8")
