# For code that computes little, tests and commands: a quarter less time to compile it.
function(vivace_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Many files of one module take longer to read their headers than to be compiled. In batches
# of 8 the headers are read once for all, and a first build takes two thirds of the time; one
# changed file then costs more.
option(VIVACE_BATCHES "Compile files of the larger modules in batches" OFF)
function(vivace_compile_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${VIVACE_BATCHES} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# vivace_module(NAME [BATCHES] SOURCES ... TESTS ... DEPS ... TEST_DEPS ... ALONE ...)
# One folder under src/ = one static library vivace_NAME + one test program.
# Paths are relative to the calling folder. Tests run with the repository root
# in VIVACE_SOURCE_DIR, to find tests/data. With BATCHES its files are compiled in batches, but
# for those that are named ALONE, whose local names others have, too.
function(vivace_module name)
  cmake_parse_arguments(ARG "BATCHES" "" "SOURCES;TESTS;DEPS;TEST_DEPS;ALONE" ${ARGN})
  add_library(vivace_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(vivace_${name} PUBLIC vivace_flags ${ARG_DEPS} PRIVATE vivace_hardening)
  if(ARG_BATCHES)
    vivace_compile_in_batches(vivace_${name})
    set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(BUILD_TESTING AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    vivace_compile_quickly(${name}_test)
    if(ARG_BATCHES)
      vivace_compile_in_batches(${name}_test)
    endif()
    target_link_libraries(
      ${name}_test
      PRIVATE vivace_${name} ${ARG_TEST_DEPS} GTest::gtest GTest::gtest_main
    )
    gtest_discover_tests(
      ${name}_test
      TEST_PREFIX "${name}/"
      DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS unit ENVIRONMENT VIVACE_SOURCE_DIR=${PROJECT_SOURCE_DIR}
    )
  endif()
endfunction()

# vivace_bench(NAME DEPS ...)
# bench/NAME_bench.cc = one Google Benchmark program. Not part of a plain build:
# the target `benches` builds all of them.
function(vivace_bench name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_executable(${name}_bench EXCLUDE_FROM_ALL ${name}_bench.cc)
  target_link_libraries(
    ${name}_bench
    PRIVATE vivace_flags ${ARG_DEPS} benchmark::benchmark benchmark::benchmark_main
  )
  add_dependencies(benches ${name}_bench)
endfunction()

# vivace_fuzz(NAME DEPS ...)
# tests/fuzz/NAME_fuzz.cc = one libFuzzer program, in the preset fuzz. Its first
# inputs lie in tests/fuzz/corpus/NAME. SOURCES are files of src/, for parts of a module that
# needs far more to be built. The target `fuzzers` builds all of them.
function(vivace_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/)
  add_executable(${name}_fuzz ${name}_fuzz.cc ${ARG_SOURCES})
  target_link_libraries(${name}_fuzz PRIVATE vivace_flags ${ARG_DEPS})
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name}_fuzz)
endfunction()
