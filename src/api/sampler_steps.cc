#include "api/sampler_steps.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace vivace {
namespace {

struct Step {
  const char* name;
  const char* other_name;
  char letter;
  std::optional<SamplingStep> step;  // nothing: known, but without effect here
  bool (*active)(const SamplingParams& params);
  void (*switch_off)(SamplingParams& params);  // so that it does nothing
};

// In their usual order.
const std::array kSteps = {
    Step{"penalties", "penalties", 'e', SamplingStep::kPenalties,
         [](const SamplingParams& p) { return p.penalizes(); },
         [](SamplingParams& p) {
           p.repeat_penalty = 1;
           p.presence_penalty = p.frequency_penalty = 0;
         }},
    Step{"dry", "dry", 'd', SamplingStep::kDry,
         [](const SamplingParams& p) { return p.dry.multiplier > 0; },
         [](SamplingParams& p) { p.dry.multiplier = 0; }},
    Step{"top_n_sigma", "top-n-sigma", 's', SamplingStep::kTopNSigma,
         [](const SamplingParams& p) { return p.top_n_sigma > 0; },
         [](SamplingParams& p) { p.top_n_sigma = -1; }},
    Step{"top_k", "top-k", 'k', SamplingStep::kTopK,
         [](const SamplingParams& p) { return p.top_k > 0; },
         [](SamplingParams& p) { p.top_k = 0; }},
    Step{"typ_p", "typical_p", 'y', SamplingStep::kTypical,
         [](const SamplingParams& p) { return p.typical_p < 1; },
         [](SamplingParams& p) { p.typical_p = 1; }},
    Step{"top_p", "top-p", 'p', SamplingStep::kTopP,
         [](const SamplingParams& p) { return p.top_p < 1; },
         [](SamplingParams& p) { p.top_p = 1; }},
    Step{"min_p", "min-p", 'm', SamplingStep::kMinP,
         [](const SamplingParams& p) { return p.min_p > 0; },
         [](SamplingParams& p) { p.min_p = 0; }},
    Step{"xtc", "xtc", 'x', SamplingStep::kXtc,
         [](const SamplingParams& p) { return p.xtc_probability > 0; },
         [](SamplingParams& p) { p.xtc_probability = 0; }},
    Step{"temperature", "temp", 't', SamplingStep::kTemperature,
         [](const SamplingParams& p) { return p.temperature != 1 || p.dynatemp_range > 0; },
         [](SamplingParams& p) {
           p.temperature = 1;
           p.dynatemp_range = 0;
         }},
    // Comes last wherever it is listed, and runs where it has a target.
    Step{"adaptive_p", "adaptive-p", 'a', std::nullopt, nullptr, nullptr},
    // Infill itself ends at the model's tokens for it.
    Step{"infill", "infill", 'i', std::nullopt, nullptr, nullptr},
};

const Step* StepOf(std::string_view name) {
  const auto* found = std::ranges::find_if(
      kSteps, [&](const Step& step) { return step.name == name || step.other_name == name; });
  return found == kSteps.end() ? nullptr : found;
}

const Step* StepOf(char letter) {
  const auto* found = std::ranges::find(kSteps, letter, &Step::letter);
  return found == kSteps.end() ? nullptr : found;
}

std::string KnownNames() {
  std::string names;
  for (const Step& step : kSteps)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", step.name);
  return names;
}

// Without those that are unknown, which are rejected.
std::vector<const Step*> ListedSteps(Fields& fields, const Json& value) {
  std::vector<const Step*> steps;
  const auto add = [&](const Step* step, const std::string& name) {
    if (step == nullptr) {
      fields.Reject("samplers", fmt::format("\"{}\" is unknown, known are {}", name.substr(0, 40),
                                            KnownNames()));
    } else {
      steps.push_back(step);
    }
  };
  if (value.is_string()) {
    for (const char letter : value.get_ref<const std::string&>()) {
      add(StepOf(letter), std::string(1, letter));
    }
    return steps;
  }
  // As many as anyone lists on purpose.
  constexpr std::size_t kMostSteps = 64;
  if (!value.is_array() ||
      !std::ranges::all_of(value, [](const Json& name) { return name.is_string(); })) {
    fields.Reject("samplers", "expected an array of names or a string of letters");
  } else if (value.size() > kMostSteps) {
    fields.Reject("samplers",
                  fmt::format("{} steps, allowed is up to {}", value.size(), kMostSteps));
  } else {
    for (const Json& name : value) {
      add(StepOf(std::string_view(name.get_ref<const std::string&>())), name.get<std::string>());
    }
  }
  return steps;
}

}  // namespace

Json SamplerNames() {
  Json names = Json::array();
  for (const Step& step : kSteps) {
    if (step.step) names.push_back(step.name);
  }
  return names;
}

Json ReadSamplers(Fields& fields, SamplingParams& sampling) {
  const Json* value = fields.Find("samplers");
  if (value == nullptr) return SamplerNames();
  const std::vector<const Step*> listed = ListedSteps(fields, *value);
  Json names = Json::array();
  std::vector<const Step*> active;
  for (const Step* step : listed) {
    names.push_back(step->name);
    if (step->step && step->active(sampling)) active.push_back(step);
  }
  for (const Step& step : kSteps) {
    if (!step.step || std::ranges::find(listed, &step) != listed.end()) continue;
    step.switch_off(sampling);
  }
  // The usual order is the fast one. With temperature 0 the best token comes out of every
  // order, but for steps that change which one that is.
  const bool usual = std::ranges::adjacent_find(active, std::greater_equal{}) == active.end();
  const bool any = sampling.greedy() && !sampling.needs_chain();
  if (!usual && !any) {
    for (const Step* step : active) sampling.steps.push_back(*step->step);
  }
  return names;
}

}  // namespace vivace
