/* What bp_world_update costs: the same frames as examples/update.rs, which calls the library from Rust. benchmarks/c-overhead runs both.
 *
 *     update N FRAMES: prints the medians of setting all boxes and of updating, in milliseconds, and the sum of all numbers of pairs
 */
#define _POSIX_C_SOURCE 200809L
#include <broadphase.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t state = 1;

static double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / 16777216.0;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static double median(double *times, size_t count) {
    qsort(times, count, sizeof *times, ascending);
    return times[count / 2];
}

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? (size_t)atoll(argv[1]) : 1000, frames = argc > 2 ? (size_t)atoll(argv[2]) : 10;
    const double side = cbrt((double)n * 8 / 3);
    float *boxes = malloc(n * 6 * sizeof(float));
    bp_object_id *ids = malloc(n * sizeof *ids);
    double *set = malloc(frames * sizeof(double)), *update = malloc(frames * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) {
            boxes[6 * i + k] = (float)(uniform() * side);
            boxes[6 * i + 3 + k] = boxes[6 * i + k] + 1;
        }
    }
    bp_world *world;
    if (bp_world_create(NULL, &world, NULL) != BP_OK || bp_world_insert(world, boxes, NULL, 0, ids, n) != BP_OK ||
        bp_world_update(world, NULL) != BP_OK) {
        return 1;
    }
    uint64_t sum = 0;
    for (size_t frame = 0; frame < frames; frame++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < 3; k++) {
                const float step = (float)(uniform() - 0.5) * 0.2f;
                boxes[6 * i + k] += step;
                boxes[6 * i + 3 + k] += step;
            }
        }
        bp_update found;
        const double start = now();
        if (bp_world_set_boxes(world, boxes, n) != BP_OK) {
            return 1;
        }
        const double middle = now();
        if (bp_world_update(world, &found) != BP_OK) {
            return 1;
        }
        const double end = now();
        set[frame] = middle - start;
        update[frame] = end - middle;
        sum += found.pair_count * 3 + found.started_count * 5 + found.ended_count * 7;
    }
    printf("%.4f %.4f %llu\n", median(set, frames), median(update, frames), (unsigned long long)sum);
    bp_world_destroy(world);
    free(boxes);
    free(ids);
    free(set);
    free(update);
    return 0;
}
