"""The words that reports use, each explained where `fixer explain` is asked for it."""

from __future__ import annotations

from textwrap import fill

_ENTRIES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("baseline",): (
        "A baseline is a file of findings that a project knows of and lives with for now.",
        "`fixer check --write-baseline known.json` writes all findings of today into it. `fixer check --baseline "
        "known.json` then reports only new ones. It knows each place by "
"rule, file and message, so that lines may move.",
        "In a proof, the baseline is the environment of the code before: the old Lightning that it ran on.",
    ),
    ("cause", "finding", "place"): (
        "A finding is one cause with all its places. What a rule rewrites "
"is one finding; what it leaves is one finding "
        "for each thing that is wrong.",
        "A comment `# fixer: ignore[CODE]` silences one place. `--verbose` shows every place.",
    ),
    ("group",): (
        "A group is a set of changes that are proven together, since none of them works without the others: what moves "
        "the code to the new Lightning, with the requirements, is one group.",
        "A rule that repairs something by itself, such as AMP001, is a group of its own. Each group has one verdict.",
    ),
    ("inconclusive", "verdict", "preserved", "repaired", "changed", "regressed"): (
        "A verdict says what a proof found out about a group of changes, by running the code before and after:",
        "preserved: both train, with the same numbers.",
        "repaired: the code before fails, the code after trains.",
        "changed: both train, with different numbers. The findings that explain it are named: read them.",
        "regressed: the code after fails or learns nothing. The rule that caused it is taken out of the branch.",
        "inconclusive: the runs did not show it. The sentence beside it says why, and the line `next` says what to do, "
        "such as naming a script that trains. It is never counted as passing.",
        "`in part` is added if a changed file was not executed. More: docs/proof.md",
    ),
    ("manual", "safe", "unsafe", "level"): (
        "Each finding has a level, which says how sure its repair is:",
        "safe: the code shows that the rewrite is right for every program of this form. `fixer fix` makes it.",
        "unsafe: the rewrite is probably right, and the reason says what is assumed. `fixer fix --unsafe-fixes` makes "
        "it; `fixer run --prove-unsafe` keeps only those that a training confirms.",
        "manual: the code does not show what is right, or the choice is yours. The reason says why, and what to write.",
    ),
    ("proof", "ran", "provided"): (
        "A proof trains the code before and after for a few steps, each on its own Lightning, and compares losses, "
        "gradients, learning rates and weights.",
        "Its list says what ran, on which releases and device, what was "
"compared, what was not executed, and what fixer "
        "provided, such as generated data. `fixer report --verbose` shows all of it again.",
        "The project's code runs sandboxed: without network, and without access to your other files. "
        "`--no-verify` switches the proof off. More: docs/recording.md",
    ),
    ("rung", "conforms", "trains", "same"): (
        "A rung says how far a proof got. Each rung includes those before it:",
        "conforms: the installed target has every name, argument and hook of Lightning that the changed files use.",
        "trains: a short training of the result went through `fit`, and gradients reached parameters.",
        "same: its losses, steps, learning rates and weights are those of the code before.",
        "`fixer run --require trains` ends with exit code 1 if a change did not get that far. See also: `fixer explain "
        "verdict`, `fixer explain group`. More: docs/proof.md",
    ),
    ("trust",): (
        "Trust a change as far as the report says what was shown:",
        "1. Its level: safe rewrites hold for every program of their form; unsafe ones assume what their reason says.",
        "2. The verdict and rung of its commit: what ran, and what was compared. `not executed` means that no run "
        "touched it.",
        "3. The diff. `git diff` shows it, one commit a rule; `fixer explain CODE` says what the rule does and why.",
        "A short training proves what it executed, and no more: run your own tests before you merge. More: "
        "docs/believe.md",
    ),
    ("undo", "work"): (
        "`fixer check` and `fixer diff` change nothing.",
        "`fixer run` changes neither your files nor your branch: it works on a copy of the commit, and makes a new "
        "branch. Uncommitted work is not part of it. `git branch -D BRANCH` removes the branch.",
        "`fixer fix` changes files in place. `fixer undo` puts back what the last `fixer fix` changed, with or without "
        "git; a file that you changed since is left as it is, and named.",
        "`git diff` shows what changed, and `git restore FILE` undoes a file; it takes your own uncommitted work in it "
        "back as well.",
    ),
}  # fmt: skip
WORDS = tuple(names[0] for names in _ENTRIES)
"""The words that have a page, each by its first name."""


def paragraphs(word: str) -> tuple[str, ...]:
    """What a word means, a paragraph each; none where it is none of fixer's."""
    return next((texts for names, texts in _ENTRIES.items() if word.lower() in names), ())


def entry(word: str) -> str | None:
    """What a word means, as lines for a terminal; None where it is none of fixer's."""
    for names, texts in _ENTRIES.items():
        if word.lower() in names:
            return "\n\n".join([", ".join(names), *(fill(text, 88) for text in texts)]) + "\n"
    return None
