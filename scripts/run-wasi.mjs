// Runs a WASI program in Node, with the files of this machine: node scripts/run-wasi.mjs PROGRAM.wasm [ARGUMENT...]
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [path, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [path, ...rest], env: process.env, preopens: { "/": "/" }, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(await readFile(path), wasi.getImportObject());
process.exit(wasi.start(instance));
