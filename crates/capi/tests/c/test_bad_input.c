/* Every function with null, misaligned and meaningless arguments: each line is a call and the status that it must return. Around each, the world
 * is written down, and must be the same. scripts/check-c fails if a function of the header is not in this file. */
#include "support.h"

/* What calls are made with. */
typedef struct {
    bp_world *world, *other, *flat;
    bp_answers *answers;
    bp_mesh *mesh;
    bp_between *between;
    bp_object_id id[2], twice[2], stale, foreign, null_id, out[8];
    float box[2][6], nan_box[2][6], upside_down[2][6], infinite_nan[6], negative_ball[3];
    double doubles[8];
    uint32_t edges[4], bad_edges[4], number;
    uint64_t big;
    uint8_t byte, two;
    size_t size;
    const uint8_t *bytes;
    bp_tag tag;
    bp_kind bad_kind;
    bp_shape bad_shape;
    char not_utf8[2];
    uint8_t noise[16];
    float scratch[16];
    double aligned_memory[64];
    void *odd;
    bp_pair_list pairs;
    bp_neighbor_list neighbors;
    bp_near_list near;
    bp_near pair;
    bp_mesh_candidates candidates;
    bp_between_pairs found;
    bp_update update;
    bp_id_list ids;
    bp_id_pair_list id_pairs;
    bp_event_list events;
    bp_answer_list list;
    bp_world_stats stats;
    bp_error error;
    bp_world *made;
    bp_mesh *made_mesh;
    bp_between *made_between;
    bp_world_def world_def, unmade_world_def, bad_algorithm, bad_option, bad_report, bad_format, bad_margin, many_workers, not_utf8_def;
    bp_object_def object_def, object_out, two_defs[2], unmade_object_def, bad_kind_def, bad_sensor, bad_margin_def, bad_previous;
    bp_search_def search, unmade_search, bad_flag, bad_period, many_threads;
    bp_neighbor_def unmade_neighbor, half_two;
    bp_distance_def unmade_distance, bad_rows, balls, points, many_distance_threads;
    bp_mesh_def unmade_mesh, nan_inflation;
    bp_query_def unmade_query, tag_two;
} Fixture;

#define HUGE_COUNT ((size_t)-1)
#define MANY ((size_t)1 << 40)

/* A query with each of its arguments wrong in turn. */
#define QUERY(X, name)                                                                                        \
    X(BP_NULL_POINTER, name(NULL, NULL, f->box, 1, f->answers, &f->list))                                     \
    X(BP_NULL_POINTER, name(f->world, NULL, NULL, 1, f->answers, &f->list))                                   \
    X(BP_NULL_POINTER, name(f->world, NULL, f->box, 1, NULL, &f->list))                                       \
    X(BP_NULL_POINTER, name(f->world, NULL, f->box, 1, f->answers, NULL))                                     \
    X(BP_MISALIGNED_POINTER, name(f->world, NULL, f->odd, 1, f->answers, &f->list))                           \
    X(BP_MISALIGNED_POINTER, name(f->world, NULL, f->box, 1, f->odd, &f->list))                               \
    X(BP_MISALIGNED_POINTER, name(f->world, NULL, f->box, 1, f->answers, f->odd))                             \
    X(BP_MISALIGNED_POINTER, name(f->world, f->odd, f->box, 1, f->answers, &f->list))                         \
    X(BP_INVALID_COUNT, name(f->world, NULL, f->box, HUGE_COUNT, f->answers, &f->list))                       \
    X(BP_INVALID_COUNT, name(f->world, NULL, f->box, MANY, f->answers, &f->list))                             \
    X(BP_INVALID_DEF, name(f->world, &f->unmade_query, f->box, 1, f->answers, &f->list))                      \
    X(BP_INVALID_ARGUMENT, name(f->world, &f->tag_two, f->box, 1, f->answers, &f->list))                      \
    X(BP_INVALID_QUERY, name(f->world, NULL, f->nan_box, 1, f->answers, &f->list))

/* A distance call of one list, with each of its arguments wrong in turn. `middle` is what stands between the count and the definition. */
#define DISTANCE(X, name, middle, out)                                                                        \
    X(BP_NULL_POINTER, name(BP_FORMAT_3F, NULL, 2, middle NULL, out, &f->error))                              \
    X(BP_NULL_POINTER, name(BP_FORMAT_3F, f->box, 2, middle NULL, NULL, NULL))                                \
    X(BP_MISALIGNED_POINTER, name(BP_FORMAT_3F, f->odd, 2, middle NULL, out, NULL))                           \
    X(BP_MISALIGNED_POINTER, name(BP_FORMAT_3F, f->box, 2, middle NULL, f->odd, NULL))                        \
    X(BP_MISALIGNED_POINTER, name(BP_FORMAT_3F, f->box, 2, middle f->odd, out, NULL))                         \
    X(BP_MISALIGNED_POINTER, name(BP_FORMAT_3F, f->box, 2, middle NULL, out, f->odd))                         \
    X(BP_INVALID_COUNT, name(BP_FORMAT_3F, f->box, HUGE_COUNT, middle NULL, out, NULL))                       \
    X(BP_INVALID_COUNT, name(BP_FORMAT_3F, f->box, MANY, middle NULL, out, NULL))                             \
    X(BP_INVALID_FORMAT, name(4, f->box, 2, middle NULL, out, NULL))                                          \
    X(BP_INVALID_BOX, name(BP_FORMAT_3F, f->nan_box, 2, middle NULL, out, NULL))                              \
    X(BP_INVALID_BOX, name(BP_FORMAT_3F, f->upside_down, 2, middle NULL, out, NULL))                          \
    X(BP_INVALID_POINT, name(BP_FORMAT_3F, f->infinite_nan, 2, middle &f->points, out, NULL))                 \
    X(BP_INVALID_POINT, name(BP_FORMAT_2F, f->infinite_nan, 2, middle &f->balls, out, NULL))                  \
    X(BP_INVALID_VALUE, name(BP_FORMAT_2F, f->negative_ball, 1, middle &f->balls, out, NULL))                 \
    X(BP_INVALID_DEF, name(BP_FORMAT_3F, f->box, 2, middle &f->unmade_distance, out, NULL))                   \
    X(BP_INVALID_ARGUMENT, name(BP_FORMAT_3F, f->box, 2, middle &f->bad_rows, out, NULL))                     \
    X(BP_THREADS_UNAVAILABLE, name(BP_FORMAT_3F, f->box, 2, middle &f->many_distance_threads, out, NULL))

