# kvsim_update_cost fits the public kernel timings anew and rewrites models/cost/. The timings are not in the repository;
# KVSIM_TIMINGS is the folder of their CSV files. Run it when a form changes, then build again: the fits are embedded.
#   cmake --build build/release --target kvsim_update_cost
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(KVSIM_TIMINGS ${PROJECT_SOURCE_DIR}/../shared/data/kernels CACHE PATH "Folder of the public kernel timings")
  add_custom_target(kvsim_update_cost
    COMMAND ${CMAKE_COMMAND} -D kvsim=$<TARGET_FILE:kvsim> -D timings=${KVSIM_TIMINGS} -D target=${PROJECT_SOURCE_DIR}/models/cost
      -P ${CMAKE_CURRENT_LIST_FILE}
    COMMENT "Fitting models/cost/" VERBATIM)
  return()
endif()

file(GLOB csv ${timings}/*.csv)
if(NOT csv)
  message(FATAL_ERROR "no timings in ${timings}: set KVSIM_TIMINGS")
endif()
list(SORT csv)
# Files that state assumptions in place of measurements are written by hand and stay.
file(GLOB old ${target}/*.json)
foreach(file IN LISTS old)
  file(STRINGS ${file} fitted REGEX "\"sources\": .*\"rows of ")
  if(fitted)
    file(REMOVE ${file})
  endif()
endforeach()
execute_process(
  COMMAND ${kvsim} calibrate ${csv} -o ${target}/
    --source "timings: github.com/ai-dynamo/aiconfigurator (Apache-2.0, commit 095f58a5); those of framework vidur: github.com/microsoft/vidur (MIT, commit 7d475133)"
  COMMAND_ERROR_IS_FATAL ANY)
