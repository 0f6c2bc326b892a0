#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "constrain/gbnf.h"
#include "constrain/gbnf_ast.h"

namespace vivace {
namespace {

using Kind = GbnfNode::Kind;

// Lark knows terminals, which are regular and have upper-case names, and rules. Each part of
// the grammar that is more than a name becomes one of them, so that nothing nests.
class Translator {
 public:
  explicit Translator(const GbnfGrammar& grammar) : grammar_(grammar) {}

  std::string Translate() {
    MarkRegular();
    for (std::size_t i = 0; i < grammar_.rules.size(); ++i) {
      Define(RuleName(i), Body(grammar_.rules[i].node));
    }
    return "start: " + RuleName(grammar_.root) + "\n" + lark_;
  }

 private:
  // Children have lower numbers than their parents.
  void MarkRegular() {
    regular_.reserve(grammar_.nodes.size());
    for (const GbnfNode& node : grammar_.nodes) {
      bool regular = node.kind != Kind::kToken;
      if (node.kind == Kind::kRule) regular = grammar_.rules[node.rule].regular;
      for (const std::size_t child : node.children) regular = regular && regular_[child];
      regular_.push_back(regular);
    }
  }

  std::string RuleName(std::size_t rule) const {
    return fmt::format("{}{}", grammar_.rules[rule].regular ? "RULE_" : "rule_", rule);
  }

  void Define(const std::string& name, const std::string& body) {
    lark_ += name + ": " + body + "\n";
  }

  std::string Name(bool regular) {
    return fmt::format("{}{}", regular ? "PART_" : "part_", parts_++);
  }

  // What stands for the node inside of something else.
  std::string Part(std::size_t index) {
    const GbnfNode& node = grammar_.nodes[index];
    if (node.children.empty()) return Body(index);
    const std::string body = Body(index);
    const std::string name = Name(regular_[index]);
    Define(name, body);
    return name;
  }

  std::string Body(std::size_t index) {
    const GbnfNode& node = grammar_.nodes[index];
    switch (node.kind) {
      case Kind::kLiteral:
        return Literal(node.text);
      case Kind::kClass:
        return Class(node);
      case Kind::kToken:
        return fmt::format("<[{}{}]>", node.negated ? "^" : "", node.token);
      case Kind::kRule:
        return RuleName(node.rule);
      case Kind::kSequence:
        return regular_[index] ? Joined(node.children, " ") : Mixed(node);
      case Kind::kAlternate:
        return Joined(node.children, " | ");
      case Kind::kRepeat:
        return Repeated(node);
    }
    return "";
  }

  std::string Joined(std::span<const std::size_t> children, std::string_view separator) {
    std::string joined;
    for (const std::size_t child : children) {
      if (!joined.empty()) joined += separator;
      joined += Part(child);
    }
    return joined.empty() ? "\"\"" : joined;
  }

  // Regular parts beside each other become one terminal: inside of it there is no longest
  // match that could take too much.
  std::string Mixed(const GbnfNode& node) {
    std::string mixed;
    const std::span<const std::size_t> children = node.children;
    for (std::size_t begin = 0; begin < children.size();) {
      std::size_t end = begin;
      while (end < children.size() && regular_[children[end]]) ++end;
      if (!mixed.empty()) mixed += ' ';
      if (end <= begin + 1) {
        mixed += Part(children[begin++]);
        continue;
      }
      const std::string body = Joined(children.subspan(begin, end - begin), " ");
      const std::string name = Name(true);
      Define(name, body);
      mixed += name;
      begin = end;
    }
    return mixed;
  }

  std::string Repeated(const GbnfNode& node) {
    if (node.most == 0) return "\"\"";
    const std::string part = Part(node.children.front());
    if (node.most == GbnfNode::kEndless && node.least <= 1) {
      return part + (node.least == 0 ? "*" : "+");
    }
    if (node.most == GbnfNode::kEndless) return fmt::format("{}{{{},}}", part, node.least);
    if (node.least == 0 && node.most == 1) return part + "?";
    return fmt::format("{}{{{},{}}}", part, node.least, node.most);
  }

  static std::string Literal(std::string_view text) {
    std::string literal = "\"";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte == 0x7F) {
        literal += fmt::format("\\u{:04x}", byte);
      } else {
        if (c == '"' || c == '\\') literal += '\\';
        literal += c;
      }
    }
    return literal + "\"";
  }

  static std::string Class(const GbnfNode& node) {
    if (node.ranges.empty()) return "/(?s:.)/";
    std::string text = node.negated ? "/[^" : "/[";
    for (const auto& [first, last] : node.ranges) {
      fmt::format_to(std::back_inserter(text), "\\x{{{:X}}}", static_cast<std::uint32_t>(first));
      if (last == first) continue;
      fmt::format_to(std::back_inserter(text), "-\\x{{{:X}}}", static_cast<std::uint32_t>(last));
    }
    return text + "]/";
  }

  const GbnfGrammar& grammar_;
  std::vector<bool> regular_;
  std::string lark_;
  std::size_t parts_ = 0;
};

}  // namespace

Result<std::string> LarkFromGbnf(std::string_view text, const Tokenizer& tokenizer) {
  const auto grammar = ParseGbnf(text, tokenizer);
  if (!grammar) return Failure(grammar.error());
  return Translator(*grammar).Translate();
}

}  // namespace vivace