/* A distance call of two lists. */
#define DISTANCE_BETWEEN(X, name, middle, out)                                                                \
    X(BP_NULL_POINTER, name(BP_FORMAT_3F, NULL, 2, f->box, 2, middle NULL, out, NULL))                        \
    X(BP_NULL_POINTER, name(BP_FORMAT_3F, f->box, 2, NULL, 2, middle NULL, out, NULL))                        \
    X(BP_NULL_POINTER, name(BP_FORMAT_3F, f->box, 2, f->box, 2, middle NULL, NULL, NULL))                     \
    X(BP_MISALIGNED_POINTER, name(BP_FORMAT_3F, f->odd, 2, f->box, 2, middle NULL, out, NULL))                \
    X(BP_MISALIGNED_POINTER, name(BP_FORMAT_3F, f->box, 2, f->odd, 2, middle NULL, out, NULL))                \
    X(BP_MISALIGNED_POINTER, name(BP_FORMAT_3F, f->box, 2, f->box, 2, middle f->odd, out, NULL))              \
    X(BP_INVALID_COUNT, name(BP_FORMAT_3F, f->box, HUGE_COUNT, f->box, 2, middle NULL, out, NULL))            \
    X(BP_INVALID_COUNT, name(BP_FORMAT_3F, f->box, 2, f->box, MANY, middle NULL, out, NULL))                  \
    X(BP_INVALID_FORMAT, name(77, f->box, 2, f->box, 2, middle NULL, out, NULL))                              \
    X(BP_INVALID_BOX, name(BP_FORMAT_3F, f->box, 2, f->nan_box, 2, middle NULL, out, NULL))                   \
    X(BP_INVALID_BOX, name(BP_FORMAT_3F, f->upside_down, 2, f->box, 2, middle NULL, out, NULL))               \
    X(BP_INVALID_DEF, name(BP_FORMAT_3F, f->box, 2, f->box, 2, middle &f->unmade_distance, out, NULL))        \
    X(BP_INVALID_ARGUMENT, name(BP_FORMAT_3F, f->box, 2, f->box, 2, middle &f->bad_rows, out, NULL))

#define WITHIN 1.0,
#define K 3,
#define NOTHING

/* A setter of objects' values. */
#define SETTER(X, name, values)                                                                               \
    X(BP_NULL_POINTER, name(NULL, f->id, values, 1))                                                          \
    X(BP_NULL_POINTER, name(f->world, NULL, values, 1))                                                       \
    X(BP_NULL_POINTER, name(f->world, f->id, NULL, 1))                                                        \
    X(BP_MISALIGNED_POINTER, name(f->world, f->odd, values, 1))                                               \
    X(BP_INVALID_COUNT, name(f->world, f->id, values, HUGE_COUNT))                                            \
    X(BP_INVALID_COUNT, name(f->world, f->id, values, MANY))                                                  \
    X(BP_STALE_HANDLE, name(f->world, &f->stale, values, 1))                                                  \
    X(BP_STALE_HANDLE, name(f->world, &f->foreign, values, 1))                                                \
    X(BP_STALE_HANDLE, name(f->world, &f->null_id, values, 1))

/* A call that only writes a result. */
#define GETTER(X, name, result)                                                                               \
    X(BP_NULL_POINTER, name(NULL, result))                                                                    \
    X(BP_NULL_POINTER, name(f->world, NULL))                                                                  \
    X(BP_MISALIGNED_POINTER, name(f->world, f->odd))                                                          \
    X(BP_MISALIGNED_POINTER, name(f->odd, result))

