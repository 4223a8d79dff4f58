"""The KubeRay configuration of the how-to: what it says of itself, and that it keeps to KubeRay's schema."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

PAGE = Path(__file__).resolve().parents[3] / "docs/howto/fleet.md"
CRD = os.environ.get("FIXER_TEST_KUBERAY_CRD")
"""KubeRay's ray-operator/config/crd/bases/ray.io_rayclusters.yaml, where it is at hand."""


@pytest.fixture
def cluster() -> dict[str, Any]:
    """The configuration as the page has it."""
    (text,) = re.findall(r"```yaml\n(apiVersion: ray\.io.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_the_head_does_no_task_and_all_see_one_folder(cluster: dict[str, Any]) -> None:
    spec = cluster["spec"]
    assert spec["headGroupSpec"]["rayStartParams"] == {"num-cpus": "0"}
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        (pod,) = [group["template"]["spec"]]
        (container,) = pod["containers"]
        assert container["volumeMounts"] == [{"name": "shared", "mountPath": "/shared"}]
        assert container["env"] == [{"name": "XDG_CACHE_HOME", "value": "/shared/cache"}]
        assert pod["volumes"] == [{"name": "shared", "persistentVolumeClaim": {"claimName": "fixer-fleet"}}]
        assert container["resources"]["requests"] == container["resources"]["limits"]
    assert all(group["minReplicas"] >= 1 for group in spec["workerGroupSpecs"]), "what no node has fails at once"


def test_the_commands_speak_of_that_cluster_and_show_no_token(cluster: dict[str, Any]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"service/{cluster['metadata']['name']}-head-svc" in page
    assert f"rayproject/ray:{cluster['spec']['rayVersion']}-py312" in page
    assert "GITHUB_TOKEN=$(cat)" in page and "secretKeyRef" not in page


@pytest.mark.skipif(CRD is None, reason="FIXER_TEST_KUBERAY_CRD does not name KubeRay's schema")
def test_it_keeps_to_the_schema_of_kuberay(cluster: dict[str, Any]) -> None:
    held = yaml.safe_load(Path(CRD or "").read_text(encoding="utf-8"))
    (schema,) = [one["schema"]["openAPIV3Schema"] for one in held["spec"]["versions"] if one["name"] == "v1"]
    jsonschema.validate(cluster, schema)
    assert list(unknown(cluster, schema, "")) == []


def unknown(value: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    """The keys that a schema does not name, which Kubernetes would drop."""
    if isinstance(value, list):
        for each in value:
            yield from unknown(each, schema.get("items", {}), place)
    known, open_ended = schema.get("properties", {}), schema.get("additionalProperties")
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key not in known and not open_ended and place:
            yield f"{place}.{key}"
        elif key in known and (place or key == "spec"):
            yield from unknown(inner, known[key], f"{place}.{key}")
