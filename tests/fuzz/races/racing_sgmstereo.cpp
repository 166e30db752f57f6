// SPDX-License-Identifier: LGPL-2.1-or-later
// Lets several threads use cudasgmstereo and request and release its pads; see race.h.
#include <thread>

#include "tests/check/common/filterharness.h"
#include "tests/fuzz/races/race.h"

using namespace check;

namespace {

// Returns nullptr if the pad exists. Passes no name, as GStreamer forbids names of existing pads.
GstPad* request_pad(GstElement* element, const char* name) {
  return gst_element_request_pad(element, gst_element_get_pad_template(element, name), nullptr,
                                 nullptr);
}

class RequestedPad {
 public:
  RequestedPad(GstElement* element, GstPad* pad)
      : element_(GST_ELEMENT(gst_object_ref(element))), pad_(pad) {}
  ~RequestedPad() { release(); }

  GstPad* pad() const { return pad_; }
  void release() {
    if (!released_.exchange(true))
      gst_element_release_request_pad(element_, pad_);
  }

 private:
  const Owned<GstElement> element_;
  const Owned<GstPad> pad_;
  std::atomic<bool> released_{false};
};

class StereoRace final : public fuzz::Race {
 public:
  StereoRace(unsigned seed, BufferCount& buffers)
      : Race(seed, buffers, make_element("cudasgmstereo"), {"sink_left", "sink_right"}) {}

 private:
  struct Requester {
    explicit Requester(StereoRace& its_race) : race(its_race), random(its_race.new_random()) {}
    void run();
    void request();
    void release();
    void unlink();
    void wait() { g_usleep(static_cast<gulong>(random.below(1000))); }

    StereoRace& race;
    Random random;
    std::shared_ptr<RequestedPad> pad;
    std::unique_ptr<fuzz::Downstream> downstream;
    std::thread thread;
  };

  // The pushing thread must not stop or flush GstAggregator, because it would wait for itself.
  void act_downstream(Random& random) override {
    static const fuzz::Action<StereoRace, bool> exclusive[] = {
        {"pause and go on in the thread that pushes", 2, &StereoRace::pause},
        {"relink in the thread that pushes", 2, &StereoRace::relink_here}};
    static const fuzz::Action<StereoRace> others[] = {
        {"ask for a restart in the thread that pushes", 2, &StereoRace::restart_elsewhere},
        {"ask for a seek with a flush in the thread that pushes", 4, &StereoRace::seek_elsewhere},
        {"set a property in the thread that pushes", 1, &StereoRace::change_property},
        {"query in the thread that pushes", 1, &StereoRace::query},
        {"seek without a flush in the thread that pushes", 1, &StereoRace::plain_seek}};
    if (random.below(2) != 0)
      return;
    random.below(3) == 0 ? act(*this, random, exclusive) : act(*this, random, others);
  }

  void set_good_properties() override {
    Race::set_good_properties();
    set_property(element(), "focal-length", "300");
    set_property(element(), "baseline", "80");
  }

  void round_begins() override {
    pads_change_ = true;
    for (auto& requester : requesters_) {
      requester = std::make_unique<Requester>(*this);
      requester->thread = std::thread([&each = *requester] { each.run(); });
    }
  }

  void round_ends() override {
    pads_change_ = false;
    for (auto& requester : requesters_) {
      requester->thread.join();
      requester.reset();
    }
    for (const char* name : pad_names)
      expect_requestable(name);
  }

  void expect_requestable(const char* name) {
    const Owned<GstPad> pad(request_pad(element(), name));
    fail_unless(pad != nullptr, "episode %u: %s is not in use, but cannot be requested", seed(),
                name);
    gst_element_release_request_pad(element(), pad);
  }

  static constexpr const char* pad_names[] = {"depth", "confidence", "rectified", "points"};

  std::atomic<bool> pads_change_{false};
  std::unique_ptr<Requester> requesters_[2];
};

void StereoRace::Requester::run() {
  static const fuzz::Action<Requester> actions[] = {
      {"request a pad", 4, &Requester::request},
      {"release a pad", 2, &Requester::release},
      {"unlink a requested pad", 1, &Requester::unlink},
      {"wait between requests", 4, &Requester::wait}};
  while (race.pads_change_)
    act(*this, random, actions);
  release();
}

void StereoRace::Requester::request() {
  release();
  GstPad* requested = request_pad(race.element(), random.one_of(pad_names));
  if (requested == nullptr)
    return;  // another thread uses it
  pad = std::make_shared<RequestedPad>(race.element(), requested);
  const auto on_frame = [&owner = race, shared = pad] {
    const auto acts = [&](Random& draws) {
      fuzz::count_action("release a pad in the thread that pushes", 0);
      if (draws.below(4) == 0) {
        shared->release();
        fuzz::count_action("release a pad in the thread that pushes");
      } else {
        owner.act_downstream(draws);
      }
    };
    return owner.frame_leaves(acts);
  };
  downstream = std::make_unique<fuzz::Downstream>(pad->pad(), random.below(4) != 0, on_frame);
}

void StereoRace::Requester::release() {
  if (pad != nullptr && random.below(2) == 0)
    pad->release();  // still linked
  downstream.reset();
  if (pad != nullptr)
    pad->release();
  pad.reset();
}

void StereoRace::Requester::unlink() {
  if (downstream != nullptr)
    downstream->unlink();
}

}  // namespace

TEST(racing_sgmstereo) {
  // Ignores a harmless warning. A restart drops the sticky events, and a segment may then precede
  // the caps, which are sent again with the next buffer.
  gst_check_add_log_filter(
      "GStreamer", G_LOG_LEVEL_WARNING,
      g_regex_new("Sticky event misordering", GRegexCompileFlags{}, GRegexMatchFlags{}, nullptr),
      nullptr, nullptr, nullptr);
  fuzz::run_episodes<StereoRace>();
}
