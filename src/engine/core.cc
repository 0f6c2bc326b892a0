#include "engine/core.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "model/pack_image.h"
#include "model/page_shape.h"

namespace vivace {
namespace {

constexpr double kLastFlushMs = 60'000;

std::int64_t PagesFor(std::int64_t positions) {
  return (positions + kPagePositions - 1) / kPagePositions;
}

// All that decides the bytes of a page but its tokens. No padding: the bytes are hashed.
PageName RootOf(const Model& model) {
  const Config& config = model.config();
  const Fingerprint& source = model.fingerprint();
  constexpr std::uint64_t kDefinition = 2;  // of kv/page_pool.h and docs/numbers.md
  const std::uint64_t facts[] = {kDefinition,
                                 source.size,
                                 static_cast<std::uint64_t>(source.mtime_ns),
                                 source.sample[0],
                                 source.sample[1],
                                 static_cast<std::uint64_t>(config.layers),
                                 static_cast<std::uint64_t>(config.kv_heads),
                                 static_cast<std::uint64_t>(config.head_dim),
                                 static_cast<std::uint64_t>(config.rope),
                                 std::bit_cast<std::uint64_t>(config.rope_base)};
  return NameOfRoot(std::as_bytes(std::span(facts)));
}

// Whose tokens an answer is made of.
std::uint64_t NumberOf(const Model& model) {
  const Fingerprint& source = model.fingerprint();
  return source.sample[0] ^ std::rotl(source.sample[1], 1) ^ std::rotl(source.size, 2);
}

}  // namespace

Result<std::unique_ptr<EngineCore>> EngineCore::Create(const Model& model, ThreadTeam& team,
                                                       const EngineOptions& options) {
  const Config& config = model.config();
  const PageShape shape = PageShapeOf(config);
  const auto page_bytes = static_cast<std::int64_t>(shape.page_bytes());
  const std::int64_t least = PagesFor(options.context);
  const std::int64_t pages = options.kv_bytes == 0 ? least : options.kv_bytes / page_bytes;
  if (pages < least) {
    return Fail(ErrorKind::kBadInput,
                fmt::format("{} bytes of keys and values are too few for a context of {}, allowed "
                            "is from {} on",
                            options.kv_bytes, options.context, least * page_bytes));
  }
  auto pool = PagePool::Create(shape, pages);
  if (!pool) return Failure(std::move(pool).error());
  // One sequence may run in the background.
  const std::int64_t parts = options.max_running + 1;
  const std::int64_t rows = options.prompt_chunk + options.max_running + DraftControl::kMostRows;
  auto stepper = Stepper::Create(model, team, rows, parts, options.prefetch);
  if (!stepper) return Failure(std::move(stepper).error());
  if (options.masks_ahead) stepper->ComputeMasksAhead();
  std::unique_ptr<DraftModel> draft_model;
  if (options.draft_model != nullptr && options.speculation != Speculation::kOff) {
    VIVACE_RETURN_IF_ERROR(DraftModel::Check(model, *options.draft_model));
    auto created = DraftModel::Create(*options.draft_model, team, options.context);
    if (!created) return Failure(std::move(created).error());
    draft_model = std::move(*created);
  }
  return std::unique_ptr<EngineCore>(new EngineCore(model, options, std::move(*pool),
                                                    std::move(*stepper), std::move(draft_model)));
}

EngineCore::EngineCore(const Model& model, const EngineOptions& options, PagePool pool,
                       Stepper stepper, std::unique_ptr<DraftModel> draft_model)
    : model_(model),
      options_(options),
      pool_(std::move(pool)),
      cache_(pool_, RootOf(model)),
      stepper_(std::move(stepper)),
      take_([this](StepPart& part) { return Take(part); }),
      draft_model_(std::move(draft_model)),
      answers_(model.config().vocab_size, NumberOf(model), options.answers_folder),
      courier_(options.store, {.root = RootOf(model), .shape = pool_.shape()}, pool_, cache_,
               metrics_) {
  const auto parts = static_cast<std::size_t>(options.max_running) + 1;
  running_.reserve(parts);
  parts_.reserve(parts);
  prefills_.reserve(parts);
  offers_.reserve(parts);
  metrics_.pages.Set(pool_.capacity());
}

EngineCore::~EngineCore() { CancelAll(); }  // what they leave is written, too

Result<void> EngineCore::Check(const GenerateRequest& request) const {
  VIVACE_RETURN_IF_ERROR(request.sampling.Validate());
  if (request.prompt.empty()) return Fail(ErrorKind::kBadInput, "the prompt has no tokens");
  const auto length = static_cast<std::int64_t>(request.prompt.size());
  if (length >= options_.context) {
    return Fail(ErrorKind::kBadInput, fmt::format("the prompt has {} tokens, allowed is up to {}",
                                                  length, options_.context - 1));
  }
  for (const TokenId token : request.prompt) {
    if (token < 0 || token >= model_.config().vocab_size) {
      return Fail(ErrorKind::kBadInput, fmt::format("token {} is out of range, allowed is 0 to {}",
                                                    token, model_.config().vocab_size - 1));
    }
  }
  return {};
}

void EngineCore::Add(Submission submission) {
  Replace(submission.request.cache_id);
  const bool background = submission.request.priority == Priority::kBackground;
  (background ? waiting_background_ : waiting_).push_back(std::move(submission));
  UpdateGauges();
}

// A newer request of the same conversation makes what is evaluated ahead for it obsolete;
// the pages that are there already stay in the cache.
void EngineCore::Replace(const std::string& cache_id) {
  if (cache_id.empty()) return;
  std::erase_if(waiting_background_, [&](Submission& old) {
    if (old.request.cache_id != cache_id) return false;
    Reject(old);
    return true;
  });
  std::erase_if(running_, [&](Running& old) {
    if (!old.background() || old.sequence->request().cache_id != cache_id) return false;
    Finish(*old.sequence, FinishReason::kCancelled);
    return true;
  });
}

void EngineCore::DropCancelled() {
  for (std::deque<Submission>* queue : {&waiting_, &waiting_background_}) {
    std::erase_if(*queue, [&](Submission& submission) {
      if (!submission.cancel.stop_requested()) return false;
      Reject(submission);
      return true;
    });
  }
  std::erase_if(running_, [&](Running& running) {
    if (!running.sequence->cancelled()) return false;
    Finish(*running.sequence, FinishReason::kCancelled);
    return true;
  });
}

void EngineCore::CancelAll() {
  for (std::deque<Submission>* queue : {&waiting_, &waiting_background_}) {
    for (Submission& submission : *queue) Reject(submission);
    queue->clear();
  }
  for (Running& running : running_) Finish(*running.sequence, FinishReason::kCancelled);
  running_.clear();
  UpdateGauges();
}

std::int64_t EngineCore::waiting() const {
  return static_cast<std::int64_t>(waiting_.size() + waiting_background_.size());
}

std::int64_t EngineCore::ordinary_running() const {
  return std::ranges::count_if(running_, [](const Running& r) { return !r.background(); });
}

void EngineCore::Admit() {
  while (!waiting_.empty() && ordinary_running() < options_.max_running) {
    if (!TryAdmit(waiting_.front())) {
      // Ordinary requests keep their order: a small one never overtakes a large one that
      // waits for pages. What runs in the background gives its pages up.
      const auto background = std::ranges::find_if(running_, &Running::background);
      if (background == running_.end()) break;
      Finish(*background->sequence, FinishReason::kCancelled);
      running_.erase(background);
      continue;
    }
    waiting_.pop_front();
  }
  if (running_.empty() && !waiting_background_.empty()) {
    if (TryAdmit(waiting_background_.front())) {
      waiting_background_.pop_front();
    } else {
      VIVACE_CHECK(courier_.pending(), "a request alone has all pages");
    }
  }
}

bool EngineCore::TryAdmit(Submission& submission) {
  const double start_ms = NowMs();
  if (!Fits(submission.request)) {
    courier_.DropSaves();
    if (!Fits(submission.request)) return false;
  }
  auto knowledge = KnowledgeFor(submission.request);
  auto sequence = std::make_unique<Sequence>(std::move(submission), model_, pool_, options_.context,
                                             std::move(knowledge));
  sequence->timings().queue_ms = start_ms - sequence->arrival_ms();
  metrics_.requests_dequeued.Add(1);
  running_.push_back({.sequence = std::move(sequence), .start_ms = start_ms});
  Prepare(running_.back());
  return true;
}

bool EngineCore::Step() {
  DropCancelled();
  TakeFetched();
  Admit();
  UpdateGauges();
  if (!has_requests()) return false;
  Plan();
  if (parts_.empty()) {
    VIVACE_CHECK(courier_.pending(), "what cannot run waits for the disk");
    if (courier_.has_wake()) return false;
    courier_.Wait();
    return true;
  }
  RunStep();
  UpdateGauges();
  return true;
}

void EngineCore::Plan() {
  parts_.clear();
  // Besides one row for each, for tokens that grammars have forced, and for prompts.
  std::int64_t room = options_.prompt_chunk;
  for (Running& running : running_) {
    Sequence& sequence = *running.sequence;
    if (!sequence.decoding()) continue;
    const std::int64_t rows = std::min(sequence.remaining(), room + 1);
    AddPart(sequence, rows);
    room -= rows - 1;
  }
  PlanPrefill(!parts_.empty(), room);
}

void EngineCore::PlanPrefill(bool decoding, std::int64_t room) {
  const bool ordinary = ordinary_running() > 0;
  prefills_.clear();
  for (Running& running : running_) {
    if (running.sequence->decoding() || running.fetch != nullptr) continue;
    if (running.background() && ordinary) continue;
    prefills_.push_back(&running);
  }
  std::ranges::stable_sort(prefills_, {}, &Running::turn);
  const bool others = options_.turns != nullptr && options_.turns->in_use();
  if (decoding || others) {
    room = std::min(room, cost_.RowsWithin(options_.stall_budget_ms));
  } else if (!ordinary) {
    // A background slice ends soon enough for the request that may come meanwhile.
    room = std::min(room, cost_.RowsAlone(options_.stall_budget_ms));
  }
  for (Running* running : prefills_) {
    if (room == 0) return;
    Sequence& sequence = *running->sequence;
    if (!sequence.request().wants_all_rows()) {
      TakeWhatIsCached(sequence);
      if (WillBeShared(sequence)) continue;
    }
    const std::int64_t rows = std::min(room, sequence.remaining());
    AddPart(sequence, rows);
    running->turn -= rows;
    room -= rows;
  }
}

// What another sequence has computed since.
void EngineCore::TakeWhatIsCached(Sequence& sequence) {
  const std::int64_t before = sequence.kv().size();
  cache_.Match(sequence.tokens(), sequence.path(), sequence.kv());
  if (!sequence.shifted()) sequence.timings().cached_tokens += sequence.kv().size() - before;
}

// Whether this very step computes the page that the sequence needs next, for another one.
bool EngineCore::WillBeShared(const Sequence& sequence) const {
  const std::int64_t begin = sequence.kv_size();
  const auto end = static_cast<std::size_t>(begin + kPagePositions);
  if (begin % kPagePositions != 0 || end >= sequence.tokens().size()) return false;
  return std::ranges::any_of(parts_, [&](const StepPart& part) {
    const Sequence& other = *part.sequence;
    if (other.kv_size() > begin || other.kv_size() + part.rows < begin + kPagePositions) {
      return false;
    }
    return std::ranges::equal(other.tokens().first(end), sequence.tokens().first(end));
  });
}

void EngineCore::AddPart(Sequence& sequence, std::int64_t rows) {
  parts_.push_back({.sequence = &sequence,
                    .rows = rows,
                    .chooses = rows == sequence.remaining() && sequence.wants_tokens(),
                    .decodes = sequence.decoding()});
}

void EngineCore::MakeRoom() {
  std::int64_t new_pages = 0;
  for (const StepPart& part : parts_) {
    new_pages += PagesFor(part.sequence->kv_size() + part.rows) -
                 static_cast<std::int64_t>(part.sequence->kv().pages().size());
  }
  bool room = cache_.MakeRoom(new_pages);
  if (!room && courier_.pending()) {
    // After a shift a sequence takes anew pages that may still be on their way to disk.
    courier_.DropSaves();
    courier_.Flush(kLastFlushMs);
    room = cache_.MakeRoom(new_pages);
  }
  VIVACE_CHECK(room, "the pages of a running sequence are promised to it");
}

void EngineCore::RunStep() {
  std::unique_lock<FairLock> turn;
  if (options_.turns != nullptr) turn = std::unique_lock(*options_.turns);
  PlanDrafts();  // a draft model reads its weights for it
  MakeRoom();
  const double start_ms = NowMs();
  stepper_.Run(parts_, take_);
  const double end_ms = NowMs();
  if (turn.owns_lock()) turn.unlock();
  Observe(end_ms - start_ms, stepper_.evaluated_ms() - start_ms);
  for (StepPart& part : parts_) AfterStep(part);
  std::erase_if(running_, [](const Running& running) { return running.sequence->finished(); });
}

void EngineCore::Observe(double ms, double evaluation_ms) {
  std::int64_t decode_rows = 0;
  std::int64_t prefill_rows = 0;
  std::int64_t forced_rows = 0;
  std::int64_t draft_rows = 0;
  for (const StepPart& part : parts_) {
    if (!part.decodes) {
      prefill_rows += part.rows;
      continue;
    }
    const auto drafted = static_cast<std::int64_t>(part.draft.size());
    ++decode_rows;
    draft_rows += drafted;
    forced_rows += part.rows - drafted - 1;
  }
  // Steps beside prompts have no drafts: what those cost is of no use to the stall budget.
  if (draft_rows == 0) cost_.Observe(decode_rows, prefill_rows + forced_rows, ms);
  if (prefill_rows + forced_rows == 0) draft_control_.Observe(decode_rows + draft_rows, ms);
  metrics_.prompt_tokens.Add(prefill_rows);
  metrics_.steps.Add(1);
  metrics_.step_ms.Add(ms);
  if (decode_rows == 0) {
    metrics_.prefill_step_ms.Add(ms);
    return;
  }
  metrics_.decode_steps.Add(1);
  metrics_.decode_rows.Add(decode_rows);
  metrics_.longest_step_ms.Set(std::max(metrics_.longest_step_ms.value(), ms));
  if (prefill_rows + draft_rows > 0) return;
  metrics_.layer_reads.Add(1);
  metrics_.layer_read_ms.Add(evaluation_ms);
}

void EngineCore::Finish(Sequence& sequence, FinishReason reason) {
  courier_.Save(sequence.path());
  cache_.Leave(sequence.tokens(), sequence.path(), sequence.kv(), sequence.request().cache_id);
  Remember(sequence);
  const GenerateTimings& timings = sequence.timings();
  metrics_.prompt_tokens_cached.Add(timings.cached_tokens);
  metrics_.requests_done.Add(1);
  if (reason == FinishReason::kCancelled) metrics_.requests_cancelled.Add(1);
  sequence.Done(reason);
}

void EngineCore::Reject(Submission& submission) {
  GenerateTimings timings;
  timings.prompt_tokens = static_cast<std::int64_t>(submission.request.prompt.size());
  timings.queue_ms = NowMs() - submission.arrival_ms;
  metrics_.requests_dequeued.Add(1);
  metrics_.requests_done.Add(1);
  metrics_.requests_cancelled.Add(1);
  submission.sink(DoneEvent{
      .reason = FinishReason::kCancelled, .stopping_word = "", .text = "", .timings = timings});
}

void EngineCore::UpdateGauges() {
  courier_.UpdateGauges();
  metrics_.waiting.Set(waiting());
  metrics_.running.Set(static_cast<std::int64_t>(running_.size()));
  metrics_.pages_cached.Set(cache_.idle_pages());
  metrics_.pages_evicted.Set(cache_.evicted_pages());
  metrics_.pages_in_use.Set(pool_.capacity() - pool_.available() - cache_.idle_pages());
}

}  // namespace vivace
