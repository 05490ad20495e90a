// The C++ header: owners, views, every member once; with and without exceptions.
#include <broadphase.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);   \
            failures++;                                                                          \
        }                                                                                        \
    } while (0)

// The call fails with this status, returned or thrown.
template <class F>
static void fails(bp_status expected, F &&call) {
#ifdef BROADPHASE_EXCEPTIONS
    try {
        call();
    } catch (const bp::Exception &exception) {
        CHECK(exception.error.status == expected);
        return;
    }
    CHECK(!"nothing was thrown");
#else
    CHECK(call() == expected);
#endif
}

template <int D, class T>
static void arrays() {
    std::vector<bp::Box<D, T>> boxes(3);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < D; k++) {
            boxes[i].min[k] = static_cast<T>(2 * i);
            boxes[i].max[k] = static_cast<T>(2 * i + 2);
        }
    }
    bp::PairList list;
    CHECK(bp::pairs(boxes, list) == BP_OK && list.size() == 2 && list[0].a == 0 && list[1].b == 2);
    bp::PairList other = std::move(list);
    CHECK(list.empty() && other.size() == 2);
    std::size_t sum = 0;
    for (const bp_pair pair : other) {
        sum += pair.a + pair.b;
    }
    CHECK(sum == 4);
    const bp::View<bp::Box<D, T>> two(boxes.data(), 2);
    CHECK(bp::pairs_between(two, bp::View<bp::Box<D, T>>(boxes), other) == BP_OK && other.size() == 5);
    boxes[1].min[0] = static_cast<T>(NAN);
    bp_error error;
    fails(BP_INVALID_BOX, [&] { return bp::pairs(boxes, list, nullptr, &error); });
    CHECK(error.status == BP_INVALID_BOX && error.object == 1 && list.empty());
    const bp::Point<D, T> points[2] = {{}, {}};
    bp::NeighborList<T> near;
    CHECK(bp::neighbors(bp::View<bp::Point<D, T>>(points), 1.0, near) == BP_OK && near.of(0).size() == 1 && near.of(0)[0] == 1);

    boxes[1].min[0] = static_cast<T>(2.5); // half a unit from the first, overlapping the third
    bp::NearList close;
    const bp::View<bp::Box<D, T>> all(boxes);
    CHECK(bp::pairs_within(all, 0.5, close) == BP_OK && close.size() == 2 && close[0].distance == 0.5 && close[1].distance == 0);
    bp::NearList moved = std::move(close);
    CHECK(close.empty() && moved.size() == 2 && moved.begin()->b == 1);
    CHECK(bp::pairs_within_between(two, all, 0.0, close) == BP_OK && close.size() == 3);
    CHECK(bp::nearest(all, 1, near) == BP_OK && near.of(0)[0] == 1 && near.distances_of(0)[0] == static_cast<T>(0.5));
    CHECK(bp::nearest_between(two, all, 1, near) == BP_OK && near.point_count() == 2 && near.of(0)[0] == 0);
    bp_near closest;
    CHECK(bp::closest_pair(all, closest) == BP_OK && closest.a == 1 && closest.b == 2 && closest.distance == 0);
    CHECK(bp::closest_pair_between(bp::View<bp::Point<D, T>>(points), bp::View<bp::Point<D, T>>(points), closest) == BP_OK && closest.distance == 0);
    const bp::Ball<D, T> balls[1] = {{}};
    CHECK(bp::closest_pair(bp::View<bp::Ball<D, T>>(balls), closest) == BP_OK && closest.a == UINT32_MAX);
    fails(BP_INVALID_VALUE, [&] { return bp::pairs_within(all, -1.0, close, nullptr, &error); });
}

