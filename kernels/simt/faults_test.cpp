#include <doctest/doctest.h>

#include <cmath>

#include "kernels/simt/planted/faults.cuh"

using namespace kvsim::kernels;

namespace {

// The report of a run must hold all parts; "<0>" stands for the place that the kernel noted as 0.
// doctest shows the whole report where one is missing.
void check_reports(Lab& lab, void (*kernel)(LabArgs), const Lab::Shape& shape,
                   std::initializer_list<std::string> parts) {
  const std::string report = lab.run(kernel, shape);
  CAPTURE(report);
  for (std::string part : parts) {
    if (part.size() == 3 && part.front() == '<')
      part = lab.place(static_cast<std::size_t>(part[1] - '0'));
    CAPTURE(part);
    CHECK(report.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a barrier on two sides of a branch is reported with both lines") {
  Lab lab;
  check_reports(lab, cpu::divergent_barrier, {.threads = 128},
                {"block (0,0,0), thread 64", "thread 64 at", "while others wait at", "<0>", "<1>"});
}

TEST_CASE("a loop whose trip count differs between threads is reported at its barrier") {
  Lab lab;
  check_reports(lab, cpu::trip_counts, {.threads = 128},
                {"thread 0 exits while", "others wait at __syncthreads at", "<0>"});
}

TEST_CASE("a thread that exits before a barrier is reported whichever comes first") {
  Lab lab;
  check_reports(lab, cpu::early_exit, {.threads = 64, .choice = 5},
                {"thread 5 exits while 5 others wait at __syncthreads at", "<0>"});
  check_reports(lab, cpu::early_exit, {.threads = 64, .choice = 0},
                {"thread 1: waits at __syncthreads at", "<0>", "after 1 threads have exited"});
  CHECK(lab.run(cpu::early_exit, {.threads = 64, .choice = -1}).empty());
}

TEST_CASE("a shuffle that waits for an exited lane is a deadlock that names the lanes") {
  Lab lab;
  check_reports(lab, cpu::shuffle_without_lane, {},
                {"deadlock", "threads 0-6, 8-31 wait at shuffle at", "<0>", "mask 0xffffffff",
                 "threads 7 exited"});
}

TEST_CASE("halves of a warp at two shuffles with the full mask are a deadlock with both lines") {
  Lab lab;
  check_reports(
      lab, cpu::shuffle_at_two_places, {},
      {"deadlock", "threads 0-15 wait at shuffle", "threads 16-31 wait at shuffle", "<0>", "<1>"});
}

TEST_CASE("a shuffle from a lane outside the mask or the warp is reported") {
  Lab lab;
  check_reports(lab, cpu::shuffle_from_outside, {},
                {"thread 0", "shuffle from lane 20, which is not in the mask", "<0>"});
  check_reports(lab, cpu::shuffle_past_short_warp, {.threads = 40},
                {"thread 32", "shuffle from lane 20, which the short last warp lacks", "<0>"});
  check_reports(lab, cpu::mask_without_caller, {},
                {"thread 16", "__syncwarp at", "a mask that lacks the caller's own lane"});
}

TEST_CASE("a deadlock between a block barrier and a warp barrier names both groups") {
  Lab lab;
  check_reports(lab, cpu::block_barrier_against_warp, {},
                {"deadlock", "threads 3 wait at __syncwarp",
                 "threads 0-2, 4-31 wait at __syncthreads", "<0>", "<1>"});
}

TEST_CASE("named barriers that disagree or lack a warp are reported") {
  Lab lab;
  check_reports(lab, cpu::barrier_counts, {.threads = 128},
                {"barrier 1 for 128 threads at", "while others wait for 64", "<0>"});
  check_reports(lab, cpu::barrier_id, {.choice = 16}, {"ids are 1 to 15"});
  check_reports(lab, cpu::barrier_id, {.threads = 33, .choice = 1}, {"counts multiples of 32"});
  check_reports(lab, cpu::barrier_without_warp, {.threads = 64},
                {"deadlock", "threads 0-31 wait at named barrier", "threads 32-63 exited"});
}

TEST_CASE("a global address outside every buffer is reported with the distance") {
  Lab lab({.count_bytes = true});
  check_reports(
      lab, cpu::load_outside, {.choice = 4096},
      {"a load of 4 bytes at", "outside every buffer", "16384 bytes from the start", "<0>"});
  check_reports(lab, cpu::store_outside, {.choice = -1},
                {"a store of 4 bytes at", "outside every buffer", "<0>"});
  CHECK(lab.run(cpu::load_outside, {.choice = 4095}).empty());
}

TEST_CASE("copies and ldmatrix outside shared memory or off their alignment are reported") {
  Lab lab;
  check_reports(
      lab, cpu::copy_outside_shared, {.shared_bytes = 64, .choice = 4},
      {"cp.async of 16 bytes outside the block's shared memory", "64 bytes from its start", "<0>"});
  check_reports(lab, cpu::copy_outside_shared, {.shared_bytes = 64, .choice = -1},
                {"cp.async of 16 bytes outside", "-16 bytes from its start"});
  check_reports(lab, cpu::copy_misaligned, {.shared_bytes = 64, .choice = 1},
                {"cp.async of an address that is not aligned to 16 bytes", "<0>"});
  check_reports(lab, cpu::ldmatrix_misaligned, {.shared_bytes = 64},
                {"ldmatrix of a row that is not aligned to 16 bytes", "<0>"});
  for (const int what : {0, 1, 2})
    check_reports(lab, cpu::bulk_misaligned, {.threads = 1, .shared_bytes = 64, .choice = what},
                  {"bulk copy whose addresses or size are not multiples of 16", "faults.cuh:"});
}

TEST_CASE("shared memory that was not written or whose copy was not awaited reads as NaN") {
  Lab lab;
  CHECK(lab.run(cpu::unwritten_shared, {.shared_bytes = 128}).empty());
  CHECK(std::isnan(lab.out()[31]));
  const auto landed = [&lab](int choice) {
    CHECK(lab.run(cpu::copy_read_early, {.shared_bytes = 1024, .choice = choice}).empty());
    const std::vector<float> out = lab.out();
    return std::pair(!std::isnan(out[8]), !std::isnan(out[12]));
  };
  CHECK(landed(-1) == std::pair(false, false));
  CHECK(landed(1) == std::pair(true, false));
  CHECK(landed(0) == std::pair(true, true));
  CHECK(lab.out()[12] == 13);
}

TEST_CASE("mbarriers without initialisation or with too many or no arrivals are reported") {
  Lab lab;
  check_reports(lab, cpu::mbarrier_unset, {.shared_bytes = 8},
                {"an mbarrier that was not initialised is used at", "<0>"});
  check_reports(lab, cpu::mbarrier_arrivals, {.shared_bytes = 8},
                {"more arrivals than the mbarrier was initialised for at", "<0>"});
  check_reports(lab, cpu::mbarrier_never, {.shared_bytes = 8},
                {"deadlock", "threads 0-31 wait at mbarrier wait at", "<0>"});
}

TEST_CASE("a bulk copy that is read without a wait is poison and is reported at the end") {
  Lab lab;
  check_reports(lab, cpu::bulk_read_early, {.shared_bytes = 136},
                {"ends with 1 bulk copies for which nobody waited"});
  CHECK(std::isnan(lab.out()[0]));
  CHECK(lab.run(cpu::bulk_read_early, {.shared_bytes = 136, .choice = 1}).empty());
  CHECK(lab.out()[31] == 32);
}

TEST_CASE("a block of no thread or of more than 1024 is refused") {
  Lab lab;
  check_reports(lab, cpu::unwritten_shared, {.threads = 1025}, {"1025 threads per block"});
  check_reports(lab, cpu::unwritten_shared, {.threads = 0}, {"0 threads per block"});
  CHECK(lab.run(cpu::unwritten_shared, {.threads = 1024, .shared_bytes = 4096}).empty());
}

TEST_CASE("a device runs on after a fault") {
  Lab lab;
  CHECK(!lab.run(cpu::divergent_barrier, {.threads = 128}).empty());
  CHECK(lab.run(cpu::early_exit, {.threads = 128, .choice = -1}).empty());
}
