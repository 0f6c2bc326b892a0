#include "chat/template_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/trimmed.h"
#include "chat/builtin_templates.h"
#include "chat/json_input.h"

namespace vivace {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// A piece of a Go template: what stands between {{ and }}, or text.
struct GoPiece {
  bool is_action;
  std::string_view text;  // of an action: without the signs that trim, and trimmed
};

// Cuts at the actions; "{{-" and "-}}" have taken away the space beside them. Nothing for
// an action that is not closed.
std::optional<std::vector<GoPiece>> CutGo(std::string_view rest) {
  std::vector<GoPiece> pieces;
  while (!rest.empty()) {
    const std::size_t open = rest.find("{{");
    std::string_view text = rest.substr(0, open);
    if (open == std::string_view::npos) {
      pieces.push_back({.is_action = false, .text = text});
      break;
    }
    rest.remove_prefix(open + 2);
    const std::size_t close = rest.find("}}");
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view action = rest.substr(0, close);
    rest.remove_prefix(close + 2);
    if (action.starts_with('-')) {
      action.remove_prefix(1);
      text = text.substr(0, text.find_last_not_of(kSpace) + 1);
    }
    if (action.ends_with('-')) {
      action.remove_suffix(1);
      rest.remove_prefix(std::min(rest.find_first_not_of(kSpace), rest.size()));
    }
    if (!text.empty()) pieces.push_back({.is_action = false, .text = text});
    pieces.push_back({.is_action = true, .text = Trimmed(action)});
  }
  return pieces;
}

std::string_view FirstWord(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r\n."));
}

// Actions that mean nothing in Jinja.
bool IsGo(const std::vector<GoPiece>& pieces) {
  constexpr std::string_view kWords[] = {"if",   "else",   "end",      "range",
                                         "with", "define", "template", "block"};
  return std::ranges::any_of(pieces, [&](const GoPiece& piece) {
    if (!piece.is_action || piece.text.empty()) return false;
    if (piece.text.front() == '.' || piece.text.front() == '$') return true;
    return std::ranges::find(kWords, FirstWord(piece.text)) != std::end(kWords);
  });
}

// The Jinja expression for a Go field, or "".
std::string_view ExpressionOf(std::string_view field) {
  if (field == ".System") return "ns.system";
  if (field == ".Prompt") return "message.content";
  return "";
}

// The Jinja of one exchange, cut where the answer stands.
struct Exchange {
  std::string before;
  std::string after;
};

class Translation {
 public:
  Result<Exchange> Translate(const std::vector<GoPiece>& pieces) {
    for (const GoPiece& piece : pieces) {
      if (!piece.is_action) {
        // As a literal, so that nothing in it is read as Jinja.
        Add("{{ " + Json(piece.text).dump(-1, ' ', false, Json::error_handler_t::replace) + " }}");
      } else if (!TakeField(piece.text) && !TakeCondition(piece.text)) {
        return Unsupported(piece.text);
      }
    }
    if (depth_ > 0) return Fail(ErrorKind::kBadInput, "the template's {{ if }} has no {{ end }}");
    return std::move(exchange_);
  }

 private:
  void Add(const std::string& jinja) { (answered_ ? exchange_.after : exchange_.before) += jinja; }

  // Nothing of the question can be shown after the answer: in a conversation, the next
  // question has come by then.
  bool TakeField(std::string_view action) {
    if (answered_) return false;
    if (action == ".Response" && depth_ == 0) {
      answered_ = true;
      return true;
    }
    const std::string_view expression = ExpressionOf(action);
    if (!expression.empty()) Add(fmt::format("{{{{ {} }}}}", expression));
    return !expression.empty();
  }

  bool TakeCondition(std::string_view action) {
    if (FirstWord(action) == "if") {
      const std::string_view expression = ExpressionOf(Trimmed(action.substr(2)));
      if (expression.empty() || answered_) return false;
      Add(fmt::format("{{% if {} %}}", expression));
      ++depth_;
      return true;
    }
    if (depth_ == 0 || (action != "else" && action != "end")) return false;
    Add(action == "else" ? "{% else %}" : "{% endif %}");
    if (action == "end") --depth_;
    return true;
  }

  static Failure Unsupported(std::string_view action) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("the Go template's {{{{ {} }}}} is not supported here: allowed are "
                            ".System, .Prompt, a .Response outside of conditions after them, "
                            "\"if .System\" and \"if .Prompt\"; or write the template in Jinja",
                            action.substr(0, 60)));
  }

  Exchange exchange_;
  bool answered_ = false;
  int depth_ = 0;
};

std::string JinjaOf(const Exchange& exchange) {
  return "{% set ns = namespace(system='') %}{% for message in messages %}"
         "{% if message.role == 'system' %}{% set ns.system = message.content %}"
         "{% elif message.role == 'assistant' %}{{ message.content }}" +
         exchange.after + "{% else %}" + exchange.before +
         "{% set ns.system = '' %}{% endif %}{% endfor %}";
}

}  // namespace

Result<std::string> TemplateSource(std::string_view text) {
  const std::string_view name = Trimmed(text);
  if (const BuiltinTemplate* builtin = FindBuiltin(name)) return std::string(builtin->source);
  if (text.find("{%") != std::string_view::npos) return std::string(text);
  const auto pieces = CutGo(text);
  if (!pieces) return Fail(ErrorKind::kBadInput, "the template's {{ is not closed");
  if (IsGo(*pieces)) {
    const auto exchange = Translation().Translate(*pieces);
    if (!exchange) return Failure(exchange.error());
    return JinjaOf(*exchange);
  }
  if (std::ranges::any_of(*pieces, &GoPiece::is_action)) return std::string(text);
  return Fail(ErrorKind::kBadInput,
              fmt::format("the template \"{}\" is no built-in's name ({}) and shows no message",
                          name.substr(0, 40), BuiltinNames()));
}

}  // namespace vivace
