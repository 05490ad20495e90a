// What a TypeScript program writes; compiled, not run.

import { BroadphaseError, load, type Answers, type Id, type Update } from "broadphase";

const { pairs, neighbors, World, instructionSet } = await load({ simd: true });
const list: Uint32Array = pairs(new Float32Array(12), { dimension: 3, margin: 0.1 });
const near = neighbors(new Float64Array(6), 1, { period: [10, null, 10], distances: true });
const world = new World({ dimension: 2, scalar: "f64", report: "both" });
const ids = world.insert(new Float64Array(4), { kind: "static", tag: { layer: 1 }, user: [1, 2n] });
const id: Id = ids[0]!;
const update: Update = world.update();
const answers: Answers = world.nearestTo(new Float64Array(2), 3, { distance: 1, excluding: id });
try {
    world.remove(id);
} catch (error) {
    if (error instanceof BroadphaseError) {
        console.log(error.code, error.object, error.axis);
    }
}
// @ts-expect-error there is no such kind
world.setKinds(ids, "liquid");
// @ts-expect-error a plain array is no typed array
pairs([0, 0, 1, 1]);
console.log(list, near.offsets, update.started, answers.ids, instructionSet);
