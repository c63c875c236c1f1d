# The kernels for the GPU.
if(KVSIM_CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${KVSIM_CCACHE})
endif()
find_package(CUDAToolkit REQUIRED)

file(GLOB_RECURSE gpu_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cu)
add_library(kvsim_kernels_gpu STATIC ${gpu_sources})
target_include_directories(kvsim_kernels_gpu PUBLIC ${KVSIM_ROOT})
# What the C++ compiler is told for the rest of the project does not suit nvcc's generated host code. ptxas
# states registers and spills of each kernel, and uncompressed objects hold their PTX as text: both are what
# ptxas_budget.json is compared with.
set_property(TARGET kvsim_kernels_gpu PROPERTY COMPILE_OPTIONS
  --expt-relaxed-constexpr -Werror all-warnings -Xptxas -v,-warn-spills,-warn-lmem-usage --no-compress)
set_property(TARGET kvsim_kernels_gpu PROPERTY
  RULE_LAUNCH_COMPILE "${CMAKE_CURRENT_SOURCE_DIR}/ptxas_log.sh <OBJECT>")
target_compile_definitions(kvsim_kernels_gpu PUBLIC KVSIM_HAVE_CUDA=1)
target_link_libraries(kvsim_kernels_gpu PRIVATE CUDA::cudart_static)
