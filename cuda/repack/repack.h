// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

/// Converts stored frames, with the layout of their buffers, to unpacked frames that operations can
/// read, and back. Handles big-endian samples, pixels in one word, and the luminance of deep RGB.
///
/// Samples of unpacked frames are words of two bytes in native byte order, without a shift. In
/// `Words::packed` frames, samples may have a depth of fewer bits, for example alpha. With
/// L = 2^bits − 1 and l = 2^depth − 1, unpacking converts a sample v to (v·L + l div 2) div l, and
/// packing converts a value w to (w·l + L div 2) div L. Packing an unpacked sample restores v.
namespace cudavision::repack {

/// Form of the words of a stored frame.
enum class Words : std::uint8_t {
  native,   ///< as described in frame.h
  swapped,  ///< the two bytes of each word are swapped
  packed,   ///< a little-endian word of four bytes holds all samples of a pixel
};

/// Layout of stored frames.
struct StoredLayout {
  /// As in frame.h. With Words::packed, there is one plane of words of four bytes, all channels
  /// have an offset of 0 and a step of 1, and the shift is 0.
  FrameLayout frame;
  Words words = Words::native;
  /// Only for Words::packed: lowest bit and number of bits of each channel's samples. Bits of a
  /// word that belong to no channel are written as zero.
  std::array<int, FrameLayout::max_channels> low_bit{};
  std::array<int, FrameLayout::max_channels> depth{};
};

/// Channels of an unpacked frame.
enum class UnpackedForm : std::uint8_t {
  channels,  ///< the channels of the stored frame
  /// One channel: luma, or `u = (299·red + 587·green + 114·blue) div 1000`. Cannot be packed.
  luminance,
  /// Equals `channels` if the stored frame has luma. Otherwise the only channel is the luminance u
  /// in the first plane. The planes of the stored frame follow, as bytes without channels. If an
  /// operation changes the luminance to w, packing stores `saturate(sample + w − u)` for red, green
  /// and blue. Other channels keep their values.
  adjustable_luminance,
};

/// Returns false if operations can read stored frames directly.
bool is_needed(const StoredLayout& storage, UnpackedForm form) noexcept;

/// Returns the unpacked layout or, if not is_needed(), the stored. Repack must accept `storage`.
FrameLayout unpacked_layout(const StoredLayout& storage, UnpackedForm form) noexcept;

class Repack {
 public:
  /// The stored frames must have more than 8 bits, and either one luma channel or red, green and
  /// blue channels of the picture's size. Unless packed, every byte of a plane must belong to a
  /// sample. With adjustable luminance, RGB may have up to three planes. Throws invalid_argument
  /// for other frames, and if is_needed() is false.
  Repack(Device& device, const StoredLayout& storage, UnpackedForm form);

  /// unpack() and pack() only enqueue work on the device. Frames must not overlap. pack() throws
  /// invalid_argument with UnpackedForm::luminance.
  void unpack(const ConstFrame& stored, const Frame& unpacked) { run(false, stored, unpacked); }
  void pack(const ConstFrame& unpacked, const Frame& stored) { run(true, unpacked, stored); }

 private:
  void run(bool packs, const ConstFrame& in, const Frame& out);

  Device& device_;
  StoredLayout storage_;
  UnpackedForm form_;
  FrameLayout unpacked_;
};

}  // namespace cudavision::repack
