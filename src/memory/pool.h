#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvformat/footprint.h"
#include "memory/layout.h"
#include "memory/ledger.h"
#include "memory/options.h"

namespace kvsim::memory {

// The KV pool of one GPU as the engine would size and print it: what `plan` reports and what `run`
// starts with.
struct Pool {
  Options options;                // every default filled in
  int stage = 0;                  // pipeline stage that decides (the poorest)
  Ledger ledger;                  // of that stage
  kvformat::Footprint footprint;  // of that stage
  KvLayout layout;
  std::int64_t block_tokens = 0;
  bool is_batch_given = false;   // max_num_seqs was
  bool override_fits = true;     // num_gpu_blocks_override is within the KV memory
  std::int64_t state_slots = 0;  // sglang: sequences whose recurrent state fits
  std::int64_t num_gpu_blocks =
      0;  // physical ones, null block included, for vllm-v1; pages or slots elsewhere
  std::int64_t tokens = 0;     // as printed
  double max_concurrency = 0;  // as printed, requests of max_model_len
  bool fits = false;
  std::string limit;  // why not, or what would bind first
  // vLLM starts only where the budget is free: the largest fraction that is, when free_memory says
  // it is not.
  std::optional<double> fraction_that_starts;
  std::int64_t feasible_len = 0;  // longest request the pool holds
  std::vector<std::string> engine_log;
  std::vector<std::string> warnings;
};

// Sizes the pool. A deployment that cannot hold the model at all (heads that tensor parallelism
// does not divide) is an InputError; one that does not fit answers fits = false with everything
// filled in.
Pool size_pool(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& options);

// Bytes of KV that `batch` requests of `context` tokens take over the whole deployment (one data
// parallel replica): all pipeline stages and tensor ranks.
Bytes deployment_kv_bytes(const spec::ModelSpec& model, const Options& options,
                          std::int64_t context, std::int64_t batch);

}  // namespace kvsim::memory
