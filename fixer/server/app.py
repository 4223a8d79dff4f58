"""The language server: what an editor asks and tells, and what it gets."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from enum import Enum
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from fixer import __version__
from fixer.reports.rule_text import RuleText, rule_texts
from fixer.server.actions import KINDS, QuickFix, edit_of, offered
from fixer.server.analyst import Analyst, Published
from fixer.server.client import Client, client_of
from fixer.server.documents import Document
from fixer.server.findings import SOURCE, diagnostics, hover

WATCHED = (
    "**/*.{py,ipynb,toml,cfg,txt,in,yaml,yml,json,lock,sh,bash,md,rst,dockerfile}",
    "**/{Dockerfile*,Pipfile,Makefile,tox.ini,.python-version,.gitignore}",
)
"""The files that a project is read from, as patterns of an editor."""

T = TypeVar("T")


class FixerServer(LanguageServer):
    """fixer as a language server. It writes nothing and runs nothing of a project: edits are made by the editor."""

    def __init__(self) -> None:
        super().__init__(SOURCE, __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.client = Client()
        self.was_shut_down = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self.analyst = Analyst(self._later(self._publish), self._later(self._tell))

    def shutdown(self) -> None:
        """Ends without waiting for a thread that reads what an editor may never write."""
        self.analyst.end()
        if self._thread_pool:
            self._thread_pool.shutdown(wait=False, cancel_futures=True)
            self._thread_pool = None
        super().shutdown()  # type: ignore[no-untyped-call]

    @cached_property
    def rules(self) -> dict[str, RuleText]:
        """The words of the rules."""
        return dict(rule_texts())

    async def asked(self, question: Callable[[], T]) -> T:
        """What the analyst answers."""
        return await asyncio.wrap_future(self.analyst.ask(question))

    def document(self, uri: str) -> Document | None:
        """A document that is open, and lies, or will lie, in a file."""
        return self.analyst.document(uri)

    def folders_changed(self) -> None:
        """Tells the analyst of the folders that are open."""
        roots = [folder.uri for folder in self.workspace.folders.values()]
        if not roots and self.workspace.root_uri:
            roots = [self.workspace.root_uri]
        self.analyst.set_folders([path for uri in roots if (path := _path(uri))])

    def begin(self) -> None:
        """Begins to look, in the running loop."""
        self._loop = asyncio.get_running_loop()
        self.analyst.start()

    def _later(self, call: Callable[[T], None]) -> Callable[[T], None]:
        """A call from another thread, made in the one that speaks with the editor."""

        def scheduled(given: T) -> None:
            if self._loop and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(call, given)

        return scheduled

    def _publish(self, made: Published) -> None:
        document = made.document
        if self.document(document.uri) == document:
            found = diagnostics(made.findings, document, self.rules, self.client)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, found, document.version)
            )

    def _tell(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"fixer: {message}"))


def serve() -> int:
    """Speaks with an editor over standard input and output until it ends that: 0, or 1 where it did so without a word,
    as the protocol has it."""
    _end_when_told()
    server = connected()
    server.start_io()
    sys.stderr.flush()
    os._exit(0 if server.was_shut_down else 1)  # a thread may still read what nobody writes


def _end_when_told() -> None:
    """A signal ends the process where it stands, for nothing was begun that has to be cleared away. Python's own way
    waits for the main thread to come back to Python, and no signal that another thread took wakes a loop that waits."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_DFL)


def connected() -> FixerServer:
    """A server with all that it answers."""
    server = FixerServer()
    for name, answer in _ANSWERS.items():
        server.feature(name, _OPTIONS.get(name))(partial(answer, server))
    return server


def _initialize(server: FixerServer, params: types.InitializeParams) -> None:
    agreed = server.workspace.position_encoding
    server.client = client_of(params.capabilities, agreed.value if isinstance(agreed, Enum) else str(agreed))
    server.begin()


def _initialized(server: FixerServer, params: types.InitializedParams) -> None:
    server.folders_changed()
    if server.client.watches:
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        name = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration(f"{SOURCE}-files", name, options)
        server.client_register_capability(types.RegistrationParams([registration]))


def _opened(server: FixerServer, params: types.DidOpenTextDocumentParams) -> None:
    item = params.text_document
    if path := _path(item.uri):
        server.analyst.update(Document(item.uri, path, item.text, item.version))


