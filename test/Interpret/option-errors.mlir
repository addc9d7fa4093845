// Options of --xlc-interpret that name nothing.
// RUN: not xlc-opt --xlc-interpret=arithmetic=f16 %s 2>&1 | FileCheck %s --check-prefix=ARITHMETIC
// RUN: not xlc-opt --xlc-interpret=function=g %s 2>&1 | FileCheck %s --check-prefix=FUNCTION

// ARITHMETIC: error: arithmetic must be f64, f32 or field, not 'f16'
// FUNCTION: error: there is no function 'g' to interpret
func.func @f() {
  return
}
