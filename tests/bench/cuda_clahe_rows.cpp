// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/clahe_subjects.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/frame_row.h"

namespace cudavision::bench {

void add_cuda_clahe(CudaRows& rows) {
  using test::Content;
  for (const ClaheSubject& subject : clahe_subjects)
    for (const Content content :
         {Content::natural, Content::random, Content::flat, Content::two_valued})
      if (content == Content::natural || subject.any_content)
        add_frame_row<clahe::Clahe, test::ClaheRunner>(
            rows, clahe_name(subject), subject.layout, subject.make_case(content),
            content == Content::natural ? subject.required : 1.3 * subject.required);
}

}  // namespace cudavision::bench
