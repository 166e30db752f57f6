// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend, row by row in parallel. A row is converted in chunks of values, channel by
// channel, so that the loops are plain enough to be vectorised. The CUDA kernels must give the same
// bytes.

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/pixels/samples.h"
#include "cuda/repack/backend.h"
#include "cuda/repack/fields.h"

namespace cudavision::repack {
namespace {

/// Values of a chunk, which stay in the first-level cache.
constexpr int chunk_size = 512;
using Chunk = std::uint16_t[chunk_size];

/// Calls function(first, count) for the chunks of a row.
template <class Function>
void for_chunks(int width, const Function& function) {
  for (int first = 0; first < width; first += chunk_size)
    function(first, std::min(chunk_size, width - first));
}

/// Calls loop(step) with the step as a constant, because the compiler vectorises only those loops.
template <class Loop>
__attribute__((always_inline)) inline void with_constant_step(int step, const Loop& loop) {
  if (step == 2)
    loop(std::ptrdiff_t{2});
  else if (step == 4)
    loop(std::ptrdiff_t{4});
  else if (step == 8)
    loop(std::ptrdiff_t{8});
  else
    loop(static_cast<std::ptrdiff_t>(step));
}

// The functions below take the field by value: stores of bytes might change one that is a
// reference.

/// Reads samples, of which `from` is the first. `scale` is the table of their values, or nullptr if
/// they are their own values.
template <Words kWords>
CUDAVISION_TARGET_CLONES void read_samples(Field field, const std::uint16_t* scale,
                                           const std::uint8_t* __restrict from, int count,
                                           std::uint16_t* __restrict values) {
  with_constant_step(
      field.step, [=](std::ptrdiff_t step) __attribute__((always_inline)) {
        for (int x = 0; x < count; ++x)
          values[x] = static_cast<std::uint16_t>(
              sample_of<kWords>(field, load_word<Word<kWords>, false>(from + step * x)));
      });
  if (scale)
    for (int x = 0; x < count; ++x)
      values[x] = scale[values[x]];
}

/// Makes words of values up to `largest`, or adds their shares to the words of pixels. `scale` is
/// the table of samples for these values, or nullptr if they are the samples.
template <Words kWords>
CUDAVISION_TARGET_CLONES void make_words(Field field, std::uint32_t largest,
                                         const std::uint16_t* scale,
                                         const std::uint16_t* __restrict values, int count,
                                         Word<kWords>* __restrict words) {
  const auto make = [=](auto sample) __attribute__((always_inline)) {
    for (int x = 0; x < count; ++x) {
      const std::uint32_t value = values[x] < largest ? values[x] : largest;
      const std::uint32_t word = word_of<kWords>(field, sample(value));
      words[x] = static_cast<Word<kWords>>(kWords == Words::packed ? words[x] | word : word);
    }
  };
  if (scale)
    make([=](std::uint32_t value) { return scale[value]; });
  else
    make([](std::uint32_t value) { return value; });
}

template <class Word>
CUDAVISION_TARGET_CLONES void store_words(const Word* __restrict words, int count, int step,
                                          std::uint8_t* __restrict to) {
  with_constant_step(
      step, [=](std::ptrdiff_t constant) __attribute__((always_inline)) {
        for (int x = 0; x < count; ++x)
          std::memcpy(to + constant * x, words + x, sizeof(Word));
      });
}

CUDAVISION_TARGET_CLONES void compute_luminance(const std::uint16_t* __restrict red,
                                                const std::uint16_t* __restrict green,
                                                const std::uint16_t* __restrict blue, int count,
                                                std::uint16_t* __restrict luminance) {
  for (int x = 0; x < count; ++x)
    luminance[x] = static_cast<std::uint16_t>(deep_luminance(red[x], green[x], blue[x]));
}

CUDAVISION_TARGET_CLONES void add_change(const std::uint16_t* __restrict before,
                                         const std::uint16_t* __restrict after,
                                         std::uint32_t largest, int count,
                                         std::uint16_t* __restrict values) {
  for (int x = 0; x < count; ++x)
    values[x] = static_cast<std::uint16_t>(saturated(values[x] + after[x] - before[x], largest));
}

/// The values of a field's samples and the samples for values, where they differ.
class Scale {
 public:
  Scale(const Field& field, std::uint32_t largest) {
    if (field.maximum == largest)
      return;
    for (std::uint32_t sample = 0; sample <= field.maximum; ++sample)
      widening_.push_back(static_cast<std::uint16_t>(rescaled(sample, field.maximum, largest)));
    for (std::uint32_t value = 0; value <= largest; ++value)
      narrowing_.push_back(static_cast<std::uint16_t>(rescaled(value, largest, field.maximum)));
  }

