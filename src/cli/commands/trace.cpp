#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/commands/makers.h"
#include "cli/progress.h"
#include "config/reader.h"
#include "report/trace_info.h"
#include "units/format.h"
#include "units/parse.h"
#include "workload/analysis/trace_info.h"
#include "workload/generate/spec.h"
#include "workload/trace/format.h"
#include "workload/trace/writer.h"

namespace kvsim::cli {
namespace {

using workload::Trace;
using workload::TraceOptions;

std::vector<std::string> format_names() {
  std::vector<std::string> names{"auto"};
  for (const workload::TraceFormat& format : workload::trace_formats())
    names.emplace_back(format.name);
  return names;
}
std::vector<std::string> writer_names() {
  std::vector<std::string> names;
  for (const workload::TraceWriterEntry& entry : workload::trace_writers())
    names.emplace_back(entry.name);
  return names;
}

// The flags that say which trace and which part of it.
void describe_trace(Flags& flags, TraceOptions& options) {
  flags.positional("FILE", options.file, "trace, .gz and .zst too; - is standard input")
      .require()
      .completes(Complete::file);
  flags.option("--format", options.format, "format of the trace; auto asks its first record")
      .words(format_names());
  flags
      .option("--block-tokens", options.block_tokens,
              "mooncake: tokens per hash id; 512 if not given")
      .value("N")
      .range(config::between(1, 1e6));
}
void describe_slice(Flags& flags, workload::Slice& slice, std::string_view end_names = "--until") {
  flags.section("Part of the trace");
  flags
      .option("--from", slice.start,
              "leave out requests that arrive earlier, and count time from here")
      .value("TIME");
  flags.option(end_names, slice.end, "leave out requests that arrive at this time or later")
      .value("TIME");
  flags.option("--rate-scale", slice.rate_scale, "2 = arrivals twice as fast")
      .value("X")
      .range(config::above_up_to(0, 1e6));
  flags.option("--max-requests", slice.max_requests, "take the first so many")
      .value("N")
      .range(config::at_least(1));
}

// Writes a whole source in a format; notes about it and about losses go to stderr.
void write_trace(Context& context, workload::RequestSource& all, const std::string& format,
                 const workload::WriteOptions& options) {
  std::unique_ptr<workload::RequestSource> sorted;
  if (format != "kvsim" && options.has_followers && options.loss == workload::Loss::count)
    sorted = workload::without_followers(all);
  workload::RequestSource& source = sorted ? *sorted : all;
  const auto writer = workload::make_trace_writer(format, options);
  Progress progress(context, "trace");
  context.output().stream();
  std::string text;
  workload::RequestSpec request;
  std::int64_t written = 0;
  writer->begin(text);
  while (source.list(request)) {
    writer->add(request, text);
    if (++written % 4096 == 0) {
      poll_interrupt();
      progress.update(fmt::format("{} requests", format_integer(written)));
    }
    if (text.size() < (1U << 16)) continue;
    context.print(text);
    text.clear();
  }
  writer->end(text);
  context.print(text);
  for (const std::string& note : source.notes()) context.note(note);
  for (const std::string& loss : writer->losses()) context.warn("trace-lossy", loss);
}

class TraceInfoCommand final : public Command {
 public:
  void describe(Flags& flags) override {
    describe_trace(flags, options_);
    flags
        .option("--reuse-block", block_,
                "block size in which reuse is counted; the trace's own for mooncake, else 16")
        .value("N")
        .range(config::between(1, 1e6));
    flags
        .option("--capacities", capacities_,
                "cache sizes in blocks, separated by commas; a ladder if not given")
        .value("N,N,...");
    describe_slice(flags, options_.slice);
    flags.example("kvsim trace info conversation_trace.jsonl.gz",
                  "lengths, rates, and how much a prefix cache of each size would find");
    flags.example("kvsim trace info t.csv --json | jq .prefix_reuse", "the reuse alone");
  }

  Exit run(Context& context) override {
    workload::InfoOptions info;
    info.capacities = parse_capacities();
    info.tick = poll_interrupt;
    const Trace trace = workload::load_trace(options_);
    const bool mooncake = trace.format == "mooncake";
    info.block_tokens = block_.value_or(mooncake ? options_.block_tokens.value_or(512) : 16);
    info.is_request_list = trace.format == "kvsim";
    info.has_times = trace.has_times;
    const workload::TraceInfo result = workload::trace_info(*trace.source, info);
    context.print(context.json() ? report::trace_info_json(result, trace.format)
                                 : report::trace_info_text(result, trace.format));
    return Exit::ok;
  }

