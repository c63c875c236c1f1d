#pragma once
#include <span>
#include <string_view>

// Everything that reads text from outside, one function each. Called with any bytes it either
// reads them or throws InputError, and what was read keeps its promises; anything else is a
// finding.
namespace kvsim::fuzz {

struct Target {
  std::string_view name;
  void (*read)(std::string_view text);
};
std::span<const Target> targets();

// Targets with a file of their own.
void json(std::string_view text);
void measurements(std::string_view text);
void result(std::string_view text);
void requirement(std::string_view text);
void scenario(std::string_view text);
void command(std::string_view text);
void engine_log(std::string_view text);
void conform(std::string_view text);

// Runs one target; InputError is the answer to bad input and is swallowed here.
void run(const Target& target, std::string_view text);

}  // namespace kvsim::fuzz
