// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/subject.h"

#include <cstring>

#include "cuda/core/parallel.h"

namespace cudavision::bench {
namespace {

struct Group {
  const char* name;
  void (*add)(Subjects& subjects);
};

constexpr Group groups[] = {
    {"copy", add_copies},     {"equalization", add_equalization},
    {"clahe", add_clahe},     {"blur", add_blur},
    {"guided", add_guided},   {"integral", add_integral},
    {"mosaic", add_mosaic},   {"nlmeans", add_nlmeans},
    {"regions", add_regions}, {"remap", add_remap},
    {"repack", add_repack},   {"stereo", add_stereo},
};

using Bytes = std::vector<std::uint8_t>;

/// Copies a frame's bytes with all threads, as the operations do.
void copy(const Bytes& from, Bytes& to) {
  const std::size_t count = static_cast<std::size_t>(loop_concurrency());
  parallel_for(static_cast<int>(count), [&](int number) {
    const std::size_t begin = from.size() * static_cast<std::size_t>(number) / count,
                      end = from.size() * static_cast<std::size_t>(number + 1) / count;
    std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  });
}

constexpr Entry<int> copies[] = {
    {"GRAY8", vga, 0, cpu}, {"GRAY8", hd, 0, cpu}, {"GRAY8", uhd, 0, cpu}, {"GRAY16", hd, 0, cpu},
    {"NV12", hd, 0, cpu},   {"YUY2", hd, 0, cpu},  {"P010", hd, 0, cpu},   {"RGB", hd, 0, cpu},
    {"RGBx", hd, 0, cpu},   {"RGBx", uhd, 0, cpu},
};

}  // namespace

void add_copies(Subjects& subjects) {
  for (const Entry<int>& entry : copies) {
    test::FrameCase frame;
    make_dense(frame, entry.frame_layout(), entry.frame_layout(), Content::natural, 3);
    Subject subject{entry.row("copy"), entry.runners};
    subject.input_bytes = frame.in.bytes;
    subject.prepare = [frame](Device&) -> PreparedWork {
      const auto from = std::make_shared<Bytes>(input_block(frame));
      return {from, {{[from, to = Bytes(from->size())]() mutable { copy(*from, to); }}}};
    };
    subjects.push_back(subject);
  }
}

std::vector<std::string> subject_groups() {
  std::vector<std::string> names;
  for (const Group& group : groups)
    names.push_back(group.name);
  return names;
}

Subjects wanted_subjects(const CommandLine& line, unsigned runner) {
  Subjects wanted;
  for (const Group& group : groups) {
    Subjects subjects;
    group.add(subjects);
    for (const Subject& subject : subjects)
      if ((subject.runners & runner) != 0 && line.wants(group.name, subject.name(runner)))
        wanted.push_back(subject);
  }
  return wanted;
}

}  // namespace cudavision::bench
