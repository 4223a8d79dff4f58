"use strict";

// The extension as it is packaged, with the client library of VS Code, against the server of the fixer on the PATH.

const assert = require("node:assert");
const { execFileSync, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { test } = require("node:test");
const { standIn } = require("./stand_in");

const bundle = path.join(__dirname, "..", "dist", "extension.js");
const skip = spawnSync("fixer", ["--version"]).status !== 0 ? "fixer is not on the PATH" : !fs.existsSync(bundle) && "not built";

test("it starts the server of the selected environment, and shows and repairs what that finds", { skip }, async () => {
  const home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "fixer-vscode-")));
  const root = path.join(home, "project");
  fs.mkdirSync(root);
  fs.writeFileSync(path.join(root, "train.py"), "import pytorch_lightning as pl\n\ntrainer = pl.Trainer(gpus=0)\n");
  fs.writeFileSync(path.join(root, "requirements.txt"), "pytorch-lightning==1.9.0\n");
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  const fixer = execFileSync("sh", ["-c", "command -v fixer"], { encoding: "utf8" }).trim();
  fs.mkdirSync(path.join(home, "bin"));
  fs.symlinkSync(fixer, path.join(home, "bin", "fixer"));

  const { vscode, seen, document } = standIn(root, "train.py", path.join(home, "bin", "python"));
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  const { activate, deactivate } = require(bundle);
  await activate({ subscriptions: [] });
  try {
    for (let waited = 0; waited < 300 && seen.diagnostics.length === 0; waited++) {
      await new Promise((done) => setTimeout(done, 100));
    }
    assert.ok(seen.diagnostics.length > 0, [...seen.written, ...seen.shown].join("\n"));
    const [[uri, found]] = seen.diagnostics;
    assert.strictEqual(uri, document.uri.toString());
    assert.deepStrictEqual(found.map((item) => item.code.value ?? item.code), ["LIT101"]);
    assert.ok(seen.written.includes(`starting ${path.join(home, "bin", "fixer")} server`), seen.written.join("\n"));
    assert.ok(seen.watched.length > 0);

    const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
    const { registerCodeActionsProvider: actions, registerHoverProvider: hovers } = seen.providers;
    assert.ok(await hovers.provideHover(document, found[0].range.start, token));
    const context = { diagnostics: found, only: undefined, triggerKind: 1 };
    const offered = await actions.provideCodeActions(document, found[0].range, context, token);
    assert.strictEqual(offered[0].title, "fixer LIT101: rewrite this place");
    const { edit } = await actions.resolveCodeAction(offered[0], token);
    assert.strictEqual(edit.edits[0].edits[0].newText, 'trainer = pl.Trainer(accelerator="cpu")\n');
    assert.deepStrictEqual(seen.shown, []);
  } finally {
    await deactivate();
    Module._load = load;
    fs.rmSync(home, { recursive: true });
  }
});
