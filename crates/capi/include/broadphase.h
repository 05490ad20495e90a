/*
 * broadphase: all overlapping pairs among many moving boxes, every frame.
 *
 * Generated from crates/capi/src; do not edit. License: MIT or Apache-2.0.
 *
 * 1. Arrays are rows of numbers, and a bp_format says which: 2 or 3 axes, float or double. A box is a row min..., max... (BP_FORMAT_3F: six
 *    floats, min x, y, z, max x, y, z), a point one number for each axis; other rows are described at their functions. So there is one set of
 *    functions for four kinds of arrays, which are taken as `const void *` with a count of rows. A world has one format for its life.
 *    The C++ header, broadphase.hpp, gives them types. Single numbers (margins, distances) are double in every format.
 *
 *        float boxes[2][6] = {{0, 0, 0, 2, 2, 2}, {1, 1, 1, 3, 3, 3}};
 *        bp_pair_list list;
 *        if (bp_pairs(BP_FORMAT_3F, boxes, 2, NULL, &list, NULL) == BP_OK) { ... list.pairs[0].a ... }
 *        bp_pair_list_free(&list);
 *
 * 2. Boxes are closed: boxes that touch overlap. Infinite sides are fine, NaN and min above max are BP_INVALID_BOX. The pairs are those of a
 *    double loop over all boxes, each once.
 *
 * 3. Every call that can fail returns a bp_status. If it is not BP_OK, nothing has changed (bp_world_update says what holds for it). What was
 *    wrong, with which object and on which axis, is in the bp_error that one-shot calls fill, or in bp_world_last_error. A null or misaligned
 *    pointer, a count that no array can have, a stale id, an id of another world, NaN, a definition that its bp_default_... function did not
 *    make: each is a status. What cannot be checked is the caller's responsibility: that an array has as many rows as its count says, and that
 *    destroyed objects are not used. Nothing throws, and no C++ exception and no longjmp may leave a callback.
 *
 * 4. Definitions (bp_..._def) have defaults: call bp_default_..., then change members. Where a definition may be null, null means the defaults.
 *
 * 5. What a call returns by pointer belongs to the object of the call (the world, the answers), and stays until the next call that fills
 *    the same kind of list. Lists of one-shot calls belong to the caller, and are freed by their bp_..._free.
 *
 * 6. Threads: there is no global state. Different objects may be used by different threads at once. For one object, one call at a time; but
 *    after bp_world_update or bp_world_prepare_queries, and until the next change, several threads may query one world at once, each with
 *    its own bp_answers. The library starts threads only if a definition says so; an engine passes its own as a bp_executor. Results never
 *    depend on threads or on the CPU.
 *
 * 7. Memory: once buffers have grown to the largest frame, setting boxes, updates, lists of pairs and events, and queries allocate nothing.
 */

#ifndef BROADPHASE_H
#define BROADPHASE_H

#include <stddef.h>
#include <stdint.h>

// bp_error.object if the error is not about one object.
#define BP_NO_OBJECT UINT64_MAX

// The major version of this header.
#define BP_VERSION_MAJOR 0

// The minor version of this header. Until 1.0, another one is another binary interface.
#define BP_VERSION_MINOR 2

// The patch version of this header.
#define BP_VERSION_PATCH 0

// The results of many queries, owned by the caller: keep it and use it again, and the next batch does not allocate. Use one per thread.
typedef struct bp_answers bp_answers;

// Pairs of two lists that move from frame to frame, with what started and what ended.
typedef struct bp_between bp_between;

// A mesh that moves from step to step: its edges and faces stay, its vertices move.
typedef struct bp_mesh bp_mesh;

// Objects in space, and the pairs among them. Insert objects, move them, and call bp_world_update once a frame.
typedef struct bp_world bp_world;

// What a function returns: BP_OK, or why nothing has changed. Numbers are stable.
typedef int32_t bp_status;

// Which objects may pair: both must allow the other.
typedef struct bp_tag {
    // The layers the object is in, one bit each.
    uint32_t layer;
    // The layers it meets, one bit each.
    uint32_t mask;
    // Objects of the same group never pair, as the parts of one body; 0 means no group.
    uint32_t group;
    // Objects of different environments never pair, except that environment 0 pairs with all.
    uint32_t env;
} bp_tag;

// How the numbers of an array are stored: the dimension, and float (F) or double (D). See the introduction.
typedef uint32_t bp_format;

// What an update finds.
typedef uint32_t bp_report;

// The function that an engine's threads call, once for each worker that takes part: it works until no job is left.
// Call it with the `task_context` that came with it, and a worker number below `workers`, from any thread. Two threads must not use
// the same worker number at the same time (if they do, the second call returns at once).
typedef void (*bp_task)(void *task_context, uint32_t worker);

// Runs `task(task_context, worker)` for each worker in `0 .. workers`, at the same time where there are threads, and returns when all calls
// have returned. Worker 0 is best the calling thread. Jobs are handed out inside the task: a call that comes late finds nothing to do,
// and one that never comes costs speed, never a pair.
typedef void (*bp_run)(void *user, uint32_t workers, bp_task task, void *task_context);

// An engine's own threads.
typedef struct bp_executor {
    // Starts workers and waits for them. Null: the library's own threads, as many as `threads` of the definition says.
    bp_run run;
    // Passed to `run`.
    void *user;
    // The most workers that `run` is called with: 1 to 1024.
    uint32_t workers;
} bp_executor;

// What a box represents.
typedef uint32_t bp_shape;

// How to find objects that pass through each other between two updates.
typedef uint32_t bp_continuous;

