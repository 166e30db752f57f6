// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cuda/core/frame.h"
#include "cuda/repack/repack.h"

/// A plain implementation of the conversions of repack.h, sample by sample.
namespace cudavision::test {

void defined_unpacking(const repack::StoredLayout& storage, repack::UnpackedForm form,
                       const ConstFrame& stored, const Frame& unpacked);

void defined_packing(const repack::StoredLayout& storage, repack::UnpackedForm form,
                     const ConstFrame& unpacked, const Frame& stored);

}  // namespace cudavision::test
