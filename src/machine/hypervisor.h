// Whether the processor is a virtual one, and whether it is only interpreted: an emulator
// is ten times slower, and nothing here can help that.
#pragma once

#include <string>
#include <string_view>

namespace vivace {

struct Hypervisor {
  std::string name;       // "KVM", "VMware"; "" where there is none or it hides
  bool emulates = false;  // QEMU without hardware support, Rosetta
};

// From a signature of CPUID leaf 0x40000000 ("" for none) and the processor's name.
Hypervisor HypervisorOf(std::string_view signature, std::string_view model);

// For this machine; `root` is "/" but for tests.
Hypervisor DetectHypervisor(const std::string& root, std::string_view model);

}  // namespace vivace
