// The memory of the library, seen from JavaScript. It can grow with every call into the library, and then every view is made anew.

import { ERROR } from "./layout.js";

/** An error of the library: `code` is stable, `object` and `axis` say where it is, if anywhere. */
export class BroadphaseError extends Error {
    constructor(message, code, { object = undefined, axis = undefined, argument = undefined } = {}) {
        super(message);
        this.name = "BroadphaseError";
        this.code = code;
        this.object = object;
        this.axis = axis;
        this.argument = argument;
    }
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Memory and exported functions of one instance. */
export class Memory {
    #buffer;
    #views;

    constructor(exports) {
        this.exports = exports;
        this.error = this.allocate(ERROR.size);
        this.scratch = { address: 0, size: 0 };
    }

    /** All views of the present memory. */
    get views() {
        const { buffer } = this.exports.memory;
        if (this.#buffer !== buffer) {
            this.#buffer = buffer;
            this.#views = {
                u8: new Uint8Array(buffer),
                u32: new Uint32Array(buffer),
                i32: new Int32Array(buffer),
                u64: new BigUint64Array(buffer),
                f32: new Float32Array(buffer),
                f64: new Float64Array(buffer),
            };
        }
        return this.#views;
    }

    /** So many bytes, aligned for every number. */
    allocate(size) {
        const address = this.exports.bp_wasm_alloc(size) >>> 0;
        if (address === 0) {
            throw new BroadphaseError(`out of memory for ${size} bytes`, "out-of-memory");
        }
        return address;
    }

    free(address, size) {
        this.exports.bp_wasm_free(address, size);
    }

    u32(address) {
        return this.views.u32[address >>> 2];
    }

    setU32(address, value) {
        this.views.u32[address >>> 2] = value;
    }

    setF64(address, value) {
        this.views.f64[address >>> 3] = value;
    }

    /** A text that ends with a zero. */
    text(address) {
        const { u8 } = this.views;
        return decoder.decode(u8.slice(address, u8.indexOf(0, address)));
    }

    /** Copies arrays one behind the other into memory that is used again with the next call; their addresses. */
    copyIn(arrays) {
        const round = (size) => (size + 15) & ~15;
        const total = arrays.reduce((sum, array) => sum + round(array.byteLength), 16);
        if (total > this.scratch.size) {
            const size = Math.max(total, 2 * this.scratch.size);
            if (this.scratch.size > 0) {
                this.free(this.scratch.address, this.scratch.size);
            }
            this.scratch = { address: 0, size: 0 };
            this.scratch = { address: this.allocate(size), size };
        }
        let next = this.scratch.address;
        return arrays.map((array) => {
            const address = next;
            this.views.u8.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), address);
            next += round(array.byteLength);
            return address;
        });
    }

    /** A copy of `count` numbers in memory. */
    copyOut(Type, address, count) {
        // An empty list has no address, and its pointer need not be aligned.
        return count === 0 ? new Type(0) : new Type(this.exports.memory.buffer, address, count).slice();
    }

    /** Runs `use` with so many bytes, which it must not keep. */
    borrow(size, use) {
        const address = this.allocate(size);
        try {
            return use(address);
        } finally {
            this.free(address, size);
        }
    }

    /** Runs `use` with a text in memory; with 0 if there is none. */
    withText(text, use) {
        if (text === undefined || text === null) {
            return use(0);
        }
        const bytes = encoder.encode(`${text}\0`);
        return this.borrow(bytes.length, (address) => {
            this.views.u8.set(bytes, address);
            return use(address);
        });
    }

    /** Throws what is known of an error, unless the status is that of success. */
    check(status, world = 0) {
        if (status === 0) {
            return;
        }
        const { exports, error } = this;
        if (world !== 0 && exports.bp_world_last_error(world, error) !== 0) {
            throw new BroadphaseError("the world was destroyed", "destroyed");
        }
        const code = this.text(exports.bp_status_name(status));
        const [axis, object] = [this.views.i32[(error + ERROR.axis) >>> 2], this.views.u64[(error + ERROR.object) >>> 3]];
        throw new BroadphaseError(this.text(error + ERROR.text) || code, code, {
            axis: axis < 0 ? undefined : axis,
            object: object > 0xffffffffn ? undefined : Number(object),
            argument: this.text(error + ERROR.argument) || undefined,
        });
    }
}
