// Libraries of a GPU's vendor, loaded when a program starts. Programs are not linked with them, so that they start
// without them and report the missing library. The compiler searches for libraries in the same way (`xlc doctor`).
#ifndef XLC_LIB_RUNTIME_CUDA_OPENLIBRARY_H
#define XLC_LIB_RUNTIME_CUDA_OPENLIBRARY_H

#include <array>
#include <string>
#include <vector>

namespace xlc::runtime {

struct LibraryFiles {
  const char *name;                  ///< the name in messages
  std::array<const char *, 2> files; ///< the newest version first; null: there is only one
  const char *howToGet;
};

/// CUDA 12.0 is the first with libraries of kernels; PTX is for all chips from compute capability 8.0 on.
inline constexpr int oldestDriver = 12000, oldestCapability = 80;

inline constexpr LibraryFiles cudaDriver{
    "the NVIDIA driver", {"libcuda.so.1", nullptr}, "install the driver of the GPU's vendor (Debian: nvidia-driver)"};
inline constexpr LibraryFiles cublasLtLibrary{
    "cuBLASLt",
    {"libcublasLt.so.13", "libcublasLt.so.12"},
    "install the CUDA toolkit, or, in a Python virtual environment: pip install nvidia-cublas-cu12"};

/// Version 13 requires a driver of CUDA 13.
inline constexpr LibraryFiles cublasLt12Library{
    cublasLtLibrary.name, {"libcublasLt.so.12", nullptr}, cublasLtLibrary.howToGet};

inline constexpr LibraryFiles ncclLibrary{
    "NCCL",
    {"libnccl.so.2", nullptr},
    "install NVIDIA's libnccl2, or, in a Python virtual environment: pip install nvidia-nccl-cu12"};

inline constexpr LibraryFiles cudnnLibrary{
    "cuDNN",
    {"libcudnn.so.9", nullptr},
    "install NVIDIA's cudnn9, or, in a Python virtual environment: pip install nvidia-cudnn-cu12"};

/// The paths of `file` outside the search path of the dynamic linker: in the CUDA toolkit's folders and those of
/// Python's packages.
std::vector<std::string> listBesideLinker(const std::string &file);

/// Never closed: objects that a library has created in this process would end with it.
class OpenedLibrary {
public:
  /// Opens the file that the dynamic linker finds, else one of listBesideLinker; with `folder`, only one there. Throws
  /// Rejected, with advice on its installation, if it cannot be opened.
  explicit OpenedLibrary(const LibraryFiles &files, const std::string &folder = "");

  /// Finds a function of the library. Throws Rejected if there is none with this name.
  template <class Function> void find(Function *&function, const char *symbol) const {
    function = (Function *)findSymbol(symbol);
    if (!function)
      refuse(symbol);
  }
  /// Null if there is no symbol with this name.
  void *findSymbol(const char *symbol) const;

  /// The path of the opened file.
  const std::string &path() const { return file; }

private:
  [[noreturn]] void refuse(const char *symbol) const;
  void tryOpen(const std::string &path);

  const LibraryFiles files;
  void *handle = nullptr;
  std::string file, problem; ///< `problem`: the error of a file that exists but cannot be opened
};

} // namespace xlc::runtime

#endif
