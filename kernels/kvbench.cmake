# kvbench: one program that needs libc and, for --backend gpu, the driver.
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)
list(FILTER bench_sources EXCLUDE REGEX "_test\\.cpp$|/no_gpu_timing\\.cpp$|/main\\.cpp$")
if(NOT KVSIM_HAVE_CUDA)
  list(APPEND bench_sources bench/no_gpu_timing.cpp)
endif()
add_library(kvsim_kvbench STATIC ${bench_sources})
target_link_libraries(kvsim_kvbench PUBLIC kvsim_kernels ${CMAKE_DL_LIBS})

# Known at configure time, in one file, so that a commit rebuilds little.
find_program(KVSIM_GIT git)
set(git_sha "")
if(KVSIM_GIT)
  execute_process(COMMAND ${KVSIM_GIT} -C ${KVSIM_ROOT} rev-parse HEAD
    OUTPUT_VARIABLE git_sha OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(nvcc "")
set(arch "")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
if(KVSIM_HAVE_CUDA)
  set(nvcc ${CMAKE_CUDA_COMPILER_VERSION})
  list(JOIN CMAKE_CUDA_ARCHITECTURES "," arch)
  string(APPEND flags ", nvcc: ${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${build_type}}")
endif()
string(REGEX REPLACE " +" " " flags "${flags}")
string(STRIP "${flags}" flags)
set_property(SOURCE bench/build_facts.cpp PROPERTY COMPILE_DEFINITIONS
  "KVBENCH_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\"" "KVBENCH_NVCC=\"${nvcc}\""
  "KVBENCH_FLAGS=\"${flags}\"" "KVBENCH_ARCH=\"${arch}\"" "KVBENCH_GIT=\"${git_sha}\"")

add_executable(kvbench bench/main.cpp)
target_link_libraries(kvbench PRIVATE kvsim_kvbench)
set_target_properties(kvbench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(NOT KVSIM_SANITIZE)
  target_link_options(kvbench PRIVATE -static-libstdc++ -static-libgcc)
endif()
