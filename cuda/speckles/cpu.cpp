// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/pixels/samples.h"
#include "cuda/speckles/backend.h"
#include "cuda/speckles/runs.h"

namespace cudavision::speckles {
namespace {

template <int kBytes>
struct Page {
  static constexpr bool diagonals = true;

  bool is_ink(const std::uint8_t* row, int x) const {
    if constexpr (kBytes == 1)
      return row[x] == static_cast<std::uint8_t>(ink);
    else
      return load16(row + 2 * x) == ink;
  }
  bool is_ink(int x, int y) const { return is_ink(rows.row(y), x); }

  void mark_begins(int y, std::uint8_t* __restrict flags) const {
    const std::uint8_t* const row = rows.row(y);
    flags[0] = 0;
    for (int x = 1; x < width; ++x)
      flags[x] = is_ink(row, x - 1) != is_ink(row, x);
  }

  void mark_joined(int y, std::uint8_t* __restrict flags) const {
    const std::uint8_t *const above = rows.row(y - 1), *const row = rows.row(y);
    for (int x = 0; x < width; ++x)
      flags[x] = is_ink(above, x) & is_ink(row, x);
  }

  void remove(int y, int begin, int end) const {
    if (is_ink(begin, y))
      std::fill(rows.row(y) + kBytes * begin, rows.row(y) + kBytes * end,
                static_cast<std::uint8_t>(~ink));
  }

  View<std::uint8_t> rows;
  int width;
  std::uint16_t ink;
};

class SpecklesCpu final : public Speckles::Backend {
 public:
  SpecklesCpu(Device& device, const PlaneSize& size)
      : size_(size),
        bands_(device, size.height, scratch_bytes<RunFlags>(size.width)),
        memory_(device, std::int64_t{size.width} * size.height) {}

  void run(const Parameters& parameters, View<std::uint8_t> picture) override {
    const std::uint16_t ink = parameters.white ? 0xffff : 0;
    if (size_.bits == 8)
      remove_components(Page<1>{picture, size_.width, ink}, memory_, bands_, parameters.size);
    else
      remove_components(Page<2>{picture, size_.width, ink}, memory_, bands_, parameters.size);
  }

 private:
  PlaneSize size_;
  Bands bands_;
  RunMemory memory_;
};

}  // namespace

std::unique_ptr<Speckles::Backend> make_speckles_cpu(Device& device, const PlaneSize& size) {
  return std::make_unique<SpecklesCpu>(device, size);
}

}  // namespace cudavision::speckles
