"""The terminal that a person answers at: lines out, one line in for each question. It moves no cursor, and so is the
same on one that can do nothing."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from codemods.engine.offers import FileTexts, Place
from fixer.choosing.session import Answer, ChangeQuestion
from fixer.choosing.settings_edit import LeftOut
from fixer.errors import UsageError
from fixer.in_force import NAME
from fixer.reports.diff import unified
from fixer.reports.page import Page, prose
from fixer.reports.rules import page
from fixer.reports.words import count, one_line, place, plain
from fixer.result import FileDiff

_SHOWN = 10
_LEVELS = {"safe": "bold green", "unsafe": "bold yellow"}
_MEANINGS: dict[Answer, str] = {
    "y": "make this change",
    "n": "leave it",
    "a": "make this and all later changes of {code}",
    "d": "leave this and all later changes of {code}",
    "A": "make this and all that are left",
    "q": "quit: leave this and all that are left; what you took is made",
    "e": "explain {code}",
    "s": "split this into {parts} changes that do not need each other",
    "l": "leave {code} out from now on, in [tool.fixer] of " + NAME,
    "?": "say this",
}
_SAFE_ALONE = "a and A take no unsafe change here: each of those is asked about."
_CTRL_C = "Ctrl-C ends it, and nothing is changed."


def terminal() -> Terminal:
    """The terminal of this process. Raises UsageError where it has none."""
    for name, stream in (("standard input", sys.stdin), ("standard error", sys.stderr)):
        if not stream.isatty():
            raise UsageError(
                f"--interactive asks at a terminal, which {name} is not; leave it out, or choose rules with --select"
            )
    from fixer.console import is_colored

    return Terminal(is_colored(sys.stderr))


@dataclass
class Terminal:
    """Asks on standard error and reads from standard input. The end of the input is an answer, too: to quit."""

    color: bool

    def answer(self, question: ChangeQuestion) -> Answer:
        self._show(question)
        while True:
            said = self._ask(f"Make this change? [{','.join(question.answers)}] ")
            if said is None:
                return "q"
            if found := next((one for one in question.answers if one == said), None):
                return found
            self.help(question)

    def explain(self, question: ChangeQuestion) -> None:
        for line in page(question.offer.rule.code).splitlines():
            self._write(plain(line))

    def help(self, question: ChangeQuestion) -> None:
        for answer in question.answers:
            words = _MEANINGS[answer].format(code=question.offer.rule.code, parts=len(question.offer.parts))
            self._lines(f"{answer} - {words}", hang="    ")
        if question.safe_alone:
            self._lines(_SAFE_ALONE)
        self._lines(_CTRL_C)

    def setting(self, ways: Sequence[LeftOut]) -> LeftOut | None:
        self._lines(f"What is to be written into {NAME}, with what you take? Nothing: press Enter.")
        for number, way in enumerate(ways, 1):
            self._lines(f"{number} - {one_line(way.words())}", hang="    ")
        said = self._ask(f"[1-{len(ways)}] ")
        return (
            ways[int(said) - 1] if said and said.isascii() and said.isdigit() and 0 < int(said) <= len(ways) else None
        )

    def tell(self, text: str) -> None:
        self._lines(one_line(text))

    def _show(self, question: ChangeQuestion) -> None:
        offer, output = question.offer, self._page()
        output.line([])
        head = [(f"({question.number}/{question.total}) ", "bold"), (offer.rule.code, "bold red"), (" ", "")]
        output.line([*head, (offer.fix, _LEVELS[offer.fix]), ("  ", ""), *prose(one_line(offer.rule.summary))])
        for line, style in _told(offer.places):
            output.line(prose(line, style), 2)
        if question.stopping:
            text = f"{count(question.stopping, 'place')} that you left will stop the program on the new Lightning."
            output.line([(text, "bold yellow")], 2)
        self._write(output.text().removesuffix("\n"))
        try:
            shown = offer.texts()
        except (
            Exception
        ) as error:  # what cannot be made alone may be made with others, and else is thrown away and told
            self._lines(f"  its lines cannot be shown alone: {one_line(str(error))}")
            return
        for texts in shown:
            self._diff(texts)

    def _diff(self, texts: FileTexts) -> None:
        before, after = (
            None if data is None else data.decode(errors="replace") for data in (texts.before, texts.after)
        )
        diff = unified(texts.path, before, after or "")
        if self.color:
            from fixer.reports.rich_page import colored

            self._write(colored(FileDiff(texts.path, diff), (), self._width()).removesuffix("\n"))
            return
        for line in diff.split("\n")[:-1]:
            self._write("\t".join(map(plain, line.removesuffix("\r").split("\t"))))

    def _page(self) -> Page:
        from fixer.reports.rich_page import RichPage

        return RichPage(self.color, self._width())

    def _width(self) -> int:
        return shutil.get_terminal_size().columns

    def _lines(self, text: str, hang: str = "") -> None:
        for line in textwrap.wrap(text, max(self._width(), 20), subsequent_indent=hang):
            self._write(line)

    def _ask(self, prompt: str) -> str | None:
        """What is typed; None at the end of the input."""
        sys.stderr.write(f"\033[1;34m{prompt}\033[0m" if self.color else prompt)
        sys.stderr.flush()
        typed = sys.stdin.buffer.readline()
        if not typed:
            self._write("")
            return None
        return typed.decode(errors="replace").strip()

    def _write(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _told(places: Sequence[Place]) -> Iterator[tuple[str, str]]:
    """What is wrong at each place, and, once for neighbours with the same reason, why it is changed so."""
    for reason, alike in groupby(places[:_SHOWN], key=lambda item: item.finding.reason):
        for item in alike:
            yield f"{place(item.finding)} {one_line(item.finding.message)}", ""
        if reason:
            yield f"  {one_line(reason)}", "dim"
    if places[_SHOWN:]:
        yield f"and {count(len(places) - _SHOWN, 'more place')}", "dim"
