#pragma once
#include <memory>

#include "cli/command.h"

// One maker per command, defined in commands/<name>.cpp.
namespace kvsim::cli {

// Answers
std::unique_ptr<Command> make_run();

std::unique_ptr<Command> make_plan();

// Catalog

// Workloads

std::unique_ptr<Command> make_trace_info();
std::unique_ptr<Command> make_trace_convert();
std::unique_ptr<Command> make_trace_generate();
std::unique_ptr<Command> make_trace_slice();

// Trust

std::unique_ptr<Command> make_validate();
std::unique_ptr<Command> make_check();

// Results

// Help

std::unique_ptr<Command> make_explain();
std::unique_ptr<Command> make_completion();
std::unique_ptr<Command> make_version();

}  // namespace kvsim::cli
