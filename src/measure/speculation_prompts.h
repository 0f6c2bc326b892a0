// The prompts by which speculation is measured: twelve of each class of work.
//
// Fixed texts, so that figures of two versions are about the same answers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vivace {

struct SpeculationClass {
  std::string name;  // "chat", "code", "json", "quote", "edit"
  std::vector<std::string> prompts;
};

std::vector<SpeculationClass> SpeculationClasses();

}  // namespace vivace
