// vivace serve: the server. Loads the models, opens the port, and drains when asked to.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/endpoints.h"
#include "api/errors.h"
#include "api/model_names.h"
#include "api/warm.h"
#include "app/commands.h"
#include "app/fetch.h"
#include "app/interrupts.h"
#include "app/page_assets.h"
#include "app/profiles.h"
#include "app/server_log.h"
#include "app/session.h"
#include "app/tuning_file.h"
#include "base/cpu.h"
#include "base/fair_lock.h"
#include "base/memory_facts.h"
#include "http/server.h"
#include "hub/home.h"
#include "model/page_shape.h"

namespace vivace {
namespace {

constexpr std::int64_t kMega = std::int64_t{1} << 20;

struct ServeFlags {
  SessionFlags session;
  std::shared_ptr<FairLock> turns = std::make_shared<FairLock>();
  std::vector<std::string> models;
  std::vector<std::string> aliases;
  std::string chat_template;
  EngineOptions engine = {.context = 8192};
  bool stall_given = false;
  std::int64_t kv_memory_mb = 0;  // 0: chosen by the memory that there is
  std::int64_t kv_disk_mb = 2048;
  ServiceOptions service;
  std::size_t max_models = 3;
  double keep_alive_s = 300;
  http::ServerOptions http;
  http::Listen listen;
  http::TlsFiles tls;
  std::string warm_file;
  std::int64_t max_body_mb = 32;
  int drain_s = 30;
  bool webui = true;
  std::string history_file;
  std::string log_format = "text";
  std::string log_level = "info";
};

// Keys and values of one whole context at least; else a quarter of the memory, up to 1 GB.
std::int64_t KvBytes(const ServeFlags& flags, const Model& model) {
  if (flags.kv_memory_mb > 0) return flags.kv_memory_mb * kMega;
  const Config& config = model.config();
  const PageShape shape = PageShapeOf(config);
  const std::int64_t context = std::min(flags.engine.context, config.context);
  const std::int64_t one =
      (context / kPagePositions + 1) * static_cast<std::int64_t>(shape.page_bytes());
  const std::int64_t memory = AvailableMemory();
  return std::max(one, std::min(std::int64_t{1024} * kMega, memory / 4));
}

// Of one model file: another's pages are of no use to it.
std::string PagesFolder(const Model& model) {
  const Fingerprint& source = model.fingerprint();
  return fmt::format("{}/kv/{:016x}{:016x}", HomeFolder(), source.sample[0], source.sample[1]);
}

std::string AnswersFolder(const Model& model) {
  const Fingerprint& source = model.fingerprint();
  return fmt::format("{}/answers/{:016x}{:016x}", HomeFolder(), source.sample[0], source.sample[1]);
}

// `path` is where the model of that name is; "" if the hub has to find it.
Result<std::unique_ptr<ServedModel>> LoadServed(const ServeFlags& flags, const std::string& name,
                                                const std::string& path, ServerLog& log) {
  SessionFlags session = flags.session;
  session.model = path.empty() ? name : path;
  auto opened = OpenModel(session);
  if (!opened) return Failure(std::move(opened).error());
  EngineOptions engine = flags.engine;
  engine.kv_bytes = KvBytes(flags, opened->model);
  engine.prompt_chunk = opened->settings.prompt_chunk;
  if (!flags.stall_given) engine.stall_budget_ms = opened->settings.stall_budget_ms;
  engine.turns = flags.turns.get();
  engine.store = {.folder = PagesFolder(opened->model),
                  .max_bytes = flags.kv_disk_mb * kMega,
                  .warn = [&log](const std::string& line) { log.Warn(line); }};
  if (flags.engine.speculation != Speculation::kOff)
    engine.answers_folder = AnswersFolder(opened->model);
  engine.prefetch = RememberedTuning(
      TuningKey(ReadCpuModel(), opened->model.kernels().name, opened->team->size()));
  return ServedModel::Create({.name = name,
                              .path = opened->path,
                              .model = std::move(opened->model),
                              .team = std::move(opened->team)},
                             engine, flags.chat_template);
}

// "ALIAS=MODEL", or "ALIAS" for the first model.
std::map<std::string, std::string> Aliases(const ServeFlags& flags, const std::string& first) {
  std::map<std::string, std::string> aliases;
  for (const std::string& text : flags.aliases) {
    const std::size_t equals = text.find('=');
    aliases[text.substr(0, equals)] = equals == std::string::npos ? first : text.substr(equals + 1);
  }
  return aliases;
}

// What the server was started with: names for requests, and where each is.
struct PinnedModels {
  std::vector<std::string> names;
  std::map<std::string, std::string> paths;  // by name
};

Result<PinnedModels> FetchPinned(const std::vector<std::string>& models) {
  PinnedModels pinned;
  for (const std::string& model : models.empty() ? std::vector<std::string>{""} : models) {
    const auto resolved = FetchIfMissing(model);
    if (!resolved) return Failure(resolved.error());
    if (!pinned.paths.emplace(resolved->name, resolved->path).second) {
      return Fail(ErrorKind::kBadInput, resolved->name + " is given twice");
    }
    pinned.names.push_back(resolved->name);
  }
  return pinned;
}

Result<void> Warm(const ModelLease& model, const std::string& file, ServerLog& log) {
  const auto failure = [](const ApiError& error, const std::string& where) {
    return Context({ErrorKind::kBadInput, error.message}, where);
  };
  if (const auto ran = WarmUp(model); !ran) return failure(ran.error(), model->name());
  if (file.empty()) return {};
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) return Fail(ErrorKind::kIo, file + ": cannot be read");
  const auto tokens = WarmPrompts(model, text);
  if (!tokens) return failure(tokens.error(), file);
  log.Info(fmt::format("{}: {} tokens of {} are ready", model->name(), *tokens, file));
  return {};
}

// The page is public: it has a field for the key.
std::vector<std::string> PublicPaths(const http::Assets& page) {
  std::vector<std::string> paths = page.paths();
  paths.insert(paths.end(), {"/health", "/v1/health", "/ready", "/"});
  return paths;
}

http::ServerOptions HttpOptions(const ServeFlags& flags, const http::Assets& page, ServerLog& log) {
  http::ServerOptions options = flags.http;
  options.listen = {flags.listen};
  if (!flags.tls.certificate.empty()) options.tls = flags.tls;
  options.limits.body_bytes = static_cast<std::size_t>(flags.max_body_mb * kMega);
  options.public_paths = PublicPaths(page);
  options.error_body = [](const http::ErrorFacts& facts) {
    return ErrorResponse(DialectOf(facts.path),
                         ErrorOfStatus(facts.status, std::string(facts.message)));
  };
  options.access_log = [&log](const http::AccessEntry& entry) { log.Access(entry); };
  return options;
}

void PrintReady(Service& service, const http::Server& server) {
  std::vector<std::string> names;
  std::string with;
  for (const ModelPool::Loaded& loaded : service.models.List()) {
    names.push_back(loaded.model->name());
    with = fmt::format("{} threads, {}", loaded.model->threads(),
                       loaded.model->model().kernels().name);
  }
  fmt::print("vivace serves {} on {} ({})\n", fmt::join(names, ", "),
             fmt::join(server.addresses(), ", "), with);
  std::fflush(stdout);
}

Result<int> Serve(const ServeFlags& flags) {
  const auto pinned = FetchPinned(flags.models);
  if (!pinned) return Failure(pinned.error());
  std::unique_ptr<HistoryStore> history;
  if (!flags.history_file.empty()) {
    auto opened = HistoryStore::Open(flags.history_file);
    if (!opened) return Failure(std::move(opened).error());
    history = std::move(*opened);
  }
  ServerLog log(flags.log_format == "json" ? LogFormat::kJson : LogFormat::kText, flags.log_level);
  ModelPool::Options models = {
      .pinned = pinned->names,
      .aliases = Aliases(flags, pinned->names.front()),
      .max_models = flags.max_models,
      .load =
          [&](const std::string& name) {
            const auto path = pinned->paths.find(name);
            return LoadServed(flags, name, path == pinned->paths.end() ? "" : path->second, log);
          },
      .find = FindLocalModel};
  if (flags.keep_alive_s < 0) {
    models.keep_alive.reset();
  } else {
    models.keep_alive = std::chrono::milliseconds(static_cast<int>(flags.keep_alive_s * 1000));
  }
  const http::Assets page = flags.webui ? PageAssets() : http::Assets();
  ServiceOptions options = flags.service;
  options.history = history.get();
  if (!page.empty()) options.page = &page;
  if (!flags.webui) options.no_page = "the web page is turned off here (--no-webui)";
  Service service(std::move(models), std::move(options));
  for (const std::string& name : pinned->names) {
    const auto loaded = service.models.Acquire(name);
    if (!loaded) return Failure(loaded.error());
    if (const auto warm = Warm(*loaded, flags.warm_file, log); !warm) return Failure(warm.error());
  }
  const InterruptScope interrupt;
  const std::stop_callback on_interrupt(interrupt.token(), [&] { service.drain.Request(); });
  auto server = http::Server::Start(HttpOptions(flags, page, log), MakeRouter(service));
  if (!server) return Failure(std::move(server).error());
  PrintReady(service, **server);
  service.drain.Wait();
  log.Info("draining: no new connections, running requests go on");
  (*server)->Drain();
  if (!(*server)->WaitUntilDrained(std::chrono::seconds(flags.drain_s))) {
    log.Warn(fmt::format("requests still run after {} s and are stopped", flags.drain_s));
  }
  (*server)->Stop();
  return 0;
}

void AddServerFlags(CLI::App& command, ServeFlags& flags) {
  const char* group = "Server";
  command.add_option("--host", flags.listen.host, "Address or name to listen on")
      ->group(group)
      ->capture_default_str();
  command.add_option("--port", flags.listen.port, "0 is any free port")
      ->group(group)
      ->capture_default_str();
  command.add_option("--unix", flags.listen.unix_path, "Listen on this UNIX socket instead")
      ->group(group);
  command.add_option("--api-key", flags.http.api_keys, "Requests need one of these (repeatable)")
      ->group(group);
  CLI::Option* certificate =
      command.add_option("--tls-cert", flags.tls.certificate, "PEM file with the chain")
          ->group(group);
  CLI::Option* key = command.add_option("--tls-key", flags.tls.key, "PEM file")->group(group);
  certificate->needs(key);
  key->needs(certificate);
  command
      .add_option("--allow-origin", flags.http.allowed_origins,
                  "Web pages of this origin may call; * for all (repeatable)")
      ->group(group);
  command
      .add_option("--allow-host", flags.http.allowed_hosts,
                  "A name by which local clients call this server (repeatable)")
      ->group(group);
  command.add_option("--max-body-mb", flags.max_body_mb, "Largest request")
      ->group(group)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}))
      ->capture_default_str();
  command
      .add_option("--history", flags.history_file,
                  "Keep the web page's conversations in this file, for all browsers")
      ->group(group);
  command.add_flag("!--no-webui", flags.webui, "No web page at /")->group(group);
  command.add_option("--drain-seconds", flags.drain_s, "Time for running requests at the end")
      ->group(group)
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  command.add_option("--log-format", flags.log_format)
      ->group(group)
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command.add_option("--log-level", flags.log_level, "info writes a line per request")
      ->group(group)
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
}