// The name of an object of a world, by value. Zeroed, it names no object of any world.
//
// An index is reused after its object was removed, with another generation, so that an old id is detected; generations of different worlds
// start far apart, so that an id of another world is detected too.
typedef struct bp_object_id {
    // A small number, unique among the objects of a world: good as an index into arrays of your own.
    uint32_t index;
    // Distinguishes the objects that have had this index.
    uint32_t generation;
} bp_object_id;

// Two objects that form a pair unless the filter rejects them.
typedef struct bp_pair_candidate {
    // The object with the smaller index.
    struct bp_object_id a;
    // The other object.
    struct bp_object_id b;
    // The user number of `a`.
    uint64_t user_a;
    // The user number of `b`.
    uint64_t user_b;
} bp_pair_candidate;

// Decides on a pair of a world: not 0 keeps it. Called from any of the world's threads, for new pairs only.
typedef uint8_t (*bp_filter)(void *user, const struct bp_pair_candidate *pair);

// The definition of a new world. Make it with bp_default_world_def, then change what you want.
typedef struct bp_world_def {
    // Set by bp_default_world_def.
    uint32_t cookie;
    // The numbers of all arrays of this world. It cannot be changed later.
    bp_format format;
    // The algorithm of the movers, such as "auto" or "kd-tree:t=256"; null for "auto". Read during the call.
    const char *algorithm;
    // The algorithm of the static objects; null for that of the movers.
    const char *static_algorithm;
    // Number of threads, the calling one included: 1 for the calling one alone, 0 for one per core.
    uint32_t threads;
    // What an update finds.
    bp_report report;
    // An engine's own threads instead.
    struct bp_executor executor;
    // More pairs than this are BP_TOO_MANY_PAIRS.
    uint64_t pair_limit;
    // Grows every box on every side, beside each object's own margin.
    double margin;
    // What boxes represent.
    bp_shape shape;
    // Whether, and how, objects that pass through each other between two updates are found: BP_CONTINUOUS_*.
    bp_continuous continuous;
    // With BP_CONTINUOUS_SUB_STEPS: the longest sub-step, in sizes of the object, above 0 and up to 1.
    double continuous_step;
    // With BP_CONTINUOUS_SUB_STEPS: the most sub-steps, 1 to 1024.
    uint32_t continuous_most;
    // Do two kinematic objects pair? 0 or 1.
    uint8_t kinematic_kinematic;
    // Do a kinematic and a static object pair? 0 or 1.
    uint8_t kinematic_static;
    // A rule of your own; null for none.
    bp_filter filter;
    // Passed to `filter`.
    void *filter_user;
} bp_world_def;

// How an object moves, which decides which pairs it forms.
typedef uint32_t bp_kind;

// The properties of a new object, except its box. Make it with bp_default_object_def.
typedef struct bp_object_def {
    // Set by bp_default_object_def.
    uint32_t cookie;
    // How it takes part.
    bp_kind kind;
    // What it may pair with.
    struct bp_tag tag;
    // A number of yours.
    uint64_t user;
    // How much its box is grown on every side, beside the world's margin. Finite and not negative.
    double margin;
    // What its box represents.
    bp_shape shape;
    // Is it a sensor (a trigger volume)? 0 or 1. Sensors pair with objects of every kind, but not with each other, and a static one not with statics.
    uint8_t sensor;
    // One box: where a new object was at the last update, for continuous detection; null for where it is inserted.
    const void *previous;
} bp_object_def;

// Decides whether a query sees an object: not 0 for yes. Called from any of the world's threads.
typedef uint8_t (*bp_matching)(void *user, struct bp_object_id object);

// Which objects queries see. Make it with bp_default_query_def.
typedef struct bp_query_def {
    // Set by bp_default_query_def.
    uint32_t cookie;
    // Only objects in one of these layers, one bit each.
    uint32_t layers;
    // Is `tag` used? 0 or 1.
    uint8_t has_tag;
    // Only objects that would pair with an object of this tag.
    struct bp_tag tag;
    // Not this object; zeroed for none.
    struct bp_object_id excluded;
    // Only objects that this function accepts; null for all.
    bp_matching matching;
    // Passed to `matching`.
    void *matching_user;
} bp_query_def;

// Two objects by position: `a < b` for pairs of one list; for pairs of two lists, `a` is of the first and `b` of the second.
typedef struct bp_pair {
    // The first object.
    uint32_t a;
    // The second object.
    uint32_t b;
} bp_pair;

// Decides on a pair of positions: not 0 keeps it. Called from any of the search's threads, at least once for each pair.
typedef uint8_t (*bp_keep)(void *user, struct bp_pair pair);

// Options of bp_pairs and its like. Make it with bp_default_search_def.
typedef struct bp_search_def {
    // Set by bp_default_search_def.
    uint32_t cookie;
    // Threads, started for this call: 1 for the calling one alone, 0 for one per core.
    uint32_t threads;
    // An engine's own threads instead.
    struct bp_executor executor;
    // Such as "auto" or "kd-tree:t=256"; null for "auto".
    const char *algorithm;
    // Grows every box on every side.
    double margin;
    // What boxes represent.
    bp_shape shape;
    // Are boxes half-open, so that boxes that only touch are no pair? 0 or 1.
    uint8_t half_open;
    // Leave the list unsorted? 0 or 1. Its order is the same for any number of threads.
    uint8_t unsorted;
    // The lengths of a space that repeats, by axis; 0 for an axis on which it does not.
    double period[3];
    // The lower corner of a space that repeats.
    double period_origin[3];
    // One tag for each box of the (first) list, or null.
    const struct bp_tag *tags;
    // One tag for each box of the second list, or null.
    const struct bp_tag *tags_b;
    // More pairs than this are BP_TOO_MANY_PAIRS.
    uint64_t pair_limit;
    // A rule of your own; null for none.
    bp_keep keep;
    // Passed to `keep`.
    void *keep_user;
} bp_search_def;

