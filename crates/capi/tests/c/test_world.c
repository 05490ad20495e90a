/* A world against a naive model, in every format: pairs and events while objects come, move and go; queries against scans; snapshots; threads. */
#include "support.h"

#define MOST 600

/* What the test knows of the world. */
typedef struct {
    bp_format format;
    bp_world *world;
    double boxes[MOST][6];
    bp_object_id ids[MOST];
    bp_kind kinds[MOST];
    uint64_t users[MOST];
    bp_tag tags[MOST];
    int alive[MOST];
    size_t count;
    unsigned char paired[MOST][MOST];
} Model;

static int allowed(const Model *m, size_t i, size_t j) {
    const bp_tag *a = &m->tags[i], *b = &m->tags[j];
    if (m->kinds[i] != BP_KIND_DYNAMIC && m->kinds[j] != BP_KIND_DYNAMIC) {
        return 0;
    }
    return (a->layer & b->mask) != 0 && (b->layer & a->mask) != 0 && (a->group == 0 || a->group != b->group);
}

static int is_pair(const Model *m, size_t i, size_t j) {
    if (!m->alive[i] || !m->alive[j] || !allowed(m, i, j)) {
        return 0;
    }
    for (int k = 0; k < dimension(m->format); k++) {
        const int d = dimension(m->format);
        if (m->boxes[i][k] > m->boxes[j][d + k] || m->boxes[j][k] > m->boxes[i][d + k]) {
            return 0;
        }
    }
    return 1;
}

static size_t find(const Model *m, bp_object_id id) {
    for (size_t i = 0; i < m->count; i++) {
        if (same_id(m->ids[i], id)) {
            return i;
        }
    }
    CHECK(!"an id that was never given out");
    return 0;
}

static void random_box(const Model *m, double box[6]) {
    const int d = dimension(m->format);
    for (int k = 0; k < d; k++) {
        box[k] = floor(uniform() * 100) / 8;
        box[d + k] = box[k] + floor(uniform() * 16) / 8;
    }
}

/* A row in the world's format. */
static void row(const Model *m, const double box[6], void *out) {
    for (int k = 0; k < 2 * dimension(m->format); k++) {
        put(m->format, out, (size_t)k, box[k]);
    }
}

static void insert(Model *m) {
    const size_t i = m->count++;
    random_box(m, m->boxes[i]);
    double out[6];
    row(m, m->boxes[i], out);
    bp_object_def def = bp_default_object_def();
    def.kind = m->kinds[i] = uniform() < 0.2 ? BP_KIND_STATIC : uniform() < 0.1 ? BP_KIND_KINEMATIC : BP_KIND_DYNAMIC;
    def.user = m->users[i] = 1000 + i;
    def.tag.group = uniform() < 0.3 ? 1 + (uint32_t)(uniform() * 3) : 0;
    m->tags[i] = def.tag;
    m->alive[i] = 1;
    OK(bp_world_insert(m->world, out, &def, 1, &m->ids[i], 1));
}

/* Compares an update with the model, event by event. */
static void check_update(Model *m) {
    bp_update update;
    bp_event_list events;
    OK(bp_world_update(m->world, &update));
    size_t pairs = 0;
    for (size_t i = 0; i < m->count; i++) {
        for (size_t j = i + 1; j < m->count; j++) {
            pairs += (size_t)is_pair(m, i, j);
        }
    }
    CHECK(update.pair_count == pairs);
    OK(bp_world_started(m->world, &events));
    CHECK(events.count == update.started_count);
    for (size_t e = 0; e < events.count; e++) {
        const bp_pair_event *event = &events.events[e];
        const size_t i = find(m, event->a), j = find(m, event->b);
        CHECK(same_id(event->a, update.started[e].a) && same_id(event->b, update.started[e].b));
        CHECK(is_pair(m, i, j) && !m->paired[i][j] && !m->paired[j][i]);
        CHECK(event->user_a == m->users[i] && event->user_b == m->users[j] && event->time == 1 && event->has_value == 0);
        m->paired[i][j] = 1;
    }
    OK(bp_world_ended(m->world, &events));
    CHECK(events.count == update.ended_count);
    for (size_t e = 0; e < events.count; e++) {
        const size_t i = find(m, events.events[e].a), j = find(m, events.events[e].b);
        CHECK(!is_pair(m, i, j) && (m->paired[i][j] || m->paired[j][i]));
        CHECK(events.events[e].user_a == m->users[i] && events.events[e].user_b == m->users[j]);
        m->paired[i][j] = m->paired[j][i] = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++) {
        for (size_t j = 0; j < m->count; j++) {
            kept += m->paired[i][j];
        }
    }
    CHECK(kept == pairs);
    bp_id_pair_list list;
    OK(bp_world_pairs(m->world, &list));
    CHECK(list.count == pairs);
    for (size_t p = 0; p < list.count; p++) {
        CHECK(is_pair(m, find(m, list.pairs[p].a), find(m, list.pairs[p].b)));
    }
    OK(bp_world_sorted_pairs(m->world, &list));
    for (size_t p = 1; p < list.count; p++) {
        const bp_id_pair *x = &list.pairs[p - 1], *y = &list.pairs[p];
        CHECK(x->a.index < y->a.index || (x->a.index == y->a.index && x->b.index < y->b.index));
    }
}

