"""Which repositories a fleet has, and what is asked for them: FLEET.toml, or a list of paths and git addresses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, get_args
from urllib.parse import urlsplit

from fixer.config import Table
from fixer.errors import UsageError
from fixer.fleet.words import Delivered
from fixer.forge import parts_of, place_of
from fixer.timing import seconds_of

NOBODY = "no repository is named; give a FLEET.toml, paths and addresses of repositories, or --org"
DELIVERIES: tuple[Delivered, ...] = get_args(Delivered)
_RUNGS = ("conforms", "trains", "same")
_SCP = re.compile(r"(?:[^@/\s]+@)?[^:/\s]+:(?!//).+")
_HOURS = re.compile(r"([01]\d|2[0-4]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)")
_ODD = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_PLAIN = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True)
class RepositoryOptions:
    """What is asked for one repository; None leaves it to the repository's own settings, or to fixer.

    `base` is the branch to start from, `deliver` what becomes of the result, `ask_owners` whether those whom CODEOWNERS
    names are asked for a review. `gpus` (None: one, where the cluster has some and the project trains on it) and
    `memory` (GiB) are what a proof needs of a cluster, `limit` the seconds after which a plan or a proof is ended.
    `plugins` are the rules of others that the fleet names, as paths, and `rules` tells their state; those of a
    repository's own are not loaded.
    """

    base: str | None = None
    branch: str | None = None
    target: str | None = None
    namespace: str | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    unsafe_fixes: bool = False
    prove: bool = True
    require: str | None = None
    budget: str | None = None
    timeout: float | None = None
    limit: str = "7200s"
    deliver: Delivered = "nothing"
    labels: tuple[str, ...] = ()
    ask_owners: bool = False
    cpus: int = 1
    gpus: int | None = None
    memory: int | None = None
    plugins: tuple[str, ...] = ()
    rules: str = ""

    @property
    def of_result(self) -> RepositoryOptions:
        """Those that a plan or a proof depends on, and not what becomes of it or what it may need."""
        plain = RepositoryOptions()
        besides = ("limit", "deliver", "labels", "ask_owners", "cpus", "gpus", "memory")
        return replace(self, **{name: getattr(plain, name) for name in besides})

    @property
    def seconds(self) -> float:
        """The seconds after which a plan or a proof is ended."""
        return seconds_of(self.limit)


@dataclass(frozen=True)
class FleetRepository:
    """One repository of a fleet: a name that no other one has, and a path or an address that git takes."""

    name: str
    address: str
    options: RepositoryOptions = RepositoryOptions()

    @property
    def key(self) -> str:
        """A name for files."""
        digest = blake2b(self.name.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
        return f"{_PLAIN.sub('-', self.name)[-40:].strip('-.')}-{digest}"

    @property
    def identity(self) -> tuple[str, str]:
        """What tells it from other repositories, however its address is written: its server and the path there."""
        if forge := place_of(self.address):
            return forge.server, forge.path.lower()
        host, path = parts_of(self.address)
        return (host, path) if host else ("", str(Path(self.address.removeprefix("file://")).resolve()))

    @property
    def folder(self) -> str:
        """The name of the folder of its clone, which is that of the project in reports."""
        return _PLAIN.sub("-", PurePosixPath(self.name).name).strip("-.") or "project"


@dataclass(frozen=True)
class FleetOptions:
    """What is asked for the fleet as a whole.

    At most `open_pull_requests` of the fleet are open at once, and in a repository no more than `open_per_repository`
    from branches of fixer's (None: as many as there are). The first `canary` are
    delivered, the rest after a word. `hours` (`09:00-17:00`, by this machine's clock) is when deliveries are made, and
    at each server no more than `deliveries_per_hour` within an hour.
    `plans` and `proofs` are how many of each are made at once, `tries` how often what was killed is done.
    `dashboard` is the repository with the issue that says how the fleet stands, `plugins` the rules of others for all
    repositories, as paths from the file.
    """

    open_pull_requests: int | None = None
    open_per_repository: int | None = None
    canary: int = 0
    hours: str | None = None
    plans: int | None = None
    proofs: int | None = None
    tries: int = 2
    dashboard: str | None = None
    plugins: tuple[str, ...] = ()
    deliveries_per_hour: int | None = None


@dataclass(frozen=True)
class Fleet:
    """All that is asked for; `defaults` is what holds for repositories that an organisation has besides."""

    repositories: tuple[FleetRepository, ...]
    options: FleetOptions = FleetOptions()
    defaults: RepositoryOptions = RepositoryOptions()

    def and_of(self, addresses: Iterable[tuple[str, str]], place: str) -> Fleet:
        """With those of (name, address) that are not in it yet."""
        names, there = ({getattr(one, what) for one in self.repositories} for what in ("name", "identity"))
        every = named(addresses, place, self.defaults)
        new = (one for one in every if one.name not in names and one.identity not in there)
        return replace(self, repositories=(*self.repositories, *new))


def read_fleet(what: Sequence[str], *, more: bool = False) -> Fleet:
    """The fleet that arguments name: one FLEET.toml, or paths, addresses and files with one of these a line; it may
    name no repository where there are `more`. Raises UsageError for what cannot be meant."""
    files = [Path(one) for one in what if one.endswith(".toml")]
    if len(files) > 1 or (files and len(what) > 1):
        raise UsageError(f"{files[0]}: a fleet is one file, or a list of paths and addresses; give one of the two")
    if files:
        return _read_file(files[0], more)
    return Fleet(named(_listed(what, more), "the list"))


def named(
    addresses: Iterable[tuple[str, str]], place: str, options: RepositoryOptions | None = None
) -> tuple[FleetRepository, ...]:
    """Repositories of (name, address); "" names one after its address. Raises UsageError for two of one name."""
    found = [FleetRepository(name or name_of(one), one, options or RepositoryOptions()) for name, one in addresses]
    return _checked(found, place)


def unproven(repositories: Iterable[FleetRepository]) -> tuple[FleetRepository, ...]:
    """The same repositories, without a proof. Raises UsageError where one has to reach a rung."""
    found = tuple(repositories)
    if strict := next((one for one in found if one.options.require), None):
        raise UsageError(f"--no-verify: {strict.name} has to reach {strict.options.require}; leave out one of the two")
    return tuple(replace(one, options=replace(one.options, prove=False)) for one in found)


def name_of(address: str) -> str:
    """What a repository is called: `owner/name` at a server, the folder's name of a path."""
    if "://" in address or _SCP.fullmatch(address):
        path = urlsplit(address).path if "://" in address else address.partition(":")[2]
        return "/".join(PurePosixPath(path.strip("/").removesuffix(".git")).parts[-2:])
    return Path(address).resolve().name.removesuffix(".git")


def unstructured(options: RepositoryOptions) -> dict[str, Any]:
    """The options that differ from what holds without them, as JSON takes them."""
    plain = asdict(RepositoryOptions())
    return {name: value for name, value in asdict(options).items() if value != plain[name]}


def structured(held: Mapping[str, Any]) -> RepositoryOptions:
    """The options that `unstructured` wrote."""
    known = {one.name for one in fields(RepositoryOptions)}
    lists = {name: tuple(value) for name, value in held.items() if isinstance(value, list)}
    return RepositoryOptions(**{name: value for name, value in {**held, **lists}.items() if name in known})


def _read_file(path: Path, more: bool) -> Fleet:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(f"{path}: {why}; give a FLEET.toml, or a list of paths and addresses") from None
    top = Table(_parsed(text, path), f"{path}:")
    top.allow("fleet", "defaults", "repository")
    whole = _fleet(Table(top.values.get("fleet", {}), f"{path}: [fleet]"), path.parent)
    plain = RepositoryOptions(plugins=whole.plugins, rules=_state_of(whole.plugins))
    defaults = _options(Table(top.values.get("defaults", {}), f"{path}: [defaults]"), plain)
    tables = top.values.get("repository", [])
    if not isinstance(tables, list) or not (tables or more):
        raise UsageError(f"{path}: it names no repository; write each as a [[repository]] with its address")
    found = []
    for number, values in enumerate(tables, 1):
        table = Table(values, f"{path}: [[repository]] {number}")
        address = table.string("address")
        if not address:
            raise UsageError(f"{table.place} has no address; give a path or what `git clone` takes")
        address = checked_address(address, f"{table.place} address", path.parent)
        options = _options(table, defaults, "address", "name")
        found.append(FleetRepository(table.string("name") or name_of(address), address, options))
    return Fleet(_checked(found, str(path)), whole, defaults)


def _parsed(text: str, path: Path) -> object:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text).unwrap()
    except TOMLKitError as error:
        raise UsageError(f"{path}: not valid TOML: {error}; correct it") from None


