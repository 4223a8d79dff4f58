"""What the readers of `configure_optimizers` share."""

from __future__ import annotations

SCHEDULERS = "torch.optim.lr_scheduler."
CLOSURE = ("LBFGS", "SAM", "ASAM")


class NotPlain(Exception):
    """The code does not show what `configure_optimizers` returns, or it is more than a plain loop can do."""
