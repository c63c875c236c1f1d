#include "calibrate/validation.h"

#include <fmt/format.h>

#include "cli/commands/makers.h"
#include "config/document.h"
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
        .option("--max-error", max_error_,
                "exit 1 when the mean error over all rows is above this fraction")
        .value("X")
        .range(config::above(0));
    flags.option("--worst", worst_, "how many of the worst rows to list")
        .range(config::at_least(0));
    flags.option("--scatter", scatter_, "write every row's measured and predicted value as CSV")
        .value("FILE")
        .completes(Complete::file);
    flags.example("kvsim validate gemm_h100_sxm.csv",
                  "how far the data sheet's roofline is from measured products");
    flags.example("kvsim validate *.csv --json --max-error 0.4", "the same for scripts, as a gate");
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    const calibrate::Validation v = calibrate::validate(files_, catalog);
    context.print(context.json() ? report::validation_json(v)
                                 : report::validation_text(v, static_cast<std::size_t>(worst_)));
    if (!scatter_.empty()) config::write_file(scatter_, report::validation_csv(v));
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
  std::vector<std::string> files_;
  std::optional<double> max_error_;
  std::int64_t worst_ = 10;
  std::string scatter_;
};

}  // namespace

std::unique_ptr<Command> make_validate() { return std::make_unique<Validate>(); }

}  // namespace kvsim::cli
