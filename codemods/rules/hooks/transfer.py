"""The hook that moves a batch to its device, which has got the index of its loader since 1.4."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import is_plain, is_super_call, self_name
from codemods.lightning.class_family import family
from codemods.lightning.facts import ClassFact, Facts
from codemods.rule import Match, NodeEdit, touches

if TYPE_CHECKING:
    import libcst as cst

    Space = cst.BaseParenthesizableWhitespace

LONGER = {"transfer_batch_to_device": 2}
"""The hook of modules and datamodules, with the count of arguments that it got before. Those before and after the move
have had the index from the start (1.2)."""
INDEX = "dataloader_idx"


def longer(file: PythonFile, facts: Facts, fact: ClassFact, item: ClassNode, name: str) -> Match | None:
    """A hook that takes no index, with one that is 0 where nobody gives it."""
    method = item.methods[name]
    given = [*method.args.posonlyargs, *method.args.args]
    names = [argument.arg for argument in (given[1:] if self_name(method) else given)]
    place, message = file.head(method), f"{name} gets `{INDEX}` too since Lightning 1.4"
    called = [node for node in walk(method) if isinstance(node, ast.Call)]
    calls = [node for node in called if is_super_call(node, name)]
    if method.args.vararg:
        few = any(not call.keywords and _count(call) <= LONGER[name] for call in calls)
        why = f"it gives the hook of its base less than it gets. Pass `{INDEX}` on"
        return Match(place, message, "manual", f"Not rewritten: {why}.") if few else None
    if not names or len(names) > LONGER[name]:
        return None
    relative = next((other.name for other in family(facts, fact) if name in other.methods), None)
    why = ""
    if not is_plain(method):
        why = "it is decorated, or takes more than plain arguments"
    elif any(_is_by_name(node.func, name, self_name(method)) for node in called):
        why = "it calls the hook of a class that it names"
    elif sum(_is_of_base(node, name) for node in walk(method)) > len(calls):
        why = "it uses the hook of its base without calling it"
    elif len(names) < LONGER[name]:
        why = f"it has {len(names)} of {LONGER[name]} parameters"
    elif any(isinstance(node, ast.Name) and node.id == INDEX for node in walk(method)):
        why = f"it has a `{INDEX}` of its own"
    elif any(len(call.args) != LONGER[name] or call.keywords for call in calls) or (calls and relative):
        why = f"it calls the hook of its base{f', and {relative}, a relative, has it too' if relative else ''}"
    if why:
        return Match(place, message, "manual", f"Not rewritten: {why}. Add the parameter `{INDEX}` and pass it on.")
    edit = NodeEdit(method, partial(_with_index, name=name))
    return Match(
        place,
        message,
        "safe",
        "Lightning gives it by position, which is a TypeError without a parameter for it.",
        edits=(edit,),
    )


def _count(call: ast.Call) -> float:
    """How many arguments a call gives at most, of `*args[:2]` two."""
    return sum(_length(item.value) if isinstance(item, ast.Starred) else 1 for item in call.args)


def _length(node: ast.expr) -> float:
    part = node.slice if isinstance(node, ast.Subscript) else None
    end = part.upper if isinstance(part, ast.Slice) and part.lower is None else None
    return end.value if isinstance(end, ast.Constant) and isinstance(end.value, int) else float("inf")


def _is_of_base(node: ast.AST, hook: str) -> bool:
    """Whether a node is `super().hook`, called or not."""
    return isinstance(node, ast.Attribute) and is_super_call(ast.Call(node, [], []), hook)


def _is_by_name(function: ast.expr, hook: str, this: str) -> bool:
    """Whether a call is one of `Base.hook(self, ...)`."""
    if not isinstance(function, ast.Attribute) or function.attr != hook:
        return False
    owner = function.value
    return isinstance(owner, ast.Attribute) or (isinstance(owner, ast.Name) and owner.id != this)


@touches("head")
def _with_index(node: cst.FunctionDef, *, name: str) -> cst.FunctionDef:
    import libcst as cst
    import libcst.matchers as m

    call = m.Call(func=m.Attribute(value=m.Call(func=m.Name("super")), attr=m.Name(name)))
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))

    def handing(found: cst.CSTNode, _: object) -> cst.CSTNode:
        assert isinstance(found, cst.Call)
        *rest, last = found.args
        return found.with_changes(args=[*rest, last.with_changes(comma=comma), cst.Arg(cst.Name(INDEX))])

    changed = m.replace(node, call, handing)
    assert isinstance(changed, cst.FunctionDef)
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    *rest, last = changed.params.params
    index = cst.Param(name=cst.Name(INDEX), equal=plain, default=cst.Integer("0"))
    if isinstance(last.comma, cst.Comma):
        between, end = _parted(rest, last.comma.whitespace_after)
        index = index.with_changes(comma=cst.Comma(whitespace_after=end))
    else:
        between, end = _parted(rest, last.whitespace_after_param)
        index = index.with_changes(whitespace_after_param=end)
    last = last.with_changes(comma=cst.Comma(whitespace_after=between), whitespace_after_param=cst.SimpleWhitespace(""))
    return changed.with_changes(params=changed.params.with_changes(params=[*rest, last, index]))


def _parted(rest: Sequence[cst.Param], end: Space) -> tuple[Space, Space]:
    """What stands before and behind one more parameter, given those before the last and what stood behind that: a
    comment there stays beside the last where each has a line of its own."""
    import libcst as cst

    from codemods.rewrite.keywords import clean_break

    comma = rest[-1].comma if rest else None
    before = comma.whitespace_after if isinstance(comma, cst.Comma) else None
    if not isinstance(before, cst.ParenthesizedWhitespace):
        return cst.SimpleWhitespace(" "), end
    before = clean_break(before)
    if not isinstance(end, cst.ParenthesizedWhitespace):
        return before, end
    return before.with_changes(first_line=end.first_line, empty_lines=end.empty_lines), clean_break(end)
