"""COM006: arguments by position, which librosa takes by name alone."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.rewrite.keywords import by_name
from codemods.rule import Example, Match, NodeEdit, Rule

SINCE = "0.10"
_INSIDE = re.compile(r"^librosa\.(?:core(?:\.\w+)?(?=\.\w+$)|(util|feature)\.\w+(?=\.\w+$))")
"""The modules of which librosa names what they hold further up."""


@dataclass(frozen=True)
class OrderedParameters:
    """A row of `librosa_parameters.csv`: the parameters of a function in the order that 0.7 to 0.9 have in common, of
    which the first `kept` are still taken by position. What 0.10 and 0.11 take by no such name is not among them."""

    kept: int
    names: tuple[str, ...]


@cache
def functions() -> Mapping[str, OrderedParameters]:
    """The rows by the name of the function. They were read off the sources of 0.7.2, 0.8.1, 0.9.2, 0.10.2 and
    0.11.0."""
    with (Path(__file__).parent / "librosa_parameters.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["function"]: OrderedParameters(int(row["kept"]), tuple(row["parameters"].split())) for row in rows}


@cache
def _last_names() -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in functions())


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in _calls(file):
        dotted = call.scope.resolve(call.node.func) or ""
        name = _INSIDE.sub(lambda found: f"librosa.{found[1]}" if found[1] else "librosa", dotted)
        row = functions().get(dotted) or functions().get(name)
        if row is not None and len(call.node.args) > row.kept:
            yield _judged(file, call, name, row)


def _calls(file: PythonFile) -> list[CallNode]:
    """The calls that may be of librosa, under whatever name a file imports it."""
    own = (alias.asname for node in file.imports for alias in node.names if alias.asname)
    return [call for call in file.calls_near({*_last_names(), *own}) if call.node.args]


def _judged(file: PythonFile, call: CallNode, name: str, row: OrderedParameters) -> Match:
    taken = f"only {row.kept} argument{'s'[: row.kept - 1]}" if row.kept else "no argument"
    message = f"`{name}` takes {taken} by position since librosa {SINCE}"
    names = row.names[row.kept : len(call.node.args)]
    place = file.span(call.node.args[row.kept])
    given = {item.arg for item in call.node.keywords}
    starred = any(isinstance(item, ast.Starred) for item in call.node.args)
    if starred or None in given or given & {*names} or len(call.node.args) > len(row.names):
        told = "`*` or `**` gives more" if starred or None in given else "releases differ in which arguments these are"
        first = row.names[row.kept]
        return Match(place, message, "manual", f"Not rewritten: {told}; write names: `{first}=...`.")
    edit = partial(by_name, names=names, first=row.kept)
    shown = ", ".join(f"`{each}`" for each in names)
    reason = f"{'Its name is' if len(names) == 1 else 'Their names are'} {shown} in every release from 0.7 on."
    return Match(place, message, "safe", reason, edits=(NodeEdit(call.node, edit),))


BEFORE = """\
import librosa
from librosa.filters import mel as librosa_mel_fn
from librosa.util import pad_center


class Spectrogram:
    def __init__(self, rate, size, bands):
        self.basis = librosa_mel_fn(rate, size, bands, fmin=0.0)
        self.window = pad_center(window(size), size)

    def of(self, path):
        sound, rate = librosa.load(path, 22050)
        return librosa.stft(librosa.resample(sound, rate, 16000), n_fft=512)
"""
AFTER = """\
import librosa
from librosa.filters import mel as librosa_mel_fn
from librosa.util import pad_center


class Spectrogram:
    def __init__(self, rate, size, bands):
        self.basis = librosa_mel_fn(sr=rate, n_fft=size, n_mels=bands, fmin=0.0)
        self.window = pad_center(window(size), size=size)

    def of(self, path):
        sound, rate = librosa.load(path, sr=22050)
        return librosa.stft(librosa.resample(sound, orig_sr=rate, target_sr=16000), n_fft=512)
"""
UNSEEN = "import librosa\n\n\ndef read(path, *more):\n    return librosa.load(path, *more)\n"

RULE = Rule(
    code="COM006",
    name="librosa-by-name",
    summary="Arguments that librosa takes by name alone get their names",
    why=(
        "librosa 0.10 takes by position only what a function is about, as the signal of `stft` or the path of `load`: "
        "`librosa.filters.mel(22050, 1024)` and `pad_center(window, 1024)` end with a TypeError. Much code for "
        "speech was written for librosa 0.8, which the NumPy of today breaks. "
        "The parameters have had these names since 0.7, so that the calls do the same in each release."
    ),
    fix="safe",
    versions="librosa 0.10 and later",
    triggers=(b"librosa",),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(AFTER, AFTER), Example(UNSEEN, UNSEEN)),
    stops=True,
    references=("https://github.com/librosa/librosa/issues/1114", "https://github.com/librosa/librosa/pull/1521"),
)
