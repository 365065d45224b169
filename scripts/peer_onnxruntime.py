"""Evaluates batches with ONNX Runtime, for `selfplay bench planes --peer`.

    python3 scripts/peer_onnxruntime.py net.onnx

Reads lines "BATCH COUNT", runs the net COUNT times on BATCH positions with one
thread, and answers each with a line. Needs the packages onnxruntime and numpy.
"""

import sys

import numpy
import onnxruntime

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
random = numpy.random.default_rng(1)

for line in sys.stdin:
    batch, count = map(int, line.split())
    data = (random.random((batch, 34, 8, 8)) < 0.03).astype(numpy.float32)
    for _ in range(count):
        session.run(None, {name: data})
    print("done", flush=True)
