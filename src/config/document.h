#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.h"

namespace kvsim::config {

enum class Kind { null, boolean, integer, number, string, array, object };
enum class Comments { forbidden, allowed };

class Document;

// One value inside a Document: a cheap handle, valid while the document lives and is not changed.
class Value {
 public:
  Kind kind() const;
  bool is_object() const { return kind() == Kind::object; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_string() const { return kind() == Kind::string; }
  bool is_null() const { return kind() == Kind::null; }

  bool boolean() const;               // Kind::boolean
  std::int64_t integer() const;       // Kind::integer
  double number() const;              // Kind::integer or Kind::number
  const std::string& string() const;  // Kind::string
  // An integer literal that int64 cannot hold has Kind::number and answers true here.
  bool is_oversized_integer() const;

  std::size_t size() const;                     // members or elements; 0 for scalars
  Value at(std::size_t i) const;                // i-th member or element, in file order
  const std::string& key(std::size_t i) const;  // name of the i-th member
  // The member of that name; exists() tells whether there was one.
  Value find(std::string_view name) const;
  bool exists() const { return document_ != nullptr; }

  // A diagnostic that points at this value (or at its key), ready to be added.
  Diagnostic diagnostic(std::string code, std::string message, std::string hint = {}) const;
  Diagnostic key_diagnostic(std::string code, std::string message, std::string hint = {}) const;
  std::string pointer() const;   // RFC 6901, "" for the root
  std::string origin() const;    // "file:line:col" or "--set a.b=c"
  std::string describe() const;  // what was found, for messages: `string "many"`, `object`, `-1`
  std::string json() const;      // the value as compact JSON text

  Value() = default;

 private:
  friend class Document;
  Value(const Document* document, std::uint32_t node) : document_(document), node_(node) {}
  const Document* document_ = nullptr;
  std::uint32_t node_ = 0;
};

// A JSON text with the position of everything in it.
//
// Strict where nlohmann/json is lenient: duplicate keys, NaN, numbers beyond double and nesting
// over 100 levels are errors; integers beyond int64 are kept apart. Not UTF-8, two documents, an
// empty text: errors with line and column. Parsing costs O(text).
class Document {
 public:
  // `name` is what errors call the file. Throws InputError.
  static Document parse(std::string text, std::string name,
                        Comments comments = Comments::forbidden);
  // Parses one line of a JSON-lines file; errors carry `line`.
  static Document parse_line(std::string text, std::string name, int line);
  // Reads the file first. Throws IoError if it cannot be read (or is a folder), InputError if it is
  // not JSON.
  static Document load(const std::string& path, Comments comments = Comments::allowed);

  Value root() const { return Value(this, 0); }
  const std::string& name() const { return sources_[0].name; }

  // Puts `value` (JSON, or else taken as a string) at a dotted path such as
  // "cluster.pools.0.engine.max_num_seqs", or at a JSON pointer: '/a/0/b' is the same as 'a.0.b'.
  // Missing objects on the way are made. Whether the field exists at all is found out when the
  // document is read: an unknown key then names `origin`. Throws InputError when the path runs
  // through a scalar or past the end of a list.
  void set(std::string_view path, std::string_view value, const std::string& origin);

 private:
  friend class Value;
  friend class Builder;
  struct Node {
    Kind kind = Kind::null;
    bool boolean = false;
    bool oversized = false;
    std::uint32_t source = 0;
    std::uint32_t parent = 0;
    std::uint32_t place = 0;  // among the parent's children
    std::uint32_t begin = 0, end = 0, key_begin = 0, key_end = 0;
    std::int64_t integer = 0;
    double number = 0;
    std::string key;   // name inside the parent object
    std::string text;  // string value
    std::vector<std::uint32_t> children;
  };
  struct Source {
    std::string name;
    std::string text;
    int first_line = 1;                 // 0: not a file (an override)
    std::vector<std::uint32_t> breaks;  // offsets of the line feeds
  };
  std::uint32_t add_source(std::string name, std::string text, int first_line);
  Diagnostic locate(std::uint32_t source, std::uint32_t begin, std::uint32_t end) const;
  void parse_into(std::uint32_t source, Comments comments, std::uint32_t target);
  std::string pointer(std::uint32_t node) const;
  void to_json(std::uint32_t node, std::string& out) const;

  std::vector<Source> sources_;
  std::vector<Node> nodes_;
};

// The whole file as text. Throws IoError. Path "-" is standard input.
std::string read_file(const std::string& path);

// The whole file at once through an OutputFile ("-" is stdout). Throws IoError.
void write_file(const std::string& path, std::string_view text);

// 128-bit content digest as 32 hexadecimal digits.
std::string digest(std::string_view text);

// `text` as a JSON string literal, quotes included.
std::string json_string(std::string_view text);

}  // namespace kvsim::config
