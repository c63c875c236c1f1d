#pragma once

// Included into every test by the build. The paths are known to one object file only, so that the
// compiler cache serves equal tests to every checkout.
namespace kvsim::testing {

const char* source_dir();
const char* binary_dir();

}  // namespace kvsim::testing

#define KVSIM_SOURCE_DIR (::kvsim::testing::source_dir())
#define KVSIM_BINARY_DIR (::kvsim::testing::binary_dir())
