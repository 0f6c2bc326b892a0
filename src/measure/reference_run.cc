#include "measure/reference_run.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::int64_t kMostTop = 1 << 20;
constexpr std::size_t kMostHead = 4096;

struct Pair {
  std::int32_t id;
  float logprob;
};

std::string Temporary(const std::string& path) { return fmt::format("{}.{}.tmp", path, getpid()); }

}  // namespace

Result<ReferenceWriter> ReferenceWriter::Create(const std::string& path,
                                                const ReferenceHead& head) {
  ReferenceWriter writer;
  writer.path_ = path;
  writer.file_.open(Temporary(path), std::ios::binary | std::ios::trunc);
  writer.file_ << Json({{"vivace_reference", kVersion},
                        {"model", head.model},
                        {"text", head.text},
                        {"tokens", head.tokens},
                        {"window", head.window},
                        {"vocab", head.vocab},
                        {"top", head.top}})
                      .dump(-1, ' ', false, Json::error_handler_t::replace)
               << '\n';
  if (!writer.file_) return Fail(ErrorKind::kIo, path + ": cannot be written");
  return writer;
}

void ReferenceWriter::Add(std::span<const TokenLogprob> top) {
  for (const TokenLogprob& one : top) {
    const Pair pair = {.id = static_cast<std::int32_t>(one.token),
                       .logprob = static_cast<float>(one.logprob)};
    char bytes[sizeof pair];
    std::memcpy(bytes, &pair, sizeof pair);
    file_.write(bytes, sizeof bytes);
  }
}

Result<void> ReferenceWriter::Finish() {
  file_.close();
  std::error_code error;
  if (file_) std::filesystem::rename(Temporary(path_), path_, error);
  if (file_ && !error) return {};
  std::filesystem::remove(Temporary(path_), error);
  return Fail(ErrorKind::kIo, path_ + ": cannot be written");
}

Result<ReferenceReader> ReferenceReader::Open(const std::string& path) {
  ReferenceReader reader;
  reader.path_ = path;
  reader.file_.open(path, std::ios::binary);
  if (!reader.file_) return Fail(ErrorKind::kNotFound, path + ": cannot be read");
  std::string line(kMostHead, '\0');
  reader.file_.getline(line.data(), static_cast<std::streamsize>(line.size()));
  const Json json = Json::parse(line.c_str(), nullptr, false);
  const auto wrong = [&](std::string_view what) {
    return Fail(ErrorKind::kBadInput, fmt::format("{}: {}", path, what));
  };
  const auto is_text = [&](const char* name) {
    return json.contains(name) && json[name].is_string();
  };
  const auto number = [&](const char* name) -> std::int64_t {
    return json.contains(name) && json[name].is_number_integer() ? json[name].get<std::int64_t>()
                                                                 : -1;
  };
  if (!json.is_object() || number("vivace_reference") != kVersion || !is_text("model") ||
      !is_text("text")) {
    return wrong("this is no run that was kept by --save-run");
  }
  reader.head_ = {.model = json["model"].get<std::string>(),
                  .text = json["text"].get<std::string>(),
                  .tokens = number("tokens"),
                  .window = number("window"),
                  .vocab = number("vocab"),
                  .top = number("top")};
  if (reader.head_.top < 1 || reader.head_.top > kMostTop)
    return wrong(fmt::format("top is {}, allowed is 1 to {}", reader.head_.top, kMostTop));
  reader.row_.resize(static_cast<std::size_t>(reader.head_.top));
  return reader;
}

Result<std::span<const TokenLogprob>> ReferenceReader::Next() {
  for (TokenLogprob& one : row_) {
    char bytes[sizeof(Pair)];
    if (!file_.read(bytes, sizeof bytes))
      return Fail(ErrorKind::kBadInput, path_ + ": the file ends before the text does");
    Pair pair{};
    std::memcpy(&pair, bytes, sizeof pair);
    if (pair.id < 0 || pair.id >= head_.vocab || !(pair.logprob <= 0))
      return Fail(ErrorKind::kBadInput, path_ + ": the file is damaged");
    one = {.token = static_cast<TokenId>(pair.id), .logit = 0, .logprob = double{pair.logprob}};
  }
  return std::span<const TokenLogprob>(row_);
}

double DivergenceFrom(std::span<const TokenLogprob> reference, std::span<const float> logits) {
  constexpr double kLeast = 1e-12;  // of what is left over, for its logarithm
  const double log_sum = LogSumExp(logits);
  double divergence = 0;
  double p_left = 1;
  double q_left = 1;
  for (const TokenLogprob& one : reference) {
    const double p = std::exp(one.logprob);
    const double log_q = double{logits[static_cast<std::size_t>(one.token)]} - log_sum;
    if (p > 0) divergence += p * (one.logprob - log_q);
    p_left -= p;
    q_left -= std::exp(log_q);
  }
  p_left = std::max(p_left, kLeast);
  q_left = std::max(q_left, kLeast);
  return std::max(0.0, divergence + p_left * std::log(p_left / q_left));
}

}  // namespace vivace
