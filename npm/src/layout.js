// Where the members of the C types are, in 32-bit memory. crates/capi/src/wasm.rs asserts every number when the library is compiled.

export const FORMAT = { "2f32": 0, "3f32": 1, "2f64": 2, "3f64": 3 };

export const ERROR = { size: 304, status: 0, axis: 4, object: 8, argument: 16, text: 48 };
export const WORLD_DEF = {
    size: 88, format: 4, algorithm: 8, staticAlgorithm: 12, report: 20, pairLimit: 40, margin: 48, shape: 56, continuous: 60,
    continuousStep: 64, continuousMost: 72, kinematicKinematic: 76, kinematicStatic: 77,
};
export const OBJECT_DEF = { size: 56, kind: 4, tag: 8, user: 24, margin: 32, shape: 40, sensor: 44, previous: 48 };
export const SEARCH_DEF = {
    size: 112, algorithm: 20, margin: 24, shape: 32, halfOpen: 36, unsorted: 37, period: 40, periodOrigin: 64, tags: 88, tagsB: 92,
    pairLimit: 96,
};
export const NEIGHBOR_DEF = { size: 72, half: 20, distances: 21, period: 24, periodOrigin: 48 };
export const QUERY_DEF = { size: 44, layers: 4, hasTag: 8, tag: 12, excluded: 28 };
export const PAIR_LIST = { size: 12, pairs: 0, count: 4 };
export const NEIGHBOR_LIST = { size: 28, offsets: 0, indices: 4, distances: 8, pointCount: 12, count: 16 };
export const UPDATE = { size: 24, pairCount: 0, started: 8, startedCount: 12, ended: 16, endedCount: 20 };
export const LIST = { size: 8, items: 0, count: 4 };
export const EVENT = { size: 56, a: 0, b: 8, userA: 16, userB: 24, value: 32, time: 40, hasValue: 48 };
export const ANSWER_LIST = { size: 20, starts: 0, ids: 4, distances: 8, questionCount: 12, count: 16 };
export const STATS = {
    size: 64, dynamic: 0, fixed: 4, kinematic: 8, pairs: 16, tests: 24, tableBytes: 32, structureBytes: 36, pairBytes: 40, listBytes: 44,
    algorithm: 48, choice: 52, text: 56,
};

export const KIND = { dynamic: 0, static: 1, kinematic: 2 };
export const SHAPE = { box: 0, ball: 1 };
export const SHAPE_OF_WORLD = 2;
export const REPORT = { count: 0, all: 1, delta: 2, both: 3 };
export const CONTINUOUS = { none: 0, substeps: 1, swept: 2 };
