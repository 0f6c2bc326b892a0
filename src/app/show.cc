#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/human.h"
#include "gguf/gguf_file.h"
#include "hub/disk.h"
#include "hub/model_facts.h"
#include "hub/resolve.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTemplateLines = 5;
constexpr std::size_t kTemplateColumns = 88;

struct ShowFlags {
  std::string model;
  bool json = false;
};

Json OrNull(const std::optional<std::uint64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string OrDash(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

Json ToJson(const ModelFacts& facts, const ResolvedModel& model) {
  Json quants = Json::array();
  for (const QuantShare& share : facts.quants) {
    quants.push_back(
        {{"type", share.type},
         {"tensors", share.tensors},
         {"bytes", share.bytes},
         {"share", static_cast<double>(share.bytes) / static_cast<double>(facts.tensor_bytes)}});
  }
  return {{"name", model.name},
          {"path", model.path},
          {"size", FileSize(model.path)},
          {"architecture", facts.architecture},
          {"title", facts.title},
          {"license", facts.license},
          {"parameters", facts.parameters},
          {"bits_per_parameter", facts.bits_per_parameter()},
          {"context", OrNull(facts.context)},
          {"layers", OrNull(facts.layers)},
          {"hidden", OrNull(facts.hidden)},
          {"ffn", OrNull(facts.ffn)},
          {"heads", OrNull(facts.heads)},
          {"kv_heads", OrNull(facts.kv_heads)},
          {"quants", quants},
          {"tokenizer",
           {{"model", facts.tokenizer}, {"pre", facts.pre_tokenizer}, {"tokens", facts.tokens}}},
          {"template", facts.chat_template},
          {"capabilities", facts.capabilities}};
}

void PrintTemplate(const std::string& source) {
  if (source.empty()) {
    fmt::print("{:<14}none in the file\n", "template");
    return;
  }
  fmt::print("{:<14}{} bytes, it begins:\n", "template", source.size());
  std::string_view rest = source;
  for (int line = 0; line < kTemplateLines && !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    fmt::print("  {}{}\n", Printable(rest.substr(0, std::min(end, kTemplateColumns))),
               end > kTemplateColumns ? " …" : "");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void PrintTables(const ModelFacts& facts, const ResolvedModel& model) {
  const auto row = [](const char* name, const std::string& value) {
    fmt::print("{:<14}{}\n", name, value.empty() ? "-" : Printable(value));
  };
  row("name", model.name);
  row("title", facts.title);
  row("path", model.path);
  row("size", HumanBytes(static_cast<double>(FileSize(model.path))));
  row("license", facts.license);
  row("architecture", facts.architecture);
  row("parameters",
      fmt::format("{:.1f} M, {:.2f} bits each", static_cast<double>(facts.parameters) / 1e6,
                  facts.bits_per_parameter()));
  row("context", OrDash(facts.context));
  row("layers", fmt::format("{}, hidden {}, feed-forward {}", OrDash(facts.layers),
                            OrDash(facts.hidden), OrDash(facts.ffn)));
  row("heads", fmt::format("{} for queries, {} for keys and values", OrDash(facts.heads),
                           OrDash(facts.kv_heads)));
  row("tokenizer",
      fmt::format("{} {}, {} tokens", facts.tokenizer, facts.pre_tokenizer, facts.tokens));
  row("capabilities", fmt::format("{}", fmt::join(facts.capabilities, ", ")));
  fmt::print("{:<14}{:<8} {:>8} {:>10} {:>8}\n", "quants", "TYPE", "TENSORS", "SIZE", "SHARE");
  for (const QuantShare& share : facts.quants) {
    fmt::print("{:<14}{:<8} {:>8} {:>10} {:>6.1f} %\n", "", share.type, share.tensors,
               HumanBytes(static_cast<double>(share.bytes)),
               100 * static_cast<double>(share.bytes) / static_cast<double>(facts.tensor_bytes));
  }
  PrintTemplate(facts.chat_template);
}

Result<int> Show(const ShowFlags& flags) {
  const auto model = ResolveLocal(flags.model);
  if (!model) return Failure(model.error());
  const auto file = GgufFile::Open(model->path);
  if (!file) return Failure(file.error());
  const ModelFacts facts = FactsOf(*file);
  if (flags.json) {
    std::cout << ToJson(facts, *model).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    PrintTables(facts, *model);
  }
  return 0;
}

}  // namespace

void AddShow(CLI::App& app, CommandSlot& slot) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = app.add_subcommand("show", "What a model is made of")->group("Models");
  command->add_option("MODEL", flags->model, "A .gguf file, or a name that vivace list shows")
      ->required();
  command->add_flag("--json", flags->json, "One JSON object on standard output");
  command->callback([&slot, flags] { slot.body = [flags] { return Show(*flags); }; });
}

}  // namespace vivace
