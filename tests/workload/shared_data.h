#pragma once
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

// The path of a file of the shared data beside the checkout, "" (with a printed reason) without it.
inline std::string shared_data(const std::string& file) {
  const auto path =
      std::filesystem::path(KVSIM_SOURCE_DIR).parent_path() / "shared" / "data" / file;
  if (std::filesystem::exists(path)) return path.string();
  MESSAGE("skipped: ", path.string(), " is not here");
  return {};
}
