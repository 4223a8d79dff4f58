"""`ModelCheckpoint(filepath=...)`: the folder, or the folder and the name, that it stood for.

Up to 1.2 it was the folder of the checkpoints where one of that name was there when the callback was made, and else a
folder and the name of a file in it (read in 0.7.6, 0.9.0 and 1.1.8).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import bound_once, is_repeatable, stated_once
from codemods.lightning.options import default_of
from codemods.lightning.values import constants_of

FOLDER_MAKERS = ("os.makedirs", "os.mkdir")
FOLDERS = ("os.getcwd", "pathlib.Path.cwd", "tempfile.gettempdir", "tempfile.mkdtemp")
SPLIT = "Its last part names the files, the rest their folder."
TAKEN = "fixer assumes that its last part names the files; if there was a folder of that name, they went into it."
PLAIN = (
    "Its last part names the files, the rest their folder; fixer assumes "
    "that what is added after the last slash has none."
)
SLASH = "It is a folder; where there was none of that name when the callback was made, 1.x gave the files no name."
NAMED = (
    "Its name says that it is a folder; where there was none when the callback was made, 1.x put the files beside it "
    "and named them after it."
)
ASKED = "As 1.x did, it asks whether there is such a folder, and else takes its last part for a name; it is no None."
_QUOTES = "'\""
_CALLED_FOLDER = re.compile(r"(?:(?:^|_)(?i:dir|directory|folder)|[a-z](?:Dir|Directory|Folder))$")


@dataclass(frozen=True)
class FilepathKeywords:
    """The keywords that take the place of `filepath=`, how sure that is, and the imports that they need."""

    new: tuple[tuple[str, str | None], ...]
    level: Fix
    reason: str
    imports: tuple[tuple[str, str | None], ...] = ()


def parted(facts: Facts, file: PythonFile, call: CallNode, value: ast.expr) -> FilepathKeywords | None:
    """What a path becomes, going by its text and by what the file makes a folder; None where neither tells."""
    if isinstance(value, ast.Constant) and value.value is None:
        return FilepathKeywords((), "safe", "It was the default.")
    if file.source_of(_unwrapped(value)) in _made(file):
        return FilepathKeywords((("dirpath", None),), "safe", "It is a folder, which the script makes before.")
    is_option, default = default_of(file, call, value)
    if is_option and _is_called_folder(value) and "{" not in str(default):
        return FilepathKeywords((("dirpath", None),), "unsafe", NAMED)
    if is_option and (default is None or isinstance(default, str)) and not _hides_os(file):
        guard = f" if {file.source_of(value)} else None" if default is None else ""
        new = tuple((name, f"{text}{guard}") for name, text in _split(file.source_of(value)))
        return FilepathKeywords(new, "unsafe", TAKEN, (("os", None),))
    value = _unwrapped(value)
    parts = _parts(file, value)
    if parts and _has_field(parts[1]):
        return FilepathKeywords((("dirpath", parts[0]), ("filename", parts[1])), "safe", SPLIT)
    if parts := _named(facts, file, call, value):
        return FilepathKeywords((("dirpath", parts[0]), ("filename", parts[1])), "safe", SPLIT)
    if isinstance(value, ast.Name) and _ends_in_field(file, value, call, facts) and not _hides_os(file):
        return FilepathKeywords(_split(file.source_of(value)), "safe", SPLIT, (("os", None),))
    if (inner := _joined_to_field(facts, file, call, value)) and not _hides_os(file):
        return FilepathKeywords(inner, "safe", SPLIT)
    if isinstance(value, ast.Call) and call.scope.resolve(value.func) in FOLDERS:
        return FilepathKeywords((("dirpath", None),), "safe", "It is a folder.")
    if (summed := _summed(file, value)) and not _hides_os(file):
        return FilepathKeywords(summed, "safe", SPLIT, (("os", None),))
    if added := _added(file, value):
        return FilepathKeywords((("dirpath", added[0]), ("filename", added[1])), "unsafe", PLAIN)
    if _ends_in_slash(value):
        return FilepathKeywords((("dirpath", None),), "unsafe", SLASH)
    if _is_called_folder(value):
        return FilepathKeywords((("dirpath", None),), "unsafe", NAMED)
    parts = _parts(file, value)
    if parts and parts[1].strip(_QUOTES) and parts[1][0] in _QUOTES:
        return FilepathKeywords((("dirpath", parts[0]), ("filename", parts[1])), "unsafe", TAKEN)
    if named := _formatted(file, value):
        level: Fix = "safe" if _has_field(named[1]) else "unsafe"
        return FilepathKeywords(
            (("dirpath", named[0]), ("filename", named[1])), level, SPLIT if level == "safe" else TAKEN
        )
    local = isinstance(value, ast.BinOp) and "://" not in file.source_of(value)
    if local and _is_text_of_names(value) and not _hides_os(file):
        named_so = _ends_in_field(file, value)
        level, why = ("safe", SPLIT) if named_so else ("unsafe", TAKEN)
        return FilepathKeywords(_split(file.source_of(value)), level, why, (("os", None),))
    if joined := _joined(file, value):
        return FilepathKeywords((("dirpath", joined[0]), ("filename", joined[1])), "unsafe", TAKEN)
    if is_repeatable(value) and not isinstance(value, ast.Call) and not _hides_os(file):
        return FilepathKeywords(_asked(file.source_of(value)), "unsafe", ASKED, (("os", None),))
    return None


def _is_called_folder(node: ast.expr) -> bool:
    """Whether a name, an attribute or a key ends in a word for a folder, as `args.output_dir`."""
    name = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else name
    return isinstance(name, str) and _CALLED_FOLDER.search(name) is not None


def _formatted(file: PythonFile, node: ast.expr) -> tuple[str, str] | None:
    """The texts of the folder and of the name in `"%s/name" % value`, where nothing is filled in behind the last
    slash."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)):
        return None
    text = file.source_of(node.left)
    cut = _cut(text) if isinstance(node.left.value, str) and "/" in text else None
    if cut is None or "%" in cut[1] or "%" not in cut[0]:
        return None
    return f"{cut[0]} % {file.source_of(node.right)}", cut[1]


