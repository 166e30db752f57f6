// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/repack/repack.h"
#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {

struct StorageKind {
  std::string name;
  repack::StoredLayout (*make)(int width, int height);
};

/// The storages of video formats, and unusual storages that the contract allows, with names.
const std::vector<StorageKind>& storage_kinds();

/// Further storages that the contract allows. Random cases do not use them.
const std::vector<StorageKind>& unusual_storage_kinds();

repack::StoredLayout storage_named(const std::string& name, int width, int height);

struct RepackParameters {
  std::string storage = "RGB10A2";
  repack::UnpackedForm form = repack::UnpackedForm::channels;
  bool packs = false;  ///< true: packs; false: unpacks

  bool operator==(const RepackParameters&) const = default;
};

std::vector<RepackParameters> conversions_of(const std::vector<StorageKind>& kinds);

const std::vector<RepackParameters>& all_conversions();

class FrameRepack {
 public:
  FrameRepack(Device& device, const repack::StoredLayout& storage,
              const RepackParameters& parameters)
      : repack_(device, storage, parameters.form), packs_(parameters.packs) {}

  void run(const ConstFrame& in, const Frame& out) {
    if (packs_)
      repack_.pack(in, out);
    else
      repack_.unpack(in, out);
  }

 private:
  repack::Repack repack_;
  bool packs_;
};

struct RepackCase : FilterCase<RepackCase, FrameRepack, RepackParameters> {
  repack::StoredLayout storage() const {
    return storage_named(parameters.storage, layout.width, layout.height);
  }
  Operation make(Device& device, const Parameters& set) const { return {device, storage(), set}; }
  void define(const ConstFrame& from, const Frame& to) const;
  Parameters other_parameters() const { return parameters; }
};

RepackCase make_repack_case(std::uint64_t seed, int number, int max_pixels);

RepackCase plain_repack_case(int width, int height, const RepackParameters& parameters,
                             Content content, std::uint64_t seed);

std::string describe(const RepackCase& test);

}  // namespace cudavision::test
