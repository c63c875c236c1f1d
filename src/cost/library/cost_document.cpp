#include "cost/library/cost_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "config/echo.h"
#include "config/reader.h"
#include "cost/operators/operator_model.h"

namespace kvsim::cost {
namespace {

constexpr int digits = 6, coarse_digits = 4;
constexpr double rounding = 1e-5;        // that a parameter may lie beyond its bound
constexpr double largest_residual = 50;  // a logarithm: beyond it sums leave all sense

double rounded(double x, int significant) {
  return std::strtod(fmt::format("{:.{}g}", x, significant).c_str(), nullptr);
}
void round_all(std::vector<double>& values, int significant) {
  for (double& x : values) x = rounded(x, significant);
}
void round_all(FitErrors& e) {
  for (double* x : {&e.mape, &e.median_ape, &e.p90_ape, &e.bias}) *x = rounded(*x, coarse_digits);
}

OperatorFit rounded(OperatorFit f) {
  // Parameters stay as they are: forms round up to whole tiles and splits, and a fit may stand so
  // near to such a step that the seventh digit decides the side.
  round_all(f.covariance, coarse_digits);
  for (ResidualTable& t : f.tables) {
    for (ResidualTable::Axis& a : t.axes) round_all(a.knots, digits);
    // Logarithms of ratios: a ten-thousandth is far below what was measured.
    for (double& x : t.values) x = rounded(std::abs(x) < 1e-4 ? 0.0 : x, coarse_digits);
  }
  round_all(f.low, digits), round_all(f.high, digits);
  round_all(f.errors), round_all(f.holdout);
  f.log_sigma = rounded(f.log_sigma, coarse_digits);
  round_all(f.log_quantiles, coarse_digits);
  return f;
}

// Members of an object, each on a line of its own.
std::string member_lines(config::Value object, std::string_view indent) {
  std::string out;
  for (std::size_t i = 0; i < object.size(); ++i)
    out += fmt::format("{}{}{}: {}", i > 0 ? ",\n" : "", indent, config::json_string(object.key(i)),
                       object.at(i).json());
  return out;
}

// What a fit lacks beyond what its types say, as (member, message); "" = nothing.
std::pair<std::string, std::string> inconsistency(const OperatorFit& f, const Form& form) {
  const std::size_t n = f.parameters.size(), features = form.feature_names.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Parameter& p = form.parameters[i];
    if (f.parameters[i] < p.low * (1 - rounding) || f.parameters[i] > p.high * (1 + rounding))
      return {"parameters", fmt::format("\"{}\" must lie between {:g} and {:g}, found {:g}", p.name,
                                        p.low, p.high, f.parameters[i])};
  }
  if (!f.covariance.empty() && f.covariance.size() != n * (n + 1) / 2)
    return {"covariance", fmt::format("expected none or {} numbers, the lower triangle for {} "
                                      "parameters, found {}",
                                      n * (n + 1) / 2, n, f.covariance.size())};
  for (const auto& [name, range] : {std::pair{"low", &f.low}, std::pair{"high", &f.high}})
    if (!range->empty() && range->size() != features)
      return {name, fmt::format("expected none or {} numbers, one per feature of \"{}\", found {}",
                                features, form.name, range->size())};
  if (!f.log_quantiles.empty() &&
      (f.log_quantiles.size() != 5 || !std::ranges::is_sorted(f.log_quantiles)))
    return {"log_quantiles", "expected none or five ascending numbers"};
  for (const ResidualTable& t : f.tables) {
    if (std::ranges::any_of(t.values, [](double x) { return std::abs(x) > largest_residual; }))
      return {"tables",
              fmt::format("a residual must lie within {0:g} and -{0:g}", largest_residual)};
    for (const ResidualTable::Axis& a : t.axes)
      if (a.feature >= static_cast<std::int64_t>(features))
        return {"tables", fmt::format("form \"{}\" has no feature {}", form.name, a.feature)};
  }
  return {};
}

void check(const OperatorFit& fit, config::Value where, Diagnostics& diagnostics) {
  try {
    const OperatorModel model(fit, Device{});
    const auto [member, message] = inconsistency(fit, model.form());
    if (!message.empty())
      diagnostics.add(
          where.find(member).diagnostic("cost-fit", fmt::format("{}: {}", member, message)));
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics())
      diagnostics.add(where.diagnostic(d.code, d.message, d.hint));
  }
}

}  // namespace

CostFile read_cost(const config::Document& document, Mismatched mismatched) {
  Diagnostics diagnostics;
  CostFile file;
  config::read(document.root(), file, diagnostics, cost_schema);
  diagnostics.throw_if_errors();
  const config::Value operators = document.root().find("operators");
  std::vector<OperatorFit> sound;
  for (std::size_t i = 0; i < file.operators.size(); ++i) {
    Diagnostics own;
    check(file.operators[i], operators.at(i), own);
    if (!own.has_errors()) sound.push_back(std::move(file.operators[i]));
    for (const Diagnostic& d : own.list()) diagnostics.add(d);
  }
  if (mismatched == Mismatched::refused) diagnostics.throw_if_errors();
  file.operators = std::move(sound);
  return file;
}

std::string cost_json(const CostFile& file) {
  CostFile header = file;
  header.operators.clear();
  const auto head =
      config::Document::parse(config::echo_json(header, cost_schema), "cost file header");
  std::string out = "{\n";
  for (std::size_t i = 0; i < head.root().size(); ++i)
    if (head.root().key(i) != "operators")
      out += fmt::format("  {}: {},\n", config::json_string(head.root().key(i)),
                         head.root().at(i).json());
  out += "  \"operators\": [";
  for (std::size_t i = 0; i < file.operators.size(); ++i) {
    const auto one =
        config::Document::parse(config::echo_json(rounded(file.operators[i])), "operator");
    out +=
        fmt::format("{}\n    {{\n{}\n    }}", i > 0 ? "," : "", member_lines(one.root(), "      "));
  }
  return out + "\n  ]\n}\n";
}

}  // namespace kvsim::cost
