"""Which LightningModules of a tree are trained alone, and how their files are imported."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from verify.reading.commands import starts_python
from verify.reading.datasets import nearest
from verify.reading.hints import Hints, hints
from verify.reading.names import in_tests, last_name
from verify.reading.shapes import recorded
from verify.reading.sources import NAMESPACES, Sources, imports

FILES, HEIRS = 6, 3
NAMED = 5
CODE = (".py", ".ipynb")
_READ = (".yaml", ".yml", ".json")
PACKAGING = ("setup.py",)
"""What says requirements alone: where nothing else changed, any module may train otherwise."""
_INSTALLS = re.compile(r"(?m)^dependencies:\s*(?:#.*)?$")
"""What a YAML file of an environment has."""
_CI = re.compile(r"(?:.*/)?(?:\.|azure-pipelines|appveyor\.yml|cloudbuild\.yaml|conda-lock\.)")
CARRIED = ("gradient_clip_val", "gradient_clip_algorithm", "accumulate_grad_batches")
"""Arguments of the Trainer that decide how a module trains: those that rewrites carry into it."""


@dataclass(frozen=True)
class ModuleFile:
    """A file with modules: the names it may be imported by, the classes to begin with, and where imports look."""

    path: str
    names: tuple[str, ...]
    paths: tuple[str, ...]
    classes: tuple[str, ...]


def chosen(before: Sources, after: Sources, changed: Iterable[str]) -> tuple[ModuleFile, ...]:
    """The changed files that define classes which may be modules, and, where none of these takes a training step, those
    that load changed files."""
    touched = [path for path in sorted(set(changed)) if path.endswith(".py") and path not in PACKAGING]
    own = [path for path in touched if _has_classes(after, path)]
    own.sort(key=lambda path: (not _names_step(after.tree(path)), in_tests(path), path))
    found = [_chosen(before, after, path) for path in own[:FILES]]
    if not any(_steps(after, each) for each in found):
        loading = (
            path
            for path in after.paths()
            if path not in touched and not in_tests(path) and _names_step(after.tree(path))
            and (not touched or set(touched) & set(after.reach(path)[0]))
        )  # fmt: skip
        found = [*(_chosen(before, after, path) for path in itertools.islice(loading, FILES)), *found]
    return tuple(found[:FILES])


def reached(after: Sources, changed: Iterable[str]) -> tuple[ModuleFile, ...]:
    """The modules that changed scripts train, and those that others load beside changed files, of which they may be
    built: not changed themselves."""
    touched = {path for path in changed if path.endswith(".py")}
    scripts = [*sorted(touched), *(path for path in after.paths() if touched & set(after.reach(path)[0]))]
    loaded = dict.fromkeys(path for script in scripts for path in after.reach(script)[0] if path not in touched)
    found = [path for path in loaded if _has_classes(after, path) and _names_step(after.tree(path))]
    return tuple(_chosen(after, after, path) for path in found[:FILES])


def heirs(after: Sources, files: Iterable[ModuleFile], trained: Collection[str]) -> tuple[ModuleFile, ...]:
    """The other files whose classes derive from those of `files` that were not `trained`: what takes a step and has
    nothing to train by itself may be a base of what has."""
    looked_at = {file.path: file for file in files}
    bases = {name for path, file in looked_at.items() for name in file.classes if f"{path}:{name}" not in trained}
    found: list[ModuleFile] = []
    for path in after.paths():
        derived = [name for name, above in _bases(after.tree(path)).items() if above & bases]
        if derived and path not in looked_at and not in_tests(path) and looked_at.keys() & set(after.reach(path)[0]):
            file = _chosen(after, after, path)
            rest = (name for name in file.classes if name not in derived)
            found.append(replace(file, classes=(*derived, *rest)))
    return tuple(found[:HEIRS])


def _bases(tree: ast.Module | None) -> dict[str, set[str]]:
    """The names of what each class of a file derives from, through others of that file too."""
    found: dict[str, set[str]] = {}
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef):
            above = {_named(base) for base in node.bases}
            found[node.name] = above.union(*(found.get(name, set()) for name in above))
    return found


def _named(base: ast.expr) -> str:
    return last_name(base.value if isinstance(base, ast.Subscript) else base)


def _has_classes(sources: Sources, path: str) -> bool:
    tree = sources.tree(path)
    if tree is None or not any(isinstance(node, ast.ClassDef) and node.bases for node in tree.body):
        return False
    return bool(sources.reach(path)[1] & set(NAMESPACES))


def _names_step(tree: ast.Module | None) -> bool:
    return tree is not None and any(
        isinstance(node, ast.FunctionDef) and node.name == "training_step" for node in ast.walk(tree)
    )


def _chosen(before: Sources, after: Sources, path: str) -> ModuleFile:
    pure = PurePosixPath(path)
    known = set(after.paths())
    base = pure.parent
    while base != PurePosixPath(".") and (base / "__init__.py").as_posix() in known:
        base = base.parent
    bases = [base, *base.parents]
    tree = after.tree(path)
    relative = (
        tree is not None and any(found.level for found in imports(tree)) and base == pure.parent != PurePosixPath(".")
    )
    if relative:
        bases = [*bases[1:], base]
    names = [".".join(_without(pure, one).with_suffix("").parts) for one in bases]
    names = [name.removesuffix(".__init__") for name in names]
    # not the folder of what imports from its own package: there, a file may hide a folder of the same name above
    near = () if relative else (base, pure.parent)
    paths = dict.fromkeys(one.as_posix() for one in (*near, *pure.parent.parents, PurePosixPath("src")))
    return ModuleFile(path, tuple(dict.fromkeys(names)), tuple(paths), _classes(before, after, path))


def _without(path: PurePosixPath, base: PurePosixPath) -> PurePosixPath:
    return path if base == PurePosixPath(".") else path.relative_to(base)


def _classes(before: Sources, after: Sources, path: str) -> tuple[str, ...]:
    """The classes of a file, those whose code is not as it was first."""
    old, new = (_by_name(sources.tree(path)) for sources in (before, after))
    return tuple(sorted(new, key=lambda name: (old.get(name) == new[name], list(new).index(name))))


def _by_name(tree: ast.Module | None) -> dict[str, str]:
    nodes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree else []
    return {node.name: code_of(node) for node in nodes}


_END = object()


def code_of(node: ast.AST, without: Callable[[object], bool] = lambda part: False) -> str:
    """What a piece of code is but for its places, and for parts of it; a long sum is nested too deep for ast.dump."""
    found: list[str] = []
    left: list[object] = [node]
    while left:
        value = left.pop()
        if value is _END:
            found.append(")")
        elif value is not node and without(value):
            continue
        elif isinstance(value, ast.AST | list):
            found.append(f"{type(value).__name__}(")
            inner = value if isinstance(value, list) else [each for _, each in ast.iter_fields(value)]
            left += [_END, *reversed(inner)]
        else:
            found.append(f"{value!r},")
    return "".join(found)


def described(sources: Sources, found: ModuleFile, built: Iterable[Mapping[str, Any]] = ()) -> Mapping[str, Any]:
    """A file as the harness takes it, with what scripts `built` its classes with and what else the project says of
    their arguments, and whether some class of it takes a training step: only such files take time."""
    said: Hints = hints(sources, found.path)
    calls = {name: list(said.calls.get(name, ())) for name in found.classes}
    for each in reversed(list(built)):
        if each["path"] == found.path and each["cls"] in calls:
            calls[each["cls"]] = [each["arguments"], *(one for one in calls[each["cls"]] if one != each["arguments"])]
    return {
        "path": found.path,
        "names": found.names,
        "classes": found.classes,
        "hints": {"values": said.values, "calls": calls, "groups": said.groups},
        "steps": _steps(sources, found),
        "data": [_data(sources, said, *one) for one in nearest(sources, found.path)],
        "shapes": [
            {"sizes": shape.sizes, "dtype": shape.dtype, "sides": shape.sides, "where": shape.place}
            for shape in recorded(sources, found.path, said.values)
        ],
    }


def _data(
    sources: Sources, said: Hints, path: str, datamodules: Sequence[str], datasets: Sequence[str]
) -> Mapping[str, Any]:
    """A file whose classes may give batches, as the harness takes it."""
    calls = {name: said.calls[name] for name in (*datamodules, *datasets) if name in said.calls}
    tree = sources.tree(path)
    return {
        "path": path,
        "names": _chosen(sources, sources, path).names,
        "modules": datamodules,
        "sets": datasets,
        "hints": {"values": said.values, "calls": calls, "groups": said.groups},
        "text": ast.unparse(tree) if tree else "",
    }


def _steps(sources: Sources, found: ModuleFile) -> bool:
    """Whether some class of a file defines or inherits a training step, by the names of bases."""
    classes = [
        node for path in sources.reach(found.path)[0] if (tree := sources.tree(path))
        for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    ]  # fmt: skip
    known, left = {node.name for node in classes if _defines_step(node)}, set(found.classes)
    seen: set[str] = set()
    while left:
        if left & known:
            return True
        seen |= left
        bases = (base for node in classes if node.name in left for base in node.bases)
        left = {_named(base) for base in bases} - seen
    return False


def _defines_step(node: ast.ClassDef) -> bool:
    names = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
    names += [last_name(target) for each in node.body if isinstance(each, ast.Assign) for target in each.targets]
    return "training_step" in names


def touches(root: Path, changed: Iterable[str], held: Collection[str]) -> bool:
    """Whether what was executed or read holds anything that was changed: requirements alone change it all."""
    found = {path for path in changed if path not in PACKAGING and (path.endswith(CODE) or configures(root, path))}
    return not found or not found.isdisjoint(held)


def unexecuted(root: Path, changed: Iterable[str], held: Collection[str]) -> tuple[str, ...]:
    """Which changed files, of code or of configurations, a run says nothing about."""
    return tuple(path for path in changed if path not in held and (path.endswith(CODE) or configures(root, path)))


def configures(root: Path, path: str) -> bool:
    """Whether a file says how something is trained, rather than what is installed or what a service is to do."""
    if _CI.match(path) or not path.endswith((*_READ, ".sh")):
        return False
    try:
        text = (root / path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return starts_python(text) if path.endswith(".sh") else not _INSTALLS.search(text)


def carried(sources: Sources) -> dict[str, Any]:
    """The arguments that every Trainer of a tree is built with, as far as they are written out and agree."""
    calls = [
        {keyword.arg: keyword.value for keyword in node.keywords}
        for path in sources.paths()
        if sources.packages(path) & set(NAMESPACES) and (tree := sources.tree(path))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and last_name(node.func) == "Trainer"
    ]
    found = {}
    for name in CARRIED:
        values = [call[name].value if isinstance(call[name], ast.Constant) else None for call in calls if name in call]  # type: ignore[attr-defined]
        if len(values) == len(calls) and len(set(values)) == 1 and isinstance(values[0], int | float | str):
            found[name] = values[0]
    return found
