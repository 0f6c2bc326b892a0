// EngineCore: continuous batching and the prefix cache, without a thread of its own.
//
// Add requests, call Step until it says that nothing is left. A step is one forward pass
// over a row of every sequence that decodes and as many rows of prompts as fit the stall
// budget at the measured speed. The thread that calls it leads the team; only Check and
// the metrics may be used from others. What comes out of a request does not depend on the
// company it ran in, on what was cached, or on how its prompt was cut.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fair_lock.h"
#include "base/result.h"
#include "base/thread_team.h"
#include "constrain/grammar.h"
#include "draft/answer_memory.h"
#include "draft/draft_control.h"
#include "engine/draft_model.h"
#include "engine/metrics.h"
#include "engine/page_courier.h"
#include "engine/prefetch_tuning.h"
#include "engine/request.h"
#include "engine/schedule.h"
#include "engine/sequence.h"
#include "engine/stepper.h"
#include "kv/page_pool.h"
#include "kv/page_store.h"
#include "kv/prefix_cache.h"
#include "model/model.h"

namespace vivace {

// Whether several tokens of an answer are evaluated at once where it is likely how it goes on.
// Changes no result.
enum class Speculation : std::uint8_t {
  kOff,
  kWhenItPays,  // by the measured cost of rows
  kAlways,      // whatever it costs: for tests
};

struct EngineOptions {
  std::int64_t context = 4096;      // positions of one sequence
  std::int64_t prompt_chunk = 256;  // rows of prompts in one step, at most
  std::int64_t max_running = 16;    // ordinary requests that run at once
  std::int64_t max_waiting = 64;    // requests that wait for their turn; Engine only
  double stall_budget_ms = 50;      // that a running stream waits for others' prompts
  // Bytes of keys and values, running and cached; 0: enough for one whole context.
  std::int64_t kv_bytes = 0;
  PrefetchTuning prefetch = {};  // what is known of this machine
  // Taken for each step, where several engines share the cores. It must outlive them.
  FairLock* turns = nullptr;
  // Whether masks of structured answers are computed on a thread beside the team, which pays
  // where that finds a core of its own. Changes no result.
  bool masks_ahead = false;
  PageStoreOptions store = {};  // pages on disk
  GrammarLimits grammars = {};
  Speculation speculation = Speculation::kWhenItPays;
  std::string answers_folder = {};  // where answers are kept for that; "": in memory only
  // Guesses, too, while one sequence decodes alone; it must outlive the engine.
  const Model* draft_model = nullptr;
};

class EngineCore {
 public:
  // `model` and `team` must outlive this object. kBadInput where kv_bytes cannot hold one
  // whole context, or a draft model has another vocabulary.
  static Result<std::unique_ptr<EngineCore>> Create(const Model& model, ThreadTeam& team,
                                                    const EngineOptions& options);
  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;
  ~EngineCore();

  // Whether the request can run at all. Safe to call from any thread.
  Result<void> Check(const GenerateRequest& request) const;

  // Puts a checked request at the end of the queue. Its last event is a DoneEvent, from
  // Step, CancelAll or an Add that replaces it.
  void Add(Submission submission);

  // Drops what was cancelled, admits what fits and runs one step. False: nothing is left, or
  // all that is left waits for pages from disk and SetWake's function will tell.
  bool Step();
  // `wake` is called from other threads when pages have come from disk. Without it, Step waits
  // for them itself. Before the first request.
  void SetWake(std::function<void()> wake) { courier_.SetWake(std::move(wake)); }

  // Ends all requests, waiting and running.
  void CancelAll();

  // Forgets one conversation, or all and all answers with "", also on disk. Returns the pages freed
  // in memory; those in use stay. May wait for the disk.
  std::int64_t ClearCache(const std::string& cache_id);
  // Waits until what is to be written is on disk, but at most so long.
  void Flush(double ms) { courier_.Flush(ms); }

  // What was learned from answers since it was last written, for later drafts.
  bool has_unsaved_answers() const { return answers_.changed(); }
  void SaveAnswers() { answers_.Save(); }

  // Brings the metrics of the present up to date, as each step does.
  void UpdateGauges();

  std::int64_t waiting() const;
  bool has_requests() const { return !running_.empty() || waiting() > 0; }
  const EngineMetrics& metrics() const { return metrics_; }
  const StepCost& cost() const { return cost_; }
  PagePool& pool() { return pool_; }
  PrefixCache& cache() { return cache_; }
  const PrefetchTuning& prefetch() const { return stepper_.prefetch(); }
  Stepper& stepper() { return stepper_; }
  const EngineOptions& options() const { return options_; }

 private:
  struct Running {
    std::unique_ptr<Sequence> sequence;
    double start_ms;        // of its admission
    std::int64_t turn = 0;  // PrefillTurn, less the rows evaluated since
    // While it waits for pages from disk, and how many of its pages that takes already.
    std::shared_ptr<const PageFetch> fetch = {};
    std::int64_t fetch_pages = 0;
    bool background() const { return sequence->background(); }
  };

  EngineCore(const Model& model, const EngineOptions& options, PagePool pool, Stepper stepper,
             std::unique_ptr<DraftModel> draft_model);

  void DropCancelled();
  void Replace(const std::string& cache_id);
  void Admit();
  bool Fits(const GenerateRequest& request) const;
  bool TryAdmit(Submission& submission);
  // Asks the disk for what the memory lacks. The prompt's evaluation starts after that.
  void Prepare(Running& running);
  void TakeFetched();
  void Start(Running& running);
  std::int64_t promised_pages() const;
  std::int64_t ordinary_running() const;
  // Which rows of which sequences come next, into parts_.
  void Plan();
  void PlanPrefill(bool decoding, std::int64_t room);
  void TakeWhatIsCached(Sequence& sequence);
  bool WillBeShared(const Sequence& sequence) const;
  void AddPart(Sequence& sequence, std::int64_t rows);
  // What drafts of a request are made of; null where none are wanted.
  std::shared_ptr<DraftKnowledge> KnowledgeFor(const GenerateRequest& request);
  // Adds drafts to the parts of a step that only decodes.
  void PlanDrafts();
  void AskDraftModel(double step_ms);
  void MakeRoom();
  void RunStep();
  // The sequence's prompt, or a part of it, was evaluated.
  void Evaluated(Sequence& sequence);
  // As Stepper::Taker.
  bool Take(StepPart& part);
  void AfterStep(StepPart& part);
  void CountDrafts(const StepPart& part);
  void Remember(const Sequence& sequence);
  void Observe(double ms, double evaluation_ms);
  void Finish(Sequence& sequence, FinishReason reason);
  void Reject(Submission& submission);

  const Model& model_;
  EngineOptions options_;
  PagePool pool_;
  PrefixCache cache_;
  Stepper stepper_;
  Stepper::Taker take_;
  StepCost cost_;
  DraftControl draft_control_;
  std::unique_ptr<DraftModel> draft_model_;  // or null
  bool asked_model_ = false;                 // for the step that is planned or runs
  AnswerMemory answers_;
  EngineMetrics metrics_;
  std::deque<Submission> waiting_;
  std::deque<Submission> waiting_background_;
  std::vector<Running> running_;             // in order of admission
  std::vector<StepPart> parts_;              // of the step that is planned or runs
  std::vector<Running*> prefills_;           // scratch of PlanPrefill
  std::vector<DraftControl::Offer> offers_;  // scratch of PlanDrafts
  PageCourier courier_;
};

}  // namespace vivace
