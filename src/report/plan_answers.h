#pragma once
#include <string>

#include "planner/plan.h"

// The planner's answers to single questions, as parts of the plan's text and document.
namespace kvsim::report {

// "max_model_len 4,096", "kv_cache_dtype fp8", "enforce_eager".
std::string setting_text(const planner::Setting& setting);

// The settings of an advice, with commas between.
std::string settings_text(const planner::Advice& advice);

std::string feasible_text(const planner::Plan& plan);  // "1 to 20,000, 32,769 to 131,072"
std::string smallest_text(const planner::Plan& plan);  // a block, ends in a newline

// Of a refusal: the largest term and what is short; "" when it fits.
std::string binding_text(const planner::Plan& plan);

// Blocks of what was asked; "" where nothing was.
std::string questions_text(const planner::Plan& plan);

// Members to merge into the plan's document (an RFC 7386 patch without nulls), as JSON text.
std::string answers_json(const planner::Plan& plan);

}  // namespace kvsim::report
