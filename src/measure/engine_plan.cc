#include "measure/engine_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "kv/page_pool.h"

namespace vivace {
namespace {

constexpr std::int64_t kContext = 128;
constexpr std::int64_t kPrompts[] = {16, 64, 256};
constexpr std::int64_t kLongPrompts[] = {1024, 2048, 4096};
constexpr std::int64_t kContexts[] = {512, 2048, 8192};

Failure OutOfRange(const char* what, std::int64_t value, std::int64_t least, std::int64_t most,
                   const char* reason) {
  return Fail(ErrorKind::kBadInput,
              fmt::format("{} is {}, allowed is {} to {} ({})", what, value, least, most, reason));
}

std::int64_t PagesFor(std::int64_t positions) {
  return (positions + kPagePositions - 1) / kPagePositions;
}

}  // namespace

Result<EngineBenchPlan> PlanEngineBench(const EngineBenchOptions& options, const Config& config) {
  const std::int64_t page_bytes =
      PageShape{.layers = config.layers, .kv_heads = config.kv_heads, .dim = config.head_dim}
          .page_size() *
      static_cast<std::int64_t>(sizeof(std::uint16_t));
  // Half for keys and values, the rest for rows in flight and for what else runs here.
  const std::int64_t most_pages = options.memory > 0
                                      ? std::max<std::int64_t>(options.memory / 2 / page_bytes, 1)
                                      : std::int64_t{1} << 40;
  const char* by_context = "the model's context";
  const char* by_memory = "the memory that is available";
  if (options.prompt < 1 || options.prompt > config.context) {
    return OutOfRange("--prompt", options.prompt, 1, config.context, by_context);
  }
  if (PagesFor(options.prompt) > most_pages) {
    return OutOfRange("--prompt", options.prompt, 1, most_pages * kPagePositions, by_memory);
  }
  if (options.gen < 1 || options.gen >= config.context) {
    return OutOfRange("--gen", options.gen, 1, config.context - 1, by_context);
  }
  EngineBenchPlan plan;
  plan.context = std::min(kContext, config.context - options.gen);
  // The short prompt whose keys and values are repeated stays beside the others.
  const std::int64_t fixed = PagesFor(plan.context);
  const std::int64_t answer = PagesFor(plan.context + options.gen);
  if (fixed + answer > most_pages) {
    const std::int64_t most = (most_pages - fixed) * kPagePositions - plan.context;
    return OutOfRange("--gen", options.gen, 1, std::max<std::int64_t>(most, 1), by_memory);
  }
  plan.pages = std::max(PagesFor(options.prompt), answer);
  for (const std::int64_t sequences : options.batch) {
    const std::int64_t most = (most_pages - fixed) / answer;
    if (sequences < 1 || sequences > most) {
      return OutOfRange("--batch", sequences, 1, most, by_memory);
    }
    plan.pages = std::max(plan.pages, sequences * answer);
  }
  plan.contexts = {plan.context};
  for (const std::int64_t context : kContexts) {
    const std::int64_t pages = PagesFor(context + options.gen);
    if (context + options.gen > config.context || fixed + pages > most_pages) continue;
    plan.contexts.push_back(context);
    plan.pages = std::max(plan.pages, pages);
  }
  for (const std::int64_t tokens : kPrompts) {
    if (tokens < options.prompt) plan.prompts.push_back(tokens);
  }
  plan.prompts.push_back(options.prompt);
  for (const std::int64_t tokens : kLongPrompts) {
    if (tokens <= options.prompt || tokens > config.context) continue;
    if (fixed + PagesFor(tokens) > most_pages) continue;
    plan.long_prompts.push_back(tokens);
    plan.pages = std::max(plan.pages, PagesFor(tokens));
  }
  plan.pages += fixed;
  return plan;
}

}  // namespace vivace
