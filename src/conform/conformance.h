#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conform/outcome.h"
#include "spec/catalog.h"

// Recorded decisions of engines, replayed and compared: how far kvsim does what vLLM and SGLang do.
namespace kvsim::conform {

struct FamilyResult {
  std::string name;
  std::int64_t cases = 0, matched = 0;
  std::int64_t refused = 0;  // among those that differ: kvsim does not model what they ask for
};

// The document kvsim.conformance/1. Equal inputs give equal documents, whatever the jobs.
struct Conformance {
  std::vector<FamilyResult> families;   // in the order in which they were first named
  std::vector<Difference> differences;  // the first of each case, in order; at most `shown`
  bool complete = true;                 // false: stopped

  std::int64_t cases() const;
  std::int64_t matched() const;
};

struct ConformOptions {
  std::string only;       // the case of this id, else the cases whose ids begin so; "" = all
  std::size_t shown = 1;  // differences to keep
  int jobs = 1;           // cases at a time
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::int64_t cases)> progress;
};

// The family of a file: its name without folder, .gz, .zst and .jsonl; "stdin" for "-".
std::string family_of(const std::string& path);

// Replays files of recorded cases, one JSON object per line, .gz and .zst too, "-" for stdin. Files
// of one name are one family. Memory: a few lines. Throws IoError, and InputError with everything
// that is wrong in a file; a file without cases and an id that no case has are errors.
Conformance conform(const std::vector<std::string>& files, const spec::Catalog& catalog,
                    const ConformOptions& options);
// The same for a text in memory.
Conformance conform_text(const std::string& text, const std::string& name,
                         const spec::Catalog& catalog, const ConformOptions& options);

}  // namespace kvsim::conform
