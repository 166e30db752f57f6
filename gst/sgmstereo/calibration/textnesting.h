// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string>

namespace cudavision {

/// Returns a number that OpenCV's parser cannot exceed when it calls itself for the levels of a
/// text in YAML, XML or JSON, whatever the text holds. For texts that programs write it is about
/// the number of levels; strings and comments that hold brackets may make it larger, because the
/// parser's idea of where these begin and end differs between versions of OpenCV.
std::size_t max_text_nesting(const std::string& text);

}  // namespace cudavision
