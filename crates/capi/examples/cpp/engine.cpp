// A small engine: its own threads run the jobs of the broad phase, and contacts are kept from the events that start and end them.
//
//     c++ -std=c++17 engine.cpp $(pkg-config --cflags --libs broadphase) -pthread && ./a.out
#include <broadphase.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

// The engine's pool: workers wait for a task, the calling thread is worker 0.
class Pool {
public:
    explicit Pool(unsigned workers) {
        for (unsigned worker = 1; worker < workers; worker++) {
            threads_.emplace_back([this, worker] { serve(worker); });
        }
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            quit_ = true;
        }
        wake_.notify_all();
        for (std::thread &thread : threads_) {
            thread.join();
        }
    }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    // What the library calls.
    static void run(void *pool, std::uint32_t workers, bp_task task, void *context) { static_cast<Pool *>(pool)->run(workers, task, context); }

    bp_executor executor() { return {&Pool::run, this, static_cast<std::uint32_t>(threads_.size() + 1)}; }
    long regions() const { return regions_; }

private:
    void run(std::uint32_t workers, bp_task task, void *context) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            task_ = task;
            context_ = context;
            workers_ = workers;
            running_ = workers - 1;
            round_++;
            regions_++;
        }
        wake_.notify_all();
        task(context, 0);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return running_ == 0; });
    }

    void serve(unsigned worker) {
        unsigned long seen = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return quit_ || round_ != seen; });
            if (quit_) {
                return;
            }
            seen = round_;
            if (worker >= workers_) {
                continue;
            }
            const bp_task task = task_;
            void *const context = context_;
            lock.unlock();
            task(context, worker);
            lock.lock();
            if (--running_ == 0) {
                done_.notify_one();
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> threads_;
    bp_task task_ = nullptr;
    void *context_ = nullptr;
    std::uint32_t workers_ = 0, running_ = 0;
    unsigned long round_ = 0;
    long regions_ = 0;
    bool quit_ = false;
};

void check(const bp::World3 &world, bp_status status) {
    if (status != BP_OK) {
        std::fprintf(stderr, "%s: %s\n", bp_status_name(status), world.last_error().text);
        std::exit(1);
    }
}

} // namespace

int main() {
    Pool pool(std::max(2u, std::thread::hardware_concurrency()));
    bp_world_def def = bp_default_world_def();
    def.executor = pool.executor();
    bp::World3 world;
    if (world.create(def) != BP_OK) {
        return 1;
    }

    constexpr std::size_t count = 20000;
    std::mt19937 random(7);
    std::uniform_real_distribution<float> place(0, 100), speed(-0.2f, 0.2f);
    std::vector<bp::Box<3, float>> boxes(count);
    std::vector<bp::Point<3, float>> velocities(count);
    for (std::size_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            boxes[i].min[k] = place(random);
            boxes[i].max[k] = boxes[i].min[k] + 2;
            velocities[i].at[k] = speed(random);
        }
    }
    std::vector<bp_object_id> ids(count);
    check(world, world.insert(boxes, ids.data()));

    // Contacts by the indices of their objects, with their age.
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> contacts;
    for (int frame = 0; frame < 20; frame++) {
        bp_update update;
        check(world, world.update(update));
        for (std::size_t i = 0; i < update.started_count; i++) {
            contacts[{update.started[i].a.index, update.started[i].b.index}] = 0;
        }
        for (std::size_t i = 0; i < update.ended_count; i++) {
            contacts.erase({update.ended[i].a.index, update.ended[i].b.index});
        }
        for (auto &contact : contacts) {
            contact.second++;
        }
        if (contacts.size() != update.pair_count) {
            std::fprintf(stderr, "frame %d: %zu contacts, but %llu pairs\n", frame, contacts.size(),
                         static_cast<unsigned long long>(update.pair_count));
            return 1;
        }
        for (std::size_t i = 0; i < count; i++) {
            for (int k = 0; k < 3; k++) {
                boxes[i].min[k] += velocities[i].at[k];
                boxes[i].max[k] += velocities[i].at[k];
            }
        }
        check(world, world.set_boxes(boxes));
    }
    check(world, world.validate(true));
    std::printf("%zu contacts after 20 frames of %zu boxes; the engine's threads ran %s\n", contacts.size(), count,
                pool.regions() > 0 ? "jobs" : "nothing");
    return pool.regions() > 0 ? 0 : 1;
}
