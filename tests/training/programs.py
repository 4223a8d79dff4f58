"""Programs for Lightning 1.9, written from a description: what the test of old against new draws from."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

WIDTH = 4


@dataclass(frozen=True)
class Scheduler:
    """A learning rate scheduler: `kind` is step, exponential or plateau."""

    kind: str = "step"
    interval: str | None = None
    frequency: int = 1

    def text(self, optimizer: str) -> str:
        """The scheduler as an expression."""
        made = {"step": "StepLR(%s, 2, 0.5)", "exponential": "ExponentialLR(%s, 0.9)", "plateau": PLATEAU}[self.kind]
        return "torch.optim.lr_scheduler." + made % optimizer

    def entry(self, optimizer: str, monitor: str) -> str:
        """The scheduler as `configure_optimizers` returns it."""
        given = [f'"scheduler": {self.text(optimizer)}']
        given += [f'"interval": "{self.interval}"'] if self.interval else []
        given += [f'"frequency": {self.frequency}'] if self.frequency > 1 else []
        given += [f'"monitor": "{monitor}"'] if self.kind == "plateau" else []
        return dict_of(given) if len(given) > 1 else self.text(optimizer)


def dict_of(entries: list[str]) -> str:
    """The text of a dict with these entries."""
    return "{" + ", ".join(entries) + "}"


PLATEAU = "ReduceLROnPlateau(%s, patience=0, threshold=0.5)"


@dataclass(frozen=True)
class Part:
    """A part of the model with an optimizer of its own; `frequency` is that of the optimizer, 0 for none."""

    optimizer: str = "SGD"
    scheduler: Scheduler | None = None
    frequency: int = 0


@dataclass(frozen=True)
class Program:
    """What a program is like; the first value of each field is the plainest.

    `state` is what goes from chunk to chunk (None without truncated back-propagation, tensor, tuple, nested),
    `split` who cuts a batch of them (default, or an own `tbptt_split_batch`: even, short first; dicts have one always),
    `branches` how `training_step` tells optimizers apart, `returned` what `configure_optimizers` returns, `limit` a
    further argument of the Trainer, `style` how the class is written (typed, or over a base class of the project).
    """

    parts: tuple[Part, ...] = (Part(),)
    returned: str = "single"
    branches: str = "elif"
    state: str | None = None
    state_name: str = "hiddens"
    chunk: int = 2
    length: int = 5
    batch: str = "tuple"
    split: str = "default"
    flag: str = "init"
    clip: str | None = None
    own_clipping: bool = False
    accumulate: int = 1
    logging: str = "plain"
    result: str = "tensor"
    skip: bool = False
    validation: bool = False
    hook: str | None = None
    dropout: bool = False
    batches: int = 3
    epochs: int = 2
    trainer: str = "function"
    limit: str | None = None
    imports: str = "names"
    style: str = "plain"
    groups: bool = False

    def files(self) -> dict[str, str]:
        """The program's files; `train.py` is the one to run."""
        pins = {"requirements.txt": "pytorch-lightning==1.9.5\ntorch\n"}
        if self.trainer == "other file":
            header = f"{self._imports()}\nfrom model import Model\n"
            model = f"{self._imports()}\n{self._model()}"
            return {**pins, "model.py": model, "train.py": f"{header}\n{self._training()}"}
        return {**pins, "train.py": f"{self._imports()}\n{self._model()}\n{self._training()}"}

    @property
    def several(self) -> bool:
        """Whether `training_step` gets the index of an optimizer."""
        return len(self.parts) > 1

    def _name(self, name: str) -> str:
        return f"pl.{name}" if self.imports == "pl" else name

    def _imports(self) -> str:
        names = "import pytorch_lightning as pl" if self.imports == "pl" else (
            "from pytorch_lightning import LightningModule, Trainer"
        )  # fmt: skip
        return f"import torch\nimport torch.nn.functional as F\n{names}\n"

    def _model(self) -> str:
        methods = [
            self._init(),
            self._own_split(),
            self._forward(),
            self._training_step(),
            *self._losses(),
            self._validation(),
            self._clipping(),
            self._hook(),
            self._optimizers(),
        ]
        flag = f"truncated_bptt_steps = {self.chunk}" if self.state and self.flag == "class" else ""
        body = textwrap.indent("\n\n".join(method for method in (flag, *methods) if method), "    ")
        base = self._name("LightningModule")
        if self.style == "base":
            return f"\nclass Base({base}):\n    pass\n\n\nclass Model(Base):\n{body}\n"
        return f"\nclass Model({base}):\n{body}\n"

    def _init(self) -> str:
        lines = ["def __init__(self):", "    super().__init__()"]
        if self.state and self.flag == "init":
            lines.append(f"    self.truncated_bptt_steps = {self.chunk}")
        lines += {
            None: [f"    self.body = torch.nn.Linear(2, {WIDTH})"],
            "tensor": [f"    self.body = torch.nn.GRU(2, {WIDTH}, batch_first=True)"],
            "tuple": [f"    self.body = torch.nn.LSTM(2, {WIDTH}, batch_first=True)"],
            "nested": [
                f"    self.lower = torch.nn.GRU(2, {WIDTH}, batch_first=True)",
                f"    self.body = torch.nn.LSTM({WIDTH}, {WIDTH}, batch_first=True)",
            ],
        }[self.state]
        lines += [f"    self.part{index} = torch.nn.Linear({WIDTH}, 1)" for index in range(len(self.parts))]
        lines += ["    self.drop = torch.nn.Dropout(0.3)"] if self.dropout else []
        return "\n".join(lines)

    def _forward(self) -> str:
        dropped = "self.drop(%s)" if self.dropout else "%s"
        if not self.state:
            return f"def forward(self, x):\n    return {dropped % 'torch.tanh(self.body(x))'}"
        if self.state != "nested":
            lines = ["def forward(self, x, state):", "    out, state = self.body(x, state)"]
            return "\n".join([*lines, f"    return {dropped % 'out'}, state"])
        return "\n".join([
            "def forward(self, x, state):",
            "    first, second = state if state is not None else (None, None)",
            "    out, first = self.lower(x, first)",
            "    out, second = self.body(out, second)",
            f"    return {dropped % 'out'}, (first, second)",
        ])  # fmt: skip

    def _own_split(self) -> str:
        if not self.state or (self.split == "default" and self.batch != "dict"):
            return ""
        cut = ["x[:, start:stop]", "y[:, start:stop]"]
        chunk = f"{{'x': {cut[0]}, 'y': {cut[1]}}}" if self.batch == "dict" else f"({', '.join(cut)})"
        first = "1" if self.split == "short first" else "split_size"
        return "\n".join([
            "def tbptt_split_batch(self, batch, split_size):",
            f"    {self._unpacked()}",
            f"    stops = [*range({first}, x.shape[1], split_size), x.shape[1]]",
            "    chunks = []",
            "    for start, stop in zip([0, *stops], stops):",
            f"        chunks.append({chunk})",
            "    return chunks",
        ])  # fmt: skip

    def _unpacked(self) -> str:
        return "x, y = batch['x'], batch['y']" if self.batch == "dict" else "x, y = batch"

    def _training_step(self) -> str:
        typed = self.style == "typed"
        names = (
            ["self", "batch: tuple[torch.Tensor, torch.Tensor]", "i: int"] if typed else ["self", "batch", "batch_idx"]
        )
        if self.several:
            names.append("optimizer_idx=None" if self.branches == "default" and not self.state else "optimizer_idx")
        names += [self.state_name] if self.state else []
        body = [self._unpacked()]
        body = ['"""Train one batch."""', "", *body] if typed else body
        body += [f"if {'i' if typed else 'batch_idx'} == 1:", "    return None"] if self.skip else []
        body += self._branches() if self.several else [*self._features(), *self._loss(0), *self._end(0)]
        return f"def training_step({', '.join(names)}):\n" + textwrap.indent("\n".join(body), "    ")

    def _features(self) -> list[str]:
        return [f"out, {self.state_name} = self(x, {self.state_name})" if self.state else "out = self(x)"]

    def _branches(self) -> list[str]:
        if self.branches == "handed":
            result = f"loss, {self.state_name}" if self.state else "loss"
            given = f"x, y, {self.state_name}" if self.state else "x, y"
            return [f"{result} = self.loss_of({given}, optimizer_idx)", *self._end(0, "train_loss")]
        lines: list[str] = []
        shared = self.branches == "shared"
        lines += self._features() if shared else []
        for index in range(len(self.parts)):
            word = "if" if index == 0 or self.branches == "return" else "elif"
            test = f"optimizer_idx in [{index}]" if self.branches == "in" else f"optimizer_idx == {index}"
            last = index == len(self.parts) - 1
            lines.append("else:" if last and self.branches == "else" else f"{word} {test}:")
            branch = [*([] if shared else self._features()), *self._loss(index)]
            branch += [] if self.branches == "end" else self._end(index)
            lines += [f"    {line}" for line in branch]
        return lines + (self._end(0, "train_loss") if self.branches == "end" else [])

    def _loss(self, index: int) -> list[str]:
        other = (index + 1) % len(self.parts)
        more = f" + 0.1 * self.part{other}(out).pow(2).mean()" if self.several else ""
        return [f"loss = F.mse_loss(self.part{index}(out), y){more}"]

    def _end(self, index: int, name: str = "") -> list[str]:
        name = name or (f"loss{index}" if self.several else "train_loss")
        lines = {
            "none": [],
            "plain": [f'self.log("{name}", loss)'],
            "epoch": [f'self.log("{name}", loss, on_step=True, on_epoch=True, prog_bar=True)'],
            "dict": [f'self.log_dict({{"{name}": loss, "{name}_twice": 2 * loss.detach()}})'],
        }[self.logging]
        if self.state:
            return [*lines, f'return {{"loss": loss, "hiddens": {self.state_name}}}']
        return [*lines, "return loss" if self.result == "tensor" else 'return {"loss": loss, "size": len(x)}']

    def _losses(self) -> list[str]:
        if not self.several or self.branches != "handed":
            return []
        given, result = ("x, y, state", "loss, state") if self.state else ("x, y", "loss")
        lines = [f"def loss_of(self, {given}, optimizer_idx):"]
        lines.append("    out, state = self(x, state)" if self.state else "    out = self(x)")
        for index in range(len(self.parts)):
            lines += [
                f"    {'if' if index == 0 else 'elif'} optimizer_idx == {index}:",
                f"        {self._loss(index)[0]}",
            ]
        return ["\n".join([*lines, f"    return {result}"])]

    def _validation(self) -> str:
        if not self.validation:
            return ""
        out = "self(x, None)[0]" if self.state else "self(x)"
        return "\n".join([
            "def validation_step(self, batch, batch_idx):",
            f"    {self._unpacked()}",
            f'    self.log("val_loss", F.mse_loss(self.part0({out}), y))',
        ])  # fmt: skip

    def _clipping(self) -> str:
        if not self.own_clipping:
            return ""
        return "\n".join([
            "def configure_gradient_clipping(",
            "    self, optimizer, optimizer_idx, gradient_clip_val=None, gradient_clip_algorithm=None",
            "):",
            "    self.clip_gradients(",
            "        optimizer, gradient_clip_val=gradient_clip_val, gradient_clip_algorithm=gradient_clip_algorithm",
            "    )",
        ])  # fmt: skip

    def _hook(self) -> str:
        return {
            None: "",
            "before step": "def on_before_optimizer_step(self, optimizer, optimizer_idx):\n"
            '    self.log("rate", optimizer.param_groups[0]["lr"])',
            "after batch": "def on_train_batch_end(self, outputs, batch, batch_idx):\n"
            '    self.log("step", float(self.global_step))',
            "outputs": self._outputs(),
            "zero grad": "def optimizer_zero_grad(self, epoch, batch_idx, optimizer, optimizer_idx):\n"
            "    optimizer.zero_grad(set_to_none=True)",
            "step": "def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure, **more):\n"
            "    optimizer.step(closure=optimizer_closure)",
            "epoch end": "def on_train_epoch_end(self):\n"
            '    self.log("steps", float(self.global_step))',
        }[self.hook]  # fmt: skip

    def _outputs(self) -> str:
        mean = 'torch.stack([x["loss"] for x in outputs]).mean()'
        if self.several or self.state:
            mean = "float(len(outputs))"
        return f'def training_epoch_end(self, outputs):\n    self.log("mean_loss", {mean})'

    def _optimizers(self) -> str:
        lines = ["def configure_optimizers(self):"]
        count = len(self.parts)
        for index, part in enumerate(self.parts):
            owned = f"self.part{index}.parameters()"
            if not self.several:
                owned = "self.parameters()"
            elif index == 0:
                bodies = ["self.lower", "self.body"] if self.state == "nested" else ["self.body"]
                owned = f"[{', '.join(f'*{one}.parameters()' for one in [*bodies, f'self.part{index}'])}]"
            if self.groups and not self.several:
                owned = '[{"params": self.body.parameters()}, {"params": self.part0.parameters(), "lr": 0.05}]'
                owned = (
                    owned.replace("[{", '[{"params": self.lower.parameters()}, {') if self.state == "nested" else owned
                )
            lines.append(f"    optimizer{index} = torch.optim.{part.optimizer}({owned}, lr=0.{index + 1})")
        monitor = "val_loss" if self.validation else "train_loss"
        schedulers = {
            index: part.scheduler.entry(f"optimizer{index}", monitor)
            for index, part in enumerate(self.parts)
            if part.scheduler
        }
        return "\n".join([*lines, f"    return {self._returned(count, schedulers)}"])

    def _returned(self, count: int, schedulers: dict[int, str]) -> str:
        optimizers = ", ".join(f"optimizer{index}" for index in range(count))
        if self.returned == "dicts":
            lines = [f"        {self._dict(index, schedulers)},\n" for index in range(count)]
            return f"(\n{''.join(lines)}    )"
        if schedulers:
            if self.returned == "single" and count == 1:
                return self._dict(0, schedulers)
            return f"[{optimizers}], [{', '.join(schedulers.values())}]"
        return optimizers if count == 1 and self.returned == "single" else f"[{optimizers}]"

    def _dict(self, index: int, schedulers: dict[int, str]) -> str:
        given = [f'"optimizer": optimizer{index}']
        given += [f'"lr_scheduler": {schedulers[index]}'] if index in schedulers else []
        given += [f'"frequency": {self.parts[index].frequency}'] if self.parts[index].frequency else []
        return dict_of(given)

    def _training(self) -> str:
        given = [f"max_epochs={self.epochs}"]
        given += ["gradient_clip_val=0.05"] if self.clip else []
        given += [f'gradient_clip_algorithm="{self.clip}"'] if self.clip == "value" else []
        given += [f"accumulate_grad_batches={self.accumulate}"] if self.accumulate > 1 else []
        given += [self.limit] if self.limit else []
        shape = f"{self.length}, " if self.state else ""
        model = "Model()"
        fit = "trainer.fit(model, loader, loader)" if self.validation else "trainer.fit(model, loader)"
        if self.trainer == "keywords":
            made = [f"settings = dict({', '.join(given)})", f"trainer = {self._name('Trainer')}(**settings)"]
        else:
            made = [f"trainer = {self._name('Trainer')}({', '.join(given)})"]
        size = 2 * self.batches - 1
        lines = [f"x, y = torch.randn({size}, {shape}2), torch.randn({size}, {shape}1)"]
        if self.batch == "dict":
            lines += ["data = [{'x': one, 'y': other} for one, other in zip(x, y)]"]
        else:
            lines += ["data = torch.utils.data.TensorDataset(x, y)"]
        lines += ["loader = torch.utils.data.DataLoader(data, batch_size=2)", f"model = {model}", *made, fit]
        if self.trainer == "module":
            return "\n" + "\n".join(lines) + "\n"
        main = "\n".join(["def main():", *(f"    {line}" for line in lines)])
        return f'\n{main}\n\n\nif __name__ == "__main__":\n    main()\n'
