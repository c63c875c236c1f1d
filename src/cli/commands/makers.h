#pragma once
#include <memory>

#include "cli/command.h"

// One maker per command, defined in commands/<name>.cpp.
namespace kvsim::cli {

// Answers
std::unique_ptr<Command> make_run();
std::unique_ptr<Command> make_sweep();

std::unique_ptr<Command> make_plan();

// Catalog

std::unique_ptr<Command> make_model_list();
std::unique_ptr<Command> make_model_show();
std::unique_ptr<Command> make_model_import();
std::unique_ptr<Command> make_model_diff();
std::unique_ptr<Command> make_gpu_list();
std::unique_ptr<Command> make_gpu_show();

// Workloads

std::unique_ptr<Command> make_trace_info();
std::unique_ptr<Command> make_trace_convert();
std::unique_ptr<Command> make_trace_generate();
std::unique_ptr<Command> make_trace_slice();

// Trust

std::unique_ptr<Command> make_calibrate();
std::unique_ptr<Command> make_validate();
std::unique_ptr<Command> make_conform();
std::unique_ptr<Command> make_check();

// Results

std::unique_ptr<Command> make_report();
std::unique_ptr<Command> make_compare();

// Help

std::unique_ptr<Command> make_explain();
std::unique_ptr<Command> make_completion();
std::unique_ptr<Command> make_version();

}  // namespace kvsim::cli