def under_rules(fleet: Fleet) -> Fleet:
    """The same fleet, of which each repository is asked for under the rules of others that hold now: those that it
    names, and those of installed packages. Where they have changed, what was planned is planned again. Raises
    UsageError for rules that cannot be loaded."""
    state = _state_of(fleet.options.plugins)
    every = (replace(one, options=replace(one.options, rules=state)) for one in fleet.repositories)
    return replace(fleet, repositories=tuple(every))


def _state_of(plugins: tuple[str, ...]) -> str:
    """Loads the rules of others that a fleet names, and what tells them from others."""
    from codemods.rule import others_rules
    from fixer.plugins import AskedRules, put_in_force

    put_in_force(Path(), AskedRules(given=plugins))
    if others_rules().left_out:
        raise UsageError(others_rules().left_out[0])
    return others_rules().state.hex()


def _fleet(table: Table, folder: Path) -> FleetOptions:
    table.allow("open-pull-requests", "open-per-repository", "canary", "hours", "plans", "proofs", "tries", "dashboard",
                "plugins", "deliveries-per-hour")  # fmt: skip
    hours, plain = table.string("hours"), FleetOptions()
    if hours is not None and not _HOURS.fullmatch(hours):
        raise UsageError(f'{table.place} hours must be two times of the day, such as "09:00-17:00", not {hours!r}')

    if dashboard := table.string("dashboard"):
        dashboard = checked_address(dashboard, f"{table.place} dashboard", Path())

    def counted(key: str) -> int | None:
        return table.count(key, 1) if key in table.values else None

    return FleetOptions(
        open_pull_requests=counted("open-pull-requests"),
        open_per_repository=counted("open-per-repository"),
        canary=table.count("canary", plain.canary, 0),
        hours=hours,
        deliveries_per_hour=counted("deliveries-per-hour"),
        plans=counted("plans"),
        proofs=counted("proofs"),
        tries=table.count("tries", plain.tries),
        dashboard=dashboard,
        plugins=tuple(str((folder / text).absolute()) for text in table.strings("plugins")),
    )