// Options of bp_neighbors. Make it with bp_default_neighbor_def.
typedef struct bp_neighbor_def {
    // Set by bp_default_neighbor_def.
    uint32_t cookie;
    // Threads, started for this call: 1 for the calling one alone, 0 for one per core.
    uint32_t threads;
    // An engine's own threads instead.
    struct bp_executor executor;
    // List each pair once: in the row of a point, only neighbors with a larger index? 0 or 1.
    uint8_t half;
    // List distances too? 0 or 1.
    uint8_t distances;
    // The lengths of a space that repeats, by axis; 0 for an axis on which it does not.
    double period[3];
    // The lower corner of a space that repeats.
    double period_origin[3];
} bp_neighbor_def;

// May two vertices of a mesh collide? Not 0 for yes. Called from any of the mesh's threads.
typedef uint8_t (*bp_can_collide)(void *user, uint32_t a, uint32_t b);

// The properties of a new mesh, except its elements. Make it with bp_default_mesh_def.
typedef struct bp_mesh_def {
    // Set by bp_default_mesh_def.
    uint32_t cookie;
    // Threads of the library: 1 for the calling one alone, 0 for one per core.
    uint32_t threads;
    // An engine's own threads instead.
    struct bp_executor executor;
    // Grows the box of every element on every side: half the distance within which two elements are candidates.
    double inflation;
    // The body of each vertex, or null if all are of one body. Read when the mesh is made.
    const uint32_t *bodies;
    // With bodies: leave out candidates within one body? 0 or 1.
    uint8_t no_self_collision;
    // A rule of your own; null for none.
    bp_can_collide can_collide;
    // Passed to `can_collide`.
    void *can_collide_user;
} bp_mesh_def;

// A list of pairs, which belongs to the caller: free it with bp_pair_list_free.
typedef struct bp_pair_list {
    // The pairs; null if there are none.
    const struct bp_pair *pairs;
    // How many there are.
    size_t count;
    // What the library frees. Do not change it.
    void *owner;
} bp_pair_list;

// Details of an error.
typedef struct bp_error {
    // BP_OK if there was none.
    bp_status status;
    // The axis that is wrong: 0 for x, 1 for y, 2 for z; -1 if there is none.
    int32_t axis;
    // The object that is wrong: its position in the list that was handed over; for an id, its index; BP_NO_OBJECT if there is none.
    uint64_t object;
    // The argument that is wrong, where a call takes several; otherwise empty.
    char argument[32];
    // What was wrong and what to do, as one line for people.
    char text[256];
} bp_error;

// The neighbors of each point, which belong to the caller: free them with bp_neighbor_list_free.
//
// Those of point `i` are `indices[offsets[i]] .. indices[offsets[i + 1]]`, ascending (of bp_nearest: nearest first).
typedef struct bp_neighbor_list {
    // Where each row starts, and the end of the last: `point_count + 1` numbers.
    const size_t *offsets;
    // The neighbors, row after row; null if there are none.
    const uint32_t *indices;
    // Their distances, in the scalar of the points, if requested; otherwise null.
    const void *distances;
    // The number of points.
    size_t point_count;
    // The number of all neighbors.
    size_t count;
    // What the library frees. Do not change it.
    void *owner;
    // The format of the points, which the library frees by.
    bp_format format;
} bp_neighbor_list;

// The pairs of a frame, as positions in both lists, each sorted. They belong to the bp_between, and stay until its next update.
typedef struct bp_between_pairs {
    // All pairs.
    const struct bp_pair *pairs;
    // How many there are.
    size_t pair_count;
    // The pairs that the frame before did not have.
    const struct bp_pair *started;
    // How many there are.
    size_t started_count;
    // The pairs that only the frame before had.
    const struct bp_pair *ended;
    // How many there are.
    size_t ended_count;
} bp_between_pairs;

// What the rows of a distance call are.
typedef uint32_t bp_rows;

// Options of the distance calls. Make it with bp_default_distance_def.
typedef struct bp_distance_def {
    // Set by bp_default_distance_def.
    uint32_t cookie;
    // Threads, started for this call: 1 for the calling one alone, 0 for one per core.
    uint32_t threads;
    // An engine's own threads instead.
    struct bp_executor executor;
    // What the rows are; of both lists, if there are two.
    bp_rows rows;
} bp_distance_def;

// Two objects by position, and their Euclidean distance.
typedef struct bp_near {
    // The first object, the smaller position if both are of one list.
    uint32_t a;
    // The second object.
    uint32_t b;
    // Their distance: 0 if they overlap.
    double distance;
} bp_near;

// A list of pairs with distances, which belongs to the caller: free it with bp_near_list_free.
typedef struct bp_near_list {
    // The pairs; null if there are none.
    const struct bp_near *pairs;
    // How many there are.
    size_t count;
    // What the library frees. Do not change it.
    void *owner;
} bp_near_list;

// The candidates of a mesh: pairs of elements whose boxes overlap and that share no vertex, each list sorted. They belong to the mesh, and stay
// until its next update.
typedef struct bp_mesh_candidates {
    // In space: `a` is a vertex, `b` a face.
    const struct bp_pair *vertex_face;
    // How many there are.
    size_t vertex_face_count;
    // In space: two edges, `a < b`.
    const struct bp_pair *edge_edge;
    // How many there are.
    size_t edge_edge_count;
    // In the plane: `a` is an edge, `b` a vertex.
    const struct bp_pair *edge_vertex;
    // How many there are.
    size_t edge_vertex_count;
} bp_mesh_candidates;

