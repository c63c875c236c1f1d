#include "support/paths.h"

namespace kvsim::testing {

const char* source_dir() { return KVSIM_TEST_SOURCE_DIR; }
const char* binary_dir() { return KVSIM_TEST_BINARY_DIR; }

}  // namespace kvsim::testing
