"""Environment variables that a project reads and cannot do without: what they are lent for a run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from verify.reading.names import last_name
from verify.reading.sources import Sources

FOLDER, HERE = "folder", "here"
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
_OF_PROJECT = re.compile(
    r"(PROJECT|PROJ|REPO|REPOSITORY|CODE|SRC|SOURCE)_?(ROOT|DIR|PATH|HOME|BASE|FOLDER)(_DIR|_PATH)?"
)
"""What people call a variable that says where the project lies."""
_IN_CONFIGURATIONS = re.compile(r"\$\{(?:oc\.)?env:\s*(\w+)\s*\}")
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
_READ = re.compile(rb"environ|getenv")
_FORGIVING = frozenset({"KeyError", "LookupError", "Exception", "BaseException"})


def lent(sources: Sources, folder: Path, here: Path) -> Mapping[str, str]:
    """The variables that the Python files of a tree read by `os.environ[...]`, or by a function of its own that does,
    and its configurations by `${oc.env:...}`, and that nothing of it sets, looks for or does without, each with a value
    of the kind that its use or its name tells.

    Folders are to be in `folder`, by the names of their variables; what is opened is a file in such a folder, which is
    not there. The project lies `here`.
    """
    asked: dict[str, str] = {}
    known = set(_in_dotenv(sources.root / ".env"))
    texts = {path: (sources.root / path).read_bytes() for path in sources.paths()}
    reading = [tree for path, text in texts.items() if _READ.search(text) and (tree := sources.tree(path))]
    readers = {name for tree in reading for name in _own_readers(tree)}
    named = re.compile(b"|".join(rb"\b%s\b" % name.encode() for name in sorted(readers)) or b"(?!)")
    for tree in reading:
        known.update(_known(tree))
        for name, kind in _asked(tree):
            asked.setdefault(name, kind)
    for tree in (tree for path, text in texts.items() if named.search(text) and (tree := sources.tree(path))):
        for name in _asked_of(tree, readers):
            asked.setdefault(name, _kind(name, None))
    for name in _configured(sources):
        asked.setdefault(name, _kind(name, None))
    made = {name: kind for name, kind in sorted(asked.items()) if name not in known and not _OF_LAUNCHERS.search(name)}
    return {name: _held(folder / name, kind, here) for name, kind in made.items()}


def _held(folder: Path, kind: str, here: Path) -> str:
    if kind in (FOLDER, HERE):
        return str(folder if kind == FOLDER else here)
    return str(folder / kind.removeprefix(_FILE)) if kind.startswith(_FILE) else kind


def _in_dotenv(path: Path) -> Iterator[str]:
    """The variables that a project's own file for dotenv sets, which leaves alone what is set."""
    if path.is_file() and not path.is_symlink():
        yield from re.findall(r"(?m)^\s*(?:export\s+)?(\w+)\s*=", path.read_text(encoding="utf-8", errors="replace"))


def _configured(sources: Sources) -> Iterator[str]:
    """The variables that configurations cannot be resolved without."""
    waiting = [data for _, data in sources.configurations()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield from _IN_CONFIGURATIONS.findall(value)
        elif isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value


def _own_readers(tree: ast.Module) -> Iterator[str]:
    """The functions that read the variable which their first argument names, and raise an error where it is not set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.args.args:
            inside = list(ast.walk(node))
            reads = (part.slice for part in inside if isinstance(part, ast.Subscript) and _is_environ(part.value))
            taken = any(isinstance(name, ast.Name) and name.id == node.args.args[0].arg for name in reads)
            looks = any(
                isinstance(part, ast.Try) or (isinstance(part, ast.Compare) and any(map(_is_environ, part.comparators)))
                for part in inside
            )
            if taken and (not looks or any(isinstance(part, ast.Raise) for part in inside)):
                yield node.name


def _asked_of(tree: ast.Module, readers: set[str]) -> Iterator[str]:
    """The variables that such functions are asked for, with nothing to do without them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) in readers and len(node.args) == 1 and not node.keywords:
            yield from _texts(node.args)


def _asked(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names of variables that are read without a way out, each with the kind of its value."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        is_read = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        if (name := _name(node) if is_read else _used(node, parents)) and isinstance(node, ast.expr):
            form = _form(name, node, parents, tree)
            yield name, _kind(name, parents.get(node)) if form is None else f"{_FILE}{name.lower()}.{form}"


def _known(tree: ast.Module) -> Iterator[str]:
    """Names of variables that a file sets, asks whether they are there, or reads where it may do without."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and (name := _name(node)):
            yield name
        elif isinstance(node, ast.Try) and any(map(_forgives, node.handlers)):
            yield from (name for part in node.body for inner in ast.walk(part) if (name := _name(inner)))
        elif isinstance(node, ast.Compare) and any(_is_environ(other) for other in node.comparators):
            yield from _texts([node.left])
        elif isinstance(node, ast.Call) and not _used(node, parents) and _is_about_one(node):
            yield from _texts(node.args[:1])
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)
            yield from (key for part in node.args if isinstance(part, ast.Dict) for key in _texts(part.keys))


def _is_about_one(call: ast.Call) -> bool:
    """Whether a call sets, reads or looks for variables."""
    return _is_method(call.func) or last_name(call.func) in ("getenv", "putenv")


def _used(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> str | None:
    """The variable that `os.getenv("X")` reads where what is done with it fails for one that is not set."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    if last_name(node.func) not in ("getenv", "get") or not _is_about_one(node):
        return None
    use = parents.get(node)
    is_taken = isinstance(use, ast.Call) and last_name(use.func) in _PATHS | _NUMBERS | _READERS.keys()
    return next(_texts(node.args), None) if is_taken or isinstance(use, ast.BinOp) else None


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
    if _OF_PROJECT.fullmatch(name.upper()):
        return HERE
    if called in _NUMBERS:
        return "1"
    is_path = isinstance(use, ast.BinOp) and (
        isinstance(use.op, ast.Div) or next(_texts([use.right]), "").startswith("/")
    )
    if called in _PATHS or is_path:
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
