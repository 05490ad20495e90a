// broadphase for C++17: types for the rows of broadphase.h, and owners that free what they hold. Everything here is inline, and calls one C function.
//
// Every call returns a bp_status, and nothing throws. Define BROADPHASE_EXCEPTIONS before including this header, and every status but BP_OK is
// thrown as a bp::Exception instead.
//
//     std::vector<bp::Box<3, float>> boxes = ...;
//     bp::PairList pairs;
//     if (bp::pairs(boxes, pairs) == BP_OK) for (bp_pair pair : pairs) ...
//
// License: MIT or Apache-2.0.
#ifndef BROADPHASE_HPP
#define BROADPHASE_HPP

#include "broadphase.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__has_include) && __cplusplus >= 202002L
#if __has_include(<span>)
#include <span>
#define BROADPHASE_HAS_SPAN 1
#endif
#endif

#ifdef BROADPHASE_EXCEPTIONS
#include <stdexcept>
#endif

namespace bp {

// A box: closed, min <= max on each axis.
template <int D, class T>
struct Box {
    T min[D];
    T max[D];
};

// A point.
template <int D, class T>
struct Point {
    T at[D];
};

// A ball.
template <int D, class T>
struct Ball {
    T center[D];
    T radius;
};

// The points origin + t * direction for 0 <= t <= length.
template <int D, class T>
struct Ray {
    T origin[D];
    T direction[D];
    T length;
};

// A box and its displacement during one step.
template <int D, class T>
struct Swept {
    Box<D, T> start;
    T displacement[D];
};

// A ball and its displacement during one step.
template <int D, class T>
struct SweptBall {
    Ball<D, T> start;
    T displacement[D];
};

// The points whose product with the normal is at most the offset.
template <int D, class T>
struct HalfSpace {
    T normal[D];
    T offset;
};

// The rows of broadphase.h, without padding.
static_assert(sizeof(Box<3, float>) == 6 * sizeof(float) && sizeof(Ray<2, double>) == 5 * sizeof(double), "rows have no padding");
static_assert(sizeof(SweptBall<3, float>) == 7 * sizeof(float) && alignof(Box<2, double>) == alignof(double), "rows are aligned as numbers");

// The bp_format of rows.
template <int D, class T>
constexpr bp_format format() {
    static_assert((D == 2 || D == 3) && (std::is_same_v<T, float> || std::is_same_v<T, double>), "2 or 3 axes of float or double");
    if constexpr (std::is_same_v<T, float>) {
        return D == 2 ? BP_FORMAT_2F : BP_FORMAT_3F;
    } else {
        return D == 2 ? BP_FORMAT_2D : BP_FORMAT_3D;
    }
}

// Pointer and size: made from an array, a vector, a std::span or anything else that has data() and size().
template <class X>
class View {
public:
    constexpr View() = default;
    constexpr View(const X *data, std::size_t size) : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr View(const X (&array)[N]) : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<const C &>().data()), const X *>>>
    constexpr View(const C &container) : data_(container.data()), size_(container.size()) {}

    constexpr const X *data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr const X *begin() const { return data_; }
    constexpr const X *end() const { return data_ + size_; }
    constexpr const X &operator[](std::size_t i) const { return data_[i]; }
#ifdef BROADPHASE_HAS_SPAN
    constexpr operator std::span<const X>() const { return {data_, size_}; }
#endif

private:
    const X *data_ = nullptr;
    std::size_t size_ = 0;
};

#ifdef BROADPHASE_EXCEPTIONS
// A status that is not BP_OK, with what is known of it.
class Exception : public std::runtime_error {
public:
    explicit Exception(const bp_error &known) : std::runtime_error(known.text), error(known) {}
    bp_error error;
};
#endif