// A list of ids, which belongs to the world, and stays until the next call that returns ids.
typedef struct bp_id_list {
    // The ids.
    const struct bp_object_id *ids;
    // How many there are.
    size_t count;
} bp_id_list;

// The answers of the last query. Those to question `i` are `ids[starts[i]] .. ids[starts[i + 1]]`. They belong to the bp_answers, and stay until
// its next query.
typedef struct bp_answer_list {
    // Where the answers to each question start, and the end of the last: `question_count + 1` numbers.
    const size_t *starts;
    // The objects, question after question.
    const struct bp_object_id *ids;
    // For rays, motions and the nearest, one for each object: the `t` of a ray, the fraction of a step, the distance. Otherwise null.
    const double *distances;
    // The number of questions.
    size_t question_count;
    // The number of all answers.
    size_t count;
} bp_answer_list;

// Two objects of a world, the smaller index first.
typedef struct bp_id_pair {
    // The object with the smaller index.
    struct bp_object_id a;
    // The other object.
    struct bp_object_id b;
} bp_id_pair;

// What an update found. The lists belong to the world, and stay until its next update.
typedef struct bp_update {
    // The number of pairs; bp_world_pairs lists them.
    uint64_t pair_count;
    // The pairs that the last update did not have, sorted; none unless events are reported.
    const struct bp_id_pair *started;
    // How many there are.
    size_t started_count;
    // The pairs of the last update that no longer exist, sorted; ids of removed objects are those that were valid.
    const struct bp_id_pair *ended;
    // How many there are.
    size_t ended_count;
} bp_update;

// A pair that started or ended, with its users, value and time.
typedef struct bp_pair_event {
    // The object with the smaller index.
    struct bp_object_id a;
    // The other object.
    struct bp_object_id b;
    // The user number of `a`, even if it was removed.
    uint64_t user_a;
    // The user number of `b`, even if it was removed.
    uint64_t user_b;
    // The value that the pair had when it ended, if it had one.
    uint64_t value;
    // When the two first touched, as a fraction of the frame, with continuous detection; 1 without, and for pairs that ended.
    double time;
    // Did the pair have a value? 0 or 1.
    uint8_t has_value;
} bp_pair_event;

// A list of events, which belongs to the world, and stays until the next call that returns events.
typedef struct bp_event_list {
    // The events.
    const struct bp_pair_event *events;
    // How many there are.
    size_t count;
} bp_event_list;

// A list of pairs of a world, which belongs to it, and stays until the next call that returns such a list.
typedef struct bp_id_pair_list {
    // The pairs.
    const struct bp_id_pair *pairs;
    // How many there are.
    size_t count;
} bp_id_pair_list;

// Size and content of a world. The texts belong to the world, and stay until the next call for statistics.
typedef struct bp_world_stats {
    // Dynamic objects.
    size_t dynamic_count;
    // Static objects.
    size_t static_count;
    // Kinematic objects.
    size_t kinematic_count;
    // Pairs of the last update.
    uint64_t pair_count;
    // Tests of the last update: object pairs compared.
    uint64_t test_count;
    // Bytes of the object table.
    size_t table_bytes;
    // Bytes of the structures.
    size_t structure_bytes;
    // Bytes of pairs and events.
    size_t pair_bytes;
    // Bytes that this interface holds besides: lists that were returned.
    size_t list_bytes;
    // The algorithm of the movers, with its options.
    const char *algorithm;
    // What "auto" chose for the movers, and why; empty with another algorithm.
    const char *choice;
    // All of this as text, in several lines.
    const char *text;
} bp_world_stats;

// The call did what it says.
#define BP_OK 0

// A box has a NaN corner, or its lower corner is above its upper one.
#define BP_INVALID_BOX 1

// More objects than ids: 2^32 - 2.
#define BP_TOO_MANY_OBJECTS 2

// More pairs than the limit.
#define BP_TOO_MANY_PAIRS 3

// An allocation failed.
#define BP_OUT_OF_MEMORY 4

// The threads could not be started.
#define BP_THREADS_UNAVAILABLE 5

// Lists that do not fit each other.
#define BP_INVALID_FRAME 6

// Two lists that belong together have different lengths.
#define BP_COUNT_MISMATCH 7

// An argument is not one that the call takes.
#define BP_INVALID_ARGUMENT 8

// An id whose object was removed, or of another world, or the null id.
#define BP_STALE_HANDLE 9

// A margin that is negative, infinite or NaN.
#define BP_INVALID_MARGIN 10

// A query that has no meaning, such as a ray of zero direction.
#define BP_INVALID_QUERY 11

// A snapshot of another version, or of a world of another format.
#define BP_FOREIGN_SNAPSHOT 12

// A snapshot that is broken.
#define BP_INVALID_SNAPSHOT 13

// No algorithm has that name.
#define BP_UNKNOWN_ALGORITHM 14

// The algorithm, or the function, is not part of this build.
#define BP_MISSING_FEATURE 15

// The algorithm has no such option.
#define BP_UNKNOWN_OPTION 16

// An option's value is not one that it takes.
#define BP_INVALID_OPTION 17

// The call was cancelled.
#define BP_CANCELLED 18

// A point with a coordinate that is NaN, or infinite where that has no meaning.
#define BP_INVALID_POINT 19

// A number that the argument does not take.
#define BP_INVALID_VALUE 20

// A list that must be as long as another one, and is not.
#define BP_WRONG_LENGTH 21

// In a periodic space: a box that is longer than half the period.
#define BP_BOX_TOO_LONG 22

// An edge or face of a mesh names a vertex that does not exist.
#define BP_INVALID_ELEMENT 23

// The algorithm does not suit the objects.
#define BP_UNSUITED 24

// A pointer is null where there must be something.
#define BP_NULL_POINTER 100

