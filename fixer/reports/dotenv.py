"""Lines of key and value, for `$GITHUB_OUTPUT` and the dotenv reports of GitLab.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions and
https://docs.gitlab.com/ci/yaml/artifacts_reports
"""

from __future__ import annotations

from fixer.reports import words
from fixer.reports.causes import causes
from fixer.reports.rule_text import Rules
from fixer.result import Result


def render(result: Result, rules: Rules) -> str:
    """One line a value, in an order that stays. A value is never longer than its line, whatever is in it."""
    values = {
        "branch": result.branch or "",
        "pull_request": result.pull_request or "",
        "base": result.base or "",
        "target": result.target,
        "findings": str(len(causes(result.findings, rules))),
        "repaired": str(len(causes(words.repaired(result), rules))),
        "left": str(len(causes(words.standing(result), rules))),
        "files": str(len(result.files)),
        "commits": str(len(result.commits)),
        "verdicts": ",".join(dict.fromkeys(item.outcome for item in result.evidence)),
        "ready": "" if result.readiness is None else str(result.readiness.ready).lower(),
        "error": result.error or "",
    }
    return "".join(f"{name}={words.one_line(value)}\n" for name, value in values.items())
