// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib/gstdio.h>

#include <string>

#include "tests/check/common/owned.h"
#include "tests/check/common/testcase.h"

namespace check {

/// A text file that the destructor removes. `pattern`: the file name, with "XXXXXX".
class TemporaryFile {
 public:
  TemporaryFile(const char* pattern, const std::string& text) {
    gchar* name = nullptr;
    const gint file = g_file_open_tmp(pattern, &name, nullptr);
    fail_unless(file >= 0, "no temporary file");
    g_close(file, nullptr);
    name_.reset(name);
    fail_unless(g_file_set_contents(name, text.c_str(), -1, nullptr));
  }
  ~TemporaryFile() { g_remove(name_); }

  std::string name() const { return name_.get(); }

 private:
  Owned<gchar> name_;
};

}  // namespace check
