// GET /metrics: Prometheus' text format. Reads atomics on the I/O thread, so it never waits.
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/endpoints.h"
#include "api/errors.h"
#include "api/read_speed.h"
#include "base/clock.h"
#include "base/memory_facts.h"
#include "http/response_writer.h"
#include "measure/model_work.h"

namespace vivace {
namespace {

void Write(const char* type, std::string_view name, std::string_view help, double value,
           std::string& out) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{} {}\n", name, help, name, type, name, value);
}

void Write(const char* type, std::string_view name, std::string_view help, std::int64_t value,
           std::string& out) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{} {}\n", name, help, name, type, name, value);
}

struct Totals {
  std::int64_t prompt_tokens = 0;
  double prompt_seconds = 0;
  std::int64_t predicted_tokens = 0;
  double predicted_seconds = 0;
};

Totals TotalsOf(const RequestMetrics& metrics) {
  return {.prompt_tokens = metrics.prompt_tokens.load(),
          .prompt_seconds = metrics.prompt_seconds.load(),
          .predicted_tokens = metrics.predicted_tokens.load(),
          .predicted_seconds = metrics.predicted_seconds.load()};
}

double Rate(std::int64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

struct EngineSums {
  std::int64_t running = 0;
  std::int64_t waiting = 0;
  std::int64_t decode_steps = 0;
  std::int64_t decode_rows = 0;
  std::int64_t steps = 0;
  std::int64_t drafts = 0;
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
};

EngineSums SumsOf(const std::vector<ModelPool::Loaded>& models) {
  EngineSums sums;
  for (const ModelPool::Loaded& loaded : models) {
    const EngineMetrics& metrics = loaded.model->engine().metrics();
    sums.running += metrics.running.value();
    sums.waiting += metrics.waiting.value();
    sums.decode_steps += metrics.decode_steps.value();
    sums.decode_rows += metrics.decode_rows.value();
    sums.steps += metrics.steps.value();
    sums.drafts += metrics.drafts.value();
    for (const auto& count : metrics.drafted) sums.drafted += count.value();
    for (const auto& count : metrics.accepted) sums.accepted += count.value();
  }
  return sums;
}

// Under llama.cpp's names. `before`: the totals at the last scrape.
void WriteLlama(const RequestMetrics& metrics, const EngineSums& engines, const Totals& before,
                std::string& out) {
  const Totals now = TotalsOf(metrics);
  const auto counter = [&](const char* name, const char* help, auto value) {
    Write("counter", fmt::format("llamacpp:{}", name), help, value, out);
  };
  const auto gauge = [&](const char* name, const char* help, auto value) {
    Write("gauge", fmt::format("llamacpp:{}", name), help, value, out);
  };
  counter("prompt_tokens_total", "Prompt tokens that were evaluated.", now.prompt_tokens);
  counter("prompt_tokens_cached_total", "Prompt tokens found in the cache.",
          metrics.cached_tokens.load());
  counter("prompt_seconds_total", "Time from admission to the end of prompts.", now.prompt_seconds);
  counter("tokens_predicted_total", "Tokens generated.", now.predicted_tokens);
  counter("tokens_predicted_seconds_total", "Time from first tokens to last ones.",
          now.predicted_seconds);
  counter("n_decode_total", "Steps of the loaded models.", engines.steps);
  counter("n_tokens_max", "The longest prompt with its answer.", metrics.longest.load());
  counter("spec_decode_num_draft_tokens_total", "Tokens that were guessed ahead.", engines.drafted);
  counter("spec_decode_num_accepted_tokens_total", "Of those, the right ones.", engines.accepted);
  counter("spec_decode_num_drafts_total", "Times that tokens were guessed ahead.", engines.drafts);
  gauge("prompt_tokens_seconds", "Prompt tokens per second since the last scrape.",
        Rate(now.prompt_tokens - before.prompt_tokens, now.prompt_seconds - before.prompt_seconds));
  gauge("predicted_tokens_seconds", "Generated tokens per second since the last scrape.",
        Rate(now.predicted_tokens - before.predicted_tokens,
             now.predicted_seconds - before.predicted_seconds));
  gauge("requests_processing", "Requests that run.", engines.running);
  gauge("requests_deferred", "Requests that wait.", engines.waiting);
  gauge("n_busy_slots_per_decode", "Requests that share a step, on average.",
        Rate(engines.decode_rows, static_cast<double>(engines.decode_steps)));
}

void WriteHistograms(const RequestMetrics& metrics, std::string& out) {
  metrics.ttft.Write("vivace_ttft_seconds", "From a request's arrival to its first token.", out);
  metrics.itl.Write("vivace_itl_seconds", "Between two tokens of an answer.", out);
  metrics.queue.Write("vivace_queue_seconds", "From arrival until a request runs.", out);
  metrics.e2e.Write("vivace_e2e_seconds", "From arrival to the end of the answer.", out);
  metrics.prefill_rate.Write("vivace_prefill_tokens_per_second",
                             "Speed at which a request's prompt was evaluated.", out);
}

// A label's value: names of files may hold anything.
std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\\' || c == '"') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted;
}

struct EngineRow {
  const char* name;
  const char* type;
  const char* help;
  double (*value)(const EngineMetrics&);
};

template <auto field>
double ValueOf(const EngineMetrics& metrics) {
  return static_cast<double>((metrics.*field).value());
}