namespace detail {

#ifdef BROADPHASE_EXCEPTIONS
inline bp_status checked(const bp_error &error) {
    if (error.status != BP_OK) {
        throw Exception(error);
    }
    return BP_OK;
}
#endif

// A one-shot call, which fills its error.
template <class F>
bp_status run(bp_error *error, F &&call) {
#ifdef BROADPHASE_EXCEPTIONS
    bp_error own;
    call(&own);
    if (error != nullptr) {
        *error = own;
    }
    return checked(own);
#else
    return call(error);
#endif
}

inline bool same(bp_object_id x, bp_object_id y) { return x.index == y.index && x.generation == y.generation; }

} // namespace detail

// A list that frees itself.
template <class List, class Item, void (*Free)(List *)>
class OwnedList {
public:
    OwnedList() = default;
    OwnedList(OwnedList &&other) noexcept : list_(std::exchange(other.list_, {})) {}
    OwnedList &operator=(OwnedList &&other) noexcept {
        std::swap(list_, other.list_);
        return *this;
    }
    ~OwnedList() { Free(&list_); }

    const Item *begin() const { return list_.pairs; }
    const Item *end() const { return list_.pairs + list_.count; }
    const Item *data() const { return list_.pairs; }
    std::size_t size() const { return list_.count; }
    bool empty() const { return list_.count == 0; }
    const Item &operator[](std::size_t i) const { return list_.pairs[i]; }

    // Frees what there is, to be filled anew.
    List *fresh() {
        Free(&list_);
        return &list_;
    }

private:
    List list_ = {};
};

// Pairs, and pairs with their distances.
using PairList = OwnedList<bp_pair_list, bp_pair, bp_pair_list_free>;
using NearList = OwnedList<bp_near_list, bp_near, bp_near_list_free>;

// All overlapping pairs of boxes, as positions, sorted.
template <int D, class T>
bp_status pairs(View<Box<D, T>> boxes, PairList &list, const bp_search_def *def = nullptr, bp_error *error = nullptr) {
    return detail::run(error, [&](bp_error *e) { return bp_pairs(format<D, T>(), boxes.data(), boxes.size(), def, list.fresh(), e); });
}

template <int D, class T>
bp_status pairs(const std::vector<Box<D, T>> &boxes, PairList &list, const bp_search_def *def = nullptr, bp_error *error = nullptr) {
    return pairs(View<Box<D, T>>(boxes), list, def, error);
}

// All overlapping pairs of a box of `a` and a box of `b`, as positions in both, sorted.
template <int D, class T>
bp_status pairs_between(View<Box<D, T>> a, View<Box<D, T>> b, PairList &list, const bp_search_def *def = nullptr, bp_error *error = nullptr) {
    return detail::run(error, [&](bp_error *e) {
        return bp_pairs_between(format<D, T>(), a.data(), a.size(), b.data(), b.size(), def, list.fresh(), e);
    });
}

// The neighbors of each point, which free themselves.
template <class T>
class NeighborList {
public:
    NeighborList() = default;
    NeighborList(NeighborList &&other) noexcept : list_(std::exchange(other.list_, {})) {}
    NeighborList &operator=(NeighborList &&other) noexcept {
        std::swap(list_, other.list_);
        return *this;
    }
    ~NeighborList() { bp_neighbor_list_free(&list_); }

    std::size_t point_count() const { return list_.point_count; }
    std::size_t size() const { return list_.count; }
    View<std::uint32_t> of(std::size_t point) const {
        return {list_.indices + list_.offsets[point], list_.offsets[point + 1] - list_.offsets[point]};
    }
    // If distances were asked for.
    View<T> distances_of(std::size_t point) const {
        return {static_cast<const T *>(list_.distances) + list_.offsets[point], list_.offsets[point + 1] - list_.offsets[point]};
    }
    bp_neighbor_list *fresh() {
        bp_neighbor_list_free(&list_);
        return &list_;
    }

private:
    bp_neighbor_list list_ = {};
};

// The neighbors of each point within a radius.
template <int D, class T>
bp_status neighbors(View<Point<D, T>> points, double radius, NeighborList<T> &list, const bp_neighbor_def *def = nullptr,
                    bp_error *error = nullptr) {
    return detail::run(error, [&](bp_error *e) {
        return bp_neighbors(format<D, T>(), points.data(), points.size(), radius, def, list.fresh(), e);
    });
}

