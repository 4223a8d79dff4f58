"""The words in which a fleet speaks of its repositories."""

from __future__ import annotations

from typing import Literal, get_args

State = Literal["queued", "cloned", "planned", "proven", "delivered", "merged", "closed", "failed", "left out"]
Step = Literal["clone", "plan", "prove", "deliver", "look"]
Delivered = Literal["nothing", "branch", "pull-request"]

STATES: tuple[State, ...] = get_args(State)
