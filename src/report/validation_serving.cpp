#include <fmt/format.h>

#include "report/table.h"
#include "report/validation.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f}%", 100 * share); }
std::string time(double us) { return us > 0 ? format_duration(to_duration(1e-6 * us)) : ""; }
std::string scale(double x) { return x == 1 ? "" : fmt::format("{:.2f}", x); }

}  // namespace

std::string serving_text(const calibrate::Validation& v) {
  if (v.serving.empty()) return "";
  Table t({{"figure"},
           {"part"},
           {"n", Align::right},
           {"median", Align::right},
           {"bias", Align::right},
           {"within 20%", Align::right},
           {"in the 90% interval", Align::right}});
  for (const calibrate::ServingSummary& s : v.serving)
    t.row({s.kernel, s.part, format_integer(s.n), percent(s.median_ape), signed_percent(s.bias),
           percent(s.within_20), s.coverage_90 ? percent(*s.coverage_90) : ""});
  std::string out = "\nServing runs\n" + t.text(0, 140);
  if (v.hosts.empty()) return out;
  Table h({{"host constants of"},
           {"n", Align::right},
           {"step", Align::right},
           {"sequence", Align::right},
           {"prefill", Align::right},
           {"request", Align::right},
           {"decode x", Align::right},
           {"prefill x", Align::right}});
  for (const auto& f : v.hosts) {
    const cost::HostProfile& p = f.entry.profile;
    h.row({f.group, format_integer(f.entry.rows), time(p.step_us), time(p.sequence_us),
           time(p.prefill_us), time(p.request_us), scale(p.decode_scale), scale(p.prefill_scale)});
  }
  return out + "\nFitted to the runs that were not scored\n" + h.text(0, 140);
}

}  // namespace kvsim::report
