// What the two shims share with the Rust side: the pair, the growing list of pairs, and the error text.
// The layouts are those of src/cpp/list.rs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

struct Pair {
    uint32_t a;
    uint32_t b;
};

// A Rust vector that C++ appends to: pairs go straight to where the benchmark reads them.
struct PairList {
    Pair* data;
    size_t length;
    size_t capacity;
    void* vector;
    void (*grow)(PairList*);

    void push(uint32_t x, uint32_t y) {
        if (length == capacity) {
            grow(this);
        }
        data[length++] = x < y ? Pair{x, y} : Pair{y, x};
    }
};

// Two groups of objects, as of src/groups.rs. Pairs across are asked for, pairs within the second are not, pairs within the first are if the
// second is scenery.
struct Groups {
    std::vector<uint8_t> second;
    bool still = false;

    void set(const uint8_t* of, uint32_t n, bool is_still) {
        second.assign(of, of + n);
        still = is_still;
    }
    bool divides() const { return !second.empty(); }
    bool in_second(uint32_t id) const { return id < second.size() && second[id]; }
    bool within_first() const { return !divides() || still; }
};

struct Message {
    char text[128];
};

// Runs a call and turns an exception into a message: none may cross into Rust.
template <class Call>
bool guarded(Message* message, Call call) noexcept {
    try {
        call();
        return true;
    } catch (const std::exception& error) {
        std::snprintf(message->text, sizeof message->text, "%s", error.what());
    } catch (...) {
        std::snprintf(message->text, sizeof message->text, "an exception without a message");
    }
    return false;
}