void AddEngineFlags(CLI::App& command, ServeFlags& flags) {
  const char* group = "Engine";
  command
      .add_option("--threads", flags.session.threads, "0 is as tuned, else one per granted core")
      ->group(group)
      ->check(CLI::Range(0, 256));
  command.add_option("--kernels", flags.session.kernels, "Instruction set, as in vivace run")
      ->group(group);
  command.add_flag("--no-pack", flags.session.no_pack, "Keep packed models in memory only")
      ->group(group);
  command.add_option("--ctx", flags.engine.context, "Positions of context of one request")
      ->group(group)
      ->check(CLI::Range(std::int64_t{16}, std::int64_t{1} << 20))
      ->capture_default_str();
  command.add_option("--parallel", flags.engine.max_running, "Requests that run at once")
      ->group(group)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{256}))
      ->capture_default_str();
  command.add_option("--queue", flags.engine.max_waiting, "Requests that may wait; more get a 503")
      ->group(group)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->capture_default_str();
  command
      .add_option("--stall-budget-ms", flags.engine.stall_budget_ms,
                  "That a running stream waits for others' prompts (default: as tuned, else 50)")
      ->group(group)
      ->check(CLI::Range(1.0, 60'000.0));
  command
      .add_option(
          "--kv-memory-mb", flags.kv_memory_mb,
          "Keys and values in memory, per model; 0 is a quarter of what is free, up to 1024")
      ->group(group)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 24));
  command
      .add_option("--kv-disk-mb", flags.kv_disk_mb,
                  "Keys and values on disk, per model: prompts outlive a restart; 0 is none")
      ->group(group)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 24))
      ->capture_default_str();
  AddSpeculationFlags(command, flags.engine.speculation, group);
  command
      .add_option("--prompt-chunk", flags.session.prompt_chunk,
                  "Prompt tokens in one step (default: as tuned, else 256)")
      ->group(group)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}));
}

