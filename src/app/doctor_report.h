// What `vivace doctor` tells a person: the machine, its limits, advice; in aligned sections
// for a terminal, or as a page.
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

// A self-contained HTML file.
std::string DoctorPage(const Diagnosis& diagnosis);

// What is known without measuring, as both forms say it.
struct FactSection {
  std::string name;
  std::vector<std::string> lines;
};
std::vector<FactSection> FactSections(const Diagnosis& diagnosis);

}  // namespace vivace