namespace detail {

// What rows of a type are, and their format.
template <class Row>
struct RowsOf;

template <int D, class T>
struct RowsOf<Box<D, T>> {
    using scalar = T;
    static constexpr bp_rows rows = BP_ROWS_BOXES;
    static constexpr bp_format format = bp::format<D, T>();
};

template <int D, class T>
struct RowsOf<Ball<D, T>> {
    using scalar = T;
    static constexpr bp_rows rows = BP_ROWS_BALLS;
    static constexpr bp_format format = bp::format<D, T>();
};

template <int D, class T>
struct RowsOf<Point<D, T>> {
    using scalar = T;
    static constexpr bp_rows rows = BP_ROWS_POINTS;
    static constexpr bp_format format = bp::format<D, T>();
};

// The definition, or its default, for rows of a type.
template <class Row>
bp_distance_def distance_def(const bp_distance_def *def) {
    bp_distance_def own = def != nullptr ? *def : bp_default_distance_def();
    own.rows = RowsOf<Row>::rows;
    return own;
}

} // namespace detail

// All pairs of boxes, balls or points within a distance of each other. Of the definition, the rows follow from the type.
template <class Row>
bp_status pairs_within(View<Row> objects, double distance, NearList &list, const bp_distance_def *def = nullptr, bp_error *error = nullptr) {
    const bp_distance_def own = detail::distance_def<Row>(def);
    return detail::run(error, [&](bp_error *e) {
        return bp_pairs_within(detail::RowsOf<Row>::format, objects.data(), objects.size(), distance, &own, list.fresh(), e);
    });
}

// All pairs of an object of `a` and an object of `b` within a distance of each other.
template <class Row>
bp_status pairs_within_between(View<Row> a, View<Row> b, double distance, NearList &list, const bp_distance_def *def = nullptr,
                               bp_error *error = nullptr) {
    const bp_distance_def own = detail::distance_def<Row>(def);
    return detail::run(error, [&](bp_error *e) {
        return bp_pairs_within_between(detail::RowsOf<Row>::format, a.data(), a.size(), b.data(), b.size(), distance, &own, list.fresh(), e);
    });
}

// The k nearest of each object, nearest first.
template <class Row>
bp_status nearest(View<Row> objects, std::size_t k, NeighborList<typename detail::RowsOf<Row>::scalar> &list,
                  const bp_distance_def *def = nullptr, bp_error *error = nullptr) {
    const bp_distance_def own = detail::distance_def<Row>(def);
    return detail::run(error, [&](bp_error *e) {
        return bp_nearest(detail::RowsOf<Row>::format, objects.data(), objects.size(), k, &own, list.fresh(), e);
    });
}

// The k nearest objects of `b` for each object of `a`, nearest first.
template <class Row>
bp_status nearest_between(View<Row> a, View<Row> b, std::size_t k, NeighborList<typename detail::RowsOf<Row>::scalar> &list,
                          const bp_distance_def *def = nullptr, bp_error *error = nullptr) {
    const bp_distance_def own = detail::distance_def<Row>(def);
    return detail::run(error, [&](bp_error *e) {
        return bp_nearest_between(detail::RowsOf<Row>::format, a.data(), a.size(), b.data(), b.size(), k, &own, list.fresh(), e);
    });
}

// The pair with the smallest distance; positions of UINT32_MAX if there is none.
template <class Row>
bp_status closest_pair(View<Row> objects, bp_near &pair, const bp_distance_def *def = nullptr, bp_error *error = nullptr) {
    const bp_distance_def own = detail::distance_def<Row>(def);
    return detail::run(error, [&](bp_error *e) {
        return bp_closest_pair(detail::RowsOf<Row>::format, objects.data(), objects.size(), &own, &pair, e);
    });
}

