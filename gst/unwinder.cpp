// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Lets exceptions work in programs that have loaded the C++ library before GStreamer, such as a
// Python that imports cv2 or torch first.
//
// Where a function of this plug-in has cleaned up after an exception, it calls _Unwind_Resume().
// Two libraries define that function: libgcc_s, and libunwind, with which libgstreamer is linked.
// A C++ library that was loaded before GStreamer uses libgcc_s. This plug-in, which is loaded
// later, would find libunwind, which cannot go on with what libgcc_s has begun and aborts the
// program. So the plug-in has a _Unwind_Resume() of its own, which goes on with the function that
// the C++ library uses, whichever it is. Linking libgcc statically would settle the choice for this
// plug-in, but the C++ library, which must agree with it, is the program's.
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <cstring>

namespace {

using Resume = void (*)(_Unwind_Exception*);

/// The tables of a loaded library that the dynamic linker reads.
struct DynamicSection {
  explicit DynamicSection(const link_map& library) {
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
      const auto is = [&](ElfW(Sxword) tag) { return entry->d_tag == tag; };
      // glibc has turned offsets into addresses on most architectures, other C libraries have not.
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
  /// Those of data, which include functions that were looked up at once, and those of calls.
  const ElfW(Rela) * relocations[2] = {};
  std::size_t counts[2] = {};
};

/// Returns the function that a library calls by a name, or nullptr if it calls none.
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

/// Returns what the library that throws exceptions uses.
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

// When the plug-in is loaded, before it can throw.
const Resume resume = find_resume();

}  // namespace

// The linker keeps this function within the plug-in, see plugin.map. Calls of it appear when link-
// time optimisation is over, too late to show that it is used. It must not clean up anything
// itself, as ThreadSanitizer would let it do, because that ends in a call of this function.
extern "C" [[gnu::used, gnu::no_sanitize("thread")]] void _Unwind_Resume(
    _Unwind_Exception* exception) {
  resume(exception);
  __builtin_unreachable();
}
