// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/blurdefinition.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace check {

namespace {

using Coefficients = std::vector<std::int64_t>;  // from the first tap to the last; odd in number

/// The Gaussian before quantisation.
std::vector<double> weights(int size, double sigma) {
  if (sigma == 0 && size <= 9) {
    static const std::vector<double> tables[] = {
        {1},
        {0.25, 0.5, 0.25},
        {1. / 16, 4. / 16, 6. / 16, 4. / 16, 1. / 16},
        {1. / 32, 3.5 / 32, 7. / 32, 9. / 32, 7. / 32, 3.5 / 32, 1. / 32},
        {4. / 256, 13. / 256, 30. / 256, 51. / 256, 60. / 256, 51. / 256, 30. / 256, 13. / 256,
         4. / 256}};
    return tables[size / 2];
  }
  if (sigma == 0)
    sigma = 0.15 * size + 0.35;
  std::vector<double> all;
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    const double distance = i - size / 2;
    all.push_back(std::exp(-distance * distance / (2 * sigma * sigma)));
    sum += all.back();
  }
  for (double& weight : all)
    weight /= sum;
  return all;
}

Coefficients quantised(const std::vector<double>& all, int fraction_bits) {
  const std::int64_t one = std::int64_t{1} << fraction_bits;
  const std::size_t last = all.size() - 1, middle = last / 2;
  Coefficients result(all.size());
  double error = 0;
  std::int64_t outside = 0;
  for (std::size_t i = 0; i < middle; ++i) {
    const double wanted = all[i] * static_cast<double>(one) + error;
    result[i] = result[last - i] = static_cast<std::int64_t>(std::nearbyint(wanted));
    error = wanted - static_cast<double>(result[i]);
    outside += 2 * result[i];
  }
  result[middle] = one - outside;
  return result;
}

int odd(double size) {
  return static_cast<int>(std::lround(size)) | 1;
}

/// One axis of a component that has a sample for every `pixels` pixels.
Coefficients axis(double sigma, int size, int pixels, int sample_bits, int fraction_bits) {
  if (size == 0 && sigma == 0)
    size = 1;
  if (size == 0)
    size = std::min(odd(sigma * (sample_bits == 8 ? 6 : 8) + 1), 1023);
  if (pixels > 1)
    size = odd((size - 1.0) / pixels);
  return quantised(weights(size, sigma / pixels), fraction_bits);
}

bool changes_nothing(const Coefficients& taps) {
  return std::count(taps.begin(), taps.end(), 0) == static_cast<std::ptrdiff_t>(taps.size()) - 1;
}

/// Where in 0 … count − 1 the sample of an index outside comes from; −1: nowhere.
int source(int index, int count, Edge edge) {
  while (index < 0 || index >= count) {
    const bool before = index < 0;
    switch (edge) {
      case Edge::constant:
        return -1;
      case Edge::replicate:
        return before ? 0 : count - 1;
      case Edge::wrap:
        index += before ? count : -count;
        break;
      case Edge::reflect:
        index = before ? -index - 1 : 2 * count - 1 - index;
        break;
      case Edge::reflect_101:
        if (count == 1)
          return 0;
        index = before ? -index : 2 * count - 2 - index;
        break;
    }
  }
  return index;
}

/// Rows of samples, or of sums over them.
template <class Value>
using Rows = std::vector<std::vector<Value>>;

/// Σ taps·samples along the rows.
Rows<std::int64_t> along_rows(const Rows<int>& rows, const Coefficients& taps, Edge edge,
                              int constant) {
  const int width = static_cast<int>(rows[0].size());
  const int radius = static_cast<int>(taps.size()) / 2;
  Rows<std::int64_t> sums;
  std::vector<std::int64_t> extended(static_cast<std::size_t>(width + 2 * radius));
  for (const std::vector<int>& row : rows) {
    for (int x = -radius; x < width + radius; ++x) {
      const int from = source(x, width, edge);
      extended[static_cast<std::size_t>(x + radius)] =
          from < 0 ? constant : row[static_cast<std::size_t>(from)];
    }
    std::vector<std::int64_t> sum(row.size());
    for (std::size_t tap = 0; tap < taps.size(); ++tap)
      for (std::size_t x = 0; x < sum.size(); ++x)
        sum[x] += taps[tap] * extended[x + tap];
    sums.push_back(std::move(sum));
  }
  return sums;
}

