#include <map>

#include <fmt/format.h>

#include "base/utf8.h"
#include "constrain/gbnf_ast.h"
#include "constrain/gbnf_scanner.h"

namespace vivace {
namespace {

constexpr std::size_t kMostNodes = 200'000;
constexpr std::size_t kMostRules = 20'000;
constexpr int kDeepest = 100;                  // of parentheses
constexpr std::uint32_t kMostTimes = 100'000;  // of a repetition

using Kind = GbnfNode::Kind;

class Parser {
 public:
  Parser(std::string_view text, const Tokenizer& tokenizer) : scan_(text), tokenizer_(tokenizer) {}

  Result<GbnfGrammar> Parse() {
    scan_.SkipSpace(true);
    while (!scan_.done()) VIVACE_RETURN_IF_ERROR(ParseRule());
    if (grammar_.rules.empty()) return FailAt(scan_.place(), "the grammar has no rules");
    return std::move(grammar_);
  }

 private:
  Result<void> ParseRule() {
    const GbnfPlace place = scan_.place();
    const std::string_view name = scan_.Name();
    if (name.empty()) return FailAt(place, "expected the name of a rule, got " + scan_.Quoted());
    scan_.SkipSpace(false);
    if (!scan_.Take("::=")) return FailAt(scan_.place(), "expected ::=, got " + scan_.Quoted());
    scan_.SkipSpace(true);
    auto index = RuleNamed(name, place);
    if (!index) return Failure(std::move(index).error());
    if (grammar_.rules[*index].node != GbnfRule::kUndefined) {
      return FailAt(place, fmt::format("rule \"{}\" is defined twice", name));
    }
    current_ = *index;
    grammar_.rules[*index].place = place;
    auto node = ParseAlternates(0);
    if (!node) return Failure(std::move(node).error());
    grammar_.rules[*index].node = *node;
    if (!scan_.done() && scan_.peek() != '\n' && scan_.peek() != '\r') {
      return FailAt(scan_.place(), "expected the end of the line, got " + scan_.Quoted());
    }
    scan_.SkipSpace(true);
    return {};
  }

  Result<std::size_t> RuleNamed(std::string_view name, GbnfPlace place) {
    const auto [found, added] = numbers_.try_emplace(std::string(name), grammar_.rules.size());
    if (added) grammar_.rules.push_back({.name = std::string(name), .place = place});
    if (grammar_.rules.size() > kMostRules) {
      return FailAt(place, fmt::format("more than {} rules", kMostRules));
    }
    return found->second;
  }

  Result<std::size_t> Add(GbnfNode node) {
    if (grammar_.nodes.size() >= kMostNodes) {
      return FailAt(node.place, fmt::format("more than {} parts", kMostNodes));
    }
    grammar_.nodes.push_back(std::move(node));
    return grammar_.nodes.size() - 1;
  }

  Result<std::size_t> ParseAlternates(int depth) {
    if (depth > kDeepest) {
      return FailAt(scan_.place(),
                    fmt::format("more than {} parentheses inside each other", kDeepest));
    }
    GbnfNode node = {.kind = Kind::kAlternate, .place = scan_.place()};
    do {
      scan_.SkipSpace(!node.children.empty());
      auto child = ParseSequence(depth);
      if (!child) return child;
      node.children.push_back(*child);
    } while (scan_.Take("|"));
    if (node.children.size() == 1) return node.children.front();
    return Add(std::move(node));
  }

  Result<std::size_t> ParseSequence(int depth) {
    GbnfNode node = {.kind = Kind::kSequence, .place = scan_.place()};
    while (AtPart()) {
      auto child = ParsePart(depth);
      if (!child) return child;
      scan_.SkipSpace(depth > 0);
      auto repeated = ParseRepetitions(*child, depth);
      if (!repeated) return repeated;
      node.children.push_back(*repeated);
    }
    if (node.children.size() == 1) return node.children.front();
    return Add(std::move(node));
  }

  // What begins something that a sequence may hold; all else ends it.
  bool AtPart() const {
    const char c = scan_.peek();
    return !scan_.done() && c != '|' && c != ')' && c != '\n' && c != '\r';
  }

  Result<std::size_t> ParsePart(int depth) {
    const GbnfPlace place = scan_.place();
    if (scan_.Take("\"")) return ParseLiteral(place);
    if (scan_.Take("[")) return ParseClass(place);
    if (scan_.Take(".")) return Add({.kind = Kind::kClass, .place = place, .negated = true});
    if (scan_.Take("(")) return ParseGroup(place, depth);
    if (scan_.Take("!<")) return ParseToken(place, true);
    if (scan_.Take("<")) return ParseToken(place, false);
    const std::string_view name = scan_.Name();
    if (name.empty()) return FailAt(place, scan_.Quoted() + " is not expected here");
    auto rule = RuleNamed(name, place);
    if (!rule) return rule;
    grammar_.rules[current_].uses.push_back(*rule);
    return Add({.kind = Kind::kRule, .place = place, .rule = *rule});
  }

