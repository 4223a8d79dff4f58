"""`acme.fit(half=True)` became `precision` in acme 3."""

from codemods.api import Example, Rule, arguments_of, calls_of, finding, literal, replace_keyword, rewrite, written_out

MESSAGE = "`half=` of `acme.fit` is gone since acme 3.0"


def check(file, facts):
    for call in calls_of(file, "acme.fit"):
        given = arguments_of(call).get("half")
        known, value = literal(given.value) if given else (False, None)
        if known and isinstance(value, bool):
            precision = '"16-mixed"' if value else '"32-true"'
            edit = replace_keyword(call, "half", ("precision", precision))
            yield rewrite(file, given, MESSAGE, edit, reason="It goes by Lightning's own names now.")
        elif given:
            yield finding(file, given, MESSAGE, 'write precision="16-mixed" or precision="32-true".')


BEFORE = "import acme\n\nacme.fit(model, half=True)\n"
RULE = Rule(
    code="ACM001",
    name="fit-half",
    summary="`half=` of `acme.fit` becomes `precision=`",
    why="acme 3.0 hands its arguments on to Lightning, which knows precisions by their names.",
    fix="safe",
    versions="before acme 3.0",
    triggers=(b"half",),
    check=check,
    examples=(
        Example(BEFORE, BEFORE.replace("half=True", 'precision="16-mixed"')),
        Example(BEFORE.replace("acme", "other"), BEFORE.replace("acme", "other")),
    ),
    wanted=written_out("ACM001", ["acme.fit"], follow=["half"]),
)
