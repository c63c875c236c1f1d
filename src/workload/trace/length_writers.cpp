#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "workload/trace/writer.h"

// The formats of lengths alone: a row for each request, no contents.
namespace kvsim::workload {
namespace {

class LengthWriter : public TraceWriter {
 public:
  LengthWriter(const WriteOptions& options, std::string_view format)
      : losses_(options.loss, format), options_(options) {}

  void add(const RequestSpec& r, std::string& out) final {
    if (options_.has_sharing && shares(r)) losses_.add("that prompts share tokens", r);
    if (r.after >= 0) losses_.add(follows_another, r);
    if (r.max_tokens > r.output_tokens)
      losses_.add("a limit on output tokens beyond those made", r);
    if (r.priority != 0) losses_.add("priorities", r);
    if (!r.session.empty()) losses_.add("sessions", r);
    row(r, std::min(r.output_tokens, r.max_tokens), out);
  }
  std::vector<std::string> losses() const final { return losses_.notes(); }

 protected:
  virtual void row(const RequestSpec& request, std::int64_t output, std::string& out) = 0;
  Losses losses_;

 private:
  bool shares(const RequestSpec& r) {
    bool known = false;
    for (const Span& span : r.prompt) known |= seen_.contains(span.content);
    for (const Span& span : r.prompt) seen_.insert(span.content);
    seen_.insert(output_content(r.id));
    return known;
  }
  WriteOptions options_;
  std::unordered_set<std::uint64_t> seen_;
};

// Dates from 2000-01-01 on.
class AzureWriter final : public LengthWriter {
 public:
  explicit AzureWriter(const WriteOptions& options) : LengthWriter(options, "azure") {}
  void begin(std::string& out) override { out += "TIMESTAMP,ContextTokens,GeneratedTokens\n"; }

 private:
  void row(const RequestSpec& r, std::int64_t output, std::string& out) override {
    constexpr std::int64_t start = 946'684'800;
    const std::int64_t ns = r.arrival.nanoseconds();
    if (first_ && ns > 0) losses_.add("the time before the first request", r);
    first_ = false;
    const std::int64_t fraction = ns % ns_per_second;
    fmt::format_to(std::back_inserter(out), "{:%Y-%m-%d %H:%M:%S}.",
                   fmt::gmtime(static_cast<std::time_t>(start + ns / ns_per_second)));
    if (fraction % 100 == 0)
      fmt::format_to(std::back_inserter(out), "{:07}", fraction / 100);
    else
      fmt::format_to(std::back_inserter(out), "{:09}", fraction);
    fmt::format_to(std::back_inserter(out), ",{},{}\n", r.prompt_tokens, output);
  }
  bool first_ = true;
};

class VidurWriter final : public LengthWriter {
 public:
  explicit VidurWriter(const WriteOptions& options) : LengthWriter(options, "vidur") {}
  void begin(std::string& out) override {
    out += "arrived_at,num_prefill_tokens,num_decode_tokens\n";
  }

 private:
  void row(const RequestSpec& r, std::int64_t output, std::string& out) override {
    fmt::format_to(std::back_inserter(out), "{},{},{}\n", decimal(r.arrival.nanoseconds(), 9),
                   r.prompt_tokens, output);
  }
};

class PairWriter final : public LengthWriter {
 public:
  explicit PairWriter(const WriteOptions& options) : LengthWriter(options, "lengths") {}

 private:
  void row(const RequestSpec& r, std::int64_t output, std::string& out) override {
    if (r.arrival.nanoseconds() > 0) losses_.add("times", r);
    fmt::format_to(std::back_inserter(out), "[{},{}]\n", r.prompt_tokens, output);
  }
};

}  // namespace

std::unique_ptr<TraceWriter> make_azure_writer(const WriteOptions& options) {
  return std::make_unique<AzureWriter>(options);
}
std::unique_ptr<TraceWriter> make_vidur_writer(const WriteOptions& options) {
  return std::make_unique<VidurWriter>(options);
}
std::unique_ptr<TraceWriter> make_lengths_writer(const WriteOptions& options) {
  return std::make_unique<PairWriter>(options);
}

}  // namespace kvsim::workload
