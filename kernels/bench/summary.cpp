#include "kernels/bench/summary.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace kvsim::kernels::bench {
namespace {

[[gnu::format(printf, 1, 2)]] std::string print(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

std::string number(const char* format, const std::optional<double>& value) {
  if (!value) return "-";
  char text[32];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

std::optional<double> percent(const std::optional<double>& fraction) {
  if (!fraction) return std::nullopt;
  return 100 * *fraction;
}

std::string row(const std::string& id, const std::string& us, const std::string& gbs,
                const std::string& copy, const std::string& read, const std::string& floor,
                const std::string& error) {
  return print("%-64s %10s %8s %6s %6s %6s %9s", id.c_str(), us.c_str(), gbs.c_str(), copy.c_str(),
               read.c_str(), floor.c_str(), error.c_str());
}

// Under the executor: bytes where times would be, and their share of the floor.
std::string touched_row(const Result& r, const std::string& error) {
  const auto bytes = static_cast<double>(r.touched->unique_read + r.touched->unique_written);
  const std::string share = r.floor.bytes > 0 ? print("%.3f", bytes / r.floor.bytes) : "-";
  return print("%-64s %14.0f %8s %9s", r.id.c_str(), bytes, share.c_str(), error.c_str());
}

std::string ceilings_text(const Ceilings& c) {
  return print("read %s, write %s, copy %s, memcpy %s GB/s; to GPU %s, to host %s, both %s GB/s\n",
               number("%.0f", c.read_gbs).c_str(), number("%.0f", c.write_gbs).c_str(),
               number("%.0f", c.copy_gbs).c_str(), number("%.0f", c.memcpy_gbs).c_str(),
               number("%.1f", c.h2d_gbs).c_str(), number("%.1f", c.d2h_gbs).c_str(),
               number("%.1f", c.both_gbs).c_str()) +
         print("bf16 %s TFLOP/s; launch %s us, graph node %s us; L2 %s ns, memory %s ns\n",
               number("%.0f", c.bf16_tflops).c_str(), number("%.2f", c.launch_us).c_str(),
               number("%.2f", c.graph_node_us).c_str(), number("%.0f", c.l2_ns).c_str(),
               number("%.0f", c.hbm_ns).c_str());
}

// Words of `gpu list` that stand in for the device's own name.
std::string catalog_word(const std::string& name) {
  const std::pair<std::string_view, std::string_view> words[] = {
      {"H200 NVL", "h200-nvl"},   {"H200", "h200-sxm"}, {"H100 NVL", "h100-nvl"},
      {"H100 PCIe", "h100-pcie"}, {"H100", "h100-sxm"}, {"A100-SXM4-80", "a100-sxm-80g"},
      {"B200", "b200-sxm"}};
  for (const auto& [part, word] : words)
    if (name.find(part) != name.npos) return std::string(word);
  return "GPU";
}

std::string verdict(const Document& d) {
  const auto failed = std::ranges::count(d.results, Status::failed, &Result::status);
  if (failed == 0 && d.not_reached == 0) return "all checks passed";
  return (failed == 0 ? "nothing" : std::to_string(failed)) + " failed, " +
         std::to_string(d.not_reached) + " not reached";
}

std::string next_step(const Document& d, const Options& options) {
  const std::string file = options.output.empty() ? "kvbench.json" : options.output;
  if (d.any_failed()) return "next: kvbench --filter ID --check-only, with the id of a failed case";
  if (d.backend == Backend::cpu)
    return "next: kernels/gpu_check.sh on a machine with a GPU, for times";
  return "next: kvsim calibrate " + file + " --gpu " + catalog_word(d.device.name) +
         " -o measured.json";
}

}  // namespace

std::string one_line(const Result& r, const Ceilings& ceilings) {
  const std::string error = r.check ? number("%.2e", r.check->rel_l2) : "-";
  if (r.status != Status::ok)
    return row(r.id, std::string(name_of(r.status)), "", "", "", "", error) + "  " + r.reason;
  const Rates rates = rates_of(r, ceilings);
  if (r.touched) return touched_row(r, error);
  const std::optional<double> us =
      r.time_us ? std::optional(r.time_us->median) : std::optional<double>();
  return row(r.id, number("%.2f", us), number("%.0f", rates.gbs),
             number("%.1f", percent(rates.frac_copy_bw)),
             number("%.1f", percent(rates.frac_read_bw)), number("%.1f", percent(rates.frac_floor)),
             error);
}

std::string summary(const Document& d, const Options& options) {
  std::string out = "\n" + d.device.name + "\n";
  if (d.backend == Backend::gpu) out += ceilings_text(d.ceilings);
  out += d.backend == Backend::cpu
             ? print("%-64s %14s %8s %9s\n", "case", "unique bytes", "of floor", "error")
             : row("case", "us", "GB/s", "%copy", "%read", "%floor", "error") + "\n";
  for (const Result& r : d.results) out += one_line(r, d.ceilings) + "\n";
  const auto count = [&d](Status s) {
    return static_cast<int>(std::ranges::count(d.results, s, &Result::status));
  };
  out += print("%d ok, %d failed, %d skipped for time, %d unsupported\n", count(Status::ok),
               count(Status::failed), count(Status::skipped_budget), count(Status::unsupported));
  for (const std::string& note : d.notes) out += note + "\n";
  return out + verdict(d) + "; " + next_step(d, options) + "\n";
}

}  // namespace kvsim::kernels::bench
