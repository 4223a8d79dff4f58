"""A file that a run did not find: whether it is data that the repository lacks, or something the project writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from verify.evidence import Failure
from verify.reading.names import last_name
from verify.reading.sources import Sources

_TYPES = ("FileNotFoundError", "NotADirectoryError")
_SAYS = re.compile(r"No such file|not an? (?:existing|valid) (?:file|directory)|[Nn]ot found|does not exist")
_QUOTED = re.compile(r"['\"`]([^'\"`\n]+)['\"`]")
_PATH = re.compile(r"(?<![\w:/])(?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)+")
_WRITES = frozenset(
    {
        "save", "savez", "savez_compressed", "savetxt", "dump", "to_csv", "to_json", "to_parquet", "to_pickle",
        "to_hdf", "imwrite", "imsave", "write_text", "write_bytes", "touch", "tofile", "write_image", "save_image",
        "copy", "copyfile", "urlretrieve", "savemat",
    }
)  # fmt: skip
_OPENS = frozenset({"open", "File", "ZipFile"})
_OF_TRAINING = re.compile(r"\.(?:ckpt|pth?|bin|safetensors|onnx)$|(?:^|/)lightning_logs(?:/|$)")
"""What a training leaves behind, which a short one does not."""


@dataclass(frozen=True)
class MissingPath:
    """A path that a run asked for, and the place in the project that writes it: None where nothing does."""

    path: str
    written: str | None


def missing_file(failure: Failure, sources: Sources) -> MissingPath | None:
    """The file or folder of data that ended a run because it is not there; None where the failure names none, where
    the repository has it, and where it is what a training leaves behind."""
    path = _path_in(failure)
    if path is None or _OF_TRAINING.search(path):
        return None
    last = PurePosixPath(path).name
    if not last or any(found.name == last for found in sources.root.rglob(last.replace("[", "[[]"))):
        return None
    return MissingPath(path, next(_writers(sources, path), None))


def _path_in(failure: Failure) -> str | None:
    """The path that an exception is about."""
    if failure.type not in _TYPES and not _SAYS.search(failure.message):
        return None
    quoted = _QUOTED.findall(failure.message)
    named = [text for text in quoted if "/" in text or (failure.type in _TYPES and text.strip())]
    found = named or _PATH.findall(failure.message)
    return found[-1].rstrip("/.") if found else None


def _writers(sources: Sources, path: str) -> Iterator[str]:
    """The places that write a file of that name, or files into a folder of that name."""
    parts = set(PurePosixPath(path).parts[-2:])
    for name in sources.paths():
        tree = sources.tree(name)
        if tree is None:
            continue
        known = _texts(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _is_writing(node):
                held = {part for text in _named(node, known) for part in PurePosixPath(text).parts}
                if held & parts - {"/", "."}:
                    yield f"{name}:{node.lineno}"


def _is_writing(call: ast.Call) -> bool:
    name = last_name(call.func)
    if name in _OPENS:
        modes = [*call.args[1:2], *call.args[:1], *(one.value for one in call.keywords if one.arg == "mode")]
        return any(isinstance(mode, ast.Constant) and re.fullmatch(r"[rwaxbt+]*[wax][wabt+]*", str(mode.value))
                   for mode in modes)  # fmt: skip
    return name in _WRITES


def _texts(tree: ast.Module) -> Mapping[str, tuple[str, ...]]:
    """The texts that names of a file are given."""
    found: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            texts = tuple(_constants(node.value))
            for target in node.targets:
                if isinstance(target, ast.Name) and texts:
                    found[target.id] = (*found.get(target.id, ()), *texts)
    return found


def _named(call: ast.Call, known: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The texts in a call, and those of the names in it."""
    for node in ast.walk(call):
        if isinstance(node, ast.Name):
            yield from known.get(node.id, ())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _constants(value: ast.expr) -> Iterator[str]:
    return (node.value for node in ast.walk(value) if isinstance(node, ast.Constant) and isinstance(node.value, str))
