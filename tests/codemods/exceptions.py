"""Edits after which a rule finds less in an example of its own, by example and edit, each with the reason."""

from __future__ import annotations

TYPED = "`object` is what the parameter is said to be, and the rule believes it: it names no Trainer and no module"
ALIAS = "open: the rule looks for torch by the name that is imported in the example"
VALUES = "open: the rule compares the places of two expressions, which the two branches do not have"
FACTS = "open: whether a Trainer trains on several devices, or clips, is read off the text of the call alone"
BASE = "open: the class of the module is looked up in the facts, which have the base that says nothing"
HELD = "open: the rule follows the name that holds the optimizer or Trainer by itself"

LOST: dict[tuple[str, str], str] = {
    ("AMP002-1", "conditional"): VALUES,
    ("AMP004-0", "import alias"): ALIAS,
    ("AMP004-3", "import alias"): ALIAS,
    ("BWD006-0", "conditional"): VALUES,
    ("BWD006-0", "keyword variable"): VALUES,
    ("BWD007-0", "second name"): FACTS,
    ("BWD007-3", "second name"): FACTS,
    ("GRD003-0", "base class"): BASE,
    ("GRD004-0", "base class"): BASE,
    ("LIT113-1", "conditional"): HELD,
    ("LIT116-0", "partial"): FACTS,
    ("LIT116-2", "partial"): FACTS,
    ("LIT120-0", "annotate parameter"): TYPED,
    ("LIT120-1", "annotate parameter"): TYPED,
    ("LIT121-0", "annotate parameter"): TYPED,
    ("LIT121-1", "annotate parameter"): TYPED,
    ("LIT226-0", "annotate parameter"): TYPED,
    ("LIT214-0", "keyword variable"): FACTS,
    ("LIT214-0", "partial"): FACTS,
    ("OPT003-0", "decorator"): HELD,
    ("OPT003-0", "walrus"): HELD,
}
