"""Landing a result on a branch: what is made, and what is never touched."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fixer.branch import Landing, PlannedCommit, annotate, check_branch, check_content, check_free, land
from fixer.errors import UsageError
from fixer.gitio import Repository
from fixer.project import open_commit, open_tree
from tests.fixer.git_repos import Repo

FIRST = PlannedCommit(
    "TBP001", "tbptt", "Cut hidden states", "Why it is so.\n\nAnd more.", ("TBP001-1",), {"train.py": b"one\n"}
)
SECOND = PlannedCommit(
    "LIT002", "move", "Rename", "", (), {"train.py": b"two\r\n", "src/model.py": b"\xef\xbb\xbfm\xe9"}
)
NEW = PlannedCommit("PIN001", "move", "Pin", "Pins.", (), {"deep/er/new.txt": b"x"})


def landed(
    repo: Repo, *steps: PlannedCommit, branch: str = "fixer/work", force: bool = False, dry_run: bool = False
) -> Landing:
    return land(open_commit(repo.path, None), branch, steps, "1.2.3", force=force, dry_run=dry_run)


def refs(repo: Repo) -> str:
    return repo.git("for-each-ref")


def test_one_commit_a_step(repo: Repo) -> None:
    base = repo.git("rev-parse", "HEAD")
    landing = landed(repo, FIRST, SECOND, NEW)
    assert (landing.branch, landing.created) == ("fixer/work", True)
    assert landing.message == ""
    assert [(commit.code, commit.group, commit.subject, commit.findings) for commit in landing.commits] == [
        ("TBP001", "tbptt", "Cut hidden states", ("TBP001-1",)),
        ("LIT002", "move", "Rename", ()),
        ("PIN001", "move", "Pin", ()),
    ]
    assert repo.git("rev-list", "--reverse", f"{base}..fixer/work").split() == [c.id for c in landing.commits]
    assert repo.git("rev-parse", "fixer/work") == landing.head
    assert repo.git("diff-tree", "--no-commit-id", "--name-only", "-r", landing.head) == "deep/er/new.txt"
    assert repo.git("fsck", "--strict", "--no-dangling") == ""


def test_contents_are_written_as_given(repo: Repo) -> None:
    repo.commit({".gitattributes": b"* text eol=lf\n"})
    repo.git("config", "core.autocrlf", "input")
    landing = landed(repo, FIRST, SECOND)
    assert repo.show(landing.commits[0].id, "train.py") == b"one\n"
    assert repo.show(landing.head, "train.py") == b"two\r\n"
    assert repo.show(landing.head, "src/model.py") == b"\xef\xbb\xbfm\xe9"
    assert repo.show(landing.head, "notes.md") == b"notes\n"


def test_the_message_of_a_commit(repo: Repo) -> None:
    head = landed(repo, replace(FIRST, subject="Cut\nhidden  states\0")).head
    assert repo.git("cat-file", "commit", head).partition("\n\n")[2] == (
        "Cut hidden states\n\nWhy it is so.\n\nAnd more.\n\n"
        "Fixer-Rule: TBP001\nFixer-Group: tbptt\nFixer-Version: 1.2.3"
    )
    assert repo.git("log", "-1", "--format=%(trailers:key=Fixer-Rule,valueonly)", head).strip() == "TBP001"


def test_modes_are_kept(repo: Repo) -> None:
    (repo.path / "train.py").chmod(0o755)
    repo.commit({})
    landing = landed(repo, FIRST, NEW)
    assert repo.git("ls-tree", landing.head, "train.py").startswith("100755 ")
    assert repo.git("ls-tree", "-r", landing.head, "deep").startswith("100644 ")


def test_a_step_without_effect_makes_no_commit(repo: Repo) -> None:
    again = replace(FIRST, code="X")
    assert [commit.code for commit in landed(repo, FIRST, again, replace(again, files={}), NEW).commits] == [
        "TBP001",
        "PIN001",
    ]


@pytest.mark.parametrize("steps", [(), (replace(FIRST, files={"train.py": b"import lightning\n"}),)])
def test_nothing_changed_makes_no_branch(repo: Repo, steps: tuple[PlannedCommit, ...]) -> None:
    before = refs(repo)
    landing = landed(repo, *steps)
    assert (landing.created, landing.commits, landing.head) == (False, (), repo.git("rev-parse", "HEAD"))
    assert refs(repo) == before


def test_head_index_and_work_tree_are_untouched(repo: Repo) -> None:
    repo.write({"train.py": b"uncommitted\n", "src/model.py": b"staged\n", "new.py": b"new\n"})
    repo.git("add", "src/model.py")
    os.utime(repo.path / "notes.md", (1, 1))
    before, status = repo.fingerprint(), repo.git("--no-optional-locks", "status", "--porcelain")
    landing = landed(repo, FIRST, SECOND, NEW)
    annotate(open_commit(repo.path, None), landing.commits, {landing.head: "trains"})
    assert repo.fingerprint() == before
    assert repo.git("--no-optional-locks", "status", "--porcelain") == status


def test_ids_are_the_same_in_any_clone(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("clone", "--quiet", str(repo.path), str(tmp_path / "elsewhere" / "clone"))
    here = landed(repo, FIRST, SECOND, NEW)
    clone = Repo(tmp_path / "elsewhere" / "clone")
    clone.git("config", "user.name", "Somebody Else")
    clone.git("config", "commit.gpgSign", "true")
    clone.git("config", "i18n.commitEncoding", "latin-1")
    clone.git("config", "core.autocrlf", "true")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2001-01-01T00:00:00Z")
    there = landed(clone, FIRST, SECOND, NEW, branch="other-name")
    assert there.commits == here.commits


def test_identity_and_date_do_not_depend_on_who_runs_it(repo: Repo) -> None:
    date = repo.git("log", "-1", "--format=%cd", "--date=raw", "HEAD")
    head = landed(repo, FIRST).head
    assert repo.git("log", "-1", "--format=%an|%cn|%ad|%cd", "--date=raw", head) == f"fixer|fixer|{date}|{date}"


def test_the_version_is_part_of_the_id(repo: Repo) -> None:
    project = open_commit(repo.path, None)
    one = land(project, "one", [FIRST], "1.0", force=False)
    two = land(project, "two", [FIRST], "1.1", force=False)
    assert one.head != two.head


def test_the_same_result_again_is_left_as_it_is(repo: Repo) -> None:
    first = landed(repo, FIRST)
    before = refs(repo)
    again = landed(repo, FIRST)
    assert (again.created, again.head, again.commits) == (False, first.head, first.commits)
    assert again.message == "branch fixer/work already holds this result"
    assert refs(repo) == before


def test_the_same_files_by_other_commits_are_left_as_they_are(repo: Repo) -> None:
    first = landed(repo, FIRST)
    again = landed(repo, replace(FIRST, subject="Another subject"), force=True)
    assert (again.created, again.head, again.commits) == (False, first.head, ())


def test_another_result_of_fixers_is_replaced_and_can_be_had_back(repo: Repo) -> None:
    first = landed(repo, FIRST, NEW)
    check_content(open_commit(repo.path, None), "fixer/work", [SECOND], "1.2.3")
    dry = landed(repo, SECOND, dry_run=True)
    assert dry.message == f"branch fixer/work would hold 1 commit, instead of {first.head[:12]}"
    assert repo.git("rev-parse", "fixer/work") == first.head
    repo.commit({"later.py": b""})
    second = landed(repo, SECOND)
    assert second.created
    assert repo.git("rev-parse", "fixer/work") == second.head
    back = f"`git branch NAME {first.head[:12]}` brings back"
    assert second.message == f"branch fixer/work now holds 1 commit, instead of {first.head[:12]}, which {back}"
    repo.git("branch", "again", first.head[:12])
    assert repo.git("rev-parse", "again") == first.head


def by_a_person(repo: Repo, how: str) -> str:
    """Has somebody work on the branch; returns what it then holds."""
    repo.git("switch", "--quiet", "fixer/work")
    if how == "rewritten":
        repo.git("commit", "--quiet", "--amend", "--no-edit")
    elif how == "on top":
        repo.commit({"train.py": b"by hand\n"})
    elif how == "between":
        work = repo.commit({"train.py": b"by hand\n"})
        message = repo.git("log", "-1", "--format=%B", "HEAD~1").encode()
        theirs = ("-c", "user.name=fixer", "-c", "user.email=noreply@fixer.invalid")
        tree = repo.git("rev-parse", "HEAD~1^{tree}")
        repo.git("reset", "--quiet", "--hard", repo.git(*theirs, "commit-tree", tree, "-p", work, data=message))
    else:
        repo.git("reset", "--quiet", "--hard", "HEAD~1")
        repo.commit({"other.py": b"before it\n"})
    repo.git("switch", "--quiet", "main")
    return repo.git("rev-parse", "fixer/work")


@pytest.mark.parametrize("how", ["rewritten", "on top", "between", "instead"])
def test_a_branch_with_a_commit_of_a_person_is_replaced_by_force_alone(repo: Repo, how: str) -> None:
    landed(repo, FIRST)
    theirs = by_a_person(repo, how)
    project = open_commit(repo.path, None)
    with pytest.raises(UsageError, match=r"'fixer/work' exists and holds something else; .* --force"):
        landed(repo, SECOND)
    with pytest.raises(UsageError, match="holds something else"):
        check_content(project, "fixer/work", [SECOND], "1.2.3")
    assert repo.git("rev-parse", "fixer/work") == theirs
    second = landed(repo, SECOND, force=True)
    assert repo.git("rev-parse", "fixer/work") == second.head
    assert theirs[:12] in second.message


def test_a_branch_on_a_commit_that_is_nowhere_else_is_replaced_by_force_alone(repo: Repo) -> None:
    """Such as one that was amended since: it is not fixer's to lose."""
    repo.commit({"train.py": b"first\n"})
    landed(repo, FIRST)
    repo.git("commit", "--quiet", "--amend", "--message", "Said otherwise")
    with pytest.raises(UsageError, match="holds something else"):
        landed(repo, SECOND)


