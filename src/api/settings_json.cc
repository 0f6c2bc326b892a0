#include "api/settings_json.h"

#include <limits>
#include <utility>

#include "api/openai_form.h"

namespace vivace {

Json SamplerNames() {
  return {"penalties", "dry",   "top_n_sigma", "top_k",      "typ_p",
          "top_p",     "min_p", "xtc",         "temperature"};
}

Json BriefSettings(const Generation& generation) {
  const GenerateRequest& request = generation.request;
  const SamplingParams& sampling = request.sampling;
  // What was chosen by chance is not told: asking for it again is no promise.
  const std::uint32_t seed =
      generation.seeded ? sampling.seed : std::numeric_limits<std::uint32_t>::max();
  return {{"seed", seed},
          {"temperature", sampling.temperature},
          {"dynatemp_range", 0.0},
          {"dynatemp_exponent", 1.0},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"min_p", sampling.min_p},
          {"top_n_sigma", -1.0},
          {"xtc_probability", 0.0},
          {"xtc_threshold", 0.1},
          {"typical_p", sampling.typical_p},
          {"repeat_last_n", sampling.repeat_last_n},
          {"repeat_penalty", sampling.repeat_penalty},
          {"presence_penalty", sampling.presence_penalty},
          {"frequency_penalty", sampling.frequency_penalty},
          {"dry_multiplier", 0.0},
          {"dry_base", 1.75},
          {"dry_allowed_length", 2},
          {"dry_penalty_last_n", 64},
          {"mirostat", 0},
          {"mirostat_tau", 5.0},
          {"mirostat_eta", 0.1},
          {"adaptive_target", -1.0},
          {"adaptive_decay", 0.9},
          {"max_tokens", request.max_tokens},
          {"n_predict", request.max_tokens},
          {"n_keep", 0},
          {"n_discard", 0},
          {"ignore_eos", false},
          {"stream", generation.stream},
          {"n_probs", request.logprobs},
          {"min_keep", sampling.min_keep},
          {"chat_format", "Content-only"},
          {"reasoning_format", "none"},
          {"reasoning_in_content", false},
          {"generation_prompt", ""},
          {"samplers", SamplerNames()},
          {"speculative.types", "none"},
          {"timings_per_token", false},
          {"post_sampling_probs", request.logprobs_of_kept},
          {"backend_sampling", false},
          {"lora", Json::array()}};
}

Json FullSettings(const Generation& generation) {
  const GenerateRequest& request = generation.request;
  Json settings = BriefSettings(generation);
  settings["dry_sequence_breakers"] = {"\n", ":", "\"", "*"};
  settings["stop"] = request.stop;
  Json biases = Json::array();
  for (const auto& [token, bias] : request.sampling.logit_bias) {
    biases.push_back({{"bias", FiniteLogprob(static_cast<double>(bias))}, {"token", token}});
  }
  settings["logit_bias"] = std::move(biases);
  settings["grammar"] = "";
  settings["grammar_lazy"] = false;
  settings["grammar_triggers"] = Json::array();
  settings["preserved_tokens"] = Json::array();
  return settings;
}

}  // namespace vivace
