// Advice: what slows this machine down and what can be done about it, in plain words.
//
// Only what a person can change, or needs to know before judging a figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/facts.h"
#include "machine/limits.h"

namespace vivace {

// Where models lie, as far as advice needs it.
struct HomeFacts {
  std::string folder;
  std::int64_t disk_free = 0;  // bytes; -1 unknown
};

struct Advice {
  std::string id;        // stable, for programs: "thp_off"
  bool warning = false;  // costs speed or breaks things; else only good to know
  std::string text;      // one or two sentences
};

// Warnings first. Empty where nothing stands in the way.
std::vector<Advice> AdviceFor(const MachineFacts& facts, const MachineLimits& limits,
                              const HomeFacts& home);

}  // namespace vivace
