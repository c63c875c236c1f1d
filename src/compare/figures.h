#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"

namespace kvsim::compare {

// Which way a figure is better. `neutral` figures describe the input or the load.
enum class Better { lower, higher, neutral };

// By the figure's path ("summary.p99_ttft_ms") or name.
Better better(std::string_view path);

// One number of a result. `value` is absent where the document says null.
struct Figure {
  std::string path;  // "summary.p99_ttft_ms", "kv.preemptions", "engines.0.busy_s"
  std::optional<double> value;
};

// One end of the interval of a figure of summary ("summary.p99_ttft_ms_high", with or without
// "summary.").
bool is_interval_end(std::string_view path);

// The name people use: the path without "summary.".
std::string_view short_name(std::string_view path);

// The numbers of a result document, in its order.
class Figures {
 public:
  // A kvsim.run/1 document (summary, kv, cost, engines, verdict) or the JSON of vllm bench serve,
  // whose fields are those of summary. Throws InputError for anything else.
  explicit Figures(const config::Document& document);

  const std::vector<Figure>& list() const { return list_; }
  // By path or short name; null if there is none.
  const Figure* find(std::string_view name) const;
  std::vector<std::string> names() const;  // short ones
  bool is_run() const { return is_run_; }

 private:
  void collect(config::Value value, const std::string& path);

  std::vector<Figure> list_;
  bool is_run_ = false;
};

}  // namespace kvsim::compare
