#include "kernels/bench/checks.h"

#include <algorithm>
#include <chrono>
#include <exception>

namespace kvsim::kernels::bench {
namespace {

constexpr int every_row = 1 << 30;

Check check_sampled(Problem& problem, std::size_t variant) {
  constexpr int few = 2, many = 64;
  constexpr double affordable_s = 0.1;
  const auto start = std::chrono::steady_clock::now();
  Check check = problem.check(variant, few);
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const int rows = std::min(many, static_cast<int>(few * affordable_s / std::max(s, 1e-4)));
  return check.passed() && rows > few ? problem.check(variant, rows) : check;
}

std::string reason_of(const Check& check) {
  if (!check.note.empty()) return check.note;
  if (!check.finite) return "an output is not finite or was never written";
  return "the error is above the gate";
}

}  // namespace

Result result_of(const Problem& problem, const VariantInfo& variant) {
  Result out;
  out.id = case_id(problem.info(), variant.name);
  out.info = problem.info();
  out.variant = variant;
  out.floor = problem.floor();
  return out;
}

std::string unsupported_reason(const VariantInfo& variant, const Device& device) {
  if (device.backend() == Backend::cpu)
    return variant.cpu ? "" : "this variant runs on the GPU only";
  const DeviceFacts& f = device.facts();
  if (f.cc_major * 10 + f.cc_minor >= variant.min_cc) return "";
  return "needs compute capability " + std::to_string(variant.min_cc / 10) + "." +
         std::to_string(variant.min_cc % 10);
}

void check_variant(Problem& problem, std::size_t variant, Device& device, Rows rows,
                   Result& result) {
  try {
    problem.poison(0);
    device.count_from_here();
    {
      const LaunchRecord record;
      problem.launch(variant, 0, device.stream());
      device.synchronize();
      result.launches = record.launches();
    }
    result.touched = device.touched();
    result.check =
        rows == Rows::all ? problem.check(variant, every_row) : check_sampled(problem, variant);
    if (result.check->passed()) return;
    result.reason = reason_of(*result.check);
    result.status = Status::failed;
  } catch (const Unsupported& error) {
    result.status = Status::unsupported, result.reason = error.what();
  } catch (const std::exception& error) {
    result.status = Status::failed, result.reason = error.what();
  }
}

std::vector<Result> check_cases(Problems cases, Device& device, const Selection& selection,
                                std::uint64_t seed, const Deadline& deadline) {
  std::vector<Result> out;
  for (auto& problem : cases) {
    const auto variants = problem->variants();
    bool prepared = false;
    for (std::size_t v = 0; v < variants.size(); ++v) {
      Result result = result_of(*problem, variants[v]);
      if (!selection.has(result.id)) continue;
      if (result.reason = unsupported_reason(variants[v], device); !result.reason.empty()) {
        result.status = Status::unsupported;
      } else if (deadline.over()) {
        result.status = Status::skipped_budget, result.reason = deadline.reason();
      } else {
        if (!std::exchange(prepared, true)) problem->prepare(device, 1, seed);
        check_variant(*problem, v, device, Rows::all, result);
      }
      out.push_back(std::move(result));
    }
    problem.reset();  // its arrays belong to the device
  }
  return out;
}

}  // namespace kvsim::kernels::bench
