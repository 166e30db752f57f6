// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuda/core/device.h"
#include "cuda/core/frame.h"

/// Converts frames that an operation cannot read to frames that it can, and back: samples that are
/// not words of their own in the machine's byte order, and the luminance of RGB of more than 8
/// bits. A frame in the layout of its buffer is called stored, a converted one unpacked.
///
/// The samples of unpacked frames are words of two bytes in the machine's byte order, without a
/// shift. In `Words::packed` frames, a sample may have fewer bits than the frame, as alpha has.
/// With L = 2^bits − 1 and l = 2^depth − 1, its value v becomes (v·L + l div 2) div l, and an
/// unpacked value w goes back as (w·l + L div 2) div L. Unpacking and packing gives back every v.
namespace cudavision::repack {

/// The form of the words of a stored frame.
enum class Words : std::uint8_t {
  native,   ///< as frame.h describes
  swapped,  ///< the same, but the two bytes of each word are in the other order
  packed,   ///< a little-endian word of four bytes holds all samples of a pixel
};

/// The shape of stored frames.
struct StoredLayout {
  /// Everything that frame.h says, except that with Words::packed there is one plane, rows are
  /// rows of words of four bytes, all channels have an offset of 0 and a step of 1, and the shift
  /// is 0.
  FrameLayout frame;
  Words words = Words::native;
  /// Only with Words::packed: the lowest bit and the number of bits of each channel's samples.
  /// Bits of a word that belong to no channel are written as zero.
  std::array<int, FrameLayout::max_channels> low_bit{};
  std::array<int, FrameLayout::max_channels> depth{};
};

/// The channels of an unpacked frame.
enum class UnpackedForm : std::uint8_t {
  /// Those of the stored frame.
  channels,
  /// A single one, the luminance: luma, or `u = (299·red + 587·green + 114·blue) div 1000`. Such
  /// frames cannot be packed.
  luminance,
  /// As with `channels` where the stored frame has luma. Otherwise the first plane is the
  /// luminance u, the only channel, and the planes of the stored frame follow, as bytes without
  /// channels. Packing compares that channel, w, with the u of the colours in these planes, and
  /// stores `saturate(sample + w − u)` for red, green and blue. Other channels keep their values.
  adjustable_luminance,
};

/// Returns false if operations that work on frames of this form can read stored frames themselves.
bool is_needed(const StoredLayout& storage, UnpackedForm form) noexcept;

/// Returns the layout that frames have when they are unpacked, or the stored frame's layout
/// if unpacking is not needed. The storage must be one that Repack accepts.
FrameLayout unpacked_layout(const StoredLayout& storage, UnpackedForm form) noexcept;

struct Conversion;

class Repack {
 public:
  /// The stored frames must have more than 8 bits, and either one channel of luma or red, green and
  /// blue channels of the picture's size. Every byte of a plane must belong to a sample. Throws
  /// invalid_argument if not, or if is_needed() returns false.
  Repack(Device& device, const StoredLayout& storage, UnpackedForm form);
  ~Repack();

  /// Both only enqueue work on the device. Frames do not overlap. pack() throws invalid_argument
  /// with UnpackedForm::luminance.
  void unpack(const ConstFrame& stored, const Frame& unpacked);
  void pack(const ConstFrame& unpacked, const Frame& stored);

 private:
  void run(bool packs, const ConstFrame& in, const Frame& out);

  Device& device_;
  StoredLayout storage_;
  UnpackedForm form_;
  FrameLayout unpacked_;
  /// One for each size of channels; the second ones pack frames.
  std::vector<Conversion> conversions_[2];
};

}  // namespace cudavision::repack
