// Libraries of a GPU's vendor, opened when a program starts: programs are linked with none of them, so that they start, and
// say what is missing, where there are none. The compiler looks for libraries in the same way (`xlc doctor`).
#ifndef XLC_LIB_RUNTIME_CUDA_OPENLIBRARY_H
#define XLC_LIB_RUNTIME_CUDA_OPENLIBRARY_H

#include <array>
#include <string>
#include <vector>

namespace xlc::runtime {

struct LibraryFiles {
  const char *name;                  ///< for messages
  std::array<const char *, 2> files; ///< the newest version first; null: there is one
  const char *howToGet;
};

/// CUDA 12.0 is the first with libraries of kernels; PTX is for all chips from compute capability 8.0 on.
inline constexpr int oldestDriver = 12000, oldestCapability = 80;

inline constexpr LibraryFiles cudaDriver{
    "the NVIDIA driver", {"libcuda.so.1", nullptr}, "install the driver of the GPU's vendor (Debian: nvidia-driver)"};
inline constexpr LibraryFiles cublasLtLibrary{
    "cuBLASLt",
    {"libcublasLt.so.13", "libcublasLt.so.12"},
    "install the CUDA toolkit, or in a virtual environment of Python: pip install nvidia-cublas-cu12"};

/// Version 13 wants a driver of CUDA 13.
inline constexpr LibraryFiles cublasLt12Library{
    cublasLtLibrary.name, {"libcublasLt.so.12", nullptr}, cublasLtLibrary.howToGet};

inline constexpr LibraryFiles ncclLibrary{
    "NCCL",
    {"libnccl.so.2", nullptr},
    "install NVIDIA's libnccl2, or in a virtual environment of Python: pip install nvidia-nccl-cu12"};

inline constexpr LibraryFiles cudnnLibrary{
    "cuDNN",
    {"libcudnn.so.9", nullptr},
    "install NVIDIA's cudnn9, or in a virtual environment of Python: pip install nvidia-cudnn-cu12"};

/// Where `file` is beside the places that the dynamic linker looks at: the CUDA toolkit's folders and those of Python's
/// packages.
std::vector<std::string> listBesideLinker(const std::string &file);

/// Stays open: what a library has begun in this process ends with it.
class OpenedLibrary {
public:
  /// As the dynamic linker finds it, else where listBesideLinker does; with `folder` only there. Throws Rejected where it
  /// cannot be opened, with how to get it.
  explicit OpenedLibrary(const LibraryFiles &files, const std::string &folder = "");

  /// A function of the library. Throws Rejected where it has none of this name.
  template <class Function> void find(Function *&function, const char *symbol) const {
    function = (Function *)findSymbol(symbol);
    if (!function)
      refuse(symbol);
  }
  /// Null where it has none of this name.
  void *findSymbol(const char *symbol) const;

  /// The file that was opened.
  const std::string &path() const { return file; }

private:
  [[noreturn]] void refuse(const char *symbol) const;
  void tryOpen(const std::string &path);

  const LibraryFiles files;
  void *handle = nullptr;
  std::string file, problem; ///< `problem`: of a file that is there, and cannot be opened
};

} // namespace xlc::runtime

#endif
