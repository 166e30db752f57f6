// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"
#include "tests/bench/mosaic_subjects.h"

namespace cudavision::bench {

std::vector<Row> measure_mosaic(const test::CudaTestDevice& device) {
  std::vector<Row> rows;
  for (const MosaicSubject& subject : mosaic_subjects)
    rows.push_back(frame_row<mosaic::Mosaic, test::Runner<test::MosaicCase>>(
        device, subject.name(), subject.layout, subject.make_case(), 0));
  return rows;
}

}  // namespace cudavision::bench
