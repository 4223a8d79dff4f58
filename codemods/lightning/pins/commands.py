"""`pip install` in shell text: scripts, Dockerfiles, workflows, notebook cells. Words are read as the shell does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from codemods.lightning.pins.pin import Pin, read, read_conda
from codemods.lightning.pins.toml import Unparsable

_INSTALL = re.compile(
    r"(?<![\w./-])(?:(?:python[0-9.]*|\{sys\.executable\})\s+-m\s+|uv\s+)?"
    r"(?:(?P<pip>pip[0-9.]*)|(?P<conda>conda|mamba|micromamba))\s+install(?=\s)"
)
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*$")
_UNRUN = re.compile(r"(?m)(?:^|(?<=\s))#.*$|^\s*(?:- +)?(?:name|displayName|title|description):.*$")
_END = re.compile(r"&&|\|\||[;|&\n]")
_WORD = re.compile(r"(?:[^\s'\"\\;&|]|\\.|'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\")+", re.DOTALL)
# fmt: off
_VALUED = frozenset(
    {
        "-r", "-c", "-f", "-i", "-t", "-e", "-n", "-p", "--requirement", "--constraint", "--find-links", "--index-url",
        "--extra-index-url", "--target", "--editable", "--channel", "--name", "--prefix", "--index", "--default-index",
        "--python", "--platform", "--file", "--trusted-host", "--upgrade-strategy", "--timeout", "--retries",
        "--progress-bar", "--no-binary", "--only-binary",
    }
)
# fmt: on
_CHARACTER = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
"""What a JSON string writes one character as; an escaped one beyond 16 bits is two escapes."""


def dockerfile(text: str) -> Iterator[Pin]:
    """What the `RUN` lines of a Dockerfile install."""
    yield from shell("".join(line if run else _blank(line) for run, line in _instructions(text)))


def script(text: str) -> Iterator[Pin]:
    """What a shell script or a Makefile installs."""
    yield from shell(_COMMENT.sub(lambda match: _blank(match.group()), text))


def _instructions(text: str) -> Iterator[tuple[bool, str]]:
    """The lines of a Dockerfile, and whether each is a part of a `RUN`; comments are not."""
    run, open_end, until = False, False, ""
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped.startswith("#"):
            yield False, line
            continue
        if until:
            until = "" if stripped == until else until
            yield run, line
            continue
        if not open_end:
            run = re.match(r"(?i)(?:onbuild\s+)?run\s", stripped) is not None
            here = re.search(r"<<-?\s*['\"]?(\w+)", stripped) if run else None
            until = here.group(1) if here else ""
        open_end = stripped.endswith("\\")
        yield run, line


def _blank(text: str) -> str:
    """As many blanks, with the line ends."""
    return re.sub(r"[^\r\n]", " ", text)


def workflow(text: str) -> Iterator[Pin]:
    """What the steps of a workflow install. A command inside a quoted YAML text is not edited."""
    blanked = _UNRUN.sub(lambda match: _blank(match.group()), text)
    for pin in shell(blanked):
        line = blanked[blanked.rfind("\n", 0, pin.place) + 1 : pin.place]
        quoted = re.search(r"""^\s*(?:- +)?(?:[\w-]+:\s*)?["'\[]""", line) is not None
        yield replace(pin, problem=pin.problem or "unplaced") if quoted else pin


def notebook(text: str) -> Iterator[Pin]:
    """What the `!pip` and `%pip` lines of a notebook's code cells install. Raises Unparsable."""
    if not _INSTALL.search(text):
        return
    for start, raw in _sources(text):
        characters = [match.span() for match in _CHARACTER.finditer(raw)]
        source = json.loads(f'"{raw}"', strict=False)
        if len(source) != len(characters):
            continue
        for line in re.finditer(r"(?m)^[ \t]*[!%](?:[^\n\\]|\\.|\\\n)*", source):
            for pin in shell(line.group()):
                yield _in_string(pin, start, line.start(), characters)


def _in_string(pin: Pin, start: int, line: int, characters: Sequence[tuple[int, int]]) -> Pin:
    """A pin of a decoded line, at its place in the JSON text."""

    def place(index: int) -> int:
        index += line
        return start + (characters[index][0] if index < len(characters) else characters[-1][1])

    word = (place(pin.word[0]), place(pin.word[1])) if pin.word else None
    return replace(pin, start=place(pin.start), end=place(pin.end), place=place(pin.place), word=word)


def _sources(text: str) -> Iterator[tuple[int, str]]:
    """The JSON strings that the sources of a notebook's code cells are made of: place and text, without quotes."""
    decoder = json.JSONDecoder(strict=False)
    try:
        cells = json.loads(text, strict=False)["cells"]
        opened = next(
            match.end() - 1
            for match in re.finditer(r'"cells"\s*:\s*\[', text)
            if decoder.raw_decode(text, match.end() - 1)[0] == cells
        )
    except (ValueError, KeyError, TypeError, StopIteration, RecursionError) as error:
        raise Unparsable(f"no notebook of a known format ({type(error).__name__})") from None
    position = opened + 1
    for cell in cells:
        position = text.index("{", position)
        end = decoder.raw_decode(text, position)[1]
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            yield from _of_cell(text, position, end, cell.get("source"), decoder)
        position = end


def _of_cell(text: str, start: int, end: int, source: Any, decoder: json.JSONDecoder) -> Iterator[tuple[int, str]]:
    for match in re.compile(r'"source"\s*:\s*').finditer(text, start, end):
        value, stop = decoder.raw_decode(text, match.end())
        if value == source:
            for string in re.compile(r'"((?:[^"\\]|\\.)*)"').finditer(text, match.end(), stop):
                yield string.start(1), string.group(1)
            return


def shell(text: str) -> Iterator[Pin]:
    """The requirements among the words of each `pip install` or `conda install`."""
    for command in _INSTALL.finditer(text):
        skip = False
        for start, word in _words(text, command.end()):
            if skip or word.startswith("-"):
                skip = not skip and word in _VALUED
                continue
            pin = _of_word(text, start, word, bool(command["conda"]))
            if pin:
                yield pin


def _words(text: str, position: int) -> Iterator[tuple[int, str]]:
    """The words of one command from a position on, with what is quoted still in quotes."""
    while position < len(text):
        if text[position] == "\\" and text[position + 1 : position + 2] in ("\n", "\r"):
            position += 3 if text[position + 1 : position + 3] == "\r\n" else 2
            continue
        if _END.match(text, position) or text[position] == "#":
            return
        if text[position].isspace():
            position += 1
            continue
        match = _WORD.match(text, position)
        if not match:
            return
        yield position, match.group()
        position = match.end()


def _of_word(text: str, start: int, word: str, conda: bool) -> Pin | None:
    end = start + len(word)
    quoted = len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]
    bare = word[1:-1] if quoted else word
    if any(quote in bare for quote in "'\"\\"):
        return None
    pin = (read_conda if conda else read)(bare, start + quoted)
    if pin and not quoted:
        pin = replace(pin, word=(start, end))
        if pin.problem is None and re.search("[<>]", bare):
            pin = replace(pin, requirement=re.split("[<>]", bare)[0])
    return pin
