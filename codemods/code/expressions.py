"""Expressions in their plain form."""

from __future__ import annotations

import ast
from keyword import iskeyword

from codemods.code.assigning import is_attribute
from codemods.code.displays import displayed, scattered
from codemods.code.folding import NAMESPACES, foldable, folded
from codemods.code.imports import ModuleNames
from codemods.code.nodes import DOING, every_node
from codemods.code.rows import unpacked
from codemods.code.spelled_calls import spelled_out
from codemods.code.tree_copies import at, changed, replaced, replaced_at, twin

PARTIAL = "functools.partial"
CASTS = ("typing.cast", "typing_extensions.cast")
MAPPINGS = ("collections.OrderedDict", "collections.ChainMap", "types.MappingProxyType")
"""What makes of one dictionary something that has the same keys and values."""
PLAIN = (ast.Name, ast.Constant)
FIRST = {"manual_backward": "loss"}
"""Methods that are given their first argument without its name, as one may."""
MODULES = ("typing", "typing_extensions")
LOCAL = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


def plain_expressions(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with every expression in its plain form."""

    def swap(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.NamedExpr):
            return node.value if node.target.id in unread else None
        if isinstance(node, ast.IfExp):
            return _either(node, known) or folded(node, known)
        if isinstance(node, ast.Attribute | ast.Subscript | ast.Call) and (found := _needed(node, known)) is not None:
            return found
        plainer = None
        if isinstance(node, ast.Call):
            plainer = _simpler(node, known) or spelled_out(node, known) or _call(node, known)
        return plainer or displayed(node, known) or folded(node, known)

    bound = {node.target.id for node in known.nodes[ast.NamedExpr]} - known.bound_in_classes - _of_module(known)
    unread = {name for name in bound if known.names.is_never_read(name)}
    kept = [node for node in known.nodes[ast.NamedExpr] if node.target.id in unread]
    cast = any(name in CASTS or name in MODULES for name in known.imported.values())
    calls = known.nodes[ast.Call]
    odd = [node for node in calls if _is_odd(node) or (cast and known.dotted(node.func) in CASTS)]
    odd += [node for node in calls if spelled_out(node, known) is not None]
    every = (*odd, *kept, *_needing(known), *known.nodes[ast.IfExp])
    places = [*(node for node in every if swap(node) is not None), *foldable(known), *scattered(known)]
    return replaced_at(tree, places, swap) if places else tree


def _of_module(known: ModuleNames) -> set[str]:
    """The names that expressions bind in the module itself, from which other files may import them."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda) if known.nodes[ast.NamedExpr] else ()
    inside = {id(item) for kind in kinds for node in known.nodes[kind] for item in every_node(node)}
    here = {node.target.id for node in known.nodes[ast.NamedExpr] if id(node) not in inside}
    return here | {name for node in known.nodes[ast.Global] for name in node.names}


def _is_odd(node: ast.Call) -> bool:
    """Whether a call may have a plainer form."""
    function = node.func
    return (
        isinstance(function, ast.Call | ast.Lambda)
        or (isinstance(function, ast.Name) and function.id in ("getattr", "vars"))
        or any(item.arg is None and isinstance(item.value, ast.Dict | ast.Call) for item in node.keywords)
        or any(isinstance(item, ast.Starred) for item in node.args)
        or (not node.args and _first_parameter(node) is not None)
    )


def _first_parameter(node: ast.Call) -> str | None:
    return FIRST.get(node.func.attr) if isinstance(node.func, ast.Attribute) else None


def _either(node: ast.IfExp, known: ModuleNames) -> ast.expr | None:
    """What a conditional expression of two equal values, or one whose test is a constant, gives."""
    if isinstance(node.test, ast.Constant):
        return node.body if node.test.value else node.orelse
    if _is_guarded(node):
        return node.body
    same = ast.dump(node.body) == ast.dump(node.orelse)
    return twin(node.body, node.orelse) if same and known.is_quiet(node.test) else None


def _is_guarded(node: ast.IfExp) -> bool:
    """Whether it is a name where that is not None, and None where it is."""
    test, name = node.test, getattr(node.body, "id", "")
    none = isinstance(node.orelse, ast.Constant) and node.orelse.value is None
    asked = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot) and len(test.ops) == 1
    if not (name and none and asked and isinstance(test, ast.Compare)):
        return False
    return getattr(test.left, "id", "") == name and ast.dump(test.comparators[0]) == ast.dump(node.orelse)