def _ends_in_field(file: PythonFile, node: ast.expr, call: CallNode | None = None, facts: Facts | None = None) -> bool:
    """Whether a path ends in a text that has a field behind its last slash, so that no folder is called so; a name is
    what it is bound to."""
    node = _unwrapped(node)
    if isinstance(node, ast.Name) and call and facts:
        bound = bound_once(facts, file, call, node.id)
        return bound is not None and _ends_in_field(file, bound)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Div):
        return _ends_in_field(file, node.right)
    if isinstance(node, ast.Call):
        parts = _last_joined(file, node)
        return parts is not None and _has_field(parts[1])
    if not isinstance(node, ast.Constant | ast.JoinedStr) or not _is_text(file.source_of(node)):
        return False
    cut = _cut(file.source_of(node))
    return cut is not None and _has_field(cut[1])


def _joined_to_field(
    facts: Facts, file: PythonFile, call: CallNode, node: ast.expr
) -> tuple[tuple[str, str], ...] | None:
    """The parts of `os.path.join(folder, name)` where the name is bound to a text that ends in a field, and may have
    folders."""
    if (
        _joined(file, node) is None
        or not isinstance(node, ast.Call)
        or not _ends_in_field(file, node.args[-1], call, facts)
    ):
        return None
    if not all(isinstance(item, ast.Constant) or is_repeatable(item) for item in node.args):
        return None
    texts = [file.source_of(item) for item in node.args]
    return ("dirpath", f"os.path.dirname(os.path.join({', '.join(texts)}))"), (
        "filename",
        f"os.path.basename({texts[-1]})",
    )


def _summed(file: PythonFile, node: ast.expr) -> tuple[tuple[str, str], ...] | None:
    """The parts of `"folder/" + name + "-{epoch}"`, of which the name may have folders too."""
    operands = _operands(node)
    last = operands[-1]
    if len(operands) < 3 or not isinstance(last, ast.Constant) or not _ends_in_field(file, last):
        return None
    slashed = [at for at, item in enumerate(operands) if _has_slash(file, item)]
    start = operands[slashed[-1]] if slashed else None
    if not isinstance(start, ast.Constant) or not str(start.value).endswith("/") or "://" in str(start.value):
        return None
    between = operands[slashed[-1] + 1 : -1]
    if not between or not all(isinstance(item, ast.Constant) or is_repeatable(item) for item in between):
        return None
    texts = [file.source_of(item) for item in operands]
    named = " + ".join(texts[slashed[-1] + 1 : -1])
    return ("dirpath", f"os.path.dirname({' + '.join(texts[:-1])})"), (
        "filename",
        f"os.path.basename({named}) + {texts[-1]}",
    )


def _operands(node: ast.expr) -> list[ast.expr]:
    """What a sum adds up, from left to right."""
    operands: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        operands.insert(0, node.right)
        node = node.left
    return [node, *operands]


