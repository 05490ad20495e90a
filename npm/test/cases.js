// The tests, for Node and for a page: each is a name and a function that throws if something does not hold.

import { BroadphaseError } from "../src/index.js";

function equal(found, expected, what = "") {
    const text = (value) => JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : ArrayBuffer.isView(v) ? Array.from(v) : v));
    if (text(found) !== text(expected)) {
        throw new Error(`${what}: ${text(found)?.slice(0, 300)} is not ${text(expected)?.slice(0, 300)}`);
    }
}

/** The call throws an error of the library with this code; the error. */
function fails(code, call) {
    try {
        call();
    } catch (error) {
        if (!(error instanceof BroadphaseError) || error.code !== code) {
            throw new Error(`${error} (${error.code}) instead of ${code}`, { cause: error });
        }
        return error;
    }
    throw new Error(`${call} did not fail`);
}

/** Numbers in 0 .. 1, the same in every run. */
function random(seed) {
    let state = seed;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 4294967296;
    };
}

/** Boxes on a lattice, so that many only touch. */
function randomBoxes(Type, count, dimension, seed, space = 12) {
    const next = random(seed);
    const boxes = new Type(count * 2 * dimension);
    for (let i = 0; i < count; i++) {
        for (let k = 0; k < dimension; k++) {
            boxes[i * 2 * dimension + k] = Math.floor(next() * space * 8) / 8;
            boxes[i * 2 * dimension + dimension + k] = boxes[i * 2 * dimension + k] + Math.floor(next() * 16) / 8;
        }
    }
    return boxes;
}

function overlap(a, i, b, j, dimension) {
    for (let k = 0; k < dimension; k++) {
        const [p, q] = [i * 2 * dimension + k, j * 2 * dimension + k];
        if (a[p] > b[q + dimension] || b[q] > a[p + dimension]) {
            return false;
        }
    }
    return true;
}

/** The double loop that everything is compared with. */
function doubleLoop(boxes, dimension) {
    const count = boxes.length / (2 * dimension);
    const pairs = [];
    for (let i = 0; i < count; i++) {
        for (let j = i + 1; j < count; j++) {
            if (overlap(boxes, i, boxes, j, dimension)) {
                pairs.push(i, j);
            }
        }
    }
    return pairs;
}

const FORMATS = [[2, Float32Array, "f32"], [3, Float32Array, "f32"], [2, Float64Array, "f64"], [3, Float64Array, "f64"]];

