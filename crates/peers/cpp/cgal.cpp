// CGAL's box intersection behind C functions, one set for each dimension and scalar.

#include <CGAL/box_intersection_d.h>

#include <new>
#include <vector>

#include "shim.h"

namespace {

// A box by value, with its object: the algorithm sorts and partitions boxes, so an address would not name one.
template <class T, int D>
struct Box {
    T min[D];
    T max[D];
    uint32_t id;
};

// The customization point that CGAL documents for one's own box type.
template <class T, int D>
struct Traits {
    typedef Box<T, D> Box_parameter;
    typedef T NT;
    typedef uint32_t ID;
    static int dimension() { return D; }
    static ID id(const Box_parameter& box) { return box.id; }
    static NT min_coord(const Box_parameter& box, int k) { return box.min[k]; }
    static NT max_coord(const Box_parameter& box, int k) { return box.max[k]; }
};

template <class T, int D>
struct Cgal {
    std::ptrdiff_t cutoff;
    std::vector<Box<T, D>> boxes;
    // The second group.
    std::vector<Box<T, D>> others;
    Groups groups;

    void update(const T* from, uint32_t n) {
        boxes.clear();
        others.clear();
        boxes.reserve(n);
        for (uint32_t i = 0; i < n; ++i) {
            Box<T, D> box;
            for (int k = 0; k < D; ++k) {
                box.min[k] = from[k];
                box.max[k] = from[D + k];
            }
            box.id = i;
            (groups.in_second(i) ? others : boxes).push_back(box);
            from += 2 * D;
        }
    }

    void detect(PairList* out) {
        auto report = [out](const Box<T, D>& a, const Box<T, D>& b) { out->push(a.id, b.id); };
        if (groups.within_first()) {
            CGAL::box_self_intersection_d(boxes.begin(), boxes.end(), report, Traits<T, D>(), cutoff,
                                          CGAL::Box_intersection_d::CLOSED);
        }
        if (groups.divides()) {
            CGAL::box_intersection_d(boxes.begin(), boxes.end(), others.begin(), others.end(), report, Traits<T, D>(), cutoff,
                                     CGAL::Box_intersection_d::CLOSED, CGAL::Box_intersection_d::BIPARTITE);
        }
    }

    // The boxes; the copy that the call makes of them is freed before it returns.
    size_t bytes() const { return (boxes.capacity() + others.capacity()) * sizeof(Box<T, D>); }
};

}  // namespace

#define CGAL_PEER(NAME, T, D)                                                                                  \
    extern "C" {                                                                                               \
    void* peers_cgal_##NAME##_new(std::ptrdiff_t cutoff) noexcept {                                            \
        return new (std::nothrow) Cgal<T, D>{cutoff, {}, {}, {}};                                                    \
    }                                                                                                          \
    bool peers_cgal_##NAME##_groups(void* self, const uint8_t* second, uint32_t n, bool still, Message* message) noexcept { \
        return guarded(message, [&] { static_cast<Cgal<T, D>*>(self)->groups.set(second, n, still); });        \
    }                                                                                                          \
    bool peers_cgal_##NAME##_update(void* self, const T* boxes, uint32_t n, Message* message) noexcept {       \
        return guarded(message, [&] { static_cast<Cgal<T, D>*>(self)->update(boxes, n); });                    \
    }                                                                                                          \
    bool peers_cgal_##NAME##_detect(void* self, PairList* out, Message* message) noexcept {                    \
        return guarded(message, [&] { static_cast<Cgal<T, D>*>(self)->detect(out); });                         \
    }                                                                                                          \
    size_t peers_cgal_##NAME##_bytes(const void* self) noexcept {                                              \
        return static_cast<const Cgal<T, D>*>(self)->bytes();                                                  \
    }                                                                                                          \
    void peers_cgal_##NAME##_free(void* self) noexcept { delete static_cast<Cgal<T, D>*>(self); }              \
    }

CGAL_PEER(2f, float, 2)
CGAL_PEER(2d, double, 2)
CGAL_PEER(3f, float, 3)
CGAL_PEER(3d, double, 3)