// A pointer is not aligned to what it points to.
#define BP_MISALIGNED_POINTER 101

// A count that no array in memory can have.
#define BP_INVALID_COUNT 102

// A format that is none of BP_FORMAT_*, or another one than that of the object.
#define BP_INVALID_FORMAT 103

// A definition that was not made by its bp_default_... function.
#define BP_INVALID_DEF 104

// An error inside the library. Please report it. The object that was called can only be destroyed.
#define BP_INTERNAL_ERROR 105

// An error that this version of the header has no number for.
#define BP_OTHER_ERROR 106

// Rows of float in the plane.
#define BP_FORMAT_2F 0

// Rows of float in space.
#define BP_FORMAT_3F 1

// Rows of double in the plane.
#define BP_FORMAT_2D 2

// Rows of double in space.
#define BP_FORMAT_3D 3

// Pairs with everything.
#define BP_KIND_DYNAMIC 0

// Rarely changes. Pairs with dynamic objects. Statics have a structure of their own.
#define BP_KIND_STATIC 1

// Moved by the program, not by contacts. Pairs with dynamic objects, and with others if the world's definition says so.
#define BP_KIND_KINEMATIC 2

// Itself.
#define BP_SHAPE_BOX 0

// Its inscribed ball: center `(min + max) / 2`, radius `(max.x - min.x) / 2`.
#define BP_SHAPE_BALL 1

// For an object: the shape of the world.
#define BP_SHAPE_OF_WORLD 2

// The number of pairs; no list is kept.
#define BP_REPORT_COUNT 0

// The pairs.
#define BP_REPORT_ALL 1

// What started and what ended since the last update.
#define BP_REPORT_DELTA 2

// The pairs, and what started and ended.
#define BP_REPORT_BOTH 3

// They are not found: pairs are those of the current boxes.
#define BP_CONTINUOUS_NONE 0

// Fast objects are tested several times along their path: see continuous_step and continuous_most.
#define BP_CONTINUOUS_SUB_STEPS 1

// Two objects are a pair if they touch at any time of the frame; each event has its time.
#define BP_CONTINUOUS_SWEPT 2

// Boxes: min..., max...
#define BP_ROWS_BOXES 0

// Balls: the center, then the radius.
#define BP_ROWS_BALLS 1

// Points: one number for each axis.
#define BP_ROWS_POINTS 2

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The name of a status, such as "invalid-box"; "unknown-status" for a number that is none. Never null.
const char *bp_status_name(bp_status status);

// The tag of an object in all layers, which meets all layers, in no group and in environment 0.
struct bp_tag bp_default_tag(void);

// A world in space of float, with the default algorithm, one thread, reporting pairs and events.
struct bp_world_def bp_default_world_def(void);

// A dynamic box without margin, with the default tag and user number 0.
struct bp_object_def bp_default_object_def(void);

// Queries that see all objects.
struct bp_query_def bp_default_query_def(void);

// All overlapping pairs, sorted, found by the calling thread.
struct bp_search_def bp_default_search_def(void);

// All neighbors of each point, without distances, found by the calling thread.
struct bp_neighbor_def bp_default_neighbor_def(void);

// One body, without inflation, on the calling thread.
struct bp_mesh_def bp_default_mesh_def(void);

// All overlapping pairs of `count` boxes, as positions, sorted.
//
// `def` may be null for the defaults; `error` may be null. On error the list is empty.
bp_status bp_pairs(bp_format format,
                   const void *boxes,
                   size_t count,
                   const struct bp_search_def *def,
                   struct bp_pair_list *list,
                   struct bp_error *error);

// All overlapping pairs of a box of `a` and a box of `b`, as positions in both, sorted.
bp_status bp_pairs_between(bp_format format,
                           const void *a,
                           size_t a_count,
                           const void *b,
                           size_t b_count,
                           const struct bp_search_def *def,
                           struct bp_pair_list *list,
                           struct bp_error *error);

// The number of overlapping pairs of `count` boxes; no list is made.
bp_status bp_count_pairs(bp_format format,
                         const void *boxes,
                         size_t count,
                         const struct bp_search_def *def,
                         uint64_t *pair_count,
                         struct bp_error *error);

// The number of overlapping pairs of a box of `a` and a box of `b`.
bp_status bp_count_pairs_between(bp_format format,
                                 const void *a,
                                 size_t a_count,
                                 const void *b,
                                 size_t b_count,
                                 const struct bp_search_def *def,
                                 uint64_t *pair_count,
                                 struct bp_error *error);

// Frees a list of pairs and empties it. Null and an empty list are fine.
void bp_pair_list_free(struct bp_pair_list *list);

// The neighbors of each of `count` points within `radius`, as compressed rows.
//
// `def` may be null for the defaults; `error` may be null. On error the list is empty.
bp_status bp_neighbors(bp_format format,
                       const void *points,
                       size_t count,
                       double radius,
                       const struct bp_neighbor_def *def,
                       struct bp_neighbor_list *list,
                       struct bp_error *error);

// Frees a list of neighbors and empties it. Null and an empty list are fine.
void bp_neighbor_list_free(struct bp_neighbor_list *list);

// Makes two empty lists, to be destroyed with bp_between_destroy. `def` may be null for the defaults; only its algorithm, threads or executor, and
// limit of pairs are used.
bp_status bp_between_create(bp_format format,
                            const struct bp_search_def *def,
                            struct bp_between **between,
                            struct bp_error *error);

// The next frame: all pairs of a box of `a` and a box of `b`, and what started and ended. On error those of the last frame stay.
bp_status bp_between_update(struct bp_between *between,
                            const void *a,
                            size_t a_count,
                            const void *b,
                            size_t b_count,
                            struct bp_between_pairs *found);

