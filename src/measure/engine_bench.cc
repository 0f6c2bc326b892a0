#include "measure/engine_bench.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "measure/engine_passes.h"
#include "measure/limit_meter.h"

namespace vivace {
namespace {

// Steps of one sample beyond the main answer: enough for a median over rounds.
constexpr std::int64_t kSideSteps = 16;
// The long prompts are left out where they would take longer.
constexpr double kLongSeconds = 15;
constexpr int kLeastRounds = 3;

// The limit of a sample that was taken between two measurements of it.
Limit Between(const Limit& a, const Limit& b) {
  return {.bytes = (a.bytes + b.bytes) / 2, .products = (a.products + b.products) / 2};
}

class Runner {
 public:
  Runner(const ModelWork& work, const EngineBenchOptions& options, EngineBenchPlan plan,
         EnginePasses& passes, LimitMeter& meter,
         const std::function<void(double, std::string_view)>& progress)
      : options_(options),
        plan_(std::move(plan)),
        passes_(passes),
        meter_(meter),
        progress_(progress) {
    for (const std::int64_t tokens : plan_.prompts) {
      prompts_.push_back({.size = tokens, .work = work.Prompt(tokens, options.prompt_chunk)});
    }
    for (const std::int64_t tokens : plan_.long_prompts) {
      long_prompts_.push_back({.size = tokens, .work = work.Prompt(tokens, options.prompt_chunk)});
    }
    for (const std::int64_t context : plan_.contexts) {
      contexts_.push_back({.size = context, .work = work.Steps(1, context, StepsAt(context))});
    }
    for (const std::int64_t sequences : options.batch) {
      batches_.push_back(
          {.size = sequences, .work = work.Steps(sequences, plan_.context, SideSteps())});
    }
  }

  EngineBenchResult Run() {
    const double start = NowMs();
    const auto elapsed = [&] { return (NowMs() - start) / 1000; };
    Say("finding out about the machine");
    passes_.Prompts(std::span(plan_.prompts).first(1));
    const PrefetchTuning prefetch = passes_.Settle(options_.prefetch);
    int rounds = 0;
    while (rounds < options_.rounds) {
      if (options_.max_seconds > 0 && rounds >= kLeastRounds && elapsed() > options_.max_seconds) {
        break;
      }
      Round(rounds++);
    }
    prompts_.insert(prompts_.end(), long_prompts_.begin(), long_prompts_.end());
    return {.prompts = PointsOf(prompts_),
            .contexts = PointsOf(contexts_),
            .batches = PointsOf(batches_),
            .main_prompt = plan_.prompts.size() - 1,
            .read = meter_.read(),
            .read_memory = meter_.read_memory(),
            .read_weights = meter_.read_weights(),
            .weights_huge_share = meter_.weights_huge_share(),
            .peak = meter_.peak(),
            .prefetch = prefetch,
            .rounds = rounds,
            .seconds = elapsed()};
  }

 private:
  std::int64_t SideSteps() const { return std::min(options_.gen, kSideSteps); }
  std::int64_t StepsAt(std::int64_t context) const {
    return context == plan_.context ? options_.gen : SideSteps();
  }

  void Round(int round) {
    round_ = round;
    const Limit before = MeasureLimit();
    std::vector<Timed> prompt_times;
    for (const WorkSamples& prompt : prompts_) {
      Say(fmt::format("prompt of {}", prompt.size));
      prompt_times.push_back(passes_.Prompts({&prompt.size, 1}).front());
    }
    const std::vector<Timed> long_times =
        round == 0 ? LongPrompts(prompt_times.back().seconds) : std::vector<Timed>();
    const Limit between = MeasureLimit();
    AddAll(prompt_times, Between(before, between), prompts_);
    AddAll(long_times, Between(before, between), long_prompts_);

    std::vector<Timed> context_times;
    for (const WorkSamples& context : contexts_) {
      Say(fmt::format("answer after {}", context.size));
      context_times.push_back(passes_.Decode(1, context.size, StepsAt(context.size)));
    }
    std::vector<Timed> batch_times;
    for (const WorkSamples& batch : batches_) {
      Say(fmt::format("{} answers together", batch.size));
      batch_times.push_back(passes_.Decode(batch.size, plan_.context, SideSteps()));
    }
    const Limit after = MeasureLimit();
    AddAll(context_times, Between(between, after), contexts_);
    AddAll(batch_times, Between(between, after), batches_);
  }

  // As many of the long prompts, each the start of the next, as there is time for.
  std::vector<Timed> LongPrompts(double main_seconds) {
    std::vector<std::int64_t> lengths;
    for (const std::int64_t tokens : plan_.long_prompts) {
      const double ratio = static_cast<double>(tokens) / static_cast<double>(options_.prompt);
      if (ratio * main_seconds < kLongSeconds) lengths.push_back(tokens);
    }
    if (lengths.empty()) return {};
    Say(fmt::format("prompt of {}", lengths.back()));
    return passes_.Prompts(lengths);
  }

  static void AddAll(const std::vector<Timed>& times, const Limit& limit,
                     std::vector<WorkSamples>& samples) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      samples[i].samples.push_back(
          {.seconds = times[i].seconds, .output_bytes = times[i].output_bytes, .limit = limit});
    }
  }

  Limit MeasureLimit() {
    Say("the machine's limits");
    return meter_.Measure();
  }

  // Parts count alike: shares are for a person who waits.
  void Say(const std::string& what) {
    const std::size_t parts = 3 + prompts_.size() + contexts_.size() + batches_.size();
    const auto all = static_cast<double>(parts * static_cast<std::size_t>(options_.rounds) + 1);
    progress_(std::min(1.0, part_++ / all),
              fmt::format("round {} of {}: {}", round_ + 1, options_.rounds, what));
  }

  const EngineBenchOptions& options_;
  EngineBenchPlan plan_;
  EnginePasses& passes_;
  LimitMeter& meter_;
  const std::function<void(double, std::string_view)>& progress_;
  std::vector<WorkSamples> prompts_;
  std::vector<WorkSamples> long_prompts_;
  std::vector<WorkSamples> contexts_;
  std::vector<WorkSamples> batches_;
  int round_ = 0;
  double part_ = 0;
};

}  // namespace

Result<EngineBenchResult> RunEngineBench(
    const Model& model, ThreadTeam& team, const EngineBenchOptions& options,
    const std::function<void(double, std::string_view)>& progress) {
  auto plan = PlanEngineBench(options, model.config());
  if (!plan) return Failure(std::move(plan).error());
  progress(0, "reading the model");
  auto meter = LimitMeter::Create(model, team, options.read_bytes);
  if (!meter) return Failure(std::move(meter).error());
  auto passes = EnginePasses::Create(model, team, options, *plan);
  if (!passes) return Failure(std::move(passes).error());
  return Runner(WorkOf(model), options, std::move(*plan), **passes, *meter, progress).Run();
}

}  // namespace vivace