#define TABLE(X)                                                                                              \
    /* one-shot calls */                                                                                      \
    X(BP_NULL_POINTER, bp_pairs(BP_FORMAT_3F, NULL, 2, NULL, &f->pairs, NULL))                                \
    X(BP_NULL_POINTER, bp_pairs(BP_FORMAT_3F, f->box, 2, NULL, NULL, &f->error))                              \
    X(BP_MISALIGNED_POINTER, bp_pairs(BP_FORMAT_3F, f->odd, 2, NULL, &f->pairs, NULL))                        \
    X(BP_MISALIGNED_POINTER, bp_pairs(BP_FORMAT_3F, f->box, 2, NULL, f->odd, NULL))                           \
    X(BP_MISALIGNED_POINTER, bp_pairs(BP_FORMAT_3F, f->box, 2, NULL, &f->pairs, f->odd))                      \
    X(BP_MISALIGNED_POINTER, bp_pairs(BP_FORMAT_3F, f->box, 2, f->odd, &f->pairs, NULL))                      \
    X(BP_INVALID_COUNT, bp_pairs(BP_FORMAT_3F, f->box, HUGE_COUNT, NULL, &f->pairs, NULL))                    \
    X(BP_INVALID_COUNT, bp_pairs(BP_FORMAT_3F, f->box, MANY, NULL, &f->pairs, NULL))                          \
    X(BP_INVALID_FORMAT, bp_pairs(4, f->box, 2, NULL, &f->pairs, NULL))                                       \
    X(BP_INVALID_FORMAT, bp_pairs((bp_format)-1, f->box, 2, NULL, &f->pairs, NULL))                           \
    X(BP_INVALID_BOX, bp_pairs(BP_FORMAT_3F, f->nan_box, 2, NULL, &f->pairs, NULL))                           \
    X(BP_INVALID_BOX, bp_pairs(BP_FORMAT_3F, f->upside_down, 2, NULL, &f->pairs, NULL))                       \
    X(BP_INVALID_DEF, bp_pairs(BP_FORMAT_3F, f->box, 2, &f->unmade_search, &f->pairs, NULL))                  \
    X(BP_INVALID_ARGUMENT, bp_pairs(BP_FORMAT_3F, f->box, 2, &f->bad_flag, &f->pairs, NULL))                  \
    X(BP_INVALID_VALUE, bp_pairs(BP_FORMAT_3F, f->box, 2, &f->bad_period, &f->pairs, NULL))                   \
    X(BP_THREADS_UNAVAILABLE, bp_pairs(BP_FORMAT_3F, f->box, 2, &f->many_threads, &f->pairs, NULL))           \
    X(BP_NULL_POINTER, bp_pairs_between(BP_FORMAT_3F, f->box, 2, NULL, 2, NULL, &f->pairs, NULL))             \
    X(BP_NULL_POINTER, bp_pairs_between(BP_FORMAT_3F, NULL, 2, f->box, 2, NULL, &f->pairs, NULL))             \
    X(BP_NULL_POINTER, bp_pairs_between(BP_FORMAT_3F, f->box, 2, f->box, 2, NULL, NULL, NULL))                \
    X(BP_MISALIGNED_POINTER, bp_pairs_between(BP_FORMAT_3F, f->box, 2, f->odd, 2, NULL, &f->pairs, NULL))     \
    X(BP_INVALID_COUNT, bp_pairs_between(BP_FORMAT_3F, f->box, 2, f->box, HUGE_COUNT, NULL, &f->pairs, NULL)) \
    X(BP_INVALID_BOX, bp_pairs_between(BP_FORMAT_3F, f->box, 2, f->nan_box, 2, NULL, &f->pairs, NULL))        \
    X(BP_INVALID_FORMAT, bp_pairs_between(77, f->box, 2, f->box, 2, NULL, &f->pairs, NULL))                   \
    X(BP_INVALID_DEF, bp_pairs_between(BP_FORMAT_3F, f->box, 2, f->box, 2, &f->unmade_search, &f->pairs, NULL)) \
    X(BP_NULL_POINTER, bp_count_pairs(BP_FORMAT_3F, f->box, 2, NULL, NULL, NULL))                             \
    X(BP_NULL_POINTER, bp_count_pairs(BP_FORMAT_3F, NULL, 2, NULL, &f->big, NULL))                            \
    X(BP_MISALIGNED_POINTER, bp_count_pairs(BP_FORMAT_3F, f->box, 2, NULL, f->odd, NULL))                     \
    X(BP_INVALID_COUNT, bp_count_pairs(BP_FORMAT_2D, f->doubles, HUGE_COUNT / 4, NULL, &f->big, NULL))        \
    X(BP_INVALID_BOX, bp_count_pairs(BP_FORMAT_3F, f->nan_box, 2, NULL, &f->big, NULL))                       \
    X(BP_NULL_POINTER, bp_count_pairs_between(BP_FORMAT_3F, f->box, 2, f->box, 2, NULL, NULL, NULL))          \
    X(BP_NULL_POINTER, bp_count_pairs_between(BP_FORMAT_3F, f->box, 2, NULL, 2, NULL, &f->big, NULL))         \
    X(BP_INVALID_COUNT, bp_count_pairs_between(BP_FORMAT_3F, f->box, HUGE_COUNT, f->box, 2, NULL, &f->big, NULL)) \
    DISTANCE(X, bp_pairs_within, WITHIN, &f->near)                                                            \
    DISTANCE(X, bp_nearest, K, &f->neighbors)                                                                 \
    DISTANCE(X, bp_closest_pair, NOTHING, &f->pair)                                                           \
    DISTANCE_BETWEEN(X, bp_pairs_within_between, WITHIN, &f->near)                                            \
    DISTANCE_BETWEEN(X, bp_nearest_between, K, &f->neighbors)                                                 \
    DISTANCE_BETWEEN(X, bp_closest_pair_between, NOTHING, &f->pair)                                           \
    X(BP_INVALID_VALUE, bp_pairs_within(BP_FORMAT_3F, f->box, 2, -1, NULL, &f->near, NULL))                   \
    X(BP_INVALID_VALUE, bp_pairs_within(BP_FORMAT_3F, f->box, 2, NAN, NULL, &f->near, NULL))                  \
    X(BP_INVALID_VALUE, bp_pairs_within(BP_FORMAT_3F, f->box, 2, INFINITY, NULL, &f->near, NULL))             \
    X(BP_INVALID_VALUE, bp_pairs_within_between(BP_FORMAT_3F, f->box, 2, f->box, 2, -1, NULL, &f->near, NULL)) \
    X(BP_NULL_POINTER, bp_neighbors(BP_FORMAT_3F, NULL, 2, 1, NULL, &f->neighbors, NULL))                     \
    X(BP_NULL_POINTER, bp_neighbors(BP_FORMAT_3F, f->box, 2, 1, NULL, NULL, NULL))                            \
    X(BP_MISALIGNED_POINTER, bp_neighbors(BP_FORMAT_3F, f->odd, 2, 1, NULL, &f->neighbors, NULL))             \
    X(BP_INVALID_COUNT, bp_neighbors(BP_FORMAT_3F, f->box, HUGE_COUNT, 1, NULL, &f->neighbors, NULL))         \
    X(BP_INVALID_VALUE, bp_neighbors(BP_FORMAT_3F, f->box, 2, -1, NULL, &f->neighbors, NULL))                 \
    X(BP_INVALID_VALUE, bp_neighbors(BP_FORMAT_3F, f->box, 2, NAN, NULL, &f->neighbors, NULL))                \
    X(BP_INVALID_POINT, bp_neighbors(BP_FORMAT_3F, f->nan_box, 2, 1, NULL, &f->neighbors, NULL))              \
    X(BP_INVALID_FORMAT, bp_neighbors(9, f->box, 2, 1, NULL, &f->neighbors, NULL))                            \
    X(BP_INVALID_DEF, bp_neighbors(BP_FORMAT_3F, f->box, 2, 1, &f->unmade_neighbor, &f->neighbors, NULL))     \
    X(BP_INVALID_ARGUMENT, bp_neighbors(BP_FORMAT_3F, f->box, 2, 1, &f->half_two, &f->neighbors, NULL))       \
    X(BP_NULL_POINTER, bp_mesh_create(BP_FORMAT_3F, 4, NULL, 2, NULL, 0, NULL, &f->made_mesh, NULL))          \
    X(BP_NULL_POINTER, bp_mesh_create(BP_FORMAT_3F, 4, f->edges, 2, NULL, 1, NULL, &f->made_mesh, NULL))      \
    X(BP_NULL_POINTER, bp_mesh_create(BP_FORMAT_3F, 4, f->edges, 2, NULL, 0, NULL, NULL, NULL))               \
    X(BP_MISALIGNED_POINTER, bp_mesh_create(BP_FORMAT_3F, 4, f->odd, 2, NULL, 0, NULL, &f->made_mesh, NULL))  \
    X(BP_INVALID_COUNT, bp_mesh_create(BP_FORMAT_3F, HUGE_COUNT, f->edges, 2, NULL, 0, NULL, &f->made_mesh, NULL)) \
    X(BP_INVALID_COUNT, bp_mesh_create(BP_FORMAT_3F, 4, f->edges, HUGE_COUNT, NULL, 0, NULL, &f->made_mesh, NULL)) \
    X(BP_INVALID_ELEMENT, bp_mesh_create(BP_FORMAT_3F, 4, f->bad_edges, 2, NULL, 0, NULL, &f->made_mesh, NULL)) \
    X(BP_INVALID_FORMAT, bp_mesh_create(5, 4, f->edges, 2, NULL, 0, NULL, &f->made_mesh, NULL))               \
    X(BP_INVALID_DEF, bp_mesh_create(BP_FORMAT_3F, 4, f->edges, 2, NULL, 0, &f->unmade_mesh, &f->made_mesh, NULL)) \
    X(BP_INVALID_VALUE, bp_mesh_create(BP_FORMAT_3F, 4, f->edges, 2, NULL, 0, &f->nan_inflation, &f->made_mesh, NULL)) \
    X(BP_NULL_POINTER, bp_mesh_update(NULL, f->box, NULL, 4, &f->candidates))                                 \
    X(BP_NULL_POINTER, bp_mesh_update(f->mesh, NULL, NULL, 4, &f->candidates))                                \
    X(BP_NULL_POINTER, bp_mesh_update(f->mesh, f->box, NULL, 4, NULL))                                        \
    X(BP_MISALIGNED_POINTER, bp_mesh_update(f->mesh, f->box, f->odd, 4, &f->candidates))                      \
    X(BP_WRONG_LENGTH, bp_mesh_update(f->mesh, f->box, NULL, 3, &f->candidates))                              \
    X(BP_INVALID_COUNT, bp_mesh_update(f->mesh, f->box, NULL, HUGE_COUNT, &f->candidates))                    \
    X(BP_INVALID_POINT, bp_mesh_update(f->mesh, f->nan_box, NULL, 4, &f->candidates))                         \
    X(BP_NULL_POINTER, bp_mesh_last_error(NULL, &f->error))                                                   \
    X(BP_NULL_POINTER, bp_mesh_last_error(f->mesh, NULL))                                                     \
    X(BP_NULL_POINTER, bp_between_create(BP_FORMAT_3F, NULL, NULL, NULL))                                     \
    X(BP_INVALID_FORMAT, bp_between_create(11, NULL, &f->made_between, NULL))                                 \
    X(BP_INVALID_DEF, bp_between_create(BP_FORMAT_3F, &f->unmade_search, &f->made_between, NULL))             \
    X(BP_NULL_POINTER, bp_between_update(NULL, f->box, 2, f->box, 2, &f->found))                              \
    X(BP_NULL_POINTER, bp_between_update(f->between, NULL, 2, f->box, 2, &f->found))                          \
    X(BP_NULL_POINTER, bp_between_update(f->between, f->box, 2, f->box, 2, NULL))                             \
    X(BP_MISALIGNED_POINTER, bp_between_update(f->between, f->box, 2, f->odd, 2, &f->found))                  \
    X(BP_INVALID_COUNT, bp_between_update(f->between, f->box, 2, f->box, HUGE_COUNT, &f->found))              \
    X(BP_INVALID_BOX, bp_between_update(f->between, f->box, 2, f->nan_box, 2, &f->found))                     \
    X(BP_NULL_POINTER, bp_between_last_error(NULL, &f->error))                                                \
    X(BP_NULL_POINTER, bp_between_last_error(f->between, NULL))                                               \
    /* worlds */                                                                                              \
    X(BP_NULL_POINTER, bp_world_create(NULL, NULL, NULL))                                                     \
    X(BP_MISALIGNED_POINTER, bp_world_create(NULL, f->odd, NULL))                                             \
    X(BP_INVALID_DEF, bp_world_create(&f->unmade_world_def, &f->made, NULL))                                  \
    X(BP_INVALID_FORMAT, bp_world_create(&f->bad_format, &f->made, NULL))                                     \
    X(BP_UNKNOWN_ALGORITHM, bp_world_create(&f->bad_algorithm, &f->made, NULL))                               \
    X(BP_UNKNOWN_OPTION, bp_world_create(&f->bad_option, &f->made, NULL))                                     \
    X(BP_INVALID_ARGUMENT, bp_world_create(&f->bad_report, &f->made, NULL))                                   \
    X(BP_INVALID_ARGUMENT, bp_world_create(&f->many_workers, &f->made, NULL))                                 \
    X(BP_INVALID_ARGUMENT, bp_world_create(&f->not_utf8_def, &f->made, NULL))                                 \
    X(BP_INVALID_MARGIN, bp_world_create(&f->bad_margin, &f->made, NULL))                                     \
    X(BP_NULL_POINTER, bp_world_configure(NULL, &f->world_def))                                               \
    X(BP_NULL_POINTER, bp_world_configure(f->world, NULL))                                                    \
    X(BP_MISALIGNED_POINTER, bp_world_configure(f->world, f->odd))                                            \
    X(BP_INVALID_DEF, bp_world_configure(f->world, &f->unmade_world_def))                                     \
    X(BP_INVALID_FORMAT, bp_world_configure(f->flat, &f->world_def))                                          \
    X(BP_UNKNOWN_ALGORITHM, bp_world_configure(f->world, &f->bad_algorithm))                                  \
    X(BP_INVALID_MARGIN, bp_world_configure(f->world, &f->bad_margin))                                        \
    GETTER(X, bp_world_settings, &f->world_def)                                                               \
    GETTER(X, bp_world_last_error, &f->error)                                                                 \
    X(BP_NULL_POINTER, bp_world_insert(NULL, f->box, NULL, 0, f->out, 2))                                     \
    X(BP_NULL_POINTER, bp_world_insert(f->world, NULL, NULL, 0, f->out, 2))                                   \
    X(BP_NULL_POINTER, bp_world_insert(f->world, f->box, NULL, 0, NULL, 2))                                   \
    X(BP_NULL_POINTER, bp_world_insert(f->world, f->box, NULL, 2, f->out, 2))                                 \
    X(BP_MISALIGNED_POINTER, bp_world_insert(f->world, f->odd, NULL, 0, f->out, 2))                           \
    X(BP_MISALIGNED_POINTER, bp_world_insert(f->world, f->box, NULL, 0, f->odd, 2))                           \
    X(BP_MISALIGNED_POINTER, bp_world_insert(f->world, f->box, f->odd, 1, f->out, 2))                         \
    X(BP_MISALIGNED_POINTER, bp_world_insert(f->odd, f->box, NULL, 0, f->out, 2))                             \
    X(BP_INVALID_COUNT, bp_world_insert(f->world, f->box, NULL, 0, f->out, HUGE_COUNT))                       \
    X(BP_INVALID_COUNT, bp_world_insert(f->world, f->box, NULL, 0, f->out, MANY))                             \
    X(BP_INVALID_COUNT, bp_world_insert(f->world, f->box, &f->object_def, HUGE_COUNT, f->out, 2))             \
    X(BP_COUNT_MISMATCH, bp_world_insert(f->world, f->box, f->two_defs, 2, f->out, 1))                        \
    X(BP_INVALID_BOX, bp_world_insert(f->world, f->nan_box, NULL, 0, f->out, 2))                              \
    X(BP_INVALID_BOX, bp_world_insert(f->world, f->upside_down, NULL, 0, f->out, 2))                          \
    X(BP_INVALID_BOX, bp_world_insert(f->world, f->box, &f->bad_previous, 1, f->out, 1))                      \
    X(BP_INVALID_DEF, bp_world_insert(f->world, f->box, &f->unmade_object_def, 1, f->out, 2))                 \
    X(BP_INVALID_ARGUMENT, bp_world_insert(f->world, f->box, &f->bad_kind_def, 1, f->out, 2))                 \
    X(BP_INVALID_ARGUMENT, bp_world_insert(f->world, f->box, &f->bad_sensor, 1, f->out, 2))                   \
    X(BP_INVALID_MARGIN, bp_world_insert(f->world, f->box, &f->bad_margin_def, 1, f->out, 2))                 \
    X(BP_NULL_POINTER, bp_world_remove(NULL, f->id, 1))                                                       \
    X(BP_NULL_POINTER, bp_world_remove(f->world, NULL, 1))                                                    \
    X(BP_MISALIGNED_POINTER, bp_world_remove(f->world, f->odd, 1))                                            \
    X(BP_INVALID_COUNT, bp_world_remove(f->world, f->id, HUGE_COUNT))                                         \
    X(BP_STALE_HANDLE, bp_world_remove(f->world, &f->stale, 1))                                               \
    X(BP_STALE_HANDLE, bp_world_remove(f->world, &f->foreign, 1))                                             \
    X(BP_STALE_HANDLE, bp_world_remove(f->world, &f->null_id, 1))                                             \
    X(BP_STALE_HANDLE, bp_world_remove(f->world, f->twice, 2))                                                \
    X(BP_NULL_POINTER, bp_world_clear(NULL))                                                                  \
    X(BP_NULL_POINTER, bp_world_reserve(NULL, 1, 1))                                                          \
    X(BP_TOO_MANY_OBJECTS, bp_world_reserve(f->world, HUGE_COUNT, HUGE_COUNT))                                \
    X(BP_NULL_POINTER, bp_world_shrink(NULL))                                                                 \
    X(BP_NULL_POINTER, bp_world_set_boxes(NULL, f->box, 2))                                                   \
    X(BP_NULL_POINTER, bp_world_set_boxes(f->world, NULL, 2))                                                 \
    X(BP_MISALIGNED_POINTER, bp_world_set_boxes(f->world, f->odd, 2))                                         \
    X(BP_COUNT_MISMATCH, bp_world_set_boxes(f->world, f->box, 1))                                             \
    X(BP_COUNT_MISMATCH, bp_world_set_boxes(f->world, f->box, 1000000))                                       \
    X(BP_INVALID_COUNT, bp_world_set_boxes(f->world, f->box, HUGE_COUNT))                                     \
    X(BP_INVALID_BOX, bp_world_set_boxes(f->world, f->nan_box, 2))                                            \
    SETTER(X, bp_world_set_boxes_of, f->box)                                                                  \
    X(BP_MISALIGNED_POINTER, bp_world_set_boxes_of(f->world, f->id, f->odd, 1))                               \
    X(BP_INVALID_BOX, bp_world_set_boxes_of(f->world, f->id, f->nan_box, 2))                                  \
    SETTER(X, bp_world_teleport, f->box)                                                                      \
    X(BP_INVALID_BOX, bp_world_teleport(f->world, f->id, f->upside_down, 2))                                  \
    X(BP_NULL_POINTER, bp_world_shift_origin(NULL, f->box))                                                   \
    X(BP_NULL_POINTER, bp_world_shift_origin(f->world, NULL))                                                 \
    X(BP_MISALIGNED_POINTER, bp_world_shift_origin(f->world, f->odd))                                         \
    X(BP_INVALID_ARGUMENT, bp_world_shift_origin(f->world, f->infinite_nan))                                  \
    SETTER(X, bp_world_set_tags, &f->tag)                                                                     \
    SETTER(X, bp_world_set_kinds, &f->number)                                                                 \
    X(BP_INVALID_ARGUMENT, bp_world_set_kinds(f->world, f->id, &f->bad_kind, 1))                              \
    SETTER(X, bp_world_set_users, &f->big)                                                                    \
    SETTER(X, bp_world_set_margins, f->doubles)                                                               \
    SETTER(X, bp_world_set_shapes, &f->number)                                                                \
    X(BP_INVALID_ARGUMENT, bp_world_set_shapes(f->world, f->id, &f->bad_shape, 1))                            \
    SETTER(X, bp_world_set_sensors, &f->byte)                                                                 \
    X(BP_INVALID_ARGUMENT, bp_world_set_sensors(f->world, f->id, &f->two, 1))                                 \
    SETTER(X, bp_world_get_boxes, f->scratch)                                                                 \
    X(BP_NULL_POINTER, bp_world_refilter(NULL, f->id, 1))                                                     \
    X(BP_NULL_POINTER, bp_world_refilter(f->world, NULL, 1))                                                  \
    X(BP_STALE_HANDLE, bp_world_refilter(f->world, &f->stale, 1))                                             \
    X(BP_STALE_HANDLE, bp_world_refilter(f->world, &f->foreign, 1))                                           \
    X(BP_NULL_POINTER, bp_world_contains(NULL, f->id[0]))                                                     \
    X(BP_STALE_HANDLE, bp_world_contains(f->world, f->stale))                                                 \
    X(BP_STALE_HANDLE, bp_world_contains(f->world, f->foreign))                                               \
    X(BP_STALE_HANDLE, bp_world_contains(f->world, f->null_id))                                               \
    X(BP_NULL_POINTER, bp_world_get_object(NULL, f->id[0], &f->object_out))                                   \
    X(BP_NULL_POINTER, bp_world_get_object(f->world, f->id[0], NULL))                                         \
    X(BP_STALE_HANDLE, bp_world_get_object(f->world, f->stale, &f->object_out))                               \
    X(BP_STALE_HANDLE, bp_world_get_object(f->world, f->foreign, &f->object_out))                             \
    GETTER(X, bp_world_movers, &f->ids)                                                                       \
    GETTER(X, bp_world_objects, &f->ids)                                                                      \
    X(BP_NULL_POINTER, bp_world_update(NULL, &f->update))                                                     \
    X(BP_MISALIGNED_POINTER, bp_world_update(f->world, f->odd))                                               \
    GETTER(X, bp_world_started, &f->events)                                                                   \
    GETTER(X, bp_world_ended, &f->events)                                                                     \
    GETTER(X, bp_world_pairs, &f->id_pairs)                                                                   \
    GETTER(X, bp_world_sorted_pairs, &f->id_pairs)                                                            \
    X(BP_NULL_POINTER, bp_world_pairs_of(NULL, f->id[0], &f->ids))                                            \
    X(BP_NULL_POINTER, bp_world_pairs_of(f->world, f->id[0], NULL))                                           \
    X(BP_STALE_HANDLE, bp_world_pairs_of(f->world, f->stale, &f->ids))                                        \
    X(BP_STALE_HANDLE, bp_world_pairs_of(f->world, f->foreign, &f->ids))                                      \
    X(BP_NULL_POINTER, bp_world_pairs_with(NULL, f->other, &f->id_pairs))                                     \
    X(BP_NULL_POINTER, bp_world_pairs_with(f->world, NULL, &f->id_pairs))                                     \
    X(BP_NULL_POINTER, bp_world_pairs_with(f->world, f->other, NULL))                                         \
    X(BP_INVALID_ARGUMENT, bp_world_pairs_with(f->world, f->world, &f->id_pairs))                             \
    X(BP_INVALID_FORMAT, bp_world_pairs_with(f->world, f->flat, &f->id_pairs))                                \
    X(BP_NULL_POINTER, bp_world_set_pair_value(NULL, f->id[0], f->id[1], 1, NULL))                            \
    X(BP_STALE_HANDLE, bp_world_set_pair_value(f->world, f->stale, f->id[1], 1, NULL))                        \
    X(BP_STALE_HANDLE, bp_world_set_pair_value(f->world, f->id[0], f->foreign, 1, &f->byte))                  \
    X(BP_NULL_POINTER, bp_world_pair_value(NULL, f->id[0], f->id[1], &f->big, &f->byte))                      \
    X(BP_NULL_POINTER, bp_world_pair_value(f->world, f->id[0], f->id[1], NULL, &f->byte))                     \
    X(BP_NULL_POINTER, bp_world_pair_value(f->world, f->id[0], f->id[1], &f->big, NULL))                      \
    X(BP_STALE_HANDLE, bp_world_pair_value(f->world, f->id[0], f->stale, &f->big, &f->byte))                  \
    GETTER(X, bp_world_get_stats, &f->stats)                                                                  \
    X(BP_NULL_POINTER, bp_world_validate(NULL, 1))                                                            \
    X(BP_INVALID_ARGUMENT, bp_world_validate(f->world, 2))                                                    \
    X(BP_NULL_POINTER, bp_world_snapshot(NULL, &f->bytes, &f->size))                                          \
    X(BP_NULL_POINTER, bp_world_snapshot(f->world, NULL, &f->size))                                           \
    X(BP_NULL_POINTER, bp_world_snapshot(f->world, &f->bytes, NULL))                                          \
    X(BP_NULL_POINTER, bp_world_restore(NULL, f->noise, 9))                                                   \
    X(BP_NULL_POINTER, bp_world_restore(f->world, NULL, 9))                                                   \
    X(BP_INVALID_SNAPSHOT, bp_world_restore(f->world, NULL, 0))                                               \
    X(BP_INVALID_SNAPSHOT, bp_world_restore(f->world, f->noise, 9))                                           \
    X(BP_INVALID_COUNT, bp_world_restore(f->world, f->noise, HUGE_COUNT))                                     \
    X(BP_NULL_POINTER, bp_world_prepare_queries(NULL))                                                        \
    X(BP_NULL_POINTER, bp_answers_create(NULL))                                                               \
    X(BP_MISALIGNED_POINTER, bp_answers_create(f->odd))                                                       \
    /* queries */                                                                                             \
    QUERY(X, bp_world_in_boxes)                                                                               \
    QUERY(X, bp_world_at_points)                                                                              \
    QUERY(X, bp_world_in_balls)                                                                               \
    QUERY(X, bp_world_along_rays)                                                                             \
    QUERY(X, bp_world_first_along_rays)                                                                       \
    QUERY(X, bp_world_along_sweeps)                                                                           \
    QUERY(X, bp_world_first_along_sweeps)                                                                     \
    QUERY(X, bp_world_along_ball_sweeps)                                                                      \
    QUERY(X, bp_world_first_along_ball_sweeps)                                                                \
    QUERY(X, FRUSTA)                                                                                          \
    X(BP_INVALID_QUERY, bp_world_in_frusta(f->world, NULL, f->box, 0, HUGE_COUNT, f->answers, &f->list))      \
    X(BP_INVALID_COUNT, bp_world_in_frusta(f->world, NULL, f->box, HUGE_COUNT, 3, f->answers, &f->list))      \
    QUERY(X, NEAREST)                                                                                         \
    QUERY(X, NEAREST_TO_BOX)                                                                                  \
    X(BP_INVALID_QUERY, bp_world_nearest_to(f->world, NULL, f->box, 1, 1, NAN, f->answers, &f->list))         \
    X(BP_INVALID_QUERY, bp_world_nearest_to_boxes(f->world, NULL, f->box, 1, 1, -1, f->answers, &f->list))

