#pragma once
#include <cstddef>
#include <functional>

namespace kvsim::calibrate {

// Calls work(0) ... work(count - 1) on this thread and one more, each number once. The first
// exception stops both and is thrown again here. `done` (may be empty) is told on this thread how
// many are finished.
void on_two_threads(std::size_t count, const std::function<void(std::size_t)>& work,
                    const std::function<void(std::size_t done, std::size_t all)>& done = {});

}  // namespace kvsim::calibrate
