"use strict";

const fs = require("fs");
const vscode = require("vscode");
const { LanguageClient, RevealOutputChannelOn } = require("vscode-languageclient/node");
const { commandFor } = require("./command");

const SELECTOR = [
  { scheme: "file", language: "python" },
  {
    scheme: "file",
    pattern: "**/{pyproject.toml,setup.cfg,Pipfile,*requirement*.txt,*constraint*.txt,environment*.yml,environment*.yaml,*.yaml,*.yml}",
  },
];

let client;
let queue = Promise.resolve();

async function activate(context) {
  const output = vscode.window.createOutputChannel("fixer");
  const python = await pythonApi();
  const restart = () => (queue = queue.then(() => started(output, python)).catch((error) => failed(error, output)));
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("fixer.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("fixer.command") && restart()),
  );
  if (python) {
    context.subscriptions.push(python.environments.onDidChangeActiveEnvironmentPath(restart));
  }
  await restart();
}

async function deactivate() {
  await queue;
  await stopped();
}

async function started(output, python) {
  await stopped();
  const setting = vscode.workspace.getConfiguration("fixer").get("command", []);
  const { command, args } = commandFor(setting, await interpreter(python), fs.existsSync, process.platform);
  output.appendLine(`starting ${[command, ...args].join(" ")}`);
  client = new LanguageClient(
    "fixer",
    "fixer",
    { command, args },
    { documentSelector: SELECTOR, outputChannel: output, revealOutputChannelOn: RevealOutputChannelOn.Never },
  );
  await client.start();
}

async function stopped() {
  const old = client;
  client = undefined;
  if (old && old.needsStop()) {
    await old.stop();
  }
}

async function failed(error, output) {
  output.appendLine(String(error));
  const settings = "Open settings";
  const chosen = await vscode.window.showErrorMessage(
    `fixer does not start (${error.message}). Install it in the selected Python environment (pip install 'fixer[server]'), or name it in the setting fixer.command.`,
    settings,
  );
  if (chosen === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "fixer.command");
  }
}

async function pythonApi() {
  const extension = vscode.extensions.getExtension("ms-python.python");
  const api = extension && (await extension.activate());
  return api && api.environments ? api : undefined;
}

/** The interpreter that is selected for the first folder. */
async function interpreter(python) {
  if (!python) {
    return undefined;
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const selected = await python.environments.resolveEnvironment(python.environments.getActiveEnvironmentPath(folder));
  return selected?.executable?.uri?.fsPath;
}

module.exports = { activate, deactivate };
