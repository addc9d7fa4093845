// Open MPI's library, loaded on demand: programs are not linked with it, and ranks that share a host do not use it. The
// declarations match version 40 of the library (Open MPI 2 to 5): handles are pointers, and predefined ones are objects
// of the library.
#ifndef XLC_LIB_RUNTIME_MPI_LIBRARY_H
#define XLC_LIB_RUNTIME_MPI_LIBRARY_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace xlc::runtime::mpi {

using Comm = struct ompi_communicator_t *;
using Datatype = struct ompi_datatype_t *;
using Request = struct ompi_request_t *;
using Operation = struct ompi_op_t *;
using ErrorHandler = struct ompi_errhandler_t *;

struct Status {
  int source, tag, error, isCancelled;
  size_t bytes;
};

constexpr int success = 0, anySource = -1, anyTag = -1, undefined = -32766, onlyOneThreadCalls = 1, longestError = 256;

struct Library {
  /// Throws Rejected, with advice on its installation, if it cannot be opened.
  Library();

  /// The text for the result of a call.
  std::string describe(int result) const;
  /// Throws std::runtime_error with this text unless the result is `success`.
  void check(int result) const;

  int (*initialize)(int *, char ***, int required, int *provided);
  int (*finalize)();
  int (*getRank)(Comm, int *);
  int (*getSize)(Comm, int *);
  int (*duplicate)(Comm, Comm *);
  int (*setErrorHandler)(Comm, ErrorHandler);
  int (*gatherAll)(const void *, int, Datatype, void *, int, Datatype, Comm);
  int (*startReduceAll)(const void *, void *, int, Datatype, Operation, Comm, Request *);
  int (*startSend)(const void *, int, Datatype, int peer, int tag, Comm,
                   Request *); ///< ends when it is received
  int (*startReceive)(void *, int, Datatype, int peer, int tag, Comm, Request *);
  int (*test)(Request *, int *isDone, Status *);
  int (*cancel)(Request *);
  int (*wait)(Request *, Status *);
  int (*testSome)(int, Request *, int *count, int *indices, Status *);
  int (*makeVector)(int count, int length, ptrdiff_t step, Datatype, Datatype *);
  int (*commitType)(Datatype *);
  int (*freeType)(Datatype *);
  int (*nameError)(int, char *, int *);

  Comm world;
  Datatype byte, whole64;
  Operation largest;
  Request none;
  ErrorHandler returnErrors;
};

} // namespace xlc::runtime::mpi

#endif
