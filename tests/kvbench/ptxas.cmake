# What ptxas makes of each kernel, against kernels/ptxas_budget.json.
add_executable(ptxas_budget ptxas_budget.cpp)
target_link_libraries(ptxas_budget PRIVATE nlohmann_json::nlohmann_json)
set(nvcc_version none)
set(objects "")
if(KVSIM_HAVE_CUDA)
  set(nvcc_version ${CMAKE_CUDA_COMPILER_VERSION})
  set(objects $<TARGET_OBJECTS:kvsim_kernels_gpu>)
endif()
set(budget ${PROJECT_SOURCE_DIR}/kernels/ptxas_budget.json)
add_test(NAME "ptxas: every kernel stays within its budget"
  COMMAND ptxas_budget check ${budget} ${nvcc_version} ${objects} COMMAND_EXPAND_LISTS)
set_tests_properties("ptxas: every kernel stays within its budget" PROPERTIES LABELS fast SKIP_RETURN_CODE 77)
add_custom_target(kvsim_update_ptxas_budget
  COMMAND ptxas_budget update ${budget} ${nvcc_version} ${objects} COMMAND_EXPAND_LISTS
  COMMENT "Writing kernels/ptxas_budget.json" VERBATIM)
if(KVSIM_HAVE_CUDA)
  add_dependencies(kvsim_update_ptxas_budget kvsim_kernels_gpu)
endif()
