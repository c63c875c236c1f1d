#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "calibrate/fit/held_out.h"

using namespace kvsim;
using namespace kvsim::calibrate;

TEST_CASE("latent attention and experts are predicted well on published rows that were left out") {
  const std::string folder = std::string(KVSIM_SOURCE_DIR) + "/../shared/data/kernels/";
  struct Case {
    const char* file;
    double error;
    std::int64_t rows;
  };
  for (const Case& c :
       {Case{"mla_h100_sxm.csv", 0.06, 800}, Case{"mla_module_h200_sxm.csv", 0.06, 500},
        Case{"mla_bmm.csv", 0.08, 500}, Case{"moe_rtx_pro_6000_server.csv", 0.12, 700}}) {
    if (!std::filesystem::exists(folder + c.file)) {
      MESSAGE("skipped: ../shared/data/kernels is not there");
      return;
    }
    std::int64_t rows = 0;
    CAPTURE(c.file);
    CHECK(held_out_error(folder + c.file, &rows) < c.error);
    CHECK(rows > c.rows);
  }
}
