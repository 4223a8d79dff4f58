"""A rule as an installed package brings it: `acme.seed` became Lightning's own."""

from codemods.api import Example, Rule, calls_of, finding


def check(file, facts):
    for call in calls_of(file, "acme.seed"):
        yield finding(file, call.node, "`acme.seed` is gone since acme 3.0", "call `lightning.seed_everything`.")


BEFORE = "import acme\n\nacme.seed(1)\n"
OTHER = "import random\n\nrandom.seed(1)\n"
RULES = [
    Rule(
        code="ACM201",
        name="seed",
        summary="`acme.seed` is gone",
        why="acme 3.0 leaves seeds to Lightning.",
        fix="manual",
        versions="before acme 3.0",
        triggers=(b"seed",),
        check=check,
        examples=(Example(BEFORE, BEFORE), Example(OTHER, OTHER)),
    )
]
