/* Distances of boxes, balls and points against double loops, in every format; one list and two, one thread and two. */
#include "support.h"

static size_t columns(bp_rows rows, size_t d) { return rows == BP_ROWS_BOXES ? 2 * d : rows == BP_ROWS_BALLS ? d + 1 : d; }

/* Rows on a lattice of eighths, so that squares and sums are exact in float, and many distances are equal. */
static void *random_rows(bp_format format, bp_rows rows, size_t count, double space) {
    if (rows == BP_ROWS_BOXES) {
        return random_boxes(format, count, space, 2);
    }
    const size_t d = (size_t)dimension(format), width = columns(rows, d);
    void *out = calloc(count * width + 1, scalar_size(format));
    for (size_t i = 0; i < count * width; i++) {
        const int is_radius = i % width == d;
        put(format, out, i, floor(uniform() * (is_radius ? 1 : space) * 8) / 8);
    }
    return out;
}

/* The distance of two rows, rounded as the format rounds it. */
static double distance(bp_format format, bp_rows rows, const void *a, size_t i, const void *b, size_t j) {
    const size_t d = (size_t)dimension(format), width = columns(rows, d);
    double square = 0;
    for (size_t k = 0; k < d; k++) {
        double gap;
        if (rows == BP_ROWS_BOXES) {
            gap = fmax(0, fmax(get(format, a, i * width + k) - get(format, b, j * width + d + k),
                               get(format, b, j * width + k) - get(format, a, i * width + d + k)));
        } else {
            gap = get(format, a, i * width + k) - get(format, b, j * width + k);
        }
        square += gap * gap;
    }
    const double radii = rows == BP_ROWS_BALLS ? get(format, a, i * width + d) + get(format, b, j * width + d) : 0;
    return is_double(format) ? fmax(0, sqrt(square) - radii) : (double)fmaxf(0, sqrtf((float)square) - (float)radii);
}

static void check_within(const bp_near_list *list, bp_format format, bp_rows rows, const void *a, size_t a_count, const void *b, size_t b_count,
                         double limit) {
    size_t at = 0;
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = a == b ? i + 1 : 0; j < b_count; j++) {
            const double apart = distance(format, rows, a, i, b, j);
            if (apart <= limit) {
                CHECK(at < list->count && list->pairs[at].a == i && list->pairs[at].b == j && list->pairs[at].distance == apart);
                at++;
            }
        }
    }
    CHECK(at == list->count);
}

static void check_nearest(const bp_neighbor_list *list, bp_format format, bp_rows rows, const void *a, size_t a_count, const void *b,
                          size_t b_count, size_t k) {
    const size_t others = a == b && b_count > 0 ? b_count - 1 : b_count, row = k < others ? k : others;
    CHECK(list->point_count == a_count && list->count == a_count * row);
    for (size_t i = 0; i < a_count; i++) {
        CHECK(list->offsets[i] == i * row && list->offsets[i + 1] == (i + 1) * row);
        for (size_t at = i * row; at < (i + 1) * row; at++) {
            const size_t j = list->indices[at];
            const double apart = distance(format, rows, a, i, b, j);
            CHECK(get(format, list->distances, at) == apart && !(a == b && i == j));
            /* As many others come before it as its place says: nearer, or as near with a smaller position. */
            size_t before = 0;
            for (size_t other = 0; other < b_count; other++) {
                const double theirs = distance(format, rows, a, i, b, other);
                before += !(a == b && other == i) && (theirs < apart || (theirs == apart && other < j));
            }
            CHECK(before == at - i * row);
        }
    }
}

static void check_closest(bp_near pair, bp_format format, bp_rows rows, const void *a, size_t a_count, const void *b, size_t b_count) {
    bp_near best = {UINT32_MAX, UINT32_MAX, INFINITY};
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = a == b ? i + 1 : 0; j < b_count; j++) {
            const double apart = distance(format, rows, a, i, b, j);
            if (apart < best.distance) {
                best = (bp_near){(uint32_t)i, (uint32_t)j, apart};
            }
        }
    }
    CHECK(pair.a == best.a && pair.b == best.b && pair.distance == best.distance);
}

static void one_list(bp_format format, bp_rows rows, size_t count, uint32_t threads) {
    bp_distance_def def = bp_default_distance_def();
    def.rows = rows;
    def.threads = threads;
    void *objects = random_rows(format, rows, count, count < 50 ? 40 : 12);
    bp_error error;
    bp_near_list list;
    OK(bp_pairs_within(format, objects, count, 0.75, &def, &list, &error));
    CHECK(error.status == BP_OK);
    check_within(&list, format, rows, objects, count, objects, count, 0.75);
    bp_near_list_free(&list);
    CHECK(list.pairs == NULL && list.count == 0 && list.owner == NULL);
    bp_near_list_free(&list);
    const size_t ks[4] = {0, 1, 7, (size_t)-1};
    for (int i = 0; i < 4; i++) {
        if (ks[i] == (size_t)-1 && count > 50) {
            continue;
        }
        bp_neighbor_list near;
        OK(bp_nearest(format, objects, count, ks[i], &def, &near, &error));
        check_nearest(&near, format, rows, objects, count, objects, count, ks[i]);
        bp_neighbor_list_free(&near);
    }
    bp_near pair;
    OK(bp_closest_pair(format, objects, count, &def, &pair, &error));
    check_closest(pair, format, rows, objects, count, objects, count);
    free(objects);
}

static void two_lists(bp_format format, bp_rows rows, size_t a_count, size_t b_count) {
    bp_distance_def def = bp_default_distance_def();
    def.rows = rows;
    void *a = random_rows(format, rows, a_count, 12), *b = random_rows(format, rows, b_count, 12);
    bp_near_list list;
    OK(bp_pairs_within_between(format, a, a_count, b, b_count, 1.5, &def, &list, NULL));
    check_within(&list, format, rows, a, a_count, b, b_count, 1.5);
    bp_near_list_free(&list);
    bp_neighbor_list near;
    OK(bp_nearest_between(format, a, a_count, b, b_count, 3, &def, &near, NULL));
    check_nearest(&near, format, rows, a, a_count, b, b_count, 3);
    bp_neighbor_list_free(&near);
    bp_near pair;
    OK(bp_closest_pair_between(format, a, a_count, b, b_count, &def, &pair, NULL));
    check_closest(pair, format, rows, a, a_count, b, b_count);
    free(a);
    free(b);
}

int main(void) {
    for (int i = 0; i < 4; i++) {
        for (bp_rows rows = BP_ROWS_BOXES; rows <= BP_ROWS_POINTS; rows++) {
            const size_t counts[5] = {0, 1, 2, 30, 300};
            for (int c = 0; c < 5; c++) {
                one_list(FORMATS[i], rows, counts[c], 1);
                two_lists(FORMATS[i], rows, counts[c], 60);
                two_lists(FORMATS[i], rows, 60, counts[c]);
            }
            one_list(FORMATS[i], rows, 300, 2);
        }
    }
    /* Null is boxes, on this thread. */
    const float boxes[2][4] = {{0, 0, 1, 1}, {4, 5, 6, 6}};
    bp_near pair;
    OK(bp_closest_pair(BP_FORMAT_2F, boxes, 2, NULL, &pair, NULL));
    CHECK(pair.a == 0 && pair.b == 1 && pair.distance == 5);
    return finish("distance");
}
