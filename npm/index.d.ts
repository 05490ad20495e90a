// Types of broadphase. Arrays are flat: a box is a row of `2 * dimension` numbers, min..., max...

/** Numbers in the scalar of a world, or of the call. */
export type Numbers = Float32Array | Float64Array;

/** The name of an object: an index in its lower 32 bits, a generation in its upper ones. Zero names no object. */
export type Id = bigint;
/** One id, or several. */
export type Ids = Id | Id[] | BigUint64Array;

/** An error of the library. */
export class BroadphaseError extends Error {
    /** Stable, for programs: "invalid-box", "stale-handle", ... */
    readonly code: string;
    /** The object that is wrong: its position in the list that was handed over; for an id, its index. */
    readonly object?: number;
    /** The axis that is wrong: 0 for x, 1 for y, 2 for z. */
    readonly axis?: number;
    /** The argument that is wrong, where a call takes several. */
    readonly argument?: string;
}

/** A space that repeats. */
export interface Periodic {
    /** Lengths by axis; 0 or null for an axis on which it does not repeat. */
    period?: (number | null)[];
    /** The lower corner of the space. */
    periodOrigin?: number[];
}

export interface SearchOptions extends Periodic {
    /** 3 unless it is given. */
    dimension?: 2 | 3;
    /** Such as "auto" or "tiles". */
    algorithm?: string;
    /** Grows every box on every side. */
    margin?: number;
    /** What boxes stand for: themselves, or their inscribed balls. */
    shape?: "box" | "ball";
    /** Boxes that only touch are no pair. */
    halfOpen?: boolean;
    /** True unless it is given. */
    sorted?: boolean;
    /** More pairs than this are an error. */
    pairLimit?: number | bigint;
}

export interface NeighborOptions extends Periodic {
    /** 3 unless it is given. */
    dimension?: 2 | 3;
    /** Lists each pair once. */
    half?: boolean;
    /** Lists distances too. */
    distances?: boolean;
}

/** Those of point `i` are `indices.subarray(offsets[i], offsets[i + 1])`. */
export interface Neighbors {
    offsets: Uint32Array;
    indices: Uint32Array;
    distances?: Numbers;
}

export interface Settings {
    /** The algorithm of the movers, such as "auto". */
    algorithm?: string;
    /** That of the static objects; that of the movers unless it is given. */
    staticAlgorithm?: string;
    /** What an update finds: "both" at first. */
    report?: "count" | "all" | "delta" | "both";
    pairLimit?: number | bigint;
    margin?: number;
    shape?: "box" | "ball";
    /** How objects are found that pass through each other between two updates. */
    continuous?: "none" | "substeps" | "swept";
    /** With "substeps": the longest sub-step in sizes of the object. */
    step?: number;
    /** With "substeps": the most sub-steps. */
    most?: number;
    kinematicKinematic?: boolean;
    kinematicStatic?: boolean;
}

export interface WorldOptions extends Settings {
    /** 3 unless it is given. */
    dimension?: 2 | 3;
    /** "f32" (Float32Array) unless it is given. */
    scalar?: "f32" | "f64";
}

export interface Tag {
    layer?: number;
    mask?: number;
    group?: number;
    env?: number;
}

export interface ObjectOptions {
    kind?: "dynamic" | "static" | "kinematic";
    tag?: Tag;
    /** One number for all, or one for each. */
    user?: number | bigint | ArrayLike<number | bigint>;
    margin?: number;
    shape?: "box" | "ball";
    sensor?: boolean;
    /** Where the objects were at the last update, for continuous detection. */
    previous?: Numbers;
}

export interface QueryOptions {
    /** Only objects in one of these layers, one bit each. */
    layers?: number;
    /** Only objects that would pair with an object of this tag. */
    tag?: Tag;
    /** Not this object. */
    excluding?: Id;
}

/** The answers to question `i` are `ids.subarray(starts[i], starts[i + 1])`. */
export interface Answers {
    starts: Uint32Array;
    ids: BigUint64Array;
    /** For rays, motions and the nearest, if there are any. */
    distances?: Float64Array;
}

export interface Update {
    /** The number of pairs. */
    count: number;
    /** The pairs that the last update did not have: rows of two ids. */
    started: BigUint64Array;
    /** The pairs that only the last update had: rows of two ids. */
    ended: BigUint64Array;
}

