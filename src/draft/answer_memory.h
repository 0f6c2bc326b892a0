// AnswerMemory: what earlier answers tell about later ones, apart for each owner.
//
// Owners are numbers (of an API key; 0 where there are none) and never see what another one's
// answers left behind. In memory and, with a folder, on disk: one file of tokens for each owner,
// replaced whole, with a checksum; what is damaged or of another model is removed and forgotten.
// Nothing depends on it but speed. The engine's thread owns it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>

#include "draft/drafter.h"

namespace vivace {

class AnswerMemory {
 public:
  // The owners that are remembered at once; further ones replace the one that was quiet longest.
  static constexpr std::size_t kMostOwners = 16;

  // `folder`: where files go, made when needed; "" for none. `model` tells whose tokens they are.
  AnswerMemory(std::int64_t vocab_size, std::uint64_t model, std::string folder);
  AnswerMemory(const AnswerMemory&) = delete;
  AnswerMemory& operator=(const AnswerMemory&) = delete;
  ~AnswerMemory() { Save(); }

  // What is known to an owner; read from disk the first time. Stays whole while it is held,
  // also when the owner is forgotten.
  std::shared_ptr<DraftKnowledge> Of(std::uint64_t owner);
  // Takes in an answer of an owner.
  void Remember(std::uint64_t owner, std::span<const TokenId> answer);
  bool changed() const;
  // Writes what has changed. Failures are not reported: it will be learned anew.
  void Save();
  // Forgets all owners, also on disk.
  void Clear();

 private:
  struct Owner {
    std::uint64_t id;
    std::shared_ptr<DraftKnowledge> knowledge;
    bool changed = false;
  };

  Owner& Find(std::uint64_t id);
  std::string PathOf(std::uint64_t id) const;
  void Load(const Owner& owner) const;
  void SaveOne(Owner& owner) const;

  std::int64_t vocab_size_;
  std::uint64_t model_;
  std::string folder_;
  std::list<Owner> owners_;  // the latest first
};

}  // namespace vivace