static void check_queries(const Model *m) {
    const int d = dimension(m->format);
    double area[6], rows[2 * 7];
    bp_answers *answers;
    bp_answer_list list;
    OK(bp_answers_create(&answers));
    const double low[6] = {2, 2, 2}, high[6] = {7, 7, 7};
    for (int k = 0; k < d; k++) {
        area[k] = low[k];
        area[d + k] = high[k];
    }
    row(m, area, rows);
    OK(bp_world_in_boxes(m->world, NULL, rows, 1, answers, &list));
    size_t expected = 0;
    for (size_t i = 0; i < m->count; i++) {
        int hit = m->alive[i];
        for (int k = 0; k < d; k++) {
            hit &= m->boxes[i][k] <= high[k] && low[k] <= m->boxes[i][d + k];
        }
        expected += (size_t)hit;
    }
    CHECK(list.question_count == 1 && list.count == expected && list.starts[1] == expected && list.distances == NULL);

    /* The same objects, if a ball holds the box, or a frustum of its sides. */
    for (int k = 0; k < d; k++) {
        put(m->format, rows, (size_t)k, 0);
    }
    put(m->format, rows, (size_t)d, 1000);
    OK(bp_world_in_balls(m->world, NULL, rows, 1, answers, &list));
    size_t alive = 0;
    for (size_t i = 0; i < m->count; i++) {
        alive += (size_t)m->alive[i];
    }
    CHECK(list.count == alive);
    for (int k = 0; k < d; k++) {
        put(m->format, rows, (size_t)k, k == 0);
    }
    put(m->format, rows, (size_t)d, 1000);
    OK(bp_world_in_frusta(m->world, NULL, rows, 1, 1, answers, &list));
    CHECK(list.count == alive);

    /* A ray along x: all that it enters, and the first of them. */
    const double y = 5.0625;
    for (int k = 0; k < d; k++) {
        put(m->format, rows, (size_t)k, k == 0 ? -1 : y);
        put(m->format, rows, (size_t)(d + k), k == 0);
    }
    put(m->format, rows, (size_t)(2 * d), 1000);
    double first = INFINITY;
    expected = 0;
    for (size_t i = 0; i < m->count; i++) {
        int hit = m->alive[i];
        for (int k = 1; k < d; k++) {
            hit &= m->boxes[i][k] <= y && y <= m->boxes[i][d + k];
        }
        expected += (size_t)hit;
        first = hit && m->boxes[i][0] + 1 < first ? m->boxes[i][0] + 1 : first;
    }
    OK(bp_world_along_rays(m->world, NULL, rows, 1, answers, &list));
    CHECK(list.count == expected && (expected == 0 || list.distances != NULL));
    OK(bp_world_first_along_rays(m->world, NULL, rows, 1, answers, &list));
    CHECK(list.count == (expected > 0) && (expected == 0 || list.distances[0] == first));

    /* The nearest to a corner, and a box and a ball that move as the ray does. */
    const double corner[3] = {-1, -1, -1};
    for (int k = 0; k < d; k++) {
        put(m->format, rows, (size_t)k, corner[k]);
    }
    OK(bp_world_nearest_to(m->world, NULL, rows, 1, 3, INFINITY, answers, &list));
    CHECK(list.count == 3 && list.distances[0] <= list.distances[1] && list.distances[1] <= list.distances[2]);
    OK(bp_world_at_points(m->world, NULL, rows, 1, answers, &list));
    CHECK(list.count == 0 && list.question_count == 1);
    for (int k = 0; k < d; k++) {
        put(m->format, rows, (size_t)k, k == 0 ? -1 : y);
        put(m->format, rows, (size_t)(d + k), k == 0 ? -1 : y);
        put(m->format, rows, (size_t)(2 * d + k), k == 0 ? 1000 : 0);
    }
    OK(bp_world_nearest_to_boxes(m->world, NULL, rows, 1, 1, INFINITY, answers, &list));
    CHECK(list.count == 1);
    OK(bp_world_along_sweeps(m->world, NULL, rows, 1, answers, &list));
    CHECK(list.count == expected);
    OK(bp_world_first_along_sweeps(m->world, NULL, rows, 1, answers, &list));
    CHECK(list.count == (expected > 0));
    put(m->format, rows, (size_t)d, 0);
    for (int k = 0; k < d; k++) {
        put(m->format, rows, (size_t)(d + 1 + k), k == 0 ? 1000 : 0);
    }
    OK(bp_world_along_ball_sweeps(m->world, NULL, rows, 1, answers, &list));
    CHECK(list.count == expected);
    OK(bp_world_first_along_ball_sweeps(m->world, NULL, rows, 1, answers, &list));
    CHECK(list.count == (expected > 0));

    /* Narrowed to one layer that no object has, and to none by exclusion. */
    bp_query_def def = bp_default_query_def();
    def.layers = 0;
    row(m, area, rows);
    OK(bp_world_in_boxes(m->world, &def, rows, 1, answers, &list));
    CHECK(list.count == 0);
    bp_answers_destroy(answers);
}

