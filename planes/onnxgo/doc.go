// Package onnxgo runs nets with onnx-go on Gorgonia: pure Go written by others.
// It is slow and shares no code with package native, and so is the independent
// reference that other runtimes are compared with.
//
// onnx-go 0.5 runs some graphs wrongly without an error. New rewrites a
// model to the part of ONNX that it gets right, or refuses it with the reason:
//
//   - Gemm at batch 1 adds its bias once more every run: becomes MatMul and Add.
//   - A constant with one dimension is added along the first dimension that has
//     its length, be it the batch: gets the dimensions [1, n].
//   - The group of a Conv is ignored: depthwise and grouped ones are refused. A
//     kernel_shape that is left out is added, as it is not inferred.
//   - Pads are compared in the wrong order: those that differ are refused.
//   - A value that is two inputs of one node counts once: refused.
//   - [N, C, 1, 1] is not broadcast: Mul, so squeeze and excitation, is refused.
//   - LeakyRelu changes its input: refused, like the operators that onnx-go lacks.
package onnxgo
