"""Arguments that a script cannot be started without, filled where something of the project's own fits."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from verify.reading.commands import Command, is_open, usable
from verify.reading.names import last_name
from verify.reading.outlines import is_main, outline_of
from verify.reading.sources import Sources, imports
from verify.reading.starts import followed

_CONFIG = re.compile(r"(^|_)(config|configs|cfg|conf|hparams|hyperparams|settings|yaml)(_|$)")
_OUTPUT = re.compile(r"(^|_)(out|output|save|log|logs|result|results|work|workspace)(_|$)")
_FOLDER = re.compile(r"(^|_)(data|dataset|datasets|root|dir|folder|path)(_|$)|(data|root|dir|path)$")
_LOADED = re.compile(r"ckpt|checkpoint|weight|model|resume|pretrained|file")
_MADE_FOR_DATA = ("data", "dataset", "datasets", "sample", "samples", "example", "examples")
_FILE = re.compile(r"(^|_)(file|filepath|filename|csv|tsv|jsonl?)s?(_|$)|file$")
_NO_DATA = re.compile(r"ckpt|checkpoint|weight|model|resume|pretrained|vocab|token|config|cfg|conf|log|out")
_KINDS = ("jsonl", "json", "tsv", "txt", "npy", "pkl", "csv")
"""What a file of data holds where its option says it; the last where it says nothing."""
_DEVICES = re.compile(r"((n|num|nb)_)?(gpus?|gpu_?ids?|devices?)")
_DATE = re.compile(r"(^|_)date(_|$)")
_NAME = re.compile(r"(^|_)(name|exp|experiment|run|tag|version|id|note|project)$")
_TRAINS = re.compile(r"train|learn|fit", re.IGNORECASE)
_SWITCH = re.compile(r"((do|is|run)_)?(train|training|fit)")
"""An option that a script trains with, and does something else without."""
_MODE = re.compile(r"(mode|phase|stage|action|command|cmd|job)$")
_MODEL = re.compile(r"((pretrained|base|bert|lm|plm)_)?(model|encoder|tokenizer)(_name|_path|_type|_name_or_path)?")
_MODELS = {"T5": "t5-small", "Bart": "facebook/bart-base", "GPT2": "gpt2", "Roberta": "roberta-base"}
"""What a model of the Hugging Face hub is called, by the classes that a script loads it with; else it is BERT."""
_FORMATS = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini")
_HIDDEN = frozenset({"node_modules", "site-packages", "package.json", "environment.yaml", "environment.yml"})
_LARGEST = 100_000
_OF_CLI = re.compile(r"^(model|data|trainer):", re.MULTILINE)


@dataclass(frozen=True)
class RequiredArgument:
    """One argument: the option that it is given by, None for a positional one, its name, type and choices."""

    option: str | None
    name: str
    kind: str = ""
    choices: tuple[str, ...] = ()


def filled(sources: Sources, path: str, said: Sequence[Command], *, alone: bool = False) -> tuple[str, ...]:
    """Arguments for all that a script requires, and those that have it train where it does something else without;
    none where it requires something that cannot be known. `alone` leaves out what other files add to its options."""
    found: list[str] = []
    for each in required(sources, path, alone=alone):
        value = (
            _value(each, sources.root, path, said) or _compared(each, sources.tree(path)) or _model(each, sources, path)
        )
        if value is None:
            return ()
        found += [value] if each.option is None else [each.option, value]
    return (*found, *_switches(sources, path, alone))


def completed(sources: Sources, path: str, args: Sequence[str], said: Sequence[Command]) -> tuple[str, ...]:
    """Arguments that somebody gives a script, with what fits in place of values that only their writer knows or of
    files that are not here, as for what a script requires; options that do without such a value are left out. Empty
    where the rest says nothing but what the options say themselves."""
    options = dict(_declared(sources, path))
    found: list[str] = []
    is_told = False
    for option, values in _pairs(args):
        name = _plain(option)
        asked = options.get(name)
        if option and name not in options:
            continue
        if any(map(is_open, values)) or not usable(sources.root, (option, *values)):
            value = _value(asked, sources.root, path, said) if asked else None
            found += [option, value] if value is not None else []
            if not option:
                return ()
        else:
            found += [option, *values] if option else values
            is_told = is_told or asked is not None
    return tuple(found) if is_told else ()


def _pairs(args: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The options of a command, each with its values; without a name what stands before them."""
    pairs: list[tuple[str, list[str]]] = [("", [])]
    for word in args:
        name, sign, value = word.partition("=")
        if word.startswith("-") and not re.fullmatch(r"-[\d.]+(e-?\d+)?", word):
            pairs.append((name, [value] if sign else []))
        else:
            pairs[-1][1].append(word)
    return (pair for pair in pairs if any(pair))


