#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Values as the engines' argument parsers take them.
namespace kvsim::launch {

// vLLM's human_readable_int: "8192", "32k" = 32,000, "32K" = 32,768, "25.6k" = 25,600, up to T; the
// capitals are powers of 1024 and take no fraction. Nothing for anything else.
std::optional<std::int64_t> human_integer(std::string_view text);

// True, true, 1, yes, on and their opposites, in any case.
std::optional<bool> truth(std::string_view text);

// {"image": 2} out of vLLM's older "image=2,video=1"; text that starts with { stays as it is.
std::string json_of_pairs(std::string_view text);

// A value inside a JSON object by its key, as text ("" for null); nothing when the text is no
// object or lacks the key.
std::optional<std::string> json_member(std::string_view object, std::string_view key);
bool is_json_object(std::string_view text);

std::string lower(std::string_view text);
bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> tails);

}  // namespace kvsim::launch
