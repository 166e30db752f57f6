// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/integraldefinition.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace check {

namespace {

using Wide = unsigned __int128;

/// A number for each point of a rectangle.
template <class Number>
class Grid {
 public:
  Grid(int width, int height)
      : width_(width),
        numbers_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}
  Number& at(int x, int y) { return numbers_[index(x, y)]; }
  Number at(int x, int y) const { return numbers_[index(x, y)]; }
  int width() const { return width_; }
  int height() const { return static_cast<int>(numbers_.size()) / width_; }

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }

  int width_;
  std::vector<Number> numbers_;
};

using Samples = Grid<int>;
using Sums = Grid<std::uint64_t>;

Samples luminance_of(const Picture& picture) {
  const FormatSpec& format = *picture.format;
  Samples u(picture.width, picture.height);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x)
      u.at(x, y) = format.family != Family::rgb
                       ? std::min(picture.sample(0, x, y), format.peak())
                       : (299 * picture.sample(0, x, y) + 587 * picture.sample(1, x, y) +
                          114 * picture.sample(2, x, y)) /
                             1000;
  return u;
}

/// Σ of what lies left of X in row y; X from 0 to the width.
Sums sums_along_rows(const Samples& u, bool squared) {
  Sums sums(u.width() + 1, u.height());
  for (int y = 0; y < u.height(); ++y)
    for (int x = 0; x < u.width(); ++x) {
      const auto value = static_cast<std::uint64_t>(u.at(x, y));
      sums.at(x + 1, y) = sums.at(x, y) + (squared ? value * value : value);
    }
  return sums;
}

Sums table_of(const Samples& u, Output output) {
  const int width = u.width(), height = u.height();
  const Sums rows = sums_along_rows(u, output == Output::squared_sum);
  Sums table(width + 1, height + 1);
  if (output != Output::tilted_sum) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x <= width; ++x)
        table.at(x, y + 1) = table.at(x, y) + rows.at(x, y);
    return table;
  }
  // T(X, Y) = Σ over y < Y, |x − X + 1| ≤ Y − y − 1
  for (int Y = 0; Y <= height; ++Y)
    for (int X = 0; X <= width; ++X)
      for (int y = 0; y < Y; ++y) {
        const int reach = Y - y - 1;
        const int first = std::max(X - 1 - reach, 0), last = std::min(X - 1 + reach, width - 1);
        if (first <= last)
          table.at(X, Y) += rows.at(last + 1, y) - rows.at(first, y);
      }
  return table;
}

Sums without_zeros(const Sums& table) {
  Sums smaller(table.width() - 1, table.height() - 1);
  for (int y = 0; y < smaller.height(); ++y)
    for (int x = 0; x < smaller.width(); ++x)
      smaller.at(x, y) = table.at(x + 1, y + 1);
  return smaller;
}

Sums table_for(const Picture& picture, const Integral& how) {
  const Sums table = table_of(luminance_of(picture), how.output);
  return how.same_size ? without_zeros(table) : table;
}

ElementType type_for(const Picture& picture, const Integral& how) {
  if (how.type != ElementType::automatic)
    return how.type;
  const auto peak = static_cast<Wide>(picture.format->peak());
  const Wide most = (how.output == Output::squared_sum ? peak * peak : peak) *
                    static_cast<Wide>(picture.width) * static_cast<Wide>(picture.height);
  return most < Wide{1} << 32 ? ElementType::uint32 : ElementType::uint64;
}

template <class Element>
void append(std::vector<std::uint8_t>& bytes, std::uint64_t number) {
  const auto element = static_cast<Element>(number);
  const auto* first = reinterpret_cast<const std::uint8_t*>(&element);
  bytes.insert(bytes.end(), first, first + sizeof element);
}

std::uint64_t root_of(Wide number) {
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t tried = root | std::uint64_t{1} << bit;
    if (static_cast<Wide>(tried) * tried <= number)
      root = tried;
  }
  return root;
}

/// What surrounds a pixel.
struct Window {
  std::uint64_t area = 0, sum = 0, squares = 0;

  Wide variance() const {  // times area²
    return static_cast<Wide>(area) * squares - static_cast<Wide>(sum) * sum;
  }
};

Window window_around(const Sums& sums, const Sums& squares, int x, int y, int radius) {
  const int x0 = std::max(x - radius, 0), x1 = std::min(x + radius, sums.width() - 2) + 1;
  const int y0 = std::max(y - radius, 0), y1 = std::min(y + radius, sums.height() - 2) + 1;
  const auto box = [&](const Sums& table) {
    return table.at(x1, y1) - table.at(x0, y1) - table.at(x1, y0) + table.at(x0, y0);
  };
  return {static_cast<std::uint64_t>(x1 - x0) * static_cast<std::uint64_t>(y1 - y0), box(sums),
          box(squares)};
}

