"""The way through all changes: what is offered next, and what an answer leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codemods.engine.offers import Offer, OfferedChanges
from codemods.engine.plan import Plan
from codemods.engine.refused import key_of
from fixer.choosing.choices import Choices
from fixer.choosing.settings_edit import LeftOut, ways

Answer = Literal["y", "n", "a", "d", "A", "q", "e", "s", "l", "?"]


@dataclass(frozen=True)
class ChangeQuestion:
    """A change that is offered, which one it is of how many, how many were left before it that stop the program on the
    target, and whether what is said of all changes holds for safe ones alone."""

    offer: Offer
    number: int
    total: int
    stopping: int = 0
    safe_alone: bool = False

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that there are to it."""
        split: tuple[Answer, ...] = ("s",) if len(self.offer.parts) > 1 else ()
        return ("y", "n", "a", "d", "A", "q", "e", *split, "l", "?")


class Talk(Protocol):
    """Who is asked."""

    def answer(self, question: ChangeQuestion) -> Answer:
        """What is said to a question: one of its answers."""

    def explain(self, question: ChangeQuestion) -> None:
        """Shows the page of a rule."""

    def help(self, question: ChangeQuestion) -> None:
        """Says what each answer does."""

    def setting(self, ways: Sequence[LeftOut]) -> LeftOut | None:
        """The way in which a rule is to be left out for good; None for none of them."""

    def tell(self, text: str) -> None:
        """Says something besides."""


@dataclass(frozen=True)
class Chosen:
    """What was chosen: the plan of what was taken, what is to be left out for good, how many changes were taken and
    left, and how many places that were taken are left all the same, as they could not be told from one that was not."""

    plan: Plan
    left_out: tuple[LeftOut, ...]
    taken: int
    left: int
    lost: int = 0


CanBeSet = Callable[[Sequence[LeftOut]], "str | None"]
"""Says why settings cannot be written, or nothing where they can."""


def choose(changes: OfferedChanges, talk: Talk, *, unsafe: bool, problem_of: CanBeSet) -> Chosen:
    """Asks about all changes, and again about what comes of leaving some. `unsafe` says that unsafe changes were asked
    for as those that are safe."""
    session = _Session(talk, Choices(unsafe), problem_of)
    choices = session.choices
    made, offers = changes.plan()
    while choices.are_open(offers):
        known = len(choices.refused)
        session.ask(changes.walk(choices.refused), offers)
        if len(choices.refused) > known:
            talk.tell("looking at the result")
            made, offers = changes.plan(choices.refused)
    there = {key for offer in offers for key in offer.keys}
    if there & choices.refused:
        raise RuntimeError(f"what was refused is still rewritten: {sorted(map(str, there & choices.refused))}")
    lost = (choices.taken - there) & {key_of(finding) for finding in made.findings if finding.applied}
    if lost:
        made, offers = changes.plan(choices.refused | lost)
    return Chosen(made, tuple(choices.left_out), len(offers), choices.left, len(lost))


class _Session:
    """The questions that were asked so far."""

    def __init__(self, talk: Talk, choices: Choices, problem_of: CanBeSet) -> None:
        self.talk, self.choices, self.problem_of = talk, choices, problem_of
        self.asked = 0

    def ask(self, walk: Iterable[Sequence[Offer]], planned: Sequence[Offer]) -> None:
        """Asks about changes, rule by rule; `planned` are those that are awaited."""
        for changes in walk:
            if self.choices.is_ended:
                self.choices.settle(planned)
                return
            codes = [offer.rule.code for offer in planned]
            there = [number for number, code in enumerate(codes, 1) if code == changes[0].rule.code]
            self._ask(changes, planned[there[-1] if there else 0 :])

    def _ask(self, changes: Sequence[Offer], behind: Sequence[Offer]) -> None:
        """Asks about the changes of one rule."""
        queue = deque(self.choices.pending(changes))
        while queue:
            undecided = self.choices.pending(queue.popleft().split())
            if not undecided:
                continue
            offer = undecided[0]
            total = self.asked + 1 + len(queue) + len(self.choices.pending(behind))
            stopping = self.choices.stopping if offer.rule.last else 0
            safe_alone = offer.fix == "safe" and not self.choices.unsafe
            question = ChangeQuestion(offer, self.asked + 1, total, stopping, safe_alone)
            answer = self.talk.answer(question)
            if answer == "s":
                queue.extendleft(reversed(offer.split()))
            elif not self._heard(answer, question):
                queue.appendleft(offer)
            else:
                self.asked += 1
        self.choices.settle(changes)

    def _heard(self, answer: Answer, question: ChangeQuestion) -> bool:
        """Does what an answer says; no where the question stands after it."""
        offer, choices = question.offer, self.choices
        if answer in ("e", "?"):
            (self.talk.explain if answer == "e" else self.talk.help)(question)
            return False
        if answer == "l":
            return self._leave_out(offer)
        if answer in ("y", "a", "A"):
            choices.take(offer)
        elif answer in ("n", "d"):
            choices.refuse(offer)
        if answer in ("a", "d"):
            (choices.take_rule if answer == "a" else choices.refuse_rule)(offer)
        elif answer == "A":
            choices.take_rest(offer)
        elif answer == "q":
            choices.end()
        return True

    def _leave_out(self, offer: Offer) -> bool:
        setting = self.talk.setting(ways(offer))
        if setting is None:
            return False
        if problem := self.problem_of((*self.choices.left_out, setting)):
            self.talk.tell(problem)
            return False
        self.choices.leave_out(setting)
        return True
