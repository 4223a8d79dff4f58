"""The shapes that a project writes down about its data: tensors made of numbers, shapes that are called so, in code and
in configurations, and the sizes that images are brought to."""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from verify.reading.constants import LONGEST, ConstantNames, entries, number, sizes
from verify.reading.datasets import between, nearest
from verify.reading.sources import Sources

EACH, MOST = 12, 48
"""How many of one file, and of all."""
FILES = 100
_TELLING = re.compile(
    rb"\b(?:randn?|zeros|ones|empty|full|randint|\w*Tensor|normal|uniform|random|random_sample|standard_normal)\s*\("
    rb"|(?i:input|image|img|data|sample|\bin)_?(?i:shape|size|dim|resolution)|\bdims\b|Resize|Crop|resize"
    rb"|summary|get_model_complexity_info"
)
"""What a file without shapes has nothing of."""
_LOOKED_AT = (ast.Call, ast.Assign, ast.AnnAssign, ast.Dict, ast.FunctionDef, ast.AsyncFunctionDef)
_LEAVES = (ast.Constant, ast.Name, ast.expr_context, ast.operator, ast.alias)
LARGEST = 2**20
"""How many numbers a sample may have."""
_SIDE = range(8, 1025)
_README = 200_000

_SPREAD = frozenset(
    {f"torch.{name}" for name in ("randn", "rand", "zeros", "ones", "empty", "Tensor", "FloatTensor", "LongTensor")}
    | {"numpy.random.randn", "numpy.random.rand"}
)
"""Makers of tensors that take sizes one by one."""
_TENSORS = _SPREAD | {
    "torch.randint", "torch.full", "torch.normal", "numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full",
    "numpy.random.random", "numpy.random.random_sample", "numpy.random.uniform", "numpy.random.normal",
    "numpy.random.standard_normal", "numpy.random.randint",
}  # fmt: skip
_OF_DATA = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.LongTensor"})
"""Those whose lists are values, not sizes."""
_WHOLE = frozenset({"torch.randint", "torch.LongTensor", "numpy.random.randint"})
_CASTS = {"long": "int64", "int": "int64", "float": "float32", "double": "float32", "half": "float32", "bool": "bool"}
_SHAPES = re.compile(r"(?:\w+_)?(?:input|image|img|data|sample|in)_?(?:shape|size|dims?|resolution)|dims")
_IMAGES = re.compile(r"(?:\w+_)?(?:image|img|crop)_?(?:shape|size|dims?|res(?:olution)?)")
_SUMMARIES = frozenset({"summary", "get_model_complexity_info"})
_CROPS = frozenset({"Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop"})
_WEIGHTS = frozenset({"Parameter", "register_buffer", "register_parameter", "Buffer"})
_OF_DATA_METHODS = re.compile(r"\w+_dataloaders?|setup|prepare_data")


@dataclass(frozen=True)
class Shape:
    """Sizes that are written down: of a sample or of a batch, which are not told apart, or, where `sides`, the height
    and width of images. `dtype` is empty where nothing says it; `place` is the file and the line."""

    sizes: tuple[int, ...]
    place: str
    dtype: str = ""
    sides: bool = False


def recorded(sources: Sources, first: str, values: Mapping[str, Sequence[object]]) -> list[Shape]:
    """The shapes that the project writes down, those of the file `first` and of what is near it before those of its
    configurations, and these before the rest. `values` are the project's values of what goes by a name in its
    settings."""
    near, rest = _files(sources, first)
    places = itertools.chain(
        (_read(tree, path, values) for path, tree in _trees(sources, near)),
        [_configured(sources)],
        (_read(tree, path, values) for path, tree in itertools.chain(_trees(sources, rest), _readme(sources))),
    )
    found: dict[tuple[object, ...], Shape] = {}
    for shapes in places:
        with contextlib.suppress(RecursionError):
            for shape in _distinct(shapes):
                found.setdefault((shape.sizes, shape.dtype, shape.sides), shape)
        if len(found) >= MOST:
            break
    return list(found.values())[:MOST]


def _distinct(found: Iterable[Shape]) -> list[Shape]:
    """The first shapes of a file, each once."""
    kept: dict[tuple[object, ...], Shape] = {}
    for shape in found:
        kept.setdefault((shape.sizes, shape.dtype, shape.sides), shape)
        if len(kept) == EACH:
            break
    return list(kept.values())


