// What a GPU's threads can do beside arithmetic, as ops; and which kernels a GPU has code for.
#ifndef XLC_LIB_LOWER_GPU_INTRINSICS_H
#define XLC_LIB_LOWER_GPU_INTRINSICS_H

#include "../KernelEmitter.h"

namespace xlc::lower {

/// Fails with a diagnostic that names what a GPU has no code for yet.
mlir::LogicalResult verifyGpuKernel(mlir::func::FuncOp kernel);
/// Whether neighbours along the last dimension of the op's result come of neighbours of its operands, or of one element.
bool keepsNeighbours(mlir::Operation &op);

namespace grid {

/// That of the ops below, and its translation. Its header, which takes seconds to read, is read in one file alone.
void registerDialect(mlir::DialectRegistry &registry);

// All of them i64.
mlir::Value block(KernelEmitter &e);
mlir::Value threadOfBlock(KernelEmitter &e);
/// block * threads + thread.
mlir::Value globalThread(KernelEmitter &e, int64_t threads);
mlir::Value quotient(KernelEmitter &e, mlir::Value value, int64_t divisor);
mlir::Value remainder(KernelEmitter &e, mlir::Value value, int64_t divisor);
/// An i1.
mlir::Value isBelow(KernelEmitter &e, mlir::Value value, int64_t bound);
mlir::Value isNot(KernelEmitter &e, mlir::Value condition);

/// The value of the thread of this warp whose number differs in the bits of `distance`; all of a warp take part.
mlir::Value exchange(KernelEmitter &e, mlir::Value value, int64_t distance);
/// The bits of f32, one or a vector of a power of two, as bf16.
mlir::Value roundToBf16(KernelEmitter &e, mlir::Value value);
/// Where all threads of a block, or of a warp, wait for each other.
void meetBlock(KernelEmitter &e);
void meetWarp(KernelEmitter &e);
/// The address space of the device's memory.
unsigned globalSpace();
/// The address of an array in a block's shared memory, declared beside `code`.
mlir::Value sharedArray(KernelEmitter &e, mlir::func::FuncOp code, llvm::StringRef name, mlir::Type type,
                        int64_t count);
/// Whether each kernel's shared arrays fit into what every device gives it.
mlir::LogicalResult verifySharedMemory(mlir::ModuleOp kernels);

} // namespace grid
} // namespace xlc::lower

#endif
