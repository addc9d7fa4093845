// A program of the `exec` dialect written as text, compiled, run and judged. Between what is judged by and what is
// compiled a fault may be planted, as a wrong lowering would.
#ifndef XLC_UNITTESTS_VERIFY_JUDGED_H
#define XLC_UNITTESTS_VERIFY_JUDGED_H

#include "xlc/Dialect/Exec/Exec.h"
#include "xlc/Verify/VerifyKernels.h"
#include <functional>
#include <string>
#include <vector>

namespace xlc::test {

/// A buffer of the program, and what it begins with: a model input drawn anew each step, or nothing.
struct Slot {
  std::string type; ///< "4x16xf32"
  enum { Input, Scratch } kind = Input;
  int64_t limit = 0; ///< of integers
};

/// The numbers that each program has, in a buffer of 64 bytes of its own at an offset, live to an action.
std::string numbersAt(int64_t buffer, int64_t offset, int64_t last);

struct Judged {
  std::vector<Slot> slots;   ///< arguments %0, %1, ... of @f
  std::string kernels;       ///< private functions
  std::string calls;         ///< the body of @f
  std::string programs = {}; ///< in place of a program of one rank that runs @f

  /// Compiles with `fault` planted, runs one step and judges it by the program without. Aborts where that cannot be
  /// done.
  verify::KernelReport run(const std::function<void(mlir::ModuleOp)> &fault = {}) const;

  /// Compiles with `fault` planted. Aborts where that cannot be done.
  void compile(const std::function<void(mlir::ModuleOp)> &fault,
               llvm::function_ref<void(mlir::ModuleOp program, llvm::MemoryBufferRef object)> use) const;

private:
  std::string text() const;
};

} // namespace xlc::test

#endif
