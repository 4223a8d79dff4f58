"""What is said of arguments of Trainer that were removed or renamed, and what to write instead."""

from __future__ import annotations

from codemods.lightning.arguments import ArgumentRow, current, removal, rows

ADVICE = {
    "gpus": 'write `accelerator="gpu", devices=...`',
    "distributed_backend": "write `strategy=...`",
    "num_processes": 'write `accelerator="cpu", devices=...`',
    "tpu_cores": 'write `accelerator="tpu", devices=...`',
    "num_tpu_cores": 'write `accelerator="tpu", devices=...`',
    "ipus": 'Lightning 2.1 removed support for IPUs: write `accelerator="auto"`',
    "auto_select_gpus": "write `devices=find_usable_cuda_devices(...)`, "
    "with `from lightning.pytorch.accelerators import find_usable_cuda_devices`",
    "resume_from_checkpoint": "write `trainer.fit(..., ckpt_path=...)`",
    "auto_lr_find": "call `Tuner(trainer).lr_find(model)`, with `from lightning.pytorch.tuner import Tuner`",
    "auto_scale_batch_size": "call `Tuner(trainer).scale_batch_size(model)`, "
    "with `from lightning.pytorch.tuner import Tuner`",
    "amp_level": "delete it: only Apex had levels",
    "flush_logs_every_n_steps": "give it to `CSVLogger(...)`: other loggers decide when to write",
    "log_save_interval": "delete it: loggers decide when to write",
    "track_grad_norm": "write `self.log_dict(grad_norm(self, norm_type=...))` in the module's on_before_optimizer_step",
    "weights_summary": "write `callbacks=[ModelSummary(max_depth=...)]`, or `enable_model_summary=False`",
    "truncated_bptt_steps": "write `for chunk in batch.split(..., dim=1):` in the training_step of the module",
}
"""What to do about arguments that other rules answer for, where they come by a dictionary."""
FILLED = {
    "accelerator": '"auto", or "cpu"',
    "devices": '"auto"',
    "strategy": '"auto"',
    "num_nodes": "1",
    "max_steps": "-1",
}
"""Arguments that no longer take None, and what to give instead."""


def message_of(row: ArgumentRow) -> str:
    """What a finding says of the argument of a row."""
    if row.argument in current():
        return f"`{row.argument}=` of Trainer no longer takes this value"
    return removal(row.argument)


def sentence(reason: str) -> str:
    """A reason as a sentence."""
    return reason[:1].upper() + reason[1:] + "."


def row_of(name: str) -> str | None:
    """The guide's row of an argument, None where it has none."""
    return next((row.row for row in rows().get(name, ()) if row.row), None)


def advised(reason: str, text: str, known: bool) -> str:
    """What a row says of a value: `{value}` is said beside it, `{}` elsewhere, where a name may be another's."""
    return reason.replace("{value}", text).replace("{}", text if known else "...")


def advice_for(name: str) -> str:
    """What the last row of an argument says, which is the one for any value."""
    if name in ADVICE:
        return ADVICE[name]
    last = rows().get(name, (None,))[-1]
    if last is None:
        return "see the upgrade guide"
    if last.action not in ("write", "callback"):
        return advised(last.reason, "...", False)
    return f"write `{last.target.replace('{}', '...')}`"


def renamed(name: str) -> str:
    """A name, with what replaces it where a row says so."""
    targets = dict.fromkeys(row.keyword for row in rows().get(name, ()) if row.action == "write")
    return f"`{name}` ({' or '.join(targets)})" if targets else f"`{name}`"
