// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define CUDAVISION_HOST_DEVICE __host__ __device__
#else
#define CUDAVISION_HOST_DEVICE
#endif

#ifdef __CUDA_ARCH__
#define CUDAVISION_UNROLL _Pragma("unroll")
#define CUDAVISION_NO_UNROLL _Pragma("unroll 1")
#else
#define CUDAVISION_UNROLL
#define CUDAVISION_NO_UNROLL
#endif

namespace cudavision {

/// A rectangle of elements in memory that the view does not own: `height` rows of `width` elements.
/// Row y begins pitch·y bytes after data. Rows may be padded, and pitch and data need no alignment.
/// Memory outside the elements is not accessed. data is a host or a device address.
template <class T>
struct View {
  T* data = nullptr;
  int width = 0;             ///< elements per row
  int height = 0;            ///< rows
  std::ptrdiff_t pitch = 0;  ///< bytes from one row to the next

  using Byte = std::conditional_t<std::is_const_v<T>, const std::uint8_t, std::uint8_t>;

  CUDAVISION_HOST_DEVICE T* row(int y) const {
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + pitch * y);
  }

  template <class U,
            std::enable_if_t<std::is_same_v<U, const T> && !std::is_const_v<T>, bool> = true>
  CUDAVISION_HOST_DEVICE operator View<U>() const {
    return {data, width, height, pitch};
  }

  CUDAVISION_HOST_DEVICE explicit operator bool() const { return data != nullptr; }
};

template <class T>
View<T> contiguous_rows(T* data, int width, int height) {
  return {data, width, height, static_cast<std::ptrdiff_t>(sizeof(T)) * width};
}

}  // namespace cudavision
