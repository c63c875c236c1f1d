#pragma once
#include <span>
#include <string_view>

// The files of models/ as they were when kvsim was built (written by embed.cmake).
namespace kvsim::spec {

struct EmbeddedFile {
  std::string_view path;     // "models/llm/llama-3.1-8b.json"
  std::string_view id;       // its "id"
  std::string_view aliases;  // its "aliases", separated by newlines
  std::string_view gpu;      // its "gpu", "" where it has none
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

}  // namespace kvsim::spec
