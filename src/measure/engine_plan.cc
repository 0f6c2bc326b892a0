#include "measure/engine_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "kv/page_pool.h"
#include "model/page_shape.h"

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

class Planner {
 public:
  Planner(const EngineBenchOptions& options, const Config& config)
      : options_(options), context_(config.context) {
    const PageShape shape = PageShapeOf(config);
    const std::int64_t page_bytes =
        shape.page_size() * static_cast<std::int64_t>(sizeof(std::uint16_t));
    // Half for keys and values, the rest for rows in flight and for what else runs here.
    if (options.memory > 0)
      most_pages_ = std::max<std::int64_t>(options.memory / 2 / page_bytes, 1);
  }

  Result<EngineBenchPlan> Plan() {
    VIVACE_RETURN_IF_ERROR(CheckPrompt());
    VIVACE_RETURN_IF_ERROR(CheckAnswer());
    VIVACE_RETURN_IF_ERROR(CheckBatches());
    AddPrompts();
    AddContexts();
    plan_.pages += fixed_;
    return std::move(plan_);
  }

 private:
  static constexpr const char* kByContext = "the model's context";
  static constexpr const char* kByMemory = "the memory that is available";

  Result<void> CheckPrompt() {
    if (options_.prompt < 1 || options_.prompt > context_) {
      return OutOfRange("--prompt", options_.prompt, 1, context_, kByContext);
    }
    if (PagesFor(options_.prompt) > most_pages_) {
      return OutOfRange("--prompt", options_.prompt, 1, most_pages_ * kPagePositions, kByMemory);
    }
    return {};
  }

  Result<void> CheckAnswer() {
    if (options_.gen < 1 || options_.gen >= context_) {
      return OutOfRange("--gen", options_.gen, 1, context_ - 1, kByContext);
    }
    plan_.context = std::min(kContext, context_ - options_.gen);
    // The short prompt whose keys and values are repeated stays beside the others.
    fixed_ = PagesFor(plan_.context);
    answer_ = PagesFor(plan_.context + options_.gen);
    if (fixed_ + answer_ > most_pages_) {
      const std::int64_t most = (most_pages_ - fixed_) * kPagePositions - plan_.context;
      return OutOfRange("--gen", options_.gen, 1, std::max<std::int64_t>(most, 1), kByMemory);
    }
    Need(answer_);
    return {};
  }

  Result<void> CheckBatches() {
    const std::int64_t most = (most_pages_ - fixed_) / answer_;
    for (const std::int64_t sequences : options_.batch) {
      if (sequences < 1 || sequences > most) {
        return OutOfRange("--batch", sequences, 1, most, kByMemory);
      }
      Need(sequences * answer_);
    }
    return {};
  }

  void AddPrompts() {
    Need(PagesFor(options_.prompt));
    for (const std::int64_t tokens : kPrompts) {
      if (tokens < options_.prompt) plan_.prompts.push_back(tokens);
    }
    plan_.prompts.push_back(options_.prompt);
    for (const std::int64_t tokens : kLongPrompts) {
      if (tokens <= options_.prompt || !Fits(tokens)) continue;
      plan_.long_prompts.push_back(tokens);
      Need(PagesFor(tokens));
    }
  }

  void AddContexts() {
    plan_.contexts = {plan_.context};
    for (const std::int64_t context : kContexts) {
      if (!Fits(context + options_.gen)) continue;
      plan_.contexts.push_back(context);
      Need(PagesFor(context + options_.gen));
    }
  }

  bool Fits(std::int64_t positions) const {
    return positions <= context_ && fixed_ + PagesFor(positions) <= most_pages_;
  }
  void Need(std::int64_t pages) { plan_.pages = std::max(plan_.pages, pages); }

  const EngineBenchOptions& options_;
  std::int64_t context_;
  std::int64_t most_pages_ = std::int64_t{1} << 40;
  std::int64_t fixed_ = 0;   // pages of the short prompt
  std::int64_t answer_ = 0;  // pages of one answer with its context
  EngineBenchPlan plan_;
};

}  // namespace

Result<EngineBenchPlan> PlanEngineBench(const EngineBenchOptions& options, const Config& config) {
  return Planner(options, config).Plan();
}

}  // namespace vivace
