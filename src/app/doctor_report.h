// What `vivace doctor` tells a person: the machine in aligned sections, its limits, advice.
#pragma once

#include <string>
#include <vector>

#include "machine/advice.h"

namespace vivace {

struct Diagnosis {
  MachineFacts facts;
  MachineLimits limits;
  HomeFacts home;
  std::vector<Advice> advice;
};

// Lines for a terminal; `bold` marks the names of the sections.
std::string DoctorText(const Diagnosis& diagnosis, bool bold);

}  // namespace vivace
