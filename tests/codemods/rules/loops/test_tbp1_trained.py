"""Rules on manual loops: what fails or does not train before, and trains as the loop that is right after."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import (
    ASKED,
    BACKWARD,
    DETACH,
    FLAG,
    RIGHT,
    RULES,
    SETUP,
    STEP,
    ZERO,
    changed,
)
from tests.codemods.support import rewritten
from tests.training import Record, assert_same, differences, train

GRU = changed(("nn.LSTM", "nn.GRU"), (DETACH, "            hiddens = hiddens.detach()\n"))
PAIR = changed(
    ("hiddens = None", "hidden, cell = torch.zeros(1, len(x), 4), torch.zeros(1, len(x), 4)"),
    ("out, hiddens = self.rnn(part, hiddens)", "out, (hidden, cell) = self.rnn(part, (hidden, cell))"),
    (DETACH, "            hidden = hidden.detach()\n            cell = cell.detach()\n"),
)
NESTED = changed(
    (
        "        self.head = nn.Linear(4, 1)\n",
        "        self.second = nn.LSTM(4, 4, batch_first=True)\n        self.head = nn.Linear(4, 1)\n",
    ),
    ("self.rnn(part, hiddens)", "self(part, hiddens)"),
    (
        SETUP,
        "    def forward(self, x, hiddens):\n"
        "        first, second = hiddens or (None, None)\n"
        "        x, first = self.rnn(x, first)\n"
        "        x, second = self.second(x, second)\n"
        "        return x, (first, second)\n\n" + SETUP,
    ),
    (DETACH, "            hiddens = tuple(tuple(part.detach() for part in state) for state in hiddens)\n"),
)
NESTED_DETACH = "            hiddens = tuple(tuple(part.detach() for part in state) for state in hiddens)\n"
CLIPPING = changed(
    (
        SETUP,
        "    def on_before_optimizer_step(self, optimizer):\n"
        "        self.clip_gradients(optimizer, gradient_clip_val=0.01)\n\n" + SETUP,
    ),
)
SECOND = "            self.manual_backward(hiddens[0].pow(2).mean())\n"
KEPT = BACKWARD.replace("loss)", "loss, retain_graph=True)")
SUMMED = changed((BACKWARD, KEPT + SECOND))
WHILE = changed(
    (
        "for part, target in zip(xs, ys):\n",
        "start = 0\n        while start < x.shape[1]:\n"
        "            part, target = x[:, start : start + 4], y[:, start : start + 4]\n            start += 4\n",
    )
)
FAILS = {
    "no detach in a while loop": (changed((DETACH, ""), text=WHILE), RIGHT, "RuntimeError"),
    "step before the last pass": (changed((BACKWARD + STEP, KEPT + STEP + SECOND)), SUMMED, "RuntimeError"),
    "no detach": (changed((DETACH, "")), RIGHT, "RuntimeError"),
    "no detach of a tensor": (changed(("            hiddens = hiddens.detach()\n", ""), text=GRU), GRU, "RuntimeError"),
    "pair detached as a tensor": (
        changed((DETACH, "            hiddens = hiddens.detach()\n")),
        RIGHT,
        "AttributeError",
    ),
    "one of two detached": (changed(("            cell = cell.detach()\n", ""), text=PAIR), PAIR, "RuntimeError"),
    "neither of two detached": (
        changed(("            hidden = hidden.detach()\n            cell = cell.detach()\n", ""), text=PAIR),
        PAIR,
        "RuntimeError",
    ),
    "tensor detached as a pair": (
        changed(("            hiddens = hiddens.detach()\n", DETACH), text=GRU),
        GRU,
        "AttributeError",
    ),
    "nested state not detached": (changed((NESTED_DETACH, ""), text=NESTED), NESTED, "RuntimeError"),
    "several at once": (
        changed(
            (FLAG, ""),
            (ASKED, ""),
            (
                ZERO + BACKWARD + STEP + DETACH,
                "            self.backward(loss)\n            self.optimizer.step()\n"
                "            self.optimizer.zero_grad()\n",
            ),
            ("x.split", "x.tensor_split"),
            ("y.split", "y.tensor_split"),
        ),
        RIGHT,
        "AttributeError",
    ),
}
DIFFERS = {
    "step twice": (
        changed((FLAG, ""), (BACKWARD, "            loss.backward()\n"), (ZERO, "")),
        changed((BACKWARD, "            loss.backward()\n")),
    ),
}


def trained(text: str, **how: object) -> Record:
    return train({"train.py": text}, **how)  # type: ignore[arg-type]


def repaired(text: str, unsafe: bool = False) -> str:
    return rewritten({"train.py": text}, *RULES, unsafe=unsafe)["train.py"]


@pytest.mark.parametrize(("broken", "right", "error"), FAILS.values(), ids=FAILS)
def test_what_failed_trains(broken: str, right: str, error: str) -> None:
    before = trained(broken)
    assert before.failure is not None
    assert before.failure.type == error
    after = trained(repaired(broken))
    assert after.automatic is False
    assert_same(after, trained(right), 1e-6)


@pytest.mark.parametrize(("broken", "right"), DIFFERS.values(), ids=DIFFERS)
def test_what_trained_wrongly_trains_rightly(broken: str, right: str) -> None:
    expected = trained(right)
    assert list(differences(trained(broken), expected))
    after = trained(repaired(broken))
    assert after.failure is None
    assert after.automatic is False
    assert_same(after, expected, 1e-6)


def test_what_was_wiped_never_trained() -> None:
    wiped, still = trained(changed((ZERO + BACKWARD, BACKWARD + ZERO))), trained(changed((STEP, "")))
    assert wiped.weights == still.weights
    assert wiped.weights != trained(RIGHT).weights


def test_the_gradient_of_a_pass_that_was_wiped_is_used() -> None:
    wiped = changed((BACKWARD, KEPT + ZERO + SECOND))
    assert trained(wiped).weights == trained(changed((BACKWARD, SECOND))).weights
    assert repaired(wiped) == wiped
    assert_same(trained(repaired(wiped, unsafe=True)), trained(SUMMED), 1e-6)


REGION = changed(
    (
        "for part, target in zip(xs, ys):\n",
        'with torch.autocast("cpu", dtype=torch.bfloat16):\n            for part, target in zip(xs, ys):\n',
    ),
)


def test_each_chunk_sees_the_weights_of_the_step_before() -> None:
    head, _, tail = REGION.partition("            for part")
    body, _, rest = tail.partition("\n    def configure_optimizers")
    lines = "for part" + body.replace("\n    ", "\n        ")
    stale = f"{head}            {lines}\n    def configure_optimizers{rest}"
    fresh = stale.replace("optimizer.step()\n", "optimizer.step()\n                torch.clear_autocast_cache()\n")
    expected = trained(fresh)
    assert list(differences(trained(stale), expected))
    assert_same(trained(repaired(stale)), expected, 1e-6)


def test_what_is_right_stays() -> None:
    for text in (RIGHT, GRU, PAIR, NESTED, CLIPPING, WHILE):
        assert repaired(text, unsafe=True) == text
        assert trained(text).failure is None
