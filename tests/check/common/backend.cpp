// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/backend.h"

#include <dlfcn.h>
#include <gst/gst.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check/common/anyelement.h"
#include "tests/check/common/owned.h"

namespace check {

std::string test_backend() {
  const char* name = g_getenv("CUDAVISION_TEST_BACKEND");
  return name != nullptr && *name != '\0' ? name : "cpu";
}

bool built_with_cuda() {
  const Owned<GstElementFactory> factory(gst_element_factory_find(any_element().c_str()));
  if (factory == nullptr)  // tests report this; assertions do not work outside tests
    return false;
  bool named = false;
  for (const GList* l = gst_element_factory_get_static_pad_templates(factory); l; l = l->next) {
    const auto* pad = static_cast<const GstStaticPadTemplate*>(l->data);
    const Owned<GstCaps> caps(gst_static_caps_get(const_cast<GstStaticCaps*>(&pad->static_caps)));
    for (guint i = 0; i < gst_caps_get_size(caps); ++i)
      named |= gst_caps_features_contains(gst_caps_get_features(caps, i), "memory:CUDAMemory");
  }
  return named;
}

int gpus_in_machine() {
  const pid_t child = fork();
  if (child == 0) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    using Init = int (*)(unsigned);
    using Count = int (*)(int*);
    const auto init = driver ? reinterpret_cast<Init>(dlsym(driver, "cuInit")) : nullptr;
    const auto count =
        driver ? reinterpret_cast<Count>(dlsym(driver, "cuDeviceGetCount")) : nullptr;
    int cards = 0;
    const bool found = init && count && init(0) == 0 && count(&cards) == 0;
    _exit(found ? cards : 0);
  }
  int status = 0;
  const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  return ended ? WEXITSTATUS(status) : 0;
}

std::string unless_testing_cuda() {
  return testing_cuda() ? "" : "needs a GPU (run with CUDAVISION_TEST_BACKEND=cuda)";
}

std::string unless_testing_two_gpus() {
  const std::string reason = unless_testing_cuda();
  return reason.empty() && gpus_in_machine() < 2 ? "needs two GPUs" : reason;
}

std::string unless_without_gpu() {
  return built_with_cuda() && machine_has_gpu() ? "this machine has a GPU" : "";
}

std::string unless_with_gpu() {
  if (!built_with_cuda())
    return "the plug-in was built without CUDA";
  return machine_has_gpu() ? "" : "this machine has no GPU";
}

std::string unless_sanitized() {
#if defined(CUDAVISION_TEST_SANITIZED) || defined(__SANITIZE_THREAD__)
  return "a sanitizer keeps freed memory";
#else
  return "";
#endif
}

std::string unless_elements(const std::vector<const char*>& factories) {
  for (const char* name : factories) {
    const Owned<GstElementFactory> factory(gst_element_factory_find(name));
    if (factory == nullptr)
      return std::string("the element ") + name + " is not installed";
  }
  return "";
}

std::string unless_cuda_elements() {
  const std::string reason = unless_testing_cuda();
  return reason.empty() ? unless_elements({"cudaupload", "cudadownload"}) : reason;
}

}  // namespace check
