"""A fleet that is killed at random points, held against one that is not, and what a fleet costs besides its work.

    python benchmarks/fleet.py killed [--repositories 300] [--kills 50] [--engine pool|ray|nodes] [--seed 1]
    python benchmarks/fleet.py simulated [--repositories 10000]

`killed` makes git repositories of the shapes in tests/projects and a few that cannot be worked with, each with a
history, serves them over http with a stand-in for GitHub, and runs a fleet of them to pull requests: once undisturbed,
once killed (the driver, a task, with `nodes` a node of Ray) and gone on. Every repository has to end in the same state,
with the same branch and one pull request. It prints what differs, and what a repository cost besides its plan: seconds
of processors, and bytes of state, reports and logs. Ends with 1 where something differs. Nothing is trained.

`simulated` runs a fleet whose clones, plans and proofs are only told of, and prints the memory of the driver and the
time of its page.
"""

from __future__ import annotations

import argparse
import base64
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import fixer.fleet.driver  # noqa: E402
from fixer.fleet.asked import FleetOptions, FleetRepository  # noqa: E402
from fixer.fleet.report import as_html, of_fleet  # noqa: E402
from fixer.fleet.state import opened  # noqa: E402
from fixer.tokens import Tokens  # noqa: E402
from tests.fixer.command import NEW  # noqa: E402
from tests.fixer.fleet.organisation import SECRET, Organisation  # noqa: E402
from tests.fixer.fleet.stand_in import RecordedEngine  # noqa: E402
from tests.fixer.forges import BRANCH, commit, head, served  # noqa: E402

BAD = {
    "settings": {"train.py": NEW, "pyproject.toml": b"[tool.fixer]\nselectt = []\n"},
    "nothing": {"train.py": b"print(1)\n"},
    "broken": {"train.py": b"import pytorch_lightning as pl\ndef f(:\n"},
}
FILE = '[fleet]\ntries = 100\nplans = {plans}\n[defaults]\nprove = false\ndeliver = "{deliver}"\n'


@dataclass(frozen=True)
class Ended:
    """What a fleet came to: by repository its state, why where it went no further, its verdict, branch and pull
    requests; what of it was killed, and what it cost besides its tasks in seconds of processors, and in bytes."""

    states: dict[str, tuple[object, ...]]
    kills: Counter[str]
    seconds: float
    cpu: float
    size: int


