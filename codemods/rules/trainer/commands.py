"""The commands in shell scripts, docs, notebooks, workflows and launch files, and what they give to the project's own
scripts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from codemods.lightning.facts import Facts

KINDS = ("shell", "docs", "yaml", "json", "toml", "dockerfile", "notebook")
GAP = r"""(?:=|[ \t]+|[ \t]*\\\r?\n\s*|["']?\s*,\s*["']|["']?\s*\n\s*-\s+["']?)"""
"""What may stand between an option and its value: in a command, or in a list of its words in JSON or YAML."""
_SCRIPT = re.compile(r"(?:^|[\s\"'`(])(?:[\w./${}-]*/)?(?P<name>[\w-]+\.py)\b")
_RUN = re.compile(r"[\s\"']-m(?:\s+|[\"'],\s*[\"'])(?:[\w-]+\.)*(?P<name>[\w-]+)(?=[\s\"'`]|$)")
"""A module that is run by its name, and one that a launch file names."""
_OF_LAUNCH = re.compile(r"\"module\"\s*:\s*\"(?:[\w-]+\.)*(?P<name>[\w-]+)\"")
_PROGRAM = re.compile(rf"\"[^\"\s]*\.py\"|{_OF_LAUNCH.pattern}")
_ITEM = re.compile(r"""\s*(?:-\s+["']?[^\s"':]+["']?|args\s*:.*|["']?--.*)\s*""")
"""A line of YAML that may go on with the words of a command."""
_CONTINUED = re.compile(r'\\\\\\n",?\s*$')
"""How a line of a notebook's JSON ends that the next one continues."""
_BRACES = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}]')
_VARIABLE = re.compile(r"\$\{?(\w+)")
_ASSIGNED = re.compile(
    r"(?m)^[ \t]*(?:(?:export|local|declare|ENV)[ \t]+)?(?P<name>\w+)\+?="
    r"(?P<value>\([^)]*\)|\"(?:[^\"\\]|\\.)*\"|'[^']*'|\S+)"
)
_IMPORTS = re.compile(rb"(?m)^[ \t]*(?:from|import)[ \t][^\n]*")


@dataclass(frozen=True)
class ScriptCommand:
    """A command, and its place in the text. Of one that is `listed` the script may stand behind what it is given."""

    start: int
    text: str
    listed: bool = False

    def run(self) -> Iterator[tuple[str, int]]:
        """The names of the scripts that it may run, and where what is given to each begins."""
        module = _RUN.search(self.text) or (_OF_LAUNCH.search(self.text) if self.listed else None)
        if script := _SCRIPT.search(self.text):
            yield script["name"], 0 if self.listed else script.end()
        elif module:
            yield f"{module['name']}.py", 0 if self.listed else module.end()
            yield "__main__.py", 0 if self.listed else module.end()


def commands(text: str, kind: str) -> Iterator[ScriptCommand]:
    """The lines of a text, each with those that continue it: behind a backslash, in YAML as items of a list. Of a
    notebook those alone that a shell runs; of JSON the strings, and the objects that name a script."""
    if kind == "json":
        yield from _of_json(text)
        return
    start = index = 0
    lines = text.splitlines(keepends=True)
    while index < len(lines):
        command = lines[index]
        while index + 1 < len(lines) and _goes_on(kind, lines[index], lines[index + 1]):
            index += 1
            command += lines[index]
        if kind != "notebook" or command.lstrip(' \t"').startswith(("!", "%")):
            yield ScriptCommand(start, command)
        start += len(command)
        index += 1


def _goes_on(kind: str, line: str, following: str) -> bool:
    if kind == "notebook":
        return _CONTINUED.search(line) is not None
    return line.rstrip().endswith("\\") or (kind == "yaml" and _ITEM.fullmatch(following) is not None)


def _of_json(text: str) -> Iterator[ScriptCommand]:
    """The strings that are commands, and the innermost objects around the name of a script."""
    opened: list[int] = []
    told = 0
    for found in _BRACES.finditer(text):
        if found[0] == "{":
            opened.append(found.start())
        elif found[0] == "}" and opened:
            start = opened.pop()
            if start >= told and _PROGRAM.search(text, start, found.end()):
                told = found.end()
                yield ScriptCommand(start, text[start:told], True)
        elif " " in found[0]:
            yield ScriptCommand(found.start() + 1, found[0][1:-1])


def given(text: str, command: ScriptCommand, after: int) -> Iterator[tuple[int, str]]:
    """What a command gives to a script, with its place in the text: the words behind it, and the values of the
    variables among them."""
    words = command.text[after:]
    yield command.start + after, words
    names = {*_VARIABLE.findall(words)}
    yield from ((item.start("value"), item["value"]) for item in _ASSIGNED.finditer(text) if item["name"] in names)


def passed(facts: Facts, options: Collection[str]) -> Mapping[str, frozenset[str]]:
    """Which of some options the commands of a project give to scripts, by the name of the script."""
    known: dict[str, Mapping[str, frozenset[str]]] = facts.of_sources.setdefault("passed", {})
    asked = "|".join(sorted(options))
    if asked not in known:
        wanted, found = re.compile(rf"(?<![\w-])--({asked})(?![\w-])"), dict[str, set[str]]()
        for _, source in facts.holding("--"):
            text = source.data.decode(errors="replace") if source.kind in (*KINDS, "python") else ""
            for command in commands(text, source.kind) if wanted.search(text) else ():
                for name, end in command.run():
                    for _, words in given(text, command, end):
                        found.setdefault(name, set()).update(wanted.findall(words))
        known[asked] = {name: frozenset(told) for name, told in found.items() if told}
    return known[asked]


def owners(facts: Facts, name: str, paths: Collection[str]) -> list[str]:
    """Those of some files that a script of a name is, or else from which one of that name takes something."""
    own = sorted(path for path in paths if path.rpartition("/")[2] == name)
    scripts = [source for path, source in facts.sources.items() if path.rpartition("/")[2] == name]
    said = b"\n".join(line for source in scripts if not own for line in _IMPORTS.findall(source.data))
    words = {*re.findall(r"\w+", said.decode(errors="replace"))}
    return own or sorted(path for path in paths if path.rpartition("/")[2].removesuffix(".py") in words)
