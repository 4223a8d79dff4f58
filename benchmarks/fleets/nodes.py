"""Nodes of a Ray cluster on this machine, and what of a fleet can be killed."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
_PORT = 26379


class Nodes:
    """Two nodes of a Ray cluster on this machine, which takes nobody without its token; none without an address."""

    def __init__(self, address: str = "") -> None:
        self.address = address
        self.token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)} if address else {}

    def start(self) -> None:
        """Starts a node beside the head."""
        subprocess.run(
            ["ray", "start", "--address", self.address, "--num-cpus=1", "--disable-usage-stats"],
            check=True, capture_output=True, env=with_programs() | self.token,
        )  # fmt: skip

    def lose_one(self) -> None:
        """Kills the raylet that was started last, and starts another node."""
        found = [one for one in psutil.process_iter(["name", "cmdline", "create_time"]) if one.info["name"] == "raylet"]
        raylets = [one for one in found if any(f":{_PORT}" in part for part in one.info["cmdline"] or ())]
        max(raylets, key=lambda one: one.info["create_time"]).kill()
        self.start()


@contextmanager
def cluster(engine: str) -> Iterator[Nodes]:
    """A cluster of two nodes for as long as the block lasts, where it is asked for."""
    if engine != "nodes":
        yield Nodes()
        return
    nodes = Nodes(f"127.0.0.1:{_PORT}")
    subprocess.run(
        ["ray", "start", "--head", f"--port={_PORT}", "--num-cpus=1", "--include-dashboard=false",
         "--disable-usage-stats"],
        check=True, capture_output=True, env=with_programs() | nodes.token,
    )  # fmt: skip
    try:
        nodes.start()
        yield nodes
    finally:
        subprocess.run(["ray", "stop", "--force"], check=False, capture_output=True, env=with_programs())


def with_programs() -> dict[str, str]:
    """The variables of this process, with the programs beside its interpreter first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def awaited(home: Path, run: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The processes of plans and proofs, once there is one; none where the run comes to its end before."""
    while not (found := tasks_now(home)) and run.poll() is None:
        time.sleep(0.05)
    return found


def tasks_now(home: Path) -> list[psutil.Process]:
    """The processes of plans and proofs, wherever they are."""
    every = psutil.process_iter(["cmdline"])
    lines = [(process, " ".join(process.info["cmdline"] or ())) for process in every]
    return [process for process, line in lines if "fixer.fleet.child" in line and str(home) in line]
