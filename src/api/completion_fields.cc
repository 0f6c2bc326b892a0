#include "api/completion_fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/chat_fields.h"
#include "api/settings_json.h"

namespace vivace {
namespace {

struct Step {
  const char* name;
  const char* other_name;
  char letter;
  bool (*active)(const SamplingParams&);       // null: never, we do not have it
  void (*switch_off)(SamplingParams& params);  // so that it does nothing
};

// In the order in which they run.
constexpr std::array kSteps = {
    Step{"penalties", "penalties", 'e', [](const SamplingParams& p) { return p.penalizes(); },
         [](SamplingParams& p) {
           p.repeat_penalty = 1;
           p.presence_penalty = p.frequency_penalty = 0;
         }},
    Step{"top_k", "top-k", 'k', [](const SamplingParams& p) { return p.top_k > 0; },
         [](SamplingParams& p) { p.top_k = 0; }},
    Step{"typ_p", "typical_p", 'y', [](const SamplingParams& p) { return p.typical_p < 1; },
         [](SamplingParams& p) { p.typical_p = 1; }},
    Step{"top_p", "top-p", 'p', [](const SamplingParams& p) { return p.top_p < 1; },
         [](SamplingParams& p) { p.top_p = 1; }},
    Step{"min_p", "min-p", 'm', [](const SamplingParams& p) { return p.min_p > 0; },
         [](SamplingParams& p) { p.min_p = 0; }},
    Step{"temperature", "temp", 't', [](const SamplingParams& p) { return p.temperature != 1; },
         [](SamplingParams& p) { p.temperature = 1; }},
    Step{"dry", "dry", 'd', nullptr, nullptr},
    Step{"top_n_sigma", "top-n-sigma", 's', nullptr, nullptr},
    Step{"xtc", "xtc", 'x', nullptr, nullptr},
    Step{"infill", "infill", 'i', nullptr, nullptr},
    Step{"adaptive_p", "adaptive-p", 'a', nullptr, nullptr},
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

// Null where one is unknown, which is rejected.
std::vector<const Step*> ListedSteps(Fields& fields, const Json& value) {
  std::vector<const Step*> steps;
  const auto add = [&](const Step* step, const std::string& name) {
    if (step == nullptr) {
      fields.Reject("samplers", fmt::format("\"{}\" is unknown, known are penalties, top_k, typ_p, "
                                            "top_p, min_p and temperature",
                                            name.substr(0, 40)));
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
  if (!value.is_array()) {
    fields.Reject("samplers", "expected an array of names or a string of letters");
    return steps;
  }
  for (const Json& name : value) {
    if (!name.is_string()) {
      fields.Reject("samplers", "expected an array of names or a string of letters");
      return steps;
    }
    add(StepOf(std::string_view(name.get_ref<const std::string&>())), name.get<std::string>());
  }
  return steps;
}

}  // namespace

Json ReadSamplers(Fields& fields, SamplingParams& sampling) {
  const Json* value = fields.Find("samplers");
  if (value == nullptr) return SamplerNames();
  const std::vector<const Step*> listed = ListedSteps(fields, *value);
  Json names = Json::array();
  const Step* before = nullptr;
  for (const Step* step : listed) {
    names.push_back(step->name);
    // With temperature 0 the most likely token comes out of every order.
    if (step->active == nullptr || sampling.greedy() || !step->active(sampling)) continue;
    if (before != nullptr && step <= before) {
      fields.Reject("samplers", fmt::format("{} after {} is not available; the order is penalties, "
                                            "top_k, typ_p, top_p, min_p, temperature, each once",
                                            step->name, before->name));
    }
    before = step;
  }
  for (const Step& step : kSteps) {
    if (step.switch_off == nullptr || std::ranges::find(listed, &step) != listed.end()) continue;
    step.switch_off(sampling);
  }
  return names;
}

namespace {

// Settings that change nothing here, but must make sense and are echoed.
void ReadIdleSettings(Fields& fields, Json& settings) {
  constexpr const char* kNumbers[] = {"dynatemp_exponent", "xtc_threshold", "dry_base",
                                      "mirostat_tau",      "mirostat_eta",  "adaptive_decay"};
  for (const char* name : kNumbers) {
    settings[name] = fields.Number(name, settings[name].get<double>());
  }
  for (const char* name : {"dry_allowed_length", "dry_penalty_last_n", "n_keep", "n_discard"}) {
    settings[name] = fields.Integer(name, settings[name].get<std::int64_t>());
  }
  for (const char* name : {"id_slot", "n_cache_reuse"}) (void)fields.Integer(name, 0);
  (void)fields.Bool("cache_prompt", true);
  if (const Json* breakers = fields.Array("dry_sequence_breakers")) {
    if (breakers->empty()) fields.Reject("dry_sequence_breakers", "empty, at least one is needed");
    (void)fields.Texts("dry_sequence_breakers");
    settings["dry_sequence_breakers"] = *breakers;
  }
}

Answer<void> RefuseUnavailable(Fields& fields) {
  if (const auto plain = RefuseStructure(fields); !plain) return plain;
  const Json* adapters = fields.Array("lora");
  if (adapters != nullptr && !adapters->empty()) {
    return NotSupported("lora: adapters are not available");
  }
  if (fields.Integer("n_indent", 0) > 0) {
    return NotSupported("n_indent: an indentation cannot be enforced, allowed is 0");
  }
  return {};
}

// Their likelihoods are rendered between two steps, so there is a limit.
constexpr std::int64_t kMostProbabilities = 4096;

void ReadProbabilities(Fields& fields, GenerateRequest& request) {
  std::int64_t count = fields.Integer("logprobs", 0, 0, kMostProbabilities);
  count = fields.Integer("n_probs", count, 0, kMostProbabilities);
  request.logprobs = static_cast<std::size_t>(count);
  request.logprobs_of_kept = fields.Bool("post_sampling_probs", false);
}

void ReadPings(Fields& fields, CompletionOptions& options) {
  if (!fields.Has("sse_ping_interval")) return;
  const std::int64_t seconds = fields.Integer("sse_ping_interval", 0, -1, 86'400);
  options.ping_time = std::chrono::seconds(std::max<std::int64_t>(seconds, 0));
}

}  // namespace

Answer<CompletionOptions> ReadCompletion(Call& call, Fields& fields, Generation& generation) {
  if (const auto available = RefuseUnavailable(fields); !available) {
    return Refusal(available.error());
  }
  CompletionOptions options;
  ReadGeneration(call, fields, generation);
  generation.choices =
      fields.Integer("n_cmpl", generation.choices, 1, call.service.options.max_choices);
  ReadProbabilities(fields, generation.request);
  generation.request.max_decode_ms = fields.Number("t_max_predict_ms", -1, -1, 1e9);
  const Json samplers = ReadSamplers(fields, generation.request.sampling);
  options.return_tokens = fields.Bool("return_tokens", false);
  options.timings_per_token = fields.Bool("timings_per_token", false);
  options.response_fields = fields.Texts("response_fields");
  ReadPings(fields, options);
  options.settings = FullSettings(generation);
  options.settings["samplers"] = samplers;
  options.settings["timings_per_token"] = options.timings_per_token;
  options.settings["ignore_eos"] = fields.Bool("ignore_eos", false);
  ReadIdleSettings(fields, options.settings);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return options;
}

}  // namespace vivace