// The pair of an object of `a` and an object of `b` with the smallest distance.
template <class Row>
bp_status closest_pair_between(View<Row> a, View<Row> b, bp_near &pair, const bp_distance_def *def = nullptr, bp_error *error = nullptr) {
    const bp_distance_def own = detail::distance_def<Row>(def);
    return detail::run(error, [&](bp_error *e) {
        return bp_closest_pair_between(detail::RowsOf<Row>::format, a.data(), a.size(), b.data(), b.size(), &own, &pair, e);
    });
}

// Answers to many questions; one for each thread that asks.
class Answers {
public:
    Answers() { bp_answers_create(&answers_); }
    Answers(Answers &&other) noexcept : answers_(std::exchange(other.answers_, nullptr)), list(std::exchange(other.list, {})) {}
    Answers &operator=(Answers &&other) noexcept {
        std::swap(answers_, other.answers_);
        std::swap(list, other.list);
        return *this;
    }
    ~Answers() { bp_answers_destroy(answers_); }

    // The number of questions.
    std::size_t size() const { return list.question_count; }
    View<bp_object_id> operator[](std::size_t question) const {
        return {list.ids + list.starts[question], list.starts[question + 1] - list.starts[question]};
    }
    // For rays, motions and the nearest.
    View<double> distances(std::size_t question) const {
        return {list.distances + list.starts[question], list.starts[question + 1] - list.starts[question]};
    }
    bp_answers *get() const { return answers_; }

private:
    bp_answers *answers_ = nullptr;

public:
    // What the last query found.
    bp_answer_list list = {};
};

// A world, which destroys itself.
template <int D, class T>
class World {
public:
    using box_type = Box<D, T>;
    using point_type = Point<D, T>;
    using ids_view = View<bp_object_id>;

    World() = default;
    World(World &&other) noexcept : world_(std::exchange(other.world_, nullptr)) {}
    World &operator=(World &&other) noexcept {
        std::swap(world_, other.world_);
        return *this;
    }
    ~World() { bp_world_destroy(world_); }

    // Makes the world, or a new one in its place. The format follows from the type.
    bp_status create(bp_world_def def = bp_default_world_def(), bp_error *error = nullptr) {
        bp_world_destroy(std::exchange(world_, nullptr));
        def.format = format<D, T>();
        return detail::run(error, [&](bp_error *e) { return bp_world_create(&def, &world_, e); });
    }
    explicit operator bool() const { return world_ != nullptr; }
    bp_world *get() const { return world_; }
    bp_error last_error() const {
        bp_error error = {};
        bp_world_last_error(world_, &error);
        return error;
    }

    bp_status configure(const bp_world_def &def) { return done(bp_world_configure(world_, &def)); }
    bp_status settings(bp_world_def &def) { return done(bp_world_settings(world_, &def)); }

    // Objects. `ids` must have room for one id for each box; `defs`: one for each, one for all, or none.
    bp_status insert(View<box_type> boxes, bp_object_id *ids, View<bp_object_def> defs = {}) {
        return done(bp_world_insert(world_, boxes.data(), defs.data(), defs.size(), ids, boxes.size()));
    }
    bp_status insert(const box_type &box, bp_object_id &id, const bp_object_def &def = bp_default_object_def()) {
        return done(bp_world_insert(world_, &box, &def, 1, &id, 1));
    }
    bp_status remove(ids_view ids) { return done(bp_world_remove(world_, ids.data(), ids.size())); }
    bp_status remove(bp_object_id id) { return done(bp_world_remove(world_, &id, 1)); }
    bp_status clear() { return done(bp_world_clear(world_)); }
    bp_status reserve(std::size_t movers, std::size_t statics) { return done(bp_world_reserve(world_, movers, statics)); }
    bp_status shrink() { return done(bp_world_shrink(world_)); }
    bool contains(bp_object_id id) const { return bp_world_contains(world_, id) == BP_OK; }

