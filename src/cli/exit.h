#pragma once

namespace kvsim::cli {

// The process's exit status; scripts rely on every one of them.
enum class Exit {
  ok = 0,
  no = 1,             // the answer is no: does not fit, requirement missed, regression
  usage = 2,          // the command line cannot be understood
  input = 3,          // a file's content cannot be used
  io = 4,             // a file cannot be opened, read or written
  internal = 70,      // a broken promise inside kvsim
  interrupted = 130,  // by the user
};

}  // namespace kvsim::cli