def _simpler(node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What a call gives that only hands something on: of a lambda that is called at once, `cast`, `getattr` by a
    constant."""
    function, given = node.func, node.args
    if isinstance(function, ast.Lambda):
        return _of_lambda(function, node, known)
    if getattr(function, "id", "") == "vars" and len(given) == 1 and not {"dict", "vars"} & known.taken:
        return _of_namespace(node, given[0], known)
    if node.keywords or len(given) != 2 or any(isinstance(item, ast.Starred) for item in given):
        return None
    if known.dotted(function) in CASTS and known.is_quiet(given[0]):
        return given[1]
    if not (isinstance(function, ast.Name) and function.id == "getattr" and function.id not in known.taken):
        return None
    name = given[1].value if isinstance(given[1], ast.Constant) else None
    if not is_attribute(name):
        return None
    made = ast.copy_location(ast.Attribute(value=given[0], attr=name, ctx=ast.Load()), node)
    vars(made).update(made_of=node)
    return made


def _of_namespace(node: ast.Call, made: ast.expr, known: ModuleNames) -> ast.Call | None:
    """The dictionary of a namespace that is made for it alone."""
    named = isinstance(made, ast.Call) and not made.args and known.dotted(made.func) in NAMESPACES
    if not named or not isinstance(made, ast.Call) or node.keywords:
        return None
    return changed(
        node, func=ast.copy_location(ast.Name("dict", ast.Load()), node.func), args=[], keywords=made.keywords
    )


def _needing(known: ModuleNames) -> list[ast.expr]:
    """What asks something of what `getattr` gives with a default."""
    if not any(getattr(item.func, "id", "") == "getattr" and len(item.args) == 3 for item in known.nodes[ast.Call]):
        return []
    every = (item for kind in (ast.Attribute, ast.Subscript, ast.Call) for item in known.nodes[kind])
    return [item for item in every if _needed(item, known) is not None]


def _needed(node: ast.Attribute | ast.Subscript | ast.Call, known: ModuleNames) -> ast.expr | None:
    """What asks something of an attribute that `getattr` gives, or None instead of it, of which that cannot be asked:
    with the attribute itself."""
    field = "func" if isinstance(node, ast.Call) else "value"
    asked = getattr(node, field)
    if not isinstance(asked, ast.Call) or getattr(asked.func, "id", "") != "getattr" or len(asked.args) != 3:
        return None
    default = asked.args[2]
    if not isinstance(default, ast.Constant) or default.value is not None:
        return None
    found = _simpler(changed(asked, args=asked.args[:2]), known)
    return changed(node, **{field: found}) if found is not None else None


def _of_lambda(function: ast.Lambda, node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What a lambda gives that takes nothing, gives back what it takes, hands all of it on, or takes names and
    constants alone."""
    given, defaults = function.args.args, function.args.defaults
    if function.args.vararg or function.args.kwarg:
        return _handed_on(function, node, known)
    missing = len(given) - len(node.args)
    if node.keywords or _takes_more(function.args) or not 0 <= missing <= len(defaults):
        return None
    values = [*node.args, *defaults[len(defaults) - missing :]]
    if len(given) == 1 and isinstance(function.body, ast.Name) and function.body.id == given[0].arg:
        skipped = bool(node.args and defaults) and not isinstance(defaults[0], ast.Constant)
        return None if isinstance(values[0], ast.Starred) or skipped else values[0]
    if not all(isinstance(item, PLAIN) for item in defaults):
        return None
    every = list(every_node(function.body))
    if any(isinstance(item, LOCAL) for item in every) or not all(isinstance(item, PLAIN) for item in values):
        return None
    if not given:
        return function.body
    if any(isinstance(item, ast.Lambda | ast.comprehension) for item in every):
        return None
    by_name = dict(zip((item.arg for item in given), values, strict=True))

    def swap(item: ast.AST) -> ast.AST | None:
        value = by_name.get(item.id) if isinstance(item, ast.Name) else None
        return at(value, item) if value is not None else None

    return replaced(function.body, swap)


def _handed_on(function: ast.Lambda, node: ast.Call, known: ModuleNames) -> ast.expr | None:
    """What `lambda *given, **words: f(*given, **words)` gives, where `f` is the same before and after what it is given
    is worked out; of `lambda *given: given[0]` the one thing that it is given."""
    arguments, body = function.args, function.body
    names = [item.arg for item in (arguments.vararg, arguments.kwarg) if item]
    if arguments.args or arguments.posonlyargs or arguments.kwonlyargs:
        return None
    if isinstance(body, ast.Subscript) and names == [getattr(body.value, "id", "")] and arguments.vararg:
        first = isinstance(body.slice, ast.Constant) and type(body.slice.value) is int and body.slice.value == 0
        single = first and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        return node.args[0] if single else None
    if isinstance(body, ast.Name) and [body.id] == names and arguments.kwarg and not node.args:
        made = ast.copy_location(ast.Name("dict", ast.Load()), function)
        return changed(node, func=made) if "dict" not in known.taken else None
    if not isinstance(body, ast.Call):
        return None
    handed = [getattr(item.value, "id", "") for item in body.args if isinstance(item, ast.Starred)]
    handed += [getattr(item.value, "id", "") for item in body.keywords if item.arg is None]
    given = [*node.args, *(item.value for item in node.keywords)]
    own = {item.id for item in every_node(body.func) if isinstance(item, ast.Name)}
    if handed != names or len(names) < len(body.args) + len(body.keywords) or not own.isdisjoint(names):
        return None
    if (arguments.kwarg is None and node.keywords) or (arguments.vararg is None and node.args):
        return None
    inside = [item for each in given for item in every_node(each)]
    doing = any(isinstance(item, DOING) for item in every_node(body.func))
    if doing or any(isinstance(item, LOCAL) for item in inside):
        return None
    if any(isinstance(item, ast.Call) for item in inside) and not known.is_steady(body.func):
        return None
    return changed(node, func=body.func)


def _takes_more(arguments: ast.arguments) -> bool:
    """Whether there is more than one plain parameter."""
    return bool(arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg)


def _call(node: ast.Call, known: ModuleNames) -> ast.Call | None:
    """A call with what a partial one, or a dictionary written in it, gives."""
    made = node
    if any(isinstance(item, ast.Starred) for item in node.args):
        args = [new for item in node.args for new in unpacked(item, known)]
        made = changed(node, args=args) if args != node.args else node
    first = _first_parameter(node)
    if first and not node.args and node.keywords and node.keywords[0].arg == first:
        made = changed(node, args=[node.keywords[0].value], keywords=node.keywords[1:])
    keywords = [new for item in made.keywords for new in _spread(item, known)]
    if len(keywords) != len(made.keywords) or any(a is not b for a, b in zip(keywords, made.keywords, strict=True)):
        made = changed(made, keywords=keywords)
    inner = node.func
    if isinstance(inner, ast.Call) and known.dotted(inner.func) == PARTIAL and _is_one_call(inner, made, known):
        args = [*inner.args[1:], *made.args]
        call = made if made.keywords or made.args else inner
        made = changed(call, func=inner.args[0], args=args, keywords=[*inner.keywords, *made.keywords])
        vars(made).update(stands_for=node)
    return None if made is node else made


def _is_one_call(inner: ast.Call, outer: ast.Call, known: ModuleNames) -> bool:
    """Whether a partial call and the call of it are one call of both their arguments, in the same order, of which none
    takes the place of another."""
    if not inner.args or isinstance(inner.args[0], ast.Starred):
        return False
    one, other = ({item.arg for item in call.keywords} for call in (inner, outer))
    if one & other or (one and None in other) or (None in one and other):
        return False
    first, then = [item.value for item in inner.keywords], outer.args
    return all(map(known.is_quiet, first)) or all(map(known.is_quiet, then))


def takes_something(arguments: ast.arguments) -> bool:
    """Whether there is a parameter."""
    return any(isinstance(item, ast.arg) for item in every_node(arguments))


def _is_word(key: object) -> bool:
    """Whether a key may be written as the name of an argument."""
    return isinstance(key, str) and key.isidentifier() and not iskeyword(key)


def _spread(item: ast.keyword, known: ModuleNames) -> list[ast.keyword]:
    """The keywords that `**{...}` gives."""
    whole = item.value if item.arg is None else None
    if isinstance(whole, ast.Call) and len(whole.args) == 1 and known.dotted(whole.func) in MAPPINGS:
        whole = None if whole.keywords else whole.args[0]
    if not isinstance(whole, ast.Dict):
        return [item]
    keys = [key.value if isinstance(key, ast.Constant) else None for key in whole.keys]
    if len(set(keys)) < len(keys) or not all(map(_is_word, keys)):
        return [item]
    found = []
    for key, name, value in zip(whole.keys, keys, whole.values, strict=True):
        own = getattr(key, "made_of", None)
        if isinstance(own, ast.keyword) and own.value is value:
            found.append(own)
            continue
        made = ast.keyword(arg=str(name), value=value)
        place = ast.copy_location(made, key or value)
        place.end_lineno, place.end_col_offset = value.end_lineno, value.end_col_offset
        found.append(place)
    return found
