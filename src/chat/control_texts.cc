#include "chat/control_texts.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace vivace {
namespace {

char FoldChar(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Fold(std::string_view text) {
  std::string folded(text);
  std::ranges::transform(folded, folded.begin(), FoldChar);
  return folded;
}

std::size_t Byte(char c) { return static_cast<unsigned char>(c); }
std::size_t Pair(std::string_view text) { return Byte(text[0]) << 8 | Byte(text[1]); }

// What Python's str.strip removes: White_Space of Unicode and four separators.
bool IsSpace(char32_t c) {
  if (c <= 0x20) return (c >= 0x09 && c <= 0x0D) || c >= 0x1C;
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// The part of `text` that stripping would leave, as [begin, end).
struct Range {
  std::size_t begin;
  std::size_t end;
};

Range Stripped(std::string_view text) {
  Range range{text.size(), text.size()};
  std::size_t at = 0;
  bool started = false;
  while (at < text.size()) {
    const Utf8Char c = DecodeUtf8(text, at);
    if (c.status != Utf8Status::kValid || !IsSpace(c.code_point)) {
      if (!started) range.begin = at;
      started = true;
      range.end = at + c.length;
    }
    at += c.length;
  }
  return range;
}

bool IsWord(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

}  // namespace

ControlTexts::ControlTexts(std::span<const std::string> texts) {
  for (const std::string& text : texts) {
    if (text.empty() || DecodeUtf8(text, 0).length >= text.size()) continue;
    std::string folded = Fold(text);
    starts_.set(Pair(text));
    starts_.set(Pair(folded));
    last_bytes_.set(Byte(folded.back()));
    lengths_.push_back(text.size());
    exact_.insert(text);
    folded_.insert(std::move(folded));
  }
  std::ranges::sort(lengths_, std::greater());
  max_length_ = lengths_.empty() ? 0 : lengths_.front();
  lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
}

std::size_t ControlTexts::LongestAt(const Set& set, std::string_view text, std::size_t at) const {
  const std::string_view rest = text.substr(at);
  if (rest.size() < 2 || !starts_[Pair(rest)]) return 0;
  for (const std::size_t length : lengths_) {
    if (length <= rest.size() && set.contains(rest.substr(0, length))) return length;
  }
  return 0;
}

// Could a control text that starts before `folded` end within its first bytes, more
// than `over` and at most `limit` of them?
bool ControlTexts::HeadEndsOne(std::string_view folded, std::size_t over, std::size_t limit) const {
  const std::size_t longest = std::min({limit, folded.size(), max_length_});
  for (std::size_t length = over + 1; length <= longest; ++length) {
    if (!last_bytes_[Byte(folded[length - 1])]) continue;
    const std::string_view head = folded.substr(0, length);
    for (const std::string& control : folded_) {
      if (control.size() > length && control.ends_with(head)) return true;
    }
  }
  return false;
}

// Could a control text that ends behind `folded` start within its last bytes, more
// than `over` and at most `limit` of them?
bool ControlTexts::TailStartsOne(std::string_view folded, std::size_t over,
                                 std::size_t limit) const {
  const std::size_t longest = std::min({limit, folded.size(), max_length_});
  for (std::size_t length = over + 1; length <= longest; ++length) {
    const std::string_view tail = folded.substr(folded.size() - length);
    if (length >= 2 && !starts_[Pair(tail)]) continue;
    for (const std::string& control : folded_) {
      if (control.size() > length && control.starts_with(tail)) return true;
    }
  }
  return false;
}

// Could a control text start before `folded` and end behind it?
bool ControlTexts::IsInsideOne(std::string_view folded) const {
  if (folded.empty() || folded.size() >= max_length_) return false;
  return std::ranges::any_of(folded_, [folded](const std::string& control) {
    return control.find(folded, 1) != std::string::npos;
  });
}

// Markers go between the text and the space around it, unless a control text would
// touch that space only. They then stand at the end of the text also after the
// template has stripped it.
void ControlTexts::GuardEnds(std::string_view folded, std::vector<std::size_t>& places) const {
  const std::size_t size = folded.size();
  const Range core = Stripped(folded);
  const std::string_view stripped = folded.substr(core.begin, core.end - core.begin);
  if (HeadEndsOne(folded, 0, core.begin)) places.push_back(0);
  if (HeadEndsOne(folded, core.begin, size) || HeadEndsOne(stripped, 0, size) ||
      IsInsideOne(folded) || IsInsideOne(stripped)) {
    places.push_back(core.begin);
  }
  if (TailStartsOne(folded, size - core.end, size) || TailStartsOne(stripped, 0, size)) {
    places.push_back(core.end);
  }
  if (TailStartsOne(folded, 0, size - core.end)) places.push_back(size);
}

std::string ControlTexts::Break(std::string_view text, std::string_view marker, Ends ends) const {
  const std::string folded = Fold(text);
  const std::string_view view = folded;
  std::vector<std::size_t> places;
  if (ends == Ends::kGuarded || !IsWord(text)) GuardEnds(view, places);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (LongestAt(folded_, view, at) != 0) places.push_back(at + DecodeUtf8(text, at).length);
  }
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::string broken;
  broken.reserve(text.size() + places.size() * marker.size());
  std::size_t done = 0;
  for (const std::size_t place : places) {
    broken += text.substr(done, place - done);
    broken += marker;
    done = place;
  }
  broken += text.substr(done);
  return broken;
}

std::vector<PromptPiece> ControlTexts::Split(std::string_view rendered,
                                             std::string_view marker) const {
  std::vector<PromptPiece> pieces;
  std::string plain;
  std::size_t done = 0;
  std::size_t at = 0;
  const auto skip = [&](std::size_t length) {
    plain += rendered.substr(done, at - done);
    at += length;
    done = at;
  };
  const auto end_plain = [&] {
    if (!plain.empty()) pieces.push_back({std::move(plain), false});
    plain.clear();
  };
  while (at < rendered.size()) {
    if (!marker.empty() && rendered[at] == marker[0] && rendered.substr(at).starts_with(marker)) {
      skip(marker.size());
    } else if (const std::size_t length = LongestAt(exact_, rendered, at); length != 0) {
      const std::string_view control = rendered.substr(at, length);
      skip(length);
      end_plain();
      pieces.push_back({std::string(control), true});
    } else {
      ++at;
    }
  }
  skip(0);
  end_plain();
  return pieces;
}

}  // namespace vivace