  /// Both return nullptr if samples are their own values.
  const std::uint16_t* widening() const { return widening_.empty() ? nullptr : widening_.data(); }
  const std::uint16_t* narrowing() const {
    return narrowing_.empty() ? nullptr : narrowing_.data();
  }

 private:
  std::vector<std::uint16_t> widening_, narrowing_;
};

template <Words kWords>
class RepackCpu final : public Repack::Backend {
 public:
  RepackCpu(const StoredLayout& storage, UnpackedForm form)
      : layout_(storage.frame),
        fields_(fields_of(storage)),
        channels_(unpacks_channels(storage, form)),
        keeps_planes_(form == UnpackedForm::adjustable_luminance && !channels_) {
    for (int c = 0; c < fields_.count; ++c)
      scales_.emplace_back(fields_.field[c], fields_.largest);
  }

  void unpack(const ConstFrame& stored, const Frame& unpacked) override {
    if (channels_)
      return for_channel_rows([&](const Field& field, int c, int y) {
        for_chunks(field.width, [&](int first, int count) {
          Chunk values;
          read(field, scales_[c].widening(), stored.planes[field.plane].row(y), first, count,
               values);
          store_values(values, count, unpacked.planes[c].row(y), first);
        });
      });
    for_rows(layout_.height, [&](int y) {
      for_chunks(layout_.width, [&](int first, int count) {
        Chunk luminance, colors[3];
        read_luminance(stored, 0, y, first, count, luminance, colors);
        store_values(luminance, count, unpacked.planes[0].row(y), first);
      });
    });
    if (!keeps_planes_)
      return;
    for (int p = 0; p < layout_.plane_count; ++p)
      copy_plane(stored.planes[p], unpacked.planes[p + 1]);
  }

  void pack(const ConstFrame& unpacked, const Frame& stored) override {
    if (keeps_planes_)
      return for_rows(layout_.height, [&](int y) {
        for_chunks(layout_.width,
                   [&](int first, int count) { adjust(unpacked, stored, y, first, count); });
      });
    if (kWords == Words::packed)
      return for_rows(layout_.height, [&](int y) {
        for_chunks(layout_.width, [&](int first, int count) {
          Word<kWords> pixels[chunk_size] = {};
          for (int c = 0; c < fields_.count; ++c) {
            Chunk values;
            load_values(unpacked.planes[c].row(y), first, count, values);
            make_words<kWords>(fields_.field[c], fields_.largest, scales_[c].narrowing(), values,
                               count, pixels);
          }
          store(fields_.field[0], pixels, count, stored.planes[0].row(y), first);
        });
      });
    for_channel_rows([&](const Field& field, int c, int y) {
      for_chunks(field.width, [&](int first, int count) {
        Chunk values;
        load_values(unpacked.planes[c].row(y), first, count, values);
        write(field, fields_.largest, values, count, stored.planes[field.plane].row(y), first);
      });
    });
  }

 private:
  /// Calls function(field, number, y) for each row of each channel.
  template <class Function>
  void for_channel_rows(const Function& function) const {
    for (int c = 0; c < fields_.count; ++c)
      for_rows(fields_.field[c].height, [&](int y) { function(fields_.field[c], c, y); });
  }

  // Rows may lie at odd addresses.