// The last error of these lists; BP_OK if their last call had none.
bp_status bp_between_last_error(const struct bp_between *between, struct bp_error *error);

// Frees both lists and their pairs. Null is fine.
void bp_between_destroy(struct bp_between *between);

// Distances of boxes, found by the calling thread.
struct bp_distance_def bp_default_distance_def(void);

// All pairs of `count` objects that are within `distance` of each other, sorted, with their distances.
//
// `def` may be null for the defaults (boxes, one thread); `error` may be null. On error the list is empty.
bp_status bp_pairs_within(bp_format format,
                          const void *objects,
                          size_t count,
                          double distance,
                          const struct bp_distance_def *def,
                          struct bp_near_list *list,
                          struct bp_error *error);

// All pairs of an object of `a` and an object of `b` that are within `distance` of each other, as positions in both, sorted.
bp_status bp_pairs_within_between(bp_format format,
                                  const void *a,
                                  size_t a_count,
                                  const void *b,
                                  size_t b_count,
                                  double distance,
                                  const struct bp_distance_def *def,
                                  struct bp_near_list *list,
                                  struct bp_error *error);

// Frees a list of pairs with distances and empties it. Null and an empty list are fine.
void bp_near_list_free(struct bp_near_list *list);

// The `k` nearest of each of `count` objects, without itself, nearest first, with distances; of equally near ones, the smaller position first.
// Fewer than `k` if there are not as many. Free the list with bp_neighbor_list_free.
bp_status bp_nearest(bp_format format,
                     const void *objects,
                     size_t count,
                     size_t k,
                     const struct bp_distance_def *def,
                     struct bp_neighbor_list *list,
                     struct bp_error *error);

// The `k` nearest objects of `b` for each object of `a`, nearest first, as positions in `b`.
bp_status bp_nearest_between(bp_format format,
                             const void *a,
                             size_t a_count,
                             const void *b,
                             size_t b_count,
                             size_t k,
                             const struct bp_distance_def *def,
                             struct bp_neighbor_list *list,
                             struct bp_error *error);

// The pair of `count` objects with the smallest distance; of several, the first in sorted order.
//
// If there is no pair, and on error, both positions are UINT32_MAX and the distance is infinite.
bp_status bp_closest_pair(bp_format format,
                          const void *objects,
                          size_t count,
                          const struct bp_distance_def *def,
                          struct bp_near *pair,
                          struct bp_error *error);

// The pair of an object of `a` and an object of `b` with the smallest distance. See bp_closest_pair.
bp_status bp_closest_pair_between(bp_format format,
                                  const void *a,
                                  size_t a_count,
                                  const void *b,
                                  size_t b_count,
                                  const struct bp_distance_def *def,
                                  struct bp_near *pair,
                                  struct bp_error *error);

// Makes a mesh of `vertex_count` vertices, with edges of two vertices and faces of three, one after the other. In the plane, faces are not used.
// Destroy it with bp_mesh_destroy. `def` may be null.
bp_status bp_mesh_create(bp_format format,
                         size_t vertex_count,
                         const uint32_t *edges,
                         size_t edge_count,
                         const uint32_t *faces,
                         size_t face_count,
                         const struct bp_mesh_def *def,
                         struct bp_mesh **mesh,
                         struct bp_error *error);

// Finds the candidates of the vertices at one moment; with `next`, of a step from there to the vertices `next`. On error the candidates of the
// last step stay.
bp_status bp_mesh_update(struct bp_mesh *mesh,
                         const void *vertices,
                         const void *next,
                         size_t count,
                         struct bp_mesh_candidates *candidates);

// The last error of this mesh; BP_OK if its last call had none.
bp_status bp_mesh_last_error(const struct bp_mesh *mesh, struct bp_error *error);

// Frees a mesh and its candidates. Null is fine.
void bp_mesh_destroy(struct bp_mesh *mesh);

// Makes an empty world, to be destroyed with bp_world_destroy. `def` may be null for the defaults; `error` may be null.
bp_status bp_world_create(const struct bp_world_def *def, struct bp_world **world, struct bp_error *error);

// Frees a world and all that it returned. Null is fine.
void bp_world_destroy(struct bp_world *world);

// The last error of this world; BP_OK if its last call had none. It may be called from any thread.
bp_status bp_world_last_error(const struct bp_world *world, struct bp_error *error);

// Changes the settings of a world to those of a definition: all, or none on error. Objects, ids and pairs stay. Get the current ones with
// bp_world_settings, change some, and pass them here. Unchanged settings cost nothing; another algorithm makes the next update build its
// structure from scratch. The format cannot change.
bp_status bp_world_configure(struct bp_world *world,
                             const struct bp_world_def *def);

// The settings of a world. Its texts belong to the world, and stay until it is configured or restored.
bp_status bp_world_settings(struct bp_world *world, struct bp_world_def *def);

// Creates an empty bp_answers, to be destroyed with bp_answers_destroy.
bp_status bp_answers_create(struct bp_answers **answers);

// Frees answers. Null is fine.
void bp_answers_destroy(struct bp_answers *answers);

// Inserts `count` objects with these boxes, and writes their ids. All, or none on error.
//
// Their definitions are `defs`, `def_count` of them: one for each object, one for all, or none (null and 0) for the default.
bp_status bp_world_insert(struct bp_world *world,
                          const void *boxes,
                          const struct bp_object_def *defs,
                          size_t def_count,
                          struct bp_object_id *ids,
                          size_t count);

// Removes `count` objects: all, or none if an id is stale or in the list twice. Their pairs end with the next update.
bp_status bp_world_remove(struct bp_world *world, const struct bp_object_id *ids, size_t count);