@pytest.mark.parametrize("where", ["here", "in another worktree"])
def test_a_branch_that_is_checked_out_is_refused(repo: Repo, tmp_path: Path, where: str) -> None:
    if where == "here":
        branch, place = "main", repo.path
    else:
        branch, place = "side", tmp_path / "side"
        repo.git("worktree", "add", "--quiet", "-b", "side", str(place))
    project, before = open_commit(repo.path, None), refs(repo)
    with pytest.raises(UsageError, match=f"'{branch}' is checked out in {place}"):
        land(project, branch, [FIRST], "1", force=True)
    with pytest.raises(UsageError, match="checked out"):
        check_free(project, branch)
    assert refs(repo) == before


@pytest.mark.parametrize("name", ["", "-x", "a..b", "a b", "a.lock", "/a", "a/", "a~1", "@{-1}", "HEAD", "a\nb", "a:b"])
def test_names_that_git_does_not_allow(repo: Repo, name: str) -> None:
    with pytest.raises(UsageError, match="not a name for a branch"):
        check_branch(open_commit(repo.path, None), name)
    with pytest.raises(UsageError, match="not a name for a branch"):
        landed(repo, FIRST, branch=name)


@pytest.mark.parametrize(("there", "asked"), [("fixer", "fixer/work"), ("fixer/work/old", "fixer/work")])
def test_a_branch_that_stands_in_the_way(repo: Repo, there: str, asked: str) -> None:
    repo.git("branch", there)
    with pytest.raises(UsageError, match=f"branch '{there}' exists, so that git cannot create '{asked}'"):
        landed(repo, FIRST, branch=asked, force=True)


