// node compare/compare.js [--n 16000] [--frames 30]: milliseconds per frame of boxes that all move, in Node.

import { parseArgs } from "node:util";
import { engines } from "./engines.js";
import { lead, measure } from "./measure.js";

const { values } = parseArgs({ options: { n: { type: "string", default: "16000" }, frames: { type: "string", default: "30" } } });
const [n, frames] = [Number(values.n), Number(values.frames)];
const all = await engines();
console.log(`Node ${process.version}, ${n} moving boxes, ${frames} frames, engines take turns; equal pairs in every frame.`);
for (const dimension of [2, 3]) {
    const result = await measure(all, dimension, n, frames);
    const { best, times } = lead(result);
    console.log(`\n${dimension}D, ${result.pairs}\n`);
    console.log("| library | median ms | least ms | times ours |\n| --- | ---: | ---: | ---: |");
    for (const row of result.rows) {
        console.log(`| ${row.name} | ${row.median.toFixed(3)} | ${row.least.toFixed(3)} | ${(row.median / result.rows[0].median).toFixed(1)} |`);
    }
    console.log(`\n${times.toFixed(1)} times as fast as ${best}, the best of the others.`);
}
