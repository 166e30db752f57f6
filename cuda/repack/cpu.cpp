// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend, row by row in parallel. The CUDA kernels must give the same bytes.

#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/repack/backend.h"
#include "cuda/repack/fields.h"

namespace cudavision::repack {
namespace {

/// Rows of unpacked frames may lie at odd addresses, too.
std::uint32_t unpacked_sample(const std::uint8_t* row, int x) {
  return load_word<std::uint16_t, false>(row + std::ptrdiff_t{2} * x);
}

void put_unpacked_sample(std::uint8_t* row, int x, std::uint32_t value) {
  store_word<std::uint16_t, false>(row + std::ptrdiff_t{2} * x, value);
}

/// The rows of a frame's planes at one height.
template <class Byte>
struct RowOf {
  const BasicFrame<Byte>& frame;
  int y;
  int first_plane = 0;

  Byte* operator()(int plane) const { return frame.planes[first_plane + plane].row(y); }
};

template <Words kWords>
CUDAVISION_TARGET_CLONES void unpack_channel(const Fields& fields, const Field& field,
                                             const std::uint8_t* row, std::uint8_t* out) {
  for (int x = 0; x < field.width; ++x)
    put_unpacked_sample(out, x, load_sample<kWords, false>(fields, field, row, x));
}

template <Words kWords>
CUDAVISION_TARGET_CLONES void unpack_luminance(const Fields& fields, RowOf<const std::uint8_t> row,
                                               int width, std::uint8_t* out) {
  for (int x = 0; x < width; ++x)
    put_unpacked_sample(out, x, load_luminance<kWords, false>(fields, row, x));
}

template <Words kWords>
CUDAVISION_TARGET_CLONES void pack_channel(const Fields& fields, const Field& field,
                                           const std::uint8_t* in, std::uint8_t* row) {
  for (int x = 0; x < field.width; ++x)
    store_word<Word<kWords>, false>(
        row + field.offset + static_cast<std::ptrdiff_t>(field.step) * x,
        word_of<kWords>(fields, field, unpacked_sample(in, x)));
}

template <Words kWords>
CUDAVISION_TARGET_CLONES void pack_pixels(const Fields& fields, RowOf<const std::uint8_t> in,
                                          int width, RowOf<std::uint8_t> out) {
  for (int x = 0; x < width; ++x)
    store_pixel<kWords, false>(fields, out, x, [&](int c) { return unpacked_sample(in(c), x); });
}

/// in holds the luminance; kept holds the planes of the stored frame.
template <Words kWords>
CUDAVISION_TARGET_CLONES void pack_adjusted(const Fields& fields, const std::uint8_t* in,
                                            RowOf<const std::uint8_t> kept, int width,
                                            RowOf<std::uint8_t> out) {
  for (int x = 0; x < width; ++x) {
    const auto change = static_cast<std::int32_t>(unpacked_sample(in, x)) -
                        static_cast<std::int32_t>(load_luminance<kWords, false>(fields, kept, x));
    store_pixel<kWords, false>(fields, out, x, [&](int c) {
      const Field& field = fields.field[c];
      const std::uint32_t value = load_sample<kWords, false>(fields, field, kept(field.plane), x);
      return field.colour ? saturated(static_cast<std::int32_t>(value) + change, fields.largest)
                          : value;
    });
  }
}

template <Words kWords>
class RepackCpu final : public Repack::Backend {
 public:
  RepackCpu(const Storage& storage, Form form)
      : layout_(storage.frame),
        fields_(fields_of(storage)),
        channels_(unpacks_channels(storage, form)),
        keeps_planes_(form == Form::adjustable_luminance && !channels_),
        bands_(layout_.height) {}

  void unpack(const ConstFrame& stored, const Frame& unpacked) override {
    if (channels_)
      return for_channel_rows([&](const Field& field, int c, int y) {
        unpack_channel<kWords>(fields_, field, stored.planes[field.plane].row(y),
                               unpacked.planes[c].row(y));
      });
    for_rows(layout_.height, [&](int y) {
      unpack_luminance<kWords>(fields_, {stored, y}, layout_.width, unpacked.planes[0].row(y));
    });
    if (!keeps_planes_)
      return;
    for (int p = 0; p < layout_.plane_count; ++p)
      for_rows(layout_.planes[p].rows, [&](int y) {
        std::memcpy(unpacked.planes[p + 1].row(y), stored.planes[p].row(y),
                    static_cast<std::size_t>(layout_.planes[p].row_bytes));
      });
  }

  void pack(const ConstFrame& unpacked, const Frame& stored) override {
    if (keeps_planes_)
      for_rows(layout_.height, [&](int y) {
        pack_adjusted<kWords>(fields_, unpacked.planes[0].row(y), {unpacked, y, 1}, layout_.width,
                              {stored, y});
      });
    else if (kWords == Words::packed)
      for_rows(layout_.height, [&](int y) {
        pack_pixels<kWords>(fields_, {unpacked, y}, layout_.width, {stored, y});
      });
    else
      for_channel_rows([&](const Field& field, int c, int y) {
        pack_channel<kWords>(fields_, field, unpacked.planes[c].row(y),
                             stored.planes[field.plane].row(y));
      });
  }

 private:
  /// Calls function(y) for each of `rows` rows, in parallel.
  template <class Function>
  void for_rows(int rows, const Function& function) const {
    bands_.for_each([&](const Band& band) {
      const int end = bands_.first_of(rows, band.number + 1);
      for (int y = bands_.first_of(rows, band.number); y < end; ++y)
        function(y);
    });
  }

  /// Calls function(field, number, y) for each row of each channel.
  template <class Function>
  void for_channel_rows(const Function& function) const {
    for (int c = 0; c < fields_.count; ++c)
      for_rows(fields_.field[c].height, [&](int y) { function(fields_.field[c], c, y); });
  }

  FrameLayout layout_;
  Fields fields_;
  bool channels_;      ///< the planes of unpacked frames are the channels
  bool keeps_planes_;  ///< those of the stored frame follow the luminance
  Bands bands_;
};

}  // namespace

std::unique_ptr<Repack::Backend> make_repack_cpu(Device&, const Storage& storage, Form form) {
  switch (storage.words) {
    case Words::native:
      return std::make_unique<RepackCpu<Words::native>>(storage, form);
    case Words::swapped:
      return std::make_unique<RepackCpu<Words::swapped>>(storage, form);
    case Words::packed:
      break;
  }
  return std::make_unique<RepackCpu<Words::packed>>(storage, form);
}

}  // namespace cudavision::repack
