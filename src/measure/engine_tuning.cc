#include "measure/engine_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "measure/engine_passes.h"
#include "measure/engine_report.h"

namespace vivace {
namespace {

constexpr std::array<std::int64_t, 4> kChunks = {64, 128, 256, 512};
constexpr std::int64_t kUsualChunk = 256;
constexpr std::int64_t kMostPrompt = 512;
constexpr std::int64_t kContext = 128;
constexpr int kLeastRounds = 2;
constexpr int kMostRounds = 9;
// Less is noise.
constexpr double kMargin = 0.03;
// A usual request, to weigh prompts against answers.
constexpr double kUsualPrompt = 256;
constexpr double kUsualAnswer = 64;

struct Passes {
  std::unique_ptr<ThreadTeam> team;
  std::unique_ptr<EnginePasses> passes;
};

class Tuner {
 public:
  Tuner(const Model& model, const Model& fresh, const EngineTuningOptions& options,
        const std::stop_token& cancel,
        const std::function<void(double, std::string_view)>& progress)
      : plain_(model), fresh_(fresh), options_(options), cancel_(cancel), progress_(progress) {}

  Result<EngineTuning> Run() {
    const double start = NowMs();
    result_.settings.threads = options_.usual_threads;
    for (const auto& stage : {&Tuner::HugePages, &Tuner::Threads, &Tuner::Prefetch, &Tuner::Chunk,
                              &Tuner::StallBudget}) {
      VIVACE_RETURN_IF_ERROR((this->*stage)());
      ++stage_;
      if (cancel_.stop_requested()) return Fail(ErrorKind::kCancelled, "tuning was stopped");
    }
    result_.seconds = (NowMs() - start) / 1000;
    return std::move(result_);
  }

 private:
  // Which of the two the weights are read from, from now on.
  const Model& model() const { return use_fresh_ ? fresh_ : plain_; }

  Result<Passes> Make(const Model& of, int threads) {
    Passes made;
    made.team = options_.make_team(threads);
    const std::int64_t context = of.config().context;
    EngineBenchOptions bench = {.prompt = std::min(kMostPrompt, context),
                                .gen = std::min<std::int64_t>(32, context / 4),
                                .batch = {1},
                                .prompt_chunk = kChunks.back()};
    auto plan = PlanEngineBench(bench, of.config());
    if (!plan) return Failure(std::move(plan).error());
    auto passes = EnginePasses::Create(of, *made.team, bench, *plan);
    if (!passes) return Failure(std::move(passes).error());
    made.passes = std::move(*passes);
    made.passes->SetChunk(kUsualChunk);
    made.passes->FindPrefetch(PrefetchTuning(result_.settings.prefetch));
    return made;
  }

  // Measures every candidate once a round, until the time is over. `sample` gives a speed.
  template <class Sample>
  std::vector<Spread> InTurns(std::string_view what, std::size_t count, const Sample& sample) {
    std::vector<std::vector<double>> speeds(count);
    const double start = NowMs();
    const double end = start + 1000 * options_.stage_seconds;
    for (int round = -1; round < kMostRounds; ++round) {  // the first one only warms up
      if (cancel_.stop_requested() || (round >= kLeastRounds && NowMs() > end)) break;
      for (std::size_t i = 0; i < count && !cancel_.stop_requested(); ++i) {
        const double share = std::min(1.0, (NowMs() - start) / (end - start));
        progress_((stage_ + share) / kStages, what);
        const double speed = sample(i);
        if (round >= 0) speeds[i].push_back(speed);
      }
    }
    std::vector<Spread> spreads;
    for (std::vector<double>& one : speeds) spreads.push_back(SpreadOf(std::move(one)));
    return spreads;
  }

  // Tokens a second of an answer, from as many steps as take a noticeable time.
  double Decode(EnginePasses& passes) {
    if (decode_steps_ == 0) {
      const double step = passes.Decode(1, kContextOf(), 2).seconds / 2;
      decode_steps_ = std::clamp<std::int64_t>(std::llround(0.12 / step), 3, 16);
    }
    return static_cast<double>(decode_steps_) /
           passes.Decode(1, kContextOf(), decode_steps_).seconds;
  }
  std::int64_t kContextOf() const { return std::min(kContext, plain_.config().context / 2); }

  // Tokens a second of a prompt.
  static double Prompt(EnginePasses& passes, std::int64_t tokens) {
    return static_cast<double>(tokens) / passes.Prompts({&tokens, 1}).front().seconds;
  }

