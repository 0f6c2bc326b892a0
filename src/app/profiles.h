// Profiles: named sets of flags, so that nobody has to know them all.
//
// A profile is what its flags say, nothing more: `vivace profiles` prints them, and flags
// given beside --profile win.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace vivace {

enum class ProfileFor : std::uint8_t { kRun, kServe };

// --profile NAME; the text is "" where it is not given.
std::shared_ptr<std::string> AddProfileFlag(CLI::App& command, ProfileFor what);

// In the command's callback: gives every flag of the profile that was not given its value.
void UseProfile(CLI::App& command, ProfileFor what, const std::string& name);

}  // namespace vivace