export const cases = {
    "pairs are those of a double loop"({ pairs }) {
        for (const [dimension, Type] of FORMATS) {
            for (const count of [0, 1, 2, 400]) {
                const boxes = randomBoxes(Type, count, dimension, 7);
                equal(pairs(boxes, { dimension }), doubleLoop(boxes, dimension), `${dimension}, ${Type.name}, ${count}`);
                equal(pairs(boxes, { dimension, algorithm: "brute-force" }), doubleLoop(boxes, dimension));
            }
        }
    },

    "pairs of many boxes, enough for several tiles"({ pairs }) {
        for (const [dimension, Type] of FORMATS) {
            const boxes = randomBoxes(Type, 3000, dimension, 3, dimension === 2 ? 150 : 40);
            equal(pairs(boxes, { dimension }), doubleLoop(boxes, dimension));
            equal(pairs(boxes, { dimension, algorithm: "tiles" }), doubleLoop(boxes, dimension));
        }
    },

    "pairs of two lists"({ pairsBetween }) {
        for (const [dimension, Type] of FORMATS) {
            const [a, b] = [randomBoxes(Type, 90, dimension, 1), randomBoxes(Type, 70, dimension, 2)];
            const expected = [];
            for (let i = 0; i < 90; i++) {
                for (let j = 0; j < 70; j++) {
                    if (overlap(a, i, b, j, dimension)) {
                        expected.push(i, j);
                    }
                }
            }
            equal(pairsBetween(a, b, { dimension }), expected);
        }
    },

    "options of a search"({ pairs }) {
        const boxes = Float32Array.of(0, 0, 1, 1, 1, 0, 2, 1, 9, 0, 9.5, 1);
        equal(pairs(boxes, { dimension: 2 }), [0, 1]);
        equal(pairs(boxes, { dimension: 2, halfOpen: true }), []);
        equal(pairs(boxes, { dimension: 2, margin: 0.5, period: [10, null] }), [0, 1, 0, 2]);
        equal(fails("too-many-pairs", () => pairs(boxes, { dimension: 2, pairLimit: 0 })).message.includes("0 pairs"), true);
    },

    "neighbors are those of a double loop"({ neighbors }) {
        for (const [dimension, Type] of FORMATS) {
            const next = random(5);
            const points = Type.from({ length: 200 * dimension }, () => Math.floor(next() * 80) / 8);
            const { offsets, indices, distances } = neighbors(points, 1.5, { dimension, distances: true });
            for (let i = 0; i < 200; i++) {
                const row = [];
                for (let j = 0; j < 200; j++) {
                    let square = 0;
                    for (let k = 0; k < dimension; k++) {
                        square += (points[i * dimension + k] - points[j * dimension + k]) ** 2;
                    }
                    if (i !== j && square <= 1.5 * 1.5) {
                        row.push(j);
                    }
                }
                equal(indices.subarray(offsets[i], offsets[i + 1]), row);
            }
            equal(distances.length, indices.length);
        }
    },

    "a world follows its objects, and says what started and ended"({ World }) {
        for (const [dimension, Type, scalar] of FORMATS) {
            const world = new World({ dimension, scalar });
            let boxes = randomBoxes(Type, 300, dimension, 11);
            const ids = world.insert(boxes);
            const held = new Set();
            for (let frame = 0; frame < 10; frame++) {
                const { count, started, ended } = world.update();
                for (let i = 0; i < ended.length; i += 2) {
                    equal(held.delete(`${ended[i]} ${ended[i + 1]}`), true, "ended before it started");
                }
                for (let i = 0; i < started.length; i += 2) {
                    equal(held.has(`${started[i]} ${started[i + 1]}`), false, "started twice");
                    held.add(`${started[i]} ${started[i + 1]}`);
                }
                const expected = doubleLoop(boxes, dimension);
                equal([count, held.size], [expected.length / 2, expected.length / 2]);
                equal(world.pairs({ sorted: true }), expected);
                equal(world.pairIds({ sorted: true }).length, expected.length);
                const next = randomBoxes(Type, 300, dimension, 100 + frame);
                boxes = boxes.map((x, i) => (Math.floor(i / (2 * dimension)) % 3 === 0 ? next[i] : x));
                world.setBoxes(boxes);
            }
            equal(world.getBoxes(ids.subarray(1, 2)), boxes.subarray(2 * dimension, 4 * dimension));
            world.destroy();
            fails("destroyed", () => world.update());
        }
    },

    "objects have kinds, tags, users and margins"({ World }) {
        const world = new World({ dimension: 2 });
        const floor = world.insert(Float32Array.of(0, -1, 10, 0), { kind: "static", user: 100 });
        const balls = world.insert(Float32Array.of(1, 0, 2, 1, 5, 0.5, 6, 1), { user: [1n, 2] });
        equal(world.update().count, 1);
        equal(world.startedEvents().map(({ userA, userB, time }) => [userA, userB, time]), [[100n, 1n, 1]]);
        world.setMargins(balls[1], 0.5);
        equal(world.update().started, [floor[0], balls[1]]);
        equal([...world.pairsOf(floor[0])], [...balls]);
        equal(world.setPairValue(floor[0], balls[0], 42), true);
        equal([world.pairValue(balls[0], floor[0]), world.pairValue(balls[1], floor[0])], [42n, undefined]);
        world.setTags(balls, { layer: 2, mask: 0 });
        equal([world.update().count, world.endedEvents().map((event) => event.value)], [0, [42n, undefined]]);
        world.setTags(balls, {});
        world.setKinds(floor, "kinematic");
        world.setUsers(floor, 7);
        equal([world.update().count, world.startedEvents()[0].userA, world.movers().length], [2, 7n, 3]);
        world.setSensors(balls, true);
        world.configure({ report: "count", margin: 0.25, algorithm: "brute-force" });
        equal([world.update().started.length, world.stats().algorithm], [0, "brute-force"]);
        world.clear();
        equal([world.update().count, world.objects().length], [0, 0]);
    },

    "a bullet hits what is on its way"({ World }) {
        const world = new World({ dimension: 2, continuous: "swept" });
        world.insert(Float32Array.of(5, 0, 5.5, 9), { kind: "static" });
        world.update();
        world.insert(Float32Array.of(10, 4, 10, 4), { previous: Float32Array.of(0, 4, 0, 4) });
        world.update();
        equal(world.startedEvents().map(({ time }) => time), [0.5]);
    },

    "queries, many at once"({ World }) {
        const world = new World({ dimension: 2, scalar: "f64" });
        const ids = world.insert(Float64Array.of(2, 0, 3, 1, 8, 0, 9, 1, 4, 4, 5, 5));
        const boxes = world.inBoxes(Float64Array.of(0, 0, 3, 3, 6, 6, 7, 7, 0, 0, 9, 9));
        equal([boxes.starts, boxes.distances], [[0, 1, 1, 4], undefined]);
        equal(boxes.ids[0], ids[0]);
        const rays = world.firstAlongRays(Float64Array.of(0, 0.5, 1, 0, 100, 0, 0.5, -1, 0, 100));
        equal([rays.starts, rays.ids, rays.distances], [[0, 1, 1], [ids[0]], [2]]);
        equal(world.alongRays(Float64Array.of(0, 0.5, 1, 0, 100)).ids.length, 2);
        equal(world.nearestTo(Float64Array.of(4, 3), 1), { starts: [0, 1], ids: [ids[2]], distances: [1] });
        equal(world.nearestTo(Float64Array.of(4, 3), 9, { distance: 0.5 }).ids.length, 0);
        equal(world.nearestTo(Float64Array.of(4, 3), Infinity).ids.length, 3);
        equal(world.nearestToBoxes(Float64Array.of(4, 4, 5, 5), 1, { excluding: ids[2] }).ids, [ids[0]]);
        equal(world.inBalls(Float64Array.of(4.5, 4.5, 0.1)).ids, [ids[2]]);
        equal(world.atPoints(Float64Array.of(2, 1)).ids, [ids[0]]);
        equal(world.inFrustum(Float64Array.of(1, 0, 3, -1, 0, 0)).ids, [ids[0]]);
        equal(world.firstAlongSweeps(Float64Array.of(0, 0, 1, 1, 10, 0)).distances, [0.1]);
        equal(world.firstAlongBallSweeps(Float64Array.of(0, 0.5, 1, 10, 0)).distances, [0.1]);
        equal(world.inBoxes(Float64Array.of(0, 0, 9, 9), { layers: 0 }).ids.length, 0);
        equal(world.inBoxes(Float64Array.of(0, 0, 9, 9), { tag: { layer: 1, mask: 0 } }).ids.length, 0);
    },

    "a snapshot goes on in another world"({ World }) {
        const boxes = randomBoxes(Float32Array, 200, 3, 21);
        const world = new World();
        const ids = world.insert(boxes);
        world.update();
        const bytes = world.snapshot();
        const again = new World();
        again.restore(bytes);
        for (const one of [world, again]) {
            one.remove(ids.subarray(0, 50));
        }
        const [x, y] = [world.update(), again.update()];
        equal([x.count, x.ended], [y.count, y.ended]);
        fails("invalid-snapshot", () => again.restore(bytes.subarray(0, 40)));
        fails("foreign-snapshot", () => new World({ dimension: 2 }).restore(bytes));
        equal(again.update().count, y.count);
    },

    "memory grows while worlds live, and their views are made anew"({ World, pairs }) {
        const world = new World();
        const boxes = randomBoxes(Float32Array, 2000, 3, 4, 30);
        world.insert(boxes);
        const before = world.update().count;
        pairs(randomBoxes(Float32Array, 200000, 3, 5, 300)); // some megabytes
        equal(world.update().count, before);
        equal(world.pairs({ sorted: true }), doubleLoop(boxes, 3));
    },

    "wrong input is an error that says what was wrong, and changes nothing"({ World, pairs, neighbors }) {
        const world = new World({ dimension: 2 });
        const other = new World({ dimension: 2 });
        const ids = world.insert(Float32Array.of(0, 0, 1, 1, 1, 1, 2, 2));
        const foreign = other.insert(Float32Array.of(0, 0, 1, 1));
        world.update(); // what is pending is taken in
        const before = world.snapshot();
        const error = fails("invalid-box", () => world.insert(Float32Array.of(0, 0, 1, 1, 0, 5, 1, 3)));
        equal([error.object, error.axis], [1, 1]);
        fails("invalid-box", () => world.setBoxes(Float32Array.of(NaN, 0, 1, 1, 1, 1, 2, 2)));
        fails("count-mismatch", () => world.setBoxes(Float32Array.of(0, 0, 1, 1)));
        fails("stale-handle", () => world.remove(foreign));
        fails("stale-handle", () => world.remove(0n));
        fails("stale-handle", () => world.setBoxesOf(12345n, Float32Array.of(0, 0, 1, 1)));
        fails("stale-handle", () => world.pairsOf(foreign[0]));
        fails("invalid-margin", () => world.setMargins(ids, -1));
        fails("invalid-query", () => world.firstAlongRays(Float32Array.of(0, 0, 0, 0, 1)));
        fails("invalid-argument", () => world.insert(Float64Array.of(0, 0, 1, 1)));
        fails("invalid-argument", () => world.insert(Float32Array.of(0, 0, 1)));
        fails("invalid-argument", () => world.nearestTo(Float32Array.of(0, 0), -1));
        fails("invalid-argument", () => world.nearestTo(Float32Array.of(0, 0)));
        fails("invalid-argument", () => world.insert([0, 0, 1, 1]));
        fails("invalid-argument", () => world.insert(Float32Array.of(0, 0, 1, 1), { kind: "liquid" }));
        fails("invalid-argument", () => world.remove([1]));
        fails("invalid-argument", () => world.setBoxesOf(ids, Float32Array.of(0, 0, 1, 1)));
        fails("invalid-argument", () => world.configure({ report: "nothing" }));
        fails("unknown-algorithm", () => world.configure({ algorithm: "brute-forse" }));
        fails("missing-feature", () => world.configure({ algorithm: "kd-tree" }));
        equal(world.snapshot(), before);
        equal(world.contains(ids[0]) && !world.contains(foreign[0]), true);
        fails("invalid-argument", () => new World({ dimension: 4 }));
        fails("invalid-argument", () => pairs(new Uint8Array(6)));
        fails("invalid-value", () => neighbors(new Float32Array(6), -1));
        fails("invalid-value", () => neighbors(new Float32Array(6)));
    },

    "many worlds come and go within bounded memory"({ World }) {
        const boxes = randomBoxes(Float32Array, 500, 3, 9);
        let most = 0;
        for (let i = 0; i < 200; i++) {
            const world = new World();
            world.insert(boxes);
            world.update();
            most = Math.max(most, world.stats().bytes);
            world.destroy();
        }
        equal(most > 0 && most < 4e6, true, `${most}`);
    },
};