def _is_text_of_names(node: ast.expr) -> bool:
    """Whether an expression puts texts and names together, so that it means the same wherever it stands."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        sides = (node.left, node.right)
        written = any(isinstance(each, ast.Constant | ast.JoinedStr | ast.BinOp) for each in sides)
        return written and all(_is_text_of_names(each) or is_repeatable(each) for each in sides)
    if isinstance(node, ast.Tuple):
        return all(is_repeatable(each) for each in node.elts)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _ends_in_slash(node: ast.expr) -> bool:
    """Whether a path ends in a slash that is written out, or joins nothing behind its last folder."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _ends_in_slash(node.right)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.path.join" and len(node.args) > 1:
        last = node.args[-1]
        return (isinstance(last, ast.Constant) and last.value == "") or _ends_in_slash(last)
    last = node.values[-1] if isinstance(node, ast.JoinedStr) and node.values else node
    return isinstance(last, ast.Constant) and isinstance(last.value, str) and last.value.endswith("/")


def folder_and_name(file: PythonFile, value: ast.expr) -> tuple[str, str] | None:
    """The texts of the folder and of the name of a path whose name is written out."""
    return _parts(file, _unwrapped(value))


def _unwrapped(node: ast.expr) -> ast.expr:
    """What is made a text of, or a path."""
    plain = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    if plain and isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "os.fspath"):
        return node.args[0]
    return node


def _joined(file: PythonFile, node: ast.expr) -> tuple[str, str] | None:
    """The texts of what `os.path.join` joins, of a name that is not written out."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "os.path.join" or node.keywords:
        return None
    if len(node.args) < 2 or any(map(_is_spread, node.args)) or not is_repeatable(node.args[-1]):
        return None
    heads = [file.source_of(item) for item in node.args[:-1]]
    folder = heads[0] if len(heads) == 1 else f"os.path.join({', '.join(heads)})"
    return folder, file.source_of(node.args[-1])


def _named(facts: Facts, file: PythonFile, call: CallNode, value: ast.expr) -> tuple[str, str] | None:
    """The parts of a path whose name is a name that only texts with fields, and without folders, may reach."""
    parts = _joined(file, value)
    if parts is None or not isinstance(value, ast.Call) or not isinstance(value.args[-1], ast.Name):
        return None
    told = constants_of(facts, file, call.within, value.args[-1])
    texts = [item.node.value for item in told.found if isinstance(item.node, ast.Constant)]
    plain = [text for text in texts if isinstance(text, str) and "{" in text and "/" not in text]
    return parts if told.unknown is None and not told.called and plain and len(plain) == len(told.found) else None


def _asked(text: str) -> tuple[tuple[str, str], ...]:
    """The folder and the name of a path that may be a folder when the callback is made, as 1.x asked."""
    return (
        ("dirpath", f'{text} if os.path.isdir({text}) else os.path.dirname({text}) or "."'),
        ("filename", f"None if os.path.isdir({text}) else os.path.basename({text})"),
    )


def _hides_os(file: PythonFile) -> bool:
    return "os" in file.scope.bindings and not _knows_os(file)


def _split(text: str) -> tuple[tuple[str, str], ...]:
    return ("dirpath", f"os.path.dirname({text})"), ("filename", f"os.path.basename({text})")


def _knows_os(file: PythonFile) -> bool:
    return file.scope.lookup("os") == "os"


def _has_field(text: str) -> bool:
    """Whether a literal names a field for Lightning to fill in, as `{epoch}`."""
    return ("{{" if text[0] in "fF" else "{") in text


def _parts(file: PythonFile, node: ast.expr) -> tuple[str, str] | None:
    """The texts of the folder and of the name, where the name is written out."""
    text = file.source_of(node)
    if isinstance(node, ast.Constant | ast.JoinedStr):
        return _cut(text) if isinstance(node, ast.JoinedStr) or isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp):
        tail = file.source_of(node.right)
        written = isinstance(node.right, ast.Constant | ast.JoinedStr) and _is_text(tail)
        if isinstance(node.op, ast.Div):
            return _below(file, node.left, tail) if written else None
        cut = _cut(tail) if written and isinstance(node.op, ast.Add) and "/" in tail else None
        if cut is None:
            return None
        left = file.source_of(node.left)
        if cut[0].strip(_QUOTES) in ("", "/"):
            return left, cut[1]
        plain = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.JoinedStr
        added = isinstance(node.left, plain) or (isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add))
        return f"{left if added else f'({left})'} + {cut[0]}", cut[1]
    return _last_joined(file, node) if isinstance(node, ast.Call) else None


def _last_joined(file: PythonFile, node: ast.Call) -> tuple[str, str] | None:
    """The texts of the folder and of the name of `os.path.join(folder, "name")` and of `folder.joinpath("name")`."""
    path = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "joinpath" else None
    if path is None and (ast.unparse(node.func) != "os.path.join" or len(node.args) < 2):
        return None
    if not node.args or node.keywords or any(map(_is_spread, node.args)):
        return None
    *rest, last = node.args
    tail = file.source_of(last)
    if not isinstance(last, ast.Constant | ast.JoinedStr) or not _is_text(tail):
        return None
    heads = [file.source_of(item) for item in rest]
    if "/" in tail:
        cut = _cut(tail)
        if cut is None:
            return None
        heads, tail = [*heads, cut[0]], cut[1]
    if path and not heads:
        return file.source_of(path), tail
    return heads[0] if len(heads) == 1 and not path else f"{file.source_of(node.func)}({', '.join(heads)})", tail


def _below(file: PythonFile, folder: ast.expr, tail: str) -> tuple[str, str] | None:
    """The texts of a folder and a name, of which a path has a part behind its last `/`."""
    cut = _cut(tail) if "/" in tail else None
    if "/" not in tail or cut is None:
        return (file.source_of(folder), tail) if "/" not in tail else None
    return f"{file.source_of(folder)} / {cut[0]}", cut[1]


def _added(file: PythonFile, node: ast.expr) -> tuple[str, str] | None:
    """The texts of the folder and of the name in a sum of texts that ends in a field, by the last slash that is written
    out."""
    node, *operands = _operands(node)
    texts = [file.source_of(item) for item in (node, *operands)]
    written = [isinstance(item, ast.Constant | ast.JoinedStr) and _is_text(file.source_of(item)) for item in operands]
    if not operands or not written[-1] or not _has_field(texts[-1]):
        return None
    last = max((at for at, item in enumerate((node, *operands)) if _has_slash(file, item)), default=None)
    if last is None:
        return None
    if texts[last][:-1].endswith("/"):
        head: str | None = _plain(texts[last][:-1].rstrip("/") + texts[last][-1])
        tail: list[str] = []
    elif cut := _cut(texts[last]):
        head, tail = cut[0], [cut[1]]
    else:
        return None
    if (head or "").rstrip(_QUOTES + "/").endswith(":"):
        return None
    folder = [*texts[:last], *([head] if head and head.strip(_QUOTES + "fF") else [])]
    return (" + ".join(folder), " + ".join([*tail, *texts[last + 1 :]])) if folder else None


def _has_slash(file: PythonFile, node: ast.expr) -> bool:
    """Whether a plain literal has a slash outside of fields."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return any("/" in text for text in texts) and _is_text(file.source_of(node))


