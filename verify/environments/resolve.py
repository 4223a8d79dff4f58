"""Whether requirements can be installed together: resolved by uv or pip in an empty environment, without installing."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verify.environments.installer import Installer, find

_SECONDS = 300.0
_SHOWN = ("lightning", "pytorch-lightning", "lightning-fabric", "torch", "torchvision", "torchaudio", "torchmetrics")


@dataclass(frozen=True)
class Resolution:
    """What would be installed, as (name, version) pairs, or why nothing can be."""

    tool: str
    python: str
    packages: tuple[tuple[str, str], ...] = ()
    error: str | None = None

    def __str__(self) -> str:
        if self.error:
            return f"cannot be installed on Python {self.python}: {self.error}"
        shown = ", ".join(f"{name} {version}" for name, version in self.packages if name in _SHOWN)
        more = len(self.packages) - sum(name in _SHOWN for name, _ in self.packages)
        return f"would install on Python {self.python}, by {self.tool}: {shown or 'none of Lightning'}, and {more} more"


def resolve(requirements: Sequence[str]) -> Resolution:
    """Resolve requirements for this interpreter with what this machine installs with."""
    installer = find(threading.Event())
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    with tempfile.TemporaryDirectory(prefix="fixer-pins-") as folder:
        listed = Path(folder) / "requirements.txt"
        listed.write_text("\n".join(requirements) + "\n", encoding="utf-8")
        return _by_uv(installer, listed, python) if installer.uv else _by_pip(installer, listed, python)


def _by_uv(installer: Installer, listed: Path, python: str) -> Resolution:
    result = listed.with_name("resolved.txt")
    command = [
        str(installer.uv),
        "pip",
        "compile",
        "--quiet",
        "--no-header",
        "--no-annotate",
        "--python",
        sys.executable,
    ]
    command += [*installer.flags, "--output-file", str(result), str(listed)]
    error = installer.fetch(command, listed.parent, seconds=_SECONDS)
    if error:
        return Resolution("uv", python, error=error)
    pairs = (line.partition(";")[0].strip().partition("==") for line in result.read_text("utf-8").splitlines())
    return Resolution("uv", python, tuple((name, version) for name, equal, version in pairs if equal))


def _by_pip(installer: Installer, listed: Path, python: str) -> Resolution:
    report = listed.with_name("report.json")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--no-input"]
    command += ["--report", str(report), "-r", str(listed)]
    error = installer.fetch(command, listed.parent, seconds=_SECONDS)
    if error:
        return Resolution("pip", python, error=error)
    found = (item["metadata"] for item in json.loads(report.read_text("utf-8"))["install"])
    return Resolution("pip", python, tuple(sorted((item["name"].lower(), item["version"]) for item in found)))
