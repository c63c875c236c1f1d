#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "diag/diagnostic.h"
#include "random/stream.h"
#include "units/units.h"

namespace kvsim::workload {

enum class LengthKind { fixed, uniform, lognormal, empirical };

// A number of tokens (or of turns, steps), at least 1: how it is drawn. Only the fields of its kind
// may be given.
struct LengthSpec {
  LengthKind kind = LengthKind::fixed;
  std::optional<std::int64_t> value;  // fixed
  std::optional<std::int64_t> min,
      max;  // uniform: required, inclusive; lognormal: drawn again outside
  std::optional<double> median, sigma;  // lognormal
  std::optional<std::string> file;  // empirical: a trace, whose rows are drawn with equal chance
};
LengthSpec fixed_length(std::int64_t value);
void fields(config::FieldVisitor& v, LengthSpec& spec);
void check(const LengthSpec& spec, Diagnostics& diagnostics, const std::string& pointer);

enum class PauseKind { fixed, exponential, lognormal };

// A pause of a person, a tool or a client.
struct PauseSpec {
  PauseKind kind = PauseKind::fixed;
  Duration time{};              // the pause, its mean, its median
  std::optional<double> sigma;  // lognormal
};
void fields(config::FieldVisitor& v, PauseSpec& spec);
void check(const PauseSpec& spec, Diagnostics& diagnostics, const std::string& pointer);
Duration draw(const PauseSpec& spec, random::Stream& stream);

// Which column of a trace an empirical length is drawn from.
enum class TraceColumn { input, output };

// Draws lengths; holds the rows of an empirical one.
class Lengths {
 public:
  // Throws IoError and InputError for a trace that cannot be read.
  Lengths(const LengthSpec& spec, TraceColumn column, const std::string& folder);
  // The length for request `index`: from stream (seed, name, index). An empirical length is drawn
  // from (seed, "empirical", index) instead, so that input and output come from one row.
  // Throws InputError when the bounds of a lognormal length exclude nearly all of it.
  std::int64_t draw(std::uint64_t seed, std::string_view name, std::uint64_t index) const;

 private:
  LengthSpec spec_;
  std::vector<std::int32_t> rows_;
};

}  // namespace kvsim::workload
