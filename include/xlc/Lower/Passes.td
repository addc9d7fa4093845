// Passes of the phase Lower, in the order in which they run.
#ifndef XLC_LOWER_PASSES_TD
#define XLC_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitKernelsPass : Pass<"xlc-emit-kernels", "::mlir::ModuleOp"> {
  let summary = "emits code for every kernel that is not a library call, in the nested module @kernels";
  let description = [{
    Creates one function per kernel and memory layout of its operands, with the signature of XlcKernel. `exec.extent` is
    the number of independent rows, which callers may cut at multiples of `exec.grain`. Each call gets `exec.code`, the
    function. KernelEmitter.h describes the emitter.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "int64_t", "64", "width of the target's vector registers">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def EmitGpuKernelsPass : Pass<"xlc-emit-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "the same for the threads of an NVIDIA GPU";
  let description = [{
    Creates one function per kernel, memory layout and alignment of its operands. Its parameters are their addresses
    and, if there are accumulated results, an i32 with a bit for each. `exec.grid` blocks of `exec.block` threads
    execute it; see lib/Lower/Gpu/GpuMapping.h. Functions that a C library computes on CPUs (atan, most powers; exp,
    tanh and erf of f64) have no GPU code: the pass rejects them with an error that names the op.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def PrintPtxPass : Pass<"xlc-print-ptx", "::mlir::ModuleOp"> {
  let summary = "prints @kernels, emitted for GPUs, as PTX of ISA 7.0 for compute_80";
  let description = [{
        xlc-opt kernels.mlir --xlc-emit-gpu-kernels --xlc-print-ptx -o /dev/null
  }];
  let options = [ListOption<"deviceKernels", "device-kernels", "std::string", "kernels of DeviceKernels.h, printed with them">];
}

def ApproximateMathPass : Pass<"xlc-approximate-math", "::mlir::ModuleOp"> {
  let summary = "expands exp, log, tanh, erf of f32 into polynomials; exp and tanh within 2 ulp, log and erf 4";
  let options = [Option<"hasLibrary", "has-library", "bool", "true",
                        "whether the C library does the rest; without one log of f64, sin and cos of f32 are written out too, at most 2 units off">,
                 Option<"hasScaling", "has-scaling", "bool", "false",
                        "whether an instruction scales by a power of two; without one that is two products, of the same bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def VerifyLoweredPass : Pass<"xlc-verify-lowered", "::mlir::ModuleOp"> {
  let summary = "gate: each call of a generated kernel has its code, and calls of libraries have none";
  let description = [{
    The code of a call is a function of @kernels that states its number of rows (`exec.extent`) and the multiples at
    which they may be cut (`exec.grain`) or, for GPUs, its number of blocks (`exec.grid`) and of threads per block
    (`exec.block`). Calls that share code have the same kernel and memory layout.
  }];
}

#endif // XLC_LOWER_PASSES_TD