// Removes all objects. Their pairs end with the next update; memory and settings stay.
bp_status bp_world_clear(struct bp_world *world);

// Makes room for more movers and statics.
bp_status bp_world_reserve(struct bp_world *world, size_t movers, size_t statics);

// Frees memory that the current objects and pairs do not need. The next update builds the structures from scratch.
bp_status bp_world_shrink(struct bp_world *world);

// Sets the boxes of all movers (dynamic and kinematic objects), in the order of bp_world_movers: that of insertion, as long as none
// was removed. Boxes that did not change are detected. All, or none on error.
bp_status bp_world_set_boxes(struct bp_world *world,
                             const void *boxes,
                             size_t count);

// Moves or resizes these objects: all, or none if an id is stale or a box is invalid. The last box of an id counts.
bp_status bp_world_set_boxes_of(struct bp_world *world,
                                const struct bp_object_id *ids,
                                const void *boxes,
                                size_t count);

// Like bp_world_set_boxes_of, for objects without a path to their new place: with continuous detection they hit nothing in between.
bp_status bp_world_teleport(struct bp_world *world,
                            const struct bp_object_id *ids,
                            const void *boxes,
                            size_t count);

// Moves all objects by one displacement, one number per axis: for worlds whose origin follows the player. It does not count as motion.
bp_status bp_world_shift_origin(struct bp_world *world,
                                const void *by);

// Changes the tags of these objects, which decide what they may pair with. All, or none if an id is stale, as for all bp_world_set_... functions.
bp_status bp_world_set_tags(struct bp_world *world,
                            const struct bp_object_id *ids,
                            const struct bp_tag *tags,
                            size_t count);

// Changes the kinds of these objects; their ids stay. Do not use it to put objects to sleep: an object at rest needs no call.
bp_status bp_world_set_kinds(struct bp_world *world,
                             const struct bp_object_id *ids,
                             const bp_kind *kinds,
                             size_t count);

// Changes the user numbers of these objects.
bp_status bp_world_set_users(struct bp_world *world,
                             const struct bp_object_id *ids,
                             const uint64_t *users,
                             size_t count);

// Changes the margins of these objects.
bp_status bp_world_set_margins(struct bp_world *world,
                               const struct bp_object_id *ids,
                               const double *margins,
                               size_t count);

// Changes the shapes that the boxes of these objects represent.
bp_status bp_world_set_shapes(struct bp_world *world,
                              const struct bp_object_id *ids,
                              const bp_shape *shapes,
                              size_t count);

// Makes these objects sensors (trigger volumes), with 1, or no longer, with 0.
bp_status bp_world_set_sensors(struct bp_world *world,
                               const struct bp_object_id *ids,
                               const uint8_t *sensors,
                               size_t count);

// Makes the next update call the filter again for all pairs of these objects, because its decisions have changed.
bp_status bp_world_refilter(struct bp_world *world, const struct bp_object_id *ids, size_t count);

// BP_OK if the id names one of this world's objects, otherwise BP_STALE_HANDLE.
bp_status bp_world_contains(struct bp_world *world, struct bp_object_id id);

// Writes the boxes of these objects, as they were set.
bp_status bp_world_get_boxes(struct bp_world *world, const struct bp_object_id *ids, void *boxes, size_t count);

// Writes the properties of an object, except its box; `previous` is null.
bp_status bp_world_get_object(struct bp_world *world, struct bp_object_id id, struct bp_object_def *def);

// The movers (dynamic and kinematic objects), in the order in which bp_world_set_boxes takes their boxes.
bp_status bp_world_movers(struct bp_world *world, struct bp_id_list *list);

// All objects, by index.
bp_status bp_world_objects(struct bp_world *world, struct bp_id_list *list);

// Applies all changes, without searching for pairs. After it, or after an update, and until the next change, several threads may query at once,
// each with answers of its own.
bp_status bp_world_prepare_queries(struct bp_world *world);

// The objects whose box overlaps each box.
bp_status bp_world_in_boxes(struct bp_world *world,
                            const struct bp_query_def *def,
                            const void *boxes,
                            size_t count,
                            struct bp_answers *answers,
                            struct bp_answer_list *list);

// The objects whose box holds each point, surface included.
bp_status bp_world_at_points(struct bp_world *world,
                             const struct bp_query_def *def,
                             const void *points,
                             size_t count,
                             struct bp_answers *answers,
                             struct bp_answer_list *list);

// The objects that each ball reaches; a row is center, radius.
bp_status bp_world_in_balls(struct bp_world *world,
                            const struct bp_query_def *def,
                            const void *balls,
                            size_t count,
                            struct bp_answers *answers,
                            struct bp_answer_list *list);

// The objects that all half-spaces of each frustum reach. A row is normal, offset: the points whose product with the normal is at most the offset.
// `sides` has `side_count` rows for each of `count` frusta. A box near an edge of the frustum can pass although it is outside.
bp_status bp_world_in_frusta(struct bp_world *world,
                             const struct bp_query_def *def,
                             const void *sides,
                             size_t side_count,
                             size_t count,
                             struct bp_answers *answers,
                             struct bp_answer_list *list);

// All objects that each ray enters, in no order of distance, with `t`. A row is origin, direction, length; the length counts in multiples of
// the direction.
bp_status bp_world_along_rays(struct bp_world *world,
                              const struct bp_query_def *def,
                              const void *rays,
                              size_t count,
                              struct bp_answers *answers,
                              struct bp_answer_list *list);

// The first object that each ray enters, with `t`: one answer or none. Of several at the same `t`, the one with the smallest index.
bp_status bp_world_first_along_rays(struct bp_world *world,
                                    const struct bp_query_def *def,
                                    const void *rays,
                                    size_t count,
                                    struct bp_answers *answers,
                                    struct bp_answer_list *list);

