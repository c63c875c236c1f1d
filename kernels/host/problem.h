#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/host/device.h"

namespace kvsim::kernels {

// The least a kernel must do: bytes of global memory read once and written once (scales, tables and
// outputs included), and operations. `formula` says how the bytes come about, in the shape's names.
struct Floor {
  double bytes = 0, flops = 0;
  std::string formula;
};

// The output of a launch against a reference in double.
struct Check {
  double rel_l2 = 0, max_abs = 0;
  int rows_checked = 0;
  double gate = 0;        // rel_l2 above it fails
  bool finite = true;     // false: NaN, infinity or an element that was never written
  std::string note = {};  // "" or what went wrong beyond the figures
  bool passed() const { return finite && rel_l2 <= gate && note.empty(); }
};

using ShapeValue = std::variant<std::int64_t, std::string>;

// What a case is, for its id and its entry in the results.
struct CaseInfo {
  std::string kernel;  // decode_paged, mla_decode, prefill, ...
  std::string q_dtype, kv_dtype, acc_dtype = "f32";
  std::vector<std::pair<std::string, ShapeValue>> shape;  // B, L, Hq, Hkv, D, page, ... in order
};

struct VariantInfo {
  std::string name;       // simt, mma_cpasync3, ...
  int min_cc = 80;        // compute capability times ten
  bool cpu = true;        // runs under the executor
  bool baseline = false;  // naive: checked, timed for the ladder, no target
  std::string plan = {};  // "" or the choices the host made, "splits=8"
  int kernels = 1;        // launches of one run
};

// One kernel at one shape: owns its inputs and outputs, knows its floor and its reference.
// prepare() once, then launch() and check() as often as wanted. Inputs come from noise.h and the
// seed, so that check() can recompute what it needs.
class Problem {
 public:
  virtual ~Problem() = default;
  virtual const CaseInfo& info() const = 0;
  virtual Floor floor() const = 0;
  virtual std::vector<VariantInfo> variants() const = 0;

  // Bytes of one set of inputs and outputs in device memory.
  virtual double set_bytes() const = 0;
  // `sets` independent copies of inputs and outputs (timing rotates through them).
  virtual void prepare(Device& device, int sets, std::uint64_t seed) = 0;
  // Fills the outputs of a set with 0xff bytes, so that what is not written is NaN.
  virtual void poison(int set) = 0;
  // Throws LaunchError, and Unsupported where the variant cannot run on this machine.
  virtual void launch(std::size_t variant, int set, Stream stream) = 0;
  // Compares the outputs of set 0 after launch(variant, 0); at most `max_rows` rows, chosen by
  // seed.
  virtual Check check(std::size_t variant, int max_rows) = 0;
};

using Problems = std::vector<std::unique_ptr<Problem>>;

// A kernel family: its cases for the edge tests (small, every edge shape), for a quick pass through
// everything (a few seconds under the executor) and for the timed matrix, most wanted first.
struct Family {
  std::string_view name, summary;
  Problems (*edge_cases)();
  Problems (*quick_cases)();
  Problems (*bench_cases)();
};

// One row per folder with kernels; see families.cpp.
std::span<const Family> families();

// "decode_paged/mma/bf16/B8/L8192/Hq32/Hkv8/D128/page16"; without the variant when it is empty.
std::string case_id(const CaseInfo& info, std::string_view variant);

}  // namespace kvsim::kernels
