#include "conform/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "conform/case.h"
#include "workload/io/lines.h"

namespace kvsim::conform {
namespace {

// Cases are read in batches and replayed side by side; a batch is complete before the next one is
// read, so that memory is bounded and the order of results is that of the lines.
constexpr std::size_t batch_lines = 64;
constexpr std::size_t batch_bytes = 32 << 20;
constexpr std::size_t shown_problems = 20;

struct Line {
  std::string text;
  int number = 0;
  Outcome outcome;
  std::exception_ptr problem;
};

class Replay {
 public:
  Replay(const spec::Catalog& catalog, const ConformOptions& options)
      : catalog_(catalog), options_(options) {}

  void file(workload::Lines& lines, const std::string& family) {
    FamilyResult& result = family_named(family);
    const std::int64_t before = seen_;
    bool more = true;
    while (more && !stopped()) {
      more = read_batch(lines);
      replay_batch(lines.name());
      gather(result);
    }
    if (stopped()) out_.complete = false;
    if (seen_ == before && out_.complete) {
      Diagnostic d;
      d.code = "conform-empty", d.file = lines.name();
      d.message = fmt::format("{}: no recorded case is in the file", lines.name());
      problems_.push_back(std::move(d));
    }
  }

  Conformance finish() {
    if (!problems_.empty()) throw InputError(std::move(problems_));
    if (out_.complete && out_.cases() == 0 && !options_.only.empty()) {
      Diagnostic d;
      d.code = "conform-only";
      d.message = fmt::format("no case has the id \"{}\" or one that begins so", options_.only);
      throw InputError(std::move(d));
    }
    if (!options_.only.empty())
      std::erase_if(out_.families, [](const FamilyResult& f) { return f.cases == 0; });
    return std::move(out_);
  }

 private:
  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }

  FamilyResult& family_named(const std::string& name) {
    const auto found = std::ranges::find(out_.families, name, &FamilyResult::name);
    if (found != out_.families.end()) return *found;
    FamilyResult& family = out_.families.emplace_back();
    family.name = name;
    return family;
  }

  // False at the end of the file.
  bool read_batch(workload::Lines& lines) {
    batch_.clear();
    std::size_t bytes = 0;
    std::string_view text;
    while (batch_.size() < batch_lines && bytes < batch_bytes) {
      if (!lines.next(text)) return false;
      if (text.find_first_not_of(" \t\r") == text.npos) continue;
      Line& line = batch_.emplace_back();
      line.text = text;
      line.number = lines.number();
      bytes += text.size();
    }
    return true;
  }

  void replay_line(Line& line, const std::string& name) const {
    try {
      const config::Document document =
          config::Document::parse_line(std::move(line.text), name, line.number);
      refuse_step_log(document.root());
      line.outcome.id = case_id(document.root());
      if (line.outcome.id.starts_with(options_.only))
        line.outcome = replay_case(document, catalog_);
    } catch (...) {
      line.problem = std::current_exception();
    }
  }

  void replay_batch(const std::string& name) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < batch_.size() && !stopped(); i = next++)
        replay_line(batch_[i], name);
    };
    const auto jobs = std::min(batch_.size(), static_cast<std::size_t>(std::max(1, options_.jobs)));
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < jobs; ++i) helpers.emplace_back(work);
    work();
  }

  void gather(FamilyResult& family) {
    if (stopped()) return;
    for (Line& line : batch_) {
      ++seen_;
      if (line.problem) {
        note(line.problem);
        continue;
      }
      if (!line.outcome.id.starts_with(options_.only)) continue;
      // An exact id is meant alone, even where it begins others.
      if (exact_ && line.outcome.id != options_.only) continue;
      if (!exact_ && !options_.only.empty() && line.outcome.id == options_.only) start_exact();
      ++family.cases;
      count(family, line.outcome);
    }
    if (options_.progress) options_.progress(seen_);
  }

  void count(FamilyResult& family, Outcome& outcome) {
    if (!outcome.difference) {
      ++family.matched;
      return;
    }
    if (!outcome.difference->reason.empty()) ++family.refused;
    if (out_.differences.size() >= std::max<std::size_t>(1, options_.shown)) return;
    out_.differences.push_back(std::move(*outcome.difference));
    out_.differences.back().family = family.name;
  }

  void start_exact() {
    exact_ = true;
    for (FamilyResult& family : out_.families) family.cases = family.matched = family.refused = 0;
    out_.differences.clear();
  }

  void note(const std::exception_ptr& problem) {
    try {
      std::rethrow_exception(problem);
    } catch (const InputError& error) {
      problems_.insert(problems_.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
    // Every other line of a step log would say the same.
    const bool wrong_kind = !problems_.empty() && problems_.back().code == step_log_code;
    if (wrong_kind || problems_.size() >= shown_problems) throw InputError(std::move(problems_));
  }

  const spec::Catalog& catalog_;
  const ConformOptions& options_;
  Conformance out_;
  std::vector<Line> batch_;
  std::vector<Diagnostic> problems_;
  std::int64_t seen_ = 0;
  bool exact_ = false;
};

}  // namespace

std::int64_t Conformance::cases() const {
  std::int64_t sum = 0;
  for (const FamilyResult& family : families) sum += family.cases;
  return sum;
}

std::int64_t Conformance::matched() const {
  std::int64_t sum = 0;
  for (const FamilyResult& family : families) sum += family.matched;
  return sum;
}

std::string family_of(const std::string& path) {
  if (path == "-") return "stdin";
  std::string name = path.substr(path.find_last_of('/') + 1);
  for (const std::string_view end : {".gz", ".zst", ".jsonl"})
    if (name.ends_with(end) && name.size() > end.size()) name.resize(name.size() - end.size());
  return name;
}

Conformance conform(const std::vector<std::string>& files, const spec::Catalog& catalog,
                    const ConformOptions& options) {
  Replay replay(catalog, options);
  for (const std::string& path : files) {
    workload::Lines lines(workload::open_bytes(path), path == "-" ? "<stdin>" : path);
    replay.file(lines, family_of(path));
  }
  return replay.finish();
}

Conformance conform_text(const std::string& text, const std::string& name,
                         const spec::Catalog& catalog, const ConformOptions& options) {
  Replay replay(catalog, options);
  workload::Lines lines(workload::bytes_of(text, name), name);
  replay.file(lines, family_of(name));
  return replay.finish();
}

}  // namespace kvsim::conform
