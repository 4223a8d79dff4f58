"""What the owner of a project can do where nothing of it trained here."""

from __future__ import annotations

import re
from pathlib import Path

from verify.distributions import AMBIGUOUS

_SETTINGS = "under [tool.fixer.verify] in pyproject.toml"
_OURS = rf"(?!(?:pytorch_lightning|lightning|{'|'.join(sorted(AMBIGUOUS))})\b)"
"""What is no other package that could be installed: Lightning, and names of the project's own files."""
_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"arguments are required|Missing (?:option|argument|parameter)|required (?:option|flag)|must have a value",
        f'it asks for arguments that only you know: name them with `script = "..."` and `args = [...]` {_SETTINGS}',
    ),
    (
        r"mutable default <class '[\w.]+'> for field",
        "Python refuses this default since 3.11, with any Lightning: write `field(default_factory=...)` there, or name "
        "an interpreter of Python 3.10 that has the target's Lightning with `--python`",
    ),
    (
        rf"NotFoundError: No module named '{_OURS}(?P<name>\w+)|PackageMissing: {_OURS}(?P<other>\w+)(?:\.\w+)* is not "
        "installed",
        "{name} could not be installed here: name an interpreter that has it, with torch and the target's Lightning, "
        f"with `--python`, and one for the old code with `baseline-python` {_SETTINGS}",
    ),
    (
        r"No CUDA GPUs|not compiled with CUDA|Found no NVIDIA|Torch not linked|CUDA_HOME|requires? (?:a )?GPU",
        "it trains on a GPU alone: run `fixer verify` on a machine that has one",
    ),
    (
        r"gaierror|NameResolution|Max retries|Connection(?:Error|Refused)|URLError|couldn't connect|LocalEntryNotFound|"
        r"Network is unreachable|offline mode|Name or service not known|OfflineModeIsEnabled",
        "it downloads, and the proof runs without network: name a command that needs nothing from outside " + _SETTINGS,
    ),
    (
        r"FileNotFoundError|NotADirectoryError|No such file|not an? (?:existing|valid) (?:file|directory)|"
        r"empty iterable|num_samples should be a positive|[Dd]ataset not found|does not exist",
        "its data is not in the repository: name a command that trains on a sample that is, with "
        f'`script = "..."` and `args = [...]` {_SETTINGS}',
    ),
    (
        r"MissingMandatoryValue|Missing mandatory value|InterpolationKeyError|You must specify",
        f"its configuration leaves values open: name them with `args = [...]` {_SETTINGS}",
    ),
    (
        r"executed nothing of what was changed",
        f'name a command that does, with `script = "..."` and `args = [...]` {_SETTINGS}',
    ),
    (
        r"module 'numpy' has no attribute|removed in the NumPy 2",
        "it uses a name that NumPy dropped, and no version with it goes with this Python",
    ),
)
_MOST = 2
_COMPILED = re.compile(r"(?:No module named '(?:\w+\.)*|cannot import name ')(\w+)'")


def advice(reason: str, root: Path) -> str:
    """What to do about a reason for which nothing of the tree at `root` trained, to be added to it; empty where nothing
    fits."""
    found = []
    for module in _COMPILED.findall(reason):
        if source := next(iter((*root.rglob(f"{module}.pyx"), *root.rglob(f"{module}/*.pyx"))), None):
            where = source.relative_to(root).as_posix()
            told = f"{where} has to be compiled first: name the command with `setup = [...]` and a `script` {_SETTINGS}"
            return f"; {told}"
    for pattern, told in _ADVICE:
        if match := re.search(pattern, reason):
            names = match.groupdict()
            found.append(told.replace("{name}", (names.get("name") or names.get("other") or "").split(".")[0]))
    return "".join(f"; {told}" for told in found[:_MOST])