/// Σ taps·sums across the rows; a row of the constant border has the sum `constant` everywhere.
Rows<std::int64_t> across_rows(const Rows<std::int64_t>& rows, const Coefficients& taps, Edge edge,
                               std::int64_t constant) {
  const int height = static_cast<int>(rows.size());
  const int radius = static_cast<int>(taps.size()) / 2;
  const std::vector<std::int64_t> beyond(rows[0].size(), constant);
  Rows<std::int64_t> sums;
  for (int y = 0; y < height; ++y) {
    std::vector<std::int64_t> sum(beyond.size());
    for (int i = -radius; i <= radius; ++i) {
      const std::int64_t tap = taps[static_cast<std::size_t>(i + radius)];
      const int from = source(y + i, height, edge);
      const std::vector<std::int64_t>& row =
          from < 0 ? beyond : rows[static_cast<std::size_t>(from)];
      if (tap != 0)
        for (std::size_t x = 0; x < sum.size(); ++x)
          sum[x] += tap * row[x];
    }
    sums.push_back(std::move(sum));
  }
  return sums;
}

/// What a component is: what the border colour means to it.
enum class Meaning { luma, u, v, red, green, blue, alpha };

struct Part {
  Component component;
  Meaning meaning;
};

std::vector<Part> parts_of(const FormatSpec& format) {
  std::vector<Part> parts;
  if (format.family == Family::rgb) {
    const Meaning colours[] = {Meaning::red, Meaning::green, Meaning::blue};
    for (std::size_t i = 0; i < 3; ++i)
      parts.push_back({{format.places[i]}, colours[i]});
    for (const Component& alpha : format.others)
      parts.push_back({alpha, Meaning::alpha});
  } else {
    parts.push_back({{format.places[0]}, Meaning::luma});
    for (std::size_t i = 0; i < format.others.size(); ++i)
      parts.push_back({format.others[i], i == 0 ? Meaning::u : Meaning::v});
  }
  return parts;
}

int border_sample(const Blur& how, const FormatSpec& format, Meaning meaning) {
  const auto byte = [&](int shift) {
    return static_cast<long double>(how.color >> shift & 0xff) / 255;
  };
  const long double r = byte(16), g = byte(8), b = byte(0);
  const long double kr = how.red, kb = how.blue;
  const long double y = kr * r + (1 - kr - kb) * g + kb * b;
  const long double peak = format.peak(), unit = 1 << (format.bits - 8);
  const long double low = how.limited ? 16 * unit : 0;
  const long double luma_span = how.limited ? 219 * unit : peak;
  const long double chroma_span = how.limited ? 224 * unit : peak;
  long double value = 0;
  switch (meaning) {
    case Meaning::luma:
      value = low + luma_span * y;
      break;
    case Meaning::u:
      value = 128 * unit + chroma_span * (b - y) / (2 * (1 - kb));
      break;
    case Meaning::v:
      value = 128 * unit + chroma_span * (r - y) / (2 * (1 - kr));
      break;
    case Meaning::red:
      value = peak * r;
      break;
    case Meaning::green:
      value = peak * g;
      break;
    case Meaning::blue:
      value = peak * b;
      break;
    case Meaning::alpha:
      value = peak * byte(24);
      break;
  }
  // Halves go up; what is a half in exact arithmetic may have come out a little below.
  const int rounded = static_cast<int>(std::floor(value + 0.5L + 1e-9L));
  return std::clamp(rounded, 0, format.peak());
}

struct Kernels {
  Coefficients x, y;
};

Kernels kernels_for(const Blur& how, const FormatSpec& format, const Component& component) {
  const double sigma = std::abs(how.sigma);
  const double sigma_y = how.sigma_y == 0 ? sigma : how.sigma_y;
  const int size_y = how.kernel_size_y == 0 && sigma_y == 0 ? how.kernel_size : how.kernel_size_y;
  const int fraction_bits = format.bits > 8 || how.fine ? 16 : 8;
  return {axis(sigma, how.kernel_size, component.pixels, format.bits, fraction_bits),
          axis(sigma_y, size_y, component.lines, format.bits, fraction_bits)};
}

