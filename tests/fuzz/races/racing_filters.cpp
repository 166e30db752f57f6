// SPDX-License-Identifier: LGPL-2.1-or-later
// Lets several threads use an element with one input at once; see race.h.
#include "tests/check/common/filterharness.h"
#include "tests/fuzz/races/race.h"

using namespace check;

namespace {

class FilterRace final : public fuzz::Race {
 public:
  FilterRace(unsigned seed, BufferCount& buffers)
      : Race(seed, buffers, make_element(tested().element), {"sink"}) {}

 private:
  void act_downstream(Random& random) override {
    static const fuzz::Action<FilterRace, bool> actions[] = {
        {"restart in the thread that pushes", 4, &FilterRace::restart},
        {"pause and go on in the thread that pushes", 4, &FilterRace::pause},
        {"seek with a flush in the thread that pushes", 8, &FilterRace::flushing_seek},
        {"relink in the thread that pushes", 3, &FilterRace::relink_here}};
    static const fuzz::Action<FilterRace> others[] = {
        {"set a property in the thread that pushes", 1, &FilterRace::change_property},
        {"query in the thread that pushes", 1, &FilterRace::query},
        {"seek without a flush in the thread that pushes", 1, &FilterRace::plain_seek}};
    if (random.below(12) != 0)
      return;
    random.below(2) == 0 ? act(*this, random, actions) : act(*this, random, others);
  }
};

}  // namespace

TEST(racing_filters, .for_each_element()) {
  fuzz::run_episodes<FilterRace>();
}
