#include "planner/change.h"

#include <algorithm>

#include "diag/check.h"
#include "diag/diagnostic.h"
#include "spec/weights.h"

namespace kvsim::planner {
namespace {

constexpr int most_gpus = 64;

// Figures stated for the deployment as it was do not hold for another one.
void forget_stated(memory::Options& o) {
  o.stated.weights.reset();
  o.stated.activation.reset();
  o.stated.non_torch.reset();
  o.stated.cuda_graphs.reset();
}

void one_for_all(std::vector<Bytes>& per_worker) {
  if (per_worker.size() > 1) per_worker = {*std::ranges::min_element(per_worker)};
}

void split(memory::Options& o) {
  forget_stated(o);
  one_for_all(o.kv_cache_memory);
  one_for_all(o.free_memory);
  one_for_all(o.total_memory);
}

void take_gpu(Request& r, const std::string& id, std::span<const spec::GpuSpec> gpus) {
  const auto at = std::ranges::find(gpus, id, &spec::GpuSpec::id);
  KVSIM_CHECK(at != gpus.end(), "no GPU {} among {}", id, gpus.size());
  r.gpu = *at;
  r.link.reset();
  r.options.stated = {};
  r.options.free_memory.clear();
  r.options.total_memory.clear();
}

std::int64_t whole(const Setting& s) { return static_cast<std::int64_t>(s.number); }

// Whether it is another size than before.
bool take_size(int& size, const Setting& s) {
  const int before = size;
  size = static_cast<int>(s.number);
  return size != before;
}

bool take_number(memory::Options& o, const Setting& s) {
  if (s.name == "max_model_len") {
    o.max_model_len = whole(s);
  } else if (s.name == "max_num_seqs") {
    o.max_num_seqs = whole(s);
    o.stated.activation.reset();
  } else if (s.name == "max_num_batched_tokens") {
    o.max_num_batched_tokens = whole(s);
    o.stated.activation.reset();
  } else if (s.name == "tensor_parallel_size") {
    if (take_size(o.plan.tensor_parallel_size, s)) split(o);
  } else if (s.name == "pipeline_parallel_size") {
    if (take_size(o.plan.pipeline_parallel_size, s)) {
      o.plan.layer_partition.clear();
      split(o);
    }
  } else if (s.name == "data_parallel_size") {
    if (take_size(o.plan.data_parallel_size, s)) split(o);
  } else if (s.name == "images_per_prompt") {
    o.images_per_prompt = whole(s);
    o.stated.activation.reset();
  } else if (s.name == "cpu_offload") {
    o.cpu_offload = Bytes(whole(s));
  } else if (s.name == "kv_cache_memory_bytes") {
    o.kv_cache_memory = {Bytes(whole(s))};
  } else if (s.name == "gpu_memory_utilization" || s.name == "mem_fraction_static" ||
             s.name == "free_gpu_memory_fraction") {
    o.memory_fraction = s.number;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Setting number(std::string name, double value) { return {std::move(name), {}, value}; }
Setting word(std::string name, std::string value) { return {std::move(name), std::move(value), 0}; }

Request changed(Request r, std::span<const Setting> settings, std::span<const spec::GpuSpec> gpus) {
  for (const Setting& s : settings) {
    if (s.word.empty() && take_number(r.options, s)) continue;
    if (s.name == "kv_cache_dtype") {
      r.kv_dtype = s.word;
    } else if (s.name == "quantization") {
      r.model.quantization = *spec::quantization_preset(s.word);
      forget_stated(r.options);
    } else if (s.name == "enforce_eager") {
      r.options.enforce_eager = true;
      r.options.stated.cuda_graphs.reset();
    } else if (s.name == "gpu") {
      take_gpu(r, s.word, gpus);
    } else {
      KVSIM_CHECK(false, "no setting {}", s.name);
    }
  }
  return resolved(std::move(r));
}

std::vector<std::vector<Setting>> larger_splits(const Request& r) {
  const spec::ParallelPlan& plan = r.options.plan;
  std::vector<std::pair<int, std::vector<Setting>>> list;
  for (int tp = most_gpus; tp >= 1; --tp)
    for (int pp = 1; tp * pp * plan.data_parallel_size <= most_gpus && pp <= r.model.num_layers;
         ++pp) {
      if (tp * pp <= plan.tensor_parallel_size * plan.pipeline_parallel_size) continue;
      list.push_back(
          {tp * pp, {number("tensor_parallel_size", tp), number("pipeline_parallel_size", pp)}});
    }
  std::ranges::stable_sort(list, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::vector<Setting>> sets;
  for (auto& entry : list) sets.push_back(std::move(entry.second));
  return sets;
}

std::optional<memory::Pool> try_pool(const Request& r) {
  try {
    return memory::size_pool(r.model, r.gpu, r.options);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace kvsim::planner
