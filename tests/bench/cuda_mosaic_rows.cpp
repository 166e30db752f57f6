// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"
#include "tests/bench/mosaic_subjects.h"

namespace cudavision::bench {

void add_cuda_mosaic(CudaRows& rows) {
  for (const MosaicSubject& subject : mosaic_subjects)
    add_frame_row<mosaic::Mosaic, test::Runner<test::MosaicCase>>(
        rows, subject.name(), subject.layout, subject.make_case(), 0);
}

}  // namespace cudavision::bench