static void life(bp_format format, const char *algorithm, uint32_t threads) {
    Model *m = calloc(1, sizeof(Model));
    m->format = format;
    bp_world_def def = bp_default_world_def();
    def.format = format;
    def.algorithm = algorithm;
    def.threads = threads;
    OK(bp_world_create(&def, &m->world, NULL));
    for (int frame = 0; frame < 30; frame++) {
        for (int i = 0; i < 12; i++) {
            insert(m);
        }
        for (size_t i = 0; i < m->count; i++) {
            double out[6];
            if (m->alive[i] && uniform() < 0.3) {
                random_box(m, m->boxes[i]);
                row(m, m->boxes[i], out);
                OK(bp_world_set_boxes_of(m->world, &m->ids[i], out, 1));
            }
            if (m->alive[i] && uniform() < 0.05) {
                m->kinds[i] = BP_KIND_DYNAMIC;
                OK(bp_world_set_kinds(m->world, &m->ids[i], &m->kinds[i], 1));
            }
            if (m->alive[i] && uniform() < 0.05) {
                m->tags[i].group = 2;
                OK(bp_world_set_tags(m->world, &m->ids[i], &m->tags[i], 1));
            }
            if (m->alive[i] && frame > 3 && uniform() < 0.03) {
                m->alive[i] = 0;
                OK(bp_world_remove(m->world, &m->ids[i], 1));
                CHECK(bp_world_contains(m->world, m->ids[i]) == BP_STALE_HANDLE);
            }
        }
        check_update(m);
        if (frame % 10 == 9) {
            check_queries(m);
            OK(bp_world_validate(m->world, 1));
        }
        if (frame == 15) {
            /* Another world takes over: the same ids, the same events. */
            const uint8_t *data;
            size_t size;
            OK(bp_world_snapshot(m->world, &data, &size));
            bp_world *next;
            OK(bp_world_create(&def, &next, NULL));
            OK(bp_world_restore(next, data, size));
            bp_world_destroy(m->world);
            m->world = next;
        }
        if (frame == 20) {
            OK(bp_world_shrink(m->world));
        }
    }
    bp_world_destroy(m->world);
    free(m);
}

/* Engines of all manners: good, lazy, wrong. */
typedef struct {
    int manner;
    int calls;
} Engine;

static void run(void *user, uint32_t workers, bp_task task, void *context) {
    Engine *engine = user;
    engine->calls++;
    switch (engine->manner) {
    case 0: /* one after the other */
        for (uint32_t worker = 0; worker < workers; worker++) {
            task(context, worker);
        }
        break;
    case 1: /* backwards, twice, and with numbers that nobody has */
        task(context, UINT32_MAX);
        task(context, workers);
        for (uint32_t worker = workers; worker-- > 0;) {
            task(context, worker);
            task(context, worker);
        }
        task(NULL, 0);
        break;
    default: /* not at all */
        break;
    }
}

