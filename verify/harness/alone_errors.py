"""What an error says about the batch that a training step was given: the batches to try next.

Runs in the target's interpreter, beside the harness: standard library and torch alone.
"""

from __future__ import annotations

import itertools
import linecache
import math
import re
from collections.abc import Callable, Iterator

from .alone_batches import BATCH, SIDE, KeyedDict, Place, Spec, at, leaves, named, natural, replaced
from .alone_changes import (
    MUCH,
    Trouble,
    changed,
    dimensions,
    fitting,
    folded,
    is_float,
    is_tensor,
    listed,
    memory,
    names_in,
    parts,
    row,
    sane,
    scaled,
    shaped,
    single,
    stretched,
    swapped,
    typed,
)
from .alone_checks import checked
from .alone_guesses import like_neighbours, menu, numbers

_MANY = 8
UNTOLD, GUESSED = 10.0, 1_500_000.0
"""What no error asks for is tried after what one does; a guess after all that came nearly as far."""


def following(trouble: Trouble) -> Iterator[tuple[Spec, float]]:
    """The batches to try after an error, the likeliest first, and how far each is to be put back."""
    yield from ((spec, 0) for spec in sane(checked(trouble)))
    for pattern, answer in _ANSWERS:
        match = pattern.search(trouble.text)
        if match:
            yield from ((spec, 0) for spec in sane(answer(match, trouble)))
    yield from ((spec, UNTOLD) for spec in single(trouble))
    yield from ((spec, UNTOLD) for spec in sane(like_neighbours(trouble)))
    yield from ((spec, UNTOLD) for spec in sane(numbers(trouble)))
    yield from ((spec, GUESSED) for spec in sane(menu(trouble)))


def is_about_inputs(text: str) -> bool:
    """Whether an error is of those that a batch of another shape or type would not meet."""
    return any(pattern.search(text) for pattern, _ in _ANSWERS)


