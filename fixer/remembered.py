"""What is remembered of a project's files from one command to the next, so that the next looks at those alone that
changed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile

from codemods.code.source import Source
from codemods.engine.scan import Options
from codemods.engine.scan_cache import Memory

SMALL = 500_000
"""Bytes of files below which looking is as fast as remembering."""
KEPT = 50


def folder() -> Path:
    """Where it is kept."""
    from platformdirs import user_cache_path

    return user_cache_path("fixer") / "looks"


@contextlib.contextmanager
def remembering(root: Path, options: Options, sources: Sequence[Source]) -> Iterator[Memory]:
    """What is known of the project in a folder, for the rules of `options`; what is learned is kept, and of the
    projects that were not looked at for longest nothing. What cannot be read or written is not remembered."""
    memory = recalled(root, options, sources)
    yield memory
    if _is_large(sources) and memory.learned:
        with contextlib.suppress(OSError):
            _keep(_place(root, options), memory.dump())


def recalled(root: Path, options: Options, sources: Sequence[Source]) -> Memory:
    """What is known of the project in a folder, for who does not add to it."""
    known = b""
    if _is_large(sources):
        with contextlib.suppress(OSError):
            known = _place(root, options).read_bytes()
    return Memory(known)


def _is_large(sources: Sequence[Source]) -> bool:
    return sum(len(source.data) for source in sources) >= SMALL


def _place(root: Path, options: Options) -> Path:
    named = repr((str(root.resolve()), [rule.code for rule in options.rules])).encode(errors="surrogateescape")
    return folder() / blake2b(named, digest_size=16).hexdigest()


def places(days: float = 0) -> list[Path]:
    """What is kept of the projects that were not looked at for so many days, a file each."""
    root, then = folder(), time.time() - days * 86_400
    return [path for path in root.iterdir() if path.stat().st_mtime <= then] if root.is_dir() else []


def _keep(place: Path, data: bytes) -> None:
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=place.parent, prefix=".", delete=False) as stream:
        temporary = Path(stream.name)
        try:
            stream.write(data)
            stream.close()
            temporary.replace(place)
        except BaseException:
            temporary.unlink()
            raise
    for old in sorted(places(), key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        old.unlink(missing_ok=True)
