"""What is known of the project as a whole: its modules, classes and Trainers, the same for every rule."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from codemods.code.calls import class_around
from codemods.code.parsed_files import ParsedFiles
from codemods.code.scopes import ROOT, canonical, module_name
from codemods.code.search import Search
from codemods.code.source import CallNode, ClassNode, PythonFile, Source, Unreadable
from codemods.code.syntax import Function
from codemods.finding import Finding
from codemods.lightning.class_answers import ClassAnswers, differs_by_methods
from codemods.lightning.file_facts import CALLBACK as CALLBACK
from codemods.lightning.file_facts import CALLBACKS as CALLBACKS
from codemods.lightning.file_facts import KINDS as KINDS
from codemods.lightning.file_facts import MODULE as MODULE
from codemods.lightning.file_facts import TRAINER as TRAINER
from codemods.lightning.file_facts import ClassFact as ClassFact
from codemods.lightning.file_facts import FileFacts as FileFacts
from codemods.lightning.file_facts import KeywordFact as KeywordFact
from codemods.lightning.file_facts import TrainerFact as TrainerFact
from codemods.lightning.lineage import ordered
from codemods.lightning.mixins import kind_of_mixin
from codemods.lightning.reexports import Reexport, is_plain, may_bring, taken

SEARCH = "search"
"""The name of what looks for texts in the files, among what is worked out of these alone."""


@dataclass(frozen=True)
class Facts:
    """The facts of a tree.

    `texts` holds what rules collected from files that are not Python, by path and code. `mentions` says in which
    files, of any kind, the byte strings that rules asked for occur, `kinds` what kind each file of the tree is;
    `planned` holds the findings of the other rules (for a `last` rule only, with `applied` as it will be), `silenced`
    the (code, unit) pairs of which a part is ignored and so the whole is not rewritten, `served` the codes in comments
    that ignored something, with path and line (0 for anywhere in a notebook), `asked` the codes of the rules that
    looked, `pins` the requirements found in the project, `forked` whether Lightning comes from addresses that name no
    release,
    `target` the release to move to and `namespace` the one that all of Lightning is to be taken from, where the user
    asks for one.
    `sources` are the files of the tree, `trees` those that were parsed, `of_sources` what was worked out of the texts
    alone, which other facts of the same tree share, `of_classes` what was worked out of classes, which facts with the
    same classes and trees share. `memo` keeps what rules work out of the facts,
    for one another, under a name of theirs.
    """

    files: Mapping[str, FileFacts]
    mentions: Mapping[bytes, frozenset[str]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    planned: tuple[Finding, ...] = ()
    silenced: frozenset[tuple[str, str]] = frozenset()
    served: frozenset[tuple[str, int, str]] = frozenset()
    asked: frozenset[str] = frozenset()
    pins: tuple[str, ...] = ()
    forked: bool = False
    target: str = ""
    namespace: str = ""
    texts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict, compare=False, repr=False)
    trees: ParsedFiles = field(default_factory=lambda: ParsedFiles({}), compare=False, repr=False)
    of_sources: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    of_classes: ClassAnswers = field(default_factory=ClassAnswers, compare=False, repr=False)
    memo: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    _collected: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _origin: list[tuple[Facts, str]] = field(default_factory=list, init=False, compare=False, repr=False)

    def having(self, own: FileFacts, trees: ParsedFiles | None = None) -> Facts:
        """The same with other facts of one file, which `trees` may hold in another form, and a memory of its own."""
        trees = trees or self.trees
        classes = self._answers_with(own, trees)
        made = replace(self, files={**self.files, own.path: own}, of_classes=classes, trees=trees)
        same = own.classes == self.files[own.path].classes
        shared = ("_modules", "_stems", *(("_classes",) if same else ()))
        vars(made).update({name: vars(self)[name] for name in shared if name in vars(self)})
        made._origin.append((self, own.path))
        return made

    def origin_of(self, path: str) -> Facts:
        """The facts from which these differ by another file than this alone; these themselves where there are none."""
        return next((origin for origin, own in self._origin if own != path), self)

    @property
    def is_changed(self) -> bool:
        """Whether these are other facts of one file than those that were read."""
        return bool(self._origin)

    def _answers_with(self, own: FileFacts, trees: ParsedFiles) -> ClassAnswers:
        """What is known of classes with other facts of one file: all of it where the same is said of its classes, and
        what does not hang on their methods where these alone are others."""
        before = self.files[own.path]
        if replace(own, trainers=(), collected={}) == replace(before, trainers=(), collected={}):
            return self.of_classes if trees is self.trees else self.of_classes.copied()
        others = replace(own, trainers=(), collected={}, classes=before.classes)
        if others == replace(before, trainers=(), collected={}) and len(own.classes) == len(before.classes):
            pairs = [*zip(before.classes, own.classes, strict=True)]
            if all(differs_by_methods(one, other) for one, other in pairs):
                self.subclasses(before.classes[0])
                return self.of_classes.exchanged({one: other for one, other in pairs if one != other})
        return self._answers_apart(before, own, trees)

    def _answers_apart(self, before: FileFacts, own: FileFacts, trees: ParsedFiles) -> ClassAnswers:
        """What is known of classes that have nothing to do with those of one file, of which something else is said:
        what is above those that do not come from it, what those are that nothing of it comes from either."""
        hanging = {*before.classes, *self._found_through.get(own.path, ())}
        above = hanging.union(*map(self.subclasses, hanging))
        made = self.of_classes.without(own.path, above)
        alone = replace(self, files={**self.files, own.path: own}, of_classes=made, trees=trees)
        vars(alone).update(_modules=self._modules, _places=self._places)
        own_too = [*own.classes, *(item for item in above if item.path != own.path)]
        every = (*map(self.ancestry, above), *map(alone.ancestry, own_too))
        touched = {each for line in every for each in line} | above
        if before.public != own.public or not touched.isdisjoint(self._alike_in_name):
            return ClassAnswers()
        for item in touched:
            made.kinds.pop(item, None)
        made.below = self.of_classes.below_without(above)
        for item in own_too:
            for base in alone.ancestry(item)[1:]:
                made.below.setdefault(base, []).append(item)
        for base in touched & made.below.keys():
            made.below[base].sort(key=alone._place)
        return made

    def _place(self, item: ClassFact) -> tuple[int, int]:
        """Where a class stands among those of all files."""
        alike = (index for index, each in enumerate(self.files[item.path].classes) if each.name == item.name)
        return self._places[item.path], next(index for index in alike if self.files[item.path].classes[index] == item)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {path: place for place, path in enumerate(self.files)}

    @cached_property
    def _found_through(self) -> Mapping[str, list[ClassFact]]:
        """The classes of which a base is found by the facts of a file, by its path."""
        found: dict[str, list[ClassFact]] = {}
        for item in self._classes.values():
            asked = [(base, item.path) for base in item.bases if base]
            for base, near in asked:
                self.find_class(base, near)
            for path in set[str]().union(*(self.of_classes.through[each] for each in asked)):
                found.setdefault(path, []).append(item)
        return found

    @cached_property
    def _alike_in_name(self) -> frozenset[ClassFact]:
        """The classes of which a file has several of one name: what each is may hang on the others."""
        every = [item for file in self.files.values() for item in file.classes]
        named = Counter((item.path, item.name) for item in every)
        return frozenset(item for item in every if named[item.path, item.name] > 1)

    def holding(self, text: str) -> list[tuple[str, Source]]:
        """The files of the tree, of any kind, that hold a text, in their order."""
        if SEARCH not in self.of_sources:
            self.of_sources[SEARCH] = Search(self.sources)
        held = self.of_sources[SEARCH].holding(text.encode())
        return [item for item in self.sources.items() if item[0] in held]

    def open(self, path: str) -> PythonFile | None:
        """Another file of the tree, parsed when it is first asked for; None where it is not Python that can be read.

        For the few rules that follow a value into it: what many files need of one another is collected.
        """
        source = self.sources.get(path)
        if source is None or source.kind not in ("python", "notebook"):
            return None
        try:
            return self.trees.open(path)
        except Unreadable:
            return None

    def find_opened(self, dotted: str, near: str) -> tuple[PythonFile, ClassNode] | None:
        """The project's class of that dotted name as it stands in its file, which may be one that was not read; seen
        from the file `near`, through re-exports."""
        if (found := self.find_definition(dotted, near)) is None:
            return None
        file, node = found
        return next(((file, item) for item in file.classes if item.node is node), None)

    def find_definition(self, dotted: str, near: str) -> tuple[PythonFile, Function | ast.ClassDef] | None:
        """The project's class or function of that dotted name, as `find_opened` finds classes."""
        for _ in range(8):
            module, _, name = dotted.rpartition(".")
            file = self.open(path) if module and (path := self.path_of(module, near)) else None
            if file is None:
                return None
            for node in file.scope.statements:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
                    return file, node
            targets = file.scope.bindings.get(name) or {f"{star}.{name}" for star in file.scope.stars}
            if len(targets) != 1 or dotted in targets:
                return None
            dotted, near = min(targets), file.path
        return None

    def path_of(self, module: str, near: str) -> str | None:
        """The file of a dotted module, among all files of the tree; None where there is none, or several. A notebook
        is known to itself alone."""
        if module == near.replace("/", "."):
            return near
        paths = self._stems.get(module.rpartition(".")[2], ())
        suffix = module.replace(".", "/")
        fits = [path for path, stem in paths if stem == suffix or stem.endswith(f"/{suffix}")]
        if len(fits) > 1:
            fits = _nearest(fits, near, module)
        return fits[0] if len(fits) == 1 else None

    @cached_property
    def _stems(self) -> Mapping[str, list[tuple[str, str]]]:
        """The Python files of the tree, with their paths as modules have them, by the last name."""
        found: dict[str, list[tuple[str, str]]] = {}
        kinds = self.kinds or {path: source.kind for path, source in self.sources.items()}
        for path, kind in kinds.items():
            if kind == "python":
                stem = path.removesuffix(".py").removesuffix("/__init__")
                found.setdefault(stem.rpartition("/")[2], []).append((path, stem))
        return found

    def collected(self, code: str) -> dict[str, Any]:
        """What a rule's `collect` returned, by path."""
        if code not in self._collected:
            self._collected[code] = self._collected_by(code)
        return self._collected[code]

    def _collected_by(self, code: str) -> dict[str, Any]:
        for origin, path in self._origin:
            before, now = origin.files[path].collected, self.files[path].collected
            if (code in before) == (code in now):
                known = origin.collected(code)
                return known if before.get(code) is now.get(code) else {**known, path: now[code]}
        return {path: facts.collected[code] for path, facts in self.files.items() if code in facts.collected}

    def collected_texts(self, code: str) -> dict[str, Any]:
        """What a rule's `collect_text` returned, by path."""
        return {path: collected[code] for path, collected in self.texts.items() if code in collected}

    @cached_property
    def trainers(self) -> tuple[TrainerFact, ...]:
        """Every `Trainer(...)` call of the files that were read, in path order."""
        return tuple(trainer for path in sorted(self.files) for trainer in self.files[path].trainers)

    @cached_property
    def uses_lightning(self) -> bool:
        """Whether any file that was read imports Lightning."""
        return any(
            canonical(target).startswith(ROOT) for facts in self.files.values() for target in facts.exports.values()
        )

    def classes(self) -> Iterator[ClassFact]:
        """Every class of the files that were read."""
        return iter(self._classes.values())

    @property
    def modules(self) -> tuple[ClassFact, ...]:
        """Those of them that are LightningModules."""
        if self.of_classes.modules is None:
            self.of_classes.modules = tuple(item for item in self._classes.values() if self.kind(item) == MODULE)
        return self.of_classes.modules

    @cached_property
    def _modules(self) -> Mapping[str, tuple[str, ...]]:
        """Paths by every dotted suffix of their module name: `src.pkg.a` is also `pkg.a` and `a`."""
        found: dict[str, list[str]] = {}
        for path, facts in sorted(self.files.items()):
            parts = facts.module.split(".")
            for start in range(len(parts)):
                found.setdefault(".".join(parts[start:]), []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    @cached_property
    def _classes(self) -> Mapping[tuple[str, str], ClassFact]:
        for origin, path in self._origin:
            own = {(path, item.name): item for item in self.files[path].classes}
            if own.keys() == {(path, item.name) for item in origin.files[path].classes}:
                return {**origin._classes, **own}
        return {(item.path, item.name): item for facts in self.files.values() for item in facts.classes}

    def find_class(self, dotted: str, near: str) -> ClassFact | None:
        """The project's class of that dotted name, seen from the file `near`, through re-exports."""
        asked = dotted, near
        if asked not in self.of_classes.found:
            through: set[str] = set()
            self.of_classes.found[asked] = self._find_class(dotted, near, set(), through)
            self.of_classes.through[asked] = through
        return self.of_classes.found[asked]

    def _find_class(self, dotted: str, near: str, seen: set[tuple[str, str]], through: set[str]) -> ClassFact | None:
        """The class; the files by whose facts it is found are added to `through`."""
        module, _, name = dotted.rpartition(".")
        path = self.module_path(module, near)
        if path is None or (path, name) in seen:
            return None
        through.add(path)
        if name in self.files[path].unsure:
            return None
        seen.add((path, name))
        file, found = self.files[path], self._classes.get((path, name))
        if found is None and name not in file.bound:
            return self._find_by_star(file, name, seen, through)
        if found is None and name in file.exports:
            found = self._find_class(file.exports[name], path, seen, through)
        return None if found and self._is_hidden(file, name, found, seen, through) else found

    def _is_hidden(
        self, file: FileFacts, name: str, found: ClassFact, seen: set[tuple[str, str]], through: set[str]
    ) -> bool:
        """Whether a star of a file, which may stand behind what binds a name there, brings another of that name."""
        for star in file.stars:
            path = self.module_path(star, file.path)
            if path is None or (path, name) in seen:
                continue
            through.add(path)
            bound = name in self.files[path].bound
            if bound and self._find_class(f"{star}.{name}", file.path, set(seen), through) != found:
                return True
        return False

    def _find_by_star(
        self, file: FileFacts, name: str, seen: set[tuple[str, str]], through: set[str]
    ) -> ClassFact | None:
        """The class that a file has by a star, of which the last wins; one whose names cannot be seen may have any."""
        for star in reversed(file.stars):
            path = self.module_path(star, file.path)
            if path is None:
                if may_bring(self, star, name, file.path):
                    return None
                continue
            through.add(path)
            other = self.files[path]
            if name not in other.public if other.public is not None else name.startswith("_"):
                continue
            if found := self._find_class(f"{star}.{name}", file.path, seen, through):
                return found
            if name in other.bound or other.stars:
                return None
        return None

    def module_path(self, module: str, near: str) -> str | None:
        """The file of a dotted module, seen from the file `near`; None where there is none, or several."""
        paths = self._modules.get(module, ())
        if len(paths) > 1:
            paths = tuple(_nearest(paths, near, module))
        return paths[0] if len(paths) == 1 else None

    def of_class(self, file: PythonFile, item: ClassNode | None) -> ClassFact | None:
        """What is known of a class of a file; None where that is nothing."""
        known = self.files.get(file.path)
        return known.find(item.qualname) if known and item else None

    def classes_of(self, file: PythonFile, kind: str) -> Iterator[tuple[ClassNode, ClassFact]]:
        """The classes of a file that are of a kind, with what is known of them."""
        for item in file.classes:
            fact = self.of_class(file, item)
            if fact is not None and self.kind(fact) == kind:
                yield item, fact

    def kind_around(self, file: PythonFile, within: Sequence[ast.AST]) -> str | None:
        """What the class is that something stands in; None outside classes, too."""
        fact = self.of_class(file, class_around(file, within))
        return self.kind(fact) if fact else None

    def ancestry(self, item: ClassFact) -> tuple[ClassFact, ...]:
        """The class and its project-local bases as far as they can be followed, in the order in which Python looks
        through them."""
        if item not in self.of_classes.ancestry:
            self.of_classes.ancestry[item] = tuple(each for each in self.lineage(item) if isinstance(each, ClassFact))
        return self.of_classes.ancestry[item]

    def lineage(self, item: ClassFact) -> list[ClassFact | str]:
        """The same with the dotted names of the bases that are not of the project."""
        return ordered(item, self._bases, self.of_classes.orders)

    def _bases(self, item: ClassFact | str) -> list[ClassFact | str]:
        if isinstance(item, str):
            return []
        return [
            self.find_class(base, item.path) or self._lightnings(base, item.path) or base for base in item.bases if base
        ]

    def kind(self, item: ClassFact) -> str | None:
        """What a class is: one of KINDS, `other` where no base leads to Lightning, None where it cannot
        be told (a base is unknown, or comes from another library)."""
        if item not in self.of_classes.kinds:
            self.of_classes.kinds[item] = "other"  # where a class leads back to itself
            self.of_classes.kinds[item] = self._kind(item)
        return self.of_classes.kinds[item]

    def _kind(self, item: ClassFact) -> str | None:
        unknown = False
        for member in self.ancestry(item):
            for base in member.bases:
                if base and self.find_class(base, member.path):
                    continue
                base = self._alike(self._lightnings(base, member.path), member.path)
                if base in KINDS:
                    return base
                if base and base.startswith(CALLBACKS):
                    return CALLBACK
                unknown = unknown or (base != "object" and not is_plain(base))
        return None if unknown else kind_of_mixin(self, item) or "other"

    def _lightnings(self, base: str | None, near: str) -> str | None:
        """A base, by Lightning's name where a module of the project surely takes it from there."""
        taken = self.taken(base, near) if base and "." in base and not base.startswith(f"{ROOT}.") else None
        return taken.name if taken and taken.sure else base

    def taken(self, dotted: str, near: str) -> Reexport | None:
        """What of Lightning's a dotted name of a module of the project stands for, which imports it by itself, with
        its package or by a star, as far as that is followed."""
        return taken(self, dotted, near)

    def _alike(self, base: str | None, near: str) -> str | None:
        """A base that is one of several classes of that name in a module, by their kind where they have one."""
        module, _, name = (base or "").rpartition(".")
        path = self.module_path(module, near)
        alike = [each for each in self.files[path].classes if each.name == name] if path else []
        kinds = {self.kind(each) for each in alike}
        return kinds.pop() if len(alike) > 1 and len(kinds) == 1 and kinds <= KINDS else base

    def unresolved_bases(self, left_out: Container[str] = ()) -> set[str]:
        """Dotted names of bases that stand in no file read so far and are not Lightning's own; those of the
        classes in some files are left out."""
        found = set()
        for item in self._classes.values():
            if item.path in left_out:
                continue
            for base in item.bases:
                if base and base not in KINDS and not self.find_class(base, item.path):
                    found |= self._through_exports(base, item.path)
        return found

    def _through_exports(self, dotted: str, near: str) -> set[str]:
        """Where a name that a module of the project re-exports may come from, as far as files were read."""
        for _ in range(8):
            module, _, name = dotted.rpartition(".")
            path = self.module_path(module, near)
            file = self.files[path] if path else None
            if file is None or name not in file.exports:
                return {dotted, *(f"{star}.{name}" for star in (file.stars if file else ()))}
            dotted, near = file.exports[name], file.path
        return {dotted}

    def subclasses(self, item: ClassFact) -> Iterator[ClassFact]:
        """The project's classes that have `item` among their project-local bases."""
        if self.of_classes.below is None:
            below: dict[ClassFact, list[ClassFact]] = {}
            for each in self._classes.values():
                for base in self.ancestry(each)[1:]:
                    below.setdefault(base, []).append(each)
            self.of_classes.below = below
        return iter(self.of_classes.below.get(item, ()))


def _nearest(paths: Iterable[str], near: str, module: str) -> list[str]:
    """Of the modules of one name those beside a file, which is where a script looks first; a package looks by the whole
    name."""
    folder, _, name = near.rpartition("/")
    if name == "__init__.py":
        return [path for path in paths if module_name(path) == module]
    return [path for path in paths if path.rpartition("/")[0] == folder]


def is_trainer_call(call: CallNode) -> bool:
    """Whether a call builds Lightning's own Trainer."""
    return call.scope.resolve(call.node.func) == TRAINER
