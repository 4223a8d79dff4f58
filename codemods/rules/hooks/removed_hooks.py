"""The hooks that Lightning stopped to call, since when, and which of those that it calls takes their place."""

from __future__ import annotations

from dataclasses import dataclass

from codemods.code.scopes import ROOT
from codemods.finding import Fix
from codemods.lightning.facts import CALLBACK, MODULE

DATA = f"{ROOT}.LightningDataModule"


@dataclass(frozen=True)
class RemovedHook:
    """A hook that is not called since `since`.

    `new` is the hook that takes its place, empty where there is none; `takes` the parameters of the old one and
    `adds` those that the new one gets besides. `level` is that of the rename, `reason` why, or the advice where
    there is no new hook. A callback's is safe where nothing of the project tells the two points apart
    (`same`), a module's where it `trains` and is never evaluated. `only` wraps the body
    in `if only:`; `needs` is the first release that calls the new hook, or the old one no more where a step calls it
    itself, where that is not the rule's.
    """

    kinds: tuple[str, ...]
    since: str
    row: str
    reason: str
    new: str = ""
    takes: int = 0
    adds: tuple[str, ...] = ()
    level: Fix = "safe"
    only: str = ""
    needs: str | None = None
    same: bool = False
    trains: bool = False


BOTH = (MODULE, CALLBACK)
_ROUTINE = (
    "on_fit_start is called before the sanity check too, but also before a checkpoint's training state is restored."
)
_STAGES = "It ran at the start or end of training, validation and test epochs alike, before 1.2 of training alone"
_BATCHES = (
    "It ran for training batches alone, but not at the same moment as the hook that takes its place: what others do "
    "there, and the count of the batch, may lie between"
)
_ENDS = "Call it from {0}, or move its code there"
_LOADER = "Do it in {0}(), or in setup()"
HOOKS: dict[str, RemovedHook] = {
    "on_pretrain_routine_start": RemovedHook(BOTH, "1.8", "M101", _ROUTINE, "on_fit_start", level="unsafe", same=True),
    "on_pretrain_routine_end": RemovedHook(BOTH, "1.8", "M101", _ROUTINE, "on_fit_start", level="unsafe"),
    "on_epoch_start": RemovedHook(
        BOTH,
        "1.8",
        "M100",
        f"{_STAGES}; fixer assumes that training is meant.",
        "on_train_epoch_start",
        level="unsafe",
        trains=True,
    ),
    "on_epoch_end": RemovedHook(
        BOTH,
        "1.8",
        "M100",
        f"{_STAGES}; fixer assumes that training is meant.",
        "on_train_epoch_end",
        level="unsafe",
        trains=True,
    ),
    "on_batch_start": RemovedHook(
        BOTH,
        "1.8",
        "M098",
        f"{_BATCHES}.",
        "on_train_batch_start",
        adds=("batch", "batch_idx"),
        level="unsafe",
    ),
    "on_batch_end": RemovedHook(
        BOTH,
        "1.8",
        "M099",
        f"{_BATCHES}.",
        "on_train_batch_end",
        adds=("outputs", "batch", "batch_idx"),
        level="unsafe",
    ),
    "on_keyboard_interrupt": RemovedHook(
        (CALLBACK,),
        "1.7",
        "M059",
        "on_exception is called for every exception, an interrupt among them.",
        "on_exception",
        adds=("exception",),
        only="isinstance(exception, KeyboardInterrupt)",
    ),
    "on_before_accelerator_backend_setup": RemovedHook(
        (CALLBACK,),
        "1.8",
        "M097",
        "setup is called later, when the processes have met.",
        "setup",
        adds=("stage",),
        level="unsafe",
    ),
    "on_hpc_save": RemovedHook(
        (MODULE,),
        "1.8",
        "M087",
        "on_save_checkpoint is called for these checkpoints, and for all others.",
        "on_save_checkpoint",
        1,
        level="unsafe",
    ),
    "on_hpc_load": RemovedHook(
        (MODULE,),
        "1.8",
        "M086",
        "on_load_checkpoint is called for these checkpoints, and for all others.",
        "on_load_checkpoint",
        1,
        level="unsafe",
    ),
    "on_init_start": RemovedHook(
        (CALLBACK,), "1.8", "M102", "The Trainer is being built then: do it before you build it"
    ),
    "on_init_end": RemovedHook(
        (CALLBACK,),
        "1.8",
        "M103",
        "setup is called later: not where the Trainer is built, but where each fit, test or prediction begins.",
        "setup",
        -1,
        adds=("pl_module", "stage"),
        level="unsafe",
    ),
    "on_configure_sharded_model": RemovedHook(
        (CALLBACK,), "1.8", "M096", "Do it in setup(self, trainer, pl_module, stage)"
    ),
    "on_train_dataloader": RemovedHook(BOTH, "1.7", "M055", _LOADER.format("train_dataloader")),
    "on_val_dataloader": RemovedHook(BOTH, "1.7", "M056", _LOADER.format("val_dataloader")),
    "on_test_dataloader": RemovedHook(BOTH, "1.7", "M057", _LOADER.format("test_dataloader")),
    "on_predict_dataloader": RemovedHook(BOTH, "1.7", "M058", _LOADER.format("predict_dataloader")),
    "on_post_move_to_device": RemovedHook(
        (MODULE,), "1.7", "M068", "Parameters stay tied by themselves: delete it if that is all it does"
    ),
    "get_progress_bar_dict": RemovedHook(
        (MODULE,), "1.7", "M067", "Override get_metrics of a progress bar, and give that to the Trainer as a callback"
    ),
    "get_tqdm_dict": RemovedHook(
        (MODULE,), "1.0", "", "Override get_metrics of a progress bar, and give that to the Trainer as a callback"
    ),
    "log_grad_norm": RemovedHook(
        (MODULE,), "2.0", "M184", "Log what grad_norm(self, norm_type=...) gives in on_before_optimizer_step"
    ),
    "grad_norm": RemovedHook(
        (MODULE,), "1.5", "M184", "Log what it gives for the module's norms in on_before_optimizer_step"
    ),
    "on_pre_performance_check": RemovedHook((MODULE,), "1.0", "", "Do it in on_validation_start, or in on_test_start"),
    "on_post_performance_check": RemovedHook((MODULE,), "1.0", "", "Do it in on_validation_end, or in on_test_end"),
    "configure_ddp": RemovedHook((MODULE,), "0.10", "", "Give the Trainer your own DDPStrategy as strategy="),
    "init_ddp_connection": RemovedHook(
        (MODULE,), "0.10", "", "Give the Trainer your own ClusterEnvironment in plugins="
    ),
    "configure_sync_batchnorm": RemovedHook((MODULE,), "0.10", "", "Give the Trainer your own LayerSync in plugins="),
    "configure_apex": RemovedHook(
        (MODULE,), "0.10", "", 'Apex was removed in 2.0: precision="16-mixed" is torch\'s own'
    ),
    "amp_scale_loss": RemovedHook((MODULE,), "1.0", "", "Give the Trainer your own precision plugin in plugins="),
    "on_sanity_check_start": RemovedHook(
        (MODULE,), "0.9", "", "Do it in the hook of a callback, which has that name too"
    ),
    "training_step_end": RemovedHook((MODULE,), "2.0", "M233", _ENDS.format("training_step"), needs="2.0.0"),
    "validation_step_end": RemovedHook((MODULE,), "2.0", "M234", _ENDS.format("validation_step"), needs="2.0.0"),
    "test_step_end": RemovedHook((MODULE,), "2.0", "M235", _ENDS.format("test_step"), needs="2.0.0"),
    "training_end": RemovedHook((MODULE,), "1.0", "", "Move its code into training_step"),
    "validation_end": RemovedHook(
        (MODULE,), "1.0", "", "The class also defines the hook that replaced it: move its code there"
    ),
    "test_end": RemovedHook(
        (MODULE,), "1.0", "", "The class also defines the hook that replaced it: move its code there"
    ),
    "tng_dataloader": RemovedHook((MODULE,), "1.0", "", "It has that name since 0.5.", "train_dataloader"),
    "configure_sharded_model": RemovedHook(
        (MODULE,),
        "2.1",
        "G18004",
        "configure_model is called at the same point, and may be called again, on what it has made.",
        "configure_model",
        level="unsafe",
        needs="2.1.0",
    ),
}
DATA_HOOKS = {
    "on_save_checkpoint": RemovedHook((DATA,), "1.8", "M084", "Return what has to be saved from state_dict(self)"),
    "on_load_checkpoint": RemovedHook((DATA,), "1.8", "M085", "Restore it in load_state_dict(self, state_dict)"),
}
