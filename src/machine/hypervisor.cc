#include "machine/hypervisor.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstring>

#include "base/sysfs.h"

namespace vivace {
namespace {

#if defined(__x86_64__)
std::string Signature() {
  constexpr unsigned kHypervisorBit = 1U << 31;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kHypervisorBit) == 0) return "";
  __cpuid(0x40000000, a, b, c, d);
  char text[13] = {};
  std::memcpy(text, &b, 4);
  std::memcpy(text + 4, &c, 4);
  std::memcpy(text + 8, &d, 4);
  return text[0] == '\0' ? "unknown" : text;
}
#endif

}  // namespace

Hypervisor HypervisorOf(std::string_view signature, std::string_view model) {
  const struct {
    std::string_view signature;
    const char* name;
  } known[] = {
      {"KVMKVMKVM", "KVM"},     {"Microsoft Hv", "Hyper-V"},    {"VMwareVMware", "VMware"},
      {"XenVMMXenVMM", "Xen"},  {"TCGTCGTCGTCG", "QEMU"},       {"bhyve bhyve ", "bhyve"},
      {"ACRNACRNACRN", "ACRN"}, {"VBoxVBoxVBox", "VirtualBox"}, {" lrpepyh  vr", "Parallels"}};
  Hypervisor result;
  if (!signature.empty()) result.name = signature;
  for (const auto& entry : known) {
    if (signature.starts_with(entry.signature)) result.name = entry.name;
  }
  result.emulates = signature.starts_with("TCGTCGTCGTCG") ||
                    model.find("QEMU TCG") != std::string_view::npos ||
                    model.starts_with("VirtualApple");
  return result;
}

Hypervisor DetectHypervisor(const std::string& root, std::string_view model) {
#if defined(__x86_64__)
  (void)root;
  return HypervisorOf(Signature(), model);
#else
  // ARM has no such register; the board's maker is the next best.
  const std::string maker = ReadFirstLine(root + "sys/class/dmi/id/sys_vendor");
  Hypervisor result = HypervisorOf("", model);
  if (maker == "QEMU") result.name = "QEMU";
  return result;
#endif
}

}  // namespace vivace
