#include "calibrate/validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/makers.h"
#include "cli/interrupt.h"
#include "cli/usage.h"
#include "config/document.h"
#include "cost/library/cost_document.h"
#include "report/validation.h"
#include "spec/catalog.h"

namespace kvsim::cli {
namespace {

class Validate final : public Command {
 public:
  void describe(Flags& flags) override {
    flags
        .positional("MEASUREMENTS", files_,
                    "measured kernels or serving runs: CSV files or kvbench JSON; - is stdin")
        .completes(Complete::file)
        .require();
    flags
        .option("--cost", cost_,
                "predict from this cost file of `kvsim calibrate` before the catalog's; may be "
                "repeated")
        .value("FILE")
        .completes(Complete::file);
    flags
        .option("--holdout", options_.holdout,
                "fit the rows but this share of them, and score that share; --seed chooses it")
        .value("F")
        .range(config::between(0, 0.9));
    flags
        .option("--cost-mode", mode_,
                "fit: the fitted forms; table: and what measured rows nearby leave over of them")
        .words({"fit", "table"})
        .value("MODE");
    flags.flag("--roofline", roofline_, "predict from the datasheet alone");
    flags.flag("--leave-out-gpu", relatives_,
               "predict each GPU from the fits of its nearest relative, as if it had none");
    flags
        .option("--host", host_,
                "host constants of serving runs: known ones, none, fitted to every other run of a "
                "group (halves), or to the other models (left-out)")
        .words({"known", "none", "halves", "left-out"})
        .value("WHICH");
    flags.option("--model", options_.model, "of serving runs, those of this model only")
        .value("NAME")
        .completes(Complete::model);
    flags
        .option("--max-error", max_error_,
                "exit 1 when the mean error over all rows is above this fraction")
        .value("X")
        .range(config::above(0));
    flags.option("--worst", worst_, "how many of the worst rows to list")
        .range(config::at_least(0));
    flags
        .option("--scatter", scatter_,
                "write every row's measured and predicted value: a picture for *.svg, else CSV")
        .value("FILE")
        .completes(Complete::file);
    flags.example("kvsim validate gemm_h100_sxm.csv",
                  "how far the shipped fits are from measured products");
    flags.example("kvsim validate gemm_h100_sxm.csv --holdout 0.33",
                  "the error on a third of the rows by fits to the others");
    flags.example("kvsim validate *.csv --json --max-error 0.4", "the same for scripts, as a gate");
  }

  Exit run(Context& context) override {
    if (roofline_ + relatives_ + (options_.holdout > 0) > 1)
      throw UsageError("--roofline, --leave-out-gpu and --holdout exclude each other",
                       "each names another source of the predictions", "usage-value");
    if (roofline_) options_.predictions = calibrate::Predictions::datasheet;
    if (relatives_) options_.predictions = calibrate::Predictions::relatives;
    const auto host = std::ranges::find(calibrate::host_constants_names, std::string_view(host_));
    options_.host =
        static_cast<calibrate::HostConstants>(host - calibrate::host_constants_names.begin());
    if (mode_ == "table") options_.mode = calibrate::CostMode::table;
    options_.seed = static_cast<std::uint64_t>(context.globals().seed.value_or(1));
    options_.worst = static_cast<std::size_t>(worst_);
    for (const std::string& path : cost_)
      options_.cost.push_back(cost::read_cost(config::Document::load(path)));
    const spec::Catalog catalog(context.catalog_folders());
    const calibrate::Validation v = calibrate::validate(files_, catalog, options_);
    context.print(context.json() ? report::validation_json(v) : report::validation_text(v));
    if (!scatter_.empty())
      config::write_file(scatter_, scatter_.ends_with(".svg") ? report::validation_svg(v)
                                                              : report::validation_csv(v));
    if (!max_error_) return Exit::ok;
    if (v.overall.n == 0) {
      context.warn("validate-nothing", "no row could be predicted, so --max-error is not met");
      return Exit::no;
    }
    if (v.overall.mape <= *max_error_) return Exit::ok;
    context.warn("validate-error", fmt::format("the mean error {:.4f} is above --max-error {}",
                                               v.overall.mape, *max_error_));
    return Exit::no;
  }

 private:
  std::vector<std::string> files_, cost_;
  calibrate::ValidateOptions options_;
  std::string mode_ = "fit", host_ = "known";
  bool roofline_ = false, relatives_ = false;
  std::optional<double> max_error_;
  std::int64_t worst_ = 10;
  std::string scatter_;
};

}  // namespace

std::unique_ptr<Command> make_validate() { return std::make_unique<Validate>(); }

}  // namespace kvsim::cli
