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

def ApproximateMathPass : Pass<"xlc-approximate-math", "::mlir::ModuleOp"> {
  let summary = "exp, log, tanh, erf of f32 as polynomials; exp and tanh at most 2 units in the last place off, log and erf 4";
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def VerifyLoweredPass : Pass<"xlc-verify-lowered", "::mlir::ModuleOp"> {
  let summary = "gate: each call of a generated kernel has its code, no library's has one";
  let description = [{
    The code of a call is a function of @kernels that says how many rows it has (`exec.extent`) and in what multiples they
    may be cut (`exec.grain`). Calls that share code are of one kernel on one memory layout.
  }];
}

#endif // XLC_LOWER_PASSES_TD
