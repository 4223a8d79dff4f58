"""Edits after which a rule finds less in an example of its own, or rewrites less of it, each with the reason."""

from __future__ import annotations

WORD = "the rule looks at files alone that hold the word, and it stands in two parts here"
NAMED = "the import names what is gone no more, and was a finding of its own: what is left is still found"
OPEN = "open: not looked into yet"
UNREAD = "open: a file that speaks of nothing which the rule looks for is not read, though it takes that from another"

RUFF = "ruff is asked, which sees no NumPy behind the name: only what is spelled as an attribute of it"
GUARDED = "the import is one that may fail, and what is read where it does not is there"

LOST: dict[tuple[str, str], str] = {
    ("AMP002-1", "method name"): OPEN,
    ("LIT004-0", "module import"): NAMED,
    ("LIT004-0", "module alias"): NAMED,
    ("LIT004-1", "module import"): NAMED,
    ("LIT004-1", "module alias"): NAMED,
    ("LIT111-0", "module import"): NAMED,
    ("LIT111-0", "module alias"): NAMED,
    ("LIT252-1", "module import"): NAMED,
    ("LIT252-1", "module alias"): NAMED,
    ("LIT002-0", "import module"): OPEN,
    ("LIT126-0", "option"): "a command may give another monitor, by which Trainer tells the two apart",
    ("LIT126-0", "copied by dict"): OPEN,
    ("LIT126-0", "handed class"): OPEN,
    ("LIT210-0", "set behind"): OPEN,
    ("LIT210-0", "named like a method"): OPEN,
    ("LIT115-0", "fold string"): WORD,
    ("LIT115-0", "two strings"): WORD,
    ("LIT115-2", "fold string"): WORD,
    ("LIT115-2", "two strings"): WORD,
    ("STP003-0", "inner function"): OPEN,
    ("STP003-0", "inside by defaults"): OPEN,
    ("TBP102-0", "given by default"): "who builds the module may give another value, and the step shows nothing of it",
    ("LIT111-0", "named in a file"): NAMED,
    ("AMP002-1", "spaced call"): OPEN,
    ("AMP002-1", "by an operator"): OPEN,
    ("GRD005-1", "by a caller"): OPEN,
    ("COM009-2", "import or none"): GUARDED,
    ("LIT003-0", "import or none"): GUARDED,
    ("AMP004-3", "bound as it is called"): OPEN,
    ("LIT216-0", "words printed"): OPEN,
    ("AMP004-1", "import twice"): OPEN,
    ("AMP004-2", "import twice"): OPEN,
    ("AMP004-2", "imported where read"): OPEN,
    ("AMP004-2", "chosen by if"): OPEN,
    ("AMP005-0", "arguments named"): OPEN,
    ("BWD004-0", "read by its method"): OPEN,
    ("BWD004-1", "overloaded"): OPEN,
    ("COM005-0", "class with suppress"): OPEN,
    ("COM005-0", "module suppress"): OPEN,
    ("LIT116-2", "option"): OPEN,
    ("LIT116-2", "settings of an instance"): OPEN,
    ("LIT116-2", "list added"): OPEN,
    ("LIT116-2", "list anew"): OPEN,
    ("LIT122-0", "read by a getter"): OPEN,
    ("LIT130-1", "option"): OPEN,
    ("LIT131-0", "walrus in a call"): OPEN,
    ("LIT214-0", "returned in one"): OPEN,
    ("LIT225-0", "taken from its dictionary"): OPEN,
    ("STP003-0", "body in a static method"): OPEN,
    ("STP003-0", "body in a function"): OPEN,
    ("TBP103-0", "module asked"): OPEN,
    **{
        (name, edit): RUFF
        for name in ("COM002-0", "COM002-3", "COM002-4")
        for edit in (
            "module or none",
            "module by importlib",
            "module by dunder",
            "module by a second name",
            "taken by getattr",
            "taken from its dictionary",
        )
    },
    **{
        (name, edit): UNREAD
        for name in ("AMP004-1", "AMP004-2", "COM001-1", "LIT002-0", "PIN002-0")
        for edit in ("passed on by a file", "passed on by a package", "named in a file")
    },
}
"""What vanishes, by example and edit."""

