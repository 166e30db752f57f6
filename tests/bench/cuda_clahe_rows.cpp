// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/clahe_subjects.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"

namespace cudavision::bench {

std::vector<Row> measure_clahe(const test::CudaTestDevice& device) {
  using test::Content;
  std::vector<Row> rows;
  for (const ClaheSubject& subject : clahe_subjects)
    for (const Content content :
         {Content::natural, Content::random, Content::flat, Content::two_valued})
      if (content == Content::natural || subject.any_content)
        rows.push_back(frame_row<clahe::Clahe, test::ClaheRunner>(
            device, clahe_name(subject), subject.layout, subject.make_case(content),
            content == Content::natural ? subject.required : 1.3 * subject.required));
  return rows;
}

}  // namespace cudavision::bench