static void world() {
    using Box = bp::Box<2, float>;
    bp::World2 world;
    CHECK(!world);
    fails(BP_NULL_POINTER, [&] { return world.update(); });
    bp_world_def def = bp_default_world_def();
    CHECK(world.create(def) == BP_OK && world);
    const std::array<Box, 2> boxes = {{{{0, 0}, {1, 1}}, {{1, 1}, {2, 2}}}};
    bp_object_id ids[2], one;
    CHECK(world.insert(boxes, ids) == BP_OK && ids[0] != ids[1] && ids[0] == ids[0]);
    bp_object_def fixed = bp_default_object_def();
    fixed.kind = BP_KIND_STATIC;
    CHECK(world.insert(Box{{0, -1}, {9, 0}}, one, fixed) == BP_OK && world.contains(one));
    bp_update update;
    CHECK(world.update(update) == BP_OK && update.pair_count == 2 && update.started_count == 2);
    bp::View<bp_pair_event> events;
    CHECK(world.started(events) == BP_OK && events.size() == 2 && events[0].time == 1);
    bp::View<bp_id_pair> pairs;
    CHECK(world.sorted_pairs(pairs) == BP_OK && pairs.size() == 2 && pairs[0].a == ids[0] && pairs[0].b == ids[1]);
    CHECK(world.pairs(pairs) == BP_OK && pairs.size() == 2);
    bp::View<bp_object_id> found;
    CHECK(world.pairs_of(ids[0], found) == BP_OK && found.size() == 2);
    CHECK(world.movers(found) == BP_OK && found.size() == 2);
    CHECK(world.set_tag(ids[1], {1, 1, 0, 0}) == BP_OK && world.set_user(ids[1], 7) == BP_OK && world.set_margin(ids[1], 0.5) == BP_OK);
    CHECK(world.set_sensor(ids[1], true) == BP_OK && world.set_shape(ids[1], BP_SHAPE_BALL) == BP_OK && world.set_kind(one, BP_KIND_KINEMATIC) == BP_OK);
    CHECK(world.get_object(ids[1], fixed) == BP_OK && fixed.user == 7 && fixed.margin == 0.5 && fixed.sensor == 1);
    Box box;
    CHECK(world.set_box(ids[0], {{3, 3}, {4, 4}}) == BP_OK && world.get_box(ids[0], box) == BP_OK && box.max[1] == 4);
    CHECK(world.set_boxes_of(ids, boxes) == BP_OK && world.teleport(ids, boxes) == BP_OK && world.shift_origin({{1, 1}}) == BP_OK);
    fails(BP_COUNT_MISMATCH, [&] { return world.set_boxes_of(ids, bp::View<Box>(boxes.data(), 1)); });
    fails(BP_COUNT_MISMATCH, [&] { return world.set_boxes(boxes); });
    CHECK(world.refilter(ids) == BP_OK && world.update() == BP_OK && world.ended(events) == BP_OK && world.validate(true) == BP_OK);

    bp::Answers answers;
    const bp::Ray<2, float> ray[] = {{{-5, 1.5f}, {1, 0}, 100}};
    CHECK(world.first_along_rays(ray, answers) == BP_OK && answers.size() == 1 && answers[0][0] == ids[0] && answers.distances(0)[0] == 6);
    CHECK(world.along_rays(ray, answers) == BP_OK && world.in_boxes(boxes, answers) == BP_OK && answers.size() == 2);
    const bp::Point<2, float> point[] = {{{1.5f, 1.5f}}};
    CHECK(world.at_points(point, answers) == BP_OK && world.nearest_to(point, 1, 9, answers) == BP_OK && answers.distances(0)[0] == 0);
    CHECK(world.nearest_to_boxes(boxes, 1, 9, answers) == BP_OK && answers.size() == 2);
    const bp::Ball<2, float> ball[] = {{{0, 0}, 100}};
    const bp::HalfSpace<2, float> side[] = {{{1, 0}, 100}};
    CHECK(world.in_balls(ball, answers) == BP_OK && answers[0].size() == 3 && world.in_frustum(side, answers) == BP_OK && answers[0].size() == 3);
    const bp::Swept<2, float> swept[] = {{boxes[0], {10, 0}}};
    const bp::SweptBall<2, float> swept_ball[] = {{ball[0], {10, 0}}};
    CHECK(world.first_along_sweeps(swept, answers) == BP_OK && world.along_sweeps(swept, answers) == BP_OK);
    CHECK(world.first_along_ball_sweeps(swept_ball, answers) == BP_OK && world.along_ball_sweeps(swept_ball, answers) == BP_OK);
    CHECK(world.prepare_queries() == BP_OK);

    bp::View<std::uint8_t> bytes;
    bp::World2 again, other;
    CHECK(world.snapshot(bytes) == BP_OK && again.create() == BP_OK && again.restore(bytes) == BP_OK && again.contains(ids[0]));
    CHECK(other.create() == BP_OK && other.insert(boxes[0], one) == BP_OK && other.pairs_with(again, pairs) == BP_OK && !pairs.empty());
    bp::World2 moved = std::move(again);
    CHECK(!again && moved.contains(ids[0]) && moved.remove(ids) == BP_OK && !moved.contains(ids[0]));
    fails(BP_STALE_HANDLE, [&] { return moved.remove(ids[0]); });
    fails(BP_STALE_HANDLE, [&] { return moved.set_pair_value(ids[0], ids[1], 1); });
    CHECK(moved.last_error().status == BP_STALE_HANDLE);
    CHECK(moved.settings(def) == BP_OK && moved.configure(def) == BP_OK && moved.reserve(10, 10) == BP_OK && moved.shrink() == BP_OK);
    bp_world_stats stats;
    CHECK(moved.stats(stats) == BP_OK && stats.dynamic_count == 0 && moved.clear() == BP_OK);
}

int main() {
    arrays<2, float>();
    arrays<3, float>();
    arrays<2, double>();
    arrays<3, double>();
    world();
    std::printf("c++: %s\n", failures == 0 ? "passed" : "failed");
    return failures == 0 ? 0 : 1;
}
