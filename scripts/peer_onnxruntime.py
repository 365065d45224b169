"""Evaluates batches with ONNX Runtime, for `selfplay bench planes --peer`.

    python3 scripts/peer_onnxruntime.py net.onnx
    python3 scripts/peer_onnxruntime.py net.onnx --int8 positions.bin

Reads lines "BATCH COUNT", runs the net COUNT times on BATCH positions with one
thread, and answers each with a line. With --int8 the net is first quantised to bytes,
weights by output channel, calibrated on the first half of the positions that
`selfplay bench planes --positions` has written; what that costs on the other half is
printed to the standard error. Best moves are compared among all labels, legal or not,
as `selfplay bench planes --int8 --positions` does for ours. Needs the packages
onnxruntime and numpy, with --int8 onnx too.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy
import onnxruntime


def start(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def quantise(path, positions, directory):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    half = len(positions) // 2

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.batches = iter(range(0, half, 64))

        def get_next(self):
            i = next(self.batches, None)
            return None if i is None else {name: positions[i:min(i + 64, half)]}

    session = start(path)
    name = session.get_inputs()[0].name
    folded, quantised = pathlib.Path(directory, "folded.onnx"), pathlib.Path(directory, "int8.onnx")
    quant_pre_process(path, str(folded), skip_symbolic_shape=True)
    quantize_static(str(folded), str(quantised), Reader(), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    bytes_session = start(quantised)
    want, got = session.run(None, {name: positions[half:]}), bytes_session.run(None, {name: positions[half:]})
    for output, a, b in zip(session.get_outputs(), want, got):
        a, b = a.reshape(half, -1), b.reshape(half, -1)
        if a.shape[1] > 3:
            print(f"{output.name}: {100 * numpy.mean(a.argmax(1) == b.argmax(1)):.1f} % equal best moves of all labels", file=sys.stderr)
        elif a.shape[1] == 1:
            print(f"{output.name}: mean error {numpy.abs(a - b).mean():.4f}, largest {numpy.abs(a - b).max():.4f}", file=sys.stderr)
    return bytes_session


parser = argparse.ArgumentParser()
parser.add_argument("net")
parser.add_argument("--int8", metavar="POSITIONS")
arguments = parser.parse_args()
if arguments.int8:
    data = numpy.fromfile(arguments.int8, "<f4").reshape(-1, 34, 8, 8)
    with tempfile.TemporaryDirectory() as scratch:
        session = quantise(arguments.net, data, scratch)
else:
    session = start(arguments.net)
name = session.get_inputs()[0].name
random = numpy.random.default_rng(1)

for line in sys.stdin:
    batch, count = map(int, line.split())
    data = (random.random((batch, 34, 8, 8)) < 0.03).astype(numpy.float32)
    for _ in range(count):
        session.run(None, {name: data})
    print("done", flush=True)
