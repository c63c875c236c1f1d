#pragma once
#include <map>
#include <optional>
#include <string>

#include "spec/catalog.h"

namespace kvsim::calibrate {

// GPUs as measurement files spell them, looked up once each.
class Gpus {
 public:
  explicit Gpus(const spec::Catalog& catalog) : catalog_(catalog) {}

  // Null when the catalog has no such GPU.
  const spec::GpuSpec* find(const std::string& spelling);
  // The catalog's id; of test beds that are wired otherwise their own ("a100-pairwise"); the
  // spelling itself where there is neither.
  std::string id(const std::string& spelling);

 private:
  const spec::Catalog& catalog_;
  std::map<std::string, std::optional<spec::GpuSpec>> found_;
};

}  // namespace kvsim::calibrate
