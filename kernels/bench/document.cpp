#include "kernels/bench/document.h"

#include <algorithm>

#include "kernels/bench/json_writer.h"

namespace kvsim::kernels::bench {
namespace {

void write_build(JsonWriter& w, const BuildFacts& b) {
  const auto text = [&w](std::string_view name, const std::string& value) {
    value.empty() ? w.key(name).null() : w.member(name, value);
  };
  w.key("build").begin_object();
  text("compiler", b.compiler), text("nvcc", b.nvcc), text("flags", b.flags), text("arch", b.arch);
  w.end_object();
}

void write_device(JsonWriter& w, const Document& d) {
  w.key("device").begin_object().member("name", d.device.name);
  if (d.backend == Backend::gpu) {
    const DeviceFacts& f = d.device;
    w.member("cc", std::to_string(f.cc_major) + "." + std::to_string(f.cc_minor));
    w.member("sms", f.sms).member("l2_bytes", f.l2_bytes).member("mem_bytes", f.memory_bytes);
    w.member("smem_optin", f.shared_optin).member("driver", f.driver).member("runtime", f.runtime);
    w.member("ecc", f.ecc).member("datasheet_gbs", d.datasheet_gbs);
  }
  w.end_object();
}

void write_ceilings(JsonWriter& w, const Ceilings& c) {
  w.key("ceilings").begin_object();
  w.member("read_gbs", c.read_gbs).member("write_gbs", c.write_gbs).member("copy_gbs", c.copy_gbs);
  w.member("memcpy_gbs", c.memcpy_gbs).member("h2d_gbs", c.h2d_gbs).member("d2h_gbs", c.d2h_gbs);
  w.member("both_gbs", c.both_gbs).member("bf16_tflops", c.bf16_tflops);
  w.member("launch_us", c.launch_us).member("graph_node_us", c.graph_node_us);
  w.member("l2_ns", c.l2_ns).member("hbm_ns", c.hbm_ns).end_object();
}

void write_case(JsonWriter& w, const Result& r) {
  const CaseInfo& info = r.info;
  w.member("id", r.id).member("kernel", info.kernel).member("variant", r.variant.name);
  w.key("dtype").begin_object();
  if (!info.q_dtype.empty()) w.member("q", info.q_dtype);
  if (!info.kv_dtype.empty()) w.member("kv", info.kv_dtype);
  if (!info.acc_dtype.empty()) w.member("acc", info.acc_dtype);
  w.end_object().key("shape").begin_object();
  for (const auto& [name, value] : info.shape)
    std::visit([&w, &name = name](const auto& v) { w.member(name, v); }, value);
  w.end_object();
  w.member("plan", r.variant.plan).member("baseline", r.variant.baseline);
  w.member("status", name_of(r.status));
  if (!r.reason.empty()) w.member("reason", r.reason);
}

void write_times(JsonWriter& w, const std::optional<Times>& times) {
  w.key("time_us");
  if (!times) {
    w.null();
    return;
  }
  w.begin_object().member("median", times->median).member("p10", times->p10);
  w.member("p90", times->p90).member("n", times->n);
  w.member("repeat_median", times->repeat_median).end_object();
}

void write_check(JsonWriter& w, const std::optional<Check>& check) {
  w.key("error");
  if (!check) {
    w.null();
    return;
  }
  w.begin_object().member("rel_l2", check->rel_l2).member("max_abs", check->max_abs);
  w.member("rows_checked", check->rows_checked).member("gate", check->gate);
  w.member("finite", check->finite).end_object();
}

template <class T>
void write_pair(JsonWriter& w, std::string_view name, const std::optional<T>& low,
                const std::optional<T>& high) {
  w.key(name);
  if (low && high)
    w.begin_array().value(*low).value(*high).end_array();
  else
    w.null();
}

void write_clocks(JsonWriter& w, const std::optional<Clocks>& c) {
  w.key("clocks");
  if (!c) {
    w.null();
    return;
  }
  w.begin_object();
  write_pair(w, "sm_mhz", c->sm_mhz_low, c->sm_mhz_high);
  write_pair(w, "mem_mhz", c->mem_mhz_low, c->mem_mhz_high);
  w.member("power_w", c->power_w).member("temp_c", c->temp_c).member("throttle", c->throttle);
  w.end_object();
}

// Registers and residency of the launch with the most registers: the main kernel, where a merge
// follows it.
void write_launches(JsonWriter& w, const std::vector<LaunchFacts>& launches) {
  const auto main = std::ranges::max_element(launches, {}, &LaunchFacts::registers);
  const bool known = main != launches.end() && main->registers > 0;
  const auto fact = [&](std::string_view name, int value) {
    known ? w.member(name, value) : w.key(name).null();
  };
  fact("regs", known ? main->registers : 0);
  if (main == launches.end())
    w.key("smem").null();
  else
    w.member("smem", std::ranges::max(launches, {}, &LaunchFacts::shared_bytes).shared_bytes);
  fact("ctas_per_sm", known ? main->blocks_per_sm : 0);
  w.member("launches", launches.size());
}

void write_result(JsonWriter& w, const Result& r, const Ceilings& ceilings) {
  const Rates rates = rates_of(r, ceilings);
  w.begin_object();
  write_case(w, r);
  write_times(w, r.time_us);
  w.member("bytes", r.floor.bytes).member("bytes_formula", r.floor.formula);
  w.member("flops", r.floor.flops).member("gbs", rates.gbs).member("tflops", rates.tflops);
  w.member("frac_copy_bw", rates.frac_copy_bw).member("frac_read_bw", rates.frac_read_bw);
  w.member("frac_floor", rates.frac_floor)
      .member("floor_us", rates.floor_us)
      .member("rotating_sets", r.sets);
  write_check(w, r.check);
  write_clocks(w, r.clocks);
  write_launches(w, r.launches);
  if (r.touched) {
    w.member("unique_read", r.touched->unique_read);
    w.member("unique_written", r.touched->unique_written);
  }
  w.end_object();
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::failed:
      return "failed";
    case Status::skipped_budget:
      return "skipped_budget";
    case Status::unsupported:
      return "unsupported";
  }
  return "";
}

bool Document::any_failed() const {
  return std::ranges::any_of(results, [](const Result& r) { return r.status == Status::failed; });
}

std::string to_json(const Document& d) {
  JsonWriter w;
  w.begin_object().member("schema", "kvsim.kvbench/1");
  w.member("started", d.started).member("seed", d.seed);
  d.build.git.empty() ? w.key("git").null() : w.member("git", d.build.git);
  write_build(w, d.build);
  write_device(w, d);
  write_ceilings(w, d.ceilings);
  w.key("results").begin_array();
  for (const Result& r : d.results) write_result(w, r, d.ceilings);
  w.end_array().key("notes").begin_array();
  for (const std::string& note : d.notes) w.value(note);
  return w.end_array().end_object().take();
}

}  // namespace kvsim::kernels::bench
