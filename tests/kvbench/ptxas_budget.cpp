// usage: ptxas_budget check|update BUDGET.json NVCC_VERSION OBJECT...
//
// Compares what ptxas said of each kernel (OBJECT.ptxas) and the PTX inside each object with the
// committed budget, or writes the budget anew. Fails on a spill, on local memory, on more than
// eight registers or any static shared memory above the budget, on a kernel that is not in it, and
// where the matrix, ldmatrix or asynchronous copy instructions of a kernel are gone. Exit 77:
// another nvcc than the budget's, whose figures say nothing of it.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr int register_slack = 8;

struct Use {
  int registers = 0, smem = 0, stack = 0, spills = 0;
};
struct Ptx {
  int mma = 0, ldmatrix = 0, cp_async = 0, local = 0;
};
struct Kernel {
  std::map<std::string, Use> by_arch;
  Ptx ptx;
};
using Kernels = std::map<std::string, Kernel>;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "decode_mma<4, 8>" of the mangled "void kvsim::kernels::gpu::decode_mma<4, 8>(...)".
std::string readable(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  name = std::regex_replace(
      name, std::regex(R"(^void |kvsim::kernels::|gpu::|bench::|\(anonymous namespace\)::)"), "");
  // The parameters of the function: what follows the last '(' at depth 0 of the angle brackets.
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

void read_log(const std::string& path, Kernels& kernels) {
  const std::regex entry(R"(Compiling entry function '(\w+)' for '(\w+)')");
  const std::regex frame(R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill)");
  const std::regex used(R"(Used (\d+) registers)"), smem(R"((\d+) bytes smem)");
  std::ifstream in(path);
  Use* use = nullptr;
  std::smatch m;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_search(line, m, entry)) use = &kernels[readable(m[1])].by_arch[m[2]];
    if (use == nullptr) continue;
    if (std::regex_search(line, m, frame))
      use->stack = std::stoi(m[1]), use->spills = std::stoi(m[2]) + std::stoi(m[3]);
    if (std::regex_search(line, m, used)) use->registers = std::stoi(m[1]);
    if (std::regex_search(line, m, smem)) use->smem = std::stoi(m[1]);
  }
}

int count(const std::string& text, const char* word) {
  int n = 0;
  const std::size_t length = std::string(word).size();
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + length)) ++n;
  return n;
}

// The PTX text inside an object: from ".version" to the end of the string.
void read_ptx(const std::string& object, Kernels& kernels) {
  for (std::size_t at = object.find(".version "); at != object.npos;
       at = object.find(".version ", at + 1)) {
    const std::string text = object.substr(at, object.find('\0', at) - at);
    const std::string mark = ".entry ";
    for (std::size_t e = text.find(mark); e != text.npos; e = text.find(mark, e + 1)) {
      const std::size_t name = e + mark.size();
      const std::string body = text.substr(e, text.find(mark, name) - e);
      Ptx& ptx = kernels[readable(text.substr(name, text.find('(', name) - name))].ptx;
      ptx.mma = count(body, "mma.sync"), ptx.ldmatrix = count(body, "ldmatrix.sync");
      ptx.cp_async = count(body, "cp.async.cg") + count(body, "cp.async.ca") +
                     count(body, "cp.async.bulk.shared");
      ptx.local = count(body, "ld.local") + count(body, "st.local");
    }
  }
}

json to_json(const Kernel& kernel) {
  json out = json::object();
  for (const auto& [arch, use] : kernel.by_arch)
    out[arch] = {{"registers", use.registers}, {"smem", use.smem}};
  out["ptx"] = {{"mma", kernel.ptx.mma},
                {"ldmatrix", kernel.ptx.ldmatrix},
                {"cp_async", kernel.ptx.cp_async}};
  return out;
}

void write_budget(const std::string& path, const std::string& nvcc, const Kernels& kernels) {
  std::ofstream out(path);
  out << "{\n \"nvcc\": " << json(nvcc) << ",\n \"kernels\": {";
  const char* separator = "\n";
  for (const auto& [name, kernel] : kernels) {
    out << separator << "  " << json(name) << ": " << to_json(kernel);
    separator = ",\n";
  }
  out << "\n }\n}\n";
  std::printf("%zu kernels written to %s\n", kernels.size(), path.c_str());
}

class Audit {
 public:
  explicit Audit(const json& budget) : budget_(budget) {}
  int complaints = 0;

  void check(const std::string& name, const Kernel& kernel) {
    for (const auto& [arch, use] : kernel.by_arch) {
      if (use.spills > 0)
        complain(name, arch + ": " + std::to_string(use.spills) + " bytes spilled");
      if (use.stack > 0)
        complain(name, arch + ": a stack of " + std::to_string(use.stack) + " bytes");
    }
    if (kernel.ptx.local > 0) complain(name, "its PTX uses local memory");
    if (name.find("mma") != name.npos && kernel.ptx.mma == 0)
      complain(name, "is named after mma and has no mma.sync");
    if (!budget_.contains(name)) {
      complain(name, "is not in the budget");
      return;
    }
    const json& allowed = budget_[name];
    for (const auto& [arch, use] : kernel.by_arch) {
      if (!allowed.contains(arch)) continue;
      at_most(name, arch + " registers", use.registers, allowed[arch]["registers"], register_slack);
      at_most(name, arch + " static shared bytes", use.smem, allowed[arch]["smem"], 0);
    }
    const json present = to_json(kernel)["ptx"];
    for (const auto& [word, before] : allowed["ptx"].items())
      if (before.get<int>() > 0 && present[word] == 0) complain(name, "lost its " + word);
  }

 private:
  void at_most(const std::string& name, const std::string& what, int use, int budget, int slack) {
    if (use > budget + slack)
      complain(name,
               what + ": " + std::to_string(use) + ", the budget is " + std::to_string(budget));
  }
  void complain(const std::string& name, const std::string& what) {
    std::printf("%s: %s\n", name.c_str(), what.c_str());
    ++complaints;
  }

  const json& budget_;
};

int check_budget(const std::string& path, const std::string& nvcc, const Kernels& kernels) {
  std::ifstream in(path);
  const json budget = json::parse(in);
  if (budget["nvcc"] != nvcc) {
    std::printf("skipped: the budget is of nvcc %s, this is %s\n",
                budget["nvcc"].get<std::string>().c_str(), nvcc.c_str());
    return 77;
  }
  Audit audit(budget["kernels"]);
  for (const auto& [name, kernel] : kernels) audit.check(name, kernel);
  std::printf("%zu kernels, %d complaints\n", kernels.size(), audit.complaints);
  if (audit.complaints == 0) return 0;
  std::printf("if they are meant: cmake --build BUILD --target kvsim_update_ptxas_budget\n");
  return 1;
}

}  // namespace

int main(int count, char** values) {
  const std::vector<std::string> words(values + 1, values + count);
  if (words.size() < 3 || (words[0] != "check" && words[0] != "update")) {
    std::fprintf(stderr, "usage: ptxas_budget check|update BUDGET.json NVCC_VERSION OBJECT...\n");
    return 2;
  }
  Kernels kernels;
  for (std::size_t i = 3; i < words.size(); ++i) {
    read_log(words[i] + ".ptxas", kernels);
    read_ptx(read_file(words[i]), kernels);
  }
  if (kernels.empty()) {
    std::printf("skipped: the kernels were not built for the GPU\n");
    return 77;
  }
  if (words[0] == "check") return check_budget(words[1], words[2], kernels);
  write_budget(words[1], words[2], kernels);
  return 0;
}