def _declared(sources: Sources, path: str) -> Iterator[tuple[str, RequiredArgument | None]]:
    """The options that a script declares by their names, those in full that have no value unless somebody gives one:
    what Lightning declares for it is not here, as a release declares other ones than the next."""
    for call in _speaking(sources, path, alone=False):
        if not isinstance(call, ast.Call) or last_name(call.func) not in ("add_argument", "option"):
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        words = [word for word in _strings(ast.List([*call.args])) if word.startswith("-")]
        option, default = max(words, key=len, default=""), given.get("default", ast.Constant(None))
        is_set = bool(given.keys() & {"action", "is_flag"}) or not isinstance(default, ast.Constant)
        one = RequiredArgument(option, _plain(option), _kind(given.get("type")), _choices(given))
        yield from ((_plain(word), None if is_set or _constant(default) is not None else one) for word in words)


def required(sources: Sources, path: str, *, alone: bool = False) -> list[RequiredArgument]:
    """What argparse, click, absl, fire and typer ask for in a script and in what it calls of other files of the
    project, positional arguments first."""
    tree = sources.tree(path)
    if tree is None:
        return []
    nodes = list(_speaking(sources, path, alone))
    called = {
        target.id for node in nodes if isinstance(node, ast.Assign) and last_name(node.value) == "add_argument"
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    found = [each for node in nodes if isinstance(node, ast.Call) for each in _asked(node, tree, called)]
    if any(each.module.split(".")[0] == "typer" for each in imports(tree)):
        found += _of_typer(tree)
    return sorted(dict.fromkeys(found), key=lambda each: each.option is not None)


def _speaking(sources: Sources, path: str, alone: bool) -> Iterator[ast.AST]:
    """The nodes of a script, and what runs with it of other files: what these do when they are loaded, and functions
    and methods that are called. Parsers are filled in modules and in files of options, too."""
    if (tree := sources.tree(path)) is None:
        return
    yield from ast.walk(tree)
    if alone:
        return
    loaded = dict.fromkeys(file for found in imports(tree) for file in sources.local(path, found) if file != path)
    for other in filter(None, map(sources.tree, loaded)):
        for node in other.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) and not is_main(node):
                yield from ast.walk(node)
    parts = list(followed(sources, path))
    run, called = {id(part) for _, part in parts}, {name for _, part in parts for name in part.called}
    for place in dict(parts):
        outline = outline_of(sources, place) if place != path else None
        names = {name for name, own in outline.defined.items() if run & {*map(id, own)}} if outline else set()
        for node in (sources.tree(place) or ast.Module([], [])).body if names else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names:
                inner = [node] if isinstance(node, ast.FunctionDef) else node.body
                for each in inner:
                    if isinstance(each, ast.FunctionDef) and each.name in called:
                        yield from ast.walk(each)


def _switches(sources: Sources, path: str, alone: bool) -> Iterator[str]:
    """The options that have a script train: one that is off by itself, or a choice that is for something else."""
    found: dict[str, tuple[str, ...]] = {}
    for call in _speaking(sources, path, alone):
        if not isinstance(call, ast.Call):
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        words = [word for word in _strings(ast.List([*call.args])) if word.startswith("-")]
        option, default = max(words, key=len, default=""), _constant(given.get("default"))
        if last_name(call.func) not in ("add_argument", "option") or _constant(given.get("required")) is True:
            continue
        if _SWITCH.fullmatch(_plain(option)) and default in (None, False):
            is_flag = _constant(given.get("action")) == "store_true" or _constant(given.get("is_flag")) is True
            found[option] = (option,) if is_flag else (option, "True") if default is False else ()
        elif _MODE.search(option) and isinstance(default, str) and not _TRAINS.search(default):
            told = next(filter(_TRAINS.match, _choices(given)), None)
            found[option] = (option, told) if told else ()
    return (word for words in found.values() for word in words)


