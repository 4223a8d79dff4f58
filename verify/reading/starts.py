"""Which files of a tree train something when they are run."""

from __future__ import annotations

from collections.abc import Iterator

from verify.reading.outlines import FileOutline, OutlinePart, outline_of
from verify.reading.sources import Sources

_THROUGH = 3
"""How many files a name is followed through."""


def trains(found: FileOutline | None) -> bool:
    """Whether running a file builds a Lightning Trainer and calls `fit`, or hands over to LightningCLI."""
    if found is None:
        return False
    if found.trainer or found.hydra:
        return any(part.fits for part in _executed(found))
    return found.cli and any(part.called & found.clis for part in _executed(found))


def starts(sources: Sources, path: str) -> bool:
    """Whether running a file trains: by what it says itself, or by functions of other files that it calls."""
    found = outline_of(sources, path)
    if found is None or trains(found) or not found.started:
        return trains(found)
    parts = list(followed(sources, path))
    if not any(part.fits for _, part in parts):
        return hands_to_cli(sources, path)
    files = [each for place in dict(parts) if (each := outline_of(sources, place))]
    return any(each.trainer or each.hydra for each in files)


def hands_to_cli(sources: Sources, path: str) -> bool:
    """Whether running a file calls LightningCLI, or a class of the project's own that is one."""
    for place, part in followed(sources, path):
        found = outline_of(sources, place)
        if found and found.cli and part.called & found.clis:
            return True
    return False


def asks_for_fit(sources: Sources, path: str) -> bool:
    """Whether a file calls `fit` or `train` of something, with arguments, and loads files of the project of which one
    names a Trainer and one calls its `fit`: a library may train for those who use it."""
    found = outline_of(sources, path)
    if found is None or not found.asks:
        return False
    loaded = [each for other in sources.reach(path)[0] if other != path and (each := outline_of(sources, other))]
    return any(each.trainer for each in loaded) and any(each.trained for each in loaded)


def _executed(found: FileOutline) -> Iterator[OutlinePart]:
    """What runs with the file: module level, and functions and classes reached from there by name."""
    queue = [found.run]
    used: set[str] = set()
    while queue:
        part = queue.pop()
        yield part
        new = part.names & found.defined.keys() - used
        used |= new
        queue.extend(found.defined[name][-1] for name in new)


def followed(sources: Sources, path: str) -> Iterator[tuple[str, OutlinePart]]:
    """What runs with a file, each part with the file that holds it: also functions that it imports."""
    found = outline_of(sources, path)
    queue = [(path, found.run)] if found else []
    seen: set[int] = set()
    names: set[tuple[str, str]] = set()
    while queue:
        place, part = queue.pop()
        yield place, part
        new = {(place, name) for name in _told(sources, place, part)} - names
        names |= new
        reached = [each for _, name in sorted(new) for each in _definitions(sources, place, name, _THROUGH)]
        for each in (*reached, *_of_modules(sources, place, part)):
            if id(each[1]) not in seen:
                seen.add(id(each[1]))
                queue.append(each)


def _of_modules(sources: Sources, path: str, part: OutlinePart) -> Iterator[tuple[str, OutlinePart]]:
    """What a part calls of modules of the project that its file imports: `training.train()`."""
    found = outline_of(sources, path)
    imported = found.imported if found else {}
    for owner, name in sorted(part.of_others):
        for known, one in imported.get(owner, ()):
            module = known or one.module.rpartition(".")[2]
            for file in sources.local(path, one):
                inside = file.removesuffix("/__init__.py").removesuffix(".py")
                if file != path and inside.rpartition("/")[2] == module:
                    yield from _definitions(sources, file, name, _THROUGH)


def _told(sources: Sources, path: str, part: OutlinePart) -> frozenset[str]:
    """The names in a part that the file may define or import."""
    found = outline_of(sources, path)
    known = {*found.defined, *found.imported} if found else set()
    return part.names if "*" in known else part.names & known


def _definitions(sources: Sources, path: str, name: str, depth: int) -> list[tuple[str, OutlinePart]]:
    """Where a name of a file is defined as a function or a class, through the imports of the project's own files."""
    found = outline_of(sources, path)
    if found is None or not depth:
        return []
    if name in found.defined:
        return [(path, part) for part in found.defined[name]]
    taken = [(known, one) for known, one in found.imported.get(name, ())]
    taken += [(name, one) for _, one in found.imported.get("*", ())]
    files = [(file, known) for known, one in taken for file in sources.local(path, one) if file != path]
    return [each for file, known in files for each in _definitions(sources, file, known, depth - 1)]
