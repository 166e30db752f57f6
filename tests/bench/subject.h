// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <any>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/bench/program.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::bench {

using test::Content;

/// Flags of the runners: the CPU part and the GPU part of bench_kernels, and bench_opencv.
constexpr unsigned cpu = 1, cuda = 2, opencv = 4, both = cpu | cuda, all = both | opencv;

struct Size {
  int width, height;
};
constexpr Size vga{640, 480}, hd{1920, 1080}, uhd{3840, 2160}, uhd8{7680, 4320};

struct Row {
  std::string operation, format;
  int width = 0, height = 0;
  std::string content = {};
  double required = 0;           ///< upper limit in µs on an NVIDIA H200; 0: none
  double microseconds = 0;       ///< GPU time
  double copy_microseconds = 0;  ///< GPU time of a plain copy of the same bytes
  double host_microseconds = 0;  ///< time of the enqueuing thread; 0 if not measured

  std::string size() const { return std::to_string(width) + "x" + std::to_string(height); }
  std::string name() const { return operation + "/" + format + "/" + size() + "/" + content; }
};

struct Work {
  std::function<void()> run;
  std::size_t bytes = 0;         ///< minimum number of bytes that run() accesses
  std::string part = {};         ///< name of a part of an operation; empty: the whole operation
  bool launches_graphs = false;  ///< launches graphs itself, so no graph can capture it
};
struct PreparedWork {
  std::shared_ptr<void> state;  ///< must live as long as the work
  std::vector<Work> work;       ///< the whole operation, or its parts in measuring order
};

struct Subject {
  Row row;
  unsigned runners;
  bool names_content = false;  ///< in names of CPU rows; names of GPU rows always contain it
  std::size_t input_bytes = 0, items = 0;  ///< per run, for the rates of CPU rows
  std::any test = {};                      ///< the case of the kernel tests
  std::function<PreparedWork(Device&)> prepare = {};
  std::function<std::string(Device&, Device&)> difference = {};

  std::string name(unsigned runner) const {
    return runner == cuda || (runner == cpu && names_content)
               ? row.name()
               : row.operation + "/" + row.format + "/" + row.size();
  }
};
using Subjects = std::vector<Subject>;

std::vector<std::string> subject_groups();
/// Returns the subjects of the runner that the command line selects.
Subjects wanted_subjects(const CommandLine& line, unsigned runner);

/// Each function adds the subjects of one group.
void add_copies(Subjects& subjects);
void add_equalization(Subjects& subjects);
void add_clahe(Subjects& subjects);
void add_blur(Subjects& subjects);
void add_guided(Subjects& subjects);
void add_integral(Subjects& subjects);
void add_mosaic(Subjects& subjects);
void add_nlmeans(Subjects& subjects);
void add_regions(Subjects& subjects);
void add_remap(Subjects& subjects);
void add_repack(Subjects& subjects);
void add_stereo(Subjects& subjects);

/// Runs a case's operation on its frames, as in the kernel tests.
template <class Case>
struct CaseRun {
  CaseRun(Device& device, const Case& test)
      : frames(device, test), operation(test.make(device, test.parameters)) {}
  void run() { frames.run(operation); }

  const typename Case::Frames frames;
  typename Case::Operation operation;
};

/// Run must be constructible from a device and a case. Its run() accesses at least `bytes` bytes.
template <class Run, class Case>
Subject make_subject(const Row& row, unsigned runners, const Case& test, std::size_t bytes,
                     bool launches_graphs = false) {
  Subject subject{row, runners};
  subject.test = test;
  subject.prepare = [=](Device& device) -> PreparedWork {
    const auto state = std::make_shared<Run>(device, test);
    return {state, {{[run = state.get()] { run->run(); }, bytes, "", launches_graphs}}};
  };
  subject.difference = [test](Device& expected, Device& actual) {
    const auto input = input_block(test);
    return difference(test, test::Runner<Case>(expected, test).run(input, 0),
                      test::Runner<Case>(actual, test).run(input, 0));
  };
  return subject;
}

/// Table entry: a row with natural content. The runners in `other_contents` also measure the other
/// contents, whose limit is 1.3 times as high.
template <class Parameters>
struct Entry {
  const char* layout;
  Size size;
  Parameters parameters;
  unsigned runners;
  double required = 0;
  unsigned other_contents = 0;

  FrameLayout frame_layout() const { return test::layout_named(layout, size.width, size.height); }
  std::size_t pixels() const { return static_cast<std::size_t>(size.width) * size.height; }
  Row row(const std::string& operation, Content content = Content::natural) const {
    const double most = content == Content::natural ? required : 1.3 * required;
    return {operation, layout, size.width, size.height, test::name(content), most};
  }
};

/// Adds the rows of a table. make(layout, parameters, content, seed) makes a row's case. map_bytes:
/// bytes that are read per pixel in addition to the frames.
template <class Run = void, class Parameters, std::size_t count, class Name, class Make>
void add_table(Subjects& subjects, const Entry<Parameters> (&table)[count], const Name& name,
               const Make& make, std::size_t map_bytes = 0) {
  for (const Entry<Parameters>& entry : table)
    for (const Content content :
         {Content::natural, Content::random, Content::flat, Content::two_valued}) {
      const unsigned runners = content == Content::natural ? entry.runners : entry.other_contents;
      if (runners == 0)
        continue;
      const auto test = make(entry.frame_layout(), entry.parameters, content, 3);
      using Case = std::remove_const_t<decltype(test)>;
      subjects.push_back(make_subject<std::conditional_t<std::is_void_v<Run>, CaseRun<Case>, Run>>(
          entry.row(name(entry.parameters), content), runners, test,
          test.in.bytes + test.out.bytes + map_bytes * entry.pixels()));
      subjects.back().input_bytes = test.in.bytes;
    }
}

}  // namespace cudavision::bench
