// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/integral/integral.h"

#include "cuda/core/dispatch.h"
#include "cuda/core/layoutcheck.h"
#include "cuda/integral/backend.h"

namespace cudavision::integral {

constexpr char operation[] = "integral image";

TableElement exact_element(const FrameLayout& layout, TableKind kind) noexcept {
  const std::uint64_t largest = (1u << layout.bits) - 1;
  const std::uint64_t term = kind == TableKind::squared_sum ? largest * largest : largest;
  const std::uint64_t pixels = static_cast<std::uint64_t>(layout.width) * layout.height;
  return term * pixels < std::uint64_t{1} << 32 ? TableElement::uint32 : TableElement::uint64;
}

Integral::Integral(Device& device, const FrameLayout& layout, const Parameters& parameters)
    : parameters_(parameters),
      width_(layout.width + (parameters.same_size ? 0 : 1)),
      height_(layout.height + (parameters.same_size ? 0 : 1)),
      luminance_(device, layout, operation) {
  const PlaneSize size{layout.width, layout.height, layout.bits};
  backend_ = dispatch<make_integral_cuda, make_integral_cpu>(device, size, parameters);
}

Integral::~Integral() = default;

void Integral::run(const ConstFrame& in, View<std::uint8_t> table) {
  const auto bytes = static_cast<std::ptrdiff_t>(bytes_of(parameters_.element));
  if (!table || table.width != width_ * bytes || table.height != height_)
    refuse(operation, "the table must have ", height_, " rows of ", width_, " elements of ", bytes,
           " bytes, but has ", table.height, " rows of ", table.width, " bytes");
  if (reinterpret_cast<std::uintptr_t>(table.data) % bytes != 0 || table.pitch % bytes != 0)
    refuse(operation, "the address and the pitch of the table must be multiples of ", bytes,
           " bytes, the element size; the pitch is ", table.pitch, " bytes");
  backend_->run(luminance_.of(in), table);
}

IntegralPicture::IntegralPicture(Device& device, const FrameLayout& layout, TableKind kind,
                                 bool same_size, int bits)
    : integral_(device, layout, {kind, TableElement::uint64, same_size}), bits_(bits) {
  if (bits != 8 && bits != 16)
    refuse(operation, "a picture of the table with ", bits,
           " bits per sample; 8 and 16 are supported");
  memory_ = device.allocate(sizeof(std::uint64_t) * width() * height());
  table_ = contiguous_rows(memory_.as<std::uint64_t>(), width(), height());
  backend_ = dispatch<make_integral_picture_cuda, make_integral_picture_cpu>(device, bits);
}

IntegralPicture::~IntegralPicture() = default;

void IntegralPicture::run(const ConstFrame& in, View<std::uint8_t> out) {
  if (!out || out.width != width() * (bits_ / 8) || out.height != height())
    refuse(operation, "the picture of the table must have ", height(), " rows of ", width(),
           " samples of ", bits_, " bits, but has ", out.height, " rows of ", out.width, " bytes");
  integral_.run(in, contiguous_rows(memory_.as<std::uint8_t>(), static_cast<int>(table_.pitch),
                                    table_.height));
  backend_->run(table_, out);
}

}  // namespace cudavision::integral
