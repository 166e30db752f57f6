// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <stdexcept>
#include <string>

namespace cudavision {

/// The exception type of cuda/. what() is a message for users: it names the operation and the
/// problem, and quotes CUDA's error if there is one.
class Error : public std::runtime_error {
 public:
  enum class Kind {
    invalid_argument,  ///< a parameter, geometry or GPU that the header or the build excludes
    out_of_memory,     ///< not enough memory on the host or the device
    device,            ///< the device failed: a launch, a transfer, or an asynchronous error
  };

  Error(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}

  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

}  // namespace cudavision
