// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/fuzz/keptbuffers.h"

#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/check/common/gstcheck.h"
#include "tests/check/common/owned.h"

namespace fuzz {

using namespace check;

namespace {

constexpr std::size_t most = 32;

struct Kept {
  Owned<GstBuffer> buffer;
  std::size_t hash;
};

std::mutex mutex;
std::vector<Kept> kept;

std::optional<std::size_t> hash_of(GstBuffer* buffer) {
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ))
    return {};
  const std::size_t hash = std::hash<std::string_view>()(
      {static_cast<const char*>(static_cast<const void*>(map.data)), map.size});
  gst_buffer_unmap(buffer, &map);
  return hash;
}

}  // namespace

void keep_buffer(GstBuffer* buffer) {
  const std::optional<std::size_t> hash = hash_of(buffer);
  if (!hash)
    return;  // its memory fails now and then, or is lost
  const std::lock_guard<std::mutex> lock(mutex);
  if (kept.size() < most)
    kept.push_back({Owned<GstBuffer>(gst_buffer_ref(buffer)), *hash});
}

void free_kept_buffers() {
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Kept& each : kept)
    if (const std::optional<std::size_t> hash = hash_of(each.buffer))
      fail_unless(*hash == each.hash, "a buffer changed after it had been pushed");
  kept.clear();
}

}  // namespace fuzz
