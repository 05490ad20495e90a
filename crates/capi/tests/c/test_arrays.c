/* Arrays, neighbors and meshes against double loops, in every format. */
#include "support.h"

static void pairs_of_one_list(bp_format format, size_t count) {
    void *boxes = random_boxes(format, count, 12, 3);
    bp_search_def defs[4];
    for (int i = 0; i < 4; i++) {
        defs[i] = bp_default_search_def();
    }
    defs[1].algorithm = "brute-force";
    defs[2].threads = 2;
    defs[3].algorithm = "kd-tree:t=64";
    for (int i = 0; i < 4; i++) {
        bp_pair_list list;
        bp_error error;
        uint64_t number;
        OK(bp_pairs(format, boxes, count, i == 0 ? NULL : &defs[i], &list, &error));
        CHECK(error.status == BP_OK && error.text[0] == 0 && error.axis == -1 && error.object == BP_NO_OBJECT);
        OK(bp_count_pairs(format, boxes, count, &defs[i], &number, NULL));
        CHECK(number == list.count);
        size_t at = 0;
        for (size_t a = 0; a < count; a++) {
            for (size_t b = a + 1; b < count; b++) {
                if (overlap(format, boxes, a, boxes, b)) {
                    CHECK(at < list.count && list.pairs[at].a == a && list.pairs[at].b == b);
                    at++;
                }
            }
        }
        CHECK(at == list.count);
        bp_pair_list_free(&list);
        CHECK(list.pairs == NULL && list.count == 0 && list.owner == NULL);
        bp_pair_list_free(&list);
    }
    free(boxes);
}

static void pairs_of_two_lists(bp_format format) {
    const size_t count_a = 150, count_b = 90;
    void *a = random_boxes(format, count_a, 9, 3), *b = random_boxes(format, count_b, 9, 3);
    bp_pair_list list;
    uint64_t number;
    OK(bp_pairs_between(format, a, count_a, b, count_b, NULL, &list, NULL));
    OK(bp_count_pairs_between(format, a, count_a, b, count_b, NULL, &number, NULL));
    size_t at = 0;
    for (size_t i = 0; i < count_a; i++) {
        for (size_t j = 0; j < count_b; j++) {
            if (overlap(format, a, i, b, j)) {
                CHECK(at < list.count && list.pairs[at].a == i && list.pairs[at].b == j);
                at++;
            }
        }
    }
    CHECK(at == list.count && number == at && at > 0);

    /* The same, kept from frame to frame. */
    bp_between *between;
    bp_between_pairs found;
    OK(bp_between_create(format, NULL, &between, NULL));
    OK(bp_between_update(between, a, count_a, b, count_b, &found));
    CHECK(found.pair_count == list.count && memcmp(found.pairs, list.pairs, list.count * sizeof(bp_pair)) == 0);
    CHECK(found.started_count == list.count && found.ended_count == 0);
    OK(bp_between_update(between, a, count_a, b, 0, &found));
    CHECK(found.pair_count == 0 && found.ended_count == list.count);
    bp_between_destroy(between);
    bp_pair_list_free(&list);
    free(a);
    free(b);
}

static uint8_t keep_even(void *user, bp_pair pair) {
    (void)user;
    return (pair.a + pair.b) % 2 == 0;
}

static void options(void) {
    const float boxes[3][4] = {{0, 0, 1, 1}, {1, 0, 2, 1}, {9, 0, 9.5f, 1}};
    bp_search_def def = bp_default_search_def();
    bp_pair_list list;
    OK(bp_pairs(BP_FORMAT_2F, boxes, 3, &def, &list, NULL));
    CHECK(list.count == 1);
    bp_pair_list_free(&list);
    def.half_open = 1;
    OK(bp_pairs(BP_FORMAT_2F, boxes, 3, &def, &list, NULL));
    CHECK(list.count == 0 && list.pairs == NULL);
    def.half_open = 0;
    def.period[0] = 10;
    def.margin = 0.5;
    OK(bp_pairs(BP_FORMAT_2F, boxes, 3, &def, &list, NULL));
    CHECK(list.count == 2 && list.pairs[1].a == 0 && list.pairs[1].b == 2);
    bp_pair_list_free(&list);
    def.keep = keep_even;
    OK(bp_pairs(BP_FORMAT_2F, boxes, 3, &def, &list, NULL));
    CHECK(list.count == 1 && list.pairs[0].b == 2);
    bp_pair_list_free(&list);
    const bp_tag tags[3] = {{1, 1, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}};
    def.keep = NULL;
    def.tags = tags;
    OK(bp_pairs(BP_FORMAT_2F, boxes, 3, &def, &list, NULL));
    CHECK(list.count == 1 && list.pairs[0].b == 1);
    bp_pair_list_free(&list);
    def.pair_limit = 0;
    bp_error error;
    CHECK(bp_pairs(BP_FORMAT_2F, boxes, 3, &def, &list, &error) == BP_TOO_MANY_PAIRS && list.count == 0);
    CHECK(strcmp(bp_status_name(error.status), "too-many-pairs") == 0);
}

