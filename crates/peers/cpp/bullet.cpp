// Bullet's broad phases behind four C functions. Boxes are f32, min then max, `dim` values each; in 2D, z is 0.

#include <BulletCollision/BroadphaseCollision/btAxisSweep3.h>
#include <BulletCollision/BroadphaseCollision/btDbvtBroadphase.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "shim.h"

namespace {

enum Kind : int32_t { DBVT_F = 0, DBVT_D = 1, AXIS_SWEEP = 2 };

struct Bullet {
    Kind kind;
    uint32_t dim;
    std::unique_ptr<btBroadphaseInterface> broadphase;
    std::vector<btBroadphaseProxy*> proxies;
    Groups groups;

    btVector3 low(const float* box) const { return btVector3(box[0], box[1], dim == 3 ? box[2] : 0.0f); }
    btVector3 high(const float* box) const { return low(box + dim); }

    // The finite part of the first frame plus a tenth, which the sweep needs to know beforehand.
    std::pair<btVector3, btVector3> world(const float* boxes, uint32_t n) const {
        float least[3] = {0, 0, 0}, most[3] = {0, 0, 0};
        for (uint32_t k = 0; k < dim; ++k) {
            least[k] = std::numeric_limits<float>::max();
            most[k] = -least[k];
            for (uint32_t i = 0; i < n; ++i) {
                const float* box = boxes + size_t(i) * 2 * dim;
                for (float x : {box[k], box[dim + k]}) {
                    if (std::isfinite(x)) {
                        least[k] = std::min(least[k], x);
                        most[k] = std::max(most[k], x);
                    }
                }
            }
        }
        for (int k = 0; k < 3; ++k) {
            float margin = most[k] > least[k] ? (most[k] - least[k]) * 0.1f : 1.0f;
            least[k] -= margin;
            most[k] += margin;
        }
        return {btVector3(least[0], least[1], least[2]), btVector3(most[0], most[1], most[2])};
    }

    void start(const float* boxes, uint32_t n) {
        proxies.clear();
        if (kind == AXIS_SWEEP) {
            auto bounds = world(boxes, n);
            // Without the tree that the sweep keeps beside itself for ray casts: nobody casts a ray here.
            broadphase.reset(new bt32BitAxisSweep3(bounds.first, bounds.second, std::max(n, 1u), nullptr, true));
        } else {
            auto tree = new btDbvtBroadphase();
            tree->m_deferedcollide = kind == DBVT_D;
            broadphase.reset(tree);
        }
        proxies.reserve(n);
        for (uint32_t i = 0; i < n; ++i) {
            const float* box = boxes + size_t(i) * 2 * dim;
            void* id = reinterpret_cast<void*>(uintptr_t(i));
            int group = groups.in_second(i) ? 2 : 1;
            int mask = !groups.divides() ? -1 : group == 2 ? 1 : groups.still ? -1 : 2;
            proxies.push_back(broadphase->createProxy(low(box), high(box), 0, id, group, mask, nullptr));
        }
    }

    void update(const float* boxes, uint32_t n) {
        if (!broadphase || n != proxies.size()) {
            stop();
            start(boxes, n);
            return;
        }
        for (uint32_t i = 0; i < n; ++i) {
            const float* box = boxes + size_t(i) * 2 * dim;
            btVector3 min = low(box), max = high(box);
            btBroadphaseProxy* proxy = proxies[i];
            // An object at rest is not told, as with setForceUpdateAllAabbs(false): the tree may then move it to its fixed half.
            if (min != proxy->m_aabbMin || max != proxy->m_aabbMax) {
                broadphase->setAabb(proxy, min, max, nullptr);
            }
        }
    }

    void detect(const float* boxes, PairList* out) {
        broadphase->calculateOverlappingPairs(nullptr);
        const btBroadphasePairArray& pairs = broadphase->getOverlappingPairCache()->getOverlappingPairArray();
        // The cache holds pairs of fat boxes, and for some frames pairs that parted.
        for (int p = 0; p < pairs.size(); ++p) {
            uint32_t a = uint32_t(reinterpret_cast<uintptr_t>(pairs[p].m_pProxy0->m_clientObject));
            uint32_t b = uint32_t(reinterpret_cast<uintptr_t>(pairs[p].m_pProxy1->m_clientObject));
            if (overlap(boxes + size_t(a) * 2 * dim, boxes + size_t(b) * 2 * dim)) {
                out->push(a, b);
            }
        }
    }

    bool overlap(const float* a, const float* b) const {
        bool all = true;
        for (uint32_t k = 0; k < dim; ++k) {
            all &= (a[k] <= b[dim + k]) & (b[k] <= a[dim + k]);
        }
        return all;
    }

    // Objects, nodes or edges, and the pair cache with its two index tables; what the allocator adds is not known.
    size_t bytes() const {
        if (!broadphase) {
            return 0;
        }
        size_t n = proxies.size();
        size_t pairs = size_t(broadphase->getOverlappingPairCache()->getOverlappingPairArray().capacity());
        size_t cache = pairs * (sizeof(btBroadphasePair) + 2 * sizeof(int));
        typedef btAxisSweep3Internal<unsigned int> Sweep;
        size_t object = kind == AXIS_SWEEP ? sizeof(Sweep::Handle) + 6 * sizeof(Sweep::Edge)
                                           : sizeof(btDbvtProxy) + 2 * sizeof(btDbvtNode);
        return n * (object + sizeof(btBroadphaseProxy*)) + cache;
    }

    // A tree does not own its proxies, and its destroyProxy scans all pairs for each: they are freed behind its back.
    void stop() {
        broadphase.reset();
        if (kind != AXIS_SWEEP) {
            for (btBroadphaseProxy* proxy : proxies) {
                btAlignedFree(proxy);
            }
        }
        proxies.clear();
    }
};

}  // namespace

extern "C" {

Bullet* peers_bullet_new(int32_t kind, uint32_t dim) noexcept { return new (std::nothrow) Bullet{Kind(kind), dim, nullptr, {}, {}}; }

bool peers_bullet_groups(Bullet* self, const uint8_t* second, uint32_t n, bool still, Message* message) noexcept {
    return guarded(message, [&] { self->groups.set(second, n, still); });
}

bool peers_bullet_update(Bullet* self, const float* boxes, uint32_t n, Message* message) noexcept {
    return guarded(message, [&] { self->update(boxes, n); });
}

bool peers_bullet_detect(Bullet* self, const float* boxes, PairList* out, Message* message) noexcept {
    return guarded(message, [&] { self->detect(boxes, out); });
}

size_t peers_bullet_bytes(const Bullet* self) noexcept { return self->bytes(); }

void peers_bullet_free(Bullet* self) noexcept {
    Message ignored;
    guarded(&ignored, [&] { self->stop(); });
    delete self;
}

}  // extern "C"