def test_a_symbolic_branch_does_not_lead_to_another(repo: Repo) -> None:
    repo.git("branch", "kept")
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/kept")
    kept = repo.git("rev-parse", "kept")
    landing = landed(repo, FIRST, branch="alias", force=True)
    assert repo.git("rev-parse", "kept") == kept
    assert repo.git("rev-parse", "alias") == landing.head


def test_a_dry_run_leaves_nothing(repo: Repo) -> None:
    before = sorted((repo.path / ".git").rglob("*"))
    dry = landed(repo, FIRST, NEW, dry_run=True)
    assert not dry.created
    assert dry.message == "branch fixer/work would hold 2 commits"
    assert sorted((repo.path / ".git").rglob("*")) == before
    assert dry.commits == landed(repo, FIRST, NEW).commits


def test_a_dry_run_beside_borrowed_objects(repo: Repo, tmp_path: Path) -> None:
    place = tmp_path / 'odd: "name'
    repo.git("clone", "--quiet", "--shared", str(repo.path), str(place))
    assert landed(Repo(place), FIRST, dry_run=True).commits == landed(repo, FIRST).commits


@pytest.mark.parametrize("verb", ["hash-object", "write-tree", "commit-tree", "update-ref"])
def test_an_interrupt_leaves_no_branch(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verb: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before, tree, git = refs(repo), repo.fingerprint(), Repository.git

    def interrupted(self: Repository, *arguments: str, **options: object) -> bytes:
        if arguments[0] == verb:
            raise KeyboardInterrupt
        return git(self, *arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Repository, "git", interrupted)
        with pytest.raises(KeyboardInterrupt):
            landed(repo, FIRST, SECOND)
    assert refs(repo) == before
    assert repo.fingerprint() == tree
    assert list((tmp_path / "temporary").iterdir()) == []
    assert landed(repo, FIRST, SECOND).created


def test_a_branch_made_meanwhile_is_not_overwritten(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    git = Repository.git

    def overtaken(self: Repository, *arguments: str, **options: object) -> bytes:
        if arguments[0] == "update-ref":
            repo.git("branch", "fixer/work")
        return git(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Repository, "git", overtaken)
    with pytest.raises(UsageError, match="reference already exists"):
        landed(repo, FIRST)
    assert repo.git("rev-parse", "fixer/work") == repo.git("rev-parse", "HEAD")


def test_what_a_killed_run_left_is_cleared(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for name in ("fixer-git-old", "fixer-git-new", "other"):
        (tmp_path / "temporary" / name).mkdir(parents=True)
    os.utime(tmp_path / "temporary" / "fixer-git-old", (1, 1))
    os.utime(tmp_path / "temporary" / "other", (1, 1))
    landed(repo, FIRST)
    assert sorted(place.name for place in (tmp_path / "temporary").iterdir()) == ["fixer-git-new", "other"]


def test_notes_are_fixers_own(repo: Repo) -> None:
    repo.git("notes", "add", "--message", "the user's", "HEAD")
    users = repo.git("rev-parse", "refs/notes/commits")
    project, landing = open_commit(repo.path, None), landed(repo, FIRST, SECOND)
    first, second = (commit.id for commit in landing.commits)
    annotate(project, landing.commits, {first: "trains", second: "same\n\nverdict: é", "0" * 40: "not ours"})
    assert repo.git("notes", "--ref=fixer", "show", first) == "trains"
    assert repo.git("notes", "--ref=fixer", "show", second) == "same\n\nverdict: é"
    annotate(project, landing.commits, {first: "changed"})
    assert repo.git("notes", "--ref=fixer", "show", first) == "changed"
    assert repo.git("notes", "--ref=fixer", "show", second).startswith("same")
    assert len(repo.git("notes", "--ref=fixer", "list").splitlines()) == 2
    assert repo.git("rev-parse", "refs/notes/commits") == users
    notes = repo.git("rev-parse", "refs/notes/fixer")
    annotate(project, landing.commits, {first: "changed"})
    annotate(project, landing.commits, {})
    assert repo.git("rev-parse", "refs/notes/fixer") == notes


def test_notes_replace_those_that_git_filed_in_folders(repo: Repo) -> None:
    landing = landed(repo, FIRST)
    blob = repo.git("hash-object", "-w", "--stdin", data=b"old")
    inner = repo.git("mktree", data=f"100644 blob {blob}\t{landing.head[2:]}\n".encode())
    tree = repo.git("mktree", data=f"040000 tree {inner}\t{landing.head[:2]}\n".encode())
    repo.git("update-ref", "refs/notes/fixer", repo.git("commit-tree", tree, "-m", "notes"))
    annotate(open_commit(repo.path, None), landing.commits, {landing.head: "new"})
    assert repo.git("notes", "--ref=fixer", "show", landing.head) == "new"
    assert len(repo.git("notes", "--ref=fixer", "list").splitlines()) == 1


def test_landing_outside_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a commit of a git repository"):
        land(open_tree(tmp_path), "b", [FIRST], "1", force=False)


def test_a_base_other_than_head(repo: Repo) -> None:
    first = repo.git("rev-parse", "HEAD")
    repo.commit({"later.py": b""})
    landing = land(open_commit(repo.path, first), "b", [FIRST], "1", force=False)
    assert repo.git("rev-parse", f"{landing.head}^") == first
    assert "later.py" not in repo.git("ls-tree", "--name-only", landing.head)


def test_a_repository_with_long_ids(tmp_path: Path, new_repo: Callable[[str], Repo]) -> None:
    repo = new_repo("long")
    (repo.path / ".git").rename(tmp_path / "unused")
    repo.git("init", "--quiet", "--object-format=sha256")
    repo.commit({"train.py": b"x\n"})
    landing = landed(repo, FIRST)
    annotate(open_commit(repo.path, None), landing.commits, {landing.head: "trains"})
    assert len(landing.head) == 64
    assert repo.git("notes", "--ref=fixer", "show", landing.head) == "trains"
