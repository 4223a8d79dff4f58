"""What the editor at the other end understands."""

from __future__ import annotations

from dataclasses import dataclass

from lsprotocol import types


@dataclass(frozen=True)
class Client:
    """What an editor says of itself: `units` that columns count, whether it asks for the edits of an action only once
    it was chosen (`resolves`), takes edits of several documents with their versions, makes new files, shows actions
    that cannot be done with the reason, shows Markdown, tells of files that change once it is asked to (`watches`), and
    knows actions at all."""

    units: str = "utf-16"
    resolves: bool = False
    versions: bool = False
    creates: bool = False
    disables: bool = False
    markdown: bool = False
    watches: bool = False
    acts: bool = False
    links: bool = False


def client_of(capabilities: types.ClientCapabilities, units: str) -> Client:
    """The client that an `initialize` request tells of."""
    document = capabilities.text_document or types.TextDocumentClientCapabilities()
    workspace = capabilities.workspace or types.WorkspaceClientCapabilities()
    action = document.code_action or types.CodeActionClientCapabilities()
    edit = workspace.workspace_edit or types.WorkspaceEditClientCapabilities()
    hover = document.hover or types.HoverClientCapabilities()
    shown = document.publish_diagnostics or types.PublishDiagnosticsClientCapabilities()
    watched = workspace.did_change_watched_files
    asked_later = action.resolve_support.properties if action.resolve_support and action.data_support else ()
    return Client(
        units=units,
        resolves="edit" in asked_later,
        versions=bool(edit.document_changes or edit.resource_operations),  # which can be told in no other way
        creates=types.ResourceOperationKind.Create in (edit.resource_operations or ()),
        disables=bool(action.disabled_support),
        markdown=types.MarkupKind.Markdown in (hover.content_format or ()),
        watches=bool(watched and watched.dynamic_registration),
        acts=action.code_action_literal_support is not None,
        links=bool(shown.code_description_support),
    )
