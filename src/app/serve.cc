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
#include "app/serve_flags.h"
#include "app/server_log.h"
#include "app/tuning_file.h"
#include "base/cpu.h"
#include "base/fair_lock.h"
#include "base/memory_facts.h"
#include "base/quota.h"
#include "http/server.h"
#include "hub/home.h"
#include "model/page_shape.h"

namespace vivace {
namespace {

constexpr std::int64_t kMega = std::int64_t{1} << 20;

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

// In the part of the home folder that is named so, of one model file: another's pages and
// answers are of no use to it.
std::string FolderOf(const Model& model, const char* part) {
  const Fingerprint& source = model.fingerprint();
  return fmt::format("{}/{}/{:016x}{:016x}", HomeFolder(), part, source.sample[0],
                     source.sample[1]);
}

// `path` is where the model of that name is; "" if the hub has to find it. `draft` may be null:
// it guesses for models of its vocabulary.
Result<std::unique_ptr<ServedModel>> LoadServed(const ServeFlags& flags, const std::string& name,
                                                const std::string& path, const Model* draft,
                                                ServerLog& log, const LoadProgress& progress) {
  SessionFlags session = flags.session;
  session.model = path.empty() ? name : path;
  auto opened = OpenModel(session, progress);
  if (!opened) return Failure(std::move(opened).error());
  EngineOptions engine = flags.engine;
  engine.kv_bytes = KvBytes(flags, opened->model);
  engine.prompt_chunk = opened->settings.prompt_chunk;
  if (!flags.stall_given) engine.stall_budget_ms = opened->settings.stall_budget_ms;
  engine.turns = flags.turns.get();
  engine.masks_ahead = opened->team->size() < GrantedCores();
  engine.store = {.folder = FolderOf(opened->model, "kv"),
                  .max_bytes = flags.kv_disk_mb * kMega,
                  .warn = [&log](const std::string& line) { log.Warn(line); }};
  engine.speculation = flags.session.speculation;
  if (engine.speculation != Speculation::kOff)
    engine.answers_folder = FolderOf(opened->model, "answers");
  // What the server was started with must fit; what is loaded later goes without.
  const bool asked_for = !path.empty();
  if (draft != nullptr && (asked_for || DraftModel::Check(opened->model, *draft))) {
    engine.draft_model = draft;
  }
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

// Null where none is wanted.
Result<std::unique_ptr<HistoryStore>> OpenHistory(const std::string& file) {
  if (file.empty()) return nullptr;
  return HistoryStore::Open(file);
}

ModelPool::KeepAlive KeepAliveOf(const ServeFlags& flags) {
  if (flags.keep_alive_s < 0) return std::nullopt;
  return std::chrono::milliseconds(static_cast<int>(flags.keep_alive_s * 1000));
}

ServiceOptions OptionsOf(const ServeFlags& flags, HistoryStore* history, const http::Assets& page) {
  ServiceOptions options = flags.service;
  options.history = history;
  if (!page.empty()) options.page = &page;
  if (!flags.webui) options.no_page = "the web page is turned off here (--no-webui)";
  return options;
}

// Until it is told to end, and what runs then has ended.
Result<int> ServeHttp(const ServeFlags& flags, const http::Assets& page, Service& service,
                      ServerLog& log) {
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

Result<int> Serve(const ServeFlags& flags) {
  const auto pinned = FetchPinned(flags.models);
  if (!pinned) return Failure(pinned.error());
  const auto history = OpenHistory(flags.history_file);
  if (!history) return Failure(history.error());
  const auto draft = OpenDraftModel(flags.session);
  if (!draft) return Failure(draft.error());
  ServerLog log(flags.log_format == "json" ? LogFormat::kJson : LogFormat::kText, flags.log_level);
  const auto load = [&](const std::string& name, const LoadProgress& progress) {
    const auto path = pinned->paths.find(name);
    return LoadServed(flags, name, path == pinned->paths.end() ? "" : path->second,
                      *draft ? &**draft : nullptr, log, progress);
  };
  const http::Assets page = flags.webui ? PageAssets() : http::Assets();
  Service service({.pinned = pinned->names,
                   .aliases = Aliases(flags, pinned->names.front()),
                   .max_models = flags.max_models,
                   .keep_alive = KeepAliveOf(flags),
                   .load = load,
                   .find = FindLocalModel},
                  OptionsOf(flags, history->get(), page));
  for (const std::string& name : pinned->names) {
    const auto loaded = service.models.Acquire(name);
    if (!loaded) return Failure(loaded.error());
    if (const auto warm = Warm(*loaded, flags.warm_file, log); !warm) return Failure(warm.error());
  }
  return ServeHttp(flags, page, service, log);
}

}  // namespace

void AddServe(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand(
      "serve", "Answer over HTTP in the dialects of llama.cpp, OpenAI, Anthropic and Ollama");
  AddServeFlags(*command, *flags);
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
