// A libcuda.so.1 that takes kernels and does nothing else. All other functions of a driver, which CMakeLists.txt lists from its header,
// are defined weakly beside these, and say that they are stubs.
#include <cstddef>

namespace {

constexpr int success = 0;
char something[4096]; // what handles point to

int give(void **handle) {
  *handle = something;
  return success;
}

} // namespace

extern "C" {
int cuDriverGetVersion(int *version) {
  *version = 12090;
  return success;
}
int cuCtxGetCurrent(void **context) { return give(context); }
int cuLinkCreate_v2(unsigned, void *, void *, void **linker) { return give(linker); }
int cuLinkComplete(void *, void **code, size_t *bytes) {
  *bytes = sizeof something;
  return give(code);
}
int cuModuleLoadData(void **module) { return give(module); }
int cuModuleGetFunction(void **function) { return give(function); }
int cuLibraryLoadData(void **library) { return give(library); }
int cuLibraryGetKernel(void **kernel) { return give(kernel); }
int cuLibraryGetModule(void **module) { return give(module); }
int cuKernelGetFunction(void **function) { return give(function); }
}