static void engines(void) {
    const size_t count = 20000;
    void *boxes = random_boxes(BP_FORMAT_3F, count, 60, 3);
    uint64_t expected;
    OK(bp_count_pairs(BP_FORMAT_3F, boxes, count, NULL, &expected, NULL));
    for (int manner = 0; manner < 3; manner++) {
        Engine engine = {manner, 0};
        bp_world_def def = bp_default_world_def();
        def.executor.run = run;
        def.executor.user = &engine;
        def.executor.workers = 3;
        bp_world *world;
        OK(bp_world_create(&def, &world, NULL));
        bp_object_id *ids = calloc(count, sizeof(bp_object_id));
        OK(bp_world_insert(world, boxes, NULL, 0, ids, count));
        bp_update update;
        OK(bp_world_update(world, &update));
        CHECK(update.pair_count == expected && engine.calls > 0);
        free(ids);
        bp_world_destroy(world);
    }
    free(boxes);
}

static uint8_t by_user(void *user, const bp_pair_candidate *pair) {
    ++*(int *)user;
    return pair->user_a != pair->user_b;
}

static uint8_t not_first(void *user, bp_object_id id) {
    (void)user;
    return id.index != 0;
}

static void settings(void) {
    bp_world_def def = bp_default_world_def();
    def.format = BP_FORMAT_2D;
    def.algorithm = "kd-tree:t=128";
    bp_world *world;
    OK(bp_world_create(&def, &world, NULL));
    const double boxes[3][4] = {{0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 1, 1}};
    bp_object_def defs[3] = {bp_default_object_def(), bp_default_object_def(), bp_default_object_def()};
    defs[0].user = defs[1].user = 1;
    defs[2].margin = 0.25;
    bp_object_id ids[3];
    OK(bp_world_insert(world, boxes, defs, 3, ids, 3));
    bp_update update;
    OK(bp_world_update(world, &update));
    CHECK(update.pair_count == 3);

    /* A filter, then none. */
    int asked = 0;
    OK(bp_world_settings(world, &def));
    CHECK(strcmp(def.algorithm, "kd-tree:t=128") == 0 && strcmp(def.static_algorithm, "kd-tree:t=128") == 0);
    def.filter = by_user;
    def.filter_user = &asked;
    OK(bp_world_configure(world, &def));
    OK(bp_world_update(world, &update));
    CHECK(update.pair_count == 2 && update.ended_count == 1 && asked == 3);
    const uint64_t other = 7;
    OK(bp_world_set_users(world, &ids[0], &other, 1));
    OK(bp_world_refilter(world, &ids[0], 1));
    OK(bp_world_update(world, &update));
    CHECK(update.pair_count == 3 && update.started_count == 1);
    def.filter = NULL;
    def.algorithm = "auto";
    def.margin = 1;
    OK(bp_world_configure(world, &def));
    OK(bp_world_update(world, &update));
    CHECK(update.pair_count == 3 && update.started_count == 0);
    OK(bp_world_settings(world, &def));
    CHECK(strcmp(def.algorithm, "auto") == 0 && def.margin == 1 && def.filter == NULL);

    /* All settings, or none. */
    def.report = BP_REPORT_COUNT;
    def.margin = -1;
    CHECK(bp_world_configure(world, &def) == BP_INVALID_MARGIN);
    OK(bp_world_settings(world, &def));
    CHECK(def.report == BP_REPORT_BOTH && def.margin == 1);

    /* What an object is. */
    bp_object_def back;
    OK(bp_world_get_object(world, ids[2], &back));
    CHECK(back.margin == 0.25 && back.user == 0 && back.kind == BP_KIND_DYNAMIC && back.previous == NULL);
    const double margins[2] = {2, -2};
    CHECK(bp_world_set_margins(world, &ids[1], margins, 2) == BP_INVALID_MARGIN);
    OK(bp_world_get_object(world, ids[1], &back));
    CHECK(back.margin == 0);
    const bp_shape shape = BP_SHAPE_BALL;
    const uint8_t sensor = 1;
    OK(bp_world_set_shapes(world, &ids[1], &shape, 1));
    OK(bp_world_set_sensors(world, &ids[1], &sensor, 1));
    OK(bp_world_get_object(world, ids[1], &back));
    CHECK(back.shape == BP_SHAPE_BALL && back.sensor == 1);
    double box[4];
    const double by[2] = {10, -10};
    OK(bp_world_shift_origin(world, by));
    OK(bp_world_get_boxes(world, &ids[1], box, 1));
    CHECK(box[0] == 10 && box[1] == -10 && box[2] == 11 && box[3] == -9);

    /* Values of pairs, the pairs of one, lists of ids. */
    uint8_t paired, has_value;
    uint64_t value;
    OK(bp_world_update(world, NULL));
    OK(bp_world_set_pair_value(world, ids[2], ids[0], 99, &paired));
    CHECK(paired == 1);
    OK(bp_world_pair_value(world, ids[0], ids[2], &value, &has_value));
    CHECK(value == 99 && has_value == 1);
    bp_id_list list;
    OK(bp_world_pairs_of(world, ids[0], &list));
    CHECK(list.count == 2 && same_id(list.ids[0], ids[1]) && same_id(list.ids[1], ids[2]));
    OK(bp_world_movers(world, &list));
    CHECK(list.count == 3 && same_id(list.ids[2], ids[2]));
    OK(bp_world_objects(world, &list));
    CHECK(list.count == 3);
    OK(bp_world_remove(world, &ids[2], 1));
    OK(bp_world_update(world, NULL));
    bp_event_list ended;
    OK(bp_world_ended(world, &ended));
    CHECK(ended.count == 2 && ended.events[0].has_value == 1 && ended.events[0].value == 99 && ended.events[1].has_value == 0);

    /* Queries by a rule, and pairs of two worlds. */
    bp_query_def query = bp_default_query_def();
    query.matching = not_first;
    bp_answers *answers;
    bp_answer_list found;
    OK(bp_answers_create(&answers));
    OK(bp_world_prepare_queries(world));
    OK(bp_world_in_boxes(world, &query, box, 1, answers, &found));
    CHECK(found.count == 1 && same_id(found.ids[0], ids[1]));
    query.excluded = ids[1];
    OK(bp_world_in_boxes(world, &query, box, 1, answers, &found));
    CHECK(found.count == 0);
    bp_world *guest;
    OK(bp_world_create(&def, &guest, NULL));
    bp_object_id visitor;
    OK(bp_world_insert(guest, box, NULL, 0, &visitor, 1));
    bp_id_pair_list pairs;
    OK(bp_world_pairs_with(world, guest, &pairs));
    CHECK(pairs.count == 2 && same_id(pairs.pairs[0].b, visitor));
    bp_world_stats stats;
    OK(bp_world_get_stats(world, &stats));
    CHECK(stats.dynamic_count == 2 && stats.table_bytes > 0 && strcmp(stats.algorithm, "auto") == 0 && strstr(stats.text, "2 objects") != NULL);
    OK(bp_world_clear(world));
    OK(bp_world_update(world, &update));
    CHECK(update.pair_count == 0);
    bp_answers_destroy(answers);
    bp_world_destroy(guest);
    bp_world_destroy(world);
}

