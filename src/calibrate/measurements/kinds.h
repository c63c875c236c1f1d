#pragma once
#include <span>
#include <string>
#include <string_view>

#include "calibrate/measurements/measurement.h"
#include "calibrate/measurements/row.h"

namespace kvsim::calibrate {

// A kind of measurement file: recognised by its columns, read row by row.
struct Kind {
  std::string_view name;
  std::span<const std::string_view> columns;
  Measurement (*read)(const Row& row);
};

// All kinds, one row per file of this folder.
std::span<const Kind> kinds();

// The kind with exactly these columns, in any order. None: InputError that names the nearest kind
// and the columns it misses or does not know.
const Kind& recognise(const config::CsvReader& csv);

// The readers, each with the columns of its files.
extern const std::span<const std::string_view> attention_columns, mla_columns, mla_module_columns,
    mla_bmm_columns, gemm_columns, moe_columns, comm_columns, moe_a2a_columns, memops_columns,
    vidur_columns, inferencex_columns, dsr1_columns, trtllm_columns, mlperf_columns;
Measurement read_attention(const Row& row);
Measurement read_mla(const Row& row);
Measurement read_mla_module(const Row& row);
Measurement read_mla_bmm(const Row& row);
Measurement read_gemm(const Row& row);
Measurement read_moe(const Row& row);
Measurement read_comm(const Row& row);
Measurement read_moe_a2a(const Row& row);
Measurement read_memops(const Row& row);
Measurement read_vidur(const Row& row);
Measurement read_inferencex(const Row& row);
Measurement read_dsr1(const Row& row);
Measurement read_trtllm(const Row& row);
Measurement read_mlperf(const Row& row);

// The labels that most kernel files share; the figure is the latency_us column, counted in
// `kernel`.
Measurement kernel_row(const Row& row, std::string kernel);

}  // namespace kvsim::calibrate
