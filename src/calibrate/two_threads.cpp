#include "calibrate/two_threads.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace kvsim::calibrate {

void on_two_threads(std::size_t count, const std::function<void(std::size_t)>& work,
                    const std::function<void(std::size_t, std::size_t)>& done) {
  std::atomic<std::size_t> next{0}, finished{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto run = [&](bool reports) {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        work(i);
        ++finished;
        if (reports && done) done(finished, count);
      }
    } catch (...) {
      const std::scoped_lock lock(guard);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::jthread other([&] { run(false); });
    run(true);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kvsim::calibrate
