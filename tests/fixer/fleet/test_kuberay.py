"""The cluster of the how-to holds what fixer needs of one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import tomlkit

import fixer.fleet
from tests.fixer.fleet.kuberay import PAGE, described

ROOT = PAGE.parents[2]
SPEC = described()["spec"]
GROUPS = SPEC["workerGroupSpecs"]


def containers() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each pod of the cluster, and its one container."""
    for group in (SPEC["headGroupSpec"], *GROUPS):
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        yield pod, container


def test_all_nodes_see_one_path_for_the_fleet_and_its_environments() -> None:
    for pod, container in containers():
        (mount,) = container["volumeMounts"]
        assert mount["name"] in {volume["name"] for volume in pod["volumes"]}
        (cache,) = [item["value"] for item in container["env"] if item["name"] == "XDG_CACHE_HOME"]
        assert cache.startswith(f"{mount['mountPath']}/")
        assert f"--state {mount['mountPath']}/" in PAGE.read_text()


def test_tokens_are_where_no_task_runs() -> None:
    assert SPEC["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    secrets = ["envFrom" in container for _, container in containers()]
    assert secrets == [True, *(False for _ in GROUPS)]


def test_all_nodes_have_the_release_of_ray_that_the_tests_run() -> None:
    (release,) = re.findall(r"^ray==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert SPEC["rayVersion"] == release
    assert f"rayproject/ray:{release}-py311" in PAGE.read_text()
    assert all(container["image"].endswith(f":{release}") for _, container in containers())


def test_a_node_of_each_kind_is_there_from_the_start_with_room_for_a_proof() -> None:
    assert all(group["replicas"] >= group["minReplicas"] >= 1 for group in GROUPS)
    (text,) = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    asked = tomlkit.parse(text).unwrap()
    schema = json.loads((Path(fixer.fleet.__file__).parent / "schema.json").read_text())
    jsonschema.validate(asked, schema)
    rooms = [container["resources"]["limits"] for _, container in containers()][1:]
    for repository in asked["repository"]:
        needs = {**asked["defaults"], **repository}
        assert any(
            int(room["cpu"]) >= needs["cpus"]
            and int(room["memory"].removesuffix("Gi")) >= needs["memory"]
            and int(room.get("nvidia.com/gpu", 0)) >= needs.get("gpus", 0)
            for room in rooms
        )
