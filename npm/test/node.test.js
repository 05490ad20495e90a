// The tests in Node, with vector instructions and without.

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { hasSimd, load } from "../src/index.js";
import { cases } from "./cases.js";

test("Node has vector instructions, and they are chosen", async () => {
    assert.equal(hasSimd(), true);
    assert.equal((await load()).instructionSet, "simd128");
    assert.equal((await load({ simd: false })).instructionSet, "scalar");
});

test("each file is below 400 kB compressed", () => {
    for (const name of ["broadphase", "broadphase-simd"]) {
        const size = gzipSync(readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url)), { level: 9 }).length;
        assert.ok(size < 400_000, `${name}.wasm has ${size} bytes compressed`);
    }
});

for (const simd of [true, false]) {
    const library = await load({ simd });
    for (const [name, run] of Object.entries(cases)) {
        test(`${name} (${library.instructionSet})`, () => run(library));
    }
}
