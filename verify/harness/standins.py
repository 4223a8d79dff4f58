"""What the harness puts in place of what a project has: the whole list, and what of each answers otherwise.

Whatever can be kept is the project's own object, made and answering as its release of Lightning makes it. This table is
all that is not. Beside the harness as well as here: standard library alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StandIn:
    """What is put in place of something: `of` what, `put` what, and what `differs` for a program that looks.

    `optional` says whether a tree can be run with the real thing instead; of others a failure says nothing.
    """

    of: str
    put: str
    differs: str
    optional: bool = False


STAND_INS = {
    "workers": StandIn(
        "the worker processes of a DataLoader",
        "the process that trains fetches the batches; the loader keeps its arguments, and torch checks them as ever",
        "`get_worker_info()` is of one worker, and `worker_init_fn` is called for that one",
        optional=True,
    ),
    "bars": StandIn(
        "what tqdm's bars write",
        "the real bars of the release, whose file leads nowhere",
        "`bar.fp`",
        optional=True,
    ),
    "devices": StandIn(
        "GPUs, TPUs, several devices or nodes, and the strategy for them",
        "one device of the kind that is here (several, with DDP, where the settings ask for them), not started by MPI",
        "the Trainer's strategy and accelerator, `num_devices`, `world_size`; `find_usable_cuda_devices` gives "
        "numbers; what the project asks pynvml of, where there is no driver, is one idle device; automatic searches "
        "are left out",
    ),
    "folders": StandIn(
        "a folder outside of the copy that a logger, a checkpoint callback or the Trainer writes to",
        "a folder of the run's own",
        "`save_dir`, `log_dir`, `dirpath`, `default_root_dir`",
    ),
    "checkpoints": StandIn(
        "a checkpoint that a short training does not get to, or that is too large to be written",
        'the model at hand for `ckpt_path="best"`; an empty file for one that is too large',
        "the weights are those at the end of the short training",
    ),
    "stopped": StandIn(
        "a profiler, limits of time, searches by a Tuner whose answer nothing takes, and callbacks that watch a device",
        "none",
        "`trainer.profiler` is the one that does nothing; the callbacks are not in `trainer.callbacks`; the rate or "
        "size of a search stays as it is",
    ),
    "wandb": StandIn(
        "a run of wandb",
        "wandb's own disabled run, with its folder; `wandb.login` is told that all is well",
        "what wandb's disabled run answers otherwise",
    ),
    "neptune": StandIn("a run of Neptune", "Neptune's own run in its mode for debugging", "nothing is fetched"),
    "mlflow": StandIn("a server of MLflow", "MLflow's own files in a folder of the run's own", "`tracking_uri`"),
    "trackers": StandIn(
        "the experiment of a logger that works over the network alone (Comet, Lightning's own)",
        "an object that has the methods of the real class, which do nothing",
        "every method returns nothing of use",
    ),
    "loggers": StandIn(
        "a logger that fails for the want of a network, of an account or of a folder, in a first run",
        "the same object, in both trees, whose methods write nothing",
        "`experiment` takes every call",
    ),
    "programs": StandIn(
        "a program that is not installed and that a first run asked for (`ffmpeg`, `sox` and their like)",
        "a program of that name that does nothing and ends well",
        "it says nothing and writes no file",
    ),
    "absent": StandIn(
        "a package that is not installed, or a name that a package no longer has, which a first run ended for and "
        "files of the project import",
        "a module that holds whatever is taken from it, to be named and inherited from; nothing is an instance of that",
        "any other use is the error that its import would have been, or a TypeError; it is not there for libraries, "
        "and for a `try` that does without",
    ),
    "variables": StandIn(
        "an environment variable that the code reads by `os.environ[...]`, by a function of its own that does, or by "
        "`os.getenv` where what is done with it fails without, that a configuration names by `${oc.env:...}`, and that "
        "nothing sets",
        "the folder of the project (`PROJECT_ROOT` and its like), a folder or a file in the run's home, a number, an "
        "address or a word, as its use or its name tells",
        "what is read from there: the folder is empty, the file is not there",
    ),
    "questions": StandIn(
        "the person whom the code asks at its terminal (`input`, `getpass`)",
        "an answer that the code takes: what it compares with, a number where it makes one, `y` to a yes or no, else "
        "an empty line",
        "each line is answered a few times, then it finds the end of all input",
    ),
    "data": StandIn(
        "data that a first run did not find",
        "small files of the kind that the code reads: tables, pictures, arrays, lines, sounds, pickled objects, COCO's "
        "annotations, MNIST, EMNIST, CIFAR, SVHN, STL10, CelebA; a small set for what `load_dataset` asks a hub for",
        "what is in them: columns and values are as the code asks for them by its errors, and mean nothing",
    ),
    "weights": StandIn(
        "weights that the code loads from an address, or from a file that is not here, in a first run (by torch, timm "
        "or the client of the Hugging Face hub)",
        "an empty file, from which nothing is loaded",
        "the modules keep the weights that they begin with; what else is asked of the file is empty",
    ),
    "hub": StandIn(
        "models, configurations, tokenizers and processors that transformers asks the Hugging Face hub for, in a first "
        "run or by a module that is trained alone",
        "ones of the same kind with two layers, random weights and a vocabulary of letters",
        "the numbers of layers and of words; every word is taken apart into its letters",
    ),
    "scatter": StandIn(
        "torch_scatter, which is compiled for one torch, where the project imports it and it is not installed",
        "its functions in torch's own operations",
        "sums are taken in another order; it is not there for libraries, which do without",
    ),
    "alone": StandIn(
        "the logger and the callbacks of a module that is trained alone",
        "a single logger that takes every call, and a ModelCheckpoint that saves nothing",
        "`experiment` takes every call",
    ),
}


def named(name: str) -> str:
    """A stand-in in words, for a verdict."""
    known = STAND_INS.get(name)
    return f"the stand-in for {known.of}" if known else f"the stand-in called {name}"
