"""Answers what a script fetches by itself where there is no network: nothing comes, no file is written and no archive
has anything in it, so that what reads the data says by its errors what it needs.

Runs in the target's interpreter, beside the harness: standard library alone. What a server answers is never replaced.
"""

from __future__ import annotations

import builtins
import email.message
import functools
import io
import os
import shutil
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from .alone_weights import unreached
from .trackers import Changed

UNFETCHED: dict[str, None] = {}
"""The addresses from which nothing came."""
_TIMES: list[None] = []
"""One for each time that nothing came."""
_PLACES: set[str] = set()
"""Where the files would lie that did not come."""
_CLIENTS = frozenset({"gdown", "http", "requests", "torchvision", "urllib", "urllib3", "wget"})
_HELPERS = ("download_url", "download_and_extract_archive", "download_file_from_google_drive", "extract_archive")


def is_asked(error: BaseException, frames: Sequence[tuple[FrameType, int]], root: Path) -> bool:
    """Whether a script ended since it fetches something by itself and no server is reached."""
    own = [number for number, (frame, _) in enumerate(frames) if _is_own(frame, root)]
    if not _is_out_of_reach(error) or not own:
        return False
    beneath = {str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in frames[own[-1] + 1 :]}
    return bool(beneath & _CLIENTS) and not beneath - _CLIENTS - {"socket", "ssl", "tqdm", "contextlib"}


def _is_out_of_reach(error: BaseException) -> bool:
    """Whether no server was there to answer; one that refuses was."""
    return unreached(error) and getattr(error, "code", None) is None


def _is_own(frame: FrameType, root: Path) -> bool:
    path = frame.f_code.co_filename
    return not path.startswith("<") and Path(path).resolve().is_relative_to(root.resolve())


def _is_for_script(root: Path) -> bool:
    """Whether it is a line of the project that has a client fetch something, and not another library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if _is_own(frame, root):
            return True
        if name != __name__ and name.partition(".")[0] not in _CLIENTS:
            return False
        frame = frame.f_back
    return False


def stand_in(root: Path) -> None:
    """Have it so for what is fetched from now on."""
    pending: list[str] = []
    _of_python(pending, root)
    _of_files(pending)
    _of_archives()
    for name, change in (
        ("requests.sessions", functools.partial(_of_requests, pending=pending, root=root)),
        ("torchvision.datasets.utils", functools.partial(_of_torchvision, root=root)),
        ("gdown", functools.partial(_of_tool, name="download", place="output")),
        ("wget", functools.partial(_of_tool, name="download", place="out")),
    ):
        if name in sys.modules:
            change(sys.modules[name])
        else:
            sys.meta_path.insert(0, Changed(name, change))


def _failed(url: Any, place: Any = None) -> None:
    UNFETCHED[str(getattr(url, "full_url", url))] = None
    _TIMES.append(None)
    if place:
        _PLACES.add(os.path.abspath(os.fspath(place)))  # noqa: PTH100


def _put(holder: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
    if original := getattr(holder, name, None):  # a project may have a module of that name
        setattr(holder, name, functools.wraps(original)(make(original)))


class Nothing(io.BytesIO):
    """What Python's own client gives for an address from which nothing came."""

    status = code = 200

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url, self.headers = url, email.message.Message()

    def info(self) -> email.message.Message:
        """Nothing about it is known."""
        return self.headers

    def geturl(self) -> str:
        """The address that was asked for."""
        return self.url

    def getcode(self) -> int:
        """All is well."""
        return self.status


class Unwritten(io.BytesIO):
    """A file of what did not come, which is not there; what else is written to it is."""

    def __init__(self, path: Any, opened: Callable[..., Any]) -> None:
        super().__init__()
        self.name, self._opened = path, opened

    def close(self) -> None:
        """Keeps what was written after all: it did not come from an address."""
        held = b"" if self.closed else self.getvalue()
        super().close()
        if held:
            _PLACES.discard(os.path.abspath(self.name))  # noqa: PTH100
            with self._opened(self.name, "wb") as file:
                file.write(held)


