// SPDX-License-Identifier: LGPL-2.1-or-later
#include "subject.h"

#include "blurdefinition.h"
#include "definition.h"

namespace check {

namespace {

std::size_t current = 0;
bool adding = false;

// A fixture knows nothing but its own name.
template <std::size_t number>
void choose() {
  current = number;
}
constexpr SFun choosers[] = {choose<0>, choose<1>};

}  // namespace

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> list = {
      {"cudahistequalize",
       {{"post-messages", "true"}},
       {"strength", "1"},
       {"strength", "0"},
       {"strength", "0.5"},
       {"channels", "rgb"},
       {"channels", "luma"},
       1,
       +[](const Picture& picture, bool limited) {
         Equalization how;
         how.limited = limited;
         return equalized(picture, how);
       }},
      {"cudagaussblur",
       {},
       {"sigma", "1.2"},
       {"sigma", "0"},
       {"sigma", "-3"},
       {"kernel-size", "4"},
       {"kernel-size", "0"},
       0,
       +[](const Picture& picture, bool) { return blurred(picture, {}); }},
  };
  static_assert(G_N_ELEMENTS(choosers) == 2, "one for each element");
  return list;
}

const Subject& subject() {
  return subjects()[current];
}

void for_each_subject(Suite* suite, const char* name, const std::function<void(TCase*)>& fill) {
  adding = true;
  for (current = 0; current < subjects().size(); ++current) {
    // check keeps the name's address.
    TCase* tcase =
        tcase_create(g_intern_string((std::string(subject().element) + " " + name).c_str()));
    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, choosers[current], nullptr);
    fill(tcase);
  }
  current = 0;
  adding = false;
}

std::string subject_being_added() {
  return adding ? std::string(" (") + subject().element + ")" : "";
}

}  // namespace check
