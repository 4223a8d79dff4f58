"""Edits that write dictionaries and lists, and what is read of them, in another way, and change nothing of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from codemods.testing.neutral_handing import filled
from codemods.testing.neutral_program import Edited, Program, with_import


def dictionaries(form: str, top: str = "") -> Callable[[Program], Edited]:
    """A dictionary of texts in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if not isinstance(node, ast.Dict) or not node.keys or "\n" in program.source(node):
                continue
            keys = [str(key.value) for key in node.keys if isinstance(key, ast.Constant)]
            if len(keys) < len(node.keys) or not all(map(str.isidentifier, keys)):
                continue
            texts = [program.source(item) for item in node.values]
            pairs = [f'"{key}": {text}' for key, text in zip(keys, texts, strict=True)]
            words = {
                "every": ", ".join(pairs),
                "rest": ", ".join(pairs[1:]),
                "first": pairs[0],
                "words": ", ".join(f"{key}={text}" for key, text in zip(keys, texts, strict=True)),
                "tuples": ", ".join(f'("{key}", {text})' for key, text in zip(keys, texts, strict=True)),
            }
            yield node.lineno, with_import(program.replace((node, form.format(**words))), top)

    return edit


def _written(program: Program, kind: type[ast.expr]) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """The displays in simple statements of functions and the module, where only names and attributes are read."""
    for owner, block in program.blocks():
        for node in block:
            simple = isinstance(node, ast.Assign | ast.Return | ast.Expr) and program.is_alone(node)
            if not simple or isinstance(owner, ast.ClassDef):
                continue
            for item in ast.walk(node):
                lazy = any(isinstance(each, ast.Lambda | ast.comprehension | ast.IfExp) for each in ast.walk(node))
                if isinstance(item, kind) and isinstance(getattr(item, "ctx", ast.Load()), ast.Load) and not lazy:
                    yield node, item


def dictionary_above(*lines: str) -> Callable[[Program], Edited]:
    """A dictionary that is filled by statements in front of the one in which it stands."""

    def edit(program: Program) -> Edited:
        for node, item in _written(program, ast.Dict):
            if not isinstance(item, ast.Dict) or not item.keys or None in item.keys or "\n" in program.source(node):
                continue
            pairs = [
                (program.source(key), program.source(each))
                for key, each in zip(item.keys, item.values, strict=True)
                if key
            ]
            every = ", ".join(f"{key}: {each}" for key, each in pairs)
            made: list[str] = []
            for line in lines:
                each = pairs if "{key}" in line else pairs[:1]
                made += [line.format(key=key, value=text, every=every) for key, text in each]
            text = Program(program.replace((item, "filled_here")))
            yield node.lineno, text.put(node.lineno - 1, *(f"{program.indent(node)}{line}" for line in made))

    return edit


def list_above(*lines: str) -> Callable[[Program], Edited]:
    """The same of a list."""

    def edit(program: Program) -> Edited:
        for node, item in _written(program, ast.List):
            if not isinstance(item, ast.List) or not item.elts or "\n" in program.source(node):
                continue
            if any(isinstance(each, ast.Starred) for each in item.elts):
                continue
            made: list[str] = []
            for line in lines:
                each = [program.source(one) for one in item.elts]
                made += (
                    [line.format(item=one) for one in each]
                    if "{item}" in line
                    else [line.format(every=", ".join(each))]
                )
            text = Program(program.replace((item, "listed_here")))
            yield node.lineno, text.put(node.lineno - 1, *(f"{program.indent(node)}{line}" for line in made))

    return edit


def lists(form: str) -> Callable[[Program], Edited]:
    """A list in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if isinstance(node, ast.List) and node.elts and isinstance(node.ctx, ast.Load):
                items = [program.source(item) for item in node.elts]
                if "\n" not in program.source(node) and not any(isinstance(item, ast.Starred) for item in node.elts):
                    yield node.lineno, program.replace((node, form.format(every=", ".join(items))))

    return edit


def appended(form: str) -> Callable[[Program], Edited]:
    """What is appended to a list in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            call = node.value if isinstance(node, ast.Expr) else None
            function = call.func if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or not isinstance(node, ast.Expr):
                continue
            if isinstance(function, ast.Attribute) and function.attr == "append":
                of, item = program.source(function.value), program.source(call.args[0])
                yield node.lineno, program.replace((node, form.format(of=of, item=item)))

    return edit


