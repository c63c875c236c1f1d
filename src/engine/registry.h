#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "engine/profile.h"

namespace kvsim::engine {

// One rule that a profile follows, and where it was read.
struct ProfileRule {
  std::string_view rule;
  std::string_view source;
};

// Whether the version knows vLLM's scheduler_reserve_full_isl.
enum class FullInputGate { there, absent };

// One engine profile: a dated restatement of an engine's scheduler and cache.
struct ProfileEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view version;  // what it was read from
  std::string_view engine;   // whose memory rules size it (memory::engine_names)
  std::unique_ptr<Profile> (*make)(const SchedulerLimits&, RequestTable&);
  std::span<const ProfileRule> rules = {};
  // The version whose memory rules are used where a scenario names none; empty: the newest.
  std::string_view memory_version = {};
  FullInputGate full_input_gate = FullInputGate::there;
};

std::span<const ProfileEntry> profiles();
const ProfileEntry* find_profile(std::string_view name);

}  // namespace kvsim::engine