def made(folder: Path, many: int) -> Organisation:
    """An organisation of so many repositories, every tenth of which cannot be worked with."""
    shapes = sorted(place for place in (ROOT / "tests" / "projects").iterdir() if place.is_dir())
    organisation, bad = Organisation(folder), list(BAD.items())
    for number in range(many):
        if number % 10 == 9:
            kind, files = bad[number // 10 % len(bad)]
            name = f"r{number:04}-{kind}"
        else:
            shape = shapes[number % len(shapes)]
            name = f"r{number:04}-{shape.name}"
            files = {
                path.relative_to(shape).as_posix(): path.read_bytes() for path in shape.rglob("*") if path.is_file()
            }
        origin = organisation.add(name, {**files, "notes.md": f"{number}\n".encode()})
        commit(origin, {"notes.md": f"{number}, again\n".encode()})
        shutil.rmtree(next(origin.parent.glob("workspace-*")), ignore_errors=True)
    for place in organisation.folder.glob("acme/workspace-*"):
        shutil.rmtree(place)
    return organisation


@contextmanager
def standing(template: Organisation, folder: Path) -> Iterator[Organisation]:
    """A fresh copy of the organisation, served over http."""
    shutil.copytree(template.folder, folder)
    copy = Organisation(folder)
    for path in template.apis:
        copy.register(path.partition("/")[2])
    header = f"Basic {base64.b64encode(f'x-access-token:{SECRET}'.encode()).decode()}"
    with served(folder, header, copy):
        yield copy


def ran(template: Organisation, home: Path, arguments: argparse.Namespace, kills: int) -> Ended:
    """A fleet of the organisation, run to its end over so many kills."""
    dice, began, cpu, done = random.Random(arguments.seed), time.monotonic(), 0.0, Counter[str]()
    with standing(template, home / "forge") as organisation, cluster(arguments.engine, home) as nodes:
        file, state = home / "FLEET.toml", home / "state"
        listed = (f'[[repository]]\naddress = "{organisation.address}/{path}.git"\n' for path in organisation.apis)
        file.write_text(FILE.format(plans=arguments.plans, deliver=arguments.deliver) + "".join(listed))
        command = [sys.executable, "-m", "fixer", "fleet", "run", str(file), "--state", str(state)]
        command += ["--engine", "ray", "--address", nodes.address] if nodes.address else []
        command += ["--engine", "ray"] if arguments.engine == "ray" else []
        environment = {
            **os.environ,
            "GITHUB_SERVER_URL": organisation.address,
            "GITHUB_API_URL": f"{organisation.address}/api/v3",
            "GITHUB_TOKEN": SECRET,
            "RAY_ADDRESS": "",
        }
        ended = False
        while not ended:
            run = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            with (home / "log.txt").open("ab") as log:
                ended = watched(run, log, dice, nodes, done, kills)
            cpu += resources_of(run)
        with opened(state) as held:
            rows, spent = held.rows(), sum(step.cpu for step in held.steps())
        pulls = organisation.states()
        states = {
            row.name: (
                *(row.state, "" if row.pull_request else row.reason.replace(str(home), ""), row.verdict, row.base),
                *(head(organisation.folder / "acme" / f"{row.name.partition('/')[2]}.git", BRANCH),),
                *pulls[row.name.partition("/")[2]],
            )
            for row in rows
        }
    kept = (path for name in ("reports", "pages", "results", "tasks") for path in (state / name).rglob("*"))
    size = sum(path.stat().st_size for path in (*kept, state / "fleet.sqlite") if path.is_file())
    return Ended(states, done, time.monotonic() - began, cpu - spent, size)


def watched(
    run: subprocess.Popen[bytes], log: IO[bytes], dice: random.Random, nodes: Nodes, done: Counter[str], kills: int
) -> bool:
    """Follows a run, and kills something of it now and then; whether it came to its end."""
    after = dice.randrange(2, 12)
    for number, line in enumerate(run.stdout or ()):
        log.write(line)
        if number >= after and done.total() < kills:
            after = number + dice.randrange(2, 12)
            time.sleep(dice.random() / 2)
            kinds = ["driver", "task", *(["node"] if nodes.address else [])]
            whom = kinds[done.total() % len(kinds)]
            if whom == "node":
                nodes.lose_one()
            elif whom == "driver":
                run.send_signal(signal.SIGKILL)
            elif tasks := awaited(nodes, run):
                dice.choice(tasks).kill()
            else:
                continue
            done[whom] += 1
    return run.wait() in (0, 1)


def awaited(nodes: Nodes, run: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The processes of plans, once there is one; none where the run comes to its end before."""
    while not (found := tasks_now(nodes)) and run.poll() is None:
        time.sleep(0.05)
    return found


def tasks_now(nodes: Nodes) -> list[psutil.Process]:
    """The processes of plans, wherever they are."""
    every = psutil.process_iter(["cmdline"])
    lines = [(process, " ".join(process.info["cmdline"] or ())) for process in every]
    return [process for process, line in lines if "fixer.fleet.child" in line and str(nodes.home) in line]


def resources_of(run: subprocess.Popen[bytes]) -> float:
    """The seconds of processors that the children that have ended took since this was asked last."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = used.ru_utime + used.ru_stime - Nodes.counted
    Nodes.counted += total
    return total


class Nodes:
    """Two nodes of a Ray cluster on this machine."""

    counted = 0.0

    def __init__(self, address: str = "", home: Path | None = None) -> None:
        self.address, self.home = address, home

    def start(self) -> None:
        """Starts a node beside the head."""
        subprocess.run(
            ["ray", "start", "--address", self.address, "--num-cpus=1", "--disable-usage-stats"],
            check=True, capture_output=True, env=with_programs(),
        )  # fmt: skip

    def lose_one(self) -> None:
        """Kills the raylet that was started last, and starts another node."""
        raylets = [one for one in psutil.process_iter(["name", "create_time"]) if one.info["name"] == "raylet"]
        max(raylets, key=lambda one: one.info["create_time"]).kill()
        self.start()


@contextmanager
def cluster(engine: str, home: Path) -> Iterator[Nodes]:
    """A cluster of two nodes for as long as the block lasts, where it is asked for."""
    if engine != "nodes":
        yield Nodes(home=home)
        return
    address = "127.0.0.1:26379"
    subprocess.run(
        ["ray", "start", "--head", "--port=26379", "--num-cpus=1", "--include-dashboard=false",
         "--disable-usage-stats"],
        check=True, capture_output=True, env=with_programs(),
    )  # fmt: skip
    nodes = Nodes(address, home)
    try:
        nodes.start()
        yield nodes
    finally:
        subprocess.run(["ray", "stop", "--force"], check=False, capture_output=True, env=with_programs())


def with_programs() -> dict[str, str]:
    """The variables of this process, with the programs beside its interpreter first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


def killed(arguments: argparse.Namespace, home: Path) -> int:
    """Holds a fleet that is killed against one that is not."""
    template = made(home / "template", arguments.repositories)
    runs = []
    for name, kills in (("plain", 0), ("killed", arguments.kills)):
        (home / name).mkdir()
        run = ran(template, home / name, arguments, kills)
        runs.append(run)
        print(f"{name}: {len(run.states)} repositories, killed {dict(run.kills) or 'never'}, {run.seconds:.0f} s")
        print(f"  states: {dict(Counter(str(one[0]) for one in run.states.values()))}")
        each = len(run.states)
        if not kills and arguments.engine == "pool":
            print(f"  besides its plan a repository cost {1000 * run.cpu / each:.0f} ms of processors", end=", ")
        else:
            print("  a repository cost", end=" ")
        print(f"{run.size / each / 1000:.0f} kB of state, reports and logs")
    plain, other = runs
    different = [name for name, one in plain.states.items() if other.states.get(name) != one]
    for name in different:
        print(f"{name}: {plain.states[name]} and {other.states.get(name)}")
    twice = [name for name, one in other.states.items() if len(one) > 6]
    print(f"{len(different)} of {len(plain.states)} differ, {len(twice)} have a second pull request")
    return 1 if different or twice else 0


def simulated(arguments: argparse.Namespace, home: Path) -> int:
    """Runs a fleet whose clones, plans and proofs are only told of."""
    every = [FleetRepository(f"acme/r{number}", f"/r{number}") for number in range(arguments.repositories)]
    fixer.fleet.driver.fetched = lambda *given: "0" * 40  # type: ignore[assignment]
    began = time.monotonic()
    with opened(home / "state", make=True) as state:
        state.enroll(every)
        engine = RecordedEngine(room=16)
        driver = fixer.fleet.driver.Driver(home / "state", state, engine, FleetOptions(), Tokens(), lambda line: None)
        driver.run()
        took, counts = time.monotonic() - began, Counter(row.state for row in state.rows())
        began = time.monotonic()
        page = as_html(of_fleet(state, home / "state"), home)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu, size = used.ru_utime + used.ru_stime, sum(one.stat().st_size for one in (home / "state").glob("fleet.sqlite*"))
    print(f"{len(every)} repositories in {took:.0f} s: {dict(counts)}; the driver had {used.ru_maxrss / 1000:.0f} MB")
    print(f"a repository: {1000 * cpu / len(every):.1f} ms of processors, {size / len(every) / 1000:.1f} kB of state")
    print(f"the page: {len(page) / 1e6:.1f} MB, in {time.monotonic() - began:.1f} s")
    return 0 if counts == {"proven": len(every)} else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["killed", "simulated"])
    parser.add_argument("--repositories", type=int)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--engine", choices=["pool", "ray", "nodes"], default="pool")
    parser.add_argument("--deliver", choices=["nothing", "branch", "pull-request"], default="pull-request")
    parser.add_argument("--plans", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.repositories = arguments.repositories or (300 if arguments.what == "killed" else 10_000)
    with tempfile.TemporaryDirectory(prefix="fixer-fleet-") as folder:
        return (killed if arguments.what == "killed" else simulated)(arguments, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
