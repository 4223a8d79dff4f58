"""Environment variables that a project reads and cannot do without: what they are lent for a run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from verify.reading.names import last_name
from verify.reading.sources import Sources

FOLDER = "folder"
_FILE = "file:"
_OF_LAUNCHERS = re.compile(
    r"^(LOCAL_|GLOBAL_|NODE_|GROUP_)?(RANK|WORLD_SIZE)$|^MASTER_|^SLURM_(?!JOB_ID|ARRAY)|^(CUDA|NCCL|GLOO|PL|TORCH\w*|"
    r"TORCHELASTIC|KUBERNETES|TPU|XRT|LSB|LSF|OMPI|PMI|PYTHON\w*|OMP|MKL)_|^(PATH|HOME|TMPDIR|PYTHONPATH)$"
)
"""What launchers set, by which Lightning and torch tell where they run: it is never made up."""
_LOOKS: tuple[tuple[str, str], ...] = (
    (r"PORT", "29500"),
    (r"NUM|COUNT|SIZE|WORKERS|THREADS|SEED|ID|EPOCHS?|BATCH|STEPS|GPUS?|DEVICES?|VERSION|DEBUG|LEVEL", "1"),
    (r"URL|URI|ENDPOINT|HOST|ADDR|ADDRESS", "http://localhost"),
    (
        r"\w*(PATH|DIR|DIRECTORY|FOLDER|ROOT)|DATA|DATASETS?|CACHE|STORAGE|OUTPUTS?|LOGS|TMP|SCRATCH|CHECKPOINTS?",
        FOLDER,
    ),
)
"""What a variable holds by the last word of its name that is one of these; the first row that fits."""
_TEXT = "fixer"
_FOLDERS = frozenset({"join", "listdir", "isdir", "makedirs", "scandir", "walk"})
_PATHS = _FOLDERS | {"Path", "PurePath", "exists", "abspath", "expanduser"}
_READERS: Mapping[str, str] = MappingProxyType(
    {
        "open": "txt", "read_text": "txt", "read_bytes": "txt", "loadtxt": "txt", "imread": "png", "read_csv": "csv",
        "read_table": "tsv", "read_json": "json", "read_parquet": "parquet", "read_feather": "feather",
        "read_pickle": "pkl",
    }
)  # fmt: skip
"""What opens a file, and what is in the file where the name of the variable does not say it."""
_FORMS = frozenset({"jsonl", "json", "tsv", "csv", "txt", "npy", "npz", "parquet", "feather", "pkl", "pickle"})
_NUMBERS = frozenset({"int", "float"})
_FORGIVING = frozenset({"KeyError", "LookupError", "Exception", "BaseException"})


def lent(sources: Sources, folder: Path) -> Mapping[str, str]:
    """The variables that the Python files of a tree read by `os.environ[...]` and that nothing of it sets, looks for or
    does without, each with a value of the kind that its use or its name tells.

    Folders are to be in `folder`, by the names of their variables; what is opened is a file in such a folder, which is
    not there.
    """
    asked: dict[str, str] = {}
    known: set[str] = set()
    for path in sources.paths():
        if b"environ" in (sources.root / path).read_bytes() and (tree := sources.tree(path)):
            known.update(_known(tree))
            for name, kind in _asked(tree):
                asked.setdefault(name, kind)
    made = {name: kind for name, kind in sorted(asked.items()) if name not in known and not _OF_LAUNCHERS.search(name)}
    return {name: _held(folder / name, kind) for name, kind in made.items()}


def _held(folder: Path, kind: str) -> str:
    if kind == FOLDER:
        return str(folder)
    return str(folder / kind.removeprefix(_FILE)) if kind.startswith(_FILE) else kind


def _asked(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names of variables that are read without a way out, each with the kind of its value."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and (name := _name(node)):
            form = _form(name, node, parents, tree)
            yield name, _kind(name, parents.get(node)) if form is None else f"{_FILE}{name.lower()}.{form}"


def _known(tree: ast.Module) -> Iterator[str]:
    """Names of variables that a file sets, asks whether they are there, or reads where it may do without."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and (name := _name(node)):
            yield name
        elif isinstance(node, ast.Try) and any(map(_forgives, node.handlers)):
            yield from (name for part in node.body for inner in ast.walk(part) if (name := _name(inner)))
        elif isinstance(node, ast.Compare) and any(_is_environ(other) for other in node.comparators):
            yield from _texts([node.left])
        elif isinstance(node, ast.Call) and (_is_method(node.func) or last_name(node.func) in ("getenv", "putenv")):
            yield from _texts(node.args[:1])
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)
            yield from (key for part in node.args if isinstance(part, ast.Dict) for key in _texts(part.keys))


def _form(name: str, node: ast.expr, parents: Mapping[ast.AST, ast.AST], tree: ast.Module) -> str | None:
    """What is in the file that a variable names; None where nothing says that it is one, and where something looks into
    a folder of that name."""
    bound = parents.get(node)
    held = bound.targets[0] if isinstance(bound, ast.Assign) else None
    reads = [read for read in ast.walk(tree) if isinstance(read, ast.Name) and isinstance(read.ctx, ast.Load)
             and isinstance(held, ast.Name) and read.id == held.id]  # fmt: skip
    called = [each for read in (node, *reads) for each in _takers(read, parents)]
    if _FOLDERS & {*called}:
        return None
    word = name.lower().rpartition("_")[2]
    return word if word in _FORMS else next((_READERS[each] for each in called if each in _READERS), None)


def _takers(node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> Iterator[str]:
    """The function that a value is handed to, and the method of a path that is made of it."""
    use = parents.get(node)
    if isinstance(use, ast.Call) and use.func is not node:
        yield last_name(use.func)
        method = parents.get(use)
        yield method.attr if isinstance(method, ast.Attribute) and last_name(use.func) in ("Path", "PurePath") else ""
    elif isinstance(use, ast.BinOp) and isinstance(use.op, ast.Div):
        yield "join"


def _kind(name: str, use: ast.AST | None) -> str:
    called = last_name(use.func) if isinstance(use, ast.Call) else ""
    if called in _NUMBERS:
        return "1"
    if called in _PATHS or (isinstance(use, ast.BinOp) and isinstance(use.op, ast.Div)):
        return FOLDER
    for words, value in _LOOKS:
        if any(re.fullmatch(words, word) for word in reversed(name.upper().split("_"))):
            return value
    return _TEXT


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Subscript) and _is_environ(node.value):
        return next(_texts([node.slice]), None)
    return None


def _is_environ(node: ast.expr) -> bool:
    return last_name(node) == "environ"


def _is_method(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and _is_environ(node.value)


def _forgives(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(each is None or last_name(each) in _FORGIVING for each in caught)


def _texts(nodes: Iterable[ast.expr | None]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
