"""Making a virtual environment and installing into it, by uv where it is there, else by venv and pip."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verify.process import Limits, memory, run, scrubbed

_SECONDS = 1200.0
_UPGRADE = "--upgrade-package="
COMPILED = (
    "av", "blis", "faiss-cpu", "fiona", "grpcio", "h5py", "jaxlib", "lightgbm", "llvmlite", "lxml", "matplotlib",
    "netcdf4", "numba", "numexpr", "numpy", "onnx", "onnxruntime", "opencv-contrib-python", "opencv-python",
    "opencv-python-headless", "pandas", "pillow", "polars", "pyarrow", "pyproj", "rasterio", "ray", "scikit-image",
    "scikit-learn", "scipy", "sentencepiece", "shapely", "spacy", "statsmodels", "tables", "thinc", "tokenizers",
    "torch", "torchaudio", "torchvision", "xgboost",
)  # fmt: skip
"""What is taken as a wheel or not at all: to compile it takes longer than the proof."""
_LISTS = {"find-links": "--find-links", "extra-index-url": "--extra-index-url", "trusted-host": "--allow-insecure-host"}


@dataclass(frozen=True)
class Installer:
    """How to make environments on this machine: the `uv` program, if any, and the flags that pip's settings mean."""

    uv: Path | None
    flags: tuple[str, ...]
    environment: Mapping[str, str]
    stop: threading.Event

    @property
    def any_metadata(self) -> bool:
        """Whether releases whose metadata pip refuses can be installed, and what they ask for be overridden."""
        return self.uv is not None

    def create(self, folder: Path, python: Path) -> str | None:
        """Make an empty environment; what went wrong is returned."""
        if self.uv:
            return self._run([str(self.uv), "venv", "--quiet", "--python", str(python), str(folder)])
        return self._run([str(python), "-m", "venv", str(folder)])

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        """Install into an environment; what went wrong is returned."""
        python = str(interpreter(folder))
        if not self.uv:
            asked = ["--upgrade" if line.startswith(_UPGRADE) else line for line in requirements]
            only = f"--only-binary={','.join(COMPILED)}"
            return self._run([python, "-m", "pip", "install", "--quiet", "--no-input", only, *asked])
        more: list[str] = []
        if overrides:
            listed = folder / "overrides.txt"
            listed.write_text("\n".join(overrides), encoding="utf-8")
            more = ["--override", str(listed)]
        more += [f"--only-binary={name}" for name in COMPILED]
        command = [str(self.uv), "pip", "install", "--quiet", "--python", python, *self.flags, *more]
        return self._run([*command, *requirements])

    def remove(self, folder: Path, name: str) -> None:
        """Take a distribution out of an environment."""
        python = str(interpreter(folder))
        if self.uv:
            self._run([str(self.uv), "pip", "uninstall", "--quiet", "--python", python, name])
        else:
            self._run([python, "-m", "pip", "uninstall", "--quiet", "--yes", name])

    def loads(self, folder: Path, module: str, first: str = "") -> bool:
        """Whether a module can be imported in an environment, after some other code."""
        return self._run([str(interpreter(folder)), "-I", "-c", f"{first}\nimport {module}"]) is None

    def says(self, folder: Path, code: str, *args: str) -> str:
        """What a program prints in an environment, with a home of its own and nothing of the folder that we are in."""
        home = folder / "home"
        home.mkdir(exist_ok=True)
        command = [str(interpreter(folder)), "-I", "-c", code, *args]
        try:
            return run(command, home, scrubbed(home, 1), self._limits, self.stop).output
        except OSError as error:
            return f"it could not be started: {error}"
        finally:
            shutil.rmtree(home, ignore_errors=True)

    @property
    def _limits(self) -> Limits:
        return Limits(_SECONDS, memory(), 4096)

    def _run(self, command: Sequence[str]) -> str | None:
        try:
            outcome = run(command, Path.cwd(), self.environment, self._limits, self.stop)
        except OSError as error:
            return f"{command[0]} could not be started: {error}"
        if outcome.ended:
            return outcome.ended
        return None if outcome.status == 0 else told(outcome.output) or f"{command[0]} ended with {outcome.status}"


_WRONG = ("error", "because", "and because", "no solution", "cause")


def told(output: str) -> str:
    """The lines of an installer's output that say what went wrong."""
    lines = [line.encode("ascii", "ignore").decode().strip() for line in output.splitlines() if line.strip()]
    wrong = [line for line in lines if line.lower().startswith(_WRONG)]
    text = " ".join(wrong or lines[-3:])
    return text if len(text) <= 500 else f"{text[:499]}…"


def interpreter(folder: Path) -> Path:
    """The Python of an environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def find(stop: threading.Event) -> Installer:
    """What this machine installs with."""
    beside = Path(sys.executable).with_name("uv.exe" if sys.platform == "win32" else "uv")
    found = shutil.which("uv") or (str(beside) if beside.is_file() else None)
    settings = pip_settings()
    environment = {name: value for name, value in os.environ.items() if not _is_secret(name)}
    if cert := settings.get("cert"):
        environment.setdefault("SSL_CERT_FILE", cert)
    if proxy := settings.get("proxy"):
        environment.setdefault("HTTPS_PROXY", proxy)
        environment.setdefault("HTTP_PROXY", proxy)
    if timeout := settings.get("timeout") or settings.get("default-timeout"):
        environment.setdefault("UV_HTTP_TIMEOUT", timeout)
    return Installer(Path(found) if found else None, uv_flags(settings), environment, stop)


def _is_secret(name: str) -> bool:
    """Whether a variable is none of the installers' business: what they install may run code as it is built."""
    theirs = name.startswith(("PIP_", "UV_", "NETRC", "KEYRING_"))
    return not theirs and any(word in name.upper() for word in ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "API_KEY"))


def pip_settings() -> dict[str, str]:
    """What pip is configured with, by option; the environment wins over files."""
    try:
        command = [sys.executable, "-m", "pip", "config", "list"]
        listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        listed = f"# {error}"
    settings = parse_settings(listed)
    given = {name: value for name, value in os.environ.items() if name.startswith("PIP_") and value}
    return {**settings, **{name[4:].lower().replace("_", "-"): value for name, value in given.items()}}


def parse_settings(listed: str) -> dict[str, str]:
    """The lines of `pip config list` by option: `install.x` wins over `global.x`, the environment over both."""
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if section in found and value:
            try:
                found[section][option] = str(ast.literal_eval(value))
            except (ValueError, SyntaxError):
                continue
    return {**found["global"], **found["install"], **found[":env:"]}


def uv_flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    """uv's flags for pip's settings, which it does not read by itself."""
    flags = ["--index-strategy", "unsafe-best-match"]
    if index := settings.get("index-url"):
        flags += ["--default-index", index]
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        flags.append("--no-index")
    for option, flag in _LISTS.items():
        for value in settings.get(option, "").split():
            flags += [flag, value]
    return tuple(flags)
