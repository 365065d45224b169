"""Writes operators.jsonl: models of one node, inputs, and ONNX Runtime's outputs.

Made with onnx 1.23 and onnxruntime 1.31.
"""

import base64
import json

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

rng = np.random.default_rng(1)
lines = []


def rand(*dims):
    return np.round(rng.normal(0, 2, dims), 2).astype(np.float32)


def ints(*v):
    return np.array(v, dtype=np.int64)


def case(op, *inputs, outputs=1, opset=13, name=None, **attributes):
    """The first input is fed, the others are initializers; None is left out."""
    names = ["x"] + ["" if v is None else f"c{i}" for i, v in enumerate(inputs[1:])]
    outs = [f"y{i}" for i in range(outputs)]
    x = inputs[0]
    kind = h.np_dtype_to_tensor_dtype(x.dtype)
    free = [f"d{i}" for i in range(x.ndim)]
    graph = h.make_graph(
        [h.make_node(op, names, outs, **attributes)], "g",
        [h.make_tensor_value_info("x", kind, free)],
        [h.make_empty_tensor_value_info(o) for o in outs],
        [numpy_helper.from_array(v, n) for v, n in zip(inputs[1:], names[1:]) if v is not None])
    model = h.make_model(graph, ir_version=7 if opset < 20 else 9, opset_imports=[h.make_opsetid("", opset)])
    from onnx import shape_inference
    model = shape_inference.infer_shapes(model)
    b = model.SerializeToString()
    got = ort.InferenceSession(b, providers=["CPUExecutionProvider"]).run(outs, {"x": x})
    tensor = lambda v: {"dims": list(v.shape), "data": [float(f) for f in v.flatten()]}
    lines.append(json.dumps({
        "name": name or op, "model": base64.b64encode(b).decode(), "in": tensor(x),
        "out": {o: tensor(v) for o, v in zip(outs, got)}}))


for op in "Add", "Sub", "Mul", "Div", "PRelu":
    case(op, rand(2, 3, 2, 2), rand(3, 1, 1))
