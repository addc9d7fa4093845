// Operations of a GPU's threads other than arithmetic, as ops; and the check whether a GPU supports a kernel.
#ifndef XLC_LIB_LOWER_GPU_INTRINSICS_H
#define XLC_LIB_LOWER_GPU_INTRINSICS_H

#include "../KernelEmitter.h"

namespace xlc::lower {

/// Fails with a diagnostic that names the op, if the kernel has an op without GPU code.
mlir::LogicalResult verifyGpuKernel(mlir::func::FuncOp kernel);
/// Whether neighbours along the last dimension of the op's result come from neighbours of its operands, or from one
/// element.
bool keepsNeighbours(mlir::Operation &op);

namespace grid {

/// Registers the dialect of the ops below and its translation. The dialect's header takes seconds to read, so only one
/// file includes it.
void registerDialect(mlir::DialectRegistry &registry);

// All of them i64.
mlir::Value block(KernelEmitter &e);
mlir::Value threadOfBlock(KernelEmitter &e);
/// block * threads + thread.
mlir::Value globalThread(KernelEmitter &e, int64_t threads);
mlir::Value quotient(KernelEmitter &e, mlir::Value value, int64_t divisor);
mlir::Value remainder(KernelEmitter &e, mlir::Value value, int64_t divisor);
/// value < bound, as an i1.
mlir::Value isBelow(KernelEmitter &e, mlir::Value value, int64_t bound);
mlir::Value isNot(KernelEmitter &e, mlir::Value condition);

/// The value of the thread of this warp whose number differs in the bits of `distance`; all threads of a warp take
/// part.
mlir::Value exchange(KernelEmitter &e, mlir::Value value, int64_t distance);
/// Rounds f32, one or a vector of a power of two, to the bits of bf16.
mlir::Value roundToBf16(KernelEmitter &e, mlir::Value value);
/// A barrier for all threads of a block, or of a warp.
void meetBlock(KernelEmitter &e);
void meetWarp(KernelEmitter &e);
/// The address space of the device's memory.
unsigned globalSpace();
/// The address of an array in a block's shared memory, declared beside `code`.
mlir::Value sharedArray(KernelEmitter &e, mlir::func::FuncOp code, llvm::StringRef name, mlir::Type type,
                        int64_t count);
/// Whether each kernel's shared arrays fit into the shared memory that every device provides.
mlir::LogicalResult verifySharedMemory(mlir::ModuleOp kernels);

} // namespace grid
} // namespace xlc::lower

#endif