#define FRUSTA(world, def, rows, count, answers, list) bp_world_in_frusta(world, def, rows, 1, count, answers, list)
#define NEAREST(world, def, rows, count, answers, list) bp_world_nearest_to(world, def, rows, count, 1, INFINITY, answers, list)
#define NEAREST_TO_BOX(world, def, rows, count, answers, list) bp_world_nearest_to_boxes(world, def, rows, count, 1, INFINITY, answers, list)


#define RUN(expected, ...)      \
    if (number-- == 0) {        \
        *want = (expected);     \
        *text = #__VA_ARGS__;   \
        return (__VA_ARGS__);   \
    }

/* Makes call `number` of the table; at its end, `text` is null. */
static bp_status call(Fixture *f, int number, bp_status *want, const char **text) {
    TABLE(RUN)
    *text = NULL;
    return BP_OK;
}

static void fill(Fixture *f) {
    memset(f, 0, sizeof *f);
    bp_world_def def = bp_default_world_def();
    f->world_def = def;
    OK(bp_world_create(&def, &f->world, NULL));
    OK(bp_world_create(&def, &f->other, NULL));
    def.format = BP_FORMAT_2D;
    OK(bp_world_create(&def, &f->flat, NULL));
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            f->box[i][k] = (float)(i + k);
            f->box[i][3 + k] = (float)(i + k + 2);
        }
    }
    memcpy(f->nan_box, f->box, sizeof f->box);
    memcpy(f->upside_down, f->box, sizeof f->box);
    /* In the first row, where every query sees it, and not in its first number alone. */
    for (int k = 0; k < 6; k++) {
        f->nan_box[0][k] = NAN;
    }
    f->upside_down[1][2] = 1e9f;
    f->infinite_nan[1] = INFINITY;
    bp_object_id third;
    OK(bp_world_insert(f->world, f->box, NULL, 0, f->id, 2));
    OK(bp_world_insert(f->world, f->box, NULL, 0, &third, 1));
    OK(bp_world_remove(f->world, &third, 1));
    OK(bp_world_insert(f->other, f->box, NULL, 0, f->out, 2));
    f->stale = third;
    f->foreign = f->out[0];
    f->twice[0] = f->twice[1] = f->id[0];
    OK(bp_world_update(f->world, NULL));
    OK(bp_answers_create(&f->answers));
    f->edges[1] = 1, f->edges[2] = 2, f->edges[3] = 3;
    f->bad_edges[3] = 4;
    OK(bp_mesh_create(BP_FORMAT_3F, 4, f->edges, 2, NULL, 0, NULL, &f->mesh, NULL));
    OK(bp_between_create(BP_FORMAT_3F, NULL, &f->between, NULL));
    f->odd = (char *)f->aligned_memory + 1;
    f->tag = bp_default_tag();
    f->bad_kind = 3;
    f->bad_shape = 3;
    f->two = 2;
    f->not_utf8[0] = (char)0xff;
    memset(f->noise, 0xa5, sizeof f->noise);
    f->bad_algorithm = f->bad_option = f->bad_report = f->bad_format = f->bad_margin = f->many_workers = f->not_utf8_def = f->world_def;
    f->bad_algorithm.algorithm = "brute-forse";
    f->bad_option.algorithm = "auto:depth=7";
    f->bad_report.report = 4;
    f->bad_format.format = 4;
    f->bad_margin.margin = NAN;
    f->many_workers.executor.run = (bp_run)0;
    f->not_utf8_def.algorithm = f->not_utf8;
    f->object_def = bp_default_object_def();
    f->two_defs[0] = f->two_defs[1] = f->bad_kind_def = f->bad_sensor = f->bad_margin_def = f->bad_previous = f->object_def;
    f->bad_kind_def.kind = 3;
    f->bad_sensor.sensor = 2;
    f->bad_margin_def.margin = -1;
    f->bad_previous.previous = f->nan_box;
    f->search = bp_default_search_def();
    f->bad_flag = f->bad_period = f->many_threads = f->search;
    f->bad_flag.half_open = 2;
    f->bad_period.period[0] = -1;
    f->many_threads.threads = 100000;
    f->bad_rows = f->balls = f->points = f->many_distance_threads = bp_default_distance_def();
    f->bad_rows.rows = 3;
    f->balls.rows = BP_ROWS_BALLS;
    f->points.rows = BP_ROWS_POINTS;
    f->many_distance_threads.threads = 100000;
    f->negative_ball[2] = -1;
    f->half_two = bp_default_neighbor_def();
    f->half_two.half = 2;
    f->nan_inflation = bp_default_mesh_def();
    f->nan_inflation.inflation = NAN;
    f->tag_two = bp_default_query_def();
    f->tag_two.has_tag = 2;
}

