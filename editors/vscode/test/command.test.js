"use strict";

const assert = require("node:assert");
const { test } = require("node:test");
const { commandFor } = require("../src/command");

const everywhere = () => true;
const nowhere = () => false;

test("the setting wins", () => {
  assert.deepStrictEqual(commandFor(["uvx", "fixer"], "/env/bin/python", everywhere, "linux"), {
    command: "uvx",
    args: ["fixer", "server"],
  });
});

test("the selected environment comes next", () => {
  const found = commandFor([], "/env/bin/python3", everywhere, "linux");
  assert.deepStrictEqual(found, { command: "/env/bin/fixer", args: ["server"] });
});

test("on Windows scripts lie beside the interpreter, or in a folder beside it", () => {
  const only = (wanted) => (place) => place === wanted;
  const beside = "C:\\env\\Scripts\\fixer.exe";
  assert.strictEqual(commandFor([], "C:\\env\\Scripts\\python.exe", only(beside), "win32").command, beside);
  assert.strictEqual(commandFor([], "C:\\env\\python.exe", only(beside), "win32").command, beside);
});

test("else it is looked for on the PATH", () => {
  assert.strictEqual(commandFor([], "/env/bin/python", nowhere, "linux").command, "fixer");
  assert.strictEqual(commandFor([], undefined, everywhere, "linux").command, "fixer");
});