void AddModelsFlags(CLI::App& command, ServeFlags& flags) {
  const char* group = "Models";
  command.add_option("MODEL", flags.models,
                     "Files or names as in vivace run; the first one is the default");
  command
      .add_option("--alias", flags.aliases,
                  "ALIAS or ALIAS=MODEL: another name for requests (repeatable)")
      ->group(group);
  command
      .add_option("--chat-template", flags.chat_template,
                  "Built-in template: chatml, smollm, llama2, llama3, gemma, plain")
      ->group(group);
  command.add_option("--max-models", flags.max_models, "Models in memory at once")
      ->group(group)
      ->check(CLI::Range(std::size_t{1}, std::size_t{64}))
      ->capture_default_str();
  command
      .add_option("--keep-alive", flags.keep_alive_s,
                  "Seconds for which a model that was loaded on demand stays; -1 is forever")
      ->group(group)
      ->check(CLI::Range(-1.0, 1e6))
      ->capture_default_str();
  command
      .add_option("--warm", flags.warm_file,
                  "JSON file with system prompts and tools to evaluate before the port opens")
      ->group(group)
      ->check(CLI::ExistingFile);
  command
      .add_flag("!--no-downloads", flags.service.allow_downloads,
                "Requests may not fetch models into the models folder")
      ->group(group);
  command.add_option("--max-prompt-tokens", flags.service.max_prompt_tokens, "0: the context's")
      ->group(group)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 20));
  command
      .add_option("--max-schema-bytes", flags.engine.grammars.max_bytes,
                  "Largest schema or grammar that an answer may be bound to")
      ->group(group)
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 26))
      ->capture_default_str();
  command
      .add_option("--max-tokens", flags.service.default_max_tokens,
                  "Longest answer where a request names none; -1 until the context is full")
      ->group(group)
      ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 30))
      ->capture_default_str();
}

}  // namespace

void AddServe(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand(
      "serve", "Answer over HTTP in the dialects of llama.cpp, OpenAI, Anthropic and Ollama");
  AddModelsFlags(*command, *flags);
  AddServerFlags(*command, *flags);
  AddEngineFlags(*command, *flags);
  const auto profile = AddProfileFlag(*command, ProfileFor::kServe);
  command->footer(
      "Examples:\n"
      "  vivace serve\n"
      "  vivace serve qwen2.5-coder-0.5b-instruct --port 11434 --alias gpt-4o-mini\n"
      "  curl http://127.0.0.1:8080/v1/chat/completions -d '{\"messages\": [{\"role\": \"user\", "
      "\"content\": \"Hi\"}]}'");
  flags->service.version = VIVACE_VERSION;
  command->callback([&slot, flags, command, profile] {
    UseProfile(*command, ProfileFor::kServe, *profile);
    flags->stall_given = command->get_option("--stall-budget-ms")->count() > 0;
    slot.body = [flags] { return Serve(*flags); };
  });
}

}  // namespace vivace
