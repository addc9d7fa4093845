// oneDNN, loaded when the first product requires it: a program without such products runs without the library, and the
// compiler starts without its 40 MB. <dnnl.hpp> declares the functions that OneDnn.cpp forwards to the library.
#ifndef XLC_LIB_RUNTIME_CPU_ONEDNN_H
#define XLC_LIB_RUNTIME_CPU_ONEDNN_H

#include <string>
#include <vector>

namespace xlc::runtime {

/// Opens the library, once in a process, before any call of it. It is the first of these files:
///
///     PROGRAM.libs/libdnnl.so.2     `xlc compile --bundle` puts it there
///     ../lib/xlc/libdnnl.so.2       of the program's folder: of the compiler, installed from a wheel
///     PREFIX/lib/xlc/libdnnl.so.2   of the virtual environment, or of the Python on the PATH
///     libdnnl.so.2                  as the dynamic linker finds it
///
/// Its dependences that the system lacks are loaded from its folder. Throws Rejected, with advice on its installation,
/// if there is none.
void openOneDnn();

/// The paths in this process of the library and of its dependences other than the C library, for a bundle. Opens the
/// library.
std::vector<std::string> findOneDnnFiles();

/// Limits the processor features that the library uses, a dnnl_cpu_isa_t. Call before the library is opened.
void limitOneDnn(int isa);

} // namespace xlc::runtime

#endif
