#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/request.h"
#include "workload/source.h"

namespace kvsim::workload {

enum class Loss { refuse, count };

struct WriteOptions {
  Loss loss = Loss::refuse;         // what to do about what the format cannot say
  std::int64_t block_tokens = 512;  // Mooncake
  bool has_followers = true;        // requests may follow others: ids are kept, O(requests) memory
  bool has_sharing = true;          // prompts may share; without it nothing is kept to find out
  std::vector<std::string> names;   // contents that the source is known to use, for format kvsim
};

// What could not be written, and of how many requests.
class Losses {
 public:
  Losses(Loss loss, std::string_view format) : loss_(loss), format_(format) {}
  // Counts it, or throws InputError (trace-lossy) naming the request.
  void add(const std::string& what, const RequestSpec& request);
  std::vector<std::string> notes() const;  // "12 requests: ..."

 private:
  Loss loss_;
  std::string_view format_;
  std::map<std::string, std::int64_t> counts_;
};

// Writes requests in the order of RequestSource::list(). Ids are not kept by foreign formats: they
// number requests.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  virtual void begin(std::string& out) { (void)out; }
  virtual void add(const RequestSpec& request, std::string& out) = 0;
  virtual void end(std::string& out) { (void)out; }
  virtual std::vector<std::string> losses() const { return {}; }
};

// A format that can be written. What is read again from what was written is the same requests,
// but for the losses.
struct TraceWriterEntry {
  std::string_view name, summary;
  std::unique_ptr<TraceWriter> (*make)(const WriteOptions& options);
};
std::span<const TraceWriterEntry> trace_writers();
// Throws InputError with the nearest name for one that is not there.
std::unique_ptr<TraceWriter> make_trace_writer(std::string_view format,
                                               const WriteOptions& options);

std::unique_ptr<TraceWriter> make_kvsim_writer(const WriteOptions& options);
std::unique_ptr<TraceWriter> make_mooncake_writer(const WriteOptions& options);
std::unique_ptr<TraceWriter> make_azure_writer(const WriteOptions& options);
std::unique_ptr<TraceWriter> make_vidur_writer(const WriteOptions& options);
std::unique_ptr<TraceWriter> make_lengths_writer(const WriteOptions& options);

// For formats that cannot say who follows whom: the same requests in order of arrival, those that
// follow arriving after the other's arrival and their pause, as if answers took no time. `after`
// stays set to the old index. Reads the source through list(), in O(requests) memory.
std::unique_ptr<RequestSource> without_followers(RequestSource& source);

inline constexpr const char* follows_another =
    "that a request follows another (written as if answers took no time)";

// Nanoseconds as a decimal number in units of 10^digits ns, exact, without trailing zeros.
std::string decimal(std::int64_t nanoseconds, int digits);

}  // namespace kvsim::workload
