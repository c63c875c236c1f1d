#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/simt/collectives.h"
#include "kernels/simt/executor.h"
#include "kernels/simt/fiber.h"
#include "kernels/simt/lane.h"
#include "kernels/simt/stacks.h"

namespace kvsim::simt {

inline constexpr unsigned max_threads = 1024;

// Lanes of one warp on their way to the same collective.
struct Meeting {
  std::uint32_t mask = 0, arrived = 0;
  const Collective* collective = nullptr;
  Site site{};
  unsigned key = 0;
  std::array<void*, 32> data{};

  bool is_for(std::uint32_t lanes, const Collective& what, Site where) const;
};

struct Warp {
  std::uint32_t ready = 0, all = 0;
  unsigned turn = 0;  // the lane that runs first
  unsigned open = 0;  // meetings[0..open) are in use or free slots among them
  unsigned next_key = 0;
  std::array<char, 16> keys{};  // addresses for ThreadSanitizer
  std::array<Meeting, 32> meetings;
};

struct Barrier {
  unsigned arrived = 0, expected = 0;
  unsigned phase = 0;
  Site site{};
  std::array<std::uint32_t, max_threads / 32> lanes{};  // who waits, by warp
  std::array<char, 2> keys{};
};

struct Mbarrier {
  std::uint64_t* address = nullptr;
  unsigned arrivals = 0, pending = 0, parity = 0;
  std::int64_t bytes = 0;  // still to land in this phase
};

struct BulkCopy {
  void* shared;
  const void* global;
  unsigned bytes;
  std::uint64_t* bar;
  void* caller;  // in the kernel's code
};

// Runs the blocks of a launch one after the other on one OS thread. Under ThreadSanitizer a lane
// keeps its sanitizer fiber for its whole life, so a runner cannot see races between its own
// consecutive blocks: the executor alternates between two.
class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  struct Block {
    Index3 grid, index;
    unsigned threads, shared_bytes;
    Executor::Body body;
    const void* args;
    std::uint64_t seed;
    Accounting* accounting;
  };
  void run(const Block& block);  // throws Fault
  void acquire_results();        // the caller sees all that the lanes wrote
  std::uint64_t switches() const { return switches_; }

  // For the functions of collectives.h and async.h, on the fiber of `current`.
  void arrive_at_barrier(unsigned id, unsigned threads, Site site);
  void meet(std::uint32_t mask, const Collective& collective, Site site, void* data);
  void require_shared(const void* start, std::size_t bytes, const char* op, Site site);
  bool lands_early();  // may a copy that was just issued land at once?
  void init_mbarrier(std::uint64_t* bar, unsigned arrivals, Site site);
  void arrive_at_mbarrier(std::uint64_t* bar, unsigned arrivals, std::int64_t expect, Site site);
  void wait_at_mbarrier(std::uint64_t* bar, unsigned parity, Site site);
  void queue_bulk(const BulkCopy& copy, Site site);
  [[noreturn]] void fault(const std::string& report);
  [[noreturn]] void enter_lane();  // the body of a fiber

 private:
  void reset(const Block& block);
  void schedule();
  unsigned random(std::size_t below);
  void resume(Fiber& fiber);
  Meeting& open_meeting(Warp& warp, std::uint32_t mask, const Collective& collective, Site site,
                        unsigned lane);
  void wait_here(const char* op, Site site, std::uint32_t mask);
  void leave(Fiber& fiber);
  void make_ready(unsigned lane) { warps_[lane / 32].ready |= 1U << (lane % 32); }
  Fiber& next_ready(unsigned warp_index);
  void lane_done(Fiber& fiber);
  bool land_bulk_copies();
  void land(const BulkCopy& copy, void* sanitizer_fiber);
  void complete_phase(Mbarrier& bar);
  Mbarrier& mbarrier(std::uint64_t* bar, Site site);
  std::string deadlock_report() const;
  std::string where() const;  // "block (1,0,0)"

  Block block_{};
  unsigned char* arena_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::unique_ptr<Stacks> stacks_;
  std::vector<Warp> warps_;
  std::array<Barrier, 16> barriers_;
  std::vector<Mbarrier> mbarriers_;
  std::vector<BulkCopy> bulk_;
  Context scheduler_ = nullptr;
  void* home_fiber_ = nullptr;   // ThreadSanitizer's fiber of the OS thread
  void* janitor_ = nullptr;      // frees arenas: it alone has seen the end of the block
  void* copy_engine_ = nullptr;  // makes bulk copies
  char start_key_ = 0, end_key_ = 0, bulk_key_ = 0;
  unsigned live_ = 0, exited_ = 0;
  std::uint64_t draws_ = 0, switches_ = 0;
  bool faulted_ = false;
  std::string fault_;
};

inline constexpr const char* mbar_wait_op = "mbarrier wait";

// The fiber that runs.
inline Fiber& self() { return static_cast<Fiber&>(*current); }

}  // namespace kvsim::simt