def _files(sources: Sources, first: str) -> tuple[list[str], list[str]]:
    """The files to read: `first`, what loads it, the data sets near it and what it loads; and the rest by the folders
    between."""
    every = sorted(sources.paths(), key=lambda path: (between(first, path), path))
    loading = [path for path in every if first in sources.reach(path)[0]]
    data = [path for path, *_ in nearest(sources, first)]
    near = list(dict.fromkeys([first, *loading, *data, *sources.reach(first)[0]]))[:FILES]
    return near, [path for path in every if path not in near][: FILES - len(near)]


def _trees(sources: Sources, paths: Iterable[str]) -> Iterator[tuple[str, ast.Module]]:
    for path in paths:
        if _tells(sources, path) and (tree := sources.tree(path)):
            yield path, tree


def _tells(sources: Sources, path: str) -> bool:
    try:
        return _TELLING.search((sources.root / path).read_bytes()) is not None
    except OSError:
        return False


def _readme(sources: Sources) -> Iterator[tuple[str, ast.Module]]:
    """The Python of the README, each block at its lines."""
    path = sources.root / "README.md"
    with contextlib.suppress(OSError):
        text = path.read_bytes()[:_README].decode("utf-8", "replace") if not path.is_symlink() else ""
        for block in re.finditer(r"^```\s*(?:python|py)\b[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            above = text.count("\n", 0, block.start(1))
            with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                yield path.name, ast.increment_lineno(ast.parse(block[1]), above)


# -- configurations


def _configured(sources: Sources) -> Iterator[Shape]:
    """What the configurations call a shape of data, or the size of an image."""
    for path, data in sources.configurations():
        left = [data]
        while left:
            part = left.pop()
            items = part.items() if isinstance(part, dict) else ()
            for key, value in items:
                yield from _called(str(key).lower(), value, f"{path} ({key})")
            left.extend(reversed([value for _, value in items] if items else part if isinstance(part, list) else []))


def _called(name: str, value: object, place: str) -> Iterator[Shape]:
    if type(value) is int and _IMAGES.fullmatch(name) and value in _SIDE:
        yield Shape((value, value), place, sides=True)
    if not isinstance(value, list) or not _SHAPES.fullmatch(name) or not 1 < len(value) <= LONGEST:
        return
    if all(type(size) is int and 0 < size <= LARGEST for size in value) and math.prod(value[1:]) <= LARGEST:
        yield Shape(tuple(value), place)
        if len(value) == 2 and all(side in _SIDE for side in value):
            yield Shape(tuple(value), place, sides=True)


# -- code


@dataclass(frozen=True)
class _Where:
    """Where a piece of code stands: what names are there, and whether it computes with a model, whose tensors are
    weights and noise."""

    names: ConstantNames
    in_model: bool = False

    def within(self, node: ast.AST) -> _Where:
        if isinstance(node, ast.ClassDef):
            return _Where(self.names, _is_model(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_loader = _OF_DATA_METHODS.fullmatch(node.name) is not None
            return _Where(self.names.within(node), self.in_model and not is_loader)
        return self


def _is_model(node: ast.ClassDef) -> bool:
    methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    return bool(methods & {"forward", "training_step"}) or any(
        base.endswith("Module") and not base.endswith("DataModule") for base in bases
    )


def _imported(tree: ast.Module) -> dict[str, str]:
    """The full names of what a file imports, by the names that it has there."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
            found |= {first: first for alias in node.names if (first := alias.name.split(".")[0]) and not alias.asname}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module or ''}.{alias.name}" for alias in node.names}
    return found


def _read(tree: ast.Module, path: str, values: Mapping[str, Sequence[object]]) -> Iterator[Shape]:
    """The shapes of a file in the order of its lines."""
    reader = _ShapeReader(path, _imported(tree))
    left: list[tuple[ast.AST, _Where]] = [(tree, _Where(ConstantNames.of(tree, values)))]
    while left:
        node, where = left.pop()
        inner = where.within(node)
        if isinstance(node, _LOOKED_AT):
            yield from (shape for shape in reader.of(node, inner) if math.prod(shape.sizes[1:]) <= LARGEST)
        if not reader.is_skipped(node):
            children = (child for child in ast.iter_child_nodes(node) if not isinstance(child, _LEAVES))
            left.extend((child, inner) for child in reversed(list(children)))


class _ShapeReader:
    """Reads shapes out of the nodes of a file, each node after those around it."""

    def __init__(self, path: str, known: Mapping[str, str]) -> None:
        self.path, self.known = path, known
        self.roots = {name.partition(".")[0] for name in known.values()}
        self.casts: dict[ast.AST, str] = {}
        self.done: set[ast.AST] = set()

    def is_skipped(self, node: ast.AST) -> bool:
        """Whether what is in a call is of the model."""
        return isinstance(node, ast.Call) and self.called(node).rpartition(".")[2] in _WEIGHTS

    def called(self, node: ast.Call) -> str:
        """What a call calls, by its full name where it is imported."""
        parts: list[str] = []
        function = node.func
        while isinstance(function, ast.Attribute):
            parts.append(function.attr)
            function = function.value
        first = self.known.get(function.id, function.id) if isinstance(function, ast.Name) else ""
        return ".".join([first, *reversed(parts)])

    def of(self, node: ast.AST, where: _Where) -> Iterator[Shape]:
        if isinstance(node, ast.Call):
            yield from self.call(node, where)
        for name, value in entries(node):
            if _SHAPES.fullmatch(name.lower()) and not (name == "dims" and isinstance(node, ast.Call)):
                yield from self.named(value, where)

    def call(self, node: ast.Call, where: _Where) -> Iterator[Shape]:
        called = self.called(node)
        last = called.rpartition(".")[2]
        if isinstance(node.func, ast.Attribute) and last in _CASTS:
            self.casts[node.func.value] = _CASTS[last]
        elif called in _TENSORS and not where.in_model:
            yield from self.tensor(node, called, where)
        elif last in _SUMMARIES and len(node.args) > 1:
            given = node.args[1]
            several = isinstance(given, ast.List) and given.elts and isinstance(given.elts[0], ast.Tuple)
            yield from self.named(given.elts[0] if several and isinstance(given, ast.List) else given, where)
        elif last in ("Compose", "Sequential"):
            steps = [each for each in ast.walk(node) if isinstance(each, ast.Call) and self.is_crop(each)]
            self.done.update(sorted(steps, key=lambda each: (each.lineno, each.col_offset))[:-1])
        elif self.is_crop(node) and node not in self.done:
            yield from self.crop(node, where)
        elif last == "resize":
            yield from self.resized(node, where)

    def is_crop(self, node: ast.Call) -> bool:
        return self.called(node).rpartition(".")[2] in _CROPS

    def tensor(self, node: ast.Call, called: str, where: _Where) -> Iterator[Shape]:
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        listed = [] if called in _OF_DATA else node.args
        whole = [given[name] for name in ("size", "shape") if name in given] or listed
        found = next((read for each in whole if (read := sizes(each, where.names))), None)
        if found is None and called in _SPREAD:
            found = sizes(ast.Tuple(node.args, ast.Load()), where.names)
        said = ast.unparse(given["dtype"]).rpartition(".")[2].strip("'\"") if "dtype" in given else ""
        told = "int64" if called in _WHOLE else "float32"
        told = "int64" if said.startswith(("int", "long")) else said if said == "bool" else "float32" if said else told
        dtype = self.casts.get(node, told)
        if found and len(found) > 1 and dtype != "bool":
            yield Shape(found, self.place(node), dtype)

    def named(self, node: ast.expr, where: _Where) -> Iterator[Shape]:
        """A shape that is called one; of two sizes, it may be of an image."""
        found = sizes(node, where.names)
        if found and len(found) > 1:
            yield Shape(found, self.place(node))
            yield from self.sides(found, node)

    def crop(self, node: ast.Call, where: _Where) -> Iterator[Shape]:
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        both = [given[name] for name in ("height", "width") if name in given]
        sent = both if len(both) == 2 else [given["size"]] if "size" in given else node.args[:2]
        pair = sizes(sent[0], where.names) if sent else None
        if sent and pair is None:
            numbers = [number(each, where.names) for each in sent]
            pair = tuple(side for side in numbers if side and side in _SIDE) if numbers[0] in _SIDE else ()
        yield from self.sides(pair * 2 if pair and len(pair) == 1 else pair or (), node)

    def resized(self, node: ast.Call, where: _Where) -> Iterator[Shape]:
        """What `resize` gives: of OpenCV and Pillow, which take the width first, and of others."""
        called = self.called(node)
        is_method = called.partition(".")[0] not in self.roots
        found = next((read for each in node.args[:2] if (read := sizes(each, where.names))), ())
        yield from self.sides(found[::-1] if is_method or called.startswith("cv2.") else found, node)

    def sides(self, found: Sequence[int], node: ast.expr) -> Iterator[Shape]:
        if len(found) == 2 and all(side in _SIDE for side in found):
            yield Shape(tuple(found), self.place(node), sides=True)

    def place(self, node: ast.expr) -> str:
        return f"{self.path}:{node.lineno}"
