/* A world of moving boxes: what started, what ended, and what a ray hits first.
 *
 *     cc world.c $(pkg-config --cflags --libs broadphase) && ./a.out
 */
#include <broadphase.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with what the world says of its last error. */
static void check(bp_world *world, bp_status status) {
    if (status != BP_OK) {
        bp_error error;
        bp_world_last_error(world, &error);
        fprintf(stderr, "%s: %s\n", bp_status_name(status), error.text);
        exit(1);
    }
}

int main(void) {
    bp_world_def def = bp_default_world_def();
    def.format = BP_FORMAT_2F;
    bp_world *world;
    bp_error error;
    if (bp_world_create(&def, &world, &error) != BP_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }

    /* A floor that never moves, and three balls above it. */
    const float floor_box[4] = {-10, -1, 10, 0};
    bp_object_def fixed = bp_default_object_def();
    fixed.kind = BP_KIND_STATIC;
    fixed.user = 100;
    bp_object_id floor_id;
    check(world, bp_world_insert(world, floor_box, &fixed, 1, &floor_id, 1));

    float balls[3][4];
    bp_object_def ball = bp_default_object_def();
    ball.shape = BP_SHAPE_BALL;
    bp_object_id ids[3];
    for (int i = 0; i < 3; i++) {
        const float x = (float)(3 * i), y = (float)(2 + i);
        const float box[4] = {x, y, x + 1, y + 1};
        for (int k = 0; k < 4; k++) {
            balls[i][k] = box[k];
        }
        ball.user = (uint64_t)i;
        check(world, bp_world_insert(world, balls[i], &ball, 1, &ids[i], 1));
    }

    /* They fall, one by one onto the floor. */
    for (int frame = 0; frame < 6; frame++) {
        bp_update update;
        check(world, bp_world_update(world, &update));
        bp_event_list started;
        check(world, bp_world_started(world, &started));
        for (size_t i = 0; i < started.count; i++) {
            const bp_pair_event *event = &started.events[i];
            printf("frame %d: %llu meets %llu\n", frame, (unsigned long long)event->user_a, (unsigned long long)event->user_b);
        }
        for (int i = 0; i < 3; i++) {
            if (balls[i][1] > 0) {
                balls[i][1] -= 1;
                balls[i][3] -= 1;
            }
        }
        /* All movers at once, in the order of insertion. */
        check(world, bp_world_set_boxes(world, balls, 3));
    }

    /* What does a ray along the floor hit first? */
    const float ray[5] = {-5, 0.5f, 1, 0, 100};
    bp_answers *answers;
    check(world, bp_answers_create(&answers));
    bp_answer_list hits;
    check(world, bp_world_first_along_rays(world, NULL, ray, 1, answers, &hits));
    if (hits.count == 1) {
        printf("the ray enters object %u at t = %g\n", hits.ids[0].index, hits.distances[0]);
    }

    /* A removed object's id is stale from then on. */
    check(world, bp_world_remove(world, &ids[0], 1));
    const bp_status status = bp_world_remove(world, &ids[0], 1);
    printf("removed twice: %s\n", bp_status_name(status));

    bp_world_stats stats;
    check(world, bp_world_get_stats(world, &stats));
    printf("%s\n", stats.text);
    bp_answers_destroy(answers);
    bp_world_destroy(world);
    return 0;
}
