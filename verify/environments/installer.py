"""Making a virtual environment and installing into it, by uv where it is there, else by venv and pip.

To build a package from its source runs its code, and what is installed can have code run whenever its interpreter
starts: so all of it is shut in, with the network on where something is fetched.
"""

from __future__ import annotations

import configparser
import contextlib
import math
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote

from packaging.utils import canonicalize_name
from platformdirs import site_config_dir, user_config_dir

from verify.environments.lines import Address
from verify.environments.netrc import entries_for
from verify.environments.origins import NOWHERE, Origins
from verify.sandbox.containment import Containment, contain
from verify.sandbox.process import Limits, Outcome, memory, run, scratch, scrubbed

STORE = "installer"
"""The folder, beside the environments, that installers may write to: what was fetched, and what is being built."""
_SECONDS = 1200.0
_DISK = 16 * 2**30
NO_TIME = "the time for environments ended"
_UPGRADE = "--upgrade-package="
_NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
COMPILED = (
    "av", "blis", "faiss-cpu", "fiona", "grpcio", "h5py", "jaxlib", "lightgbm", "llvmlite", "lxml", "matplotlib",
    "netcdf4", "numba", "numexpr", "numpy", "onnx", "onnxruntime", "opencv-contrib-python", "opencv-python",
    "opencv-python-headless", "pandas", "pillow", "polars", "pyarrow", "pyproj", "rasterio", "ray", "scikit-image",
    "scikit-learn", "scipy", "sentencepiece", "shapely", "soundfile", "spacy", "statsmodels", "tables", "thinc",
    "tokenizers", "torch", "torchaudio", "torchvision", "xgboost",
)  # fmt: skip
"""What is taken as a wheel or not at all: to compile it takes longer than the proof, or what is built of its source
lacks a library that its wheels bring."""
_ONLINE = (
    "/etc/resolv.conf", "/etc/gai.conf", "/etc/protocols", "/etc/services", "/etc/ca-certificates", "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted",
)  # fmt: skip
_THEIRS = frozenset({
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS",
    "CPATH", "LIBRARY_PATH", "PKG_CONFIG_PATH", "MAX_JOBS", "TORCH_CUDA_ARCH_LIST", "FORCE_CUDA",
})  # fmt: skip
"""Where the network is, and what compilers are told."""
_TO_BUILD = ("CMAKE_", "NVCC_")
_HOW = frozenset({"dry-run", "no-deps", "prefix", "python", "require-hashes", "root", "target", "user"})
"""What users ask for when they install for themselves: other places, and less or more than was named."""
_PATHS = ("find-links", "cert", "client-cert")
_UNREAD = re.compile(r"Failed to read `--find-links` URL: (\S+)")
_UNREACHED = re.compile(r"Failed to fetch: `?([^\s`]+)")
_LISTS = {"find-links": "--find-links", "extra-index-url": "--extra-index-url", "trusted-host": "--allow-insecure-host"}


