/* What the C tests share: checks, random numbers, boxes in every format, and the double loop that everything is compared with. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <broadphase.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);   \
            failures++;                                                                     \
        }                                                                                   \
    } while (0)

#define OK(call)                                                                            \
    do {                                                                                    \
        const bp_status status_ = (call);                                                   \
        if (status_ != BP_OK) {                                                             \
            fprintf(stderr, "%s:%d: %s is %s\n", __FILE__, __LINE__, #call, bp_status_name(status_)); \
            failures++;                                                                     \
        }                                                                                   \
    } while (0)

static uint64_t seed = 1;

/* A number in 0 .. 1. */
static inline double uniform(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 40) / 16777216.0;
}

static inline int dimension(bp_format format) { return format == BP_FORMAT_2F || format == BP_FORMAT_2D ? 2 : 3; }
static inline int is_double(bp_format format) { return format == BP_FORMAT_2D || format == BP_FORMAT_3D; }
static inline size_t scalar_size(bp_format format) { return is_double(format) ? sizeof(double) : sizeof(float); }

static inline double get(bp_format format, const void *array, size_t at) {
    return is_double(format) ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

static inline void put(bp_format format, void *array, size_t at, double value) {
    if (is_double(format)) {
        ((double *)array)[at] = value;
    } else {
        ((float *)array)[at] = (float)value;
    }
}

/* `count` boxes in a cube of side `space`, of side 0 to `size`; coordinates on a lattice, so that many only touch. */
static inline void *random_boxes(bp_format format, size_t count, double space, double size) {
    const int d = dimension(format);
    void *boxes = calloc(count * 2 * (size_t)d + 1, scalar_size(format));
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < d; k++) {
            const double min = floor(uniform() * space * 8) / 8;
            put(format, boxes, i * 2 * (size_t)d + (size_t)k, min);
            put(format, boxes, i * 2 * (size_t)d + (size_t)(d + k), min + floor(uniform() * size * 8) / 8);
        }
    }
    return boxes;
}

/* Do two closed boxes overlap? */
static inline int overlap(bp_format format, const void *a, size_t i, const void *b, size_t j) {
    const size_t d = (size_t)dimension(format);
    for (size_t k = 0; k < d; k++) {
        if (get(format, a, 2 * d * i + k) > get(format, b, 2 * d * j + d + k) || get(format, b, 2 * d * j + k) > get(format, a, 2 * d * i + d + k)) {
            return 0;
        }
    }
    return 1;
}

static const bp_format FORMATS[4] = {BP_FORMAT_2F, BP_FORMAT_3F, BP_FORMAT_2D, BP_FORMAT_3D};

static inline int same_id(bp_object_id x, bp_object_id y) { return x.index == y.index && x.generation == y.generation; }

static inline int finish(const char *name) {
    if (failures > 0) {
        fprintf(stderr, "%s: %d checks failed\n", name, failures);
        return 1;
    }
    printf("%s: passed\n", name);
    return 0;
}

#endif
