#include <fmt/format.h>

#include <filesystem>

#include "calibrate/profile/calibration.h"
#include "calibrate/serving/host_calibration.h"
#include "cli/commands/makers.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/usage.h"
#include "config/document.h"
#include "cost/library/cost_document.h"
#include "report/calibration.h"

namespace kvsim::cli {
namespace {

namespace fs = std::filesystem;

class Calibrate final : public Command {
 public:
  void describe(Flags& flags) override {
    flags
        .positional("MEASUREMENTS", files_,
                    "timings of kernels: CSV files as `kvsim validate` reads; - is stdin")
        .completes(Complete::file)
        .require();
    flags
        .option("--gpu", gpu_,
                "fit the rows of this GPU only; rows whose GPU is no catalog word count as it")
        .value("GPU")
        .completes(Complete::gpu);
    flags
        .option("--holdout", holdout_,
                "share of the rows that a first fit does not see, to measure its error on")
        .value("F")
        .range(config::between(0, 0.9));
    flags
        .option("--source", sources_,
                "where the timings come from, kept in the cost files; may be repeated")
        .value("TEXT");
    flags.flag("--host", host_,
               "fit the engines' host constants to serving runs instead; -o names the file");
    flags.example("kvsim calibrate gemm.csv decode_attn.csv -o fits/",
                  "fit every operator; one cost file per GPU, framework and version");
    flags.example("kvsim calibrate mine.csv --gpu h100-sxm -o mine.json",
                  "one's own timings, as one cost file");
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    if (host_) return fit_hosts(context, catalog);
    calibrate::CalibrateOptions options;
    if (!gpu_.empty()) options.gpu = catalog.gpu(gpu_).id;
    options.holdout = holdout_;
    options.seed = static_cast<std::uint64_t>(context.globals().seed.value_or(1));
    options.sources = sources_;
    Progress progress(context, "calibrate");
    options.progress = [&](std::size_t done, std::size_t all) {
      poll_interrupt();
      progress.update(static_cast<double>(done) / static_cast<double>(all));
    };
    const calibrate::Calibration result =
        calibrate::fit_measurements(calibrate::load_measurement_files(files_), catalog, options);
    for (const std::string& name : result.renamed)
      context.note(fmt::format("rows of \"{}\", which the catalog does not know, count as {}", name,
                               options.gpu));
    const std::string& target = context.globals().output;
    if (target == "-") {
      context.print(cost::cost_json(only_file(result)));
    } else {
      write(result, target);
      context.print(context.json() ? report::calibration_json(result)
                                   : report::calibration_text(result, target));
    }
    if (!result.operators.empty()) return Exit::ok;
    context.warn("calibrate-nothing", "no row could be fitted");
    return Exit::no;
  }

 private:
  Exit fit_hosts(Context& context, const spec::Catalog& catalog) const {
    const calibrate::HostCalibration result = calibrate::fit_hosts(
        calibrate::load_measurement_files(files_), catalog, "hosts", sources_, poll_interrupt);
    const std::string text = report::host_json(result.file), &target = context.globals().output;
    if (target.empty() || target == "-")
      context.print(text);
    else
      config::write_file(target, text);
    for (const calibrate::SkippedRows& s : result.skipped)
      context.note(fmt::format("{} rows left out: {} (first {})", s.n, s.reason, s.first));
    if (result.used > 0) return Exit::ok;
    context.warn("calibrate-nothing", "no serving run could be used");
    return Exit::no;
  }

  static const cost::CostFile& only_file(const calibrate::Calibration& result) {
    if (result.files.size() == 1) return result.files.front();
    std::vector<std::string> ids;
    for (const cost::CostFile& file : result.files) ids.push_back(file.id);
    throw UsageError(fmt::format("-o: {} cost files were fitted ({}), and one file was named",
                                 ids.size(), fmt::join(ids, ", ")),
                     "name a folder: a path that exists as one or ends in /", "usage-value");
  }

  static void write(const calibrate::Calibration& result, const std::string& target) {
    if (target.empty() || result.files.empty()) return;
    std::error_code error;
    if (!target.ends_with('/') && !fs::is_directory(target, error))
      return config::write_file(target, cost::cost_json(only_file(result)));
    fs::create_directories(target, error);
    if (error) throw IoError(target, "cannot be made: " + error.message());
    for (const cost::CostFile& file : result.files)
      config::write_file((fs::path(target) / (file.id + ".json")).string(), cost::cost_json(file));
  }

  std::vector<std::string> files_, sources_;
  std::string gpu_;
  double holdout_ = 0.33;
  bool host_ = false;
};

}  // namespace

std::unique_ptr<Command> make_calibrate() { return std::make_unique<Calibrate>(); }

}  // namespace kvsim::cli
