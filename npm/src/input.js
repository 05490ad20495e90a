// What a caller hands over, checked before it reaches the library.

import { FORMAT } from "./layout.js";
import { BroadphaseError } from "./memory.js";

/** The error for an argument of the wrong kind. */
export function refuse(argument, message) {
    return new BroadphaseError(`${argument}: ${message}`, "invalid-argument", { argument });
}

/** The number behind a name, or the default if there is none. */
export function choice(argument, names, value, standard) {
    if (value === undefined) {
        return standard;
    }
    if (!Object.hasOwn(names, value)) {
        throw refuse(argument, `'${value}' is none; it must be one of ${Object.keys(names).join(", ")}`);
    }
    return names[value];
}

/** A number, or the default if there is none. */
export function number(argument, value, standard) {
    if (value === undefined) {
        return standard;
    }
    if (typeof value !== "number") {
        throw refuse(argument, "it must be a number");
    }
    return value;
}

/** A number of things; more than there can be counts as all. */
export function wholeNumber(argument, value) {
    if (!(value >= 0) || (value !== Infinity && !Number.isInteger(value))) {
        throw refuse(argument, `it must be a whole number from 0 on, and is ${value}`);
    }
    return Math.min(value, 0xffffffff);
}

/** Dimension and scalar of an array. */
export class Format {
    constructor(dimension, scalar) {
        this.number = FORMAT[`${dimension}${scalar}`];
        if (this.number === undefined) {
            throw refuse("dimension, scalar", `${dimension}, ${scalar} is none; they must be 2 or 3, and 'f32' or 'f64'`);
        }
        this.dimension = dimension;
        this.Array = scalar === "f32" ? Float32Array : Float64Array;
    }

    /** That of rows in a typed array. */
    static of(argument, array, dimension) {
        if (!(array instanceof Float32Array || array instanceof Float64Array)) {
            throw refuse(argument, "it must be a Float32Array or a Float64Array");
        }
        return new Format(dimension, array instanceof Float32Array ? "f32" : "f64");
    }

    /** The number of rows of `width` numbers. */
    rows(argument, array, width) {
        if (!(array instanceof this.Array)) {
            throw refuse(argument, `it must be a ${this.Array.name}`);
        }
        if (array.length % width !== 0) {
            throw refuse(argument, `its length must be a multiple of ${width}, and is ${array.length}`);
        }
        return array.length / width;
    }
}

/** Ids as an array of 64-bit numbers. */
export function idArray(argument, ids) {
    if (typeof ids === "bigint") {
        return BigUint64Array.of(ids);
    }
    if (ids instanceof BigUint64Array) {
        return ids;
    }
    if (Array.isArray(ids) && ids.every((id) => typeof id === "bigint")) {
        return BigUint64Array.from(ids);
    }
    throw refuse(argument, "it must be an id, an array of ids, or a BigUint64Array");
}

/** One value for each id. */
export function valuesFor(argument, Type, values, count) {
    const list = values instanceof Type ? values : Array.isArray(values) ? Type.from(values) : new Type(count).fill(values);
    if (list.length !== count) {
        throw refuse(argument, `there must be ${count}, and there are ${list.length}`);
    }
    return list;
}
