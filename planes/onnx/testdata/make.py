"""Writes the .onnx files of this directory with ONNX's Python package (1.23)."""

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h

X = h.make_tensor_value_info("x", T.FLOAT, ["batch", 2])
Y = h.make_tensor_value_info("y", T.FLOAT, ["batch", 2])
RELU = h.make_node("Relu", ["x"], ["y"])
VALUES = {
    "float": [1.5, -2], "double": [1.5, -2], "float16": [1.5, -2], "bfloat16": [1.5, -2],
    "int8": [-7, 9], "uint8": [7, 200], "int16": [-7, 900], "uint16": [7, 60000],
    "int32": [-7, 1 << 30], "uint32": [7, 1 << 31], "int64": [-7, 1 << 40],
    "uint64": [7, 1 << 40], "bool": [True, False],
}


def write(name, graph, ir=7, **more):
    m = h.make_model(graph, producer_name="make.py", ir_version=ir,
                     opset_imports=[h.make_opsetid("", 13)] + more.pop("opsets", []), **more)
    h.set_model_props(m, {"variant": "crazyhouse"})
    with open(name + ".onnx", "wb") as f:
        f.write(m.SerializeToString())


def tensor(name, raw):
    kind = getattr(T, name.upper())
    t = h.make_tensor(name, kind, [2], VALUES[name])
    if raw:
        dtype = h.tensor_dtype_to_np_dtype(kind)
        t = h.make_tensor(name, kind, [2], np.array(VALUES[name]).astype(dtype).tobytes(), raw=True)
    return t


for name, raw in ("typed", False), ("raw", True):
    write(name, h.make_graph([RELU], "g", [X], [Y], [tensor(k, raw) for k in VALUES]))

w = h.make_tensor("w", T.FLOAT, [2], [1, 2])
add = h.make_node("Add", ["x", "w"], ["y"])
write("inputs", h.make_graph([add], "g", [X, h.make_tensor_value_info("w", T.FLOAT, [2])], [Y], [w]), ir=3)

out = h.make_tensor("w", T.FLOAT, [2], bytes(8), raw=True)
out.data_location = T.EXTERNAL
entry = out.external_data.add()
entry.key, entry.value = "location", "weights.bin"
out.ClearField("raw_data")
write("external", h.make_graph([add], "g", [X], [Y], [out]))

branch = h.make_graph([h.make_node("Identity", ["x"], ["z"])], "b", [], [h.make_tensor_value_info("z", T.FLOAT, None)])
yes = h.make_tensor("yes", T.BOOL, [], [True])
write("branch", h.make_graph(
    [h.make_node("If", ["yes"], ["y"], then_branch=branch, else_branch=branch)], "g", [X], [Y], [yes]))

f = h.make_function("own", "F", ["a"], ["b"], [h.make_node("Relu", ["a"], ["b"])], [h.make_opsetid("", 13)])
write("function", h.make_graph([h.make_node("F", ["x"], ["y"], domain="own")], "g", [X], [Y]),
      ir=8, functions=[f], opsets=[h.make_opsetid("own", 1)])

sparse = h.make_sparse_tensor(h.make_tensor("w", T.FLOAT, [1], [1]), h.make_tensor("i", T.INT64, [1], [1]), [2])
write("sparse", h.make_graph([add], "g", [X], [Y], sparse_initializer=[sparse]))

write("strings", h.make_graph([RELU], "g", [X], [Y], [h.make_tensor("s", T.STRING, [1], [b"a"])]))

sequence = h.make_tensor_sequence_value_info("x", T.FLOAT, None)
write("sequence", h.make_graph([h.make_node("ConcatFromSequence", ["x"], ["y"], axis=0)], "g", [sequence], [Y]))
