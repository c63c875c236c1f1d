#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/simt/collectives.h"
#include "kernels/simt/executor.h"
#include "kernels/simt/lane.h"
#include "kernels/simt/stacks.h"

namespace kvsim::simt {

// What a lane waits for, for reports.
struct Waiting {
  const char* op = nullptr;  // null: it runs or is done
  Site site{};
  std::uint32_t mask = 0;
};

struct PendingCopy {
  void* shared;
  const void* global;  // null: zeros
};

// The fiber of one thread of the block.
struct Fiber {
  Lane lane;
  void* context = nullptr;
  void* tsan_fiber = nullptr;
  bool done = false;
  Waiting waiting;
  std::vector<PendingCopy> copies;  // issued by cp.async, in order; [0, landed) are done
  std::vector<std::size_t>
      groups;  // where each committed group ends in `copies`; [0, waited) are done
  std::size_t landed = 0, waited = 0;
};

// Lanes of one warp on their way to the same collective.
struct Meeting {
  std::uint32_t mask = 0, arrived = 0;
  const char* op = nullptr;
  Site site{};
  unsigned key = 0;
  std::array<void*, 32> data{};
};

struct Warp {
  std::uint32_t ready = 0, done = 0, all = 0;
  std::array<Meeting, 32> meetings;
  unsigned open = 0;  // meetings[0..open) are in use or free slots among them
  unsigned next_key = 0;
  std::array<char, 16> keys{};  // addresses for ThreadSanitizer
};

struct Barrier {
  unsigned arrived = 0, expected = 0;
  unsigned phase = 0;
  Site site{};
  std::vector<unsigned> lanes;
  std::array<char, 2> keys{};
};

struct Mbarrier {
  std::uint64_t* address = nullptr;
  unsigned arrivals = 0, pending = 0, parity = 0;
  std::int64_t bytes = 0;  // still to land in this phase
};

inline constexpr const char* mbar_wait_op = "mbarrier wait";

struct BulkCopy {
  void* shared;
  const void* global;
  unsigned bytes;
  std::uint64_t* bar;
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
  void meet(std::uint32_t mask, const char* op, Site site, void* data, Combine combine,
            bool orders_memory);
  Fiber& fiber(unsigned lane) { return *fibers_[lane]; }
  void init_mbarrier(std::uint64_t* bar, unsigned arrivals);
  void arrive_at_mbarrier(std::uint64_t* bar, unsigned arrivals, std::int64_t expect, Site site);
  void wait_at_mbarrier(std::uint64_t* bar, unsigned parity, Site site);
  void queue_bulk(const BulkCopy& copy);
  [[noreturn]] void fault(const std::string& report);
  void enter_lane(void* scheduler);  // the body of a fiber

 private:
  void reset(const Block& block);
  void schedule();
  void resume(unsigned lane);
  void wait_here(const char* op, Site site, std::uint32_t mask);
  void make_ready(unsigned lane) { warps_[lane / 32].ready |= 1U << (lane % 32); }
  void lane_done(unsigned lane);
  bool land_bulk_copies();
  void complete_phase(Mbarrier& bar);
  Mbarrier& mbarrier(std::uint64_t* bar, Site site);
  std::string deadlock_report() const;
  std::string where() const;  // "block (1,0,0)"

  Block block_{};
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::unique_ptr<Stacks> stacks_;
  std::vector<Warp> warps_;
  std::array<Barrier, 16> barriers_;
  std::vector<Mbarrier> mbarriers_;
  std::vector<BulkCopy> bulk_;
  void* scheduler_ = nullptr;
  void* home_fiber_ = nullptr;   // ThreadSanitizer's fiber of the OS thread
  void* janitor_ = nullptr;      // frees arenas: it alone has seen the end of the block
  void* copy_engine_ = nullptr;  // makes bulk copies
  char start_key_ = 0, end_key_ = 0, bulk_key_ = 0;
  unsigned live_ = 0, exited_ = 0;
  std::uint64_t switches_ = 0;
  std::string fault_;
};

}  // namespace kvsim::simt
