// Worlds: objects with ids, pairs, what started and ended, queries, snapshots.

import { choice, Format, idArray, number, refuse, valuesFor, wholeNumber } from "./input.js";
import { ANSWER_LIST, CONTINUOUS, EVENT, KIND, LIST, OBJECT_DEF, QUERY_DEF, REPORT, SHAPE, SHAPE_OF_WORLD, STATS, UPDATE, WORLD_DEF } from "./layout.js";
import { BroadphaseError } from "./memory.js";

/** Bytes for the result of a call. */
const RESULT = 64;

/** The class of worlds that live in one instance of the library. */
export function makeWorld(memory) {
    const { exports } = memory;

    /** Worlds that nobody refers to any more are destroyed, at some time. */
    const registry = new FinalizationRegistry(({ world, answers, result }) => {
        exports.bp_world_destroy(world);
        exports.bp_answers_destroy(answers);
        memory.free(result, RESULT);
    });

    class World {
        #world;
        #answers;
        #result;
        #format;

        constructor({ dimension = 3, scalar = "f32", algorithm, staticAlgorithm, ...settings } = {}) {
            this.#format = new Format(dimension, scalar);
            this.#result = memory.allocate(RESULT);
            memory.withText(algorithm, (name) => memory.withText(staticAlgorithm, (fixed) => memory.borrow(WORLD_DEF.size, (def) => {
                exports.bp_default_world_def(def);
                memory.setU32(def + WORLD_DEF.format, this.#format.number);
                writeSettings(memory, def, { ...settings, name, fixed });
                memory.check(exports.bp_world_create(def, this.#result, memory.error));
                this.#world = memory.u32(this.#result);
            })));
            memory.check(exports.bp_answers_create(this.#result));
            this.#answers = memory.u32(this.#result);
            registry.register(this, { world: this.#world, answers: this.#answers, result: this.#result }, this);
        }

        /** Frees the memory of this world now. It cannot be used afterwards. */
        destroy() {
            if (this.#world !== undefined) {
                registry.unregister(this);
                exports.bp_world_destroy(this.#world);
                exports.bp_answers_destroy(this.#answers);
                memory.free(this.#result, RESULT);
                this.#world = undefined;
            }
        }

        [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
            this.destroy();
        }

        get dimension() {
            return this.#format.dimension;
        }

        /** Calls a function of the library with this world. */
        #call(name, ...values) {
            if (this.#world === undefined) {
                throw new BroadphaseError("the world was destroyed", "destroyed");
            }
            memory.check(exports[name](this.#world, ...values), this.#world);
        }

        #boxes(argument, boxes) {
            return this.#format.rows(argument, boxes, 2 * this.dimension);
        }

        /** Changes settings; those that are not named stay. */
        configure({ algorithm, staticAlgorithm, ...settings }) {
            memory.withText(algorithm, (name) => memory.withText(staticAlgorithm, (fixed) => memory.borrow(WORLD_DEF.size, (def) => {
                this.#call("bp_world_settings", def);
                const before = { name: memory.u32(def + WORLD_DEF.algorithm), fixed: memory.u32(def + WORLD_DEF.staticAlgorithm) };
                writeSettings(memory, def, { ...settings, name: name || before.name, fixed: fixed || (name ? 0 : before.fixed) });
                this.#call("bp_world_configure", def);
            })));
        }

        insert(boxes, options = {}) {
            const count = this.#boxes("boxes", boxes);
            const { user } = options;
            const users = user === undefined || typeof user === "number" || typeof user === "bigint" ? undefined : user;
            if (users !== undefined && users.length !== count) {
                throw refuse("user", `there must be ${count}, and there are ${users.length}`);
            }
            const ids = new BigUint64Array(count);
            const previous = options.previous ?? new this.#format.Array(0);
            if (previous.length > 0 && this.#boxes("previous", previous) !== count) {
                throw refuse("previous", `there must be ${count} boxes`);
            }
            const each = users !== undefined || previous.length > 0;
            const defs = each ? count : 1;
            return memory.borrow(Math.max(defs, 1) * OBJECT_DEF.size, (def) => {
                const [rows, out, before] = memory.copyIn([boxes, ids, previous]);
                const width = 2 * this.dimension * this.#format.Array.BYTES_PER_ELEMENT;
                for (let i = 0; i < defs; i++) {
                    const at = def + i * OBJECT_DEF.size;
                    exports.bp_default_object_def(at);
                    writeObject(memory, at, options, users?.[i] ?? (users ? 0 : user));
                    if (previous.length > 0) {
                        memory.setU32(at + OBJECT_DEF.previous, before + i * width);
                    }
                }
                this.#call("bp_world_insert", rows, def, count === 0 ? 0 : defs, out, count);
                return memory.copyOut(BigUint64Array, out, count);
            });
        }

        remove(ids) {
            const list = idArray("ids", ids);
            this.#call("bp_world_remove", memory.copyIn([list])[0], list.length);
        }

        clear() {
            this.#call("bp_world_clear");
        }

        setBoxes(boxes) {
            const count = this.#boxes("boxes", boxes);
            this.#call("bp_world_set_boxes", memory.copyIn([boxes])[0], count);
        }

        setBoxesOf(ids, boxes) {
            this.#move("bp_world_set_boxes_of", ids, boxes);
        }

        teleport(ids, boxes) {
            this.#move("bp_world_teleport", ids, boxes);
        }

        #move(name, ids, boxes) {
            const [list, count] = [idArray("ids", ids), this.#boxes("boxes", boxes)];
            if (list.length !== count) {
                throw refuse("boxes", `there must be ${list.length}, and there are ${count}`);
            }
            const [at, rows] = memory.copyIn([list, boxes]);
            this.#call(name, at, rows, count);
        }

        #setValues(name, ids, Type, argument, values) {
            const list = idArray("ids", ids);
            const [at, rows] = memory.copyIn([list, valuesFor(argument, Type, values, list.length)]);
            this.#call(name, at, rows, list.length);
        }

        setTags(ids, tag) {
            const list = idArray("ids", ids);
            const tags = new Uint32Array(4 * list.length);
            list.forEach((_, i) => tags.set(tagNumbers(tag), 4 * i));
            const [at, rows] = memory.copyIn([list, tags]);
            this.#call("bp_world_set_tags", at, rows, list.length);
        }

        setKinds(ids, kind) {
            this.#setValues("bp_world_set_kinds", ids, Uint32Array, "kind", choice("kind", KIND, kind, KIND.dynamic));
        }

        setUsers(ids, users) {
            const big = Array.isArray(users) ? users.map(BigInt) : users instanceof BigUint64Array ? users : BigInt(users);
            this.#setValues("bp_world_set_users", ids, BigUint64Array, "users", big);
        }

        setMargins(ids, margins) {
            this.#setValues("bp_world_set_margins", ids, Float64Array, "margins", margins);
        }

        setSensors(ids, sensor) {
            this.#setValues("bp_world_set_sensors", ids, Uint8Array, "sensor", Number(sensor));
        }

        /** Is it one of this world's objects? */
        contains(id) {
            const [at] = memory.copyIn([idArray("id", id)]);
            if (this.#world === undefined) {
                throw new BroadphaseError("the world was destroyed", "destroyed");
            }
            return exports.bp_world_contains(this.#world, at) === 0;
        }

        getBoxes(ids) {
            const list = idArray("ids", ids);
            const boxes = new this.#format.Array(list.length * 2 * this.dimension);
            const [at, rows] = memory.copyIn([list, boxes]);
            this.#call("bp_world_get_boxes", at, rows, list.length);
            return memory.copyOut(this.#format.Array, rows, boxes.length);
        }

        movers() {
            return this.#ids("bp_world_movers");
        }

        objects() {
            return this.#ids("bp_world_objects");
        }

        #ids(name, ...values) {
            this.#call(name, ...values, this.#result);
            return memory.copyOut(BigUint64Array, memory.u32(this.#result + LIST.items), memory.u32(this.#result + LIST.count));
        }

        shiftOrigin(by) {
            if (this.#format.rows("by", by, this.dimension) !== 1) {
                throw refuse("by", `there must be ${this.dimension} numbers`);
            }
            this.#call("bp_world_shift_origin", memory.copyIn([by])[0]);
        }

        update() {
            this.#call("bp_world_update", this.#result);
            const at = this.#result;
            const list = (address, count) => memory.copyOut(BigUint64Array, memory.u32(at + address), 2 * memory.u32(at + count));
            return {
                count: Number(memory.views.u64[(at + UPDATE.pairCount) >>> 3]),
                started: list(UPDATE.started, UPDATE.startedCount),
                ended: list(UPDATE.ended, UPDATE.endedCount),
            };
        }

        pairs({ sorted = false } = {}) {
            const { address, count } = this.#pairList(sorted);
            const rows = new Uint32Array(exports.memory.buffer, address, 4 * count);
            const found = new Uint32Array(2 * count);
            for (let i = 0; i < found.length; i++) {
                found[i] = rows[2 * i]; // the index; behind it is the generation
            }
            return found;
        }

        pairIds({ sorted = false } = {}) {
            const { address, count } = this.#pairList(sorted);
            return memory.copyOut(BigUint64Array, address, 2 * count);
        }

        /** Where the pairs are in the library's memory: rows of index, generation, index, generation. */
        #pairList(sorted) {
            this.#call(sorted ? "bp_world_sorted_pairs" : "bp_world_pairs", this.#result);
            return { address: memory.u32(this.#result + LIST.items), count: memory.u32(this.#result + LIST.count) };
        }

        pairsOf(id) {
            const [at] = memory.copyIn([idArray("id", id)]);
            return this.#ids("bp_world_pairs_of", at);
        }

        startedEvents() {
            return this.#events("bp_world_started");
        }

        endedEvents() {
            return this.#events("bp_world_ended");
        }

        #events(name) {
            this.#call(name, this.#result);
            const [from, count] = [memory.u32(this.#result + LIST.items), memory.u32(this.#result + LIST.count)];
            const { u64, f64, u8 } = memory.views;
            return Array.from({ length: count }, (_, i) => {
                const at = from + i * EVENT.size;
                return {
                    a: u64[(at + EVENT.a) >>> 3],
                    b: u64[(at + EVENT.b) >>> 3],
                    userA: u64[(at + EVENT.userA) >>> 3],
                    userB: u64[(at + EVENT.userB) >>> 3],
                    value: u8[at + EVENT.hasValue] === 1 ? u64[(at + EVENT.value) >>> 3] : undefined,
                    time: f64[(at + EVENT.time) >>> 3],
                };
            });
        }

        setPairValue(a, b, value) {
            const [first, second] = memory.copyIn([idArray("a", a), idArray("b", b)]);
            this.#call("bp_world_set_pair_value", first, second, BigInt(value), this.#result);
            return memory.views.u8[this.#result] === 1;
        }

        pairValue(a, b) {
            const [first, second] = memory.copyIn([idArray("a", a), idArray("b", b)]);
            this.#call("bp_world_pair_value", first, second, this.#result, this.#result + 8);
            return memory.views.u8[this.#result + 8] === 1 ? memory.views.u64[this.#result >>> 3] : undefined;
        }

        inBoxes(boxes, options) {
            return this.#ask("bp_world_in_boxes", "boxes", boxes, 2 * this.dimension, options);
        }

        atPoints(points, options) {
            return this.#ask("bp_world_at_points", "points", points, this.dimension, options);
        }

        inBalls(balls, options) {
            return this.#ask("bp_world_in_balls", "balls", balls, this.dimension + 1, options);
        }

        inFrustum(sides, options) {
            const count = this.#format.rows("sides", sides, this.dimension + 1);
            return this.#asked("bp_world_in_frusta", sides, [count, 1], options);
        }

        alongRays(rays, options) {
            return this.#ask("bp_world_along_rays", "rays", rays, 2 * this.dimension + 1, options);
        }

        firstAlongRays(rays, options) {
            return this.#ask("bp_world_first_along_rays", "rays", rays, 2 * this.dimension + 1, options);
        }

        firstAlongSweeps(sweeps, options) {
            return this.#ask("bp_world_first_along_sweeps", "sweeps", sweeps, 3 * this.dimension, options);
        }

        firstAlongBallSweeps(sweeps, options) {
            return this.#ask("bp_world_first_along_ball_sweeps", "sweeps", sweeps, 2 * this.dimension + 1, options);
        }

        nearestTo(points, k, { distance = Infinity, ...options } = {}) {
            const count = this.#format.rows("points", points, this.dimension);
            return this.#asked("bp_world_nearest_to", points, [count, wholeNumber("k", k), distance], options);
        }

        nearestToBoxes(boxes, k, { distance = Infinity, ...options } = {}) {
            return this.#asked("bp_world_nearest_to_boxes", boxes, [this.#boxes("boxes", boxes), wholeNumber("k", k), distance], options);
        }

        #ask(name, argument, rows, width, options) {
            return this.#asked(name, rows, [this.#format.rows(argument, rows, width)], options);
        }

        #asked(name, rows, values, { layers = 0xffffffff, tag, excluding } = {}) {
            if (!(rows instanceof this.#format.Array)) {
                throw refuse("rows", `they must be a ${this.#format.Array.name}`);
            }
            return memory.borrow(QUERY_DEF.size, (def) => {
                exports.bp_default_query_def(def);
                memory.setU32(def + QUERY_DEF.layers, layers);
                if (tag !== undefined) {
                    memory.views.u8[def + QUERY_DEF.hasTag] = 1;
                    memory.views.u32.set(tagNumbers(tag), (def + QUERY_DEF.tag) >>> 2);
                }
                if (excluding !== undefined) {
                    memory.setU32(def + QUERY_DEF.excluded, Number(excluding & 0xffffffffn));
                    memory.setU32(def + QUERY_DEF.excluded + 4, Number(excluding >> 32n));
                }
                this.#call(name, def, memory.copyIn([rows])[0], ...values, this.#answers, this.#result);
                const at = this.#result;
                const [total, distances] = [memory.u32(at + ANSWER_LIST.count), memory.u32(at + ANSWER_LIST.distances)];
                return {
                    starts: memory.copyOut(Uint32Array, memory.u32(at + ANSWER_LIST.starts), memory.u32(at + ANSWER_LIST.questionCount) + 1),
                    ids: memory.copyOut(BigUint64Array, memory.u32(at + ANSWER_LIST.ids), total),
                    distances: distances === 0 ? undefined : memory.copyOut(Float64Array, distances, total),
                };
            });
        }

        snapshot() {
            this.#call("bp_world_snapshot", this.#result, this.#result + 4);
            return memory.copyOut(Uint8Array, memory.u32(this.#result), memory.u32(this.#result + 4));
        }

        restore(bytes) {
            if (!(bytes instanceof Uint8Array)) {
                throw refuse("bytes", "they must be a Uint8Array");
            }
            this.#call("bp_world_restore", memory.copyIn([bytes])[0], bytes.length);
        }

        stats() {
            this.#call("bp_world_get_stats", this.#result);
            const at = this.#result;
            const [counts, big] = [(offset) => memory.u32(at + offset), (offset) => Number(memory.views.u64[(at + offset) >>> 3])];
            return {
                dynamic: counts(STATS.dynamic),
                fixed: counts(STATS.fixed),
                kinematic: counts(STATS.kinematic),
                pairs: big(STATS.pairs),
                tests: big(STATS.tests),
                bytes: counts(STATS.tableBytes) + counts(STATS.structureBytes) + counts(STATS.pairBytes) + counts(STATS.listBytes),
                algorithm: memory.text(counts(STATS.algorithm)),
                choice: memory.text(counts(STATS.choice)),
                text: memory.text(counts(STATS.text)),
            };
        }
    }
    return World;
}

function tagNumbers({ layer = 0xffffffff, mask = 0xffffffff, group = 0, env = 0 }) {
    return [layer, mask, group, env];
}

function writeSettings(memory, def, { name, fixed, report, pairLimit, margin, shape, continuous, step, most, kinematicKinematic, kinematicStatic }) {
    const set = (offset, value) => value !== undefined && memory.setU32(def + offset, value);
    set(WORLD_DEF.algorithm, name);
    set(WORLD_DEF.staticAlgorithm, fixed);
    set(WORLD_DEF.report, choice("report", REPORT, report));
    set(WORLD_DEF.shape, choice("shape", SHAPE, shape));
    set(WORLD_DEF.continuous, choice("continuous", CONTINUOUS, continuous));
    set(WORLD_DEF.continuousMost, number("most", most));
    const big = (offset, value) => value !== undefined && memory.setF64(def + offset, value);
    big(WORLD_DEF.margin, number("margin", margin));
    big(WORLD_DEF.continuousStep, number("step", step));
    const flag = (offset, value) => value !== undefined && (memory.views.u8[def + offset] = Number(value));
    flag(WORLD_DEF.kinematicKinematic, kinematicKinematic);
    flag(WORLD_DEF.kinematicStatic, kinematicStatic);
    if (pairLimit !== undefined) {
        memory.views.u64[(def + WORLD_DEF.pairLimit) >>> 3] = BigInt(pairLimit);
    }
}

function writeObject(memory, def, { kind, tag = {}, margin, shape, sensor = false }, user = 0) {
    memory.setU32(def + OBJECT_DEF.kind, choice("kind", KIND, kind, KIND.dynamic));
    memory.views.u32.set(tagNumbers(tag), (def + OBJECT_DEF.tag) >>> 2);
    memory.views.u64[(def + OBJECT_DEF.user) >>> 3] = BigInt(user);
    memory.setF64(def + OBJECT_DEF.margin, number("margin", margin, 0));
    memory.setU32(def + OBJECT_DEF.shape, choice("shape", SHAPE, shape, SHAPE_OF_WORLD));
    memory.views.u8[def + OBJECT_DEF.sensor] = Number(sensor);
}
