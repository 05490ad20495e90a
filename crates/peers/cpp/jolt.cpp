// Jolt's quad tree behind four C functions, against the headers and the library of the crate joltc-sys. Boxes are f32, min then max,
// three values each.

#include <Jolt/Jolt.h>

#include <Jolt/Core/Memory.h>
#include <Jolt/Physics/Body/BodyCreationSettings.h>
#include <Jolt/Physics/Body/BodyManager.h>
#include <Jolt/Physics/Body/BodyPair.h>
#include <Jolt/Physics/Collision/BroadPhase/BroadPhaseQuadTree.h>
#include <Jolt/Physics/Collision/CollideShape.h>
#include <Jolt/Physics/Collision/Shape/ConvexShape.h>
#include <Jolt/RegisterTypes.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "shim.h"

namespace {

using namespace JPH;

// As many active bodies as the engine hands to one call.
constexpr uint32_t BATCH = 16;

// One layer: every object may meet every other.
struct OneLayer final : BroadPhaseLayerInterface {
    uint GetNumBroadPhaseLayers() const override { return 1; }
    BroadPhaseLayer GetBroadPhaseLayer(ObjectLayer) const override { return BroadPhaseLayer(0); }
    const char* GetBroadPhaseLayerName(BroadPhaseLayer) const override { return "objects"; }
};

// A shape whose bounds are the object's box to the last bit: those of Jolt's own shapes are computed from a center and rounded.
struct Given final : ConvexShape {
    AABox box;

    Given() : ConvexShape(EShapeSubType::User1) {}
    AABox GetLocalBounds() const override { return box; }
    AABox GetWorldSpaceBounds(Mat44Arg, Vec3Arg) const override { return box; }

    // Only bounds are ever asked for.
    float GetInnerRadius() const override { return 0; }
    MassProperties GetMassProperties() const override { return {}; }
    Vec3 GetSurfaceNormal(const SubShapeID&, Vec3Arg) const override { return Vec3::sAxisY(); }
    const Support* GetSupportFunction(ESupportMode, SupportBuffer&, Vec3Arg) const override { return nullptr; }
    void CollideSoftBodyVertices(Mat44Arg, Vec3Arg, SoftBodyVertex*, uint, float, Vec3Arg, int) const override {}
    void Draw(DebugRenderer*, RMat44Arg, Vec3Arg, ColorArg, bool, bool) const override {}
    Stats GetStats() const override { return Stats(sizeof(*this), 0); }
    float GetVolume() const override { return 0; }
};

struct Pairs final : BodyPairCollector {
    PairList* out = nullptr;
    void AddHit(const BodyPair& pair) override { out->push(pair.mBodyA.GetIndex(), pair.mBodyB.GetIndex()); }
};

// Declared in the order in which the parts need each other; destroyed in the opposite one.
struct World {
    OneLayer layer;
    BodyManager bodies;
    BroadPhaseQuadTree tree;
};

struct Jolt {
    std::unique_ptr<World> world;
    std::vector<Given*> shapes;    // of each object; its body owns it
    std::vector<uint8_t> awake;    // did the object's box change in the last frame?
    std::vector<BodyID> changed;   // in no order
    std::vector<BodyID> fallen;    // those that came to rest
    std::vector<Pair> resting;     // the pairs of the last frame

    static AABox bounds(const float* box) {
        return AABox(Vec3(box[0], box[1], box[2]), Vec3(box[3], box[4], box[5]));
    }

    void start(const float* boxes, uint32_t n) {
        stop();
        if (n == 0) {
            return;
        }
        if (n > BodyID::cMaxBodyIndex) {
            throw std::length_error("Jolt takes at most " + std::to_string(BodyID::cMaxBodyIndex) + " bodies");
        }
        world = std::make_unique<World>();
        world->bodies.Init(n, 0, world->layer);
        world->tree.Init(&world->bodies, world->layer);
        shapes.reserve(n);
        for (uint32_t i = 0; i < n; ++i) {
            add(boxes + size_t(i) * 6);
            changed.push_back(BodyID(i));
        }
        BroadPhase::AddState added = world->tree.AddBodiesPrepare(changed.data(), int(n));
        world->tree.AddBodiesFinalize(changed.data(), int(n), added);
        world->tree.Optimize();
        world->bodies.ActivateBodies(changed.data(), int(n));
        awake.assign(n, 1);
    }

