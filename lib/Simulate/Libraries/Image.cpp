// See Image.h.
#include "Image.h"

#include "Device.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <regex>

namespace xlc::simulate {
namespace {

/// Bytes of a parameter's type: "u64", "b8" with a count, "u32".
uint64_t bytesOf(const std::string &bits, const std::string &count) {
  return std::stoull(bits) / 8 * (count.empty() ? 1 : std::stoull(count));
}

/// What a function of this library needs of the image: the driver is opened for the program alone, images look for the
/// names of the grid among everybody's.
void showOwnNames() {
  Dl_info self;
  if (!dladdr((void *)&showOwnNames, &self) || !dlopen(self.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD))
    endWith("an image cannot find the simulated driver");
}

} // namespace

std::map<std::string, SimulatedKernel> readEntries(std::string_view ptx) {
  std::map<std::string, SimulatedKernel> kernels;
  static const std::regex entry(R"(\.entry (\w+)\(([^)]*)\)\s*(?:\.reqntid (\d+))?)");
  static const std::regex parameter(R"(\.param (?:\.align \d+ )?\.[a-z](\d+)[^,\[]*(?:\[(\d+)\])?)");
  std::string text(ptx);
  for (std::sregex_iterator found(text.begin(), text.end(), entry), end; found != end; ++found) {
    SimulatedKernel kernel{(*found)[1], nullptr, {}, (*found)[3].matched ? std::stoull((*found)[3]) : 0};
    std::string list = (*found)[2];
    for (std::sregex_iterator each(list.begin(), list.end(), parameter); each != end; ++each)
      kernel.parameters.push_back(bytesOf((*each)[1], (*each)[2]));
    kernels[kernel.name] = std::move(kernel);
  }
  return kernels;
}

Image::Image(const char *ptx) : kernels(readEntries(ptx)) {
  const char *path = getenv("XLC_SIMULATE_IMAGE");
  if (!path)
    endWith("XLC_SIMULATE_IMAGE does not name an image of the kernels (xlc compile --simulator-image)");
  showOwnNames();
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    endWith(std::string("the image cannot be opened: ") + dlerror());
  auto *digest = (const uint64_t *)dlsym(library, kDigestName);
  if (!digest || *digest != XXH3_64bits(ptx, std::strlen(ptx)))
    endWith(std::string("'") + path + "' is an image of another program");
  for (const auto *each = (const Operand *)dlsym(library, kConstantsName); each && each->begin; ++each)
    ownConstants.push_back(*each);
}

Image::~Image() {
  if (library)
    dlclose(library);
}

SimulatedKernel *Image::find(const std::string &name) {
  auto found = kernels.find(name);
  if (found == kernels.end())
    return nullptr;
  found->second.image = this;
  found->second.code = (Kernel)dlsym(library, name.c_str());
  if (!found->second.code)
    endWith("the image has no '" + name + "' of its PTX");
  return &found->second;
}

} // namespace xlc::simulate