 private:
  std::vector<std::int64_t> parse_capacities() const {
    std::vector<std::int64_t> list;
    std::string_view rest = capacities_;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      const auto size = parse_integer(rest.substr(0, comma));
      if (!size || *size < 1)
        throw UsageError(fmt::format(
            "--capacities: expected numbers of blocks separated by commas, found \"{}\"",
            capacities_));
      list.push_back(*size);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    std::ranges::sort(list);
    return list;
  }
  TraceOptions options_;
  std::optional<std::int64_t> block_;
  std::string capacities_;
};

// convert and slice: the former names a format, the latter keeps it.
class TraceCopy : public Command {
 public:
  Exit run(Context& context) override {
    const Trace trace = workload::load_trace(options_);
    workload::WriteOptions write;
    write.loss = lossy_ ? workload::Loss::count : workload::Loss::refuse;
    write.block_tokens = options_.block_tokens.value_or(512);
    write.has_followers = trace.format == "kvsim";
    write.has_sharing = trace.has_sharing;
    write_trace(context, *trace.source, to_.empty() ? trace.format : to_, write);
    return Exit::ok;
  }

 protected:
  void describe_copy(Flags& flags, std::string_view end_names) {
    describe_trace(flags, options_);
    flags.flag("--lossy", lossy_, "write what the format can say, and count the rest");
    describe_slice(flags, options_.slice, end_names);
  }
  TraceOptions options_;
  std::string to_;
  bool lossy_ = false;
};

class TraceConvert final : public TraceCopy {
 public:
  void describe(Flags& flags) override {
    describe_copy(flags, "--until");
    flags.option("--to", to_, "format to write").words(writer_names()).require();
    flags.example("kvsim trace convert conversation_trace.jsonl.gz --to kvsim -o requests.jsonl",
                  "a request list that can be edited");
    flags.example("kvsim trace convert requests.jsonl --to azure --lossy",
                  "lengths and times alone");
  }
};

class TraceSlice final : public TraceCopy {
 public:
  void describe(Flags& flags) override {
    describe_copy(flags, "--to,--until");
    flags.example("kvsim trace slice t.jsonl --from 600 --to 1200 --rate-scale 2",
                  "ten minutes of it, twice as fast");
    flags.example("zcat t.jsonl.gz | kvsim trace slice - --max-requests 1000",
                  "the first thousand requests");
  }
};

class TraceGenerate final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.positional("SPEC", file_, "a kvsim.workload/1 file; - is standard input")
        .require()
        .completes(Complete::file);
    flags.option("--to", to_, "format to write").words(writer_names());
    flags.flag("--lossy", lossy_, "write what the format can say, and count the rest");
    flags.example("kvsim trace generate chat.json -o requests.jsonl",
                  "the requests that the same block would make in a scenario");
    flags.example("kvsim trace generate chat.json --set generate.requests=100 | kvsim trace info -",
                  "what they look like");
  }

  Exit run(Context& context) override {
    config::Document document = config::Document::load(file_);
    for (const Override& o : context.globals().overrides) document.set(o.path, o.value, o.origin);
    workload::WorkloadFile file = workload::read_workload_file(document);
    if (context.globals().seed) file.seed = *context.globals().seed;
    const auto folder = file_.find_last_of('/') == std::string::npos
                            ? std::string()
                            : file_.substr(0, file_.find_last_of('/') + 1);
    const auto source =
        workload::generate(file.generate, static_cast<std::uint64_t>(file.seed), folder);
    workload::WriteOptions write;
    write.loss = lossy_ ? workload::Loss::count : workload::Loss::refuse;
    write.names = workload::known_contents(file.generate);
    write_trace(context, *source, to_, write);
    return Exit::ok;
  }

 private:
  std::string file_, to_ = "kvsim";
  bool lossy_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_info() { return std::make_unique<TraceInfoCommand>(); }
std::unique_ptr<Command> make_trace_convert() { return std::make_unique<TraceConvert>(); }
std::unique_ptr<Command> make_trace_generate() { return std::make_unique<TraceGenerate>(); }
std::unique_ptr<Command> make_trace_slice() { return std::make_unique<TraceSlice>(); }

}  // namespace kvsim::cli
