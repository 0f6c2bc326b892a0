#include "api/completion_fields.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/sampler_steps.h"
#include "api/settings_json.h"
#include "api/structure_fields.h"

namespace vivace {
namespace {

// Settings that change nothing here, but must make sense and are echoed.
void ReadIdleSettings(Fields& fields, Json& settings) {
  for (const char* name : {"n_keep", "n_discard"}) {
    settings[name] = fields.Integer(name, settings[name].get<std::int64_t>());
  }
  for (const char* name : {"id_slot", "n_cache_reuse"}) (void)fields.Integer(name, 0);
  (void)fields.Bool("cache_prompt", true);
  if (const Json* breakers = fields.Array("dry_sequence_breakers")) {
    settings["dry_sequence_breakers"] = *breakers;
  }
}

Answer<void> RefuseUnavailable(Fields& fields) {
  const Json* adapters = fields.Array("lora");
  if (adapters != nullptr && !adapters->empty()) {
    return NotSupported("lora: adapters are not available");
  }
  return {};
}

// Their likelihoods are rendered between two steps, so there is a limit.
constexpr std::int64_t kMostProbabilities = 4096;

constexpr std::int64_t kMostIndent = 10'000;

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
  if (const auto form = ReadStructure(fields, generation); !form) return Refusal(form.error());
  generation.choices =
      fields.Integer("n_cmpl", generation.choices, 1, call.service.options.max_choices);
  ReadProbabilities(fields, generation.request);
  generation.request.min_indent =
      static_cast<std::size_t>(fields.Integer("n_indent", 0, 0, kMostIndent));
  generation.request.max_decode_ms = fields.Number("t_max_predict_ms", -1, -1, 1e9);
  const Json samplers = ReadSamplers(fields, generation.request.sampling);
  options.return_tokens = fields.Bool("return_tokens", false);
  options.timings_per_token = fields.Bool("timings_per_token", false);
  options.response_fields = fields.Texts("response_fields");
  ReadPings(fields, options);
  options.settings = FullSettings(generation);
  options.settings["samplers"] = samplers;
  options.settings["timings_per_token"] = options.timings_per_token;
  for (const char* name :
       {"grammar", "json_schema", "grammar_lazy", "grammar_triggers", "preserved_tokens"}) {
    if (const Json* value = fields.Find(name)) options.settings[name] = *value;
  }
  options.settings["ignore_eos"] = fields.Bool("ignore_eos", false);
  ReadIdleSettings(fields, options.settings);
  if (const auto status = fields.status(); !status) return Refusal(status.error());
  return options;
}

}  // namespace vivace