def _options(table: Table, defaults: RepositoryOptions, *besides: str) -> RepositoryOptions:
    known = [one.name.replace("_", "-") for one in fields(RepositoryOptions) if one.name not in ("plugins", "rules")]
    table.allow(*known, *besides)

    def text(key: str, default: str | None) -> str | None:
        return table.string(key) if key in table.values else default

    def texts(key: str, default: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return table.strings(key) if key in table.values else default

    deliver = table.choice("deliver", DELIVERIES) if "deliver" in table.values else defaults.deliver
    require = table.choice("require", _RUNGS) if "require" in table.values else defaults.require
    if table.values.get("prove") is False and "require" not in table.values:
        require = None
    made = replace(
        defaults,
        base=text("base", defaults.base),
        branch=text("branch", defaults.branch),
        target=text("target", defaults.target),
        namespace=text("namespace", defaults.namespace),
        select=texts("select", defaults.select),
        ignore=texts("ignore", defaults.ignore),
        unsafe_fixes=table.boolean("unsafe-fixes", defaults.unsafe_fixes),
        prove=table.boolean("prove", defaults.prove),
        require=require,
        budget=table.duration("budget") or defaults.budget,
        timeout=table.seconds("timeout") or defaults.timeout,
        limit=table.duration("limit") or defaults.limit,
        deliver=next(one for one in DELIVERIES if one == deliver),
        labels=texts("labels", defaults.labels) or (),
        ask_owners=table.boolean("ask-owners", defaults.ask_owners),
        cpus=table.count("cpus", defaults.cpus),
        gpus=table.count("gpus", 0) if "gpus" in table.values else defaults.gpus,
        memory=table.count("memory", 1) if "memory" in table.values else defaults.memory,
    )
    if made.require and not made.prove:
        raise UsageError(f"{table.place} require asks for a proof, which `prove = false` switches off; take out one")
    if made.budget and seconds_of(made.budget) >= made.seconds:
        raise UsageError(
            f"{table.place} budget is {made.budget}, but a proof is ended after {made.limit}, its `limit`; lower the "
            "budget, or raise the limit"
        )
    _check_rules(made, table.place)
    return made


def _check_rules(options: RepositoryOptions, place: str) -> None:
    """Raises UsageError for a rule, release or namespace that there is not, before three hundred runs say so."""
    from fixer.settings import check_codes, checked_namespace, checked_target

    check_codes(options.select or (), f"{place} select", rows=False)
    check_codes(options.ignore or (), f"{place} ignore")
    if options.target:
        checked_target(options.target, f"{place} target")
    checked_namespace(options.namespace, f"{place} namespace")


def _listed(what: Sequence[str], more: bool) -> list[tuple[str, str]]:
    """The addresses among arguments, and those in files that have one a line."""
    found = []
    for one in what:
        place = Path(one)
        lines = [(one, "", Path())]
        if "://" not in one and is_plain(one) and place.is_file():
            text = place.read_text(encoding="utf-8", errors="replace")
            lines = [
                (line.strip(), f"{one}:{number}: ", place.parent) for number, line in enumerate(text.split("\n"), 1)
            ]
        found += [
            ("", checked_address(line, f"{where}address", folder))
            for line, where, folder in lines
            if line and not line.startswith("#")
        ]
    if not found and not more:
        raise UsageError(NOBODY)
    return found


def is_plain(text: str) -> bool:
    """Whether a text holds no control character, and nothing that is not UTF-8."""
    return not _ODD.search(text)


def checked_address(text: str, place: str, folder: Path) -> str:
    """An address as git takes it, a path from a folder. Raises UsageError for one that cannot be used; what may be a
    password is not shown."""
    if not is_plain(text):
        raise UsageError(f"{place} {text!a}: it holds a control character, or one that is not UTF-8; rename it")
    if text.startswith("-") or "::" in text or not text.strip():
        raise UsageError(f"{place} {text!r}: no path and no address that `git clone` takes over http, ssh or git")
    if "://" in text:
        try:
            parts = urlsplit(text)
            host = parts.hostname
        except ValueError as error:
            raise UsageError(f"{place}: no address: {error}; give a path or what `git clone` takes") from None
        if parts.password or (parts.username and parts.scheme in ("http", "https")):
            raise UsageError(
                f"{place} at {host}: it holds a name or a password; remove it, and set GITHUB_TOKEN or "
                "GITLAB_TOKEN or a credential of git's"
            )
        if parts.scheme not in ("http", "https", "ssh", "git", "file"):
            raise UsageError(f"{place} {text!r}: fleets are cloned over http, ssh, git or from a path")
        return text
    if _SCP.fullmatch(text):
        return text
    path = (folder / Path(text).expanduser()).absolute()
    if not path.is_dir():
        raise UsageError(f"{place} {text!r}: there is no such folder; give a path or an address of a repository")
    return str(path)


def _checked(found: Sequence[FleetRepository], place: str) -> tuple[FleetRepository, ...]:
    seen: dict[tuple[tuple[str, str], str | None], FleetRepository] = {}
    for one in found:
        if not is_plain(one.name):
            raise UsageError(f"{place}: the name {one.name!a} holds a control character; give it another `name`")
        other = seen.setdefault((one.identity, one.options.branch), one)
        if other is not one:
            raise UsageError(
                f"{place}: {other.address} and {one.address} are one repository; name it once, or give each a "
                "`branch` of its own"
            )
    twice = [name for name, number in Counter(one.name for one in found).items() if number > 1]
    if twice:
        raise UsageError(
            f"{place}: {len(twice)} names are used for several repositories, such as '{twice[0]}'; give each a "
            "`name` of its own in a FLEET.toml"
        )
    return tuple(found)


def schema() -> dict[str, Any]:
    """The JSON Schema of a FLEET.toml."""
    import json
    from importlib import resources

    text = resources.files("fixer.fleet").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
