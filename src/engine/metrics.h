// EngineMetrics: what an engine has done and is doing, for any thread to read.
//
// Counters that only the engine's thread writes; each is exact, but they are read one by
// one, so a sum may be a step ahead of another.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "draft/acceptance.h"

namespace vivace {

// One writer, any number of readers.
template <class T>
class Gauge {
 public:
  void Set(T value) { value_.store(value, std::memory_order_relaxed); }
  void Add(T more) { Set(value_.load(std::memory_order_relaxed) + more); }
  T value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

struct EngineMetrics {
  // Now.
  Gauge<std::int64_t> waiting;  // admitted to the engine, not yet running
  Gauge<std::int64_t> running;  // with those in the background
  Gauge<std::int64_t> pages;
  Gauge<std::int64_t> pages_in_use;  // by running sequences, or on their way to or from disk
  Gauge<std::int64_t> pages_cached;  // by no running sequence
  Gauge<std::int64_t> disk_pages;    // in the disk store, with those of other processes
  Gauge<std::int64_t> disk_bytes;
  // Since the start.
  Gauge<std::int64_t> requests_dequeued;  // admitted, or ended while they waited
  Gauge<std::int64_t> requests_done;
  Gauge<std::int64_t> requests_cancelled;    // of those done
  Gauge<std::int64_t> prompt_tokens;         // evaluated
  Gauge<std::int64_t> prompt_tokens_cached;  // found, not evaluated
  Gauge<std::int64_t> tokens_generated;
  Gauge<std::int64_t> steps;
  Gauge<std::int64_t> decode_steps;  // with at least one row that decodes
  Gauge<std::int64_t> decode_rows;   // of those: decode_rows / decode_steps is the mean batch
  // Drafts, their tokens, and those of them that were right, by source.
  Gauge<std::int64_t> drafts;
  std::array<Gauge<std::int64_t>, kDraftSources> drafted;
  std::array<Gauge<std::int64_t>, kDraftSources> accepted;
  Gauge<std::int64_t> pages_evicted;
  Gauge<std::int64_t> pages_read;     // from disk
  Gauge<std::int64_t> pages_written;  // to disk
  Gauge<double> step_ms;              // sum over all steps
  Gauge<double> prefill_step_ms;      // sum over steps without a row that decodes
  Gauge<double> longest_step_ms;      // that a running stream had to wait for
  // Of steps in which nothing but decoding happens: how often the layers' weights were read,
  // and the time that took, without the choice of tokens.
  Gauge<std::int64_t> layer_reads;
  Gauge<double> layer_read_ms;
};

}  // namespace vivace