def _to_long(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    yield from typed(trouble, "int64", is_float)


def _to_float(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    yield from typed(trouble, "float32", lambda part: True)
    yield from typed(trouble, "int64", is_float)


def _to_bool(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    yield from typed(trouble, "bool", lambda part: True)


# -- what errors say


def _matmul(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    rows, have, want = int(match[1]), int(match[2]), int(match[3])
    yield from swapped(have, want, trouble, -1)
    if have < _MANY:  # of channels that a layer takes as its features
        yield from swapped(have, want, trouble, 1)
    for place, part in trouble.suspects():
        shape = part["shape"]
        if len(shape) > 1 and math.prod(shape[1:]) == have:
            yield from (changed(trouble, place, shape=new) for new in folded(shape, want))
        elif len(shape) == 4:
            yield from (changed(trouble, place, shape=new) for new in scaled(shape, want / have))
        elif len(shape) == 3 and (want * shape[-1]) % have == 0:
            yield changed(trouble, place, shape=[*shape[:-1], want * shape[-1] // have])
        elif shape == [have] or math.prod(shape) == rows * have:
            yield changed(trouble, place, shape=[BATCH, want])
    yield from swapped(have, want, trouble)


def _channels(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    want, have = int(match[1]), int(match[2])
    weight = re.search(r"weight of size \[([\d, ]+)\]", trouble.text)
    for place, part in trouble.suspects() if weight and len(listed(weight[1])) == 4 else ():
        if len(part["shape"]) in (2, 3):  # where the first layer of all takes something else, as a time
            yield changed(trouble, place, shape=[BATCH, want, SIDE, SIDE])
    for place, part in trouble.suspects():
        if len(part["shape"]) == 2 and part["shape"][0] == have:
            yield changed(trouble, place, shape=[have, want, part["shape"][1]])
    for place, part in trouble.suspects():
        if len(part["shape"]) > 2 and part["shape"][1] == have:
            yield changed(trouble, place, shape=[part["shape"][0], want, *part["shape"][2:]])
        elif len(part["shape"]) == 4 and part["shape"][1] == want:
            yield changed(trouble, place, shape=[part["shape"][0], *part["shape"][2:], want])
    yield from swapped(have, want, trouble)
    for place, part in trouble.suspects():
        if len(part["shape"]) > 2:
            yield changed(trouble, place, shape=[part["shape"][0], want, *part["shape"][2:]])


def _wanted_dimensions(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """The last group is the number of dimensions there were, the others those that there may be."""
    numbers = [int(text) for text in match.groups() if text]
    *wanted, had = numbers if len(numbers) > 1 else [*numbers, -1]
    for only in (had, None):
        for count in reversed(wanted):
            yield from dimensions(count, trouble, only)


def _more_dimensions(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    had = int(match[1])
    if trouble.tensors_with_keys():
        return
    yield from dimensions(had + 1, trouble, had)
    yield from dimensions(had + 2, trouble, had)
    for place, part in trouble.suspects():
        yield changed(trouble, place, shape=shaped(part, len(part["shape"]) + 1, trouble.module))


def _range(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    had, asked = int(match[1]) + 1, int(match[2])
    count = asked + 1 if asked >= 0 else -asked
    yield from dimensions(count, trouble, had)
    yield from dimensions(count, trouble)


def _normalized(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    want, have = listed(match[1]), listed(match[2])
    if len(have) >= len(want):
        for place, part in trouble.suspects():
            if part["shape"][-len(want) :] == have[-len(want) :]:
                yield changed(trouble, place, shape=[*part["shape"][: -len(want)], *want])
        yield from swapped(have[-1], want[-1], trouble)


def _pair(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    yield from swapped(int(match[2]), int(match[1]), trouble)
    yield from swapped(int(match[1]), int(match[2]), trouble)


def _sized_alike(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """Of much more than the other, less is made first: a try costs as much as what it computes."""
    one, other = int(match[1]), int(match[2])
    orders = [_as_compared(one, other, trouble), _pair(match, trouble), stretched(one, other, trouble)]
    if max(one, other) > MUCH * min(one, other):
        orders = [orders[2], *orders[:2]]
    for found in orders:
        yield from found
    yield from _halved(one, other, trouble)


def _as_compared(one: int, other: int, trouble: Trouble) -> Iterator[Spec]:
    """A part of the batch becomes of the size of what it meets in the innermost function: of what is most like it."""
    known = {memory(value): place for place, value in parts(trouble.made) if is_tensor(value)}
    held = [value for frame, _ in trouble.own()[:1] for value in frame.f_locals.values() if is_tensor(value)]
    made = [tuple(value.shape) for value in held if memory(value) not in known and {one, other} & {*value.shape}]
    for value in held:
        shape, place = tuple(value.shape), known.get(memory(value))
        met = [each for each in dict.fromkeys(made) if each != shape and place is not None and len(each) > 1]
        for each in sorted(met, key=lambda each: -_alike(each, shape))[:2]:
            yield changed(trouble, place or (), shape=list(each))


def _alike(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many sizes two shapes have in common before they part."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _fewer_dimensions(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """What is repeated along further dimensions than it has may have none of its last ones."""
    more = int(match[2]) - int(match[1])
    for place, part in trouble.suspects():
        if len(part["shape"]) > more + 1:
            yield changed(trouble, place, shape=part["shape"][:-more])


def _halved(one: int, other: int, trouble: Trouble) -> Iterator[Spec]:
    """Of a picture that is halved and doubled again on the way, nothing is lost where its sides can be halved often."""
    places = [(place, part) for place, part in leaves(trouble.spec) if len(part["shape"]) > 3]
    sides = {side for _, part in places for side in part["shape"][2:]}
    for side in (64, 128, 256) if places and not sides & {one, other} else ():
        new = trouble.spec
        for place, part in places:
            if max(part["shape"][2:]) < side:
                new = replaced(new, place, {**part, "shape": [*part["shape"][:2], *[side] * len(part["shape"][2:])]})
        yield new


def _sizes(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """A target of one size, what it is compared with of another."""
    target, wanted = listed(match[1]), listed(match[2])
    for exact in (True, False):
        for place, part in reversed(trouble.suspects()):
            if (part["shape"] == target) == exact:
                yield changed(trouble, place, shape=wanted, dtype="float32")


def _scalars(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """One number a sample is expected."""
    size = int(match[1])
    for place, part in trouble.suspects():
        if len(part["shape"]) > 1 and size in (math.prod(part["shape"]), math.prod(part["shape"][1:])):
            yield changed(trouble, place, shape=part["shape"][:1])


def _expanded(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """Pieces of a size are cut at random places out of what is shorter: one that is twice as long has room for any. The
    size is that of what was cut, or one that the innermost function was given. Before that, what is of another size as
    it came gets the one that is asked for."""
    yield from swapped(int(match[2]), int(match[1]), trouble)
    held = trouble.own()[0][0].f_locals.values() if trouble.own() else ()
    sizes = dict.fromkeys([*(size for size in held if type(size) is int and size > 1), int(match[1])])
    for place, part in trouble.suspects():
        for size in sizes:
            if len(part["shape"]) > 1 and part["shape"][-1] < 2 * size:
                yield changed(trouble, place, shape=[*part["shape"][:-1], 2 * size])


def _viewed(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    want, size = listed(match[1]), int(match[2])
    known = math.prod(number for number in want if number > 0)
    for place, part in trouble.suspects():
        if math.prod(part["shape"]) == size:
            if -1 not in want:
                yield changed(trouble, place, shape=want)
            shape = part["shape"]
            yield from (changed(trouble, place, shape=new) for new in folded(shape, max(1, known // max(1, shape[0]))))
            yield changed(trouble, place, shape=[*shape[:-1], known])


def _larger(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    for place, part in trouble.suspects():
        shape = part["shape"]
        if len(shape) > 3:
            free = len(shape) - 2
            for side in (64, 128, 256, 224, 96, 512):
                if side > shape[-1]:
                    yield changed(trouble, place, shape=[*shape[:2], *[side] * free])
        elif len(shape) > 1:
            for size in (4, 32, 256, 1000):
                yield changed(trouble, place, shape=[*shape[:-1], shape[-1] * size])


def _lower(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    sizes = {layer.num_embeddings for layer in trouble.module.modules() if hasattr(layer, "num_embeddings")}
    for high in sorted({*sizes, 2, 1}, reverse=True):
        for place, part in trouble.suspects():
            if part["dtype"].startswith("int") and (part["high"] > high or part["high"] < 0):
                yield changed(trouble, place, high=high)


def _steady(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """Lengths, or shares of the longest one, that are the same for all samples."""
    for place, part in trouble.suspects():
        if len(part["shape"]) == 1 and part["high"] >= 0:
            yield changed(trouble, place, high=-1)


def _shorter(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """Lengths that may be more than there is."""
    for place, part in trouble.suspects():
        if part["high"] < -1:
            yield changed(trouble, place, high=-1)


def _chunks(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    have, chunk = int(match[1]), int(match[2])
    for count in (2, 1, 4, 7, 14):
        yield from swapped(have, chunk * count, trouble)


def _ambiguous(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """Truncated back-propagation through time takes parts of one length."""
    spec = trouble.spec
    lengths = {part["shape"][1] for _, part in leaves(spec) if len(part["shape"]) > 1}
    for length in sorted(lengths, reverse=True):
        new = spec
        for place, part in leaves(spec):
            if len(part["shape"]) > 1:
                new = replaced(new, place, {**part, "shape": [part["shape"][0], length, *part["shape"][2:]]})
        yield new


def _unpacked(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """A row of another length is expected: of the batch, or of a shape."""
    count = int(match[1])
    if ".shape" in trouble.line() or ".size(" in trouble.line():
        yield from dimensions(count, trouble)
    known = {id(value): place for place, value in parts(trouble.made)}
    for frame, line in trouble.own()[:3]:
        names = names_in(linecache.getline(frame.f_code.co_filename, line))
        for name in names:
            place = known.get(id(frame.f_locals.get(name)))
            if place is not None:
                yield replaced(trouble.spec, place, row(at(trouble.spec, place), count, trouble.module))
    yield row(trouble.spec, count, trouble.module)


def _keyed(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """A key or an attribute that the batch, or a part of it, should have."""
    found = [match[1]] if match.groups() and match[1] else _asked(trouble)
    is_attribute = isinstance(trouble.error, AttributeError)
    known = {id(value): place for place, value in parts(trouble.made) if not isinstance(value, str | int | float)}
    asked = trouble.tensors_with_keys()
    if asked and not any(id(value) in known for value in asked):
        return
    places: dict[Place, None] = {}
    for frame, line in trouble.own()[:4]:
        for name in names_in(linecache.getline(frame.f_code.co_filename, line)):
            if (place := known.get(id(frame.f_locals.get(name)))) is not None:
                places[place] = None
    for place in [*places, *([()] if () not in places else [])]:
        old = at(trouble.spec, place)
        kind = "object" if is_attribute or old.get("kind") == "object" else "dict"
        keys = {**old.get("keys", {}), **{name: named(name, natural(trouble.module)) for name in found}}
        if found and keys != old.get("keys"):
            yield replaced(trouble.spec, place, {"keys": keys, "kind": kind})


def _asked(trouble: Trouble) -> list[str]:
    """The keys that the innermost line asks for, written out or held by a variable."""
    found = re.findall(r"\[['\"](\w+)['\"]\]", trouble.line())
    for chain in re.findall(r"\[([A-Za-z_][\w.]*)\]", trouble.line()):
        first, *rest = chain.split(".")
        value = trouble.own()[0][0].f_locals.get(first)
        for name in rest:
            value = getattr(value, name, None)
        found += [value] if isinstance(value, str) and value not in found else []
    return found


def _tensor_wanted(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """A tensor is expected where the batch has a row."""
    yield natural(trouble.module)
    for number, item in enumerate(trouble.spec.get("items", ())):
        if "items" in item or "keys" in item:
            yield replaced(trouble.spec, (number,), natural(trouble.module))


def _texts(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """Texts are expected, one a sample."""
    for place, _ in trouble.suspects():
        yield replaced(trouble.spec, place, {"value": ["ab"] * BATCH})


def _loss(match: re.Match[str], trouble: Trouble) -> Iterator[Spec]:
    """What a loss is given as a target is made to fit its input."""
    for frame, _ in reversed(trouble.frames):
        given, target = frame.f_locals.get("input"), frame.f_locals.get("target")
        if is_tensor(given) and is_tensor(target):
            yield from fitting(given, target, frame.f_code.co_name in ("cross_entropy", "nll_loss"), trouble)
            return


_Answer = Callable[["re.Match[str]", Trouble], Iterator[Spec]]
_ANSWERS: tuple[tuple[re.Pattern[str], _Answer], ...] = tuple(
    (re.compile(pattern), answer)
    for pattern, answer in (
        (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x\d+\)", _matmul),
        (r"size mismatch, got input \((\d+)\), mat \(\d+x(\d+)\), vec \((\d+)\)", _matmul),
        (r"to have (\d+) channels?, but got (\d+) channels?", _channels),
        (r"[Ee]xpected (\d)D \(unbatched\) or (\d)D \(batched\) input", _wanted_dimensions),
        (r"[Ee]xpected (\d)D(?: or (\d)D)?(?: or (\d)D)? \(?.*?got (\d)D", _wanted_dimensions),
        (r"[Ee]xpected input to be (\d)D or (\d)D, got (\d)D", _wanted_dimensions),
        (r"input must have (\d) dimensions, got (\d)", _wanted_dimensions),
        (r"input\.dim\(\) = \d is not equal to len\(dims\) = (\d)", _wanted_dimensions),
        (r"[Ee]xpected (\d) dims\. Received (\d)-dim", _wanted_dimensions),
        (r"must be equal to input_size\. Expected (\d+), got (\d+)", _pair),
        (r"expecting embedding dimension of (\d+), but got (\d+)", _pair),
        (r"running_mean should contain (\d+) elements not (\d+)", _pair),
        (r"(?:height|width|size) \((\d+)\*?\d*\) doesn't match model \((\d+)", _pair),
        (r"normalized_shape=\[([\d, ]+)\], expected input with shape \[.*?\], but got input of size\s*\[([\d, ]+)\]",
         _normalized),
        (r"to have one of the following scalar types: Long|expected scalar type Long|used as indices must be long"
         r"|only one element tensors|must be an integer tensor|to be of integer type"
         r"|expects an? (?:long|int)|must be.*Long|Expected dtype int(?:32/int)?64 for index", _to_long),
        (r"iteration over a 0-d tensor|expected str|must be (?:of type )?`?str|must be a string|not Tensor", _texts),
        (r"target|Target|cross_entropy|nll_loss|binary_cross_entropy", _loss),
        (r"must have the same dtype|expected m1 and m2 to have the same dtype|expected scalar type Float"
         r"|expected Float|Expected floating point|Input type \((?:\w+\.)*(?:long|Long|bool|Byte)"
         r"|result type Float can't be cast|not implemented for '(?:Long|Bool)'|Can only calculate the mean"
         r"|expected.*floating|but got Long|Found dtype", _to_float),
        (r"expected.*Bool|must be bool|ByteTensor|BoolTensor|bool tensor", _to_bool),
        (r"index out of range in self|index \d+ is out of bounds|Class values must be smaller|out of bounds", _lower),
        (r"[Tt]arget size \(torch\.Size\(\[(.*?)\]\)\)(?: must be the same as| that is different to the)"
         r" input size \(torch\.Size\(\[(.*?)\]\)\)", _sizes),
        (r"a Tensor with (\d+) elements cannot be converted to Scalar", _scalars),
        (r"size of tensor a", _loss),
        (r"sizes provided \((\d+)\) must be greater or equal to the number of dimensions in the tensor \((\d+)\)",
         _fewer_dimensions),
        (r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)", _expanded),
        (r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)", _sized_alike),
        (r"must match except in dimension|[Kk]ernel size can't be greater|[Oo]utput size is too small"
         r"|Expected more than 1 value per channel|[Pp]adding size should be less|too small|input.*smaller"
         r"|must be (?:larger|greater) than", _larger),
        (r"array must be sorted in decreasing order|Length of all samples has to be greater than 0", _steady),
        (r"its loss is 0$", _shorter),
        (r"can't divide axis of length (\d+) in chunks of (\d+)", _chunks),
        (r"Batch time dimension length is ambiguous", _ambiguous),
        (r"shape '\[(.*?)\]' is invalid for input of size (\d+)", _viewed),
        (r"(?:not enough|too many) values to unpack \(expected (?:at least )?(\d+)", _unpacked),
        (r"Dimension out of range \(expected to be in range of \[-?\d+, (-?\d+)\], but got (-?\d+)\)", _range),
        (r"too many indices for tensor of dimension (\d+)", _more_dimensions),
        (r"KeyError: '(\w+)'", _keyed),
        (r"'(?:Tensor|list|tuple|dict|KeyedDict)' object has no attribute '(items|keys|values|get)'", _keyed),
        (r"'(?:list|tuple|dict|KeyedDict|Tensor)' object has no attribute '(?:shape|size|view|to|float|dim|device|dtype"
         r"|reshape|permute|unsqueeze|squeeze|transpose|flatten|mean|sum)'|argument 'input'.*must be Tensor"
         r"|must be Tensor, not (?:list|tuple|dict)|iteration over a 0-d", _tensor_wanted),
        (r"'(?:Tensor|list|tuple|dict|KeyedDict)' object has no attribute '(\w+)'", _keyed),
        (r"indices must be integers or slices, not str|too many indices|only integers, slices|invalid data type 'str'"
         r"|can't convert.*'str'", _keyed),
    )
)  # fmt: skip

__all__ = ["KeyedDict", "Trouble", "following", "is_about_inputs"]
