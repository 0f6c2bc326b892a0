#include "measure/engine_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "machine/machine_json.h"

namespace vivace {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGiga = 1e-9;
constexpr double kPercent = 100;

Json PointJson(const char* size_name, const WorkPoint& point) {
  return {{size_name, point.size},
          {"samples", point.samples},
          {"tok_s", SpreadJson(point.tokens)},
          {"ms", SpreadJson(point.seconds, 1000)},
          {"gb_s", SpreadJson(point.bytes, kGiga)},
          {"gmac_s", SpreadJson(point.products, kGiga)},
          {"roofline_pct", SpreadJson(point.read_share, kPercent)},
          {"peak_pct", SpreadJson(point.peak_share, kPercent)},
          {"limit_pct", SpreadJson(point.limit_share, kPercent)},
          {"bytes", std::round(point.work.bytes)},
          {"output_bytes", std::round(point.output_bytes)}};
}

Json PointsJson(const char* size_name, const std::vector<WorkPoint>& points) {
  Json list = Json::array();
  for (const WorkPoint& point : points) list.push_back(PointJson(size_name, point));
  return list;
}

double Mb(std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::string RangeCell(const Spread& spread, double scale = 1) {
  return fmt::format("{:>6} ({}-{})", ShortNumber(scale * spread.median),
                     ShortNumber(scale * spread.min), ShortNumber(scale * spread.max));
}

std::string Row(const std::string& name, const WorkPoint& point) {
  constexpr int kBar = 20;
  const double share = point.limit_share.median;
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * kBar));
  return fmt::format("{:<22}{:<22}{:>7}{:>9}{:>7.0f} %  {}\n", name, RangeCell(point.tokens),
                     ShortNumber(kGiga * point.bytes.median),
                     ShortNumber(kGiga * point.products.median), 100 * share,
                     std::string(filled, '#'));
}

}  // namespace

std::string ShortNumber(double value) {
  if (!std::isfinite(value) || value <= 0) return "0";
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

Json EngineJson(const EngineReport& report) {
  const EngineBenchResult& result = report.result;
  const WorkPoint& prompt = result.prompt();
  const WorkPoint& answer = result.answer();
  return {{"machine", FactsJson(report.machine)},
          {"model",
           {{"name", report.model},
            {"architecture", report.architecture},
            {"context", report.model_context},
            {"bytes_per_token", report.work.token_bytes()},
            {"layer_bytes", report.work.layer_bytes},
            {"output_bytes", report.work.output_bytes},
            {"products_per_token", report.work.token_products()},
            {"prompt_products_per_token", report.work.prompt_products()},
            {"kv_bytes_per_position", report.work.position_bytes}}},
          {"kernels", report.kernels},
          {"threads", report.threads},
          {"rounds", result.rounds},
          {"seconds", result.seconds},
          {"prompt_tokens", report.options.prompt},
          {"prompt_chunk", report.options.prompt_chunk},
          {"gen_tokens", report.options.gen},
          {"prefetch_bytes", result.prefetch.distance()},
          {"gen_context", answer.size},
          {"prefill_tok_s", SpreadJson(prompt.tokens)},
          {"prefill_gmac_s", SpreadJson(prompt.products, kGiga)},
          {"prefill_peak_pct", SpreadJson(prompt.peak_share, kPercent)},
          {"decode_tok_s", SpreadJson(answer.tokens)},
          {"decode_gb_s", SpreadJson(answer.bytes, kGiga)},
          {"roofline_pct", SpreadJson(answer.read_share, kPercent)},
          {"roofline_gb_s", SpreadJson(result.read, kGiga)},
          {"read_memory_gb_s", SpreadJson(result.read_memory, kGiga)},
          {"read_weights_gb_s", SpreadJson(result.read_weights, kGiga)},
          {"weights_huge_pct", std::round(kPercent * result.weights_huge_share)},
          {"int8_peak_gmac_s", SpreadJson(result.peak, kGiga)},
          {"prefill", PointsJson("tokens", result.prompts)},
          {"decode", PointsJson("context", result.contexts)},
          {"batch", PointsJson("sequences", result.batches)}};
}

std::string EngineText(const EngineReport& report) {
  const EngineBenchResult& result = report.result;
  std::string text =
      fmt::format("{} on {}\n{} kernels, {} thread{}, {} rounds, {:.0f} s; median (range)\n\n",
                  report.model, report.machine.cpu.model, report.kernels, report.threads,
                  report.threads == 1 ? "" : "s", result.rounds, result.seconds);
  text +=
      fmt::format("{:<22}{:<22}{:>7}{:>9}{:>9}\n", "", "tokens/s", "GB/s", "GMAC/s", "of limit");
  for (const WorkPoint& point : result.prompts) {
    text += Row(fmt::format("prompt of {}", point.size), point);
  }
  for (const WorkPoint& point : result.contexts) {
    text += Row(fmt::format("answer after {}", point.size), point);
  }
  for (const WorkPoint& point : result.batches) {
    text += Row(fmt::format("{} answer{} at once", point.size, point.size == 1 ? "" : "s"), point);
  }
  text += fmt::format("\nlimits here: reading {} GB/s, int8 products {} GMAC/s\n",
                      RangeCell(result.read, kGiga), RangeCell(result.peak, kGiga));
  return text + fmt::format(
                    "a token reads {:.0f} MB of layers, {:.0f} of {:.0f} MB of the output matrix, "
                    "{:.1f} kB for each position\n",
                    Mb(report.work.layer_bytes),
                    result.answer().output_bytes / result.answer().work.tokens / 1e6,
                    Mb(report.work.output_bytes),
                    static_cast<double>(report.work.position_bytes) / 1e3);
}

}  // namespace vivace
