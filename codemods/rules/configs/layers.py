"""What a file of the configuration turns off of others, where they may be read together and it is the last."""

from __future__ import annotations

from codemods.lightning.arguments import rows
from codemods.lightning.configurations.owners import OwnedMapping, ProjectConfiguration
from codemods.rewrite.keys import KeyVerdict

DEFAULTS = {
    "enable_checkpointing": "True",
    "enable_progress_bar": "True",
    "enable_model_summary": "True",
    "detect_anomaly": "False",
    "limit_train_batches": "1.0",
    "limit_val_batches": "1.0",
    "limit_test_batches": "1.0",
    "overfit_batches": "0.0",
    "log_every_n_steps": "50",
    "reload_dataloaders_every_n_epochs": "0",
}
"""What an argument is where nobody gives it."""
OTHERS = {"ipus": "ipu", "num_tpu_cores": "tpu", "tpu_cores": "tpu"}
"""Arguments that said how many devices of another kind a Trainer takes, and the accelerator which says the kind."""
COUNTING = ("gpus", "devices")
"""What counts devices beside processes."""


def why_not(
    project: ProjectConfiguration, path: str, item: OwnedMapping, verdict: KeyVerdict, advice: str
) -> str | None:
    """Why nothing that is written here means the same above another file and alone."""
    key, value = verdict.key, item.section.get(verdict.key)
    kinds = project.elsewhere(item.name, "accelerator", path)
    if key in OTHERS and value in (None, 0) and (_asked(project, path, item, key) or OTHERS[key] in kinds):
        return f"another file gives it a value, which this one may turn off; {advice}"
    taken_back = "gpus" in _given(item) and project.elsewhere(item.name, "gpus", path)
    if key == "num_processes" and value not in (None, 1) and (taken_back or _asked(project, path, item, *COUNTING)):
        return f"another file sets devices beside it; {advice}"
    idle = key == "gpus" and value in (None, 0) and "devices" not in {entry.key for entry in item.section.entries}
    if idle and item.target is None and _asked(project, path, item, "devices"):
        return f"another file gives `devices`; delete it where both are read together, and else {advice}"
    return None


def spelled_out(
    project: ProjectConfiguration, path: str, item: OwnedMapping, verdict: KeyVerdict
) -> tuple[tuple[str, str | None], ...]:
    """What takes the place of an entry. Where another file sets the same, this one may override it: then a default is
    spelled out."""
    key, new = verdict.key, verdict.new or ()
    taken = {entry.key for entry in item.section.entries}
    if devices := _devices(project, path, item, verdict):
        return (*new, ("devices", devices))
    if new:
        return new
    targets = {row.keyword for row in rows().get(key, ()) if row.action == "write"}
    default = next((target for target in sorted(targets) if target in DEFAULTS and target not in taken), None)
    if default is None or not any(project.elsewhere(item.name, word, path) for word in (key, default)):
        return new
    return ((default, DEFAULTS[default]),)


def _devices(project: ProjectConfiguration, path: str, item: OwnedMapping, verdict: KeyVerdict) -> str | None:
    """The devices that an entry asked for which gives none, where another file may give others."""
    key, new = verdict.key, verdict.new or ()
    taken = {entry.key for entry in item.section.entries}
    alone = not {"gpus", "num_processes"} & _given(item)
    if key == "devices" and not new and alone and _asked(project, path, item, "devices", "gpus"):
        return "'auto'"
    if "devices" in taken:
        return None
    on_cpu = ("accelerator", "'cpu'") in (*new, *verdict.values)
    if key == "gpus" and on_cpu and any(project.elsewhere(item.name, word, path) for word in ("gpus", "devices")):
        return "1"
    if key == "gpus" and not new and "num_processes" not in _given(item):
        return "'auto'" if _asked(project, path, item, "gpus", "num_processes") else None
    idle = key == "num_processes" and not new and "gpus" not in taken
    return "1" if idle and _asked(project, path, item, "num_processes") else None


def _given(item: OwnedMapping) -> set[str]:
    return {entry.key for entry in item.section.entries if entry.value is not None}


def _asked(project: ProjectConfiguration, path: str, item: OwnedMapping, *words: str) -> bool:
    """Whether another file asks for devices by one of the keys: null and 0 ask for none, one process is the default."""
    none = (None, False, 0)
    asked = [(word, value) for word in words for value in project.elsewhere(item.name, word, path)]
    return any(value not in none and (word, value) != ("num_processes", 1) for word, value in asked)
