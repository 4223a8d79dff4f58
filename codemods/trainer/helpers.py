"""The functions that a script gets for what Lightning's argparse methods did, as text."""

from __future__ import annotations

ADD = '''\
def add_arguments(cls, parser):
    """Adds an option for each argument of a class to a parser."""
    group = parser.add_argument_group(cls.__name__)
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            required = parameter.default is parameter.empty
            default = None if required else parameter.default
            group.add_argument(
                f"--{name}", type=plain_value, nargs="?", const=True, default=default, required=required
            )
    return parser
'''
VALUE = '''\
def plain_value(text):
    """The number, truth value or None that a text spells, else the text."""
    try:
        value = ast.literal_eval({"true": "True", "false": "False"}.get(text.lower(), text))
    except (SyntaxError, ValueError):
        return text
    return value if value is None or isinstance(value, (int, float)) else text
'''
BUILD = '''\
def from_arguments(cls, args, **kwargs):
    """Builds a class of the parsed options that it takes; keyword arguments win over them."""
    taken = inspect.signature(cls).parameters
    return cls(**{**{name: value for name, value in vars(args).items() if name in taken}, **kwargs})
'''
NAMES = ("add_arguments", "from_arguments", "plain_value")


def text(adds: bool, builds: bool) -> str:
    """The functions that a file needs, each with two blank lines behind it."""
    parts = [*([VALUE, ADD] if adds else []), *([BUILD] if builds else [])]
    return "".join(f"{part}\n\n" for part in parts)


def modules(adds: bool) -> tuple[str, ...]:
    """The modules that they import."""
    return ("ast", "inspect") if adds else ("inspect",)
