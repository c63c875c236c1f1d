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

# A binary has all kernel text in one namespace, and its linker keeps one definition of two that
# differ without a word: what the namespace has by one name is in one file. Definitions stand at
# column 0, since what is inside of them is indented.
set(definitions
  "\n(struct|class|union|enum class) (alignas\\([^()]*\\) )?([A-Za-z_0-9]+)[^@\n]*{"
  "\n(inline )?(constexpr )[A-Za-z_0-9:<>, ]* ([A-Za-z_0-9]+)[ %0-9a-z_]*[={]"
  "\n(__global__)( )[^@{}]*[ \n]([A-Za-z_0-9]+)\\(const [A-Za-z_0-9]+ [a-z]+\\) {"
  "\n([A-Za-z_])([^@{}()=]*[ *&\n])([A-Za-z_0-9]+)\\([^@{}]*\\) {")

function(lint_definitions file text)
  foreach(definition IN LISTS definitions)
    string(REGEX MATCHALL "${definition}" found "${text}")
    foreach(one IN LISTS found)
      string(REGEX MATCH "${definition}" _ "${one}")
      set(name ${CMAKE_MATCH_3})
      if(name MATCHES "^(__launch_bounds__|alignas)$")
        continue()
      endif()
      get_property(other GLOBAL PROPERTY lint_defined_${name})
      if(other AND NOT other STREQUAL file)
        lint_complain("${file}: ${other} defines ${name} as well")
      endif()
      set_property(GLOBAL PROPERTY lint_defined_${name} ${file})
    endforeach()
  endforeach()
  set(lint_findings ${lint_findings} PARENT_SCOPE)
endfunction()

lint_files(files kernels/*.cuh)
foreach(file IN LISTS files)
  file(READ ${root}/${file} text)
  # A semicolon would split the list of lines, brackets would join them.
  string(REPLACE ";" "@" text "${text}")
  string(REGEX REPLACE "[][]" "%" text "${text}")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  lint_definitions(${file} "${text}")
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