@dataclass(frozen=True)
class Installer:
    """How to make environments on this machine: the `uv` program, if any, the flags that pip's settings mean, the
    variables that the tools are to have, how they are shut in, with the folders that Python `needs`, and where packages
    may come from besides."""

    uv: Path | None
    flags: tuple[str, ...]
    environment: Mapping[str, str]
    stop: threading.Event
    contained: Containment
    needs: tuple[str, ...]
    origins: Origins = NOWHERE
    left: Callable[[], float] = lambda: math.inf
    """How many seconds are left for all that is installed."""

    @property
    def any_metadata(self) -> bool:
        """Whether releases whose metadata pip refuses can be installed, and what they ask for be overridden."""
        return self.uv is not None

    def create(self, folder: Path, python: Path) -> str | None:
        """Make an empty environment; what went wrong is returned."""
        if self.uv:
            return self.fetch(
                [str(self.uv), "venv", "--quiet", "--relocatable", "--python", str(python), str(folder)], folder.parent
            )
        return self.fetch([str(python), "-m", "venv", str(folder)], folder.parent)

    def install(self, folder: Path, requirements: Sequence[str], overrides: Sequence[str] = ()) -> str | None:
        """Install into an environment; what went wrong is returned.

        What a project takes from an address is not looked for on an index for another package's sake either, and what
        it gives hashes of is checked against them.
        """
        python = str(interpreter(folder))
        barred = self.origins.barred(requirements)
        checked = {line: hashes for line in requirements if (hashes := self.origins.hashes_of(line))}
        hashed = [" ".join([line, *(f"--hash={one}" for one in hashes)]) for line, hashes in checked.items()]
        if not self.uv:
            return self._by_pip(folder, requirements, barred, hashed)
        more = [f"--only-binary={name}" for name in COMPILED]
        command = [str(self.uv), "pip", "install", "--quiet", "--python", python, *self.flags, *self._indexes(), *more]
        command += [line for line in requirements if line not in checked]
        never = [f"{name}; python_version < '0'" for name in barred]
        return self.fetch(command, folder.parent, {"--override": [*overrides, *never], "--requirement": hashed})

    def _by_pip(
        self, folder: Path, requirements: Sequence[str], barred: Iterable[str], hashed: list[str]
    ) -> str | None:
        """What is checked is installed first and by itself: pip asks for the hashes of all packages, or of none."""
        first = [str(interpreter(folder)), "-m", "pip", "install", "--quiet", "--no-input", *self._indexes()]
        first.append(f"--only-binary={','.join(COMPILED)}")
        if hashed:
            command = [*first, "--no-deps", "--require-hashes"]
            if wrong := self.fetch(command, folder.parent, {"--requirement": hashed}):
                return wrong
        asked = ["--upgrade" if line.startswith(_UPGRADE) else line for line in requirements]
        there = {name: installed_version(folder, name) for name in barred}
        never = [f"{name}=={version}" if version else f"{name}===0+elsewhere" for name, version in there.items()]
        return self.fetch([*first, *asked], folder.parent, {"--constraint": never})

    def _indexes(self) -> list[str]:
        """The flags for the indexes that a project names."""
        first = "--default-index" if self.uv else "--index-url"
        flags = {"index-url": first, "extra-index-url": "--extra-index-url", "find-links": "--find-links"}
        return [word for index in self.origins.indexes for word in (flags[index.option], index.place)]

    def for_project(self, origins: Origins) -> Installer:
        """This one, for what comes from the places that a project names."""
        return replace(self, origins=origins)

    def without(self, names: Iterable[str]) -> Installer:
        """This one, which looks for some distributions nowhere."""
        if not (barred := frozenset(names)):
            return self
        addresses = (*self.origins.addresses, Address("", barred))
        return replace(self, origins=replace(self.origins, addresses=addresses))

    def without_unread(self, wrong: str) -> Installer | None:
        """This one without the page of wheels that cannot be read, or the index of a project that is not reached, as an
        error of uv's says; None where none does. pip goes on without them by itself."""
        found, fetched = _UNREAD.search(wrong), _UNREACHED.search(wrong)
        page, place = found[1] if found else None, fetched[1] if fetched else ""
        indexes = self.origins.indexes
        left = tuple(
            each
            for each in indexes
            if not (each.place == page if each.option == "find-links" else place.startswith(each.place.rstrip("/")))
        )
        return replace(self, origins=replace(self.origins, indexes=left)) if len(left) < len(indexes) else None

    def remove(self, folder: Path, name: str) -> None:
        """Take a distribution out of an environment."""
        python = str(interpreter(folder))
        if self.uv:
            self.fetch([str(self.uv), "pip", "uninstall", "--quiet", "--python", python, name], folder.parent)
        else:
            self.fetch([python, "-m", "pip", "uninstall", "--quiet", "--yes", name], folder.parent)

    def compile(self, folder: Path, places: Iterable[str]) -> None:
        """Write the bytecode of what lies in these folders of an environment, in which nobody can write later: without
        it each process that trains compiles Lightning anew, which takes longer than most short trainings. None of the
        environment's own code runs; what does not compile is left."""
        own = [
            folder / name for name in sorted(places) if not Path(name).is_absolute() and ".." not in Path(name).parts
        ]
        if inside := [str(place) for place in own if place.is_dir()]:
            self.fetch([str(interpreter(folder)), "-I", "-S", "-m", "compileall", "-q", "-l", *inside], folder.parent)

    def loads(self, folder: Path, module: str, first: str = "") -> bool:
        """Whether a module can be imported in an environment, after some other code."""
        outcome = self._asked(folder, f"{first}\nimport {module}")
        return isinstance(outcome, Outcome) and outcome.ended is None and outcome.status == 0

    def says(self, folder: Path, code: str, *args: str) -> str:
        """What a program prints in an environment, where it runs as the project's code does."""
        outcome = self._asked(folder, code, *args)
        return outcome.output if isinstance(outcome, Outcome) else outcome

    def _asked(self, folder: Path, code: str, *args: str) -> Outcome | str:
        limits = Limits(min(_SECONDS, max(1.0, self.left())), memory(), 4096)
        with scratch() as own:
            command = [str(interpreter(folder)), "-I", "-c", code, *args]
            shut_in = self.contained.command(command, own, [str(folder), *self.needs], limits)
            try:
                return run(shut_in, own, scrubbed(own, 1), limits, self.stop, own)
            except OSError as error:
                return f"it could not be started: {error}"

    def fetch(
        self, command: Sequence[str], place: Path, lists: Mapping[str, Sequence[str]] = _NONE, seconds: float = _SECONDS
    ) -> str | None:
        """Run an installer, which may write below `place` and use the network; what went wrong is returned. `lists`
        are options that take a file of lines.

        It has a home of its own: of the user's it gets the settings that say where packages are, and no more.
        """
        if shutil.which(command[0]) is None:
            return f"{command[0]} could not be started: there is no such program"
        if self.left() <= 0:
            return NO_TIME
        limits = Limits(min(seconds, self.left()), memory(), 4096, _DISK)
        with scratch() as own:
            variables = {**scrubbed(own, os.cpu_count() or 1), **self.environment}
            for tool in ("UV", "PIP"):
                variables[f"{tool}_CACHE_DIR"] = str(place / tool.lower())
            secrets = Path(variables["HOME"], ".netrc")
            secrets.write_text(entries_for(self._told()), encoding="utf-8")
            secrets.chmod(0o600)
            for number, (option, lines) in enumerate(lists.items()):
                if lines:
                    listed = own / f"{number}.txt"
                    listed.write_text("\n".join(lines) + "\n", encoding="utf-8")
                    command = [*command, option, str(listed)]
            needs = [*self.needs, *_ONLINE, *_places(self._told()), *([str(self.uv)] if self.uv else [])]
            shut_in = self.contained.command(command, own, needs, limits, [place], online=True)
            try:
                outcome = run(shut_in, own, variables, limits, self.stop)
            except OSError as error:
                return f"{command[0]} could not be started: {error}"
        if outcome.ended:
            return outcome.ended
        return None if outcome.status == 0 else told(outcome.output) or f"{command[0]} ended with {outcome.status}"

    def _told(self) -> list[str]:
        """The places and addresses that settings name."""
        return [*self.flags, *(word for value in self.environment.values() for word in value.split())]


