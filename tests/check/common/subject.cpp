// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/subject.h"

#include "tests/check/common/blurdefinition.h"
#include "tests/check/common/definition.h"
#include "tests/check/common/integraldefinition.h"

namespace check {

namespace {

std::size_t current = 0;
bool adding = false;

// A fixture knows nothing but its own name.
template <std::size_t number>
void choose() {
  current = number;
}
constexpr SFun choosers[] = {choose<0>, choose<1>, choose<2>};

/// Of the outputs of cudaintegral the one that is like the input; small, for the sake of time, and
/// strong enough that no picture of these tests stays as it is.
Integral denoising() {
  Integral how;
  how.output = Output::denoise;
  how.search = 5;
  how.patch = 3;
  how.strength = 60;
  return how;
}

}  // namespace

const std::vector<ElementUnderTest>& subjects() {
  static const std::vector<ElementUnderTest> list = {
      {"cudahistequalize",
       {},
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
       {},
       {"sigma", "1.2"},
       {"sigma", "0"},
       {"sigma", "-3"},
       {"kernel-size", "4"},
       {"kernel-size", "0"},
       0,
       +[](const Picture& picture, bool) { return blurred(picture, {}); }},
      {"cudaintegral",
       {{"output", "denoise"},
        {"search-size", "5"},
        {"patch-size", "3"},
        {"denoise-strength", "60"}},
       {},
       {"denoise-strength", "60"},
       {"denoise-strength", "0"},
       {"denoise-strength", "20"},
       {"search-size", "4"},
       {"search-size", "5"},
       0,
       +[](const Picture& picture, bool) { return denoised(picture, denoising()); }},
  };
  static_assert(G_N_ELEMENTS(choosers) == 3, "one for each element");
  return list;
}

const ElementUnderTest& subject() {
  return subjects()[current];
}

std::string subject_in_words() {
  std::string words = subject().element;
  for (const Property& property : subject().always)
    words += " " + text_of(property);
  return words;
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
