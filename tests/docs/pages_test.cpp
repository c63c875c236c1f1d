#include "cli/explain/pages.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "config/document.h"

using kvsim::cli::Page;

TEST_CASE("generated pages are as committed") {
  for (const Page& page : kvsim::cli::pages()) {
    const std::string path = std::string(KVSIM_SOURCE_DIR) + "/docs/" + page.path;
    INFO("run: cmake --build build/dev --target kvsim_update_docs");
    INFO(path);
    REQUIRE(std::filesystem::exists(path));
    const bool is_equal = kvsim::config::read_file(path) == page.text;
    CHECK(is_equal);
  }
}
