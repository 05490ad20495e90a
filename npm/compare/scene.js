// Boxes that move: the same frames for every library.
//
// Lower corners are even multiples of 1/64 and upper ones odd, so that no two boxes only touch: libraries differ in whether that counts, and
// centers and half sizes are exact in every format.

/** Numbers in 0 .. 1, the same in every run. */
function random(seed) {
    let state = seed;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 4294967296;
    };
}

/** A scene of `n` boxes with about one and a half pairs each; `next()` moves all of them and gives their rows. */
export function scene(dimension, n, seed = 42) {
    const next = random(seed);
    const size = () => 48 / 64 + (2 * Math.floor(next() * 24) + 1) / 64;
    const mean = 72 / 64;
    // Pairs per box in a space of volume V: about n * (2 mean)^d / (2 V).
    const side = ((n * (2 * mean) ** dimension) / 3) ** (1 / dimension);
    const lattice = (x) => Math.floor(x * 32) / 32;
    const sizes = Float64Array.from({ length: n * dimension }, size);
    const places = Float64Array.from({ length: n * dimension }, () => next() * side);
    const speeds = Float64Array.from({ length: n * dimension }, () => (next() - 0.5) * 0.25);
    const boxes = new Float32Array(n * 2 * dimension);
    return {
        dimension,
        n,
        boxes,
        next() {
            for (let i = 0; i < n; i++) {
                for (let k = 0; k < dimension; k++) {
                    const at = i * dimension + k;
                    places[at] += speeds[at];
                    if (places[at] < 0 || places[at] > side) {
                        speeds[at] = -speeds[at];
                    }
                    boxes[2 * i * dimension + k] = lattice(places[at]);
                    boxes[2 * i * dimension + dimension + k] = lattice(places[at]) + sizes[at];
                }
            }
            return boxes;
        },
    };
}