static void no_run(void *user, uint32_t workers, bp_task task, void *context) {
    (void)user;
    (void)workers;
    (void)task;
    (void)context;
}

/* The world as bytes, copied. */
static uint8_t *write_down(bp_world *world, size_t *size) {
    const uint8_t *data = NULL;
    OK(bp_world_snapshot(world, &data, size));
    uint8_t *copy = malloc(*size);
    memcpy(copy, data, *size);
    return copy;
}

/* Broken snapshots: cut at every length, and with every byte changed. None crashes; one that is refused changes nothing. */
static void broken_snapshots(Fixture *f) {
    size_t size, after_size;
    uint8_t *good = write_down(f->world, &size);
    for (size_t length = 0; length < size; length++) {
        CHECK(bp_world_restore(f->world, good, length) != BP_OK);
    }
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit += 3) {
            bp_world *world;
            OK(bp_world_create(NULL, &world, NULL));
            uint8_t *bad = malloc(size);
            memcpy(bad, good, size);
            bad[at] ^= (uint8_t)(1 << bit);
            const bp_status status = bp_world_restore(world, bad, size);
            CHECK(status != BP_INTERNAL_ERROR);
            if (status == BP_OK) {
                CHECK(bp_world_update(world, NULL) != BP_INTERNAL_ERROR); /* the change has a meaning, such as another coordinate */
            }
            free(bad);
            bp_world_destroy(world);
        }
    }
    uint8_t *after = write_down(f->world, &after_size);
    CHECK(after_size == size && memcmp(good, after, size) == 0);
    CHECK(bp_world_restore(f->flat, good, size) == BP_FOREIGN_SNAPSHOT);
    free(after);
    free(good);
}

