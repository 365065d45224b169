// Package onnx reads and writes ONNX files: neural networks as graphs of
// operators, the format in which PyTorch, ONNX Runtime and CrazyAra exchange
// theirs. It knows the file format, not what the operators mean.
//
// The format is protocol buffers in the schema of onnx.proto (ONNX 1.16, IR
// version 10; unknown fields are passed over, as newer versions only add some).
// What a net can do without is refused by name: graphs in attributes (If, Loop,
// Scan), functions, sparse tensors and tensors of strings, complex numbers and less
// than 8 bits. Tensors whose data are in another file need ReadFile.
//
// # Operators of nets
//
// What residual nets are made of, by origin: ours (package planes/arch), a plain
// PyTorch export (torch.onnx by either exporter, operator sets 9 to 23) and CrazyAra's RISE nets as
// its MXNet and PyTorch code export them. SE is squeeze and excitation.
//
//	operator            ours  PyTorch  RISE  form
//	Conv                x     x        x     2-D; group 1, the channels (depthwise) or, RISEv1, 2
//	BatchNormalization  x     x        x     after Conv; PyTorch folds most into it; pre-activation in RISEv1
//	Relu                x     x        x
//	Add                 x     x        x     skip of equal shape; bias [n] after MatMul; constant
//	Flatten             x     x        x     axis 1
//	MatMul              x     x              constant matrix [in, out] at the right
//	Gemm                      x        x     transB 1 from PyTorch, alpha and beta 1
//	Tanh                x     x        x     value
//	Sigmoid             x     x        x     plies left; SE
//	Softmax             x     x        x     axis 1; policy of RISE nets made for MXNet
//	GlobalAveragePool   x     x        x     squeeze
//	Mul                 x     x        x     factors of SE [N, C, 1, 1]
//	ReduceMean                x              axes 2 and 3: pooling of newer exporters
//	Reshape             x     x        x     constant shape: of the batch left alone, -1 or 0
//	Constant, Identity        x        x     constants, and shared ones
//	Clip                      x              ReLU6; limits in inputs from operator set 11, else attributes
//	HardSigmoid               x        x     SE of mobile blocks
//	HardSwish                 x              may be written as Add, Clip, Div, Mul
//	LeakyRelu, PRelu, Elu     x
//	Softplus, Mish            x              mish may be Softplus, Tanh, Mul
//	Erf, Gelu, Neg            x              GELU, by its error function or, from operator set 20, itself
//	Split, Slice              x              SE with scale and bias (lc0's), mixed windows
//	Concat                    x        x     inputs of heads; channels of mixed windows; shapes
//	Transpose                 x        x     channels of efficient channel attention
//	Squeeze, Unsqueeze        x        x     the same; 1-D Conv between them
//	Expand                    x        x     factors of SE brought to the size of images
//	Shape, Gather, Cast       x              size of the batch for a Reshape, constant otherwise
//	ConstantOfShape, Equal,   x              the same for Expand, where constants are
//	Where                                    not folded
//	CastLike                  x              biases of zeros, in exports without optimisation
//	Dropout                   x              nothing, at inference
//	LogSoftmax                x              policy
//
// Every one has a slow, plain definition in package onnxtest.
package onnx
