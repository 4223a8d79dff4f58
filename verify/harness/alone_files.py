"""Made-up files for loaders and datasets that read what is not here: pictures, arrays, sounds, lines and folders.

Runs in the target's interpreter, beside the harness: standard library, and numpy where it is installed.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import random
import re
import shutil
import struct
import traceback
import wave
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

MOST = 6
"""So many files and folders are made for one candidate."""
_TIFF = (".tif", ".tiff")
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif"})
SOUNDS = frozenset({".wav", ".flac", ".ogg", ".mp3"})
SUFFIXES = (".npy", ".npz", ".txt", *sorted(SOUNDS), *sorted(PICTURES))
SIDE, _RATE = 64, 16_000
LINES = 512
"""So many lines a text has: enough for several batches of pieces that are cut out of it."""
WORDS = ("one", "small", "line", "of", "words", "here")
_ABSENT = re.compile(
    r"(?i)not exist|no such file|not found|cannot find|can't find|unable to find|missing|error opening"
)
_PACKAGE = re.compile(r"(?i)module not found|no module named|pip3? install|conda install")
_QUOTED = re.compile(r"""['"`]([^'"`\n]+)['"`]""")
LISTS = re.compile(r"\b(?:listdir|scandir|iterdir|walk)\(")
READERS = (
    (re.compile(r"\bnp\.load\(|numpy\.load\("), ".npy"),
    (re.compile(r"Image\.open\(|\bimread\(|read_image\("), ".png"),
    (re.compile(r"wave\.open\(|wavfile\.read\("), ".wav"),
)


class MadeFiles:
    """Makes files below some folders and nowhere else; `announce` is told of each path before it is made, and `text`
    is the code that reads them."""

    def __init__(self, roots: Sequence[Path], text: str, announce: Callable[[str], None]) -> None:
        self.roots = [root.resolve() for root in roots]
        self.announce = announce
        self.suffix = next((found for found in re.findall(r"\.\w+(?=['\"])", text) if found in SUFFIXES), ".png")
        self.count = 0
        self.folders: list[Path] = []

    def serves(self, error: BaseException) -> bool:
        """Make what an error says is not there; whether something new is there now."""
        if self.count >= MOST:
            return False
        with contextlib.suppress(OSError, ImportError, ValueError):
            if isinstance(error, IsADirectoryError) and error.filename:
                return self._flattened(Path(os.fspath(error.filename)))
            for name in paths_named(error):
                place = self._inside(name)
                if place is not None and not place.exists():
                    return self._make(place, lines_of(error))
        return False

    def _inside(self, name: str) -> Path | None:
        """Where a path leads, if that is below one of the folders, also through links."""
        place = Path(name).resolve()
        return place if any(root in place.parents for root in self.roots) else None

    def _make(self, place: Path, lines: str) -> bool:
        reader = next((suffix for pattern, suffix in READERS if pattern.search(lines)), "")
        suffix = place.suffix.lower()
        if suffix not in SUFFIXES:
            suffix = "" if suffix else reader
        elif reader == ".wav" or (reader == ".npy" and suffix not in (".npy", ".npz")):
            suffix = reader
        if not suffix and (place.suffix or not (LISTS.search(lines) or "open(" not in lines)):
            return False
        self._begin(place)
        if suffix:
            write_file(place, suffix, self.count)
            return True
        self.folders.append(place)
        for number in range(4):
            part = place / "ab"[number // 2] / f"{number % 2}{self.suffix}"
            part.parent.mkdir(parents=True, exist_ok=True)
            write_file(part, self.suffix, number)
        return True

    def _flattened(self, place: Path) -> bool:
        """Put the files of a folder that was made into it: what is in it is read as a file."""
        folder = next((one for one in self.folders if one in place.resolve().parents), None)
        if folder is None:
            return False
        self.folders.remove(folder)
        for part in list(folder.iterdir()):
            shutil.rmtree(part)
        for number in range(4):
            write_file(folder / f"{number}{self.suffix}", self.suffix, number)
        return True

    def _begin(self, place: Path) -> None:
        self.count += 1
        missing = place
        while not missing.parent.exists():
            missing = missing.parent
        self.announce(str(missing))
        place.parent.mkdir(parents=True, exist_ok=True)


def remove(path: str) -> None:
    """Take away what was made."""
    with contextlib.suppress(OSError):
        if Path(path).is_dir():
            shutil.rmtree(path)
        else:
            Path(path).unlink()


def paths_named(error: BaseException) -> list[str]:
    """The paths that an error says are not there."""
    if isinstance(error, FileNotFoundError | NotADirectoryError) and error.filename:
        return [os.fsdecode(error.filename)] if isinstance(error.filename, str | bytes) else []
    text = str(error)
    if not _ABSENT.search(text) or _PACKAGE.search(text):
        return []
    words = [word.strip("'\"`,:;()[]").rstrip(".") for word in text.split()]
    found = [*_QUOTED.findall(text), *(word for word in words if "/" in word or Path(word).suffix in SUFFIXES)]
    return [name for name in found if "://" not in name and "\0" not in name]


def lines_of(error: BaseException) -> str:
    """The innermost lines of code that an error passed."""
    frames = list(traceback.walk_tb(error.__traceback__))[-4:]
    return "\n".join(linecache.getline(frame.f_code.co_filename, line).strip() for frame, line in frames)


def call_at(frame: FrameType) -> str:
    """The lines of a call that a frame is at, as far as its brackets go."""
    text = ""
    for number in range(frame.f_lineno, frame.f_lineno + 8):
        text += linecache.getline(frame.f_code.co_filename, number)
        if text.count("(") <= text.count(")"):
            break
    return text


def write_file(place: Path, suffix: str, seed: int, shape: tuple[int, ...] = (32, 32)) -> None:
    """A small file of a kind; the same for the same seed. Pictures are of at least `SIDE`, and PNG by any name but that
    of TIFF, which has readers of its own, and sounds WAV: other readers go by the content."""
    drawn = random.Random(seed)
    if suffix in PICTURES:
        side = max(SIDE, *shape) if shape else SIDE
        rows = b"".join(b"\0" + drawn.randbytes(3 * side) for _ in range(side))
        head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
        png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)
        place.write_bytes(_tiff(side, drawn.randbytes(3 * side * side)) if suffix in _TIFF else png)
    elif suffix in (".npy", ".npz"):
        import numpy

        made = numpy.random.RandomState(seed).rand(*shape).astype("float32")
        with place.open("wb") as file:
            if suffix == ".npy":
                numpy.save(file, made)
            else:
                numpy.savez(file, made)
    elif suffix in SOUNDS:
        with wave.open(str(place), "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(_RATE)
            sound.writeframes(bytes(drawn.randrange(256) for _ in range(2 * _RATE)))
    else:
        lines = [" ".join(drawn.sample(WORDS, len(WORDS))) for _ in range(LINES)]
        place.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _tiff(side: int, pixels: bytes) -> bytes:
    """A picture of three channels as one strip, uncompressed."""
    short, long, at = 3, 4, 8 + 2 + 12 * 9 + 4
    fields = (
        (256, long, 1, side), (257, long, 1, side), (258, short, 3, at), (259, short, 1, 1), (262, short, 1, 2),
        (273, long, 1, at + 6), (277, short, 1, 3), (278, long, 1, side), (279, long, 1, len(pixels)),
    )  # fmt: skip
    rows = b"".join(struct.pack("<HHII", *field) for field in fields)
    return struct.pack("<2sHIH", b"II", 42, 8, len(fields)) + rows + struct.pack("<I3H", 0, 8, 8, 8) + pixels


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
