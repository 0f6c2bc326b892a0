# vivace_page: the web page of web/, built by npm and put into the program.
#
# Without Node.js, or with -DVIVACE_WEB=OFF, it is an empty list and the server
# says that the page is not in this build. One blob is taken in by the assembler,
# so a cross build needs nothing but its own compiler.
option(VIVACE_WEB "Build the web page into the program (needs Node.js)" ON)
set(VIVACE_NODE_VERSION 18)

# Stores in VIVACE_NPM the path of npm if it and a Node.js that is new enough are there.
function(vivace_find_npm)
  find_program(VIVACE_NODE NAMES node nodejs DOC "Node.js for web/")
  find_program(VIVACE_NPM_PROGRAM npm DOC "npm for web/")
  if(NOT VIVACE_NODE OR NOT VIVACE_NPM_PROGRAM)
    return()
  endif()
  execute_process(
    COMMAND "${VIVACE_NODE}" --version
    OUTPUT_VARIABLE answer
    ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  if(answer MATCHES "^v([0-9.]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL VIVACE_NODE_VERSION)
    set(VIVACE_NPM "${VIVACE_NPM_PROGRAM}" PARENT_SCOPE)
  endif()
endfunction()

set(web_dir "${PROJECT_SOURCE_DIR}/web")
set(VIVACE_NPM "")
if(VIVACE_WEB AND EXISTS "${web_dir}/package-lock.json")
  vivace_find_npm()
  if(NOT VIVACE_NPM)
    message(
      STATUS
      "The web page is left out: Node.js ${VIVACE_NODE_VERSION} or newer with npm is missing"
    )
  endif()
endif()

if(VIVACE_NPM)
  enable_language(ASM)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(page_dir "${CMAKE_BINARY_DIR}/page")
  # Not all of web/: node_modules has thousands of files.
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS "${web_dir}/src/*" "${web_dir}/public/*")
  file(
    GLOB page_settings
    CONFIGURE_DEPENDS
    "${web_dir}/*.html"
    "${web_dir}/*.json"
    "${web_dir}/*.ts"
  )
  add_custom_command(
    OUTPUT "${page_dir}/page.stamp"
    BYPRODUCTS "${page_dir}/page.bin" "${page_dir}/page_table.cc"
    COMMAND
      Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/build_page.py" "${page_dir}" --npm
      "${VIVACE_NPM}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${page_dir}/page.stamp"
    DEPENDS ${page_sources} ${page_settings} "${PROJECT_SOURCE_DIR}/tools/build_page.py"
    COMMENT "Building the web page"
    VERBATIM
  )
  set(page_bytes "${PROJECT_SOURCE_DIR}/src/app/page_bytes.S")
  add_custom_target(vivace_page_build DEPENDS "${page_dir}/page.stamp")
  add_library(vivace_page STATIC "${page_bytes}" "${page_dir}/page_table.cc")
  add_dependencies(vivace_page vivace_page_build)
  set_source_files_properties("${page_bytes}" PROPERTIES OBJECT_DEPENDS "${page_dir}/page.bin")
  target_compile_definitions(vivace_page PRIVATE VIVACE_PAGE_BIN="${page_dir}/page.bin")
else()
  add_library(vivace_page STATIC "${PROJECT_SOURCE_DIR}/src/app/page_files_none.cc")
endif()
target_include_directories(vivace_page PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_compile_features(vivace_page PRIVATE cxx_std_20)
