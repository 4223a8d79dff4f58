"""When a fleet holds back: its canary, the pull requests that may be open at once, its rate and its hours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, time

from fixer.fleet.asked import FleetOptions
from fixer.fleet.failures import host_of

HOUR_S = 3600.0


def waits_to_begin(options: FleetOptions, ever: int, open_now: int, *, released: bool) -> str:
    """What keeps another repository from being delivered, "" where nothing does; those with an open pull request of
    their own it does not hold up. `ever` were delivered so far, and of `open_now` a pull request is open."""
    if options.canary and not released and ever >= options.canary:
        return f"a word: {ever} are delivered for a look; `fixer fleet run --release` delivers the rest"
    most = options.open_pull_requests
    if most is not None and open_now >= most:
        return f"a pull request to be merged or closed: {open_now} are open, and no more than {most} may be"
    return ""


def paused(options: FleetOptions, begun: Iterable[str]) -> frozenset[str]:
    """The servers at which nothing is delivered now, given where it was within the hour."""
    most = options.deliveries_per_hour
    return frozenset(host for host, many in Counter(map(host_of, begun)).items() if most and many >= most)


def waits_for_hour(options: FleetOptions, now: datetime | None = None) -> str:
    """What keeps all deliveries from being made at this time of the day, "" where nothing does."""
    if options.hours and not _is_within(options.hours, (now or datetime.now()).time()):
        return f"its hour: deliveries are made {options.hours}"
    return ""


def _is_within(hours: str, now: time) -> bool:
    start, end = (_minutes(one) for one in hours.split("-"))
    at = now.hour * 60 + now.minute
    return start <= at < end if start <= end else at >= start or at < end


def _minutes(text: str) -> int:
    hour, _, minute = text.partition(":")
    return int(hour) * 60 + int(minute)