  Result<std::size_t> ParseLiteral(GbnfPlace place) {
    GbnfNode node = {.kind = Kind::kLiteral, .place = place};
    while (!scan_.Take("\"")) {
      if (scan_.done() || scan_.peek() == '\n') return FailAt(place, "the literal has no end");
      const auto c = scan_.Character();
      if (!c) return Failure(c.error());
      AppendUtf8(*c, node.text);
    }
    return Add(std::move(node));
  }

  Result<std::size_t> ParseClass(GbnfPlace place) {
    GbnfNode node = {.kind = Kind::kClass, .place = place, .negated = scan_.Take("^")};
    while (!scan_.Take("]")) {
      if (scan_.done()) return FailAt(place, "the class has no end");
      const GbnfPlace at = scan_.place();
      const auto first = scan_.Character();
      if (!first) return Failure(first.error());
      char32_t last = *first;
      if (TakeRange()) {
        const auto end = scan_.Character();
        if (!end) return Failure(end.error());
        last = *end;
      }
      if (last < *first) return FailAt(at, "the range is the wrong way round");
      node.ranges.emplace_back(*first, last);
    }
    if (node.ranges.empty() && !node.negated) return FailAt(place, "the class is empty");
    return Add(std::move(node));
  }

  // A "-" that is not the last character of its class.
  bool TakeRange() {
    GbnfScanner ahead = scan_;
    if (!ahead.Take("-") || ahead.peek() == ']') return false;
    scan_ = ahead;
    return true;
  }

  Result<std::size_t> ParseGroup(GbnfPlace place, int depth) {
    scan_.SkipSpace(true);
    auto node = ParseAlternates(depth + 1);
    if (!node) return node;
    scan_.SkipSpace(true);
    if (!scan_.Take(")")) {
      return FailAt(scan_.place(), fmt::format("expected ) for line {}, column {}, got {}",
                                               place.line, place.column, scan_.Quoted()));
    }
    return node;
  }

  // <name> or <[id]>
  Result<std::size_t> ParseToken(GbnfPlace place, bool negated) {
    GbnfNode node = {.kind = Kind::kToken, .place = place, .negated = negated, .rule = current_};
    const std::size_t begin = scan_.offset();
    if (scan_.Take("[")) {
      const auto id = scan_.Number();
      if (!id) return Failure(id.error());
      if (!scan_.Take("]>")) return FailAt(scan_.place(), "expected ]>, got " + scan_.Quoted());
      node.token = static_cast<TokenId>(*id);
      if (*id >= tokenizer_.vocab_size()) return FailAt(place, "there is no such token");
      return Add(std::move(node));
    }
    while (!scan_.done() && scan_.peek() != '>' && scan_.peek() != '\n') scan_.Skip(1);
    if (!scan_.Take(">")) return FailAt(place, "the token has no end");
    const std::string name = "<" + std::string(scan_.Since(begin));
    const auto token = tokenizer_.Find(name);
    if (!token) return FailAt(place, fmt::format("\"{}\" is no token of this model", name));
    node.token = *token;
    return Add(std::move(node));
  }

  Result<std::size_t> ParseRepetitions(std::size_t child, int depth) {
    for (;;) {
      const GbnfPlace place = scan_.place();
      GbnfNode node = {.kind = Kind::kRepeat, .place = place, .children = {child}};
      node.most = GbnfNode::kEndless;
      if (scan_.Take("?")) {
        node.most = 1;
      } else if (scan_.Take("+")) {
        node.least = 1;
      } else if (scan_.Take("{")) {
        VIVACE_RETURN_IF_ERROR(ParseTimes(place, node));
      } else if (!scan_.Take("*")) {
        return child;
      }
      auto repeated = Add(std::move(node));
      if (!repeated) return repeated;
      child = *repeated;
      scan_.SkipSpace(depth > 0);
    }
  }

  // n} n,} or n,m}
  Result<void> ParseTimes(GbnfPlace place, GbnfNode& node) {
    scan_.SkipSpace(false);
    const auto least = scan_.Number();
    if (!least) return Failure(least.error());
    node.least = node.most = *least;
    scan_.SkipSpace(false);
    if (scan_.Take(",")) {
      scan_.SkipSpace(false);
      node.most = GbnfNode::kEndless;
      if (scan_.peek() != '}') {
        const auto most = scan_.Number();
        if (!most) return Failure(most.error());
        node.most = *most;
      }
      scan_.SkipSpace(false);
    }
    if (!scan_.Take("}")) return FailAt(scan_.place(), "expected }, got " + scan_.Quoted());
    const bool endless = node.most == GbnfNode::kEndless;
    if (node.least > kMostTimes || (!endless && node.most > kMostTimes)) {
      return FailAt(place, fmt::format("repeated more than {} times", kMostTimes));
    }
    if (node.most < node.least) return FailAt(place, "the most is below the least");
    return {};
  }

  GbnfScanner scan_;
  const Tokenizer& tokenizer_;
  GbnfGrammar grammar_;
  std::map<std::string, std::size_t> numbers_;  // of rules, by name
  std::size_t current_ = 0;
};

}  // namespace

Result<GbnfGrammar> ParseGbnf(std::string_view text, const Tokenizer& tokenizer) {
  auto grammar = Parser(text, tokenizer).Parse();
  if (!grammar) return grammar;
  VIVACE_RETURN_IF_ERROR(CheckGbnfRules(*grammar));
  return grammar;
}

}  // namespace vivace