def installed_version(folder: Path, name: str) -> str | None:
    """The version of a distribution that an environment holds."""
    for place in folder.glob("[Ll]ib*/**/site-packages/*.dist-info"):
        found, _, version = place.name.removesuffix(".dist-info").partition("-")
        if canonicalize_name(found) == name:
            return version
    return None


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


def find(stop: threading.Event, contained: Containment | None = None) -> Installer:
    """What this machine installs with, shut in as far as the system lets us where nothing else is said."""
    beside = Path(sys.executable).with_name("uv.exe" if sys.platform == "win32" else "uv")
    found = shutil.which("uv") or (str(beside) if beside.is_file() else None)
    settings = {option: value for option, value in pip_settings().items() if option not in _HOW}
    environment = {name: value for name, value in os.environ.items() if is_theirs(name)}
    environment |= {f"PIP_{option.replace('-', '_').upper()}": value for option, value in settings.items()}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    if config := _uv_config():
        environment["UV_CONFIG_FILE"] = config
    if cert := settings.get("cert"):
        environment.setdefault("SSL_CERT_FILE", cert)
    if proxy := settings.get("proxy"):
        environment.setdefault("HTTPS_PROXY", proxy)
        environment.setdefault("HTTP_PROXY", proxy)
    if timeout := settings.get("timeout") or settings.get("default-timeout"):
        environment.setdefault("UV_HTTP_TIMEOUT", timeout)
    if contained is None:
        with scratch() as folder:
            contained = contain(folder / "tried")
    needs = (sys.prefix, sys.base_prefix, *sys.path)
    return Installer(Path(found) if found else None, uv_flags(settings), environment, stop, contained, needs)