case("Add", rand(1, 3), rand(2, 1), name="Add both ways")
case("Add", rand(2, 3), rand(), name="Add scalar")
case("Mul", rand(2, 3, 2, 2), rand(2, 3, 1, 1), name="Mul by gates")
case("BatchNormalization", rand(2, 3, 2, 2), rand(3), rand(3), rand(3), abs(rand(3)), epsilon=0.01)
case("Cast", rand(2, 2), to=T.FLOAT)
case("Clip", rand(3, 3), np.float32(0), np.float32(1))
case("Clip", rand(3, 3), None, np.float32(1), name="Clip above")
case("Clip", rand(3, 3), opset=7, min=-1.0, max=0.5, name="Clip 7")
case("Concat", rand(2, 3), rand(2, 2), rand(2, 1), axis=1)
case("Concat", rand(2, 3, 1), rand(1, 3, 1), axis=-3, name="Concat first")
case("Conv", rand(2, 2, 4, 4), rand(3, 2, 3, 3), rand(3), pads=[1, 1, 1, 1], kernel_shape=[3, 3])
case("Conv", rand(1, 4, 4, 4), rand(4, 1, 3, 3), group=4, pads=[1, 1, 1, 1], name="Conv depthwise")
case("Conv", rand(1, 4, 4, 4), rand(6, 2, 3, 3), None, group=2, pads=[0, 1, 2, 0], name="Conv groups")
case("Conv", rand(1, 2, 6, 7), rand(3, 2, 3, 2), strides=[2, 3], dilations=[2, 1], name="Conv strides")
case("Conv", rand(1, 2, 5, 5), rand(3, 2, 2, 2), auto_pad="SAME_UPPER", strides=[2, 1], name="Conv same")
case("Conv", rand(1, 2, 5, 5), rand(3, 2, 2, 2), auto_pad="SAME_LOWER", name="Conv same lower")
case("Conv", rand(1, 2, 5), rand(3, 2, 3), pads=[1, 1], name="Conv 1-D")
case("Dropout", rand(2, 2))
case("Elu", rand(3, 3), alpha=0.7)
case("Exp", rand(3, 3))
case("Flatten", rand(2, 3, 2))
case("Flatten", rand(2, 3, 2), axis=-1, name="Flatten last")
case("Gather", rand(3, 4), ints(0, -1, 2), axis=1)
case("Gather", rand(3, 4), np.array(1, dtype=np.int64), name="Gather one")
case("Gemm", rand(2, 3), rand(3, 4), rand(4))
case("Gemm", rand(3, 2), rand(4, 3), rand(1), transA=1, transB=1, alpha=0.5, beta=2.0, name="Gemm transposed")
case("Gemm", rand(2, 3), rand(3, 4), name="Gemm without bias")
case("GlobalAveragePool", rand(2, 3, 2, 2))
case("HardSigmoid", rand(3, 3) * 3, alpha=0.25, beta=0.4)
case("HardSwish", rand(3, 3) * 3, opset=14)
case("Identity", rand(2, 2))
case("LeakyRelu", rand(3, 3), alpha=0.1)
case("LogSoftmax", rand(2, 5))
case("MatMul", rand(2, 3), rand(3, 4))
case("MatMul", rand(2, 1, 2, 3), rand(3, 3, 2), name="MatMul broadcast")
case("Mish", rand(3, 3), opset=18)
case("ReduceMean", rand(2, 3, 4), axes=[1])
case("ReduceMean", rand(2, 3, 2, 2), axes=[-1, -2], keepdims=0, name="ReduceMean dropped")
case("ReduceMean", rand(2, 3, 2, 2), ints(2, 3), opset=18, name="ReduceMean 18")
case("ReduceMean", rand(2, 3), name="ReduceMean all")
case("Relu", rand(3, 3))
case("Reshape", rand(2, 3, 4), ints(0, -1))
case("Reshape", rand(2, 3, 4), ints(4, -1, 2), name="Reshape middle")
case("Shape", rand(2, 3, 4))
case("Shape", rand(2, 3, 4), opset=15, start=-2, end=-1, name="Shape 15")
case("Sigmoid", rand(3, 3))
case("Slice", rand(3, 6), ints(1), ints(-1), ints(1))
case("Slice", rand(4, 6), ints(0, 5), ints(2**63 - 1, 0), ints(0, 1), ints(2, -2), name="Slice steps")
case("Slice", rand(4, 6), opset=9, starts=[1, 0], ends=[3, 2], name="Slice 9")
case("Softmax", rand(2, 3, 2), axis=1)
case("Softmax", rand(2, 3, 2), opset=11, axis=1, name="Softmax 11")
case("Softplus", rand(3, 3) * 10)
case("Split", rand(2, 5), ints(2, 3), axis=1, outputs=2)
case("Split", rand(4, 2), outputs=2, name="Split equally")
case("Squeeze", rand(2, 1, 3, 1), ints(1))
case("Squeeze", rand(1, 2, 1), opset=11, axes=[-1], name="Squeeze 11")
case("Tanh", rand(3, 3))
case("Transpose", rand(2, 3, 4), perm=[0, 2, 1])
case("Transpose", rand(2, 3), name="Transpose all")
case("Unsqueeze", rand(2, 3), ints(0, -1))
case("Unsqueeze", rand(2, 3), opset=11, axes=[1], name="Unsqueeze 11")

# What exporters write beside, where they fold no constants; last, as each case draws
# from the same numbers.
case("CastLike", rand(2, 2), rand(1), opset=15)
case("ConstantOfShape", ints(2, 3), value=h.make_tensor("v", T.FLOAT, [1], [1.5]))
case("Equal", np.array([[1, 2], [3, 2]], dtype=np.float32), np.float32(2))
case("Erf", rand(2, 3))
case("Expand", rand(2, 3, 1, 1), ints(2, 3, 2, 2))
case("Expand", rand(3), ints(2, 1), name="Expand both ways")
case("Gelu", rand(2, 3), opset=20)
case("Gelu", rand(2, 3), opset=20, approximate="tanh", name="Gelu by tanh")
case("Neg", rand(2, 3))
case("Where", np.array([[True], [False]]), rand(2), rand(1, 2))

with open("operators.jsonl", "w") as f:
    f.write("\n".join(lines) + "\n")
