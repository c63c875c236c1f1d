#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/launch_record.h"
#include "kernels/host/problem.h"

// A document of schema kvsim.kvbench/1 (docs/schema/kvbench.json).
namespace kvsim::kernels::bench {

// Microseconds of one launch: of `n` replays of a graph of many launches.
struct Times {
  double median = 0, p10 = 0, p90 = 0;
  int n = 0;
  std::optional<double> repeat_median = {};  // of a second, later run
};

// The card while a case ran, least and most of the samples; absent what NVML does not tell.
struct Clocks {
  std::optional<unsigned> sm_mhz_low, sm_mhz_high, mem_mhz_low, mem_mhz_high;
  std::optional<double> power_w;
  std::optional<unsigned> temp_c;
  std::uint64_t throttle = 0;  // NVML's reasons, or-ed
};

// What this machine can do at best; absent what was not measured. GB/s are 1e9 bytes per second.
struct Ceilings {
  using Figure = std::optional<double>;
  Figure read_gbs = {}, write_gbs = {}, copy_gbs = {}, memcpy_gbs = {};
  Figure h2d_gbs = {}, d2h_gbs = {}, both_gbs = {};
  Figure bf16_tflops = {}, launch_us = {}, graph_node_us = {}, l2_ns = {}, hbm_ns = {};
};

enum class Status { ok, failed, skipped_budget, unsupported };
std::string_view name_of(Status status);

struct Result {
  std::string id;
  CaseInfo info;
  VariantInfo variant;
  Status status = Status::ok;
  std::string reason;  // why it is not ok, or how its time departed from the protocol
  Floor floor;
  int sets = 1;  // that timing rotated through
  std::optional<Times> time_us;
  std::optional<Check> check;
  std::optional<Clocks> clocks;
  std::vector<LaunchFacts> launches;  // of one run
  std::optional<Touched> touched;
};

struct BuildFacts {
  std::string compiler, nvcc, flags, arch, git;  // "" = none
};

struct Document {
  std::string started;  // RFC 3339
  std::uint64_t seed = 1;
  BuildFacts build;
  Backend backend = Backend::cpu;
  DeviceFacts device;
  std::optional<double> datasheet_gbs;
  Ceilings ceilings;
  std::vector<Result> results;
  std::size_t not_reached = 0;  // cases that the budget or an interrupt cut off
  std::vector<std::string> notes;

  bool any_failed() const;
};

// What follows from a result's time and the ceilings; absent without a time.
struct Rates {
  std::optional<double> gbs, tflops, frac_copy_bw, frac_read_bw, floor_us, frac_floor;
};
Rates rates_of(const Result& result, const Ceilings& ceilings);

std::string to_json(const Document& document);

}  // namespace kvsim::kernels::bench
