#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "constrain/gbnf_ast.h"

namespace vivace {
namespace {

using Kind = GbnfNode::Kind;
using Edges = std::vector<std::vector<std::size_t>>;  // from rule to rules

// Which rules can stand for nothing.
class Nullable {
 public:
  explicit Nullable(const GbnfGrammar& grammar)
      : grammar_(grammar), rules_(grammar.rules.size()), users_(grammar.rules.size()) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < grammar.rules.size(); ++i) {
      for (const std::size_t used : grammar.rules[i].uses) users_[used].push_back(i);
      open.push_back(i);
    }
    while (!open.empty()) {
      const std::size_t rule = open.back();
      open.pop_back();
      if (rules_[rule] || !Node(grammar.rules[rule].node)) continue;
      rules_[rule] = true;
      open.insert(open.end(), users_[rule].begin(), users_[rule].end());
    }
  }

  bool Node(std::size_t index) const {
    const GbnfNode& node = grammar_.nodes[index];
    const auto nullable = [this](std::size_t child) { return Node(child); };
    switch (node.kind) {
      case Kind::kLiteral:
        return node.text.empty();
      case Kind::kClass:
      case Kind::kToken:
        return false;
      case Kind::kRule:
        return rules_[node.rule];
      case Kind::kSequence:
        return std::ranges::all_of(node.children, nullable);
      case Kind::kAlternate:
        return std::ranges::any_of(node.children, nullable);
      case Kind::kRepeat:
        return node.least == 0 || Node(node.children.front());
    }
    return false;
  }

 private:
  const GbnfGrammar& grammar_;
  std::vector<bool> rules_;
  Edges users_;
};

// The rules that may stand first in what a node stands for.
void AddFirstRules(const GbnfGrammar& grammar, const Nullable& nullable, std::size_t index,
                   std::vector<std::size_t>& first) {
  const GbnfNode& node = grammar.nodes[index];
  if (node.kind == Kind::kRule) first.push_back(node.rule);
  for (const std::size_t child : node.children) {
    AddFirstRules(grammar, nullable, child, first);
    if (node.kind == Kind::kSequence && !nullable.Node(child)) return;
  }
}

// Rules from which a cycle can be reached, or all when there is none: those left when one
// takes away, again and again, what leads to nothing that is left.
std::vector<bool> LeadingToCycles(const Edges& edges) {
  Edges back(edges.size());
  std::vector<std::size_t> remaining(edges.size());
  std::vector<std::size_t> ready;
  for (std::size_t from = 0; from < edges.size(); ++from) {
    remaining[from] = edges[from].size();
    if (remaining[from] == 0) ready.push_back(from);
    for (const std::size_t to : edges[from]) back[to].push_back(from);
  }
  std::vector<bool> left(edges.size(), true);
  while (!ready.empty()) {
    const std::size_t rule = ready.back();
    ready.pop_back();
    left[rule] = false;
    for (const std::size_t from : back[rule]) {
      if (--remaining[from] == 0) ready.push_back(from);
    }
  }
  return left;
}

// A rule on a cycle.
std::optional<std::size_t> OnCycle(const Edges& edges) {
  const std::vector<bool> left = LeadingToCycles(edges);
  const auto start = std::ranges::find(left, true);
  if (start == left.end()) return std::nullopt;
  auto rule = static_cast<std::size_t>(start - left.begin());
  // After as many steps as there are rules, it must have come round.
  for (std::size_t step = 0; step < edges.size(); ++step) {
    rule = *std::ranges::find_if(edges[rule], [&](std::size_t to) { return left[to]; });
  }
  return rule;
}

Result<void> CheckNames(GbnfGrammar& grammar) {
  for (const GbnfRule& rule : grammar.rules) {
    if (rule.node != GbnfRule::kUndefined) continue;
    return FailAt(rule.place, fmt::format("rule \"{}\" is not defined", rule.name));
  }
  const auto root = std::ranges::find(grammar.rules, "root", &GbnfRule::name);
  if (root == grammar.rules.end()) return FailAt({}, "rule \"root\" is not defined");
  grammar.root = static_cast<std::size_t>(root - grammar.rules.begin());
  return {};
}

Result<void> CheckLeftRecursion(const GbnfGrammar& grammar) {
  const Nullable nullable(grammar);
  Edges first(grammar.rules.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    AddFirstRules(grammar, nullable, grammar.rules[i].node, first[i]);
  }
  const auto rule = OnCycle(first);
  if (!rule) return {};
  return FailAt(grammar.rules[*rule].place,
                fmt::format("rule \"{}\" begins with itself", grammar.rules[*rule].name));
}

void FindRegularRules(GbnfGrammar& grammar) {
  Edges uses;
  for (const GbnfRule& rule : grammar.rules) uses.push_back(rule.uses);
  // A token is no text: a rule with one leads to a cycle of its own.
  for (const GbnfNode& node : grammar.nodes) {
    if (node.kind == Kind::kToken) uses[node.rule].push_back(node.rule);
  }
  const std::vector<bool> irregular = LeadingToCycles(uses);
  for (std::size_t i = 0; i < grammar.rules.size(); ++i) grammar.rules[i].regular = !irregular[i];
}

}  // namespace

Result<void> CheckGbnfRules(GbnfGrammar& grammar) {
  VIVACE_RETURN_IF_ERROR(CheckNames(grammar));
  VIVACE_RETURN_IF_ERROR(CheckLeftRecursion(grammar));
  FindRegularRules(grammar);
  return {};
}

}  // namespace vivace
