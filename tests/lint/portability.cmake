# What would make results differ between compilers, or break one of them, and what the house does without.
include(${CMAKE_CURRENT_LIST_DIR}/lint.cmake)

function(lint_forbid files pattern reason)
  foreach(file IN LISTS ${files})
    file(STRINGS ${root}/${file} hits REGEX "${pattern}")
    foreach(hit IN LISTS hits)
      lint_complain("${file}: ${reason}: ${hit}")
    endforeach()
  endforeach()
  set(lint_findings ${lint_findings} PARENT_SCOPE)
endfunction()

lint_files(code src/*.h src/*.cpp kernels/*.h kernels/*.cpp kernels/*.cu kernels/*.cuh tests/*.h tests/*.cpp)
lint_forbid(code "std::[a-z_]+_distribution" "the standard leaves its numbers open, use random/")
lint_forbid(code "# *include *<(format|expected|source_location|mdspan|print)>" "not in g++ 12 and clang 14")
lint_forbid(code "std::(ranges::)?views?::" "clang 14 does not compile range views")
lint_forbid(code "(^|[^A-Za-z_])(TODO|FIXME|XXX)([^A-Za-z_]|$)" "unfinished work belongs in an issue")

set(core)
foreach(room IN ITEMS units diag random config spec kvformat cost memory kv workload metrics sim)
  lint_files(files src/${room}/*.h src/${room}/*.cpp)
  list(APPEND core ${files})
endforeach()
lint_forbid(core "shared_ptr" "values, unique_ptr or indices up to sim/")
lint_forbid(core "std::random_device|system_clock|steady_clock|std::chrono::[a-z]*_clock"
  "results may not depend on the machine or the hour")

lint_files(build CMakeLists.txt CMakePresets.json src/*.cmake src/CMakeLists.txt tests/CMakeLists.txt)
lint_forbid(build "-ffast-math|-Ofast|-march=native|-ffp-contract=(fast|on)" "changes floating point results")
lint_finish()
