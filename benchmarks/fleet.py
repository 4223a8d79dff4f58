"""A fleet that is killed at random points, held against one that is not, and what a fleet costs besides its work.

    python benchmarks/fleet.py killed [--repositories 300] [--kills 50] [--engine pool ray nodes] [--seed 1] [--prove 0]
    python benchmarks/fleet.py cost [--repositories 100]
    python benchmarks/fleet.py workers [--repositories 24] [--rounds 3]
    python benchmarks/fleet.py simulated [--repositories 10000]

`killed` makes git repositories of the shapes in tests/projects and a few that cannot be worked with, each with a
history, serves them over http with a stand-in for GitHub, and runs a fleet of them to pull requests: once undisturbed,
in processes that have loaded fixer already, and for each engine once by `fixer fleet run`, killed (the driver, a task,
with Ray the worker of a task, with `nodes` one of its two nodes) and gone on. Every repository has to end in the same
state, with the same branch and one pull request. It prints what differs, and ends with 1 where something does. The
first `--prove` are proven too; of the others nothing is trained.

`cost` is the undisturbed run alone, and prints what a repository cost besides its plan: seconds of processors, and
bytes of state, reports and logs.

`workers` plans repositories with one worker and with two, in turn, and a loop that only counts beside them, and prints
how much more two do: by the clock, which says little on a busy machine, and for plans that only wait.

`simulated` runs a fleet whose clones, plans and proofs are only told of, and prints the memory of the driver and the
time of its page.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import fixer.fleet.driver  # noqa: E402
from benchmarks.fleets.nodes import Nodes, awaited, cluster  # noqa: E402
from benchmarks.fleets.origins import made, standing, variables  # noqa: E402
from benchmarks.fleets.warm import cost  # noqa: E402
from benchmarks.fleets.workers import compare  # noqa: E402
from fixer.fleet.asked import FleetOptions, FleetRepository  # noqa: E402
from fixer.fleet.report import as_html, of_fleet  # noqa: E402
from fixer.fleet.state import opened  # noqa: E402
from fixer.tokens import Tokens  # noqa: E402
from tests.fixer.fleet.organisation import Organisation  # noqa: E402
from tests.fixer.fleet.stand_in import RecordedEngine  # noqa: E402
from tests.fixer.forges import BRANCH, head  # noqa: E402

FILE = '[fleet]\ntries = 100\nplans = {plans}\nproofs = 1\n[defaults]\nprove = false\ndeliver = "{deliver}"\n'
KEPT = ("reports", "pages", "results", "tasks")


@dataclass(frozen=True)
class Ended:
    """What a fleet came to: by repository its state, why where it went no further, its verdict, branch and pull
    requests; how many steps were begun more than once, and the bytes of state, reports and logs."""

    states: dict[str, tuple[object, ...]]
    again: int
    size: int


def written(home: Path, organisation: Organisation, arguments: argparse.Namespace) -> Path:
    """The file of a fleet of the organisation."""
    every = (
        f'[[repository]]\naddress = "{organisation.address}/{path}.git"\n{"prove = true" * (at < arguments.prove)}\n'
        for at, path in enumerate(organisation.apis)
    )
    file = home / "FLEET.toml"
    file.write_text(FILE.format(plans=arguments.plans, deliver=arguments.deliver) + "".join(every))
    return file


def seen(home: Path, organisation: Organisation) -> Ended:
    """What a fleet with its state in a folder came to."""
    state = home / "state"
    with opened(state) as held:
        rows, again = held.rows(), sum(step.tries > 1 for step in held.steps())
    pulls = organisation.states()
    states = {
        row.name: (
            *(row.state, "" if row.pull_request else row.reason.replace(str(home), ""), row.verdict, row.base),
            head(organisation.folder / "acme" / f"{row.name.partition('/')[2]}.git", BRANCH),
            pulls[row.name.partition("/")[2]],
        )
        for row in rows
    }
    kept = (path for name in KEPT for path in (state / name).rglob("*"))
    size = sum(path.stat().st_size for path in (*kept, state / "fleet.sqlite") if path.is_file())
    return Ended(states, again, size)


def undisturbed(template: Organisation, home: Path, arguments: argparse.Namespace) -> Ended:
    """A fleet that nothing happens to; prints what it cost."""
    home.mkdir()
    began = time.monotonic()
    with standing(template, home / "forge") as organisation:
        file = written(home, organisation, arguments)
        spent = cost(file, home / "state", arguments.plans, variables(organisation))
        ended = seen(home, organisation)
    each = len(ended.states)
    print(f"undisturbed: {each} repositories, {time.monotonic() - began:.0f} s", flush=True)
    print(f"  states: {dict(Counter(str(one[0]) for one in ended.states.values()))}")
    print(f"  besides its plan a repository cost {1000 * spent:.0f} ms of processors, ", end="")
    print(f"{ended.size / each / 1000:.0f} kB of state, reports and logs", flush=True)
    return ended


def disturbed(
    template: Organisation, home: Path, arguments: argparse.Namespace, engine: str
) -> tuple[Ended, Counter[str]]:
    """A fleet of the organisation, run to its end over so many kills."""
    home.mkdir()
    dice, kills, ended = random.Random(arguments.seed), Counter[str](), False
    apart = max(3, 6 * arguments.repositories // max(1, arguments.kills))  # some three lines a repository
    with standing(template, home / "forge") as organisation, cluster(engine) as nodes:
        file, state = written(home, organisation, arguments), home / "state"
        command = [sys.executable, "-m", "fixer", "fleet", "run", str(file), "--state", str(state)]
        command += ["--engine", "ray"] if engine != "pool" else []
        command += ["--address", nodes.address] if nodes.address else []
        environment = {**os.environ, **variables(organisation), **nodes.token, "RAY_ADDRESS": ""}
        while not ended:
            run = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            with (home / "log.txt").open("ab") as log:
                ended = watched(run, log, dice, Targets(engine, nodes, state, apart), kills, arguments.kills)
        return seen(home, organisation), kills


@dataclass(frozen=True)
class Targets:
    """What of a run can be killed, so many lines of what it says apart at most."""

    engine: str
    nodes: Nodes
    state: Path
    apart: int

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("driver", "task", *("worker",) * (self.engine != "pool"), *("node",) * (self.engine == "nodes"))

    def kill(self, kind: str, run: subprocess.Popen[bytes], dice: random.Random) -> bool:
        """Kills one; whether there was one."""
        if kind == "node":
            self.nodes.lose_one()
        elif kind == "driver":
            run.send_signal(signal.SIGKILL)
        elif tasks := awaited(self.state, run):
            one = dice.choice(tasks)
            (one.parent() or one if kind == "worker" else one).kill()
        else:
            return False
        return True


def watched(
    run: subprocess.Popen[bytes], log: IO[bytes], dice: random.Random, targets: Targets, done: Counter[str], most: int
) -> bool:
    """Follows a run, and kills something of it now and then; whether it came to its end."""
    apart = targets.apart
    after = dice.randrange(1, apart)
    for number, line in enumerate(run.stdout or ()):
        log.write(line)
        if number >= after and done.total() < most:
            after = number + dice.randrange(1, apart)
            time.sleep(dice.random() / 2)
            kind = targets.kinds[done.total() % len(targets.kinds)]
            done[kind] += targets.kill(kind, run, dice)
    return run.wait() in (0, 1)


def killed(arguments: argparse.Namespace, home: Path) -> int:
    """Holds fleets that are killed against one that is not."""
    template = made(home / "template", arguments.repositories)
    plain, wrong = undisturbed(template, home / "plain", arguments), 0
    for engine in arguments.engine:
        began = time.monotonic()
        other, kills = disturbed(template, home / engine, arguments, engine)
        print(f"{engine}: killed {dict(kills) or 'never'}, {time.monotonic() - began:.0f} s, ", end="")
        print(f"{other.again} steps were begun again")
        different = [name for name, one in plain.states.items() if other.states.get(name) != one]
        for name in different:
            print(f"{name}: {plain.states[name]} and {other.states.get(name)}")
        twice = [name for name, one in other.states.items() if len(one[-1]) > 1]  # type: ignore[arg-type]
        print(f"{len(different)} of {len(plain.states)} differ, {len(twice)} have a second pull request", flush=True)
        wrong += len(different) + len(twice)
    return 1 if wrong else 0


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


def measured(arguments: argparse.Namespace, home: Path) -> int:
    """What a repository costs besides its plan."""
    undisturbed(made(home / "template", arguments.repositories), home / "plain", arguments)
    return 0


def scaled(arguments: argparse.Namespace, home: Path) -> int:
    """How much more two workers do than one."""
    template = made(home / "template", arguments.repositories)
    compare([str(template.folder / f"{path}.git") for path in template.apis], home, arguments.rounds)
    return 0


WHAT = {"killed": (killed, 300), "cost": (measured, 100), "workers": (scaled, 24), "simulated": (simulated, 10_000)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=list(WHAT))
    parser.add_argument("--repositories", type=int)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--engine", choices=["pool", "ray", "nodes"], nargs="+", default=["pool"])
    parser.add_argument("--deliver", choices=["nothing", "branch", "pull-request"], default="pull-request")
    parser.add_argument("--plans", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--prove", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    run, many = WHAT[arguments.what]
    arguments.repositories = arguments.repositories or many
    with tempfile.TemporaryDirectory(prefix="fixer-fleet-") as folder:
        return run(arguments, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
