// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <utility>
#include <vector>

#include "tests/check/common/pictures/random.h"

/// Control bindings whose curves may leave every range, or be NaN or infinite for a while.
namespace fuzz {

void control_property(check::Random& random, GstElement* element);
void remove_controls(GstElement* element);

/// Makes hostile curves control some properties. The destructor restores the properties' values.
class HostileControls {
 public:
  HostileControls(check::Random& random, GstElement* element);
  ~HostileControls();
  HostileControls(const HostileControls&) = delete;
  HostileControls& operator=(const HostileControls&) = delete;

 private:
  GstElement* const element_;
  std::vector<std::pair<const char*, GValue>> values_;  ///< values to restore
};

}  // namespace fuzz