    // The next body of the manager, whose index is then that of the object.
    void add(const float* box) {
        Given* shape = new Given();
        shape->box = bounds(box);
        shapes.push_back(shape);
        BodyCreationSettings settings(shape, RVec3::sZero(), Quat::sIdentity(), EMotionType::Dynamic, ObjectLayer(0));
        settings.mOverrideMassProperties = EOverrideMassProperties::MassAndInertiaProvided;
        settings.mMassPropertiesOverride.mMass = 1;
        settings.mMassPropertiesOverride.mInertia = Mat44::sIdentity();
        Body* body = world->bodies.AllocateBody(settings);
        if (!world->bodies.AddBody(body)) {
            world->bodies.FreeBody(body);
            throw std::length_error("Jolt has no more bodies");
        }
    }

    void update(const float* boxes, uint32_t n) {
        if (n != shapes.size() || !world) {
            start(boxes, n);
            return;
        }
        changed.clear();
        fallen.clear();
        for (uint32_t i = 0; i < n; ++i) {
            AABox box = bounds(boxes + size_t(i) * 6);
            bool moves = box != shapes[i]->box;
            if (moves) {
                shapes[i]->box = box;
                changed.push_back(BodyID(i));
                world->bodies.GetBodies()[i]->SetPositionAndRotationInternal(RVec3(box.GetCenter()), Quat::sIdentity(), false);
            } else if (awake[i]) {
                fallen.push_back(BodyID(i));
            }
            awake[i] = moves;
        }
        world->bodies.DeactivateBodies(fallen.data(), int(fallen.size()));
        world->bodies.ActivateBodies(changed.data(), int(changed.size()));
        maintain();
    }

    // Tells the tree what moved, and lets it rebuild what that loosened.
    void maintain() {
        BroadPhaseQuadTree& tree = world->tree;
        tree.FrameSync();
        tree.LockModifications();
        if (!changed.empty()) {
            tree.NotifyBodiesAABBChanged(changed.data(), int(changed.size()), false);
        }
        BroadPhase::UpdateState state = tree.UpdatePrepare();
        tree.UpdateFinalize(state);
        tree.UnlockModifications();
    }

    void detect(PairList* out) {
        // The engine searches for what is awake; the pairs of two sleepers are those of the frame before.
        for (Pair pair : resting) {
            if (!awake[pair.a] && !awake[pair.b]) {
                out->push(pair.a, pair.b);
            }
        }
        if (world) {
            search(out);
        }
        resting.assign(out->data, out->data + out->length);
    }

    void search(PairList* out) {
        Pairs pairs;
        pairs.out = out;
        ObjectVsBroadPhaseLayerFilter any_layer;
        ObjectLayerPairFilter any_pair;
        // No speculative distance: the last test of the search is then on the exact boxes.
        for (size_t at = 0; at < changed.size(); at += BATCH) {
            int count = int(std::min<size_t>(BATCH, changed.size() - at));
            world->tree.FindCollidingPairs(changed.data() + at, count, 0.0f, any_layer, any_pair, pairs);
        }
    }

    // Bodies and shapes, the nodes that the tree reserves for itself and its next build, and what this shim keeps.
    size_t bytes() const {
        size_t n = shapes.size(), leaves = (n + 1) / 2, nodes = 2 * (leaves + (leaves + 2) / 3);
        size_t object = sizeof(Body) + sizeof(MotionProperties) + sizeof(Given) + sizeof(Body*) + sizeof(BodyID) + sizeof(QuadTree::Tracking);
        size_t kept = n * (sizeof(Given*) + 1 + 2 * sizeof(BodyID)) + resting.capacity() * sizeof(Pair);
        return n * object + nodes * QuadTree::Allocator::ObjectStorageSize + kept;
    }

    void stop() {
        world.reset();
        shapes.clear();
        awake.clear();
        changed.clear();
        resting.clear();
    }
};

}  // namespace

extern "C" {

// Null if memory is out, or if the library was built with other options than this file.
Jolt* peers_jolt_new() noexcept {
    static const bool fits = [] {
        RegisterDefaultAllocator();
        return VerifyJoltVersionID();
    }();
    return fits ? new (std::nothrow) Jolt() : nullptr;
}

bool peers_jolt_update(Jolt* self, const float* boxes, uint32_t n, Message* message) noexcept {
    return guarded(message, [&] { self->update(boxes, n); });
}

bool peers_jolt_detect(Jolt* self, PairList* out, Message* message) noexcept {
    return guarded(message, [&] { self->detect(out); });
}

size_t peers_jolt_bytes(const Jolt* self) noexcept { return self->bytes(); }

void peers_jolt_free(Jolt* self) noexcept { delete self; }

}  // extern "C"
