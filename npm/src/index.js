// broadphase: all overlapping pairs among many moving boxes, every frame.
//
//     import { load } from "broadphase";
//     const { pairs, World } = await load();
//     pairs(new Float32Array([0, 0, 2, 2,  1, 1, 3, 3]), { dimension: 2 }); // Uint32Array [0, 1]
//
// The library is the C interface, compiled to WebAssembly twice: with vector instructions and without. `load` takes the one that runs.

import { choice, Format, number, refuse } from "./input.js";
import { NEIGHBOR_DEF, NEIGHBOR_LIST, PAIR_LIST, SEARCH_DEF, SHAPE } from "./layout.js";
import { BroadphaseError, Memory } from "./memory.js";
import { makeWorld } from "./world.js";

export { BroadphaseError };

// A module with one vector instruction: valid where vectors are.
const WITH_VECTORS = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11);

/** Can this engine run vector instructions? */
export function hasSimd() {
    return WebAssembly.validate(WITH_VECTORS);
}

async function compile(url) {
    if (url.protocol === "file:") {
        const { readFile } = await import("node:fs/promises");
        return WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) {
        throw new BroadphaseError(`${url}: ${response.status} ${response.statusText}`, "not-found");
    }
    return WebAssembly.compile(await response.arrayBuffer());
}

/** Loads the library. */
export async function load({ simd = hasSimd(), module = undefined } = {}) {
    // Both are written out, so that bundlers find them.
    const url = simd ? new URL("../dist/broadphase-simd.wasm", import.meta.url) : new URL("../dist/broadphase.wasm", import.meta.url);
    const { exports } = await WebAssembly.instantiate(module ?? (await compile(url)), {});
    const memory = new Memory(exports);
    return Object.freeze({
        version: versionText(exports.bp_version()),
        instructionSet: memory.text(exports.bp_instruction_set()),
        algorithms: listAlgorithms(memory),
        pairs: (boxes, options) => pairs(memory, boxes, undefined, options),
        pairsBetween: (a, b, options) => pairs(memory, a, b, options),
        neighbors: (points, radius, options) => neighbors(memory, points, radius, options),
        World: makeWorld(memory),
    });
}

function versionText(version) {
    return [version >>> 16, (version >>> 8) & 255, version & 255].join(".");
}

function listAlgorithms(memory) {
    const names = [];
    for (let name; (name = memory.exports.bp_algorithm_name(names.length)) !== 0; ) {
        names.push(memory.text(name));
    }
    return Object.freeze(names);
}

/** Writes lengths and origin of a space that repeats. */
function setPeriod(memory, address, { period, periodOrigin }, dimension, { period: at, periodOrigin: originAt }) {
    const write = (argument, values, offset) => {
        if (values.length !== dimension) {
            throw refuse(argument, `there must be ${dimension} numbers`);
        }
        values.forEach((value, axis) => memory.setF64(address + offset + 8 * axis, number(argument, value ?? 0)));
    };
    if (period !== undefined) {
        write("period", period, at);
    }
    if (periodOrigin !== undefined) {
        write("periodOrigin", periodOrigin, originAt);
    }
}

function pairs(memory, a, b, options = {}) {
    const { dimension = 3, algorithm, margin, shape, halfOpen = false, sorted = true, pairLimit } = options;
    const { exports } = memory;
    const first = b === undefined ? "boxes" : "a";
    const format = Format.of(first, a, dimension);
    const count = format.rows(first, a, 2 * dimension);
    const countB = b === undefined ? 0 : format.rows("b", b, 2 * dimension);
    return memory.withText(algorithm, (name) => memory.borrow(SEARCH_DEF.size + 16, (def) => {
        const list = def + SEARCH_DEF.size;
        exports.bp_default_search_def(def);
        memory.setU32(def + SEARCH_DEF.algorithm, name);
        memory.setF64(def + SEARCH_DEF.margin, number("margin", margin, 0));
        memory.setU32(def + SEARCH_DEF.shape, choice("shape", SHAPE, shape, SHAPE.box));
        setPeriod(memory, def, options, dimension, SEARCH_DEF);
        if (pairLimit !== undefined) {
            memory.views.u64[(def + SEARCH_DEF.pairLimit) >>> 3] = BigInt(pairLimit);
        }
        memory.views.u8[def + SEARCH_DEF.halfOpen] = Number(halfOpen);
        memory.views.u8[def + SEARCH_DEF.unsorted] = Number(!sorted);
        const rows = memory.copyIn(b === undefined ? [a] : [a, b]);
        const status = b === undefined
            ? exports.bp_pairs(format.number, rows[0], count, def, list, memory.error)
            : exports.bp_pairs_between(format.number, rows[0], count, rows[1], countB, def, list, memory.error);
        memory.check(status);
        const found = memory.copyOut(Uint32Array, memory.u32(list + PAIR_LIST.pairs), 2 * memory.u32(list + PAIR_LIST.count));
        exports.bp_pair_list_free(list);
        return found;
    }));
}

function neighbors(memory, points, radius, options = {}) {
    const { dimension = 3, half = false, distances = false } = options;
    const { exports } = memory;
    const format = Format.of("points", points, dimension);
    const count = format.rows("points", points, dimension);
    return memory.borrow(NEIGHBOR_DEF.size + 32, (def) => {
        const list = def + NEIGHBOR_DEF.size;
        exports.bp_default_neighbor_def(def);
        setPeriod(memory, def, options, dimension, NEIGHBOR_DEF);
        memory.views.u8[def + NEIGHBOR_DEF.half] = Number(half);
        memory.views.u8[def + NEIGHBOR_DEF.distances] = Number(distances);
        const [rows] = memory.copyIn([points]);
        memory.check(exports.bp_neighbors(format.number, rows, count, number("radius", radius, NaN), def, list, memory.error));
        const total = memory.u32(list + NEIGHBOR_LIST.count);
        const found = {
            offsets: memory.copyOut(Uint32Array, memory.u32(list + NEIGHBOR_LIST.offsets), count + 1),
            indices: memory.copyOut(Uint32Array, memory.u32(list + NEIGHBOR_LIST.indices), total),
            distances: distances ? memory.copyOut(format.Array, memory.u32(list + NEIGHBOR_LIST.distances), total) : undefined,
        };
        exports.bp_neighbor_list_free(list);
        return found;
    });
}
