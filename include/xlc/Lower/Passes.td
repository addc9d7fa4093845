// Passes of the phase Lower, in the order in which they run.
#ifndef XLC_LOWER_PASSES_TD
#define XLC_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmitKernelsPass : Pass<"xlc-emit-kernels", "::mlir::ModuleOp"> {
  let summary = "code for every kernel that is not a library call, in the nested module @kernels";
  let description = [{
    One function per kernel and memory layout of its operands, with the signature of XlcKernel; `exec.extent` is the number
    of independent rows, of which callers may cut in multiples of `exec.grain`. Each call gets `exec.code`, the function.
    See KernelEmitter.h for how.
  }];
  let options = [Option<"vectorBytes", "vector-bytes", "int64_t", "64", "width of the target's vector registers">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def EmitGpuKernelsPass : Pass<"xlc-emit-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "the same for the threads of an NVIDIA GPU";
  let description = [{
    One function per kernel, memory layout and alignment of its operands: their addresses are its parameters, and an i32 with
    a bit per result that is added to, where there are such. `exec.grid` blocks of `exec.block` threads do its work; see
    lib/Lower/Gpu/GpuMapping.h. What a C library does for CPUs (atan, most powers; exp, tanh and erf of f64) has no code
    yet, and is an error.
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
  let summary = "exp, log, tanh, erf of f32 as polynomials; exp and tanh at most 2 units in the last place off, log and erf 4";
  let options = [Option<"hasLibrary", "has-library", "bool", "true",
                        "whether the C library does the rest; without one log of f64, sin and cos of f32 are written out too, at most 2 units off">,
                 Option<"hasScaling", "has-scaling", "bool", "false",
                        "whether an instruction scales by a power of two; without one that is two products, of the same bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def VerifyLoweredPass : Pass<"xlc-verify-lowered", "::mlir::ModuleOp"> {
  let summary = "gate: each call of a generated kernel has its code, no library's has one";
  let description = [{
    The code of a call is a function of @kernels that says how many rows it has (`exec.extent`) and in what multiples they
    may be cut (`exec.grain`), or, for GPUs, how many blocks (`exec.grid`) of how many threads (`exec.block`) it wants. Calls that share code are of one kernel on one memory layout.
  }];
}

#endif // XLC_LOWER_PASSES_TD