std::uint64_t mean_of(const Window& window) {
  return (2 * window.sum + window.area) / (2 * window.area);
}

std::uint64_t deviation_of(const Window& window) {
  const Wide variance = window.variance();
  const std::uint64_t r = root_of(variance);
  const std::uint64_t above = variance - static_cast<Wide>(r) * r > r ? 1 : 0;
  return (2 * r + above + window.area) / (2 * window.area);
}

bool is_black(const Window& window, int value, int bits, const Integral& how) {
  if (!how.sauvola) {
    const auto part = static_cast<std::uint64_t>(65536 - std::nearbyint(how.ratio * 65536));
    return static_cast<Wide>(value) * window.area * 65536 < static_cast<Wide>(window.sum) * part;
  }
  // volatile: each operation is to be rounded to binary64, whatever the compiler would prefer.
  const double range = how.range == 0 ? 1 << (bits - 1) : how.range;
  const auto n = static_cast<double>(window.area);
  volatile double root = std::sqrt(static_cast<double>(window.variance()));
  volatile double deviation = root / n;
  volatile double mean = static_cast<double>(window.sum) / n;
  volatile double quotient = deviation / range;
  volatile double less = quotient - 1;
  volatile double product = how.k * less;
  volatile double factor = 1 + product;
  volatile double threshold = mean * factor;
  return value < threshold;
}

/// The picture of a table: v_max is white.
Picture picture_of(const Sums& table, const FormatSpec& format) {
  std::uint64_t most = 0;
  for (int y = 0; y < table.height(); ++y)
    for (int x = 0; x < table.width(); ++x)
      most = std::max(most, table.at(x, y));
  int shift = 0;
  while (most >> shift >= std::uint64_t{1} << 32)
    ++shift;
  const std::uint64_t top = most >> shift;
  Picture picture(format, table.width(), table.height());
  for (int y = 0; y < table.height(); ++y)
    for (int x = 0; x < table.width(); ++x) {
      const std::uint64_t v = table.at(x, y) >> shift;
      const auto white = static_cast<std::uint64_t>(format.peak());
      picture.set_sample(0, x, y, top == 0 ? 0 : static_cast<int>((v * white + top / 2) / top));
    }
  return picture;
}

/* Non-local means */

int reflected(int index, int count) {
  while (count > 1 && (index < 0 || index >= count))
    index = index < 0 ? -index : 2 * count - 2 - index;
  return count > 1 ? index : 0;
}

/// weight[i] for each i from 0 on, as far as they are not 0.
std::vector<std::int64_t> weights(const Integral& how, int channels, int q) {
  const std::int64_t most = ((std::int64_t{1} << 31) - 1) / (how.search * how.search * 255);
  const double f = static_cast<double>(1 << q) / (how.patch * how.patch);
  const auto h = static_cast<float>(how.strength);
  volatile float squared = h * h;
  volatile float divisor = squared * static_cast<float>(channels);
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0;; ++i) {
    volatile double distance = static_cast<double>(i) * f;
    volatile double exponent = -distance / static_cast<double>(divisor);
    const auto weight =
        static_cast<std::int64_t>(std::nearbyint(static_cast<double>(most) * std::exp(exponent)));
    if (static_cast<double>(weight) < 0.001 * static_cast<double>(most))
      return list;
    list.push_back(weight);
  }
}

