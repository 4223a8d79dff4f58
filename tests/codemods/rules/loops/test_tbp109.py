"""TBP109: schedulers that nobody steps."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import SGD, assert_refused, changed

CODE = "TBP109"
REFUSED = {
    "schedulers of several optimizers": (
        changed(
            (
                SGD,
                "        first = torch.optim.SGD(self.rnn.parameters(), lr=0.1)\n"
                "        second = torch.optim.SGD(self.head.parameters(), lr=0.1)\n"
                "        decay = torch.optim.lr_scheduler.StepLR(first, 1)\n"
                '        return {"optimizer": first, "lr_scheduler": decay}, {"optimizer": second}\n',
            )
        ),
        "Manual optimization leaves them to the module",
    ),
    "a plateau": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        decay = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)\n"
                '        return {"optimizer": optimizer, "lr_scheduler": decay, "monitor": "val_loss"}\n',
            )
        ),
        "steps on a monitored metric",
    ),
    "a frequency": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        decay = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n"
                '        return [optimizer], [{"scheduler": decay, "interval": "step", "frequency": 2}]\n',
            )
        ),
        "a frequency other than 1",
    ),
    "one scheduler or none": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        if self.constant:\n            return optimizer\n"
                "        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]\n",
            )
        ),
        "in different ways",
    ),
    "two optimizers": (
        changed(
            (
                SGD,
                "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        other = torch.optim.SGD(self.parameters(), lr=0.1)\n"
                "        return [optimizer, other], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]\n",
            )
        ),
        "several optimizers",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)