  // A prompt that takes about a second at most, so that slow machines come to an end.
  std::int64_t PromptTokens(EnginePasses& passes) const {
    const double speed = Prompt(passes, 32);
    const std::int64_t most = std::min(kMostPrompt, plain_.config().context);
    return speed > 400 ? most : std::min<std::int64_t>(most, speed > 150 ? 256 : 64);
  }

  Result<void> HugePages() {
    TuningFinding finding = {
        .name = "huge_pages", .value = {}, .sentence = {}, .unit = "tokens/s", .candidates = {}};
    auto plain = Make(plain_, options_.usual_threads);
    auto fresh = Make(fresh_, options_.usual_threads);
    if (!plain) return Failure(std::move(plain).error());
    if (!fresh) return Failure(std::move(fresh).error());
    fresh->passes->Decode(1, kContextOf(), 2);  // the pages are there, as after some tokens
    if (fresh->passes->Promote() == 0) {
      finding.sentence =
          "The weights stay where they lie: they are in huge pages already, the system has none "
          "to give, or reading them gets no faster.";
      finding.value = "where they are";
      return Add(std::move(finding));
    }
    EnginePasses* passes[] = {plain->passes.get(), fresh->passes.get()};
    const auto speeds = InTurns("huge pages", 2, [&](std::size_t i) { return Decode(*passes[i]); });
    if (cancel_.stop_requested()) return {};
    const bool better = speeds[1].median > (1 + kMargin) * speeds[0].median;
    use_fresh_ = better;
    finding.value = better ? "yes" : "no";
    finding.candidates = {{"no", speeds[0]}, {"yes", speeds[1]}};
    finding.sentence = fmt::format(
        "Answers come at {} tokens/s with the weights on 2 MB pages and at {} on those of the "
        "file: {}.",
        ShortNumber(speeds[1].median), ShortNumber(speeds[0].median),
        better ? "they are moved there during the first answers"
               : "moving them there is not needed");
    return Add(std::move(finding));
  }

  Result<void> Threads() {
    std::vector<Passes> candidates;
    for (const int threads : options_.threads) {
      auto made = Make(model(), threads);
      if (!made) return Failure(std::move(made).error());
      candidates.push_back(std::move(*made));
    }
    const std::size_t count = candidates.size();
    const auto decode = InTurns("threads for answers", count,
                                [&](std::size_t i) { return Decode(*candidates[i].passes); });
    const std::int64_t tokens = PromptTokens(*candidates.back().passes);
    const auto prefill = InTurns("threads for prompts", count, [&](std::size_t i) {
      return Prompt(*candidates[i].passes, tokens);
    });
    if (cancel_.stop_requested()) return {};
    std::vector<Spread> requests(count);
    for (std::size_t i = 0; i < count; ++i) {
      requests[i].median = 1 / (kUsualPrompt / prefill[i].median + kUsualAnswer / decode[i].median);
    }
    const auto best = [&](const std::vector<Spread>& speeds) {
      return options_.threads[FirstOfTheFastest(speeds, kMargin)];
    };
    result_.settings.threads = best(requests);
    TuningFinding finding = {.name = "threads",
                             .value = std::to_string(result_.settings.threads),
                             .sentence = {},
                             .unit = "tokens/s of an answer",
                             .candidates = {}};
    for (std::size_t i = 0; i < count; ++i) {
      finding.candidates.push_back({std::to_string(options_.threads[i]), decode[i]});
    }
    finding.sentence = fmt::format(
        "Answers are fastest with {}, prompts with {}; a request of {:.0f} tokens that is answered "
        "with {:.0f} is done soonest with {}, so {} used for both.",
        ThreadText(best(decode)), ThreadText(best(prefill)), kUsualPrompt, kUsualAnswer,
        ThreadText(result_.settings.threads),
        result_.settings.threads == 1 ? "that one is" : "those are");
    return Add(std::move(finding));
  }

  Result<void> Prefetch() {
    progress_(static_cast<double>(stage_) / kStages, "prefetch distance");
    auto made = Make(model(), result_.settings.threads);
    if (!made) return Failure(std::move(made).error());
    const PrefetchTuning found = made->passes->FindPrefetch({});
    result_.settings.prefetch = found.distance();
    return Add({.name = "prefetch_bytes",
                .value = std::to_string(found.distance()),
                .sentence = found.distance() == 0
                                ? "Weights are read fastest without being asked for in advance."
                                : fmt::format("Weights are read fastest when they are asked for "
                                              "{} bytes in advance.",
                                              found.distance()),
                .unit = {},
                .candidates = {}});
  }

