#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launch/command_line.h"
#include "planner/against.h"
#include "planner/at_lengths.h"
#include "planner/binding.h"
#include "planner/feasible.h"
#include "planner/log_attribution.h"
#include "planner/request.h"
#include "planner/room.h"
#include "planner/smallest.h"
#include "planner/streams.h"
#include "planner/usable.h"
#include "units/units.h"

// The closed form of a deployment: does it fit, how much, how fast, what limits, what would help.
namespace kvsim::planner {

struct LedgerLine {
  std::string name;
  Bytes bytes;
  std::string note;
  bool in_budget = true;
  Bytes uncertainty;  // plus or minus; 0 = counted or given
};

struct Group {
  std::string name, attention;
  std::int64_t layers = 0, window = 0, block_tokens = 0;
  double bytes_per_token = 0, bytes_per_sequence = 0;
};

struct Operator {
  std::string name, binds, source;
  double ms = 0, share = 0;
  std::int64_t calls = 0;      // kernel launches
  double octaves_outside = 0;  // doublings outside the calibrated range
};

// Between which values nine true ones in ten lie.
struct Range {
  double low = 0, high = 0;
};

// One context and batch of the whole deployment.
struct Point {
  std::int64_t context = 0, batch = 0;
  Bytes kv_bytes;  // over all GPUs
  bool kv_fits = false;
  double prefill_ms =
      0;  // one prompt of `context` tokens, alone, in chunks of max_num_batched_tokens
  double decode_ms = 0;  // one step of the batch
  std::string binds;     // of the decode step; "KV capacity" when the batch does not fit
  Range prefill_range, decode_range;  // of the two, ms
  std::string prefill_binds;
  std::string source, source_note;
  double intensity = 0, ridge = 0;  // decode: flops per byte against the GPU's
  double output_tokens_per_s = 0;   // whole deployment
  std::vector<Operator> operators;  // of the decode step, slowest first
  double outside_range_ratio = 0;   // share of the decode step outside the calibrated range
};

// Requests that fit at once, by context length and KV format.
struct Explorer {
  std::vector<std::int64_t> contexts;
  struct Row {
    std::string kv_dtype;
    double bits = 0;                     // per element, scales included
    std::vector<std::int64_t> requests;  // per replica
  };
  std::vector<Row> rows;
};

struct Plan {
  std::string model, gpu, engine, rules;
  spec::ParallelPlan parallel;
  bool fits = false;
  std::string limit;
  Bytes total, budget, weights, activation, non_torch, cuda_graph, kv, state, reserve, shortfall;
  std::vector<LedgerLine> ledger;
  int stage = 0;
  std::string fraction_flag;
  double fraction = 0;
  double parameters_b = 0;
  std::string weight_format;
  std::string kv_dtype;
  double bytes_per_token = 0, bytes_per_sequence = 0, bytes_per_sequence_extra = 0;
  std::int64_t block_tokens = 0, blocks = 0, tokens = 0;
  bool kv_given = false;  // kv_cache_memory_bytes sets the pool: the budget is the sum of the lines
  // Tokens when the estimated terms of the ledger are off by their uncertainty, all together.
  Bytes kv_uncertainty;
  std::int64_t tokens_low = 0, tokens_high = 0;
  // Tokens whose growing KV is as large as the constant part; 0 without one.
  std::int64_t break_even_tokens = 0;
  double max_concurrency = 0;
  std::int64_t max_model_len = 0, feasible_len = 0, max_num_seqs = 0, max_num_batched_tokens = 0;
  Feasible feasible;
  Usable usable;
  std::vector<Smallest> smallest;
  Binding binding;
  bool nothing_fits = false;  // no advice does, on 64 of any GPU that was offered
  // Answers to what was asked beside the plan.
  std::optional<Against> against;
  std::optional<AtLengths> at_lengths;
  std::optional<Streams> streams;
  std::vector<Room> room;
  std::vector<Group> groups;
  Point at;
  Explorer explorer;
  std::vector<std::string> engine_log, warnings;
  std::vector<Advice> advice;
  std::set<std::string> given;  // settings that the user gave; the rest are defaults
  std::optional<launch::Command> from_command;  // where they were taken from
  std::optional<launch::EngineLog> from_log;
  LogAttribution log_attribution;  // of from_log
};

// Throws InputError for what cannot be planned at all (heads that tensor parallelism does not
// divide, an unknown KV format).
Plan make_plan(const Request& request);

}  // namespace kvsim::planner