// All objects that each moving box touches, in no order, with the fraction of the step. A row is min, max, displacement.
bp_status bp_world_along_sweeps(struct bp_world *world,
                                const struct bp_query_def *def,
                                const void *sweeps,
                                size_t count,
                                struct bp_answers *answers,
                                struct bp_answer_list *list);

// The first object that each moving box touches, with the fraction of the step: one answer or none.
bp_status bp_world_first_along_sweeps(struct bp_world *world,
                                      const struct bp_query_def *def,
                                      const void *sweeps,
                                      size_t count,
                                      struct bp_answers *answers,
                                      struct bp_answer_list *list);

// All objects that each moving ball touches, in no order, with the fraction of the step. A row is center, radius, displacement.
bp_status bp_world_along_ball_sweeps(struct bp_world *world,
                                     const struct bp_query_def *def,
                                     const void *sweeps,
                                     size_t count,
                                     struct bp_answers *answers,
                                     struct bp_answer_list *list);

// The first object that each moving ball touches, with the fraction of the step: one answer or none.
bp_status bp_world_first_along_ball_sweeps(struct bp_world *world,
                                           const struct bp_query_def *def,
                                           const void *sweeps,
                                           size_t count,
                                           struct bp_answers *answers,
                                           struct bp_answer_list *list);

// The `k` objects nearest to each point, none farther than `distance`, nearest first, with their distances (0 inside).
bp_status bp_world_nearest_to(struct bp_world *world,
                              const struct bp_query_def *def,
                              const void *points,
                              size_t count,
                              size_t k,
                              double distance,
                              struct bp_answers *answers,
                              struct bp_answer_list *list);

// The `k` objects nearest to each box, none farther than `distance`, nearest first, with their distances (0 if they overlap).
bp_status bp_world_nearest_to_boxes(struct bp_world *world,
                                    const struct bp_query_def *def,
                                    const void *boxes,
                                    size_t count,
                                    size_t k,
                                    double distance,
                                    struct bp_answers *answers,
                                    struct bp_answer_list *list);

// Applies all changes, and finds all pairs and which of them started and ended since the last successful update. `update` may be null.
//
// On error all objects stay as they are, and the next update reports the difference to the last successful one. A null `world` and a
// misaligned `update` change nothing.
bp_status bp_world_update(struct bp_world *world,
                          struct bp_update *update);

// The pairs that started with the last update, with user numbers and times.
bp_status bp_world_started(struct bp_world *world, struct bp_event_list *list);

// The pairs that ended with the last update, with user numbers and values.
bp_status bp_world_ended(struct bp_world *world, struct bp_event_list *list);

// All pairs of the last update, in an order that is the same for any number of threads; none with BP_REPORT_COUNT. Costs a copy.
bp_status bp_world_pairs(struct bp_world *world,
                         struct bp_id_pair_list *list);

// All pairs of the last update, sorted: the one list that every algorithm gives. Costs a copy and a sort.
bp_status bp_world_sorted_pairs(struct bp_world *world, struct bp_id_pair_list *list);

// The objects that this one pairs with, as of the last update, by index.
bp_status bp_world_pairs_of(struct bp_world *world, struct bp_object_id id, struct bp_id_list *list);

// All pairs of an object of `world`, first, and one of `other`, second, sorted: what an update would report if they were one world. Both must have
// the same format and be two worlds. Filters are not called.
bp_status bp_world_pairs_with(struct bp_world *world,
                              struct bp_world *other,
                              struct bp_id_pair_list *list);

// Attaches a number to a pair of the last update, until the pair ends. `paired` becomes 1, or 0 if the two are no pair; it may be null.
bp_status bp_world_set_pair_value(struct bp_world *world,
                                  struct bp_object_id a,
                                  struct bp_object_id b,
                                  uint64_t value,
                                  uint8_t *paired);

// The number attached to a pair. `has_value` becomes 1, or 0 if there is none, and `value` then 0.
bp_status bp_world_pair_value(struct bp_world *world,
                              struct bp_object_id a,
                              struct bp_object_id b,
                              uint64_t *value,
                              uint8_t *has_value);

// The world as bytes, to be stored, sent, or restored by bp_world_restore: objects with their ids, pairs, events and settings; not the filter and
// the threads. The bytes belong to the world, and stay until its next snapshot.
//
// Cost: a copy of all objects and pairs, and the next update builds its structures from scratch.
bp_status bp_world_snapshot(struct bp_world *world,
                            const uint8_t **data,
                            size_t *size);

// Replaces the world by that of a snapshot, with the same ids, pairs and events; its own filter and threads stay. Earlier ids of this world are
// stale. The bytes must be of a world of the same format; broken ones are BP_INVALID_SNAPSHOT, and the world is unchanged.
bp_status bp_world_restore(struct bp_world *world,
                           const uint8_t *data,
                           size_t size);

// Size and content of a world.
bp_status bp_world_get_stats(struct bp_world *world, struct bp_world_stats *stats);

// Checks the invariants of the world: all of them if `thorough` is 1, the cheap ones if it is 0. BP_INTERNAL_ERROR, with the reason in the last
// error, if one does not hold: a bug of the library.
bp_status bp_world_validate(struct bp_world *world,
                            uint8_t thorough);

// The version of the library that is linked, as `major << 16 | minor << 8 | patch`.
uint32_t bp_version(void);

// The instruction set that kernels use on this CPU, such as "avx2".
const char *bp_instruction_set(void);

// The name of each algorithm of this build, from index 0 on; null from their number on.
const char *bp_algorithm_name(size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BROADPHASE_H */
