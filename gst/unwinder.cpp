// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Lets exceptions work in programs that load the C++ library before GStreamer, such as a
// Python script that imports cv2 or torch first.
//
// After the cleanup for an exception, a function calls _Unwind_Resume(). Both libgcc_s and
// libunwind define it, and libgstreamer links libunwind. A C++ library that was loaded before
// GStreamer uses libgcc_s. This plug-in, loaded later, would call libunwind, which aborts on an
// exception of libgcc_s. The plug-in therefore defines its own _Unwind_Resume(), which calls the
// function that the C++ library uses. A statically linked libgcc would not help, because the C++
// library is shared.
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <cstring>

namespace {

using Resume = void (*)(_Unwind_Exception*);

/// Finds the strings, symbols and relocations of a loaded library, as the dynamic linker does.
struct DynamicSection {
  explicit DynamicSection(const link_map& library) {
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
      const auto is = [&](ElfW(Sxword) tag) { return entry->d_tag == tag; };
      // glibc replaces offsets by addresses on most architectures, but other C libraries do not.
      const ElfW(Addr) value = entry->d_un.d_ptr;
      const ElfW(Addr) address = value < library.l_addr ? library.l_addr + value : value;
      if (is(DT_STRTAB))
        strings = reinterpret_cast<const char*>(address);
      else if (is(DT_SYMTAB))
        symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      else if (is(DT_RELA))
        relocations[0] = reinterpret_cast<const ElfW(Rela)*>(address);
      else if (is(DT_RELASZ))
        counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
      else if (is(DT_JMPREL))
        relocations[1] = reinterpret_cast<const ElfW(Rela)*>(address);
      else if (is(DT_PLTRELSZ))
        counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
    }
  }

  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * relocations[2] = {};  ///< [0] DT_RELA, [1] DT_JMPREL (the PLT)
  std::size_t counts[2] = {};
};

/// Returns the address to which the library's calls of the function jump, or nullptr.
void* function_called_by(const link_map& library, const char* name) {
  const DynamicSection section(library);
  for (int table = 0; table < 2; ++table)
    for (std::size_t i = 0; i < section.counts[table]; ++i) {
      const ElfW(Rela)& relocation = section.relocations[table][i];
      const ElfW(Sym)& symbol = section.symbols[ELF64_R_SYM(relocation.r_info)];
      if (std::strcmp(section.strings + symbol.st_name, name) == 0)
        return *reinterpret_cast<void**>(library.l_addr + relocation.r_offset);
    }
  return nullptr;
}

/// Returns the _Unwind_Resume() that the library of __cxa_throw() calls, or the default symbol.
Resume find_resume() {
  constexpr const char* name = "_Unwind_Resume";
  Dl_info info;
  void* library = nullptr;
  void* function = nullptr;
  void* const thrower = reinterpret_cast<void*>(&abi::__cxa_throw);
  if (dladdr1(thrower, &info, &library, RTLD_DL_LINKMAP) != 0)
    function = function_called_by(*static_cast<const link_map*>(library), name);
  return reinterpret_cast<Resume>(function ? function : dlsym(RTLD_DEFAULT, name));
}

const Resume resume = find_resume();

}  // namespace

// plugin.map keeps this function local. `used`: calls appear only after link-time optimisation.
// `no_sanitize`: ThreadSanitizer would add a cleanup, which calls this function again.
extern "C" [[gnu::used, gnu::no_sanitize("thread")]] void _Unwind_Resume(
    _Unwind_Exception* exception) {
  resume(exception);
  __builtin_unreachable();
}