/// Denoises channels of one size together.
std::vector<Samples> denoised_together(const std::vector<Samples>& in, int bits,
                                       const Integral& how) {
  const int width = in[0].width(), height = in[0].height();
  int q = 0;
  while (1 << q < how.patch * how.patch)
    ++q;
  const std::vector<std::int64_t> weight = weights(how, static_cast<int>(in.size()), q);
  const int far = how.search / 2, near = how.patch / 2;

  // Everything mirrored as far as anything reaches.
  const int margin = far + near;
  std::vector<Samples> wide;
  for (const Samples& channel : in) {
    Samples extended(width + 2 * margin, height + 2 * margin);
    for (int y = 0; y < extended.height(); ++y)
      for (int x = 0; x < extended.width(); ++x)
        extended.at(x, y) = channel.at(reflected(x - margin, width), reflected(y - margin, height));
    wide.push_back(std::move(extended));
  }

  std::vector<Samples> out = in;
  std::vector<std::int64_t> sums(in.size());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::fill(sums.begin(), sums.end(), 0);
      std::int64_t total = 0;
      for (int dy = -far; dy <= far; ++dy)
        for (int dx = -far; dx <= far; ++dx) {
          std::int64_t distance = 0;
          for (const Samples& channel : wide)
            for (int ty = -near; ty <= near; ++ty)
              for (int tx = -near; tx <= near; ++tx) {
                const int at_x = x + tx + margin, at_y = y + ty + margin;
                const std::int64_t difference =
                    channel.at(at_x, at_y) - channel.at(at_x + dx, at_y + dy);
                distance += difference * difference;
              }
          const auto index = static_cast<std::size_t>(distance >> (q + 2 * (bits - 8)));
          if (index >= weight.size())
            continue;
          total += weight[index];
          for (std::size_t c = 0; c < wide.size(); ++c)
            sums[c] += weight[index] * wide[c].at(x + dx + margin, y + dy + margin);
        }
      for (std::size_t c = 0; c < wide.size(); ++c)
        out[c].at(x, y) = static_cast<int>((sums[c] + total / 2) / total);
    }
  return out;
}

void denoise_together(Picture& picture, const std::vector<Component>& parts, const Integral& how) {
  const int width = (picture.width + parts[0].pixels - 1) / parts[0].pixels;
  const int height = (picture.height + parts[0].lines - 1) / parts[0].lines;
  std::vector<Samples> samples;
  for (const Component& part : parts) {
    Samples channel(width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        channel.at(x, y) = std::min(picture.sample_at(part.place, x, y), picture.format->peak());
    samples.push_back(std::move(channel));
  }
  samples = denoised_together(samples, picture.format->bits, how);
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        picture.set_sample_at(parts[i].place, x, y, samples[i].at(x, y));
}

std::string number(double value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

}  // namespace

const char* nick_of(Output output) {
  constexpr const char* nicks[] = {"sum",    "squared-sum", "tilted-sum", "mean",
                                   "stddev", "threshold",   "denoise"};
  return nicks[static_cast<int>(output)];
}

const char* nick_of(ElementType type) {
  constexpr const char* nicks[] = {"auto", "uint32", "uint64", "float32", "float64"};
  return nicks[static_cast<int>(type)];
}

Properties Integral::properties() const {
  return {{"output", nick_of(output)},
          {"table-layout", same_size ? "same-size" : "padded"},
          {"element-type", nick_of(type)},
          {"radius", std::to_string(radius)},
          {"threshold-method", sauvola ? "sauvola" : "bradley"},
          {"threshold-ratio", number(ratio)},
          {"threshold-k", number(k)},
          {"threshold-range", number(range)},
          {"search-size", std::to_string(search)},
          {"patch-size", std::to_string(patch)},
          {"denoise-strength", number(strength)}};
}

std::string Integral::description() const {
  std::string text;
  for (const Property& property : properties())
    text += text_of(property) + " ";
  return text;
}

void apply(FilterHarness& filter, const Integral& how) {
  for (const Property& property : how.properties())
    filter.set(property);
}

std::string Tensor::caps(const std::string& framerate) const {
  return "other/tensors, format=(string)static, num_tensors=(int)1, dimensions=(string)1:" +
         std::to_string(columns) + ":" + std::to_string(rows) + ":1, types=(string)" + type +
         ", framerate=(fraction)" + framerate;
}

Tensor tensor_of(const Picture& picture, const Integral& how) {
  const Sums table = table_for(picture, how);
  const ElementType type = type_for(picture, how);
  Tensor tensor;
  tensor.columns = table.width();
  tensor.rows = table.height();
  tensor.type = nick_of(type);
  for (int y = 0; y < table.height(); ++y)
    for (int x = 0; x < table.width(); ++x) {
      const std::uint64_t sum = table.at(x, y);
      if (type == ElementType::uint32)
        append<std::uint32_t>(tensor.bytes, sum);
      else if (type == ElementType::uint64)
        append<std::uint64_t>(tensor.bytes, sum);
      else if (type == ElementType::float32)
        append<float>(tensor.bytes, sum);
      else
        append<double>(tensor.bytes, sum);
    }
  return tensor;
}

void expect_tensor(GstBuffer* buffer, const GstCaps* caps, const Tensor& expected,
                   const std::string& what, const std::string& framerate) {
  GstCaps* right = gst_caps_from_string(expected.caps(framerate).c_str());
  fail_unless(gst_caps_is_equal(caps, right), "%s: %" GST_PTR_FORMAT " instead of %" GST_PTR_FORMAT,
              what.c_str(), caps, right);
  gst_caps_unref(right);
  fail_unless(gst_buffer_get_video_meta(buffer) == nullptr, "%s: a tensor with a GstVideoMeta",
              what.c_str());
  const std::vector<std::uint8_t> bytes = bytes_of(buffer);
  fail_unless(bytes.size() == expected.bytes.size(), "%s: %d bytes instead of %d", what.c_str(),
              static_cast<int>(bytes.size()), static_cast<int>(expected.bytes.size()));
  const auto [got, want] = std::mismatch(bytes.begin(), bytes.end(), expected.bytes.begin());
  if (got == bytes.end())
    return;
  const auto size = static_cast<std::ptrdiff_t>(bytes.size()) / expected.columns / expected.rows;
  const auto element = static_cast<int>((got - bytes.begin()) / size);
  fail("%s: element %d,%d is another one (byte %d instead of %d)", what.c_str(),
       element % expected.columns, element / expected.columns, *got, *want);
}

void expect_tensor(FilterHarness& filter, const Picture& picture, const Integral& how,
                   const Layout& layout) {
  GstBuffer* in = to_buffer(picture, layout);
  const std::vector<std::uint8_t> before = bytes_of(in);
  GstBuffer* out = filter.process(gst_buffer_ref(in));
  fail_unless(bytes_of(in) == before, "the element wrote to its input");
  gst_buffer_unref(in);
  GstCaps* caps = gst_pad_get_current_caps(filter.sink_pad());
  expect_tensor(out, caps, tensor_of(picture, how),
                std::string(picture.format->name) + " " + std::to_string(picture.width) + "x" +
                    std::to_string(picture.height) + ", " + how.description());
  gst_caps_unref(caps);
  gst_buffer_unref(out);
  fail_unless(filter.pull() == nullptr, "one frame went in and two came out");
}

void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Integral& how,
                         const FormatSpec& format, const Layout& layout) {
  GstBuffer* in = to_buffer(picture, layout);
  const std::vector<std::uint8_t> before = bytes_of(in);
  GstBuffer* out = filter.process(gst_buffer_ref(in));
  fail_unless(bytes_of(in) == before, "the element wrote to its input");
  gst_buffer_unref(in);
  const Picture expected = gray_picture_of(picture, how, format);
  GstVideoInfo info;
  GstCaps* caps = gst_pad_get_current_caps(filter.sink_pad());
  fail_unless(gst_video_info_from_caps(&info, caps) &&
                  std::strcmp(info.finfo->name, format.name) == 0 && info.width == expected.width &&
                  info.height == expected.height,
              "%" GST_PTR_FORMAT " instead of %s %dx%d", caps, format.name, expected.width,
              expected.height);
  gst_caps_unref(caps);
  expect_picture(from_buffer(out, format, expected.width, expected.height), expected,
                 std::string("of ") + picture.format->name + ", " + how.description());
  gst_buffer_unref(out);
  fail_unless(filter.pull() == nullptr, "one frame went in and two came out");
}

