# What the lints share. Each lint is a script, run as
#   cmake -D root=<checkout> -P tests/lint/<name>.cmake
# that calls lint_complain() per finding and ends with lint_finish().
cmake_minimum_required(VERSION 3.25)
set(lint_findings 0)

# lint_files(<out> <glob>...): paths relative to the root, sorted; build folders are left out.
function(lint_files out)
  set(globs ${ARGN})
  list(TRANSFORM globs PREPEND "${root}/")
  file(GLOB_RECURSE files RELATIVE ${root} LIST_DIRECTORIES false ${globs})
  list(FILTER files EXCLUDE REGEX "^build/|^\\.git/|^\\.cache/")
  list(SORT files)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

macro(lint_complain)
  math(EXPR lint_findings "${lint_findings} + 1")
  message(NOTICE ${ARGN})
endmacro()

macro(lint_finish)
  if(lint_findings GREATER 0)
    message(FATAL_ERROR "${lint_findings} findings")
  endif()
endmacro()
