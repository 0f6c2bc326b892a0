# vivace_ffi: the Rust static library behind ffi/vivace_ffi.h, as an imported target.
#
# Always built in release mode, whatever CMAKE_BUILD_TYPE is: it is input parsing
# for every request, and no one steps through it here. All build folders share
# one cargo folder, so it is compiled once.
option(VIVACE_FFI "Build the Rust part: models' chat templates, structured output" ON)
set(VIVACE_FFI_TARGET_DIR "${PROJECT_SOURCE_DIR}/ffi/target" CACHE PATH "Where cargo builds")
set(VIVACE_CARGO_VERSION 1.87)

# Stores in VIVACE_CARGO the first cargo that is new enough. Debian's cargo-web
# package and rustup both may be there, so the first one in PATH is not enough.
function(vivace_find_cargo)
  set(seen "")
  foreach(candidate IN LISTS VIVACE_CARGO ITEMS cargo /usr/bin/cargo "$ENV{HOME}/.cargo/bin/cargo")
    unset(path)
    find_program(path "${candidate}" NO_CACHE)
    if(NOT path)
      continue()
    endif()
    execute_process(
      COMMAND "${path}" --version
      OUTPUT_VARIABLE answer
      ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE
    )
    if(answer MATCHES "^cargo ([0-9.]+)")
      list(APPEND seen "${path} is ${CMAKE_MATCH_1}")
      if(CMAKE_MATCH_1 VERSION_GREATER_EQUAL VIVACE_CARGO_VERSION)
        set(VIVACE_CARGO "${path}" CACHE FILEPATH "cargo for ffi/" FORCE)
        return()
      endif()
    endif()
  endforeach()
  message(
    FATAL_ERROR
    "ffi/ needs cargo ${VIVACE_CARGO_VERSION} or newer (found: ${seen}). Install cargo-web and "
    "rustc-web or a current Rust, or build without it: -DVIVACE_FFI=OFF"
  )
endfunction()

if(VIVACE_FFI)
  vivace_find_cargo()
  find_package(Threads REQUIRED)
  set(ffi_dir "${PROJECT_SOURCE_DIR}/ffi")
  set(ffi_library "${VIVACE_FFI_TARGET_DIR}/release/libvivace_ffi.a")
  file(GLOB ffi_sources CONFIGURE_DEPENDS "${ffi_dir}/src/*.rs")
  add_custom_command(
    OUTPUT "${ffi_library}"
    COMMAND
      "${VIVACE_CARGO}" build --release --locked --quiet --target-dir "${VIVACE_FFI_TARGET_DIR}"
    # cargo leaves an up-to-date library alone; ninja would then ask again each time.
    COMMAND "${CMAKE_COMMAND}" -E touch "${ffi_library}"
    DEPENDS ${ffi_sources} "${ffi_dir}/Cargo.toml" "${ffi_dir}/Cargo.lock"
    WORKING_DIRECTORY "${ffi_dir}"
    COMMENT "Building the Rust library"
    VERBATIM
  )
  add_custom_target(vivace_ffi_build DEPENDS "${ffi_library}")
  add_library(vivace_ffi STATIC IMPORTED GLOBAL)
  add_dependencies(vivace_ffi vivace_ffi_build)
  set_target_properties(
    vivace_ffi
    PROPERTIES IMPORTED_LOCATION "${ffi_library}" INTERFACE_INCLUDE_DIRECTORIES "${ffi_dir}"
  )
  target_link_libraries(vivace_ffi INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m gcc_s)
endif()
