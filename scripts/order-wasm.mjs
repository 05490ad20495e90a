// Reorders the functions of a WebAssembly module so that similar ones stand close together: copies of a function for another dimension or
// scalar, above all. gzip and the like find a repetition only within the last 32 kB, and the compiler's order puts most copies farther apart.
//
//   node scripts/order-wasm.mjs IN.wat OUT.wat
//
// Input and output are text as binaryen prints it, an item of the module per block that starts with " (". Nothing but the order of functions changes.
//
// Greedy: the next function is the one that shares the most runs of RUN instructions with the functions in the window before it, relative to its
// length. No clock and no random number: the same input gives the same output.
import { readFileSync, writeFileSync } from "node:fs";

/** Instructions in a run. 2 and 8 made the files 2 % larger, 4 made no difference. */
const RUN = 3;
/** The window, in bytes: less than the compressor's, since sizes are estimated and the function itself is in it too. */
const WINDOW = 16_000;
/** Bytes of an instruction, on average. */
const BYTES = 2.3;
/** A run that more functions have than these says nothing about similarity. */
const COMMON = 400;

/** For each function, the numbers of its runs; and for each run, the functions that have it. */
function findRuns(functions) {
    const numbers = new Map();
    const holders = [];
    const runs = functions.map((text, index) => {
        // The called function has another number in every copy.
        const lines = text.split("\n").slice(1).map((line) => line.trim().replace(/\((call|ref\.func) \S+/, "($1"));
        const code = lines.filter((line) => line !== ")");
        const own = new Set();
        for (let start = 0; start + RUN <= code.length; start++) {
            const run = code.slice(start, start + RUN).join("\n");
            if (!numbers.has(run)) {
                numbers.set(run, holders.length);
                holders.push([]);
            }
            own.add(numbers.get(run));
        }
        own.forEach((run) => holders[run].push(index));
        return { size: (code.length + 2) * BYTES, own };
    });
    for (const each of runs) {
        each.own = [...each.own].filter((run) => holders[run].length > 1 && holders[run].length <= COMMON);
    }
    return { runs, holders };
}

/** The functions in their new order, as indices. */
function order(functions) {
    const { runs, holders } = findRuns(functions);
    const shared = new Float64Array(functions.length); // runs that a function shares with the window
    const uses = new Int32Array(holders.length); // functions of the window that have a run
    const left = new Set(functions.keys());
    const result = [];
    let first = 0;
    let used = 0;
    const enter = (index) => {
        used += runs[index].size;
        for (const run of runs[index].own) {
            if (uses[run]++ === 0) holders[run].forEach((other) => shared[other]++);
        }
    };
    const leave = (index) => {
        used -= runs[index].size;
        for (const run of runs[index].own) {
            if (--uses[run] === 0) holders[run].forEach((other) => shared[other]--);
        }
    };
    while (left.size > 0) {
        let [best, most] = [-1, -1];
        for (const index of left) {
            const value = result.length === 0 ? runs[index].size : shared[index] ** 2 / runs[index].size;
            if (value > most) [best, most] = [index, value];
        }
        left.delete(best);
        result.push(best);
        enter(best);
        while (used > WINDOW && first < result.length - 1) leave(result[first++]);
    }
    return result;
}

const [input, output] = process.argv.slice(2);
const items = readFileSync(input, "latin1").trimEnd().replace(/\n\)$/, "").split(/\n(?= \()/);
const places = [...items.keys()].filter((index) => items[index].startsWith(" (func "));
const functions = places.map((place) => items[place]);
order(functions).forEach((index, at) => (items[places[at]] = functions[index]));
writeFileSync(output, items.join("\n") + "\n)\n", "latin1");
