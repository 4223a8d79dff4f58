"""The command lines by which a project's people start its scripts, as its README, Makefile, shell and CI files say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_FILES = (
    "README*", "*.md", "Makefile", "makefile", "tox.ini", "*.sh", "scripts/*.sh", "bin/*.sh", "*/*.sh", "*/README*",
    "docs/*.md", "docs/*.rst", ".github/workflows/*.yml", ".github/workflows/*.yaml", ".circleci/config.yml",
    ".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml",
)  # fmt: skip
_SIZE = 400_000
_MOST = 200
_START = re.compile(
    r"(?:^|[\s;&|`$(@!\"'])(?:(?:[\w./-]*/)?(?:python[\d.]*|torchrun|accelerate launch|uv run(?=\s+\S+\.py\b))"
    r"|\$[({]?PYTHON\d?[)}]?)\s+(?P<rest>\S.*)"
)
_OPEN = re.compile(r"[<>{}$*]|\.\.\.|…|path/to|/path|[A-Z]_TO_|your|YOUR|/home/|/data/|/mnt/")
_OUTPUT = re.compile(r"out|save|log|exp|result|name|dir|root")
_ENDS = re.compile(r"\.(ya?ml|json|jsonl|csv|tsv|txt|h5|hdf5|pkl|pt|pth|ckpt|npy|npz|zip|wav|flac|png|jpg)$")


@dataclass(frozen=True)
class Command:
    """How a script is started: by its path or its module name, with arguments, of which `is_open` says that some hold
    what only their writer knows."""

    script: str | None
    module: str | None
    args: tuple[str, ...]
    is_open: bool = False


def starts_python(text: str) -> bool:
    """Whether a shell text starts a Python file or a module."""
    found = (_START.search(line) for line in text.splitlines())
    return any(match is not None and not match["rest"].startswith("-m pip") for match in found)


def commands(root: Path) -> Iterator[Command]:
    """The command lines that start Python files, in the order of the files that hold them."""
    seen: set[Path] = set()
    count = 0
    for pattern in _FILES:
        for path in sorted(root.glob(pattern)):
            if path in seen or not path.is_file() or path.is_symlink() or path.stat().st_size > _SIZE:
                continue
            seen.add(path)
            text = path.read_text(encoding="utf-8", errors="replace")
            for line in re.sub(r"\\\s*\n\s*", " ", text).splitlines():
                if (match := _START.search(line)) and (found := parsed(match["rest"])):
                    count += 1
                    yield found
                    if count == _MOST:
                        return


def parsed(rest: str) -> Command | None:
    """What comes after `python` as a command; None where it is none."""
    rest = re.split(r"\s(?:&&|\|\||[;&|#>])|`|\s2>", rest)[0].strip()
    if rest[-1:] in ("'", '"') and rest.count(rest[-1]) % 2:
        rest = rest[:-1]
    try:
        words = shlex.split(rest)
    except ValueError:
        return None
    while words and words[0] in ("-u", "-O", "-W", "ignore", "-B"):
        words.pop(0)
    while words and words[0].startswith("--"):  # of what launches, such as `torchrun --nproc_per_node 2`
        words = words[2:] if words[1:] and words[1].isdigit() else words[1:]
    if not words or is_open(words[0]):
        return None
    if words[0] == "-m" and len(words) > 1 and re.fullmatch(r"[A-Za-z_][\w.]*", words[1]):
        return Command(None, words[1], tuple(words[2:]), any(map(is_open, words[2:])))
    if words[0].endswith(".py"):
        return Command(PurePosixPath(words[0]).as_posix(), None, tuple(words[1:]), any(map(is_open, words[1:])))
    return None


def is_open(word: str) -> bool:
    """Whether a word of a command holds what only its writer knows: `<N>`, `$DATA`, `/path/to/data`."""
    return bool(_OPEN.search(word))


def usable(root: Path, args: tuple[str, ...]) -> bool:
    """Whether the files that arguments name are there, but for those that a script writes."""
    option = ""
    if "--help" in args or "-h" in args:
        return False
    for arg in args:
        name, _, value = arg.partition("=")
        if arg.startswith("-") and not value:
            option = arg
            continue
        option, word = (name, value) if value else (option, arg)
        is_file = bool(_ENDS.search(word))
        is_data = "/" in word and bool(re.search(r"data|input|train|corpus", option)) and not word.startswith("http")
        written = bool(_OUTPUT.search(option)) and not is_data
        if (is_file or is_data) and not written and not (root / word).exists():
            return False
    return True
