/* All overlapping pairs of an array of boxes, in one call.
 *
 *     cc hello.c $(pkg-config --cflags --libs broadphase) && ./a.out
 */
#include <broadphase.h>
#include <stdio.h>

int main(void) {
    /* Rows of min x, y, max x, y. */
    const float boxes[4][4] = {{0, 0, 2, 2}, {1, 1, 3, 3}, {5, 5, 6, 6}, {3, 0, 4, 1}};

    bp_pair_list list;
    bp_error error;
    if (bp_pairs(BP_FORMAT_2F, boxes, 4, NULL, &list, &error) != BP_OK) {
        fprintf(stderr, "%s: %s\n", bp_status_name(error.status), error.text);
        return 1;
    }
    for (size_t i = 0; i < list.count; i++) {
        printf("%u and %u overlap\n", list.pairs[i].a, list.pairs[i].b);
    }
    bp_pair_list_free(&list);

    /* A box with min above max is a status, not a crash. */
    const float wrong[2][4] = {{0, 0, 1, 1}, {0, 7, 1, 3}};
    if (bp_pairs(BP_FORMAT_2F, wrong, 2, NULL, &list, &error) != BP_OK) {
        printf("refused: object %llu, axis %d: %s\n", (unsigned long long)error.object, error.axis, error.text);
    }
    return 0;
}
