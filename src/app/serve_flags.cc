#include "app/serve_flags.h"

namespace vivace {
namespace {

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
  AddSpeculationFlags(command, flags.session, group);
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

void AddServeFlags(CLI::App& command, ServeFlags& flags) {
  AddModelsFlags(command, flags);
  AddServerFlags(command, flags);
  AddEngineFlags(command, flags);
}

}  // namespace vivace