def _asked(call: ast.Call, tree: ast.Module, called: Collection[str]) -> Iterator[RequiredArgument]:
    """What one call asks for; `called` are other names of a parser's `add_argument`."""
    name = "add_argument" if getattr(call.func, "id", "") in called else last_name(call.func)
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    words = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    if name in ("add_argument", "option", "argument") and words:
        options = [word for word in words if word.startswith("-")]
        free = _constant(given.get("nargs")) in ("?", "*", 0) or "default" in given or "action" in given
        needed = _constant(given.get("required")) is True if options else name != "option" and not free
        if needed and _constant(given.get("required")) is not False:
            long = max(options or words, key=len)
            yield RequiredArgument(long if options else None, _plain(long), _kind(given.get("type")), _choices(given))
    elif name.startswith("DEFINE_") and words and _constant(given.get("required")) is True:
        yield RequiredArgument(
            f"--{words[0]}", _plain(words[0]), {"integer": "int"}.get(name[7:], name[7:].removesuffix("string"))
        )
    elif name == "mark_flag_as_required" and words:
        yield RequiredArgument(f"--{words[0]}", _plain(words[0]))
    elif name == "mark_flags_as_required" and call.args:
        yield from (RequiredArgument(f"--{word}", _plain(word)) for word in _strings(call.args[0]))
    elif name == "Fire" and call.args and isinstance(call.args[0], ast.Name):
        yield from _of_function(tree, call.args[0].id)


def _of_function(tree: ast.Module, name: str) -> Iterator[RequiredArgument]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            args = node.args.args[: len(node.args.args) - len(node.args.defaults)]
            bare = [
                arg for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value is None
            ]
            for arg in (*args, *bare):
                yield RequiredArgument(f"--{arg.arg}", _plain(arg.arg), _kind(arg.annotation))


def _of_typer(tree: ast.Module) -> Iterator[RequiredArgument]:
    """What the one command of a script is to be given: where there are several, it is not known which trains."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    run = {arg.id for call in calls if last_name(call.func) == "run" and isinstance(arg := call.args[0], ast.Name)}
    found = [
        node for node in tree.body if isinstance(node, ast.FunctionDef)
        and (node.name in run or "command" in {last_name(getattr(mark, "func", mark)) for mark in node.decorator_list})
    ]  # fmt: skip
    for node in found if len(found) == 1 else ():
        given = node.args
        bare: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
        defaults = [*bare, *given.defaults, *given.kw_defaults]
        for parameter, default in zip([*given.args, *given.kwonlyargs], defaults, strict=True):
            yield from _of_parameter(parameter, default)


def _of_parameter(arg: ast.arg, default: ast.expr | None) -> Iterator[RequiredArgument]:
    """What typer asks for a parameter, which `Option` or `Argument` describe, as its default or in `Annotated`."""
    note: ast.expr | None = arg.annotation
    told = default
    if isinstance(note, ast.Subscript) and last_name(note.value) == "Annotated" and isinstance(note.slice, ast.Tuple):
        told = next((each for each in note.slice.elts[1:] if _described(each)), None)
        note = note.slice.elts[0]
    if default is not None and not (told is default and _described(told) and _is_left_open(told)):
        return
    name = arg.arg.replace("_", "-")
    words = [each.value for each in told.args if isinstance(each, ast.Constant)] if isinstance(told, ast.Call) else []
    longs = [word for word in words if isinstance(word, str) and word.startswith("--")]
    option = next(iter(longs), f"--{name}") if told is not None and _described(told) == "Option" else None
    yield RequiredArgument(option, _plain(arg.arg), _kind(note))


def _described(node: ast.expr | None) -> str:
    """`Option` or `Argument`, where a parameter is described so."""
    name = last_name(node.func) if isinstance(node, ast.Call) else ""
    return name if name in ("Option", "Argument") else ""


def _is_left_open(node: ast.expr) -> bool:
    """Whether a description gives no default."""
    if not isinstance(node, ast.Call):
        return False
    named = (each.value for each in node.keywords if each.arg == "default")
    return all(_constant(value) is ... for value in (*node.args[:1], *named))


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _kind(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _choices(given: dict[str | None, ast.expr]) -> tuple[str, ...]:
    kind = given.get("type")
    inside = kind.args[0] if isinstance(kind, ast.Call) and kind.args else None
    return _strings(given.get("choices") or inside)


def _strings(node: ast.expr | None) -> tuple[str, ...]:
    values = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return tuple(str(value.value) for value in values if isinstance(value, ast.Constant))


def _plain(option: str) -> str:
    return option.lstrip("-").replace("-", "_").lower()


def _value(asked: RequiredArgument, root: Path, script: str, said: Sequence[Command]) -> str | None:
    if asked.choices:
        return next(filter(_TRAINS.search, asked.choices), asked.choices[0])
    if _CONFIG.search(asked.name):
        return _config(root, script, said)
    if asked.kind in ("int", "float"):
        return "1"
    if asked.kind in ("", "str") and _DEVICES.fullmatch(asked.name):
        return "1"
    if asked.kind in ("", "str", "Path") and _FILE.search(asked.name) and not _NO_DATA.search(asked.name):
        return f"data/{asked.name}.{next((kind for kind in _KINDS if kind in asked.name), _KINDS[-1])}"
    if asked.kind in ("", "str") and _DATE.search(asked.name):
        return "2020-01-01"
    if asked.kind in ("", "str", "Path") and _OUTPUT.search(asked.name):
        return "fixer-output"
    if asked.kind in ("", "str", "Path") and _FOLDER.search(asked.name) and not _LOADED.search(asked.name):
        return _folder(root)
    return "fixer" if asked.kind in ("", "str") and _NAME.search(asked.name) else None


def _compared(asked: RequiredArgument, tree: ast.Module | None) -> str | None:
    """The word that a script is given to train, where it compares with it what it is given: `args.mode == "train"`."""
    if tree is None or asked.kind not in ("", "str"):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.In):
            words = (_word(node.comparators[0]), *_strings(node.comparators[0]))
            told = next(filter(_TRAINS.search, words), None)
            if told and asked.name in (getattr(node.left, "attr", ""), getattr(node.left, "id", "")):
                return told
    return None


def _model(asked: RequiredArgument, sources: Sources, path: str) -> str | None:
    """A model of the Hugging Face hub, of a kind that the files which a script loads name, or a task of GLUE."""
    is_task = asked.name in ("task", "task_name")
    is_named = asked.kind in ("", "str") and (is_task or _MODEL.fullmatch(asked.name))
    files = sources.reach(path)[0] if is_named else ()
    if not any("transformers" in sources.packages(file) for file in files):
        return None
    texts = [_text(sources.root / file) for file in files]
    if is_task:
        return "mrpc" if any("glue" in text.lower() for text in texts) else None
    kinds = (name for kind, name in _MODELS.items() if any(re.search(rf"\b{kind}[A-Z]", text) for text in texts))
    return next(kinds, "bert-base-uncased")


def _word(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _folder(root: Path) -> str:
    """A folder for data: the project's own by one of the usual names, else the tree itself."""
    return next((name for name in _MADE_FOR_DATA if (root / name).is_dir()), ".")


