# The project speaks of itself only: no path of a machine it was written on, no package mirror, no one's tools.
# A letter in brackets keeps this file from matching itself.
include(${CMAKE_CURRENT_LIST_DIR}/lint.cmake)
set(words
  "(^|[^A-Za-z0-9_.-])/[w]ork/"
  "\\.[l]ibrary"
  "[s]ub-?agent"
  "[p]ypi\\.org|[p]ythonhosted"
  "[d]eb\\.debian\\.org|[s]napshot\\.debian"
  "[p]roxy\\.golang|[r]egistry\\.npmjs|[s]tatic\\.crates"
  "(^|[^A-Za-z0-9_.-])/([r]oot|[h]ome/[a-z]+)/")

find_program(git git)
set(status 1)
if(git AND EXISTS ${root}/.git)
  execute_process(COMMAND ${git} -C ${root} ls-files OUTPUT_VARIABLE listing RESULT_VARIABLE status ERROR_QUIET)
endif()
if(status EQUAL 0)
  string(REGEX REPLACE "\n" ";" files "${listing}")
  list(REMOVE_ITEM files "")
else()
  lint_files(files *)
endif()

foreach(file IN LISTS files)
  if(NOT EXISTS ${root}/${file} OR file MATCHES "\\.(gz|zst|png)$")
    continue()
  endif()
  foreach(word IN LISTS words)
    file(STRINGS ${root}/${file} hits REGEX "${word}")
    foreach(hit IN LISTS hits)
      lint_complain("${file}: forbidden word (${word}): ${hit}")
    endforeach()
  endforeach()
endforeach()
lint_finish()
