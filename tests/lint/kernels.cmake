# Kernel text (.cuh) keeps to what the executor runs: see kernels/device/kv_device.h.
include(${CMAKE_CURRENT_LIST_DIR}/lint.cmake)

# pattern | reason
set(rules
  "(^|[^_A-Za-z])__shared__|KVSIM_SHARED is the block's only shared memory"
  "cooperative_groups|this_grid|grid_group|blocks cannot wait for each other"
  "while *\\([^()]*(load|atomic_add|atomic_max)\\(|a block may not spin on what another one writes"
  "\\.address|global memory is read and written by load, store, the copies and the atomics"
  "(^|[^A-Za-z0-9_])asm( +volatile)? *\\(|inline PTX belongs in kernels/device"
  "(^|[^A-Za-z0-9_])(atomicAdd|atomicMax|atomicCAS|atomicExch|__threadfence|__ldg|__ldcs|__stcs|cudaMalloc)|kv_device.h has the portable name"
  "threadIdx\\.[yz]|blocks have one dimension"
  "<<<|kernels are queued by launch"
  "# *include *<(cuda|cooperative)|kernel text includes kv_device.h only"
  "(__sync(threads|warp)|sync_threads|__shfl[a-z_]*|__(ballot|any|all)_sync|mma_[a-z0-9]+_[0-9]+|ldsm4[a-z_]*|movmatrix_trans)\\(.*[^A-Za-z0-9_](__sync(threads|warp)|sync_threads|__shfl[a-z_]*|__(ballot|any|all)_sync|mma_[a-z0-9]+_[0-9]+|ldsm4[a-z_]*|movmatrix_trans)\\(|one barrier or collective per line")

lint_files(files kernels/*.cuh)
foreach(file IN LISTS files)
  file(READ ${root}/${file} text)
  # A semicolon would split the list of lines, brackets would join them.
  string(REPLACE ";" "," text "${text}")
  string(REGEX REPLACE "[][]" "%" text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REPLACE "\n" ";" lines "${text}")
  set(number 0)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    foreach(rule IN LISTS rules)
      string(REGEX MATCH "^(.*)\\|([^|]*)$" _ "${rule}")
      set(pattern "${CMAKE_MATCH_1}")
      set(reason "${CMAKE_MATCH_2}")
      if(line MATCHES "${pattern}")
        lint_complain("${file}:${number}: ${reason}: ${line}")
      endif()
    endforeach()
  endforeach()
  if(NOT text MATCHES "namespace kvsim::kernels::KVSIM_BACKEND")
    lint_complain("${file}: kernel text is in namespace kvsim::kernels::KVSIM_BACKEND")
  endif()
endforeach()
lint_finish()