/* A bullet that passes a wall between two updates, and one that comes into being on its way. */
static void fast_objects(void) {
    bp_world_def def = bp_default_world_def();
    def.format = BP_FORMAT_2F;
    def.continuous = BP_CONTINUOUS_SWEPT;
    bp_world *world;
    OK(bp_world_create(&def, &world, NULL));
    const float wall[4] = {5, 0, 5.5f, 9}, start[4] = {0, 4, 0, 4}, end[4] = {10, 4, 10, 4};
    bp_object_def fixed = bp_default_object_def(), bullet = bp_default_object_def();
    fixed.kind = BP_KIND_STATIC;
    bp_object_id ids[3];
    OK(bp_world_insert(world, wall, &fixed, 1, &ids[0], 1));
    OK(bp_world_insert(world, start, NULL, 0, &ids[1], 1));
    OK(bp_world_update(world, NULL));
    OK(bp_world_set_boxes_of(world, &ids[1], end, 1));
    bullet.previous = start;
    OK(bp_world_insert(world, end, &bullet, 1, &ids[2], 1));
    OK(bp_world_update(world, NULL));
    bp_event_list started;
    OK(bp_world_started(world, &started));
    CHECK(started.count == 3 && started.events[0].time == 0.5 && started.events[1].time == 0.5);
    OK(bp_world_teleport(world, &ids[1], start, 1));
    OK(bp_world_update(world, NULL));
    OK(bp_world_started(world, &started));
    CHECK(started.count == 0);
    bp_world_destroy(world);
}

int main(void) {
    static const char *const algorithms[] = {NULL, "tiles", "hash-grid", "brute-force"};
    for (int i = 0; i < 4; i++) {
        life(FORMATS[i], algorithms[i], 1);
        life(FORMATS[i], NULL, 2);
    }
    engines();
    settings();
    fast_objects();
    return finish("world");
}