constexpr EngineRow kRows[] = {
    {"requests_running", "gauge", "Requests that run.", ValueOf<&EngineMetrics::running>},
    {"requests_waiting", "gauge", "Requests that wait.", ValueOf<&EngineMetrics::waiting>},
    {"requests_done_total", "counter", "Requests that ended.",
     ValueOf<&EngineMetrics::requests_done>},
    {"requests_cancelled_total", "counter", "Of those, cancelled ones.",
     ValueOf<&EngineMetrics::requests_cancelled>},
    {"prompt_tokens_total", "counter", "Prompt tokens evaluated, also of running requests.",
     ValueOf<&EngineMetrics::prompt_tokens>},
    {"tokens_generated_total", "counter", "Tokens generated, also of running requests.",
     ValueOf<&EngineMetrics::tokens_generated>},
    {"steps_total", "counter", "Forward passes.", ValueOf<&EngineMetrics::steps>},
    {"step_ms_total", "counter", "Their time.", ValueOf<&EngineMetrics::step_ms>},
    {"longest_step_ms", "gauge", "The longest one that a stream had to wait for.",
     ValueOf<&EngineMetrics::longest_step_ms>},
    {"kv_pages", "gauge", "Pages of keys and values.", ValueOf<&EngineMetrics::pages>},
    {"kv_pages_in_use", "gauge", "Of those, used by running requests.",
     ValueOf<&EngineMetrics::pages_in_use>},
    {"kv_pages_cached", "gauge", "Of those, kept for later requests.",
     ValueOf<&EngineMetrics::pages_cached>},
    {"kv_pages_evicted_total", "counter", "Pages that made room for others.",
     ValueOf<&EngineMetrics::pages_evicted>},
};

void WriteEngines(const std::vector<ModelPool::Loaded>& models, std::string& out) {
  for (const EngineRow& row : kRows) {
    out += fmt::format("# HELP vivace_engine_{} {}\n# TYPE vivace_engine_{} {}\n", row.name,
                       row.help, row.name, row.type);
    for (const ModelPool::Loaded& loaded : models) {
      out += fmt::format("vivace_engine_{}{{model=\"{}\"}} {}\n", row.name,
                         Quoted(loaded.model->name()), row.value(loaded.model->engine().metrics()));
    }
  }
}

// By where the guesses came from.
void WriteDrafts(const std::vector<ModelPool::Loaded>& models, std::string& out) {
  const auto write = [&](const char* name, const char* help, auto field) {
    out += fmt::format("# HELP vivace_engine_{} {}\n# TYPE vivace_engine_{} counter\n", name, help,
                       name);
    for (const ModelPool::Loaded& loaded : models) {
      const auto& counts = loaded.model->engine().metrics().*field;
      for (std::size_t i = 0; i < counts.size(); ++i) {
        out += fmt::format("vivace_engine_{}{{model=\"{}\",source=\"{}\"}} {}\n", name,
                           Quoted(loaded.model->name()), kDraftSourceNames[i], counts[i].value());
      }
    }
  };
  write("drafted_tokens_total", "Tokens that were guessed ahead.", &EngineMetrics::drafted);
  write("accepted_tokens_total", "Of those, the right ones.", &EngineMetrics::accepted);
}

std::int64_t StartSeconds(const Service& service) {
  return std::chrono::duration_cast<std::chrono::seconds>(service.started.time_since_epoch())
      .count();
}

LayerReads ReadsOf(const std::vector<ModelPool::Loaded>& models) {
  LayerReads reads;
  for (const ModelPool::Loaded& loaded : models) {
    const EngineMetrics& metrics = loaded.model->engine().metrics();
    const std::int64_t bytes = WorkOf(loaded.model->model()).layer_bytes;
    reads.bytes += static_cast<double>(metrics.layer_reads.value() * bytes);
    reads.seconds += metrics.layer_read_ms.value() / 1000;
  }
  return reads;
}

void WriteMachine(const Service& service, double read_speed, std::string& out) {
  Write("gauge", "process_resident_memory_bytes", "Memory that the process holds.",
        ResidentMemory(), out);
  Write("gauge", "vivace_read_bytes_per_second",
        "Speed at which the layers' weights were read by steps that only decode, in the last "
        "seconds; without keys, values and the output matrix. 0: there were none.",
        read_speed, out);
  const double limit = service.read_limit.bytes_per_second();
  if (limit == 0) return;
  Write("gauge", "vivace_read_limit_bytes_per_second",
        "Speed at which the same threads can read the first model's weights and do nothing "
        "else, measured once, while the server was idle.",
        limit, out);
}

// What one scrape remembers for the next. Only the I/O thread has it.
struct Scrapes {
  Totals totals;
  ReadSpeedWindow read_speed;
};

http::Response Metrics(Service& service, Scrapes& scrapes) {
  const Totals before = std::exchange(scrapes.totals, TotalsOf(service.metrics));
  const std::vector<ModelPool::Loaded> models = service.models.List();
  http::Response response = {.content_type = "text/plain; version=0.0.4; charset=utf-8",
                             .body = ""};
  WriteLlama(service.metrics, SumsOf(models), before, response.body);
  WriteHistograms(service.metrics, response.body);
  WriteEngines(models, response.body);
  WriteDrafts(models, response.body);
  const double read_speed = scrapes.read_speed.Add(NowMs() / 1000, ReadsOf(models));
  WriteMachine(service, read_speed, response.body);
  response.headers.Set("Process-Start-Time-Unix", fmt::format("{}", StartSeconds(service)));
  return response;
}

}  // namespace

void AddMetrics(http::Router& router, Service& service) {
  const auto scrapes = std::make_shared<Scrapes>();
  router.Add("GET", "/metrics",
             [&service, scrapes](const http::Request&, const http::ResponseWriter& writer) {
               (void)writer.Send(Metrics(service, *scrapes));
             });
}

}  // namespace vivace