READS = "the line reads a name that the rewrite takes away: it would fail"
SHOWS = "the line stands in the body that the rewrite replaces, and would go with it"
BINDS = "the statement that the rewrite takes away binds another name too"
HANDLES = "the handler says what failed in the body that the rewrite replaces, and would go with it"
SERVES = "open: what stands in the body for it alone would go with it, and is taken for a line that says more"
MODULE = "what a line of the module makes of a Trainer has a name that others may import: it is no harmless line"
GOES = "the comment stands in a call that goes"
LINES = (
    "print", "assert type", "assert not none", "len, id, repr", "logging", "logger", "warning", "assert message",
    "assert class", "percent", "format", "type name", "print file", "stderr", "if print", "if verbose", "bare name",
    "hasattr", "dir", "told by rank zero", "logged with more", "local logger", "logged by another",
    "printed in colours",
    "printed beside a bar", "echoed", "written out", "printed as JSON", "printed into nothing", "shape printed",
    "printed if a tensor", "printed if gradients", "printed if asked", "printed if switched on", "asked if none",
)  # fmt: skip
"""Lines that look at a name."""
KEPT = ("f-string", "kept unused", "in a list", "in a dict", "lambda kept")
"""Lines that give what they make of a name another one, which nobody reads."""
ALONE = (
    "delete", "unrelated", "unused class", "unused function", "asked for a GPU", "memory freed", "slept", "assert true",
    "stack formatted", "left never", "left if none", "raised never",
)  # fmt: skip
"""Lines that nobody else in the function needs."""

ELSEWHERE = "the argument is given its value elsewhere, and is rewritten where the call itself writes it"

LOWER: dict[str, dict[str, tuple[str, ...]]] = {
    "LIT101-8": {
        ELSEWHERE: ("keys zipped", "keys of another kind"),
        "open: a condition that is put twice is not seen to be one": ("compared twice",),
    },
    "LIT115-2": {
        ELSEWHERE: (
            "settings by key",
            "settings by get",
            "settings in a dataclass",
            "settings in a namespace",
            "given back",
            "keys zipped",
            "keys of another kind",
            "enum",
            "named tuple",
            "nested settings",
            "given by a static method",
            "given by a lambda",
        ),
        "the base of the class is a name of the function that makes it": ("local import",),
    },
    "BWD004-0": {
        READS: (*LINES, *KEPT, "underscore", "second name", "onto itself", "delete"),
        BINDS: ("tuple", "chained"),
    },
    "LIT113-0": {MODULE: (*KEPT, "second name", "chained")},
    "LIT212-0": {READS: (*LINES, *KEPT, "underscore")},
    "LIT222-2": {GOES: ("comment in call",)},
    "STP002-0": {
        SHOWS: (*LINES, *ALONE, "time", "warn message"),
        HANDLES: ("except named",),
        SERVES: ("self name", "inner function"),
    },
}
"""What is left to a person under some edits, by example and reason: rightly, unless the reason is still open."""

