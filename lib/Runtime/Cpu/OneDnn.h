// oneDNN, opened when the first product needs it: a program without such products runs where there is none, and the
// compiler starts without its 40 MB. <dnnl.hpp> declares what OneDnn.cpp passes on to the library.
#ifndef XLC_LIB_RUNTIME_CPU_ONEDNN_H
#define XLC_LIB_RUNTIME_CPU_ONEDNN_H

#include <string>
#include <vector>

namespace xlc::runtime {

/// Opens the library, once in a process; before any call of it. It is the first of
///
///     PROGRAM.libs/libdnnl.so.2     `xlc compile --bundle` puts it there
///     ../lib/xlc/libdnnl.so.2       of the program's folder: of the compiler, installed from a wheel
///     PREFIX/lib/xlc/libdnnl.so.2   of the virtual environment, or of the Python on the PATH
///     libdnnl.so.2                  as the dynamic linker finds it
///
/// Libraries that it needs and the system lacks are taken from beside it. Throws Rejected where there is none, with how
/// to get it.
void openOneDnn();

/// The paths of the library and of what it needs beside the C library, in this process: a bundle. Opens it.
std::vector<std::string> findOneDnnFiles();

/// What of a processor the library uses, a dnnl_cpu_isa_t: from when it is opened on. Not after that.
void limitOneDnn(int isa);

} // namespace xlc::runtime

#endif
