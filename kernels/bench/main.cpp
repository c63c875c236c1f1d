#include <cstdio>
#include <ctime>
#include <exception>

#include "kernels/bench/build_facts.h"
#include "kernels/bench/output_file.h"
#include "kernels/bench/run.h"
#include "kernels/bench/selection.h"
#include "kernels/bench/summary.h"

using namespace kvsim::kernels;
using namespace kvsim::kernels::bench;

namespace {

enum Exit { success = 0, check_failed = 1, usage = 2, io = 4, no_gpu = 77, interrupt = 130 };

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

std::string version() {
  const BuildFacts b = build_facts();
  const auto or_none = [](const std::string& s) { return s.empty() ? "none" : s; };
  return "kvbench (schema kvsim.kvbench/1)\ngit " + or_none(b.git) + "\ncompiler " + b.compiler +
         "\nnvcc " + or_none(b.nvcc) + "\narchitectures " + or_none(b.arch) + "\n";
}

void list(const Options& options) {
  const Selection selection(options.filter);
  for (const auto& [kind, id] : cases_of_run(options))
    if (selection.has(id)) std::printf("%s %s\n", kind.c_str(), id.c_str());
}

int measure(const Options& options) {
  expect_writable(options.output);
  Document document;
  document.started = now();
  document.seed = options.seed;
  document.build = build_facts();
  document.backend = options.backend;
  Deadline deadline(options.budget_s);
  catch_interrupts();
  if (options.backend == Backend::cpu) {
    run_cpu(options, document, deadline);
  } else {
    const GpuOrReason gpu = make_gpu_device();
    if (gpu.device == nullptr) {
      say("kvbench: " + gpu.reason + "\nnext: kvbench --backend cpu --quick checks the same text");
      return no_gpu;
    }
    const auto timing = make_gpu_timing(*gpu.device);
    run_gpu(*gpu.device, *timing, options, document, deadline);
  }
  write_output(options.output, to_json(document));
  std::fputs(summary(document, options).c_str(), stderr);
  if (interrupted()) return interrupt;
  return document.any_failed() ? check_failed : success;
}

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<const char*> arguments(values + 1, values + count);
    const Options options = parse_options(arguments);
    if (options.action == Action::list || options.action == Action::measure)
      expect_some_case(options);
    switch (options.action) {
      case Action::help:
        std::fputs(help_text().c_str(), stdout);
        return success;
      case Action::version:
        std::fputs(version().c_str(), stdout);
        return success;
      case Action::list:
        list(options);
        return success;
      case Action::measure:
        return measure(options);
    }
    return success;
  } catch (const UsageError& error) {
    say(std::string("kvbench: ") + error.what() + "\nnext: " + error.next);
    return usage;
  } catch (const WriteError& error) {
    say(std::string("kvbench: ") + error.what());
    return io;
  } catch (const std::exception& error) {
    say(std::string("kvbench: ") + error.what());
    return check_failed;
  }
}
