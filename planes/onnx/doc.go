// Package onnx reads and writes ONNX files: neural networks as graphs of
// operators, the format in which PyTorch, ONNX Runtime and CrazyAra exchange
// theirs. It knows the file, not what the operators mean.
//
// The format is protocol buffers in the schema of onnx.proto (ONNX 1.16, IR
// version 10; unknown fields are passed over, as newer versions only add some).
// What a net can do without is refused by name: tensors whose data are in
// another file, graphs in attributes (If, Loop, Scan), functions, sparse tensors
// and tensors of strings, complex numbers and less than 8 bits.
package onnx