def cli_args(sources: Sources, path: str, said: Sequence[Command]) -> tuple[str, ...]:
    """Arguments with which a LightningCLI trains: its command, unless it is told to run none, and a configuration."""
    config = cli_config(sources.root, path, said)
    given = ("--config", config) if config else ()
    return (*filled(sources, path, said), *given) if _runs_none(sources.tree(path)) else ("fit", *given)


def _runs_none(tree: ast.Module | None) -> bool:
    """Whether a script has its command line build what trains, and calls `fit` itself."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    told = [
        keyword.value
        for call in calls
        if "CLI" in last_name(call.func)
        for keyword in call.keywords
        if keyword.arg == "run"
    ]
    return any(_constant(value) is False for value in told)


def cli_config(root: Path, script: str, said: Iterable[Command]) -> str | None:
    """A configuration of a LightningCLI: one that says which model or data, or how to train."""
    return _config(root, script, said, lambda text: bool(_OF_CLI.search(text)))


def _config(
    root: Path, script: str, said: Iterable[Command], fits: Callable[[str], bool] = lambda text: True
) -> str | None:
    """A configuration that the project's people start a script with, else the smallest that lies in the tree, those
    near the script first."""
    named = [word for command in said if _starts(command, script) for word in command.args]
    named += [word for command in said for word in command.args]
    for word in named:
        value = word.partition("=")[2] or word
        inside = ".." not in PurePosixPath(value).parts and not value.startswith("/")
        if value.endswith(_FORMATS) and inside and (root / value).is_file() and fits(_text(root / value)):
            return value
    near = PurePosixPath(script).parts[:1] if "/" in script else ()
    found = [
        (path.relative_to(root).parts[: len(near)] != near, path.stat().st_size, path.relative_to(root).as_posix())
        for path in root.rglob("*.*")
        if path.suffix in _FORMATS and path.is_file() and not path.is_symlink() and _is_config(path.relative_to(root))
    ]
    fitting = (each[2] for each in sorted(found) if 0 < each[1] <= _LARGEST and fits(_text(root / each[2])))
    return next(fitting, None)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _starts(command: Command, script: str) -> bool:
    dotted = ".".join(PurePosixPath(script).with_suffix("").parts)
    return command.module == dotted or bool(command.script and script.endswith(command.script))


def _is_config(path: Path) -> bool:
    """Whether a file is one of those that a training reads, by its folder or its name."""
    if any(part.startswith(".") or part in _HIDDEN for part in path.parts):
        return False
    return any(part.lower().startswith(("conf", "cfg", "hparam", "train", "experiment")) for part in path.parts)
