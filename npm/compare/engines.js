// The libraries, each driven as its documentation says for boxes that all move. An engine has a frame: boxes in, all pairs out, as rows of two
// positions in a list that it keeps.

import boxIntersect from "box-intersect";
import * as detectCollisions from "detect-collisions";
import Flatbush from "flatbush";
import RBush from "rbush";
import RAPIER from "@dimforge/rapier3d-compat";
import { load } from "../src/index.js";

/** A list of pairs that grows and is used again. */
class PairList {
    data = new Uint32Array(1 << 16);
    length = 0;

    push(a, b) {
        if (this.length === this.data.length) {
            const larger = new Uint32Array(2 * this.data.length);
            larger.set(this.data);
            this.data = larger;
        }
        this.data[this.length++] = a;
        this.data[this.length++] = b;
    }

    get pairs() {
        return this.data.subarray(0, this.length);
    }
}

async function broadphase(name, options) {
    const { World } = await load(options);
    return {
        name,
        dimensions: [2, 3],
        start({ dimension, boxes }) {
            const world = new World({ dimension, report: "all" });
            world.insert(boxes);
            return {
                frame(boxes) {
                    world.setBoxes(boxes);
                    world.update();
                    return world.pairs();
                },
                end: () => world.destroy(),
            };
        },
    };
}

/** A packed tree, built anew each frame, asked once for each box. */
const flatbush = {
    name: "flatbush",
    dimensions: [2],
    start({ n }) {
        const list = new PairList();
        return {
            frame(boxes) {
                const tree = new Flatbush(n, 16, Float32Array);
                for (let i = 0; i < n; i++) {
                    tree.add(boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]);
                }
                tree.finish();
                list.length = 0;
                for (let i = 0; i < n; i++) {
                    tree.search(boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3], (j) => {
                        if (j > i) {
                            list.push(i, j);
                        }
                        return false;
                    });
                }
                return list.pairs;
            },
            end() {},
        };
    },
};

/** A tree, filled in bulk each frame, asked once for each box. */
const rbush = {
    name: "rbush",
    dimensions: [2],
    start({ n }) {
        const tree = new RBush(9);
        const items = Array.from({ length: n }, (_, id) => ({ minX: 0, minY: 0, maxX: 0, maxY: 0, id }));
        const list = new PairList();
        return {
            frame(boxes) {
                items.forEach((item, i) => {
                    [item.minX, item.minY, item.maxX, item.maxY] = [boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]];
                });
                tree.clear();
                tree.load(items);
                list.length = 0;
                for (const item of items) {
                    for (const other of tree.search(item)) {
                        if (other.id > item.id) {
                            list.push(item.id, other.id);
                        }
                    }
                }
                return list.pairs;
            },
            end() {},
        };
    },
};

/** One call for all boxes. */
const boxIntersectEngine = {
    name: "box-intersect",
    dimensions: [2, 3],
    start({ n, dimension }) {
        const rows = Array.from({ length: n }, () => new Array(2 * dimension).fill(0));
        const list = new PairList();
        return {
            frame(boxes) {
                rows.forEach((row, i) => {
                    for (let k = 0; k < 2 * dimension; k++) {
                        row[k] = boxes[2 * dimension * i + k];
                    }
                });
                list.length = 0;
                boxIntersect(rows, (i, j) => {
                    list.push(Math.min(i, j), Math.max(i, j));
                });
                return list.pairs;
            },
            end() {},
        };
    },
};

/** A system of bodies; its potentials are the pairs of their boxes. */
const detect = {
    name: "detect-collisions",
    dimensions: [2],
    start({ n, boxes }) {
        const system = new detectCollisions.System();
        const bodies = Array.from({ length: n }, (_, i) => {
            const [x, y] = [boxes[4 * i], boxes[4 * i + 1]];
            const body = system.createBox({ x, y }, boxes[4 * i + 2] - x, boxes[4 * i + 3] - y);
            body.number = i;
            return body;
        });
        const list = new PairList();
        return {
            frame(boxes) {
                bodies.forEach((body, i) => body.setPosition(boxes[4 * i], boxes[4 * i + 1], false));
                system.update();
                list.length = 0;
                for (const body of bodies) {
                    for (const other of system.getPotentials(body)) {
                        if (other.number > body.number) {
                            list.push(body.number, other.number);
                        }
                    }
                }
                return list.pairs;
            },
            end() {},
        };
    },
};

/** Kinematic bodies with sensors: a step finds the pairs whose boxes overlap. */
function rapier() {
    return {
        name: "rapier3d-compat",
        dimensions: [3],
        start({ n, boxes }) {
            const world = new RAPIER.World({ x: 0, y: 0, z: 0 });
            const half = (i, k) => (boxes[6 * i + 3 + k] - boxes[6 * i + k]) / 2;
            const center = (boxes, i, k) => (boxes[6 * i + 3 + k] + boxes[6 * i + k]) / 2;
            const bodies = [];
            const colliders = [];
            const numbers = new Map();
            for (let i = 0; i < n; i++) {
                const at = [0, 1, 2].map((k) => center(boxes, i, k));
                const body = world.createRigidBody(RAPIER.RigidBodyDesc.kinematicPositionBased().setTranslation(...at));
                const shape = RAPIER.ColliderDesc.cuboid(half(i, 0), half(i, 1), half(i, 2)).setSensor(true);
                const collider = world.createCollider(shape.setActiveCollisionTypes(RAPIER.ActiveCollisionTypes.ALL), body);
                bodies.push(body);
                colliders.push(collider);
                numbers.set(collider.handle, i);
            }
            const list = new PairList();
            return {
                frame(boxes) {
                    bodies.forEach((body, i) => {
                        body.setTranslation({ x: center(boxes, i, 0), y: center(boxes, i, 1), z: center(boxes, i, 2) }, true);
                    });
                    world.step();
                    list.length = 0;
                    for (let i = 0; i < n; i++) {
                        world.intersectionPairsWith(colliders[i], (other) => {
                            const j = numbers.get(other.handle);
                            if (j > i) {
                                list.push(i, j);
                            }
                        });
                    }
                    return list.pairs;
                },
                end: () => world.free(),
            };
        },
    };
}

/** All engines, ours first. */
export async function engines() {
    await RAPIER.init();
    return [
        await broadphase("broadphase", {}),
        await broadphase("broadphase without SIMD", { simd: false }),
        flatbush,
        rbush,
        boxIntersectEngine,
        detect,
        rapier(),
    ];
}
