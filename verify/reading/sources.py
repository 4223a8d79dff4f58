"""The Python files of a tree, what they import from each other and from outside, and its configuration files."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from verify.reading.configurations import configurations
from verify.reading.names import last_name

T = TypeVar("T")
NAMESPACES = ("pytorch_lightning", "lightning")
_SKIPPED = frozenset({"node_modules", "site-packages", "build", "dist", "__pycache__", "venv", "env"})
LIMIT = 2_000_000
_QUOTED = re.compile(
    r'"""(?:\\.|.)*?(?:"""|\Z)|\'\'\'(?:\\.|.)*?(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*',
    re.DOTALL,
)
_AS = r"[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?"
_CYTHON = re.compile(
    rf"^[ \t]*(?:c?import[ \t]+({_AS}(?:[ \t]*,[ \t]*{_AS})*)"
    rf"|from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+c?import[ \t]+(?:\*|\(.*|{_AS}(?:[ \t]*,[ \t]*{_AS})*))[ \t]*$",
    re.MULTILINE,
)
_OF_CYTHON = re.compile(r"cython|libc|libcpp|cpython|posix|openmp|stdlib|stdio|python(_\w+)?")
"""What Cython brings with it, now or before its version 3."""


@dataclass(frozen=True)
class Import:
    """One imported name: `module` is dotted, `level` counts leading dots, `names` what a `from` takes."""

    module: str
    level: int
    names: tuple[str, ...]
    optional: bool


@dataclass
class Sources:
    """The Python and configuration files below `root`, parsed when asked for. Files that do not parse are as if
    empty."""

    root: Path
    _trees: dict[str, ast.Module | None] = field(default_factory=dict)
    _paths: tuple[str, ...] | None = None
    _loads: dict[str, tuple[tuple[Import, tuple[str, ...]], ...]] = field(default_factory=dict)
    _reached: dict[str, tuple[tuple[str, ...], frozenset[str]]] = field(default_factory=dict)
    _known: frozenset[str] = frozenset()
    _places: frozenset[str] | None = None
    _configured: tuple[tuple[str, Any], ...] | None = None
    _local: dict[tuple[PurePosixPath, Import], tuple[str, ...]] = field(default_factory=dict)
    _loaders: dict[str, list[str]] = field(default_factory=dict)
    _made: dict[tuple[Callable[..., Any], str], Any] = field(default_factory=dict)

    def paths(self) -> tuple[str, ...]:
        """The posix paths of all Python files, sorted."""
        if self._paths is None:
            self._paths = tuple(sorted(self._found("*.py")))
            self._known = frozenset(self._paths)
        return self._paths

    def _found(self, pattern: str) -> Iterator[str]:
        for path in self.root.rglob(pattern):
            relative = path.relative_to(self.root)
            hidden = any(part.startswith(".") or part in _SKIPPED for part in relative.parts[:-1])
            if not hidden and path.is_file() and not path.is_symlink():
                yield relative.as_posix()

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a file, None where there is none."""
        if path not in self._trees:
            self._trees[path] = _parse(self.root / path)
        return self._trees[path]

    def once(self, make: Callable[[Sources, str], T], path: str) -> T:
        """What `make` says of a file of this tree; it is asked once."""
        if (make, path) not in self._made:
            self._made[make, path] = make(self, path)
        found: T = self._made[make, path]
        return found

    def configurations(self) -> tuple[tuple[str, Any], ...]:
        """The paths and the contents of the YAML and JSON files, those with short paths first."""
        if self._configured is None:
            self._configured = tuple(configurations(self.root))
        return self._configured

    def packages(self, path: str) -> frozenset[str]:
        """The top-level packages that a file imports by absolute name."""
        return frozenset(found.module.split(".")[0] for found, _ in self.loads(path) if not found.level)

    def local(self, path: str, found: Import) -> tuple[str, ...]:
        """The files of this tree that an import in `path` may load."""
        folder = PurePosixPath(path).parent
        if (folder, found) not in self._local:
            self._local[folder, found] = self._loaded_from(folder, found)
        return self._local[folder, found]

    def _loaded_from(self, folder: PurePosixPath, found: Import) -> tuple[str, ...]:
        if found.level:
            for _ in range(found.level - 1):
                folder = folder.parent
            roots = [folder]
        else:
            roots = [folder, PurePosixPath("."), PurePosixPath("src"), *self._above(folder, found.module.split(".")[0])]
        every = [self._below(root, found) for root in roots]
        whole = (paths for paths, is_whole in every if is_whole)
        return next(whole, None) or next((paths for paths, _ in every if paths), ())

    def _above(self, folder: PurePosixPath, name: str) -> list[PurePosixPath]:
        """The folders above that hold a module of a name and are no packages: a script that lies there finds it."""
        if self._places is None:
            files = [PurePosixPath(path) for path in self.paths()]
            folders = {folder.as_posix() for file in files for folder in file.parents}
            self._places = frozenset(folders | {file.with_suffix("").as_posix() for file in files})
        if name in sys.stdlib_module_names:
            return []
        return [
            place
            for place in folder.parents
            if (place / name).as_posix() in self._places and (place / "__init__.py").as_posix() not in self._known
        ]

    def _below(self, root: PurePosixPath, found: Import) -> tuple[tuple[str, ...], bool]:
        """The files below a root that an import may load, and whether what it names is among them: a module beside the
        importing file may be called like the package that it is in."""
        base = root.joinpath(*found.module.split(".")) if found.module else root
        wanted = [base.joinpath(name) for name in found.names]
        above = [parent for parent in base.parents if parent != root and root in parent.parents]
        self.paths()
        named, around = (
            [name for step in steps for end in (".py", "/__init__.py") if (name := f"{step}{end}") in self._known]
            for steps in ([base, *wanted], above)
        )
        return (*named, *around), bool(named)

    def loads(self, path: str) -> tuple[tuple[Import, tuple[str, ...]], ...]:
        """What a file imports, each with the files of this tree that it may load."""
        if path not in self._loads:
            tree = self.tree(path)
            self._loads[path] = tuple((found, self.local(path, found)) for found in imports(tree)) if tree else ()
        return self._loads[path]

    def reach(self, script: str) -> tuple[tuple[str, ...], frozenset[str]]:
        """The files that running `script` may load, and the outside packages that it cannot do without."""
        if script not in self._reached:
            self._reached[script] = self._reach(script)
        return self._reached[script]

    def loaders(self, path: str) -> frozenset[str]:
        """The files that may load this one when they run, themselves or through others."""
        if not self._loaders:
            for each in self.paths():
                for loaded in {file for _, files in self.loads(each) for file in files}:
                    self._loaders.setdefault(loaded, []).append(each)
        seen = {path}
        queue = [path]
        while queue:
            new = [each for each in self._loaders.get(queue.pop(), ()) if each not in seen]
            seen.update(new)
            queue.extend(new)
        return frozenset(seen)

    def compiled(self, paths: Iterable[str]) -> frozenset[str]:
        """The outside packages that Cython files need which these files import; Cython is one of them."""
        built: dict[str, list[str]] = {}
        for source in self._found("*.pyx"):
            built.setdefault(PurePosixPath(source).stem, []).append(source)
        loaded = [one for path in paths for one, _ in self.loads(path)] if built else []
        names = {name for one in loaded for name in (one.module.rpartition(".")[2], *one.names)}
        sources = [source for name in names & set(built) for source in built[name]]
        if not sources:
            return frozenset()
        own = {
            part for end in ("pyx", "pxd") for path in self._found(f"*.{end}")
            for part in PurePosixPath(path).with_suffix("").parts
        }  # fmt: skip
        outside = {"Cython"}
        for source in sources:
            asked = _cython_imports(self.root / source) - own
            outside |= {name for name in asked if not self.local("_.py", Import(name, 0, (), False))}
        return frozenset(outside - sys.stdlib_module_names)

    def _reach(self, script: str) -> tuple[tuple[str, ...], frozenset[str]]:
        seen: dict[str, None] = {script: None}
        outside: set[str] = set()
        queue = [script]
        while queue:
            path = queue.pop()
            for found, files in self.loads(path):
                new = [name for name in files if name not in seen]
                seen.update(dict.fromkeys(new))
                queue.extend(new)
                if not files and not found.level and not found.optional:
                    outside.update(_needed(found))
        return tuple(seen), frozenset(outside - sys.stdlib_module_names)


def _needed(found: Import) -> Iterator[str]:
    """The packages that an import cannot do without: torch's writers of TensorBoard are that package's."""
    yield found.module.split(".")[0]
    if "tensorboard" in (*found.module.split(".")[1:], *found.names) and found.module.startswith("torch.utils"):
        yield "tensorboard"


def _parse(path: Path) -> ast.Module | None:
    try:
        data = path.read_bytes()
        return ast.parse(data) if len(data) <= LIMIT else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _cython_imports(path: Path) -> frozenset[str]:
    """The top-level packages that a Cython file imports or cimports, but those that Cython brings with it."""
    try:
        text = path.read_bytes()[:LIMIT].decode("utf-8", "replace")
    except OSError:
        return frozenset()
    lines = re.sub(r"\\\r?\n", " ", _QUOTED.sub(lambda found: "" if found[0][0] == "#" else "''", text))
    found = _CYTHON.findall(re.sub(r";|\r\n?", "\n", lines))
    names = {one.split()[0].split(".")[0] for whole, taken in found for one in (whole or taken).split(",")}
    return frozenset(name for name in names if not _OF_CYTHON.fullmatch(name))


def imports(tree: ast.Module) -> Iterator[Import]:
    """Every import of a module, wherever it stands; optional where a failing import is caught."""
    guarded = {id(node) for body in _guarded(tree) for node in body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, 0, (), id(node) in guarded)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            yield Import(node.module or "", node.level, names, id(node) in guarded)


def words(sources: Sources, path: str) -> set[str]:
    """The names that a file imports from others, or takes of something: `WandbLogger` of `pl.loggers.WandbLogger`."""
    tree = sources.tree(path)
    if tree is None:
        return set()
    taken = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return taken | {name for found, _ in sources.loads(path) for name in found.names}


def _guarded(tree: ast.Module) -> Iterator[list[ast.AST]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(catches_import(each) and not _gives_up(each) for each in node.handlers):
            parts = [*node.body, *node.handlers]
            yield [inner for part in parts for inner in ast.walk(part)]


def _gives_up(handler: ast.ExceptHandler) -> bool:
    """Whether a handler ends in an error or the end of the program: what failed is needed all the same."""
    last = handler.body[-1]
    called = last.value.func if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) else last
    return isinstance(last, ast.Raise) or last_name(called) in ("exit", "_exit", "quit")


def catches_import(handler: ast.ExceptHandler) -> bool:
    """Whether a handler is there for an import that fails."""
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "AttributeError"})