  Result<void> Chunk() {
    auto made = Make(model(), result_.settings.threads);
    if (!made) return Failure(std::move(made).error());
    const std::int64_t tokens = PromptTokens(*made->passes);
    std::vector<std::int64_t> chunks;
    for (const std::int64_t chunk : kChunks) {
      if (chunk <= tokens || chunk == kChunks.front()) chunks.push_back(chunk);
    }
    const auto speeds = InTurns("pieces of prompts", chunks.size(), [&](std::size_t i) {
      made->passes->SetChunk(chunks[i]);
      return Prompt(*made->passes, tokens);
    });
    if (cancel_.stop_requested()) return {};
    const std::size_t best = FirstOfTheFastest(speeds, kMargin);
    result_.settings.prompt_chunk = chunks[best];
    prompt_speed_ = speeds[best].median;
    TuningFinding finding = {
        .name = "prompt_chunk",
        .value = std::to_string(chunks[best]),
        .sentence = fmt::format("Prompts are read at {} tokens/s in pieces of {}; {}.",
                                ShortNumber(prompt_speed_), chunks[best],
                                best + 1 < chunks.size() ? "larger ones are not clearly faster"
                                                         : "smaller ones are slower"),
        .unit = "tokens/s of a prompt",
        .candidates = {}};
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      finding.candidates.push_back({std::to_string(chunks[i]), speeds[i]});
    }
    return Add(std::move(finding));
  }

  Result<void> StallBudget() {
    auto made = Make(model(), result_.settings.threads);
    if (!made) return Failure(std::move(made).error());
    made->passes->FindPrefetch(PrefetchTuning(result_.settings.prefetch));
    const auto speeds =
        InTurns("a step's time", 1, [&](std::size_t) { return Decode(*made->passes); });
    if (cancel_.stop_requested()) return {};
    const double decode_ms = 1000 / speeds[0].median;
    const double row_ms = 1000 / prompt_speed_;
    result_.settings.stall_budget_ms = StallBudgetFor(decode_ms, row_ms);
    return Add({.name = "stall_budget_ms",
                .value = fmt::format("{:.0f}", result_.settings.stall_budget_ms),
                .sentence = fmt::format(
                    "A step of an answer takes {} ms and a token of a prompt {} ms: with {:.0f} ms "
                    "for a step, a prompt keeps most of its speed beside an answer.",
                    ShortNumber(decode_ms), ShortNumber(row_ms), result_.settings.stall_budget_ms),
                .unit = {},
                .candidates = {}});
  }

  Result<void> Add(TuningFinding finding) {
    result_.findings.push_back(std::move(finding));
    return {};
  }

  static std::string ThreadText(int count) {
    return fmt::format("{} thread{}", count, count == 1 ? "" : "s");
  }

  static constexpr double kStages = 5;
  const Model& plain_;
  const Model& fresh_;
  const EngineTuningOptions& options_;
  const std::stop_token& cancel_;
  const std::function<void(double, std::string_view)>& progress_;
  EngineTuning result_;
  bool use_fresh_ = true;
  int stage_ = 0;
  std::int64_t decode_steps_ = 0;
  double prompt_speed_ = 0;
};

}  // namespace

std::size_t FirstOfTheFastest(const std::vector<Spread>& speeds, double margin) {
  double most = 0;
  for (const Spread& speed : speeds) most = std::max(most, speed.median);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    if (speeds[i].median >= (1 - margin) * most) return i;
  }
  return 0;
}

std::vector<int> ThreadCandidates(int usual, int most) {
  std::vector<int> candidates = {usual, most};
  if (usual > 1) candidates.push_back(usual - 1);
  candidates.push_back((usual + 1) / 2);
  candidates.push_back((usual + most) / 2);
  candidates.push_back(1);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

double StallBudgetFor(double decode_ms, double row_ms) {
  constexpr double kStep = 5;
  constexpr double kLeast = 25;
  constexpr double kMost = 250;
  constexpr double kLeastRows = 8;  // that a prompt gets in any case
  const double wanted = std::max(4 * decode_ms, decode_ms + kLeastRows * row_ms);
  return std::clamp(kStep * std::round(wanted / kStep), kLeast, kMost);
}

Result<EngineTuning> TuneEngine(const Model& model, const Model& fresh,
                                const EngineTuningOptions& options, const std::stop_token& cancel,
                                const std::function<void(double, std::string_view)>& progress) {
  return Tuner(model, fresh, options, cancel, progress).Run();
}

}  // namespace vivace
