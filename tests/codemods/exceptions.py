"""Edits after which a rule finds less in an example of its own, or rewrites less of it, each with the reason."""

from __future__ import annotations

TYPED = "`object` is what the parameter is said to be, and the rule believes it: it names no Trainer and no module"
ALIAS = "open: the rule looks for torch by the name that is imported in the example"
CALLED = "open: the rule is called by the text `Trainer(`, or by that of a method, which stands otherwise here"
TAKEN = "open: the argument is looked for where it is written, and stands in a list"
RETURNED = "open: the rule takes apart what is bound right in front of the `return` alone"

LOST: dict[tuple[str, str], str] = {
    ("AMP004-0", "import alias"): ALIAS,
    ("AMP004-3", "import alias"): ALIAS,
    ("BWD001-2", "getattr"): CALLED,
    ("BWD001-3", "getattr"): CALLED,
    ("BWD002-1", "getattr"): CALLED,
    ("BWD003-0", "getattr"): CALLED,
    ("BWD003-1", "getattr"): CALLED,
    ("BWD005-0", "getattr"): CALLED,
    ("BWD005-1", "getattr"): CALLED,
    ("BWD005-2", "getattr"): CALLED,
    ("GRD003-0", "starred"): TAKEN,
    ("LIT115-0", "partial"): CALLED,
    ("LIT116-0", "partial"): CALLED,
    ("LIT116-2", "partial"): CALLED,
    ("LIT120-0", "annotate parameter"): TYPED,
    ("LIT120-1", "annotate parameter"): TYPED,
    ("LIT121-0", "annotate parameter"): TYPED,
    ("LIT121-1", "annotate parameter"): TYPED,
    ("LIT213-1", "local function"): RETURNED,
    ("LIT226-0", "annotate parameter"): TYPED,
    ("TBP103-0", "getattr"): CALLED,
}
"""What vanishes, by example and edit."""

READS = "the line reads a name that the rewrite takes away: it would fail"
SHOWS = "the line speaks of what the rewrite takes away, and would go with it"
MODULE = "a name of the module may be imported by others, so that a second one for a Trainer is no harmless line"
COMMENT = "a comment beside an argument may speak of it"
LINES = (
    "print", "assert type", "assert not none", "len, id, repr", "f-string", "logging", "logger", "warning",
    "kept unused", "second name", "onto itself", "delete",
)  # fmt: skip

LOWER: dict[str, tuple[str, tuple[str, ...]]] = {
    "BWD004-0": (READS, (*LINES, "walrus", "tuple", "chained")),
    "LIT110-0": (COMMENT, ("type comment",)),
    "LIT112-0": (COMMENT, ("type comment",)),
    "LIT113-0": (MODULE, ("f-string", "kept unused", "second name", "chained", "type comment")),
    "LIT212-0": (READS, LINES),
    "STP002-0": (SHOWS, (*LINES, "walrus")),
}
"""What is rightly left to a person under some edits, by example, with the reason."""
