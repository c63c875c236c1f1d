#include "planner/at_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diag/diagnostic.h"
#include "units/format.h"

#include "memory/holding.h"

namespace kvsim::planner {
namespace {

constexpr double z_95 = 1.6448536269514722;

// Sums of a need and of its square over 1 to n tokens.
class Sums {
 public:
  Sums(const memory::Holding& holding, std::int64_t longest) {
    first_.reserve(static_cast<std::size_t>(longest) + 1);
    second_.reserve(static_cast<std::size_t>(longest) + 1);
    first_.push_back(0), second_.push_back(0);
    for (std::int64_t n = 1; n <= longest; ++n) {
      const double need = holding.need(n);
      first_.push_back(first_.back() + need);
      second_.push_back(second_.back() + need * need);
    }
  }
  double need(std::int64_t from, std::int64_t to) const { return between(first_, from, to); }
  double square(std::int64_t from, std::int64_t to) const { return between(second_, from, to); }

 private:
  static double between(const std::vector<double>& sums, std::int64_t from, std::int64_t to) {
    return sums[static_cast<std::size_t>(to)] - sums[static_cast<std::size_t>(from - 1)];
  }
  std::vector<double> first_, second_;
};

std::int64_t full_length(const LengthMix::Row& row) { return row.prompt + row.output - 1; }

}  // namespace

std::int64_t safe_number(double capacity, double mean, double deviation) {
  if (capacity <= 0 || mean <= 0) return 0;
  const double spread = z_95 * deviation;
  const double root = (std::sqrt(spread * spread + 4 * mean * capacity) - spread) / (2 * mean);
  return static_cast<std::int64_t>(root * root + 1e-9);
}

AtLengths at_lengths(const memory::Pool& pool, const LengthMix& mix) {
  const std::int64_t most = pool.options.max_model_len;
  const memory::Holding holding(pool);
  AtLengths a;
  a.description = mix.description;
  a.requests = mix.requests;
  a.unit = holding.unit();
  a.capacity = holding.capacity();
  std::int64_t longest = 0;
  double weight = 0, refused = 0;
  for (const LengthMix::Row& row : mix.rows) {
    if (row.prompt + (row.output > 1 ? row.output : 0) > most) {
      refused += row.weight;
      continue;
    }
    longest = std::max(longest, full_length(row));
    weight += row.weight;
    a.mean_prompt_tokens += row.weight * static_cast<double>(row.prompt);
    a.mean_output_tokens += row.weight * static_cast<double>(row.output);
  }
  if (longest == 0)
    throw InputError({.code = "lengths-too-long",
                      .message = fmt::format("every request of {} is longer than max_model_len {}",
                                             mix.description, format_integer(most)),
                      .hint = "raise --max-model-len, or give shorter lengths"});
  a.refused = refused / (refused + weight);
  a.mean_prompt_tokens /= weight;
  a.mean_output_tokens /= weight;
  const Sums sums(holding, longest);
  double steps = 0, held = 0, squares = 0, full = 0;
  for (const LengthMix::Row& row : mix.rows) {
    if (row.prompt + (row.output > 1 ? row.output : 0) > most) continue;
    const double life = row.weight * static_cast<double>(row.output);
    const double at_end = holding.need(full_length(row));
    steps += life;
    held += row.weight * sums.need(row.prompt, full_length(row));
    squares += row.weight * sums.square(row.prompt, full_length(row));
    full += life * at_end;
    a.most_full = std::max(a.most_full, at_end);
  }
  a.mean_held = held / steps;
  a.deviation_held = std::sqrt(std::max(0.0, squares / steps - a.mean_held * a.mean_held));
  a.mean_full = full / steps;
  const int replicas = pool.options.plan.data_parallel_size;
  const auto total = [&](double of_one) {
    if (holding.most_requests() > 0)
      of_one = std::min(of_one, static_cast<double>(holding.most_requests()));
    return of_one * replicas;
  };
  const auto whole = [](double x) { return static_cast<std::int64_t>(x + 1e-9); };
  a.steady = total(a.capacity / a.mean_held);
  a.safe =
      whole(total(static_cast<double>(safe_number(a.capacity, a.mean_held, a.deviation_held))));
  a.at_peak = whole(total(std::floor(a.capacity / a.mean_full)));
  a.all_longest = whole(total(std::floor(a.capacity / a.most_full)));
  a.max_num_seqs = pool.options.max_num_seqs * replicas;
  return a;
}

}  // namespace kvsim::planner