  static void load_values(const std::uint8_t* row, int first, int count, std::uint16_t* values) {
    std::memcpy(values, row + std::ptrdiff_t{2} * first, std::size_t{2} * count);
  }

  static void store_values(const std::uint16_t* values, int count, std::uint8_t* row, int first) {
    std::memcpy(row + std::ptrdiff_t{2} * first, values, std::size_t{2} * count);
  }

  static void read(const Field& field, const std::uint16_t* scale, const std::uint8_t* row,
                   int first, int count, std::uint16_t* values) {
    read_samples<kWords>(field, scale,
                         row + field.offset + static_cast<std::ptrdiff_t>(field.step) * first,
                         count, values);
  }

  static void store(const Field& field, const Word<kWords>* words, int count, std::uint8_t* row,
                    int first) {
    store_words(words, count, field.step,
                row + field.offset + static_cast<std::ptrdiff_t>(field.step) * first);
  }

  static void write(const Field& field, std::uint32_t largest, const std::uint16_t* values,
                    int count, std::uint8_t* row, int first) {
    Word<kWords> words[chunk_size];
    make_words<kWords>(field, largest, nullptr, values, count, words);
    store(field, words, count, row, first);
  }

  /// Reads the luminance of a chunk and, unless the frame has luma, its colours. Plane p of the
  /// stored frame is plane first_plane + p of frame.
  void read_luminance(const ConstFrame& frame, int first_plane, int y, int first, int count,
                      std::uint16_t* luminance, Chunk (&colors)[3]) const {
    const auto read_field = [&](int number, std::uint16_t* values) {
      const Field& field = fields_.field[number];
      read(field, scales_[number].widening(), frame.planes[first_plane + field.plane].row(y), first,
           count, values);
    };
    if (fields_.luma >= 0)
      return read_field(fields_.luma, luminance);
    read_field(fields_.red, colors[0]);
    read_field(fields_.green, colors[1]);
    read_field(fields_.blue, colors[2]);
    compute_luminance(colors[0], colors[1], colors[2], count, luminance);
  }

  /// Packs a chunk whose luminance may have changed.
  void adjust(const ConstFrame& unpacked, const Frame& stored, int y, int first, int count) const {
    Chunk before, after, colors[3];
    read_luminance(unpacked, 1, y, first, count, before, colors);
    load_values(unpacked.planes[0].row(y), first, count, after);
    for (Chunk& color : colors)
      add_change(before, after, fields_.largest, count, color);

    Word<kWords> pixels[chunk_size] = {};
    const auto put = [&](const Field& field, std::uint32_t largest, const std::uint16_t* scale,
                         const std::uint16_t* values) {
      if constexpr (kWords == Words::packed)
        make_words<kWords>(field, largest, scale, values, count, pixels);
      else
        write(field, largest, values, count, stored.planes[field.plane].row(y), first);
    };
    const int numbers[] = {fields_.red, fields_.green, fields_.blue};
    for (int i = 0; i < 3; ++i)
      put(fields_.field[numbers[i]], fields_.largest, scales_[numbers[i]].narrowing(), colors[i]);
    for (int c = 0; c < fields_.count; ++c) {
      const Field& field = fields_.field[c];
      if (field.colour)
        continue;
      // Samples come back from any scale, so that these need none.
      Chunk values;
      read(field, nullptr, unpacked.planes[field.plane + 1].row(y), first, count, values);
      put(field, field.maximum, nullptr, values);
    }
    if constexpr (kWords == Words::packed)
      store(fields_.field[0], pixels, count, stored.planes[0].row(y), first);
  }

  FrameLayout layout_;
  Fields fields_;
  std::vector<Scale> scales_;  // of the fields
  bool channels_;              ///< the planes of unpacked frames are the channels
  bool keeps_planes_;          ///< those of the stored frame follow the luminance
};

}  // namespace

std::unique_ptr<Repack::Backend> make_repack_cpu(Device&, const StoredLayout& storage,
                                                 UnpackedForm form) {
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
