// The home folder: models, packed models and caches.
//
// All paths are absolute, so that a change of the working folder does not matter.
// Folders are made by who writes into them.
#pragma once

#include <string>

#include "base/result.h"

namespace vivace {

// $VIVACE_HOME, else $XDG_CACHE_HOME/vivace, else .cache/vivace in the user's folder.
std::string HomeFolder();
std::string ModelsFolder();  // HomeFolder()/models
std::string PackedFolder();  // HomeFolder()/packed

// Makes the folder and its parents; kIo with the path and the system's reason.
Result<void> MakeFolder(const std::string& path);

}  // namespace vivace