def subscripts(form: str, top: str = "") -> Callable[[Program], Edited]:
    """What is read by a key or a number in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Load)
                and not isinstance(node.slice, ast.Slice)
            ):
                new = form.format(of=program.source(node.value), key=program.source(node.slice))
                yield node.lineno, with_import(program.replace((node, new)), top)

    return edit


ROWS: Mapping[str, Callable[[Program], Edited]] = {
    "filled by update": filled("given = {{}}", "given.update({{{every}}})"),
    "filled by words": filled("given = {{}}", "given.update({key}={value})", "given.update({{{rest}}})"),
    "filled by or": filled("given = {{}}", "given |= {{{every}}}"),
    "filled by key": filled("given = {{{rest}}}", 'given["{key}"] = {value}'),
    "filled in a branch": filled("given = {{{rest}}}", "if True:", '    given["{key}"] = {value}'),
    "copied by dict": filled("kept = {{{every}}}", "given = dict(kept)"),
    "merged": filled("kept = {{{first}}}", "given = kept | {{{rest}}}"),
    "merged by dict": filled("kept = {{{rest}}}", "given = dict(kept, {key}={value})"),
    "annotated words": filled("given: dict[str, object] = {{{every}}}"),
    "taken out of words": filled("given = {{{every}, 'unused_here': 1}}", "given.pop('unused_here')"),
    "deleted of words": filled("given = {{{every}, 'unused_here': 1}}", "del given['unused_here']"),
    "words printed": filled("given = {{{every}}}", "print(given)", "for key in given:", "    print(key)"),
    "dictionary by words": dictionaries("dict({words})"),
    "dictionary by pairs": dictionaries("dict([{tuples}])"),
    "dictionary spread": dictionaries("{{**{{{every}}}}}"),
    "dictionary merged": dictionaries("({{{first}}} | {{{rest}}})"),
    "dictionary and words": dictionaries("dict({{{every}}})"),
    "dictionary in order": dictionaries("collections.OrderedDict([{tuples}])",
                                        top="import collections"),
    "dictionary in order of itself": dictionaries("OrderedDict({{{every}}})",
                                                  top="from collections import OrderedDict"),
    "dictionary key by key": dictionary_above("filled_here = {{}}", "filled_here[{key}] = {value}"),
    "dictionary updated": dictionary_above("filled_here = {{}}", "filled_here.update({{{every}}})"),
    "dictionary named": dictionary_above("filled_here = {{{every}}}"),
    "dictionary by setdefault": dictionary_above("filled_here = {{}}", "filled_here.setdefault({key}, {value})"),
    "list named": list_above("listed_here = [{every}]"),
    "list appended": list_above("listed_here = []", "listed_here.append({item})"),
    "list added": list_above("listed_here = []", "listed_here += [{item}]"),
    "list extended": list_above("listed_here = []", "listed_here.extend([{every}])"),
    "list anew": list_above("listed_here = []", "listed_here = [*listed_here, {item}]"),
    "list of a tuple": lists("list(({every},))"),
    "list spread": lists("[*({every},)]"),
    "list by a comprehension": lists("[item for item in ({every},)]"),
    "list added to none": lists("([] + [{every}])"),
    "appended by plus": appended("{of} += [{item}]"),
    "appended by extend": appended("{of}.extend([{item}])"),
    "appended by insert": appended("{of}.insert(len({of}), {item})"),
    "appended by slice": appended("{of}[len({of}):] = [{item}]"),
    "read by its method": subscripts("{of}.__getitem__({key})"),
    "read by a getter": subscripts("operator.itemgetter({key})({of})", top="import operator"),
    "read by a named key": subscripts("{of}[(key_here := {key})]"),
}  # fmt: skip
"""Edits that write what holds several things in another way."""
