// Engines take turns, frame by frame. Before any time counts, all must find the same pairs.

import { scene } from "./scene.js";

/** An order-independent number for a list of pairs. */
function hash(pairs) {
    let sum = 0;
    for (let i = 0; i < pairs.length; i += 2) {
        let x = Math.imul(pairs[i], 0x9e3779b1) ^ Math.imul(pairs[i + 1] + 0x7f4a7c15, 0x85ebca6b);
        x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
        x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
        sum = (sum + (x >>> 0)) % 9007199254740881;
    }
    return sum;
}

function median(times) {
    return [...times].sort((a, b) => a - b)[times.length >> 1];
}

/** Median milliseconds per frame of each engine that has this dimension; throws if two disagree on the pairs. */
export async function measure(engines, dimension, n, frames, { pause = async () => {} } = {}) {
    const moving = scene(dimension, n);
    moving.next();
    const rows = engines.filter((engine) => engine.dimensions.includes(dimension)).map((engine) => ({ engine, times: [] }));
    for (const row of rows) {
        row.state = row.engine.start(moving);
    }
    // The first frames let the engines compile and allocate.
    const warm = 5;
    let pairs = 0;
    for (let frame = 0; frame < warm + frames; frame++) {
        const boxes = moving.next();
        let expected;
        for (const row of rows) {
            const start = performance.now();
            const found = row.state.frame(boxes);
            const spent = performance.now() - start;
            const own = `${found.length / 2} pairs, hash ${hash(found)}`;
            expected ??= own;
            if (own !== expected) {
                throw new Error(`${row.engine.name} finds ${own} in frame ${frame}, ${rows[0].engine.name} ${expected}`);
            }
            if (frame >= warm) {
                row.times.push(spent);
            }
        }
        pairs = expected;
        await pause();
    }
    rows.forEach((row) => row.state.end());
    return { dimension, n, pairs, rows: rows.map(({ engine, times }) => ({ name: engine.name, median: median(times), least: Math.min(...times) })) };
}

/** How many times as fast the first engine is as the best of the others that are not ours. */
export function lead({ rows }) {
    const peers = rows.filter((row) => !row.name.startsWith("broadphase"));
    const best = peers.reduce((best, row) => (row.median < best.median ? row : best));
    return { best: best.name, times: best.median / rows[0].median };
}
