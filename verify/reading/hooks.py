"""Hooks of older Lightning releases that a newer one never calls, and what took their place.

Source: Lightning's upgrade guide and changelog, each confirmed by running 2.6.6. A row counts only where the
installed base class lacks the hook.
"""

from __future__ import annotations

_MODULE = {
    "training_epoch_end": "on_train_epoch_end",
    "validation_epoch_end": "on_validation_epoch_end",
    "test_epoch_end": "on_test_epoch_end",
    "training_step_end": "training_step or on_train_batch_end",
    "validation_step_end": "validation_step or on_validation_batch_end",
    "test_step_end": "test_step or on_test_batch_end",
    "tbptt_split_batch": "a loop over chunks under manual optimization",
    "on_epoch_start": "on_train_epoch_start",
    "on_epoch_end": "on_train_epoch_end",
    "on_batch_start": "on_train_batch_start",
    "on_batch_end": "on_train_batch_end",
    "on_pretrain_routine_start": "on_fit_start",
    "on_pretrain_routine_end": "on_fit_start",
    "on_train_dataloader": "train_dataloader",
    "on_val_dataloader": "val_dataloader",
    "on_test_dataloader": "test_dataloader",
    "on_predict_dataloader": "predict_dataloader",
    "on_hpc_save": "on_save_checkpoint",
    "on_hpc_load": "on_load_checkpoint",
    "on_post_move_to_device": "__init__, parameters are tied again by themselves",
    "get_progress_bar_dict": "ProgressBar.get_metrics",
}
_CALLBACK = {
    "on_epoch_start": "on_train_epoch_start",
    "on_epoch_end": "on_train_epoch_end",
    "on_batch_start": "on_train_batch_start",
    "on_batch_end": "on_train_batch_end",
    "on_init_start": "setup",
    "on_init_end": "setup",
    "on_pretrain_routine_start": "on_fit_start",
    "on_pretrain_routine_end": "on_fit_start",
    "on_keyboard_interrupt": "on_exception",
    "on_configure_sharded_model": "setup",
    "on_before_accelerator_backend_setup": "setup",
}
_DATAMODULE = {
    "on_train_dataloader": "train_dataloader",
    "on_val_dataloader": "val_dataloader",
    "on_test_dataloader": "test_dataloader",
    "on_predict_dataloader": "predict_dataloader",
    "on_save_checkpoint": "state_dict",
    "on_load_checkpoint": "load_state_dict",
}

REMOVED: dict[str, dict[str, str]] = {
    "LightningModule": _MODULE,
    "Callback": _CALLBACK,
    "LightningDataModule": _DATAMODULE,
}
GONE_PARAMETERS = frozenset({"hiddens", "optimizer_idx", "opt_idx", "on_tpu", "using_native_amp", "using_lbfgs"})
STEPS = frozenset({"training_step", "validation_step", "test_step", "predict_step"})


def is_hook(name: str) -> bool:
    """Whether a method is one that Lightning calls, by the look of its name."""
    known = name in STEPS or name in {"setup", "teardown", "backward", "transfer_batch_to_device"}
    return known or name.startswith(("on_", "configure_", "optimizer_", "lr_scheduler_"))