def _is_spread(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def _is_text(text: str) -> bool:
    """Whether a literal is one plain string, with or without fields, on one line."""
    body = text[1:] if text[:1] in "fF" else text
    return (
        len(body) > 1 and body[0] in _QUOTES and body[-1] == body[0] and body[0] not in body[1:-1] and "\\" not in body
    )


def _cut(text: str) -> tuple[str, str] | None:
    """A literal, cut at its last slash outside of fields."""
    if not _is_text(text):
        return None
    start = 2 if text[0] in "fF" else 1
    depth, place = 0, -1
    formatted = start == 2
    skip = False
    for index in range(start, len(text) - 1):
        sign = text[index]
        if skip or not formatted:
            skip = False
        elif depth == 0 and text[index : index + 2] in ("{{", "}}"):
            skip = True
        else:
            depth += (sign == "{") - (sign == "}")
        if sign == "/" and depth == 0:
            place = index
    quote = text[-1]
    if place < 0:
        return f"{quote}.{quote}", text
    head, tail = text[:place] + quote, text[:start] + text[place + 1 :]
    if len(tail) == start + 1:
        return None
    return _plain(head) if place > start else f"{quote}/{quote}", _plain(tail)


def _plain(text: str) -> str:
    """A literal without the `f` that it does not need."""
    bare = text.replace("{{", "").replace("}}", "")
    needless = text[0] in "fF" and "{" not in bare and "}" not in bare
    return text[1:].replace("{{", "{").replace("}}", "}") if needless else text


def _made(file: PythonFile) -> set[str]:
    """The texts of what the file makes a folder, by name and by what that name is bound to."""
    found: set[str] = set()
    for each in file.calls_near(["makedirs", "mkdir"]):
        for given in _folder(each):
            found.add(file.source_of(given))
            bound = stated_once(file, each, given.id) if isinstance(given, ast.Name) else None
            if bound is not None:
                found.add(file.source_of(bound))
    return found


def _folder(call: CallNode) -> Iterator[ast.expr]:
    function = call.node.func
    if call.scope.resolve(function) in FOLDER_MAKERS and call.node.args:
        yield call.node.args[0]
    elif isinstance(function, ast.Attribute) and function.attr == "mkdir":
        yield function.value
