# A test's name is a sentence of letters, digits, spaces and hyphens. Anything else can split into two ctest
# entries, one of which runs no test and passes.
include(${CMAKE_CURRENT_LIST_DIR}/lint.cmake)

lint_files(files tests/*.cpp kernels/*.cpp)
foreach(file IN LISTS files)
  file(READ ${root}/${file} text)
  # Lists cannot hold these, and a name must not either: keep them visible as one forbidden sign.
  string(REGEX REPLACE "[][;]" "%" text "${text}")
  string(REGEX MATCHALL "(TEST_CASE|TEST_CASE_TEMPLATE|SCENARIO|SUBCASE)\\([ \n]*\"[^\n]*" names "${text}")
  foreach(name IN LISTS names)
    if(name MATCHES "^SUBCASE")
      continue()
    endif()
    if(NOT name MATCHES "\\([ \n]*\"[A-Za-z0-9 -]+\"")
      lint_complain("${file}: ${name} may use letters, digits, spaces and hyphens only")
    endif()
  endforeach()
endforeach()

lint_files(files tests/cases/*.case)
foreach(file IN LISTS files)
  if(NOT file MATCHES "/[a-z0-9_]+\\.case$")
    lint_complain("${file}: case files are named in lower_snake")
  endif()
endforeach()
lint_finish()
