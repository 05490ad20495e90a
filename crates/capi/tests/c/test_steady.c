/* Steady frames allocate nothing. Linked with -Wl,--wrap=malloc and its like, which count. */
#include "support.h"

static long allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
    allocations++;
    return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    allocations++;
    return __real_calloc(count, size);
}
void *__wrap_realloc(void *memory, size_t size) {
    allocations++;
    return __real_realloc(memory, size);
}
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
    allocations++;
    return __real_posix_memalign(memory, alignment, size);
}

enum { COUNT = 3000, CYCLE = 4 };

int main(void) {
    /* Four frames in turns, so that every later frame is one that the buffers have met. */
    void *frames[CYCLE];
    for (int i = 0; i < CYCLE; i++) {
        frames[i] = random_boxes(BP_FORMAT_3F, COUNT, 30, 3);
    }
    bp_world *world;
    bp_answers *answers;
    static bp_object_id ids[COUNT];
    OK(bp_world_create(NULL, &world, NULL));
    OK(bp_answers_create(&answers));
    OK(bp_world_insert(world, frames[0], NULL, 0, ids, COUNT));
    const long before = allocations;
    CHECK(before > 0);
    long steady = 0;
    uint64_t pairs = 0;
    for (int frame = 0; frame < 15 * CYCLE; frame++) {
        const long start = allocations;
        const float *boxes = frames[frame % CYCLE];
        bp_update update;
        bp_id_pair_list list;
        bp_event_list events;
        bp_answer_list found;
        if (frame % 2 == 0) {
            OK(bp_world_set_boxes(world, boxes, COUNT));
        } else {
            OK(bp_world_set_boxes_of(world, ids, boxes, COUNT));
        }
        OK(bp_world_update(world, &update));
        OK(bp_world_pairs(world, &list));
        OK(bp_world_started(world, &events));
        OK(bp_world_ended(world, &events));
        OK(bp_world_in_boxes(world, NULL, frames[0], 50, answers, &found));
        OK(bp_world_nearest_to(world, NULL, frames[0], 50, 4, INFINITY, answers, &found));
        OK(bp_world_in_frusta(world, NULL, frames[1], 1, 5, answers, &found));
        pairs += list.count;
        steady += frame >= 10 * CYCLE ? allocations - start : 0;
    }
    CHECK(pairs > 0);
    if (steady != 0) {
        fprintf(stderr, "%ld allocations in %d steady frames\n", steady, 5 * CYCLE);
        failures++;
    }
    bp_answers_destroy(answers);
    bp_world_destroy(world);
    for (int i = 0; i < CYCLE; i++) {
        free(frames[i]);
    }
    return finish("steady frames");
}
