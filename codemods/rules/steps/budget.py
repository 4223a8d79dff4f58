"""What a plain number of steps comes to."""

from __future__ import annotations

import math
from typing import Any


def told(steps: Any, epochs: Any, window: Any, batches: Any, ranks: int) -> tuple[str, str] | None:
    """The message and the reason for a number of steps: the epochs that it comes to, or how far `max_epochs` is cut
    short; None where the numbers are not known, or the number of steps ends nothing."""
    if any(type(item) is not int or item < 1 for item in (steps, window, batches)):
        return None
    each = math.ceil(batches / window)
    full, rest = divmod(steps, each)
    place = f"{full} epoch{'s' * (full != 1)}" + (f" and {rest} of {each} steps" if rest else "")
    if epochs in (None, -1):
        message, advice = f"max_steps={steps} comes to {place}", "max_epochs says it for any number of devices"
    elif type(epochs) is int and steps < each * epochs:
        message = f"max_steps={steps} ends training after {place}, before max_epochs={epochs} ({each * epochs} steps)"
        advice = "keep one of the two"
    else:
        return None
    where = "one device" if ranks == 1 else f"{ranks} devices"
    return message, f"On {where} an epoch is {batches} batches and {each} steps; {advice}."
