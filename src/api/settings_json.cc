#include "api/settings_json.h"

#include <limits>
#include <utility>

#include "api/openai_form.h"
#include "api/sampler_steps.h"
#include "api/sampling_fields.h"

namespace vivace {

Json BriefSettings(const Generation& generation) {
  const GenerateRequest& request = generation.request;
  const SamplingParams& sampling = request.sampling;
  // What was chosen by chance is not told: asking for it again is no promise.
  const std::uint32_t seed =
      generation.seeded ? sampling.seed : std::numeric_limits<std::uint32_t>::max();
  return {{"seed", seed},
          {"temperature", sampling.temperature},
          {"dynatemp_range", sampling.dynatemp_range},
          {"dynatemp_exponent", sampling.dynatemp_exponent},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"min_p", sampling.min_p},
          {"top_n_sigma", sampling.top_n_sigma},
          {"xtc_probability", sampling.xtc_probability},
          {"xtc_threshold", sampling.xtc_threshold},
          {"typical_p", sampling.typical_p},
          {"repeat_last_n", sampling.repeat_last_n},
          {"repeat_penalty", sampling.repeat_penalty},
          {"presence_penalty", sampling.presence_penalty},
          {"frequency_penalty", sampling.frequency_penalty},
          {"dry_multiplier", sampling.dry.multiplier},
          {"dry_base", sampling.dry.base},
          {"dry_allowed_length", sampling.dry.allowed_length},
          {"dry_penalty_last_n", sampling.dry.last_n},
          {"mirostat", sampling.mirostat.version},
          {"mirostat_tau", sampling.mirostat.tau},
          {"mirostat_eta", sampling.mirostat.eta},
          {"adaptive_target", sampling.adaptive.target},
          {"adaptive_decay", sampling.adaptive.decay},
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
  settings["dry_sequence_breakers"] = DryBreakers();
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
