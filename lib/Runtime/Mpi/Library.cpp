// See Library.h.
#include "Library.h"

#include "Failure.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace xlc::runtime::mpi {
namespace {

constexpr char file[] = "libmpi.so.40";

[[noreturn]] void refuse(const char *why) {
  throw Rejected(fmt::format("error: ranks on several hosts require Open MPI, but its library cannot be used: {}: "
                             "install it on every host (Debian: apt-get install libopenmpi3)",
                             why ? why : file));
}

/// A function or an object of the library.
template <class T> void find(void *library, const char *name, T &to) {
  void *found = dlsym(library, name);
  if (!found)
    refuse(dlerror());
  to = (T)found;
}

} // namespace

Library::Library() {
  void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL); // whose own plugins look for its names
  if (!library)
    refuse(dlerror());
  find(library, "MPI_Init_thread", initialize);
  find(library, "MPI_Finalize", finalize);
  find(library, "MPI_Comm_rank", getRank);
  find(library, "MPI_Comm_size", getSize);
  find(library, "MPI_Comm_dup", duplicate);
  find(library, "MPI_Comm_set_errhandler", setErrorHandler);
  find(library, "MPI_Allgather", gatherAll);
  find(library, "MPI_Iallreduce", startReduceAll);
  find(library, "MPI_Issend", startSend);
  find(library, "MPI_Irecv", startReceive);
  find(library, "MPI_Test", test);
  find(library, "MPI_Cancel", cancel);
  find(library, "MPI_Wait", wait);
  find(library, "MPI_Testsome", testSome);
  find(library, "MPI_Type_create_hvector", makeVector);
  find(library, "MPI_Type_commit", commitType);
  find(library, "MPI_Type_free", freeType);
  find(library, "MPI_Error_string", nameError);
  find(library, "ompi_mpi_comm_world", world);
  find(library, "ompi_mpi_byte", byte);
  find(library, "ompi_mpi_uint64_t", whole64);
  find(library, "ompi_mpi_op_max", largest);
  find(library, "ompi_request_null", none);
  find(library, "ompi_mpi_errors_return", returnErrors);
}

std::string Library::describe(int result) const {
  char text[longestError] = {};
  int length = 0;
  return nameError(result, text, &length) == success ? text : fmt::format("error {}", result);
}

void Library::check(int result) const {
  if (result != success)
    throw std::runtime_error(fmt::format("MPI: {}", describe(result)));
}

} // namespace xlc::runtime::mpi