PARTED = "the rewrite is one of the whole class, or of the file, and a part of that stands elsewhere"
"""Why a rewrite is left to a person where a class is written in parts."""
for _names, _edits in (
    (("BWD001-0", "BWD001-1", "BWD001-2"), ("given by default",)),
    (("TBP001-1",), ("hooks above", "hooks mixed in", "made by a function", "set behind", "named like a method")),
    (("LIT111-0",), ("import module",)),
    (("LIT220-1",), ("import module", "made by a function")),
    (("LIT213-1",), ("import module", "made by a function", "named like a method")),
    (("STP002-0", "STP002-1"), ("made by a function",)),
    (
        ("LIT201-0", "LIT201-1", "LIT201-2", "LIT201-3", "OPT001-0", "TBP001-0"),
        ("made by a function", "set behind", "named like a method"),
    ),
    (("LIT210-0",), ("made by a function", "named like a method")),
    (("BWD002-1",), ("over enumerate",)),
    (
        (
            "AMP001-2",
            "AMP002-0",
            "BWD004-1",
            "LIT211-1",
            "LIT211-2",
            "LIT212-0",
            "LIT213-0",
            "OPT001-1",
            "OPT004-0",
            "TBP101-1",
            "TBP109-0",
        ),
        ("set behind", "named like a method"),
    ),
    (("LIT211-0", "LIT211-3", "LIT215-0"), ("named like a method",)),
):
    for _name in _names:
        LOWER.setdefault(_name, {})[PARTED] = _edits

KEYS = (
    "words by dict", "words by pairs", "words by a chain", "words in order", "words by a lambda", "words spread again",
    "words merged", "words or none", "words if true", "filled by update", "filled by words", "filled by or",
    "filled by key", "filled in a branch", "copied by dict", "merged", "merged by dict", "annotated words",
    "taken out of words", "deleted of words", "words printed", "words by a copy",
)  # fmt: skip
"""Arguments by a dictionary that is made in another way."""
ITEMS = (
    "dictionary by pairs", "dictionary spread", "dictionary merged", "dictionary in order",
    "dictionary in order of itself", "dictionary key by key", "dictionary updated", "dictionary by setdefault",
    "list appended", "list added", "list extended", "list anew", "list of a tuple", "list spread",
    "list by a comprehension", "appended by plus", "appended by extend", "appended by insert", "appended by slice",
    "list copied", "list sliced",
)  # fmt: skip
"""Dictionaries and lists that are made in another way."""
ELSEWHERE = (
    "body in a method", "body in a static method", "body in a function", "finally", "bound by a function",
    "bound by a list", "bound by a lambda", "bound in an if", "bound in a list", "returned by a walrus",
    "returned of a list", "returned by a lambda", "returned by a cast", "set by setattr", "set beside",
    "set and named", "class set beside", "class set if true", "import by a getattr", "import by a function",
    "module by a second name", "taken by getattr", "taken from its dictionary", "option", "settings of an instance",
    "global in a try", "string of a tuple", "read by its method", "read by a named key", "over a name",
    "over and bound again", "owner named", "built and used",
)  # fmt: skip
"""What stands in another statement, or is spelled in another way."""
UNSURE = {
    **dict.fromkeys(KEYS, "the dictionary, or a key, is in a place that the rewrite of the call does not reach"),
    **dict.fromkeys(ITEMS, "the rewrite of a whole display leaves one alone that is put together"),
    **dict.fromkeys(ELSEWHERE, "what would be rewritten is written indirectly, and is left to a person"),
    "handed class": "open: the call whose arguments change is spelled as one of another function",
    "copied": "the dictionary may be read elsewhere, so that its keys are exchanged where asked for alone",
    "put into another": "the same",
    "by default": "the same, and the key stands in a call",
    "self by place": "what changes the parameters of a method leaves those with a `/` alone",
    "method under if": "a rewrite of the whole class leaves one alone of which a part stands under a condition",
    "method by a lambda": "what changes a method leaves a lambda alone, which has no statements",
    "if it has it": "that the method is there is only probable, so that what follows from it is told",
    "if it can be called": "the same",
    "if it is there": "the same",
    "inside by defaults": "open: a name that comes with a rewrite may be the parameter's, by its default",
    "self otherwise": "a rewrite may bring a `self` that the method does not have",
    "by a caller": "open: the call whose arguments change is made by `methodcaller`",
    "keys turned": "open: a rewrite of the keys does not reach those that a comprehension hands on",
    "result kept": "a rewrite that takes the statement away would take the name too",
}
"""Edits under which a rewrite may always be left to a person, or asked for first, with the reason."""
