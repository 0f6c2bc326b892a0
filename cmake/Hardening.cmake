# vivace_hardening: what makes a memory fault stop the process instead of serving
# an attacker. Linked by every module; not by the kernels' ISA objects, whose
# stack arrays would otherwise pay for a canary in each call.
add_library(vivace_hardening INTERFACE)
target_compile_options(
  vivace_hardening
  INTERFACE
    -fstack-protector-strong
    # Needs the optimizer; undefined first because some distributions preset it.
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE>
    $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>
)
target_link_options(vivace_hardening INTERFACE LINKER:-z,relro,-z,now)
