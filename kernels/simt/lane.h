#pragma once
#include <cstdint>

namespace kvsim::simt {

class Accounting;
class BlockRunner;

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// Where in the kernel's text something was called. Barriers and collectives are told apart by it.
struct Site {
  const char* file;
  int line;
};

// One CUDA thread as its own code sees it.
struct Lane {
  Index3 thread_idx, block_idx, block_dim, grid_dim;
  unsigned index = 0;                // in the block: warp = index / 32
  unsigned char* shared = nullptr;   // the block's arena, 128-byte aligned
  Accounting* accounting = nullptr;  // null: bytes are not counted
  BlockRunner* runner = nullptr;
};

// The lane that runs on this OS thread. Valid inside a kernel only.
extern constinit thread_local Lane* current;

}  // namespace kvsim::simt
