// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>
#include <string>

namespace cudavision {

/// The only exception type of cuda/. what() is written for users. It names the operation and what
/// failed, and quotes CUDA's own words if CUDA reported the failure.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    invalid_argument,  ///< a parameter or a geometry outside what the operation's header allows
    out_of_memory,     ///< the host or the device has no room for the buffers asked for
    device,            ///< the device failed: a launch, a transfer, or an asynchronous error
  };

  Error(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}

  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

}  // namespace cudavision
