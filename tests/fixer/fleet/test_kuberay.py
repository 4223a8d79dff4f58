"""The KubeRay configuration of the how-to; `tests.fixer.fleet.kuberay` holds it against KubeRay's schema."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixer.fleet.kuberay import PAGE, described


@pytest.fixture
def cluster() -> dict[str, Any]:
    """The configuration as the page has it."""
    return described()


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