static void neighbors(bp_format format) {
    const size_t count = 300, d = (size_t)dimension(format);
    void *points = calloc(count * d, scalar_size(format));
    for (size_t i = 0; i < count * d; i++) {
        put(format, points, i, uniform() * 10);
    }
    bp_neighbor_def def = bp_default_neighbor_def();
    def.distances = 1;
    bp_neighbor_list list;
    OK(bp_neighbors(format, points, count, 1.5, &def, &list, NULL));
    CHECK(list.point_count == count && list.distances != NULL);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK(list.offsets[i] == at);
        for (size_t j = 0; j < count; j++) {
            double square = 0;
            for (size_t k = 0; k < d; k++) {
                const double apart = get(format, points, i * d + k) - get(format, points, j * d + k);
                square += apart * apart;
            }
            if (i != j && square < 1.5 * 1.5 - 1e-4) {
                CHECK(at < list.count && list.indices[at] == j);
                CHECK(fabs(get(format, list.distances, at) - sqrt(square)) < 1e-5);
                at++;
            } else if (i != j && square < 1.5 * 1.5 + 1e-4 && at < list.count && list.indices[at] == j) {
                at++; /* too near to the radius for this loop to decide */
            }
        }
    }
    CHECK(at == list.count && list.offsets[count] == at);
    bp_neighbor_list_free(&list);
    CHECK(list.indices == NULL && list.owner == NULL);
    free(points);
}

static uint8_t never(void *user, uint32_t a, uint32_t b) {
    (void)a;
    (void)b;
    ++*(int *)user;
    return 0;
}

static void meshes(void) {
    /* Two triangles, one over the other. */
    const double vertices[6][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {1, 1, 0}, {9, 1, 1}, {9, 9, 1}};
    const uint32_t edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}, faces[2][3] = {{0, 1, 2}, {3, 4, 5}};
    bp_mesh *mesh;
    bp_mesh_candidates found;
    OK(bp_mesh_create(BP_FORMAT_3D, 6, &edges[0][0], 6, &faces[0][0], 2, NULL, &mesh, NULL));
    OK(bp_mesh_update(mesh, vertices, NULL, 6, &found));
    CHECK(found.vertex_face_count == 1 && found.vertex_face[0].a == 3 && found.vertex_face[0].b == 0);
    CHECK(found.edge_vertex_count == 0);
    CHECK(bp_mesh_update(mesh, vertices, NULL, 5, &found) == BP_WRONG_LENGTH);
    bp_error error;
    OK(bp_mesh_last_error(mesh, &error));
    CHECK(error.status == BP_WRONG_LENGTH && error.text[0] != 0);
    bp_mesh_destroy(mesh);

    int asked = 0;
    bp_mesh_def def = bp_default_mesh_def();
    def.can_collide = never;
    def.can_collide_user = &asked;
    OK(bp_mesh_create(BP_FORMAT_3D, 6, &edges[0][0], 6, &faces[0][0], 2, &def, &mesh, NULL));
    OK(bp_mesh_update(mesh, vertices, vertices, 6, &found));
    CHECK(asked > 0 && found.vertex_face_count == 0 && found.edge_edge_count == 0);
    bp_mesh_destroy(mesh);

    /* In the plane: a point that falls through an edge during the step. */
    const float before[3][2] = {{0, 0}, {4, 0}, {1, 2}}, after[3][2] = {{0, 0}, {4, 0}, {1, -2}};
    OK(bp_mesh_create(BP_FORMAT_2F, 3, &edges[0][0], 1, NULL, 0, NULL, &mesh, NULL));
    OK(bp_mesh_update(mesh, before, NULL, 3, &found));
    CHECK(found.edge_vertex_count == 0);
    OK(bp_mesh_update(mesh, before, after, 3, &found));
    CHECK(found.edge_vertex_count == 1 && found.edge_vertex[0].a == 0 && found.edge_vertex[0].b == 2);
    bp_mesh_destroy(mesh);
}

int main(void) {
    CHECK(bp_version() == (BP_VERSION_MAJOR << 16 | BP_VERSION_MINOR << 8 | BP_VERSION_PATCH));
    CHECK(strlen(bp_instruction_set()) > 0);
    size_t algorithms = 0;
    int has_auto = 0;
    for (const char *name; (name = bp_algorithm_name(algorithms)) != NULL; algorithms++) {
        has_auto |= strcmp(name, "auto") == 0;
    }
    CHECK(has_auto && algorithms >= 3 && bp_algorithm_name(SIZE_MAX) == NULL);
    for (int i = 0; i < 4; i++) {
        pairs_of_one_list(FORMATS[i], 0);
        pairs_of_one_list(FORMATS[i], 1);
        pairs_of_one_list(FORMATS[i], 400);
        pairs_of_two_lists(FORMATS[i]);
        neighbors(FORMATS[i]);
    }
    options();
    meshes();
    return finish("arrays");
}
