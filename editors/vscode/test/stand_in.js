"use strict";

// A stand-in for the API of VS Code: as much as the extension and its client library need to open one file. What they
// only name, such as classes to extend, is made as it is asked for.

const fs = require("node:fs");
const path = require("node:path");

const nothing = () => ({ dispose() {} });

function anything() {
  const made = class {
    constructor(...given) {
      this.given = given;
    }
    dispose() {}
  };
  return new Proxy(made, {
    get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : (target[key] = anything())),
    apply: nothing,
  });
}

const events = (known) =>
  new Proxy(known, { get: (target, key) => target[key] ?? (String(key).startsWith("on") ? nothing : () => nothing()) });

class Uri {
  constructor(place) {
    Object.assign(this, { scheme: "file", authority: "", path: place, fsPath: place, query: "", fragment: "" });
  }
  toString() {
    return `file://${this.path}`;
  }
  static file(place) {
    return new Uri(place);
  }
  static parse(text) {
    return new Uri(text.replace("file://", ""));
  }
}

class EventEmitter {
  constructor() {
    this.event = nothing;
  }
  fire() {}
  dispose() {}
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(start, character, line, end) {
    Object.assign(
      this,
      typeof start === "number"
        ? { start: new Position(start, character), end: new Position(line, end) }
        : { start, end: character },
    );
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class CodeAction {
  constructor(title, kind) {
    Object.assign(this, { title, kind });
  }
}

class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
}
Object.assign(CodeActionKind, { Empty: new CodeActionKind(""), QuickFix: new CodeActionKind("quickfix") });
for (const [name, kind] of [["Source", "source"], ["SourceFixAll", "source.fixAll"], ["SourceOrganizeImports", "source.organizeImports"], ["Refactor", "refactor"], ["RefactorExtract", "refactor.extract"], ["RefactorInline", "refactor.inline"], ["RefactorMove", "refactor.move"], ["RefactorRewrite", "refactor.rewrite"], ["Notebook", "notebook"]]) {
  CodeActionKind[name] = new CodeActionKind(kind);
}

class TextEdit {
  constructor(range, newText) {
    Object.assign(this, { range, newText });
  }
}

class WorkspaceEdit {
  constructor() {
    this.edits = [];
  }
  set(uri, edits) {
    this.edits.push({ uri: uri.toString(), edits: edits.map(([edit]) => edit) });
  }
}

/** An editor with one folder and one file of it open; `seen` is what it was given. */
function standIn(root, name, interpreter) {
  const seen = { diagnostics: [], providers: {}, shown: [], written: [], watched: [] };
  const text = fs.readFileSync(path.join(root, name), "utf8");
  const document = { uri: new Uri(path.join(root, name)), languageId: "python", version: 1, getText: () => text, isClosed: false };
  const folders = [{ uri: new Uri(root), name: path.basename(root), index: 0 }];
  const channel = events({ appendLine: (line) => seen.written.push(line), append: (line) => seen.written.push(line) });
  const shows = async (message) => void seen.shown.push(message);
  const python = {
    environments: {
      onDidChangeActiveEnvironmentPath: nothing,
      getActiveEnvironmentPath: () => ({ path: interpreter }),
      resolveEnvironment: async () => ({ executable: { uri: new Uri(interpreter) } }),
    },
  };
  const known = {
    version: "1.105.0", Uri, EventEmitter, Position, Range, Diagnostic, CodeAction, CodeActionKind, TextEdit, WorkspaceEdit,
    CodeActionTriggerKind: { Invoke: 1, Automatic: 2 },
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3 },
    CancellationTokenSource: class {
      constructor() {
        this.token = { isCancellationRequested: false, onCancellationRequested: nothing };
      }
      cancel() {}
      dispose() {}
    },
    env: { appName: "Visual Studio Code", language: "en", logLevel: 1, onDidChangeLogLevel: nothing },
    extensions: {
      getExtension: (id) => (id === "ms-python.python" && interpreter ? { activate: async () => python } : undefined),
    },
    commands: { registerCommand: nothing, executeCommand: async () => undefined, getCommands: async () => [] },
    languages: new Proxy(
      {
        match: () => 10,
        createDiagnosticCollection: () => ({ set: (uri, found) => seen.diagnostics.push([uri.toString(), found]), delete() {}, clear() {}, dispose() {}, forEach() {} }),
      },
      { get: (target, key) => target[key] ?? ((selector, provider) => ((seen.providers[key] = provider), nothing())) },
    ),
    window: events({
      createOutputChannel: () => channel,
      showErrorMessage: shows,
      showWarningMessage: shows,
      showInformationMessage: shows,
      visibleTextEditors: [{ document }],
      activeTextEditor: { document },
      tabGroups: events({ all: [] }),
    }),
    workspace: events({
      workspaceFolders: folders,
      textDocuments: [document],
      notebookDocuments: [],
      getWorkspaceFolder: () => folders[0],
      getConfiguration: () => ({ get: (_, otherwise) => otherwise, inspect: () => undefined }),
      createFileSystemWatcher: (pattern) => (seen.watched.push(pattern), events({})),
    }),
  };
  const vscode = new Proxy(known, { get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : (target[key] = anything())) });
  return { vscode, seen, document };
}

module.exports = { standIn };
