#pragma once
#include "workload/trace/format.h"

// The formats behind the registry, one file each.
namespace kvsim::workload {

bool recognises_kvsim(std::string_view head);
Trace open_kvsim(std::unique_ptr<Lines> lines, const TraceOptions& options);

bool recognises_mooncake(std::string_view head);
Trace open_mooncake(std::unique_ptr<Lines> lines, const TraceOptions& options);

bool recognises_azure(std::string_view head);
Trace open_azure(std::unique_ptr<Lines> lines, const TraceOptions& options);

bool recognises_burstgpt(std::string_view head);
Trace open_burstgpt(std::unique_ptr<Lines> lines, const TraceOptions& options);

bool recognises_vidur(std::string_view head);
Trace open_vidur(std::unique_ptr<Lines> lines, const TraceOptions& options);

bool recognises_splitwise(std::string_view head);
Trace open_splitwise(std::unique_ptr<Lines> lines, const TraceOptions& options);

bool recognises_vllm_bench(std::string_view head);
Trace open_vllm_bench(std::unique_ptr<Lines> lines, const TraceOptions& options);

bool recognises_lengths(std::string_view head);
Trace open_lengths(std::unique_ptr<Lines> lines, const TraceOptions& options);

// The content that a hash id of a Mooncake trace stands for.
std::uint64_t mooncake_content(std::uint64_t hash_id);

}  // namespace kvsim::workload
