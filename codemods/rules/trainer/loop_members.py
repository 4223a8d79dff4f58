"""What the loops of a Trainer had up to 1.9, and have no more, or let nobody set."""

from __future__ import annotations

from collections.abc import Mapping

LIMITS = {"min_steps": "M247", "max_steps": "M248"}
_OWN = "custom loops were removed in 2.0: write the loop with `lightning.fabric.Fabric(...)`, or override hooks"
LOOPS: Mapping[str, Mapping[str, str]] = {
    "fit_loop": {
        "running_loss": "compute the mean of the losses yourself; lr_find reads what training_step returns",
        "split_idx": "batches are no longer split: delete what reads it",
        "should_accumulate": "compare `(batch_idx + 1) % trainer.accumulate_grad_batches` with 0",
        "current_epoch": "read `trainer.current_epoch`, which a checkpoint restores",
        "global_step": "read `trainer.global_step`, which a checkpoint restores",
        "connect": _OWN,
        "replace": _OWN,
    },
    "fit_loop.epoch_loop": {
        "batches_seen": "read `trainer.fit_loop.total_batch_idx`",
        "is_last_batch": "read `trainer.is_last_batch`",
        "batch_loop": "read `trainer.fit_loop.epoch_loop.automatic_optimization`, or its `manual_optimization`",
        "connect": _OWN,
        "replace": _OWN,
    },
    **{
        f"{stage}_loop": {
            "epoch_loop": "what it had is private, or of the loop itself: do without it",
            "dataloaders": f"read `trainer.{loaders}`, which has what was returned",
            "current_dataloader_idx": "hooks and steps get it: write `dataloader_idx=0` among their parameters",
            "connect": _OWN,
            "replace": _OWN,
        }
        for stage, loaders in (
            ("validate", "val_dataloaders"), ("test", "test_dataloaders"), ("predict", "predict_dataloaders"),
        )
    },
}  # fmt: skip
"""What the Trainer's loops had up to 1.9, and have no more (by reflection on 1.8.6, 1.9.5 and 2.6.6, and read in 1.4.9
to 1.7.7)."""
SOURCES: Mapping[str, str] = {
    "_train_dataloader_source": "fit_loop",
    "_val_dataloader_source": "read `trainer.fit_loop.epoch_loop.val_loop._data_source` where it trains, "
    "`trainer.validate_loop._data_source` where it validates",
    "_test_dataloader_source": "test_loop",
    "_predict_dataloader_source": "predict_loop",
}
"""The loop that has what the data connector of 1.5 to 1.9 had, or where to read it; with loaders, a data module and
hooks of the module `dataloader()` of it gives the same in `configure_optimizers` (run on 1.9.5 and 2.6.6)."""
