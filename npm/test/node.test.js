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

test("the example of the page does what its comments say", async () => {
    const page = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const program = page.match(/```js\n([^]*?)```/)[1].replace('"broadphase"', JSON.stringify(new URL("../src/index.js", import.meta.url)));
    const shown = ["ids", "count", "started", "ended", "pairs: world.pairs()", "rays: world.firstAlongRays(rays)", "near: neighbors(points, 1.5, { period: [10, 10, 10] })"];
    const { ids, count, started, ended, pairs, rays, near } = (await import(`data:text/javascript,${encodeURIComponent(`${program}\nexport const found = { ${shown} };`)}`)).found;
    assert.deepEqual([count, [...started], ended.length, [...pairs]], [1, [...ids], 0, [0, 1]]);
    assert.deepEqual([[...rays.starts], [...rays.ids], [...rays.distances]], [[0, 1], [ids[0]], [4.5]]);
    assert.deepEqual([[...near.offsets], [...near.indices]], [[0, 1, 2], [1, 0]]);
});

for (const simd of [true, false]) {
    const library = await load({ simd });
    for (const [name, run] of Object.entries(cases)) {
        test(`${name} (${library.instructionSet})`, () => run(library));
    }
}
