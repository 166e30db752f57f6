// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstring>

#include "cuda/core/tableuploader.h"
#include "cuda/regions/selection.h"

namespace cudavision::regions {

class RegionUploader {
 public:
  explicit RegionUploader(Device& device) : uploader_(device, Parameters::max_count * words) {}

  const Region* regions() const { return reinterpret_cast<const Region*>(uploader_.tables()); }

  void upload(const RegionList& list) {
    if (list.count == 0)
      return;
    const auto count = static_cast<std::size_t>(list.count);
    std::memcpy(uploader_.next(), list.regions.data(), count * sizeof(Region));
    uploader_.upload(count * words);
  }

 private:
  static constexpr std::size_t words = sizeof(Region) / sizeof(std::uint32_t);
  static_assert(sizeof(Region) % sizeof(std::uint32_t) == 0);

  TableUploader uploader_;
};

}  // namespace cudavision::regions
