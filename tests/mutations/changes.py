"""What is done to the results of the rules: each change makes one mistake that a codemod could make."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codemods.engine.plan import Plan
from tests.codemods.support import run_rules

BASELINE = "1.9.5"
OLD_METRICS = "1.9.5 with torchmetrics 0.10.3"
HERE = Path(__file__).parent / "projects"
SHARED = Path(__file__).parents[1] / "projects"
PINS = {"requirements.txt": "pytorch-lightning==1.9.5\ntorch\n"}


@dataclass(frozen=True)
class Change:
    """A mistake: `new` in the place of each `old` in one file. `unseen` says why no run can tell."""

    name: str
    old: str
    new: str
    path: str = "train.py"
    unseen: str = ""

    def applied(self, files: Mapping[str, str]) -> dict[str, str]:
        """The files with the mistake. Raises ValueError where its place is not there."""
        text = files[self.path]
        if self.old not in text:
            raise ValueError(f"{self.name}: {self.old!r} is not in {self.path}")
        return {**files, self.path: text.replace(self.old, self.new)}


@dataclass(frozen=True)
class Project:
    """A program, the family of rules that rewrite it, and mistakes in what they make of it.

    `baseline` is what the tree before runs on: a release of Lightning, which may be with one of torchmetrics.
    """

    family: str
    name: str
    changes: tuple[Change, ...]
    baseline: str = BASELINE

    def before(self) -> dict[str, str]:
        """The program's files."""
        if (HERE / f"{self.name}.py").exists():
            return {**PINS, "train.py": (HERE / f"{self.name}.py").read_text(encoding="utf-8")}
        pins, folder = (PINS, HERE / self.name) if (HERE / self.name).is_dir() else ({}, SHARED / self.name)
        found = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".pyc"]
        return {**pins, **{path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found}}

    def after(self) -> dict[str, str]:
        """What the rules make of them."""
        final = self.planned().final()
        return {path: final[path].decode() if path in final else text for path, text in self.before().items()}

    @functools.cache  # noqa: B019 - a table of projects, which live as long as the tests
    def planned(self) -> Plan:
        """The plan of all rules over them, which must not have been thrown away."""
        made = run_rules(self.before())
        assert made.bugs == ()
        return made


STEP = "            optimizer.step()\n"
LOSS = 'self.manual_backward(output["loss"])'
CUT = 'hiddens = apply_to_collection(output["hiddens"], torch.Tensor, torch.Tensor.detach)'
OUTPUTS = "outputs, self.validation_step_outputs = self.validation_step_outputs, []"