export interface PairEvent {
    a: Id;
    b: Id;
    userA: bigint;
    userB: bigint;
    value?: bigint;
    time: number;
}

export interface Stats {
    dynamic: number;
    fixed: number;
    kinematic: number;
    pairs: number;
    tests: number;
    bytes: number;
    algorithm: string;
    choice: string;
    text: string;
}

/** Objects in space, and the pairs among them. Every error leaves it as it was. */
export interface World {
    readonly dimension: 2 | 3;
    /** Frees its memory now; otherwise that happens when nothing refers to it. */
    destroy(): void;
    configure(settings: Settings): void;
    insert(boxes: Numbers, options?: ObjectOptions): BigUint64Array;
    remove(ids: Ids): void;
    clear(): void;
    /** The boxes of all movers, in the order of `movers()`: that of insertion, as long as none was removed. */
    setBoxes(boxes: Numbers): void;
    setBoxesOf(ids: Ids, boxes: Numbers): void;
    teleport(ids: Ids, boxes: Numbers): void;
    setTags(ids: Ids, tag: Tag): void;
    setKinds(ids: Ids, kind: "dynamic" | "static" | "kinematic"): void;
    setUsers(ids: Ids, users: number | bigint | (number | bigint)[] | BigUint64Array): void;
    setMargins(ids: Ids, margins: number | number[] | Float64Array): void;
    setSensors(ids: Ids, sensor: boolean): void;
    contains(id: Id): boolean;
    getBoxes(ids: Ids): Numbers;
    movers(): BigUint64Array;
    objects(): BigUint64Array;
    shiftOrigin(by: Numbers): void;
    update(): Update;
    /** All pairs of the last update: rows of two indices, the lower 32 bits of ids. */
    pairs(options?: { sorted?: boolean }): Uint32Array;
    /** All pairs of the last update: rows of two ids. */
    pairIds(options?: { sorted?: boolean }): BigUint64Array;
    pairsOf(id: Id): BigUint64Array;
    startedEvents(): PairEvent[];
    endedEvents(): PairEvent[];
    setPairValue(a: Id, b: Id, value: number | bigint): boolean;
    pairValue(a: Id, b: Id): bigint | undefined;
    inBoxes(boxes: Numbers, options?: QueryOptions): Answers;
    atPoints(points: Numbers, options?: QueryOptions): Answers;
    /** Rows of center, radius. */
    inBalls(balls: Numbers, options?: QueryOptions): Answers;
    /** Rows of normal, offset: one frustum. */
    inFrustum(sides: Numbers, options?: QueryOptions): Answers;
    /** Rows of origin, direction, length. */
    alongRays(rays: Numbers, options?: QueryOptions): Answers;
    firstAlongRays(rays: Numbers, options?: QueryOptions): Answers;
    /** Rows of min, max, displacement. */
    firstAlongSweeps(sweeps: Numbers, options?: QueryOptions): Answers;
    /** Rows of center, radius, displacement. */
    firstAlongBallSweeps(sweeps: Numbers, options?: QueryOptions): Answers;
    nearestTo(points: Numbers, k: number, options?: QueryOptions & { distance?: number }): Answers;
    nearestToBoxes(boxes: Numbers, k: number, options?: QueryOptions & { distance?: number }): Answers;
    snapshot(): Uint8Array;
    restore(bytes: Uint8Array): void;
    stats(): Stats;
}

export interface Broadphase {
    readonly version: string;
    /** "simd128" or "scalar". */
    readonly instructionSet: string;
    readonly algorithms: readonly string[];
    /** All overlapping pairs, as rows of two positions. */
    pairs(boxes: Numbers, options?: SearchOptions): Uint32Array;
    /** All overlapping pairs of a box of `a` and one of `b`, as rows of positions in both. */
    pairsBetween(a: Numbers, b: Numbers, options?: SearchOptions): Uint32Array;
    /** The neighbors of each point within a radius. */
    neighbors(points: Numbers, radius: number, options?: NeighborOptions): Neighbors;
    readonly World: new (options?: WorldOptions) => World;
}

/** Can this engine run vector instructions? */
export function hasSimd(): boolean;

/** Loads the library: with vector instructions where the engine has them, or as told. */
export function load(options?: { simd?: boolean; module?: WebAssembly.Module }): Promise<Broadphase>;
