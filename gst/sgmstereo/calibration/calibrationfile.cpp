// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sgmstereo/calibration/calibrationfile.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "gst/core/elementerror.h"
#include "gst/sgmstereo/calibration/textnesting.h"

namespace cudavision {
namespace {

/// Calibrations take a few kilobytes, and some hundred if they come with the corners of all
/// chessboards.
constexpr std::size_t max_bytes = std::size_t{4} << 20;
/// Calibrations have at most five levels. With OpenCV 4.6 on x86-64, a stack of 8 MB holds 20 000
/// levels of YAML but not 40 000, so that these take less than 160 kB.
constexpr std::size_t max_nesting = 400;

constexpr char name_a_calibration[] =
    "name a file with a stereo calibration, such as pipelines/calibrate.py of the package "
    "gst-cudavision-tools writes.";

[[noreturn]] void refuse_file(int code, const std::string& name, const std::string& what) {
  throw ElementError(GST_RESOURCE_ERROR, code, name + ": " + what + name_a_calibration);
}

[[noreturn]] void refuse_errno(const std::string& name, int error) {
  refuse_file(error == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ, name,
              std::string(g_strerror(error)) + ": ");
}

class OpenFile {
 public:
  /// Without O_NONBLOCK, opening a pipe would wait for a writer.
  explicit OpenFile(const std::string& name)
      : name_(name), file_(open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (file_ < 0)
      refuse_errno(name, errno);
  }
  ~OpenFile() { close(file_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_regular() const {
    struct stat status;
    if (fstat(file_, &status) != 0)
      refuse_errno(name_, errno);
    return S_ISREG(status.st_mode);
  }

  /// Appends what comes next; returns false at the end of the file.
  bool read_on(std::string& text) const {
    char bytes[1 << 14];
    ssize_t count = 0;
    do
      count = read(file_, bytes, sizeof bytes);
    while (count < 0 && errno == EINTR);
    if (count < 0)
      refuse_errno(name_, errno);
    text.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

 private:
  const std::string& name_;
  const int file_;
};

}  // namespace

std::string calibration_file_text(const std::string& name) {
  const OpenFile file(name);
  if (!file.is_regular())
    refuse_file(GST_RESOURCE_ERROR_OPEN_READ, name, "this is not a regular file: ");
  // The size counts that is read, because a file may grow, and those of /proc have none.
  std::string text;
  while (file.read_on(text))
    if (text.size() > max_bytes)
      refuse_file(GST_RESOURCE_ERROR_READ, name,
                  "this is larger than the " + std::to_string(max_bytes >> 20) +
                      " MiB that a calibration may have: ");
  return text;
}

void check_calibration_text(const std::string& name, const std::string& text) {
  // OpenCV 4.6 reads past the end of texts that hold such bytes.
  if (text.find('\0') != std::string::npos)
    refuse_file(GST_RESOURCE_ERROR_READ, name,
                "this is no text, because it has bytes of value 0: ");
  const std::size_t nesting = max_text_nesting(text);
  if (nesting > max_nesting)
    refuse_file(GST_RESOURCE_ERROR_READ, name,
                "the brackets, elements or indented lines in this are nested up to " +
                    std::to_string(nesting) + " levels deep, and at most " +
                    std::to_string(max_nesting) + " are read: ");
}

}  // namespace cudavision
