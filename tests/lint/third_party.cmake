# Each library stays in its rooms, so that it can be replaced there and its cost to compile is paid there.
include(${CMAKE_CURRENT_LIST_DIR}/lint.cmake)

# library: header | where it may be included. Headers of src never include one of these.
set(rules
  "nlohmann/|^src/(config|report)/.*\\.cpp$|^tests/.*\\.cpp$"
  "CLI/|^src/cli/.*\\.cpp$"
  "Eigen/|^src/(numerics|calibrate)/.*\\.cpp$|^tests/.*\\.cpp$"
  "csv\\.h|^src/config/.*\\.cpp$"
  "xxhash\\.h|^src/(config|kv)/.*\\.cpp$"
  "zlib\\.h|^src/workload/.*\\.cpp$|^tests/.*\\.cpp$"
  "zstd\\.h|^src/workload/.*\\.cpp$|^tests/.*\\.cpp$"
  "doctest/|^tests/|^kernels/"
  "rapidcheck|^tests/"
  "benchmark/|^tests/bench/")

lint_files(files src/*.h src/*.cpp kernels/*.h kernels/*.cpp kernels/*.cu kernels/*.cuh tests/*.h tests/*.cpp)
set(cli_files)
foreach(file IN LISTS files)
  file(STRINGS ${root}/${file} includes REGEX "^ *# *include *<")
  foreach(include IN LISTS includes)
    string(REGEX MATCH "<([^>]*)>" _ "${include}")
    set(header ${CMAKE_MATCH_1})
    if(header MATCHES "^CLI/")
      list(APPEND cli_files ${file})
    endif()
    if(file MATCHES "\\.cuh?$" AND header MATCHES "^fmt/")
      lint_complain("${file}: <${header}> does not compile under nvcc")
    endif()
    foreach(rule IN LISTS rules)
      string(REGEX MATCH "^([^|]*)\\|(.*)$" _ "${rule}")
      set(library "${CMAKE_MATCH_1}")
      set(places "${CMAKE_MATCH_2}")
      if(header MATCHES "^${library}" AND NOT file MATCHES "${places}")
        lint_complain("${file}: <${header}> may be included only in ${places}")
      endif()
    endforeach()
  endforeach()
endforeach()

list(REMOVE_DUPLICATES cli_files)
list(LENGTH cli_files count)
if(count GREATER 1)
  lint_complain("CLI11 belongs in one translation unit, found in: ${cli_files}")
endif()
lint_finish()