int main(void) {
    Fixture *f = malloc(sizeof *f);
    fill(f);
    f->many_workers.executor.run = no_run;
    f->many_workers.executor.workers = 1025;
    bp_status want = BP_OK;
    const char *text = "";
    int count = 0;
    for (;; count++) {
        size_t before_size, after_size;
        uint8_t *before = write_down(f->world, &before_size);
        const bp_status status = call(f, count, &want, &text);
        if (text == NULL) {
            free(before);
            break;
        }
        if (status != want) {
            fprintf(stderr, "%s is %s, not %s\n", text, bp_status_name(status), bp_status_name(want));
            failures++;
        }
        uint8_t *after = write_down(f->world, &after_size);
        if (before_size != after_size || memcmp(before, after, after_size) != 0) {
            fprintf(stderr, "%s has changed the world\n", text);
            failures++;
        }
        CHECK(f->made == NULL && f->made_mesh == NULL && f->made_between == NULL && f->pairs.pairs == NULL && f->near.pairs == NULL);
        free(before);
        free(after);
    }
    CHECK(count > 300);

    /* What is known of an error: the object, the axis, the argument. */
    bp_error error;
    CHECK(bp_world_insert(f->world, f->upside_down, NULL, 0, f->out, 2) == BP_INVALID_BOX);
    OK(bp_world_last_error(f->world, &error));
    CHECK(error.status == BP_INVALID_BOX && error.object == 1 && error.axis == 2 && strstr(error.text, "object 1") != NULL);
    OK(bp_world_update(f->world, NULL));
    OK(bp_world_last_error(f->world, &error));
    CHECK(error.status == BP_OK && error.text[0] == 0);
    CHECK(bp_pairs_between(BP_FORMAT_3F, f->box, 2, f->upside_down, 2, NULL, &f->pairs, &error) == BP_INVALID_BOX);
    CHECK(strcmp(error.argument, "b") == 0 && error.object == 1 && error.axis == 2);
    CHECK(bp_world_set_kinds(f->world, f->id, &f->bad_kind, 1) == BP_INVALID_ARGUMENT);
    OK(bp_world_last_error(f->world, &error));
    CHECK(strcmp(error.argument, "kinds") == 0 && error.object == 0);

    /* Nothing at all is fine where nothing is needed. */
    OK(bp_pairs(BP_FORMAT_3F, NULL, 0, NULL, &f->pairs, NULL));
    OK(bp_world_insert(f->world, NULL, NULL, 0, NULL, 0));
    OK(bp_world_remove(f->world, NULL, 0));
    OK(bp_world_in_boxes(f->world, NULL, NULL, 0, f->answers, &f->list));
    CHECK(f->list.question_count == 0 && f->list.count == 0);
    OK(bp_world_nearest_to(f->world, NULL, f->box, 1, (size_t)-1, INFINITY, f->answers, &f->list));
    CHECK(f->list.count == 2);
    bp_pair_list_free(NULL);
    bp_neighbor_list_free(NULL);
    bp_near_list_free(NULL);
    bp_near_list nothing;
    OK(bp_pairs_within(BP_FORMAT_3F, NULL, 0, 1, NULL, &nothing, NULL));
    CHECK(nothing.count == 0 && nothing.pairs == NULL);
    bp_answers_destroy(NULL);
    bp_world_destroy(NULL);
    bp_mesh_destroy(NULL);
    bp_between_destroy(NULL);
    CHECK(strcmp(bp_status_name(-1), "unknown-status") == 0 && strcmp(bp_status_name(BP_OK), "ok") == 0);
    const bp_search_def search = bp_default_search_def();
    const bp_neighbor_def neighbor = bp_default_neighbor_def();
    CHECK(search.threads == 1 && neighbor.threads == 1);

    broken_snapshots(f);
    bp_answers_destroy(f->answers);
    bp_mesh_destroy(f->mesh);
    bp_between_destroy(f->between);
    bp_world_destroy(f->world);
    bp_world_destroy(f->other);
    bp_world_destroy(f->flat);
    free(f);
    printf("bad input: %d calls\n", count);
    return finish("bad input");
}