    // Where they are. Two lists that belong together must have the same length.
    bp_status set_boxes(View<box_type> boxes) { return done(bp_world_set_boxes(world_, boxes.data(), boxes.size())); }
    bp_status set_box(bp_object_id id, const box_type &box) { return done(bp_world_set_boxes_of(world_, &id, &box, 1)); }
    bp_status set_boxes_of(ids_view ids, View<box_type> boxes) {
        return ids.size() != boxes.size() ? mismatch() : done(bp_world_set_boxes_of(world_, ids.data(), boxes.data(), ids.size()));
    }
    bp_status teleport(ids_view ids, View<box_type> boxes) {
        return ids.size() != boxes.size() ? mismatch() : done(bp_world_teleport(world_, ids.data(), boxes.data(), ids.size()));
    }
    bp_status shift_origin(const point_type &by) { return done(bp_world_shift_origin(world_, by.at)); }
    bp_status get_box(bp_object_id id, box_type &box) { return done(bp_world_get_boxes(world_, &id, &box, 1)); }

    // What they are.
    bp_status set_tag(bp_object_id id, bp_tag tag) { return done(bp_world_set_tags(world_, &id, &tag, 1)); }
    bp_status set_kind(bp_object_id id, bp_kind kind) { return done(bp_world_set_kinds(world_, &id, &kind, 1)); }
    bp_status set_user(bp_object_id id, std::uint64_t user) { return done(bp_world_set_users(world_, &id, &user, 1)); }
    bp_status set_margin(bp_object_id id, double margin) { return done(bp_world_set_margins(world_, &id, &margin, 1)); }
    bp_status set_shape(bp_object_id id, bp_shape shape) { return done(bp_world_set_shapes(world_, &id, &shape, 1)); }
    bp_status set_sensor(bp_object_id id, bool sensor) {
        const std::uint8_t value = sensor ? 1 : 0;
        return done(bp_world_set_sensors(world_, &id, &value, 1));
    }
    bp_status get_object(bp_object_id id, bp_object_def &def) { return done(bp_world_get_object(world_, id, &def)); }
    bp_status refilter(ids_view ids) { return done(bp_world_refilter(world_, ids.data(), ids.size())); }

    // The frame, and what it found.
    bp_status update(bp_update &update) { return done(bp_world_update(world_, &update)); }
    bp_status update() { return done(bp_world_update(world_, nullptr)); }
    bp_status started(View<bp_pair_event> &events) { return list(events, bp_world_started); }
    bp_status ended(View<bp_pair_event> &events) { return list(events, bp_world_ended); }
    bp_status pairs(View<bp_id_pair> &pairs) { return list(pairs, bp_world_pairs); }
    bp_status sorted_pairs(View<bp_id_pair> &pairs) { return list(pairs, bp_world_sorted_pairs); }
    bp_status pairs_of(bp_object_id id, ids_view &ids) {
        bp_id_list found = {};
        const bp_status status = bp_world_pairs_of(world_, id, &found);
        ids = {found.ids, found.count};
        return done(status);
    }
    bp_status pairs_with(World &other, View<bp_id_pair> &pairs) {
        bp_id_pair_list found = {};
        const bp_status status = bp_world_pairs_with(world_, other.world_, &found);
        pairs = {found.pairs, found.count};
        return done(status);
    }
    bp_status set_pair_value(bp_object_id a, bp_object_id b, std::uint64_t value) {
        return done(bp_world_set_pair_value(world_, a, b, value, nullptr));
    }
    bp_status movers(ids_view &ids) {
        bp_id_list found = {};
        const bp_status status = bp_world_movers(world_, &found);
        ids = {found.ids, found.count};
        return done(status);
    }
    bp_status stats(bp_world_stats &stats) { return done(bp_world_get_stats(world_, &stats)); }
    bp_status validate(bool thorough) { return done(bp_world_validate(world_, thorough ? 1 : 0)); }

