// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Lists the instances of the kernels in product.cuh.

#include "cuda/nlmeans/product.cuh"

namespace cudavision::nlmeans {

using ProductKernel = void (*)(NlMeansArguments);

constexpr int min_product_side = 2, max_product_side = 4;

template <class Kind, Table kTable>
ProductKernel product_kernel() {
  if constexpr (has_registers<Kind>(kTable))
    return denoise_by_products<Kind, kTable>;
  return nullptr;
}

/// Returns nullptr if only kernels for one square have registers.
template <class Kind>
ProductKernel product_kernel(Table table) {
  switch (table) {
    case Table::aligned:
      return product_kernel<Kind, Table::aligned>();
    case Table::shared:
      return product_kernel<Kind, Table::shared>();
    default:
      return product_kernel<Kind, Table::global>();
  }
}

/// Calls function(kind) with the smallest side for the patch and the most squares for the search
/// (ProductKind::min_search_radius).
/// Returns false if there is no kernel.
template <class Function>
bool with_product_kind(int patch_radius, int search_radius, int channels, int sample_bytes,
                       const Function& function) {
  const int side = patch_radius / 2 + 1;
  const auto chosen = [&](auto kind) {
    using Kind = decltype(kind);
    // Smaller patches have no kernels of their own.
    const bool fits = side == Kind::side || (side < Kind::side && Kind::side == min_product_side);
    if (!fits || search_radius < Kind::min_search_radius || channels != Kind::channels ||
        sample_bytes != Kind::sample_bytes)
      return false;
    function(kind);
    return true;
  };
  return chosen(ProductKind<2, 1, 1>{}) || chosen(ProductKind<2, 1, 1, true>{}) ||
         chosen(ProductKind<3, 1, 1>{}) || chosen(ProductKind<3, 1, 1, true>{}) ||
         chosen(ProductKind<4, 1, 1>{}) || chosen(ProductKind<2, 3, 1>{}) ||
         chosen(ProductKind<3, 3, 1>{}) || chosen(ProductKind<2, 1, 2>{}) ||
         chosen(ProductKind<2, 1, 2, true>{}) || chosen(ProductKind<3, 1, 2>{}) ||
         chosen(ProductKind<4, 1, 2>{}) || chosen(ProductKind<2, 3, 2>{});
}

}  // namespace cudavision::nlmeans