def _changed(server: FixerServer, params: types.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    if (path := _path(uri)) and params.content_changes:
        text = server.workspace.get_text_document(uri).source
        server.analyst.update(Document(uri, path, text, params.text_document.version))


def _closed(server: FixerServer, params: types.DidCloseTextDocumentParams) -> None:
    server.analyst.close(params.text_document.uri)
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))


def _saved(server: FixerServer, params: types.DidSaveTextDocumentParams) -> None:
    if path := _path(params.text_document.uri):
        server.analyst.reread([path])


def _files_changed(server: FixerServer, params: types.DidChangeWatchedFilesParams) -> None:
    server.analyst.reread([path for change in params.changes if (path := _path(change.uri))])


def _folders_changed(server: FixerServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
    server.folders_changed()


async def _hover(server: FixerServer, params: types.HoverParams) -> types.Hover | None:
    def question() -> types.Hover | None:
        document = server.document(params.text_document.uri)
        project = server.analyst.project_of(document) if document else None
        findings = project.findings_in(document) if project and document else None
        return hover(findings, document, params.position, server.client) if findings and document else None

    return await server.asked(question)


async def _code_action(server: FixerServer, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    return await server.asked(lambda: _offered(server, params)) if server.client.acts else None


def _offered(server: FixerServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The actions for a part of a document: with their edits, unless the editor asks for these once one was chosen."""
    document = server.document(params.text_document.uri)
    project = server.analyst.project_of(document) if document else None
    findings = project.findings_in(document) if project and document else None
    if document is None or not findings:
        return []
    actions = []
    for offer, answered in offered(findings, document, params.range, params.context.only, server.client):
        numbers = {finding.id for finding in answered}
        shown = [each for each in params.context.diagnostics if _number(each) in numbers]
        is_one = bool(offer.finding) and not offer.unsafe
        action = types.CodeAction(
            offer.title, offer.kind, shown or None, is_preferred=is_one or None, data=offer.data()
        )
        if not server.client.resolves:
            made = _edit(server, offer)
            if isinstance(made, str):
                if not server.client.disables:
                    continue
                action.disabled = types.CodeActionDisabled(made)
            else:
                action.edit = made
        actions.append(action)
    return actions


async def _resolve(server: FixerServer, action: types.CodeAction) -> types.CodeAction:
    """An action that was chosen, with its edit. Where there is none, the reason is shown."""
    made = await server.asked(lambda: _edit(server, QuickFix(**action.data)))  # type: ignore[arg-type]
    if isinstance(made, str):
        server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"fixer: not rewritten: {made}"))
        return action
    action.edit = made
    return action


def _edit(server: FixerServer, offer: QuickFix) -> types.WorkspaceEdit | str:
    document = server.document(offer.uri)
    if document is None or document.version != offer.version:
        return "the document changed since; ask again"
    project = server.analyst.project_of(document)
    path = project.path_of(document) if project else None
    if project is None or project.look is None or path is None or project.findings_in(document) is None:
        return "the file does not parse at the moment"
    return edit_of(offer, project.look, path, server.analyst.documents(), server.client)


def _shut_down(server: FixerServer, params: None) -> None:
    server.was_shut_down = True
    server.analyst.end()


def _number(diagnostic: types.Diagnostic) -> object:
    return diagnostic.data.get("finding") if isinstance(diagnostic.data, dict) else None


def _path(uri: str) -> Path | None:
    """Where a document's file lies; None where it is in no file, or in none that can be reached."""
    place = to_fs_path(uri) if uri.startswith("file:") else None
    try:
        return Path(place).resolve() if place else None
    except (OSError, RuntimeError, ValueError):
        return None


_ANSWERS: dict[str, Callable[..., object]] = {
    types.INITIALIZE: _initialize,
    types.INITIALIZED: _initialized,
    types.TEXT_DOCUMENT_DID_OPEN: _opened,
    types.TEXT_DOCUMENT_DID_CHANGE: _changed,
    types.TEXT_DOCUMENT_DID_CLOSE: _closed,
    types.TEXT_DOCUMENT_DID_SAVE: _saved,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: _files_changed,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: _folders_changed,
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.TEXT_DOCUMENT_CODE_ACTION: _code_action,
    types.CODE_ACTION_RESOLVE: _resolve,
    types.SHUTDOWN: _shut_down,
}
_OPTIONS = {types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(KINDS, resolve_provider=True)}