    // Queries, many at once; `def` may be null.
    bp_status prepare_queries() { return done(bp_world_prepare_queries(world_)); }
    bp_status in_boxes(View<box_type> boxes, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_in_boxes(world_, def, boxes.data(), boxes.size(), answers.get(), &answers.list));
    }
    bp_status at_points(View<point_type> points, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_at_points(world_, def, points.data(), points.size(), answers.get(), &answers.list));
    }
    bp_status in_balls(View<Ball<D, T>> balls, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_in_balls(world_, def, balls.data(), balls.size(), answers.get(), &answers.list));
    }
    bp_status in_frustum(View<HalfSpace<D, T>> sides, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_in_frusta(world_, def, sides.data(), sides.size(), 1, answers.get(), &answers.list));
    }
    bp_status along_rays(View<Ray<D, T>> rays, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_along_rays(world_, def, rays.data(), rays.size(), answers.get(), &answers.list));
    }
    bp_status first_along_rays(View<Ray<D, T>> rays, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_first_along_rays(world_, def, rays.data(), rays.size(), answers.get(), &answers.list));
    }
    bp_status along_sweeps(View<Swept<D, T>> sweeps, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_along_sweeps(world_, def, sweeps.data(), sweeps.size(), answers.get(), &answers.list));
    }
    bp_status first_along_sweeps(View<Swept<D, T>> sweeps, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_first_along_sweeps(world_, def, sweeps.data(), sweeps.size(), answers.get(), &answers.list));
    }
    bp_status along_ball_sweeps(View<SweptBall<D, T>> sweeps, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_along_ball_sweeps(world_, def, sweeps.data(), sweeps.size(), answers.get(), &answers.list));
    }
    bp_status first_along_ball_sweeps(View<SweptBall<D, T>> sweeps, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_first_along_ball_sweeps(world_, def, sweeps.data(), sweeps.size(), answers.get(), &answers.list));
    }
    bp_status nearest_to(View<point_type> points, std::size_t k, double distance, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_nearest_to(world_, def, points.data(), points.size(), k, distance, answers.get(), &answers.list));
    }
    bp_status nearest_to_boxes(View<box_type> boxes, std::size_t k, double distance, Answers &answers, const bp_query_def *def = nullptr) {
        return done(bp_world_nearest_to_boxes(world_, def, boxes.data(), boxes.size(), k, distance, answers.get(), &answers.list));
    }

    // Bytes that belong to the world until its next snapshot.
    bp_status snapshot(View<std::uint8_t> &bytes) {
        const std::uint8_t *data = nullptr;
        std::size_t size = 0;
        const bp_status status = bp_world_snapshot(world_, &data, &size);
        bytes = {data, size};
        return done(status);
    }
    bp_status restore(View<std::uint8_t> bytes) { return done(bp_world_restore(world_, bytes.data(), bytes.size())); }

private:
    bp_status done(bp_status status) const {
#ifdef BROADPHASE_EXCEPTIONS
        if (status != BP_OK) {
            bp_error error = {};
            if (bp_world_last_error(world_, &error) != BP_OK) {
                error.status = status; // there is no world
            }
            detail::checked(error);
        }
#endif
        return status;
    }
    static bp_status mismatch() {
#ifdef BROADPHASE_EXCEPTIONS
        bp_error error = {};
        error.status = BP_COUNT_MISMATCH;
        detail::checked(error);
#endif
        return BP_COUNT_MISMATCH;
    }
    bp_status list(View<bp_pair_event> &events, bp_status (*call)(bp_world *, bp_event_list *)) {
        bp_event_list found = {};
        const bp_status status = call(world_, &found);
        events = {found.events, found.count};
        return done(status);
    }
    bp_status list(View<bp_id_pair> &pairs, bp_status (*call)(bp_world *, bp_id_pair_list *)) {
        bp_id_pair_list found = {};
        const bp_status status = call(world_, &found);
        pairs = {found.pairs, found.count};
        return done(status);
    }

    bp_world *world_ = nullptr;
};

using World2 = World<2, float>;
using World3 = World<3, float>;
using World2d = World<2, double>;
using World3d = World<3, double>;

} // namespace bp

inline bool operator==(bp_object_id x, bp_object_id y) { return bp::detail::same(x, y); }
inline bool operator!=(bp_object_id x, bp_object_id y) { return !bp::detail::same(x, y); }

#endif