const FormatSpec& natural_format(const Picture& picture, Output output) {
  const bool levels = output == Output::mean || output == Output::stddev;
  return format_named(levels && picture.format->bits > 8 ? "GRAY16_LE" : "GRAY8");
}

Picture gray_picture_of(const Picture& picture, const Integral& how, const FormatSpec& format) {
  if (is_table(how.output))
    return picture_of(table_for(picture, how), format);
  const Samples u = luminance_of(picture);
  const Sums sums = table_of(u, Output::sum), squares = table_of(u, Output::squared_sum);
  const int to_the_top = format.bits - picture.format->bits;
  Picture out(format, picture.width, picture.height);
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x) {
      const Window window = window_around(sums, squares, x, y, how.radius);
      int value = 0;
      if (how.output == Output::mean)
        value = static_cast<int>(mean_of(window)) << to_the_top;
      else if (how.output == Output::stddev)
        value = static_cast<int>(deviation_of(window)) << to_the_top;
      else
        value = is_black(window, u.at(x, y), picture.format->bits, how) ? 0 : format.peak();
      out.set_sample(0, x, y, value);
    }
  return out;
}

Picture denoised(const Picture& picture, const Integral& how) {
  Picture out = picture;
  if (how.strength == 0 || how.search == 1)
    return out;
  const FormatSpec& format = *picture.format;
  std::vector<Component> together;
  for (const Place& place : format.places)
    together.push_back({place});
  denoise_together(out, together, how);
  if (format.family == Family::yuv)  // what others an RGB format has is alpha
    for (const Component& chroma : format.others)
      denoise_together(out, {chroma}, how);
  return out;
}

}  // namespace check
