"""The functions that scripts get for what Lightning's argparse methods did, and the module that several share."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from codemods.code.source import PythonFile
from codemods.lightning.argparse_calls import modules
from codemods.lightning.facts import Facts
from codemods.rewrite.import_statement import in_order
from codemods.rule import TextEdit

ADD = '''\
def add_arguments(cls, parser, **defaults):
    """Adds an option for each argument of a class to a parser.

    `defaults` win over those of the class.
    """
    group = parser.add_argument_group(cls.__name__)
    for name, parameter in inspect.signature(cls).parameters.items():
        required = parameter.default is parameter.empty
        annotated = {*getattr(parameter.annotation, "__args__", [parameter.annotation])}
        kinds = annotated & {str, int, float, bool}
        several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if several or (required and not kinds):
            continue
        default = None if required else parameter.default
        group.add_argument(
            f"--{name}",
            type=str if kinds == {str} else truth_or_value if bool in kinds else plain_value,
            nargs="?",
            const=True,
            default=defaults.get(name, default),
            required=required,
        )
    return parser
'''
VALUE = '''\
def plain_value(text):
    """The number, truth value or None that a text spells, else the text."""
    spelled = {"true": "True", "false": "False"}.get(text.lower(), text)
    try:
        value = ast.literal_eval(spelled)
    except (SyntaxError, ValueError):
        return text
    return value if value is None or isinstance(value, (int, float)) else text


def truth_or_value(text):
    """The truth value that a word says, else what `plain_value` makes of it."""
    for value, words in ((True, "y yes t true on"), (False, "n no f false off")):
        if text.lower() in words.split():
            return value
    return plain_value(text)
'''
BUILD = '''\
def from_arguments(cls, args, **kwargs):
    """Builds a class of the parsed options that it takes.

    Keyword arguments win over them.
    """
    taken = inspect.signature(cls).parameters
    given = {key: value for key, value in vars(args).items() if key in taken}
    return cls(**{**given, **kwargs})
'''
OPTIONS = '''\
def from_options(cls, options, *handled, **kwargs):
    """Builds a class of all options but those `handled` elsewhere.

    Keyword arguments win over them.
    """
    given = {**vars(options)}
    for name in handled:
        given.pop(name, None)
    return cls(**{**given, **kwargs})
'''
INDENT = "    "
BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)
MODULE = "trainer_arguments"
"""What the module is called that several scripts share."""
RUN = "__main__"
"""The name of a module that is run as a script."""
TESTS = frozenset({"test", "tests"})
"""Folders whose files run against the package as it lies in the tree."""
MARK = b"def from_arguments(cls, args, **kwargs):"
"""What a module holds that a run before this one made."""


@dataclass(frozen=True)
class ImportedModule:
    """A module of the project that a file imports when it starts: its dotted name, without leading dots, and how many
    there are; `RUN` where the file is a script."""

    module: str
    level: int


@dataclass(frozen=True)
class HelperModule:
    """The module that a file takes the functions from: its path, and its name in an import statement."""

    path: str
    module: str


def text(adds: bool, builds: bool, configured: bool = False) -> str:
    """The functions that a file needs, each with two blank lines behind it."""
    parts = [*([VALUE, ADD] if adds else []), *([BUILD] if builds else []), *([OPTIONS] if configured else [])]
    return "".join(f"{part}\n\n" for part in parts)


def module_text(adds: bool = True) -> str:
    """The module that holds what several scripts need: all of it, or what builds a Trainer alone."""
    head = '"""What the argparse methods of Lightning 1.x did, which 2.0 removed."""\n\n'
    imports = "".join(f"import {name}\n" for name in modules(adds, True))
    return f"{head}{imports}\n\n{text(adds, True)}".rstrip("\n") + "\n"


def reaches(file: PythonFile) -> tuple[ImportedModule, ...]:
    """What the file's own statements, those of no function and no branch, import from modules."""
    found = []
    for node in file.tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            found.append(ImportedModule(node.module, node.level))
        elif isinstance(node, ast.Import):
            found += [ImportedModule(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.If) and ast.unparse(node.test) == f"__name__ == {RUN!r}":
            found.append(ImportedModule(RUN, 0))
    return tuple(dict.fromkeys(found))


def _is_run_alone(path: str, facts: Facts) -> bool:
    """Whether a script lies in no package, and no file names it by the folder that it lies in."""
    folder, _, name = path.rpartition("/")
    if f"{folder}/__init__.py".lstrip("/") in facts.kinds:
        return False
    home, module = re.escape(folder.rpartition("/")[2]), re.escape(name.removesuffix(".py"))
    named = re.compile(rf"\b{home}\.{module}\b|from\s+[\w.]*\b{home}\s+import\b".encode())
    return not folder or not any(named.search(source.data) for source in facts.sources.values())


def _homes(
    path: str, reach: ImportedModule, facts: Facts, named: Mapping[str, Sequence[str]]
) -> Iterator[HelperModule]:
    """Where a module can stand that is imported as surely as one of the project's own: beside it in the package that
    the file is part of, or tests, or beside the file, which is run as a script if it imports what lies there so."""
    folder = path.rpartition("/")[0]
    if reach.module == RUN:
        if _is_run_alone(path, facts):
            yield HelperModule(f"{folder}/{MODULE}.py".lstrip("/"), MODULE)
        return
    if reach.level:
        parts = folder.split("/") if folder else []
        base = parts[: len(parts) - reach.level + 1]
        stem = "/".join([*base, *reach.module.split(".")])
        if reach.level <= len(parts) and any(name in facts.kinds for name in (f"{stem}.py", f"{stem}/__init__.py")):
            yield HelperModule("/".join([*base, f"{MODULE}.py"]), f"{'.' * reach.level}{MODULE}")
        return
    first, _, rest = reach.module.partition(".")
    stem = reach.module.replace(".", "/")
    tails = (f"{stem}.py", f"{stem}/__init__.py")
    found = [
        (name, tail)
        for tail in tails
        for name in named.get(tail.rpartition("/")[2], ())
        if name == tail or name.endswith(f"/{tail}")
    ]
    if len(found) != 1:
        return
    name, tail = found[0]
    root = name.removesuffix(tail)
    package = f"{root}{first}/" if rest or tail.endswith("/__init__.py") else ""
    whole = f"{package}__init__.py" in facts.kinds or path.startswith(package) or TESTS & set(path.split("/")[:-1])
    if package and whole:
        yield HelperModule(f"{package}{MODULE}.py", f"{first}.{MODULE}")
    if root == (f"{folder}/" if folder else ""):
        yield HelperModule(f"{root}{MODULE}.py", MODULE)


def shared_homes(facts: Facts, files: Mapping[str, Sequence[ImportedModule]]) -> Mapping[str, HelperModule]:
    """The module that each of some files takes the functions from, where it shares it with another: a place from
    which it imports already. A place that most of them reach comes first."""
    own = facts.mentions.get(MARK, frozenset())
    named: dict[str, list[str]] = {}
    for path in facts.kinds:
        named.setdefault(path.rpartition("/")[2], []).append(path)
    free = {
        path: [
            home
            for reach in found
            for home in _homes(path, reach, facts, named)
            if home.path not in facts.kinds or home.path in own
        ]
        for path, found in files.items()
        if facts.kinds.get(path) == "python"
    }
    users = Counter(place for homes in free.values() for place in {home.path for home in homes})
    wanted = {place for place, count in users.items() if count > 1 or place in own}
    chosen = {}
    for path, homes in free.items():
        usable = [home for home in homes if home.path in wanted]
        if usable:
            chosen[path] = min(
                usable, key=lambda home: (-users[home.path], home.path.count("/"), home.path, home.module)
            )
    alone = Counter(home.path for home in chosen.values())
    return {path: home for path, home in chosen.items() if alone[home.path] > 1 or home.path in own}


def imported(file: PythonFile, home: HelperModule, names: Sequence[str]) -> TextEdit:
    """The import of the shared functions, among the imports of the same package."""
    package = home.module.lstrip(".").partition(".")[0]
    level = len(home.module) - len(home.module.lstrip("."))
    imports = [node for node in file.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    beside = [
        node
        for node in imports
        if isinstance(node, ast.ImportFrom)
        and node.level == level
        and (level or (node.module or "").partition(".")[0] == package)
        and (node.module or "") < home.module.lstrip(".")
    ]
    newline = "\r\n" if "\r\n" in file.text else "\n"
    text = f"from {home.module} import {', '.join(sorted(names))}"
    if not imports:
        first = file.tree.body[1 if ast.get_docstring(file.tree, clean=False) is not None else 0]
        place = _line_start(file, first)
        return TextEdit(place, place, text + newline * 3)
    end = file.offsets((beside or imports)[-1])[1]
    line = file.text.find("\n", end)
    end = len(file.text) if line < 0 else line - (file.text[line - 1] == "\r")
    return TextEdit(end, end, newline + text)


def beside(
    file: PythonFile, lines: Sequence[int], adds: bool, builds: bool, configured: bool = False
) -> list[TextEdit]:
    """The functions before the first statement of the module that needs one, and their imports."""
    body = file.tree.body
    index = next(number for number, node in enumerate(body) if (node.end_lineno or 0) >= min(lines))
    if not isinstance(body[index], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If):
        while index > _imports(body) and isinstance(body[index - 1], ast.Assign | ast.Expr | ast.AnnAssign):
            index -= 1
    place = _line_start(file, body[index])
    above = file.text[:place].replace("\r\n", "\n")
    blank = len(above) - len(above.rstrip("\n")) - 1 if above else 2
    newline = "\r\n" if "\r\n" in file.text else "\n"
    missing = [name for name in modules(adds, builds) if file.scope.lookup(name) != name]
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    usual = [node for node in imports if getattr(node, "module", "") != "__future__"]
    lead = "" if usual else "".join(f"import {name}\n" for name in missing)
    functions = _indented(text(adds, builds, configured), _indentation(file))
    functions = "\n" * max(0, (1 if lead else 2) - blank) + (f"{lead}\n\n" if lead else "") + functions
    edits = [TextEdit(place, place, functions.replace("\n", newline))]
    if missing and usual:
        edits += _imported(file, usual, missing, newline)
    return edits


def _imported(
    file: PythonFile, usual: Sequence[ast.Import | ast.ImportFrom], names: Sequence[str], newline: str
) -> Iterator[TextEdit]:
    """The edits that import modules of the standard library, in order where they are so far, else ahead of others."""
    first = next((node for node in usual if node.col_offset == 0), usual[0])
    together = list(takewhile(lambda node: isinstance(node, ast.Import | ast.ImportFrom | ast.Expr), file.tree.body))
    places: dict[int, list[str]] = {}
    for name in names:
        beside = in_order(together, name)
        line = beside.end_lineno or 0 if beside and beside.names[0].name < name else (beside or first).lineno - 1
        places.setdefault(sum(map(len, file.lines[:line])), []).append(name)
    for at, some in places.items():
        yield TextEdit(at, at, "".join(f"import {name}{newline}" for name in some))


def _indentation(file: PythonFile) -> str:
    """What the blocks of a file are indented by, going by the first one."""
    inner = (node.body[0] for node in file.tree.body if isinstance(node, BLOCKS))
    spaces = (file.lines[item.lineno - 1][: item.col_offset] for item in inner if item.col_offset)
    return next((space for space in spaces if not space.strip()), INDENT)


def _indented(code: str, unit: str) -> str:
    """Code of ours with another indentation."""
    return re.sub(rf"^(?:{INDENT})+", lambda found: unit * (len(found[0]) // len(INDENT)), code, flags=re.MULTILINE)


def _imports(body: Sequence[ast.stmt]) -> int:
    """The number of statements up to the last import."""
    found = [number for number, node in enumerate(body) if isinstance(node, ast.Import | ast.ImportFrom)]
    return found[-1] + 1 if found else 0


def _line_start(file: PythonFile, node: ast.stmt) -> int:
    """Where the line of a statement begins, its decorators and the comments right above it included."""
    decorators = getattr(node, "decorator_list", [])
    line = min([node.lineno, *(item.lineno for item in decorators)])
    while line > 1 and file.lines[line - 2].startswith("#"):
        line -= 1
    return sum(len(text) for text in file.lines[: line - 1])