PROJECTS = (
    Project("TBP", "lstm_clipped_and_scheduled", (
        Change("no step", STEP, ""),
        Change("a step for the last chunk alone", STEP,
               "            if chunk[0] is pieces[0][-1]:\n                optimizer.step()\n"),
        Change("no zero_grad", "            optimizer.zero_grad()\n", ""),
        Change("zero_grad between backward and step", STEP, "            optimizer.zero_grad()\n" + STEP),
        Change("state not detached", CUT, 'hiddens = output["hiddens"]'),
        Change("state begun anew for each chunk", CUT, "hiddens = None"),
        Change("only the hidden state carried on, not the cell's", CUT,
               'hiddens = (output["hiddens"][0].detach(), 0 * output["hiddens"][1].detach())'),
        Change("scheduler not stepped", "        self.lr_schedulers().step()\n", ""),
        Change("scheduler stepped for each chunk", "        self.lr_schedulers().step()\n",
               "            self.lr_schedulers().step()\n"),
        Change("scheduler stepped with the epoch", "        self.lr_schedulers().step()\n",
               "        if self.trainer.is_last_batch:\n            self.lr_schedulers().step()\n"),
        Change("no clipping", "        self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)\n",
               "        pass\n"),
        Change("clipped at ten times the value", "    gradient_clip_val = 0.1\n", "    gradient_clip_val = 1.0\n"),
        Change("clipped by value, not by norm", "gradient_clip_val=self.gradient_clip_val)",
               'gradient_clip_val=self.gradient_clip_val, gradient_clip_algorithm="value")'),
        Change("clipping left to the Trainer too", "pl.Trainer(max_epochs=2)",
               "pl.Trainer(max_epochs=2, gradient_clip_val=0.1)"),
        Change("chunks one longer", "self.truncated_bptt_steps = 3", "self.truncated_bptt_steps = 4"),
        Change("the number of chunks taken for their length", "part.split(self.truncated_bptt_steps, dim=1)",
               "part.tensor_split(self.truncated_bptt_steps, dim=1)"),
        Change("split along the batch", "part.split(self.truncated_bptt_steps, dim=1)",
               "part.split(self.truncated_bptt_steps, dim=0)"),
        Change("last chunk dropped", "in zip(*pieces, strict=True)", "in list(zip(*pieces, strict=True))[:-1]"),
        Change("chunks in reverse", "in zip(*pieces, strict=True)", "in list(zip(*pieces, strict=True))[::-1]"),
        Change("other sign of the loss", LOSS, 'self.manual_backward(-output["loss"])'),
        Change("loss divided by the number of chunks", LOSS, 'self.manual_backward(output["loss"] / len(pieces[0]))'),
        Change("loss detached", LOSS, 'self.manual_backward(output["loss"].detach())'),
        Change("manual flag not set", "        self.automatic_optimization = False\n", ""),
        Change("the whole batch as one more chunk", "        self.lr_schedulers().step()\n",
               "        self.training_chunk(batch, batch_idx, None)\n        self.lr_schedulers().step()\n"),
    )),
    Project("TBP", "nested_state", (
        Change("no step", STEP, ""),
        Change("a part of the state begun anew", CUT, f'{CUT}\n            hiddens = None if batch_idx else hiddens'),
        Change("clipped before the owner's hook looks", "        self.norms.append(",
               "        self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)\n"
               "        self.norms.append("),
        Change("epochs halved", "max_epochs=2", "max_epochs=1"),
    )),
    Project("TBP loops", "undetached", (
        Change("other sign of the loss", "self.manual_backward(loss)", "self.manual_backward(-loss)"),
        Change("no step", STEP, ""),
        Change("chunks one longer", ".split(2, dim=1)", ".split(3, dim=1)"),
        Change("the state still has its history", "hiddens.detach()", "hiddens"),
    )),
    Project("OPT", "gan_scheduled", (
        Change("no step", STEP, ""),
        Change("no zero_grad", "            optimizer.zero_grad()\n", ""),
        Change("optimizers not toggled", "            self.toggle_optimizer(optimizer)\n", ""),
        Change("optimizers not untoggled", "            self.untoggle_optimizer(optimizer)\n", ""),
        Change("optimizers in the other order", "enumerate(self.optimizers())",
               "reversed(list(enumerate(self.optimizers())))"),
        Change("the first optimizer stepped for both", STEP, "            self.optimizers()[0].step()\n"),
        Change("only the first optimizer", "enumerate(self.optimizers())", "enumerate(self.optimizers()[:1])"),
        Change("frequency of a scheduler off by one", "(batch_idx + 1) % 2 == 0", "(batch_idx + 1) % 3 == 0"),
        Change("scheduler of steps a batch early", "(batch_idx + 1) % 2 == 0", "batch_idx % 2 == 0"),
        Change("scheduler of epochs stepped with every batch", "if self.trainer.is_last_batch:", "if True:"),
        Change("schedulers swapped", "            schedulers[0].step()", "            schedulers[1].step()"),
        Change("other sign of the loss", "self.manual_backward(loss)", "self.manual_backward(-loss)"),
        Change("both losses, one step", "            optimizer.step()\n",
               "            if optimizer_idx:\n                optimizer.step()\n"),
        Change("noise drawn once more", "        schedulers = self.lr_schedulers()\n",
               "        torch.randn(1)\n        schedulers = self.lr_schedulers()\n"),
    )),
    Project("OPT", "gan_accumulated", (
        Change("divisor dropped", "loss / self.accumulate_grad_batches", "loss"),
        Change("divided twice", "loss / self.accumulate_grad_batches", "loss / self.accumulate_grad_batches ** 2"),
        Change("last window without a step", " or self.trainer.is_last_batch", ""),
        Change("window off by one", "(batch_idx + 1) % self.acc", "batch_idx % self.acc"),
        Change("zero_grad for each batch", "                if batch_idx % self.accumulate_grad_batches == 0:\n",
               "                if True:\n"),
        Change("another window", "accumulate_grad_batches = 2", "accumulate_grad_batches = 3"),
        Change("gradients not synchronised at the step", "sync_grad=stepping", "sync_grad=not stepping",
               unseen="it matters between devices alone: one device does the same"),
    )),
    Project("OPT", "gan_own_clipping", (
        Change("own clipping not called", "        self.configure_gradient_clipping(optimizer, ",
               "        dict("),
        Change("the other optimizer clipped", "if optimizer_idx == 1:\n            self.clip",
               "if optimizer_idx == 0:\n            self.clip"),
        Change("clipped by norm, not by value", 'gradient_clip_algorithm="value")', 'gradient_clip_algorithm="norm")'),
    )),
    Project("OPT", "gan_plateau", (
        Change("plateau not told", '        self.lr_schedulers()[0].step(self.trainer.callback_metrics["val_loss"])',
               "        pass"),
        Change("plateau told another metric", 'callback_metrics["val_loss"]', 'callback_metrics["val_loss"] * -1'),
    )),
    Project("OPT", "three_optimizers_toggled", (
        Change("optimizers not toggled", "            self.toggle_optimizer(optimizer)\n", ""),
        Change("only two of three", "optimizers if isinstance(", "optimizers[:2] if isinstance("),
    )),
    Project("OPT", "gan_frequency", (
        Change("turns off by one", "[0] * 2 + [1] * 1", "[0] * 1 + [1] * 1"),
        Change("turns in the other order", "[0] * 2 + [1] * 1", "[1] * 1 + [0] * 2"),
        Change("every turn is the first optimizer's", "turns[batch_idx % len(turns)]", "0"),
    )),
    Project("BWD", "raw_backward", (
        Change("other sign of the loss", "self.manual_backward(loss)", "self.manual_backward(-loss)"),
        Change("no backward", "        self.manual_backward(loss)\n", ""),
        Change("backward twice", "        self.manual_backward(loss)\n",
               "        self.manual_backward(loss, retain_graph=True)\n        self.manual_backward(loss)\n"),
        Change("backward behind the step", "        self.manual_backward(loss)\n        torch.nn.utils.clip_grad_norm_("
               "self.parameters(), 0.1)\n        optimizer.step()\n",
               "        optimizer.step()\n        self.manual_backward(loss)\n"
               "        torch.nn.utils.clip_grad_norm_(self.parameters(), 0.1)\n"),
        Change("half of the loss", "self.manual_backward(loss)", "self.manual_backward(loss / 2)"),
        Change("clipping before backward",
               "        self.manual_backward(loss)\n        torch.nn.utils.clip_grad_norm_(self.parameters(), 0.1)\n",
               "        torch.nn.utils.clip_grad_norm_(self.parameters(), 0.1)\n        self.manual_backward(loss)\n"),
        Change("manual flag turned over", "automatic_optimization = False", "automatic_optimization = True"),
        Change("scheduler with every batch", "def on_train_epoch_end(self)", "def on_train_batch_end(self, *_)"),
    )),
    Project("BWD", "kept_graph", (
        Change("graph kept as before", "self.manual_backward(loss)", "self.manual_backward(loss, retain_graph=True)",
               unseen="the same numbers: a graph that is kept longer costs memory alone"),
        Change("loss divided by the window again", "self.manual_backward(loss)",
               "self.manual_backward(loss / self.window)"),
        Change("a step for every batch", "(batch_idx + 1) % self.window == 0", "True"),
        Change("zero_grad lost", "            optimizer.zero_grad()\n", ""),
        Change("last batch alone steps", "(batch_idx + 1) % self.window == 0", "self.trainer.is_last_batch"),
        Change("gradient halved", "            optimizer.step()\n",
               "            [p.grad.div_(2) for p in self.parameters()]\n            optimizer.step()\n"),
    )),
    Project("AMP", "full_precision_loss", (
        Change("autocast of another device, on", 'torch.amp.autocast("cuda", enabled=False)',
               'torch.amp.autocast("cpu", enabled=True)'),
        Change("a name that the target lacks", "torch.amp.autocast(", "torch.amp.autocasting("),
        Change("the device missing", 'torch.amp.autocast("cuda", ', "torch.amp.autocast("),
        Change("loss outside, of a detached layer", "F.mse_loss(self.layer(x.float()), y.float())",
               "F.mse_loss(self.layer(x.float()).detach(), y.float())"),
        Change("switched on", "enabled=False", "enabled=True",
               unseen="on a machine without a GPU that autocast does nothing"),
    )),
    Project("TBP", "half_chunks", (
        Change("cache not cleared",
               "            torch.clear_autocast_cache()  # the next forward must see the new weights\n", "",
               unseen="the regions of Lightning 2.6.6 itself do not cache, those of others do"),
        Change("half precision for all", 'precision="bf16"', 'precision="bf16-true"'),
        Change("full precision", 'precision="bf16"', "precision=32"),
        Change("chunks one longer", "self.truncated_bptt_steps = 2", "self.truncated_bptt_steps = 3"),
    )),
    Project("BWD", "half_parts", (
        Change("stale weights: cache not cleared", "                torch.clear_autocast_cache()\n", ""),
        Change("stale weights: cache cleared behind the loop", "                torch.clear_autocast_cache()\n",
               "        torch.clear_autocast_cache()\n"),
        Change("loss in half precision", "self.layer(x).float(), y", "self.layer(x), y.bfloat16()"),
        Change("the step never made", "                optimizer.step()\n", ""),
    )),
    Project("AMP", "half_contrast", (
        Change("the forward under no_grad", "self.encoder(2 * x)", "torch.no_grad()(self.encoder)(2 * x)"),
        Change("no target", "        torch.clear_autocast_cache()", "        target = 0 * target"),
        Change("gradients through both", "with torch.no_grad():", "with torch.enable_grad():"),
        Change("full precision", 'precision="bf16"', "precision=32"),
        Change("autocast switched off", "            target = self.encoder(x)",
               '            torch.set_autocast_enabled("cpu", False)\n            target = self.encoder(x)'),
    )),
    Project("STP", "one_cycle", (
        Change("twice the steps", "self.trainer.estimated_stepping_batches",
               "self.trainer.estimated_stepping_batches * 2"),
        Change("one step less", "self.trainer.estimated_stepping_batches",
               "self.trainer.estimated_stepping_batches - 1"),
        Change("the steps of an epoch", "self.trainer.estimated_stepping_batches", "self.trainer.num_training_batches"),
        Change("an attribute that the target lacks", "self.trainer.estimated_stepping_batches",
               "self.trainer.total_stepping_batches"),
        Change("rates with every epoch", '"interval": "step"', '"interval": "epoch"'),
    )),
    Project("STP", "computed_steps", (
        Change("epochs twice as many", "max_epochs=epochs", "max_epochs=2 * epochs"),
        Change("epochs taken for steps", "max_epochs=epochs", "max_steps=epochs"),
        Change("no limit", "max_epochs=epochs, ", ""),
        Change("accumulation forgotten", "max_epochs=epochs, accumulate_grad_batches=accumulate", "max_epochs=epochs"),
        Change("epochs divided by the accumulation", "max_epochs=epochs", "max_epochs=epochs // accumulate"),
        Change("steps not divided by the accumulation", "max_epochs=epochs",
               "max_steps=len(dataset) // batch_size * epochs"),
    )),
    Project("GRD", "cut_loss", (
        Change("other sign of the loss", "return loss", "return -loss"),
        Change("another loss", "return loss", "return 2 * loss"),
        Change("a part cut off", "self.body(x)", "self.body(x).detach()"),
        Change("no loss", "return loss", "return None"),
        Change("still without a history", "return loss", "return loss.detach()"),
        Change("a leaf for a loss", "return loss", "return torch.tensor(loss, requires_grad=True)"),
        Change("parameters missing from the optimizer", "SGD(self.parameters()", "SGD(self.head.parameters()"),
    )),
    Project("GRD", "no_history", (
        Change("other sign of the loss", "return loss", "return -loss"),
        Change("another reduction", "self.body(x))), y)", 'self.body(x))), y, reduction="sum")'),
        Change("the layer still without a history", "torch.tanh(self.body(x))",
               "torch.no_grad()(torch.tanh)(self.body(x))"),
    )),
    Project("LIT hooks", "epoch_outputs", (
        Change("outputs not cleared", "outputs, self.training_step_outputs = self.training_step_outputs, []",
               "outputs = self.training_step_outputs"),
        Change("outputs of the last batch alone", "            self.training_step_outputs.append(outputs)",
               "            self.training_step_outputs = [outputs]"),
        Change("outputs never collected", "            self.validation_step_outputs.append(output)\n", ""),
        Change("another epoch-end metric", "losses.mean()", "losses.sum()"),
        Change("a hook that is never called", "def on_train_epoch_end(self)", "def on_training_epoch_end(self)"),
        Change("the old hook kept", "def on_validation_epoch_end(self)", "def validation_epoch_end(self)"),
        Change("the list made once for both", "        self.validation_step_outputs = []\n",
               "        self.validation_step_outputs = self.training_step_outputs\n"),
    )),
    Project("LIT hooks", "warmed_up", (
        Change("the closure handed nowhere", "optimizer.step(closure=optimizer_closure)", "optimizer.step()"),
        Change("arguments in another order", "batch_idx, optimizer, optimizer_c",
               "optimizer, batch_idx, optimizer_c"),
        Change("the index kept", "optimizer, optimizer_closure", "optimizer, optimizer_idx, optimizer_closure"),
        Change("warmed up by one step more", "global_step + 1)", "global_step + 2)"),
        Change("outputs never cleared", OUTPUTS, "outputs = self.validation_step_outputs"),
        Change("mean over the last alone", "torch.stack(outputs).mean()", "outputs[-1]"),
        Change("metric under another name", '"val_loss"', '"validation_loss"'),
        Change("metric not logged", '        self.log("val_batches", float(self.seen[-1]))\n', ""),
    )),
    Project("LIT trainer", "old_trainer", (
        Change("another number of devices", "devices=2", "devices=1"),
        Change("other precision", 'precision="bf16"', 'precision="bf16-true"'),
        Change("full precision", '        precision="bf16",\n', ""),
        Change("accumulation dropped", "        accumulate_grad_batches=2,\n", ""),
        Change("clipping dropped", "        gradient_clip_val=0.5,\n", ""),
        Change("epochs a tenth", "max_epochs=50", "max_epochs=5"),
        Change("validation every second epoch", "check_val_every_n_epoch=1", "check_val_every_n_epoch=2"),
        Change("no validation loader", ", val_dataloaders=loader", ""),
        Change("an argument that the target lacks", "accelerator=", "accelerators="),
        Change("a loader under its old name", "train_dataloaders=", "train_dataloader="),
        Change("half of the batches", "max_epochs=50,", "max_epochs=50, limit_train_batches=2,"),
    )),
    Project("LIT names", "old_names", (
        Change("from a module that the target lacks", "from pytorch_lightning import seed_everything",
               "from pytorch_lightning.utilities.seeds import seed_everything"),
        Change("a name that the target lacks", "from pytorch_lightning.utilities.rank_zero import rank_zero_only",
               "from pytorch_lightning.utilities.rank_zero import rank_zero"),
        Change("another name under the old one", "from pytorch_lightning.utilities.rank_zero import rank_zero_only",
               "from pytorch_lightning.utilities.rank_zero import rank_zero_info as rank_zero_only"),
        Change("the callback lost", "callbacks=[Counter()]", "callbacks=[]"),
        Change("a seed lost", "    seed_everything(7)\n", ""),
    )),
    Project("PIN", "gan_frequency", (
        Change("an old release", "==2.6.6", "==1.8.6", "requirements.txt"),
        Change("a later generation", "==2.6.6", ">=3", "requirements.txt"),
        Change("a release that is not there", "==2.6.6", "==2.6.99", "requirements.txt"),
        Change("below the target", "==2.6.6", "<2.6", "requirements.txt"),
        Change("another minor release", "==2.6.6", "~=2.5.0", "requirements.txt"),
    )),
    Project("OPT", "needless_index", (
        Change("the index kept", "batch, batch_idx)", "batch, batch_idx, optimizer_idx)"),
        Change("no loss", "return loss", "return None"),
    )),
    Project("BWD", "two_passes", (
        Change("one of the passes lost", "self.manual_backward(fit + penalty)", "self.manual_backward(fit)"),
        Change("the difference of the losses", "fit + penalty", "fit - penalty"),
        Change("the mean of the losses", "fit + penalty", "(fit + penalty) / 2"),
        Change("both passes, the graph let go", "        self.manual_backward(fit + penalty)\n",
               "        self.manual_backward(fit)\n        self.manual_backward(penalty)\n"),
        Change("the sum twice", "        self.manual_backward(fit + penalty)\n",
               "        self.manual_backward(fit + penalty, retain_graph=True)\n"
               "        self.manual_backward(fit + penalty)\n"),
    )),
    Project("BWD", "raw_and_let_go", ()),
    Project("AMP", "half_elsewhere", ()),
    Project("STP", "no_limit", (
        Change("no limit as before", "max_steps=-1", "max_steps=None"),
        Change("no steps", "max_steps=-1", "max_steps=0"),
    )),
    Project("GRD", "loaded_for_evaluation", (
        Change("left in evaluation mode", "        self.body.train()\n", ""),
        Change("put into evaluation mode", "self.body.train()", "self.body.eval()"),
        Change("frozen", "self.body.train()", "self.body.requires_grad_(False)"),
    )),
    Project("LIT modules", "own_hparams", (
        Change("set as before", "self.save_hyperparameters(hparams)", "self.hparams = hparams"),
        Change("not kept", "        self.save_hyperparameters(hparams)\n", ""),
    )),
    Project("LIT trainer", "older_trainer", (
        Change("an argument as before", "enable_progress_bar=False", "progress_bar_refresh_rate=0"),
    )),
    Project("LIT names", "older_names", (
        Change("from where it was", "utilities.rank_zero", "utilities.distributed"),
    )),
    Project("LIT configs", "configured_trainer", (
        Change("another number of epochs", "max_epochs: 2", "max_epochs: 20", "config.yaml"),
        Change("the clipping lost", "  gradient_clip_val: 0.5\n", "", "config.yaml"),
        Change("an argument that the target lacks", "accelerator:", "accelerators:", "config.yaml"),
        Change("an argument as before", "accelerator: cpu", "gpus: 0", "config.yaml"),
        Change("below another key", "trainer:", "training:", "config.yaml"),
    )),
    Project("LIT configs", "configured_older", (
        Change("an argument as before", "enable_progress_bar: false", "progress_bar_refresh_rate: 0", "config.yaml"),
    )),
    Project("MET", "accuracy_of_classes", (
        Change("the task untold", 'task="multiclass", ', ""),
    )),
    Project("MET", "accuracy_of_classes", (
        Change("another average", 'task="multiclass", ', 'task="multiclass", average="macro", '),
        Change("the best two", 'task="multiclass", ', 'task="multiclass", top_k=2, '),
        Change("another task", 'task="multiclass", num_classes', 'task="binary", num_classes'),
        Change("one class less", "num_classes=num_classes)\n\n", "num_classes=num_classes - 1)\n\n"),
        Change("the task untold", 'task="multiclass", ', ""),
        Change("a task that there is not", '"multiclass"', '"classes"'),
    ), OLD_METRICS),
    Project("COM", "numpy_names", (
        Change("a sum for a product", "np.prod(", "np.sum("),
        Change("whole numbers for others", "float(0.5)", "int(0.5)"),
        Change("a name that NumPy lacks", "np.prod(", "np.products("),
    )),
    Project("COM", "loud_scheduler", (
        Change("told to print as before", "(optimizer, 1)", "(optimizer, 1, verbose=True)"),
    )),
    Project("IGN", "ignored", (
        Change("the line gone with the comment", '        self.log("epochs", float(self.current_epoch))\n',
               "        pass\n"),
        Change("the hook gone with the comment", "        return loss\n", "        pass\n"),
        Change("half of the line gone", "float(self.current_epoch))", "float("),
    )),
    Project("IGN", "ignored_elsewhere", ()),
    Project("PIN", "older_trainer", (
        Change("the pin as it was", "==2.6.6", "==1.9.5", "requirements.txt"),
    )),
    Project("TBP", "chunks_flag_of_the_trainer", (
        Change("the flag left to the Trainer", "Trainer(max_epochs=2", "Trainer(max_epochs=2, truncated_bptt_steps=3"),
    )),
    Project("TBP loops", "one_chunk", (
        Change("what comes out cut off too", "self.head(out)", "self.head(out.detach())"),
    )),
    Project("BWD", "stepped_weights", (
        Change("the critic cut off too", "self.critic(fake.detach())", "self.critic(fake.detach()).detach()"),
        Change("the graph as before", "fake.detach()", "fake"),
    )),
    Project("LIT hooks", "batch_moved", (
        Change("the old arguments", "device, dataloader_idx=0", "device"),
    )),
    Project("LIT modules", "asked_for_precision", (
        Change("asked of the module as before", 'self.trainer.precision == "32-true"', "self.precision == 32"),
        Change("compared with a number", '"32-true"', "32"),
        Change("another precision", '"32-true"', '"16-mixed"'),
    )),
    Project("LIT keywords", "older_keyword", (
        Change("the keyword as before", "reduce_fx=", "sync_dist_op="),
        Change("other sign of the loss", "return loss", "return -loss"),
        Change("no loss", "return loss", "return None"),
    )),
    Project("LIT variables", "not_read_ahead", (
        Change("the line behind gone too", 'RATE = float(os.environ.get("RATE_OF_THE_TEST", "0.1"))\n', ""),
        Change("the import gone too", "import os\n\n", ""),
        Change("the value of another variable lost", 'float(os.environ.get("RATE_OF_THE_TEST", "0.1"))', "1.0"),
    )),
    Project("LIT variables", "read_ahead", (
        Change("the import gone too", "import os\n\n", ""),
    )),
    Project("LIT extensions", "own_bar", (
        Change("one place as before", "return self.train_progress_bar", "return self.main_progress_bar"),
        Change("another bar", "return self.train_progress_bar", "return self.val_progress_bar"),
        Change("counted twice", "n += 1", "n += 2"),
    )),
    Project("LIT extensions", "own_plugin", (
        Change("the name as before", "self.main_params", "self.master_params"),
    )),
    Project("PIN", "data_elsewhere", ()),
)  # fmt: skip