def is_theirs(name: str) -> bool:
    """Whether a variable is the installers' business: what they install may run code as it is built."""
    tool, _, option = name.partition("_")
    settings = tool in ("PIP", "UV") and not name.startswith("UV_PUBLISH") and "TOKEN" not in name.upper()
    settings = settings and _option(option) not in _HOW
    return settings or name.upper() in _THEIRS or name.startswith(_TO_BUILD)


def _uv_config() -> str | None:
    """The file that uv is configured with: it would look for it in the user's home, or in the folder that we are in."""
    homes = (os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "/etc")
    named = os.environ.get("UV_CONFIG_FILE")
    places = [Path(named)] if named else [Path(home) / "uv" / "uv.toml" for home in homes]
    return next((str(place) for place in places if place.is_file()), None)


def _places(told: Iterable[str]) -> list[str]:
    """The folders and files of this machine that settings name."""
    found = (word.removeprefix("file://") for word in told)
    return [unquote(place) for place in found if place.startswith("/")]


def pip_settings() -> dict[str, str]:
    """What pip is configured with, by option: `install.x` wins over `global.x`, the environment over files. The files
    are read here, since fixer may run where no pip is, as below `uv tool`."""
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    for place in _pip_files():
        parser = configparser.RawConfigParser()
        with contextlib.suppress(OSError, configparser.Error):
            parser.read_string(place.read_text(encoding="utf-8", errors="replace"))
        for section in found.keys() & set(parser.sections()):
            found[section] |= {_option(name): value for name, value in parser.items(section) if value}
    given = {_option(name[4:]): value for name, value in os.environ.items() if name.startswith("PIP_") and value}
    settings = {**found["global"], **found["install"], **given}
    return {name: _absolute(value) if name in _PATHS else value for name, value in settings.items()}


def _option(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def _absolute(value: str) -> str:
    """Words of which some are paths from the folder that we are in, or the user's home: installers run elsewhere."""
    places = {word: Path(os.path.expanduser(word)) for word in value.split()}  # noqa: PTH111 - `~x` may be nobody's
    return " ".join(str(place.absolute()) if place.exists() else word for word, place in places.items())


def _pip_files() -> list[Path]:
    """The files that pip reads, the one that wins last: those of the machine, of the user, of this interpreter, and
    the one that `PIP_CONFIG_FILE` names, which takes the place of the user's."""
    named = os.environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    file = "pip.ini" if sys.platform == "win32" else "pip.conf"
    user = Path(user_config_dir("pip", appauthor=False, roaming=True))
    machine = site_config_dir("pip", appauthor=False, multipath=True).split(os.pathsep)
    if sys.platform == "darwin":
        user = user if user.is_dir() else Path("~/.config/pip").expanduser()
    elif sys.platform != "win32":
        machine.append("/etc")
    homes = [Path("~").expanduser() / ("pip" if sys.platform == "win32" else ".pip"), user]
    own = [] if named and Path(named).exists() else homes
    places = [Path(place) / file for place in [*machine, *map(str, own), sys.prefix]]
    return [*places, *([Path(named)] if named else [])]


def uv_flags(settings: Mapping[str, str]) -> tuple[str, ...]:
    """uv's flags for pip's settings, which it does not read by itself."""
    flags = ["--index-strategy", "unsafe-best-match"]
    if index := settings.get("index-url"):
        flags += ["--default-index", index]
    if ":all:" in settings.get("only-binary", ""):
        flags.append("--only-binary=:all:")
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        flags.append("--no-index")
    for option, flag in _LISTS.items():
        for value in settings.get(option, "").split():
            flags += [flag, value]
    return tuple(flags)