def _of_python(pending: list[str], root: Path) -> None:
    made: Any = urllib.request

    def opening(original: Any) -> Any:
        def urlopen(url: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(url, *args, **kwargs)
            except OSError as error:
                if not (_is_out_of_reach(error) and _is_for_script(root)):
                    raise
            _failed(url)
            pending.append(str(url))
            return Nothing(str(getattr(url, "full_url", url)))

        return urlopen

    def retrieving(original: Any) -> Any:
        plain = made.urlopen

        def urlretrieve(url: Any, filename: Any = None, *args: Any, **kwargs: Any) -> Any:
            own, made.urlopen = made.urlopen, plain
            try:
                return original(url, filename, *args, **kwargs)
            except OSError as error:
                if not _is_out_of_reach(error):
                    raise
            finally:
                made.urlopen = own
            _failed(url, filename)
            return filename or os.devnull, email.message.Message()

        return urlretrieve

    _put(made, "urlretrieve", retrieving)
    _put(made, "urlopen", opening)


def _of_requests(module: Any, pending: list[str], root: Path) -> None:
    def requesting(original: Any) -> Any:
        def request(self: Any, method: Any, url: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(self, method, url, *args, **kwargs)
            except OSError as error:
                is_fetched = _is_out_of_reach(error) and str(method).upper() == "GET"
                if not (is_fetched and _is_for_script(root)):
                    raise
            _failed(url)
            pending.append(str(url))
            answer = sys.modules["requests.models"].Response()
            answer.status_code, answer.url, answer._content, answer.raw = 200, str(url), b"", io.BytesIO()
            return answer

        return request

    _put(getattr(module, "Session", None), "request", requesting)


def _of_tool(module: Any, name: str, place: str) -> None:
    def fetching(original: Any) -> Any:
        def fetch(url: Any = None, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(url, *args, **kwargs)
            except OSError as error:
                if not _is_out_of_reach(error):
                    raise
            target = args[0] if args else kwargs.get(place) or Path(str(url)).name
            _failed(url, target)
            return target

        return fetch

    _put(module, name, fetching)


def _of_torchvision(module: Any, root: Path) -> None:
    def helping(original: Any) -> Any:
        def helper(*args: Any, **kwargs: Any) -> Any:
            times = len(_TIMES)
            try:
                return original(*args, **kwargs)
            except (OSError, RuntimeError):
                did_not_come = len(_TIMES) > times or any(map(_is_out, (*args, *kwargs.values())))
                if not did_not_come or not _is_own(sys._getframe(1), root):
                    raise

        return helper

    for name in _HELPERS:
        _put(module, name, helping)


def _of_files(pending: list[str]) -> None:
    """Write no file of what did not come, and let one be taken away that is not there for that."""

    def opening(original: Any) -> Any:
        def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if pending and "w" in mode and "b" in mode and isinstance(file, str | os.PathLike):
                _failed(pending.pop(), file)
                return Unwritten(file, original)
            return original(file, mode, *args, **kwargs)

        return opened

    def removing(original: Any) -> Any:
        def remove(path: Any, *args: Any, **kwargs: Any) -> Any:
            return None if _is_out(path) else original(path, *args, **kwargs)

        return remove

    _put(builtins, "open", opening)
    _put(io, "open", opening)
    for name in ("remove", "unlink"):
        _put(os, name, removing)


def _is_out(file: Any) -> bool:
    """Whether a file would be there if it had come."""
    if isinstance(file, io.BytesIO):
        return bool(UNFETCHED) and not file.getbuffer().nbytes
    if not isinstance(file, str | os.PathLike):
        return False
    return os.path.abspath(file) in _PLACES and not os.path.exists(file)  # noqa: PTH100, PTH110


def _of_archives() -> None:
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    made: dict[str, Any] = {"zip": zipfile.ZipFile, "tar": tarfile.TarFile, "shutil": shutil}

    def zipped(original: Any) -> Any:
        def begin(self: Any, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> None:
            is_out = mode == "r" and _is_out(file)
            original(self, io.BytesIO(empty.getvalue()) if is_out else file, mode, *args, **kwargs)

        return begin

    def tarred(original: Any) -> Any:
        def opened(name: Any = None, mode: str = "r", fileobj: Any = None, **kwargs: Any) -> Any:
            if mode.startswith("r") and _is_out(fileobj if fileobj is not None else name):
                return original(None, "r:", io.BytesIO(bytes(10_240)), **kwargs)
            return original(name, mode, fileobj, **kwargs)

        return opened

    def unpacking(original: Any) -> Any:
        def unpack(filename: Any, *args: Any, **kwargs: Any) -> Any:
            return None if _is_out(filename) else original(filename, *args, **kwargs)

        return unpack

    _put(made["zip"], "__init__", zipped)
    _put(made["tar"], "open", tarred)
    _put(tarfile, "open", tarred)
    _put(made["shutil"], "unpack_archive", unpacking)
