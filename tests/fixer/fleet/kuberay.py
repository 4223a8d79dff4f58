"""The cluster that docs/howto/fleet.md describes, and its check against KubeRay's own schema:

    python -m tests.fixer.fleet.kuberay ray.io_rayclusters.yaml

The file is `ray-operator/config/crd/bases/ray.io_rayclusters.yaml` of https://github.com/ray-project/kuberay
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import yaml

PAGE = Path(__file__).parents[3] / "docs/howto/fleet.md"


def described() -> dict[str, Any]:
    """The RayCluster of the page."""
    found = re.search(r"^```yaml\n(apiVersion: ray\.io.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found
    cluster: dict[str, Any] = yaml.safe_load(found[1])
    return cluster


def strictly(schema: Any) -> Any:
    """A schema of Kubernetes as one of JSON in which no unknown field is taken."""
    if isinstance(schema, list):
        return [strictly(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strictly(value) for key, value in schema.items()}
    if made.pop("x-kubernetes-int-or-string", False):
        return {"type": ["integer", "string"]}
    open_ended = "additionalProperties" in made or made.get("x-kubernetes-preserve-unknown-fields")
    return made if "properties" not in made or open_ended else {**made, "additionalProperties": False}


def main(definition: Path) -> int:
    versions = yaml.safe_load(definition.read_text())["spec"]["versions"]
    schema = next(item["schema"]["openAPIV3Schema"] for item in versions if item["name"] == "v1")
    cluster = described()
    found = list(jsonschema.Draft202012Validator(strictly(schema["properties"]["spec"])).iter_errors(cluster["spec"]))
    for error in found:
        print(f"{error.json_path}: {error.message}")
    print(f"{len(found)} errors")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