/// Blurs every `rows`-th row from `first` on, as a picture of its own.
void blur_rows(Picture& picture, const Blur& how, const Part& part, const Kernels& kernels,
               int first, int rows) {
  const FormatSpec& format = *picture.format;
  const int width = (picture.width + part.component.pixels - 1) / part.component.pixels;
  const int height = (picture.height + part.component.lines - 1) / part.component.lines;
  Rows<int> samples;
  for (int y = first; y < height; y += rows) {
    std::vector<int> row;
    for (int x = 0; x < width; ++x)
      row.push_back(std::min(picture.sample_at(part.component.place, x, y), format.peak()));
    samples.push_back(std::move(row));
  }
  if (samples.empty())
    return;

  const int bits = format.bits > 8 || how.fine ? 16 : 8;
  const int border = border_sample(how, format, part.meaning);
  const Rows<std::int64_t> sums =
      across_rows(along_rows(samples, kernels.x, how.edge, border), kernels.y, how.edge,
                  static_cast<std::int64_t>(border) << bits);
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (int x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(x);
      int value = static_cast<int>((sums[i][at] + (std::int64_t{1} << (2 * bits - 1))) >> 2 * bits);
      if (how.sigma < 0)
        value = std::clamp(2 * samples[i][at] - value, 0, format.peak());
      picture.set_sample_at(part.component.place, x, first + rows * static_cast<int>(i), value);
    }
}

/// Whether there is nothing to blur along an axis of so many samples.
bool idle(const Coefficients& taps, int count, Edge edge) {
  return changes_nothing(taps) || (count == 1 && edge != Edge::constant);
}

bool leaves_as_it_is(const Picture& picture, const Blur& how) {
  for (const Part& part : parts_of(*picture.format)) {
    const Kernels kernels = kernels_for(how, *picture.format, part.component);
    const int width = (picture.width + part.component.pixels - 1) / part.component.pixels;
    int height = (picture.height + part.component.lines - 1) / part.component.lines;
    if (how.fields)
      height = (height + 1) / 2;
    const bool skipped = part.meaning == Meaning::alpha && !how.blur_alpha;
    if (!skipped && !(idle(kernels.x, width, how.edge) && idle(kernels.y, height, how.edge)))
      return false;
  }
  return true;
}

std::string number(double value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

}  // namespace

const char* nick_of(Edge edge) {
  constexpr const char* nicks[] = {"reflect-101", "replicate", "reflect", "wrap", "constant"};
  return nicks[static_cast<int>(edge)];
}

Properties Blur::properties() const {
  return {{"sigma", number(sigma)},
          {"sigma-y", number(sigma_y)},
          {"kernel-size", std::to_string(kernel_size)},
          {"kernel-size-y", std::to_string(kernel_size_y)},
          {"border", nick_of(edge)},
          {"border-color", std::to_string(color)},
          {"blur-alpha", blur_alpha ? "true" : "false"},
          {"fine", fine ? "true" : "false"}};
}

std::string Blur::description() const {
  std::string text;
  for (const Property& property : properties())
    text += std::string(property.first) + "=" + property.second + " ";
  return text + (fields ? "interlaced" : "progressive") + (limited ? " limited" : " full");
}

void apply(FilterHarness& filter, const Blur& how) {
  for (const Property& property : how.properties())
    filter.set(property.first, property.second);
}

Picture blurred(const Picture& picture, const Blur& how) {
  Picture out = picture;
  if (leaves_as_it_is(picture, how))
    return out;
  for (const Part& part : parts_of(*picture.format)) {
    if (part.meaning == Meaning::alpha && !how.blur_alpha)
      continue;
    const Kernels kernels = kernels_for(how, *picture.format, part.component);
    for (int field = 0; field < (how.fields ? 2 : 1); ++field)
      blur_rows(out, how, part, kernels, field, how.fields ? 2 : 1);
  }
  return out;
}

Picture with_valid_chroma(Picture picture) {
  const FormatSpec& format = *picture.format;
  for (const Component& component : format.others)
    for (int y = 0; y < (picture.height + component.lines - 1) / component.lines; ++y)
      for (int x = 0; x < (picture.width + component.pixels - 1) / component.pixels; ++x)
        picture.set_sample_at(component.place, x, y,
                              picture.sample_at(component.place, x, y) & format.peak());
  return picture;
}

}  // namespace check
