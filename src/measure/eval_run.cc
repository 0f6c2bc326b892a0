#include "measure/eval_run.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "measure/eval_stats.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kVersion = 1;

Json HeadJson(const EvalHead& head) {
  return {{"vivace_eval", kVersion},  {"kind", head.kind},   {"metric", head.metric},
          {"data", head.data},        {"model", head.model}, {"model_hash", head.model_hash},
          {"settings", head.settings}};
}

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string TextOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

struct Content {
  EvalRun run;
  std::size_t whole_bytes = 0;  // up to the end of the last whole line
};

Failure Wrong(const std::string& path, std::size_t line, std::string_view what) {
  return Fail(ErrorKind::kBadInput, fmt::format("{}:{}: {}", path, line, what));
}

Result<void> TakeLine(std::string_view text, std::size_t number, EvalRun& run) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Wrong(run.path, number, "this is not one JSON object");
  if (number == 1) {
    const auto version = json.find("vivace_eval");
    if (version == json.end() || *version != kVersion)
      return Wrong(run.path, number, "this is no run of vivace eval");
    run.head = {.kind = TextOf(json, "kind"),
                .metric = TextOf(json, "metric"),
                .data = TextOf(json, "data"),
                .model = TextOf(json, "model"),
                .model_hash = TextOf(json, "model_hash"),
                .settings = json.value("settings", Json::object())};
    return {};
  }
  const auto value = json.find("value");
  if (value == json.end() || !value->is_number() || TextOf(json, "item").empty())
    return Wrong(run.path, number, "item or value is missing");
  run.values[TextOf(json, "item")] = value->get<double>();
  return {};
}

Result<Content> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(ErrorKind::kNotFound, path + ": cannot be read");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Content content = {.run = {.path = path, .head = {}, .values = {}}, .whole_bytes = 0};
  std::size_t number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', content.whole_bytes)) {
    const std::string_view line =
        std::string_view(text).substr(content.whole_bytes, end - content.whole_bytes);
    VIVACE_RETURN_IF_ERROR(TakeLine(line, ++number, content.run));
    content.whole_bytes = end + 1;
  }
  return content;
}

// Why the file's run cannot go on as this one; "" if it can.
std::string Conflict(const EvalHead& file, const EvalHead& now) {
  const auto differ = [](std::string_view what, std::string_view a, std::string_view b) {
    return a == b ? std::string() : fmt::format("{} was {}, now it is {}", what, a, b);
  };
  for (const std::string& problem :
       {differ("the kind", file.kind, now.kind), differ("the data", file.data, now.data),
        differ("the model's hash", file.model_hash, now.model_hash),
        differ("the settings", file.settings.dump(), now.settings.dump())}) {
    if (!problem.empty()) return problem;
  }
  return "";
}

}  // namespace

Result<EvalRun> ReadEvalRun(const std::string& path) {
  auto content = Read(path);
  if (!content) return Failure(std::move(content).error());
  if (content->whole_bytes == 0) return Wrong(path, 1, "this is no run of vivace eval");
  return std::move(content->run);
}

Result<EvalLog> EvalLog::Open(const std::string& path, const EvalHead& head) {
  EvalLog log;
  log.run_ = {.path = path, .head = head, .values = {}};
  if (path.empty()) return log;
  std::error_code error;
  if (fs::exists(path, error)) {
    auto content = Read(path);
    if (!content) return Failure(std::move(content).error());
    if (content->whole_bytes > 0) {
      if (const std::string conflict = Conflict(content->run.head, head); !conflict.empty()) {
        return Fail(ErrorKind::kBadInput,
                    fmt::format("{} is another evaluation: {}", path, conflict));
      }
      fs::resize_file(path, content->whole_bytes, error);
      if (error) return Fail(ErrorKind::kIo, fmt::format("{}: {}", path, error.message()));
      log.run_.values = std::move(content->run.values);
      log.resumed_ = log.run_.values.size();
      return log;
    }
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << Line(HeadJson(head)) << std::flush;
  if (!file) return Fail(ErrorKind::kIo, path + ": cannot be written");
  return log;
}

Result<void> EvalLog::Add(const std::string& item, double value, const Json& more) {
  run_.values[item] = value;
  if (run_.path.empty()) return {};
  Json line = {{"item", item}, {"value", value}};
  if (more.is_object()) line.update(more);
  std::ofstream file(run_.path, std::ios::binary | std::ios::app);
  file << Line(line) << std::flush;
  if (!file) return Fail(ErrorKind::kIo, run_.path + ": cannot be written");
  return {};
}

std::vector<double> EvalLog::values() const {
  std::vector<double> values;
  for (const auto& [item, value] : run_.values) values.push_back(value);
  return values;
}

Result<EvalComparison> CompareRuns(const std::vector<EvalRun>& runs) {
  const EvalRun& first = runs.front();
  EvalComparison comparison = {.kind = first.head.kind, .metric = first.head.metric, .rows = {}};
  for (const EvalRun& run : runs) {
    if (run.head.kind != first.head.kind || run.head.data != first.head.data) {
      return Fail(
          ErrorKind::kBadInput,
          fmt::format("{} ({}, {}) and {} ({}, {}) were not asked the same", first.path,
                      first.head.kind, first.head.data, run.path, run.head.kind, run.head.data));
    }
    std::vector<double> all;
    std::vector<double> ours;
    std::vector<double> theirs;
    for (const auto& [item, value] : run.values) {
      all.push_back(value);
      const auto other = first.values.find(item);
      if (other == first.values.end()) continue;
      ours.push_back(value);
      theirs.push_back(other->second);
    }
    const Interval mean = IntervalOf(all);
    const Interval difference = PairedDifference(theirs, ours);
    comparison.rows.push_back({.name = run.head.model,
                               .items = all.size(),
                               .mean = mean.mean,
                               .low = mean.low,
                               .high = mean.high,
                               .common = ours.size(),
                               .difference = difference.mean,
                               .difference_low = difference.low,
                               .difference_high = difference.high,
                               .beyond_noise = &run != &first && IsBeyondNoise(difference)});
  }
  return comparison;
}

}  // namespace vivace
