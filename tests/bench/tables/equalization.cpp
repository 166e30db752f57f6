// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/subject.h"
#include "tests/kernels/chroma/chroma_case.h"
#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/histequalize/histequalize_case.h"

namespace cudavision::bench {
namespace {

using test::HistEqualizeCase;

struct Method {
  const char* name;
  bool each, smoothed;
};
constexpr Method plain{"equalise", false, false}, each{"equalise each", true, false},
    smoothed{"equalise with smoothing", false, true},
    smoothed_each{"equalise each with smoothing", true, true};

constexpr Entry<Method> equalizations[] = {
    {"GRAY8", vga, plain, both, 3.5, cuda},
    {"GRAY8", hd, plain, all, 4.5, both},
    {"GRAY8", uhd, plain, both, 7.5, cuda},
    {"GRAY8", uhd8, plain, cuda, 32, cuda},
    {"GRAY16", hd, plain, cpu},
    {"GRAY16", uhd, plain, cuda, 25, cuda},
    {"NV12", hd, plain, both},
    {"NV12", uhd, plain, cuda},
    {"P010", uhd, plain, cuda},
    {"YUY2", hd, plain, both},
    {"RGB", hd, plain, both},
    {"RGBx", hd, plain, both},
    {"RGBx", uhd, plain, both},
    {"RGBx", uhd, each, cuda},
    {"GRAY8", vga, smoothed, both},
    {"GRAY8", hd, smoothed, both},
    {"GRAY8", uhd, smoothed, both},
    {"GRAY16", uhd, smoothed, cuda},
    {"NV12", uhd, smoothed, cuda},
    {"RGBx", uhd, smoothed, both},
    {"RGBx", uhd, smoothed_each, cuda},
};

HistEqualizeCase equalize_case(const FrameLayout& layout, const Method& method, Content content,
                               std::uint64_t seed) {
  HistEqualizeCase test = test::plain_histequalize_case(layout, content, seed);
  if (method.each)
    test.parameters.channels = histequalize::Parameters::Channels::each;
  if (method.smoothed)
    test.smoothing = {2570, 16384};  // a time constant of 1 s at 25 frames/s
  return test;
}

struct Equalize {
  Equalize(Device& device, const HistEqualizeCase& test)
      : frames(device, test), equalize(device, test.layout, test.parameters) {}
  void run() { equalize.run(frames.in, frames.out, {}, frames.test.smoothing); }

  const test::HistEqualizeFrames frames;
  histequalize::HistogramEqualize equalize;
};

constexpr Entry<const char*> histograms[] = {
    {"GRAY8", hd, "histogram", cpu},
    {"GRAY16", hd, "histogram", cpu},
    {"RGBx", hd, "histogram", cpu},
    {"RGBx", hd, "luminance histogram", cuda, 5, cuda},
    {"RGBx", uhd, "luminance histogram", cuda, 10, cuda},
    {"RGBx", uhd8, "luminance histogram", cuda, 38, cuda},
};

struct Count {
  Count(Device& device, const HistEqualizeCase& test)
      : frames(device, test), histogram(device, test.layout) {}
  void run() { histogram.run(frames.in, frames.bins); }

  const test::HistEqualizeFrames frames;
  histequalize::Histogram histogram;
};

constexpr Entry<const char*> chromas[] = {
    {"NV12", hd, "scale chroma", both},
    {"NV12", uhd, "scale chroma", cuda, 4.6},
    {"P010", uhd, "scale chroma", cuda},
    {"I420", uhd, "scale chroma", cuda},
};

struct ScaleChroma {
  ScaleChroma(Device& device, const test::ChromaCase& test)
      : frames(device, test), scale(device, test.layout, test.parameters) {}
  void run() { scale.run(frames.in, frames.out); }

  const test::ChromaCase::Frames frames;
  chroma::ChromaScale scale;
};

constexpr Entry<clahe::Tiles> clahes[] = {
    {"GRAY8", vga, {8, 8}, all, 5, cuda},  {"GRAY8", hd, {8, 8}, all, 7, cuda},
    {"GRAY8", uhd, {8, 8}, all, 13, cuda}, {"GRAY8", uhd8, {8, 8}, all, 42, cuda},
    {"GRAY8", uhd, {1, 1}, all, 12},       {"GRAY8", uhd, {64, 64}, all, 24},
    {"GRAY16", hd, {8, 8}, all, 40, cuda}, {"GRAY16", uhd, {8, 8}, all, 110},
    {"NV12", uhd, {8, 8}, both},           {"RGBx", uhd, {8, 8}, both},
};

}  // namespace

void add_equalization(Subjects& subjects) {
  add_table<Equalize>(
      subjects, equalizations, [](const Method& method) { return method.name; }, equalize_case);
  add_table<Count>(
      subjects, histograms, [](const char* name) { return name; },
      [](const FrameLayout& layout, const char*, Content content, std::uint64_t seed) {
        return test::plain_histequalize_case(layout, content, seed);
      });
  add_table<ScaleChroma>(
      subjects, chromas, [](const char* name) { return name; },
      [](const FrameLayout& layout, const char*, Content content, std::uint64_t seed) {
        return test::plain_chroma_case(layout, {true}, content, seed);
      });
  for (Subject& subject : subjects) {
    subject.names_content = true;
    if (subject.row.operation == "luminance histogram" && subject.row.content != "natural")
      subject.row.required = 0;
  }
}

void add_clahe(Subjects& subjects) {
  add_table(
      subjects, clahes,
      [](const clahe::Tiles& tiles) {
        return "clahe " + std::to_string(tiles.columns) + "x" + std::to_string(tiles.rows);
      },
      [](const FrameLayout& layout, const clahe::Tiles& tiles, Content content,
         std::uint64_t seed) { return test::plain_clahe_case(layout, tiles, 2, content, seed); });
}

}  // namespace cudavision::bench
