#include "calibrate/measurements/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kvsim::calibrate {

std::span<const Kind> kinds() {
  static const std::vector<Kind> table{
      {"attention", attention_columns, read_attention},
      {"mla", mla_columns, read_mla},
      {"mla_module", mla_module_columns, read_mla_module},
      {"mla_bmm", mla_bmm_columns, read_mla_bmm},
      {"gemm", gemm_columns, read_gemm},
      {"moe", moe_columns, read_moe},
      {"comm", comm_columns, read_comm},
      {"moe_a2a", moe_a2a_columns, read_moe_a2a},
      {"memops", memops_columns, read_memops},
      {"vidur_layer_ops", vidur_columns, read_vidur},
      {"inferencex_aiconfigurator", inferencex_columns, read_inferencex},
      {"inferencex_dsr1_percentiles", dsr1_columns, read_dsr1},
      {"trtllm_perf_overview", trtllm_columns, read_trtllm},
      {"mlperf", mlperf_columns, read_mlperf},
  };
  return table;
}

const Kind& recognise(const config::CsvReader& csv) {
  const Kind* nearest = nullptr;
  std::size_t fewest = 0;
  std::vector<std::string_view> missing, unknown;
  for (const Kind& kind : kinds()) {
    std::vector<std::string_view> lacks, extra;
    for (const std::string_view column : kind.columns)
      if (!csv.column(column)) lacks.push_back(column);
    for (const std::string& column : csv.header())
      if (std::ranges::find(kind.columns, column) == kind.columns.end()) extra.push_back(column);
    if (lacks.empty() && extra.empty()) return kind;
    if (nearest && lacks.size() + extra.size() >= fewest) continue;
    nearest = &kind, fewest = lacks.size() + extra.size();
    missing = std::move(lacks), unknown = std::move(extra);
  }
  Diagnostic d;
  d.code = "measurement-kind", d.file = csv.name(), d.line = 1, d.column = 1;
  d.message =
      fmt::format("the columns are those of no known measurement file; the nearest kind is \"{}\"",
                  nearest->name);
  if (!missing.empty()) d.hint += fmt::format("it also has {}", fmt::join(missing, ", "));
  if (!unknown.empty())
    d.hint +=
        fmt::format("{}it does not have {}", missing.empty() ? "" : "; ", fmt::join(unknown, ", "));
  throw InputError(std::move(d));
}

Measurement kernel_row(const Row& row, std::string kernel) {
  Measurement m;
  m.gpu = row.word("gpu"), m.framework = row.word("framework"), m.version = row.text("version");
  m.figures = {{std::move(kernel), row.micro_seconds("latency_us")}};
  return m;
}

}  // namespace kvsim::calibrate
