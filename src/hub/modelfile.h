// Modelfile: a model made from another one, as text that people write.
//
// It names the model to start from and what differs: sampling parameters, template, system
// prompt, first messages, licence. docs/modelfile.md describes the format. Plain data.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace vivace {

struct ModelfileMessage {
  std::string role;  // system, user or assistant
  std::string content;

  bool operator==(const ModelfileMessage&) const = default;
};

struct Modelfile {
  std::string from;
  // Names in lower case, values as written, without quotes. A name may come again.
  std::vector<std::pair<std::string, std::string>> parameters = {};
  std::string chat_template = {};
  std::string system = {};
  std::string adapter = {};
  std::vector<std::string> licenses = {};
  std::vector<ModelfileMessage> messages = {};

  bool operator==(const Modelfile&) const = default;
};

// Instructions come in any order and case. kBadInput names the line.
Result<Modelfile> ParseModelfile(std::string_view text);

// Text that parses to the same, except for values that no Modelfile can hold: those with
// three quotes in a row and a line break.
std::string WriteModelfile(const Modelfile& modelfile);

}  // namespace vivace
