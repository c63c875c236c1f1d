#pragma once
#include <optional>
#include <span>
#include <vector>

#include "memory/pool.h"
#include "planner/request.h"

// A request with other settings, sized again: what every answer of the planner is verified by.
namespace kvsim::planner {

Setting number(std::string name, double value);
Setting word(std::string name, std::string value);

// The request with the settings applied. `gpus` is where the setting `gpu` looks its id up.
// Terms that were stated for another deployment go with it: weights, activations, graphs and
// non-torch memory when the split, the weight format or the GPU changes, activations with the
// batch, graphs with eager mode. Of a list per worker the smallest entry stays when the split
// changes, and layers are spread evenly over other pipeline sizes. A size that is the present one
// changes nothing. A setting that is not known fails a check.
Request changed(Request request, std::span<const Setting> settings,
                std::span<const spec::GpuSpec> gpus = {});

// Tensor and pipeline sizes that take more GPUs than now, up to 64 in all, fewest first, of
// the same number the largest tensor size first; each a set of two settings. Not every one divides
// the model's heads.
std::vector<std::vector<Setting>> larger_splits(const Request& request);

// The pool; empty where the engine refuses the settings as such (a split that does not divide the
// heads, a batch that is too small).
std::optional<memory::Pool> try_pool(const Request& request);

}  // namespace kvsim::planner
