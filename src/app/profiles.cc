// vivace profiles: lists the named sets of flags; --profile uses one.
#include "app/profiles.h"

#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"

namespace vivace {
namespace {

using FlagValues = std::vector<std::pair<std::string, std::string>>;

struct Profile {
  std::string name;
  std::string what;
  FlagValues run;
  FlagValues serve;
};

const std::vector<Profile>& AllProfiles() {
  static const std::vector<Profile> all = {
      {.name = "chat",
       .what = "conversations: lively answers and a long memory",
       .run = {{"--temperature", "0.7"}, {"--top-p", "0.9"}, {"--ctx", "8192"}},
       .serve = {{"--ctx", "8192"}, {"--parallel", "16"}}},
      {.name = "code",
       .what = "programs: few surprises, room for files, no penalty for repeating names",
       .run = {{"--temperature", "0.2"},
               {"--top-p", "0.95"},
               {"--repeat-penalty", "1"},
               {"--ctx", "8192"}},
       .serve = {{"--ctx", "8192"}, {"--parallel", "4"}}},
      {.name = "extract",
       .what = "facts out of documents: the likeliest answer, many prompts at full speed",
       .run = {{"--temperature", "0"}, {"--ctx", "8192"}, {"--max-tokens", "1024"}},
       .serve = {{"--ctx", "8192"},
                 {"--parallel", "16"},
                 {"--stall-budget-ms", "250"},
                 {"--max-tokens", "1024"}}},
      {.name = "edge",
       .what = "small computers such as a Raspberry Pi 5 or an RK3588 board: little memory",
       .run = {{"--ctx", "2048"}, {"--prompt-chunk", "64"}, {"--max-tokens", "512"}},
       .serve = {{"--ctx", "2048"},
                 {"--parallel", "2"},
                 {"--queue", "8"},
                 {"--max-models", "1"},
                 {"--kv-memory-mb", "64"},
                 {"--kv-disk-mb", "256"},
                 {"--prompt-chunk", "64"},
                 {"--stall-budget-ms", "250"},
                 {"--max-tokens", "512"}}},
  };
  return all;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Profile& profile : AllProfiles()) names.push_back(profile.name);
  return names;
}

std::string Line(const FlagValues& values) {
  std::string line;
  for (const auto& [flag, value] : values) line += fmt::format(" {} {}", flag, value);
  return line;
}

nlohmann::ordered_json FlagsJson(const FlagValues& values) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [flag, value] : values) json[flag] = value;
  return json;
}

int Print(const std::string& name, bool as_json) {
  auto json = nlohmann::ordered_json::array();
  for (const Profile& profile : AllProfiles()) {
    if (!name.empty() && profile.name != name) continue;
    json.push_back({{"name", profile.name},
                    {"what", profile.what},
                    {"run", FlagsJson(profile.run)},
                    {"serve", FlagsJson(profile.serve)}});
    if (as_json) continue;
    fmt::print("{}: {}\n  vivace run{}\n  vivace serve{}\n", profile.name, profile.what,
               Line(profile.run), Line(profile.serve));
  }
  if (as_json) std::cout << json.dump() << '\n';
  return 0;
}

}  // namespace

std::shared_ptr<std::string> AddProfileFlag(CLI::App& command, ProfileFor what) {
  auto name = std::make_shared<std::string>();
  CLI::Option* option =
      command.add_option("--profile", *name, "A named set of flags, see vivace profiles")
          ->check(CLI::IsMember(Names()));
  if (what == ProfileFor::kServe) option->group("Engine");
  return name;
}

void UseProfile(CLI::App& command, ProfileFor what, const std::string& name) {
  for (const Profile& profile : AllProfiles()) {
    if (profile.name != name) continue;
    for (const auto& [flag, value] : what == ProfileFor::kRun ? profile.run : profile.serve) {
      CLI::Option* option = command.get_option(flag);
      if (option->count() > 0) continue;
      option->add_result(value);
      option->run_callback();
    }
  }
}

void AddProfiles(CLI::App& app, CommandSlot& slot) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("profiles", "Named sets of flags for run and serve")->group("Measuring");
  command->add_option("PROFILE", *name, "Only this one")->check(CLI::IsMember(Names()));
  command->add_flag("--json", *json, "One JSON array on standard output");
  command->callback([&slot, name, json] {
    slot.body = [name, json]() -> Result<int> { return Print(*name, *json); };
  });
}

}  // namespace vivace
