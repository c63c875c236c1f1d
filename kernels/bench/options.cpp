#include "kernels/bench/options.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "kernels/bench/edit_distance.h"

namespace kvsim::kernels::bench {
namespace {

struct Flag {
  std::string_view name, value;  // value "": takes none
  std::string_view meaning;
  void (*apply)(Options&, std::string_view);
};

template <class Number>
Number number_of(std::string_view flag, std::string_view text) {
  Number out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(std::string(flag) + ": expected a number, found \"" + std::string(text) +
                     "\"");
  return out;
}

Backend backend_of(std::string_view text) {
  if (text == "cpu") return Backend::cpu;
  if (text == "gpu") return Backend::gpu;
  throw UsageError("--backend: expected cpu or gpu, found \"" + std::string(text) + "\"");
}

constexpr Flag flags[] = {
    {"--backend", "cpu|gpu", "the executor (checks and byte counts, no times) or the GPU [gpu]",
     [](Options& o, std::string_view v) { o.backend = backend_of(v); }},
    {"--quick", "", "the quick cases only: every variant once or twice, at small shapes",
     [](Options& o, std::string_view) { o.quick = true; }},
    {"--check-only", "", "check the variants, take no times and no ceilings",
     [](Options& o, std::string_view) { o.scope = Scope::check; }},
    {"--budget-s", "N", "seconds after which nothing new is started [220]",
     [](Options& o, std::string_view v) {
       o.budget_s = number_of<double>("--budget-s", v);
       if (!(o.budget_s > 0)) throw UsageError("--budget-s: expected a number above 0");
     }},
    {"--filter", "SUBSTRING", "only the cases whose id holds it, or of the family of that name",
     [](Options& o, std::string_view v) { o.filter = v; }},
    {"--seed", "N", "seed of the inputs [1]",
     [](Options& o, std::string_view v) { o.seed = number_of<std::uint64_t>("--seed", v); }},
    {"-o", "FILE", "write the document there, whole or not at all; - is stdout [-]",
     [](Options& o, std::string_view v) {
       if (v.empty()) throw UsageError("-o: expected a file or -, found \"\"");
       o.output = v == "-" ? "" : v;
     }},
    {"--list", "", "print the ids of all cases and stop",
     [](Options& o, std::string_view) { o.action = Action::list; }},
    {"--version", "", "print what was built and stop",
     [](Options& o, std::string_view) { o.action = Action::version; }},
    {"--help", "", "print this and stop; also -h",
     [](Options& o, std::string_view) { o.action = Action::help; }},
};

// What may have been meant by the flag: one that begins so, or that a slip of the fingers made; ""
// where nothing is that near.
std::string nearest_flag(std::string_view name) {
  constexpr std::size_t prefix = 5;  // "--" and three letters
  std::string nearest;
  std::size_t least = std::min<std::size_t>(2, (name.size() - 1) / 3) + 1;
  for (const Flag& f : flags) {
    const bool begins = name.size() >= prefix && f.name.starts_with(name);
    const std::size_t distance = begins ? 0 : edit_distance(name, f.name);
    if (distance < least) least = distance, nearest = f.name;
  }
  return nearest;
}

const Flag& flag_named(std::string_view name) {
  if (name == "--output") name = "-o";
  if (name == "-h") name = "--help";
  const auto named = std::ranges::find(flags, name, &Flag::name);
  if (named != std::end(flags)) return *named;
  const std::string nearest = nearest_flag(name);
  throw UsageError("unknown flag " + std::string(name) +
                   (nearest.empty() ? "" : "; the nearest is " + nearest));
}

}  // namespace

Options parse_options(std::span<const char* const> arguments) {
  Options out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = argument.starts_with("--") ? argument.find('=') : argument.npos;
    const Flag& flag = flag_named(argument.substr(0, equals));
    std::optional<std::string_view> value;
    if (equals != argument.npos) value = argument.substr(equals + 1);
    if (flag.value.empty() && value) throw UsageError(std::string(flag.name) + " takes no value");
    if (!flag.value.empty() && !value) {
      if (++i == arguments.size())
        throw UsageError(std::string(flag.name) + " needs a value: " + std::string(flag.value));
      value = arguments[i];
    }
    flag.apply(out, value.value_or(""));
  }
  return out;
}

std::string help_text() {
  std::string out =
      "kvbench: checks the attention kernels, takes their times and the GPU's ceilings\n\n"
      "Usage: kvbench [FLAGS]\n\n"
      "Examples:\n"
      "  kvbench --backend cpu --quick -o cpu.json\n"
      "      every variant under the executor: errors and bytes touched, no times\n"
      "  kvbench --backend gpu --budget-s 150 -o kvbench.json\n"
      "      ceilings, checks and times of this machine's GPU\n\n"
      "Flags:\n";
  for (const Flag& f : flags) {
    std::string head = "  " + std::string(f.name) + " " + std::string(f.value);
    head.resize(std::max<std::size_t>(head.size() + 1, 24), ' ');
    out += head + std::string(f.meaning) + "\n";
  }
  return out +
         "\nOn a GPU copies and reads of a gigabyte are timed first, whatever the filter, because\n"
         "frac_copy_bw, frac_floor and floor_us are shares of what they reach. The rate of the "
         "matrix\n"
         "instruction is a ceiling only where the filter lets mma_peak or gemm through.\n"
         "\nAfter an interrupt (SIGINT, SIGTERM) the case is finished and the document written; a\n"
         "second one ends kvbench at once.\n"
         "\nExit codes: 0 no check failed, 1 a variant failed its check, 2 the command line, or a "
         "filter\n"
         "that leaves no case, 4 a file cannot be written, 77 no GPU for --backend gpu, 130 "
         "interrupted\n";
}

}  // namespace kvsim::kernels::bench
