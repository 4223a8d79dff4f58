"""Starts the processes that train a script together, one a device, as torchrun starts them; with the first that fails,
all are ended.

Runs in the target's interpreter, beside the harness: standard library alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

OFTEN_S = 0.05
LOOPBACK = {"linux": "lo", "darwin": "lo0"}
"""How the one network interface is called that there is where a project is shut in."""
ENDINGS = ("failure", "unusable")


def train(command: Sequence[str], spec: dict[str, Any], record: Callable[..., None]) -> int:
    """Run the command once a rank, with the rank behind it, and return the status to end with. Rank 0 records for all;
    how another one failed is recorded where that was first."""
    count, port = spec["devices"], free_port()
    ranks = [
        subprocess.Popen([*command, str(rank)], env={**os.environ, **variables(rank, count, port)})
        for rank in range(count)
    ]
    failed = first_failed(ranks)
    for each in ranks:
        each.kill()
        each.wait()
    if failed is None:
        return 0
    tell(failed, ranks[failed].returncode, spec, record)
    return 1


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def variables(rank: int, count: int, port: int) -> dict[str, str]:
    """What torchrun tells the process of a rank: with it, Lightning starts none itself."""
    found = {
        "RANK": rank, "LOCAL_RANK": rank, "ROLE_RANK": rank, "GROUP_RANK": 0, "GROUP_WORLD_SIZE": 1,
        "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count, "ROLE_WORLD_SIZE": count, "ROLE_NAME": "default",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": "fixer",
        "TORCHELASTIC_RESTART_COUNT": 0, "TORCHELASTIC_MAX_RESTARTS": 0,
    }  # fmt: skip
    if name := LOOPBACK.get(sys.platform):
        found |= {"GLOO_SOCKET_IFNAME": name, "NCCL_SOCKET_IFNAME": name}
    return {name: str(value) for name, value in found.items()}


def first_failed(ranks: Sequence[subprocess.Popen[bytes]]) -> int | None:
    """Wait until one of them fails, which is returned, or all have ended well."""
    while True:
        ended = [each.poll() for each in ranks]
        for rank, status in enumerate(ended):
            if status:
                return rank
        if None not in ended:
            return None
        time.sleep(OFTEN_S)


def place_of(record: str, rank: int | None) -> str:
    """The file that a rank records in: what others than rank 0 see is only looked at where they fail."""
    return f"{record}.{rank}" if rank else record


def tell(failed: int, status: int, spec: dict[str, Any], record: Callable[..., None]) -> None:
    """Record why the ranks were ended, behind what rank 0 recorded itself: what ended the first of them, and not what
    others came to because that one was gone."""
    told = {rank: ending(place_of(spec["record"], rank)) for rank in range(spec["devices"])}
    if told[failed] is None:
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        record("failure", type="ProcessEnded", message=f"rank {failed} ended with {how}", place=None)
        return
    rank, first = min(((r, e) for r, e in told.items() if e), key=lambda one: one[1]["when"])
    if rank:
        record(**first)


def ending(place: str) -> dict[str, Any] | None:
    """The event that says how a rank failed, if it said so: the project's code can write to that file too."""
    found = None
    with contextlib.suppress(OSError), Path(place).open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError, AttributeError, TypeError):
                event = json.loads(line)
                found = {**event, "when": float(event.get("when", 0))} if event.get("event") in ENDINGS else found
    return found
