# Puts the text of every models/**/*.json into the binary. Included by src/CMakeLists.txt it adds the
# generated source to kvsim_spec; run as a script it writes that source:
#   cmake -DMODELS=<folder> -DOUTPUT=<file.cpp> -P embed.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(embedded_models ${CMAKE_CURRENT_BINARY_DIR}/embedded_models.cpp)
  file(GLOB_RECURSE model_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.json)
  add_custom_command(
    OUTPUT ${embedded_models}
    COMMAND ${CMAKE_COMMAND} -DMODELS=${PROJECT_SOURCE_DIR}/models -DOUTPUT=${embedded_models} -P ${CMAKE_CURRENT_SOURCE_DIR}/spec/embed.cmake
    DEPENDS ${model_files} ${CMAKE_CURRENT_SOURCE_DIR}/spec/embed.cmake
    COMMENT "Embedding models/" VERBATIM)
  target_sources(kvsim_spec PRIVATE ${embedded_models})
  return()
endif()

file(GLOB_RECURSE files RELATIVE ${MODELS} ${MODELS}/*.json)
list(SORT files)
set(rows "")
set(count 0)
foreach(file IN LISTS files)
  file(READ ${MODELS}/${file} text)
  string(JSON id ERROR_VARIABLE problem GET "${text}" id)
  if(problem)
    message(FATAL_ERROR "models/${file}: ${problem}")
  endif()
  set(aliases "")
  string(JSON length ERROR_VARIABLE problem LENGTH "${text}" aliases)
  if(NOT problem AND length GREATER 0)
    math(EXPR last "${length} - 1")
    foreach(i RANGE ${last})
      string(JSON alias GET "${text}" aliases ${i})
      string(APPEND aliases "${alias}\n")
    endforeach()
  endif()
  string(JSON gpu ERROR_VARIABLE problem GET "${text}" gpu)
  if(problem)
    set(gpu "")
  endif()
  string(APPEND rows "    {\"models/${file}\", R\"kvsim(${id})kvsim\", R\"kvsim(${aliases})kvsim\", R\"kvsim(${gpu})kvsim\", R\"kvsim(${text})kvsim\"sv},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"spec/embedded.h\"

namespace kvsim::spec {
namespace {
// Literals know their length: counting a megabyte of characters is too much for constexpr.
using namespace std::string_view_literals;
constexpr EmbeddedFile files[] = {
${rows}};
}  // namespace
static_assert(std::size(files) == ${count});
std::span<const EmbeddedFile> embedded_files() { return files; }
}  // namespace kvsim::spec
")
