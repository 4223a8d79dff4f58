"use strict";

const path = require("path");

/**
 * How fixer is started: as the setting says; else from the environment of a Python interpreter, where it is installed
 * there; else from the PATH.
 *
 * @param {string[]} setting
 * @param {string | undefined} interpreter
 * @param {(place: string) => boolean} exists
 * @param {string} platform
 */
function commandFor(setting, interpreter, exists, platform) {
  if (setting.length > 0) {
    return { command: setting[0], args: [...setting.slice(1), "server"] };
  }
  const script = interpreter && besideInterpreter(interpreter, platform).find(exists);
  return { command: script || "fixer", args: ["server"] };
}

/** Where an environment has its scripts: not `python -m fixer`, which a folder `fixer` of the workspace would be. */
function besideInterpreter(interpreter, platform) {
  const { dirname, join } = platform === "win32" ? path.win32 : path.posix;
  const folder = dirname(interpreter);
  return platform === "win32" ? [join(folder, "fixer.exe"), join(folder, "Scripts", "fixer.exe")] : [join(folder, "fixer")];
}

module.exports = { commandFor };
