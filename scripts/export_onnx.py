"""Exports small nets of other programs' kinds with PyTorch, to read them here.

    python3 scripts/export_onnx.py planes/planestest/testdata/foreign

Writes NET-WAY.onnx for each net and way to export it below, inputs.bin, two
positions, and for each net NET.bin, what ONNX Runtime computes of it: output by
output, every ninth number of each position. Numbers are float32, little-endian.
With --all it exports each net in every way, which is too much to keep but good to
try. Needs torch, onnx, onnxscript, onnxruntime and numpy; made with torch 2.15,
onnx 1.23, onnxruntime 1.31.
"""

import argparse
import itertools
import pathlib
import warnings

import numpy
import onnx
import onnxruntime
import torch
from torch import nn

warnings.filterwarnings("ignore")


def norm(channels):
    """Normalisation with statistics as of a trained net."""
    n = nn.BatchNorm2d(channels)
    with torch.no_grad():
        n.weight.uniform_(0.5, 1.5)
        n.bias.normal_(0, 0.2)
        n.running_mean.normal_(0, 0.2)
        n.running_var.uniform_(0.5, 1.5)
    return n


def conv(i, o, k, groups=1):
    return nn.Conv2d(i, o, k, padding=k // 2, groups=groups, bias=False)


class Residual(nn.Module):
    def __init__(self, c, gate=None):
        super().__init__()
        self.body = nn.Sequential(conv(c, c, 3), norm(c), nn.ReLU(), conv(c, c, 3), norm(c))
        self.gate = gate

    def forward(self, x):
        y = self.body(x)
        return torch.relu(x + (y if self.gate is None else self.gate(y)))


class Squeeze(nn.Module):
    """Squeeze and excitation by dense layers."""

    def __init__(self, c, last):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.body = nn.Sequential(nn.Linear(c, c // 2, bias=False), nn.ReLU(), nn.Linear(c // 2, c, bias=False), last)

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.body(self.pool(x).view(b, c)).view(b, c, 1, 1)
        return x * y.expand_as(x)


class ScaleBias(nn.Module):
    """Squeeze and excitation with a term beside the factor, by 1x1 convolutions."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.body = nn.Sequential(nn.Conv2d(c, c // 2, 1), nn.ReLU(), nn.Conv2d(c // 2, 2 * c, 1))

    def forward(self, x):
        y = self.body(x.mean((2, 3), keepdim=True))
        factor, term = torch.split(y, self.c, dim=1)
        return x * torch.sigmoid(factor) + term


class Dense1d(nn.Module):
    """Channel attention as RISEv3 has it: a 1-D convolution of all channels."""

    def __init__(self, c, k, last):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.body = nn.Sequential(nn.Conv1d(c, c, k, padding=k // 2), last)

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.body(self.pool(x).view(b, c, 1)).view(b, c, 1, 1)
        return x * y.expand_as(x)


class Efficient(nn.Module):
    """Efficient channel attention: a 1-D convolution along the channels."""

    def __init__(self, k, last):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.conv, self.last = nn.Conv1d(1, 1, k, padding=k // 2, bias=False), last

    def forward(self, x):
        y = self.conv(self.pool(x).squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
        return x * self.last(y)


class Mobile(nn.Module):
    def __init__(self, c, e, k, gate=None, act=nn.ReLU):
        super().__init__()
        self.gate = gate
        self.body = nn.Sequential(conv(c, e, 1), norm(e), act(), conv(e, e, k, e), norm(e), act(), conv(e, c, 1), norm(c))

    def forward(self, x):
        if self.gate is not None:
            x = self.gate(x)
        return x + self.body(x)


class Mixed(nn.Module):
    """Depthwise convolutions of several sizes, each on its part of the channels."""

    def __init__(self, c, e, kernels):
        super().__init__()
        self.each = e // len(kernels)
        self.first = nn.Sequential(conv(c, e, 1), norm(e), nn.ReLU())
        self.parts = nn.ModuleList(conv(self.each, self.each, k, self.each) for k in kernels)
        self.last = nn.Sequential(norm(e), nn.ReLU(), conv(e, c, 1), norm(c))

    def forward(self, x):
        y = torch.split(self.first(x), self.each, dim=1)
        return x + self.last(torch.cat([f(z) for f, z in zip(self.parts, y)], 1))


class Preactivated(nn.Module):
    """A bottleneck with grouped convolution, normalised first."""

    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(norm(c), nn.ReLU(), conv(c, c // 2, 1), nn.LeakyReLU(0.2), conv(c // 2, c // 2, 3, 2), nn.Hardswish(), conv(c // 2, c, 1))

    def forward(self, x):
        return x + self.body(x)


class Net(nn.Module):
    def __init__(self, c, blocks, head="map", wdl=False, value_act=nn.ReLU, stem=1):
        super().__init__()
        self.head, self.wdl = head, wdl
        self.trunk = nn.Sequential(conv(34, c, stem), norm(c), nn.ReLU(), *blocks)
        if head == "flat":
            self.policy = nn.Sequential(nn.Conv2d(c, 1, 1, bias=False), norm(1), nn.ReLU())
            self.labels = nn.Sequential(nn.Linear(64, 2), nn.Linear(2, 2272))
        else:
            self.policy = nn.Sequential(conv(c, c, 3), norm(c), nn.ReLU(), conv(c, 81, 1))
        self.squares = nn.Sequential(conv(c, 1, 1), norm(1), value_act())
        if wdl:
            self.results, self.plies = nn.Linear(64, 3), nn.Sequential(nn.Linear(64, 1), nn.Sigmoid())
        else:
            self.value = nn.Sequential(nn.Linear(64, 8), value_act(), nn.Linear(8, 1), nn.Tanh())

    def forward(self, x):
        x = self.trunk(x)
        p = self.policy(x)
        if self.head == "flat":
            p = self.labels(p.view(-1, 64))
        elif self.head == "softmax":
            p = torch.softmax(p.flatten(1), 1)
        elif self.head == "map":
            p = p.view(-1, 5184)
        v = self.squares(x).view(-1, 64)
        if not self.wdl:
            return self.value(v), p
        wdl = torch.softmax(self.results(v), 1)
        loss, _, win = torch.split(wdl, 1, dim=1)
        return win - loss, p, wdl, self.plies(v)


NETS = {
    "plain": lambda: Net(8, [Residual(8)], stem=3),
    "gates": lambda: Net(8, [Residual(8, Squeeze(8, nn.Sigmoid())), Residual(8, ScaleBias(8))], wdl=True),
    "risev1": lambda: Net(8, [Preactivated(8), Residual(8, Squeeze(8, nn.Hardsigmoid()))], head="flat"),
    "risev2": lambda: Net(8, [Mobile(8, 12, 3), Mobile(8, 16, 3, Squeeze(8, nn.Hardsigmoid()))]),
    "risev3": lambda: Net(8, [Mobile(8, 16, 3, Dense1d(8, 3, nn.Sigmoid())), Mobile(8, 12, 5, Dense1d(8, 5, nn.Hardsigmoid()))]),
    "mixed": lambda: Net(8, [Mixed(8, 16, [3, 5]), Mobile(8, 12, 7, Efficient(3, nn.Hardsigmoid()), nn.ReLU6)], head="softmax"),
    "acts": lambda: Net(8, [Mobile(8, 12, 3, act=nn.Hardswish), Mobile(8, 12, 3, act=nn.SiLU), Mobile(8, 12, 3, act=nn.Mish),
                            Mobile(8, 12, 3, act=nn.ELU), Mobile(8, 12, 3, act=nn.GELU), Mobile(8, 12, 3, act=nn.PReLU)],
                        head="planes", value_act=nn.Mish),
}


def export(net, path, dynamo, opset, dynamic, fold, names=True):
    """Writes a net; the names of inputs and outputs are CrazyAra's, or the exporter's own."""
    data = torch.rand(1, 34, 8, 8) if not dynamic else torch.rand(2, 34, 8, 8)
    given = {}
    if names:
        given["input_names"] = ["data"]
        given["output_names"] = ["value_out", "policy_out", "wdl_out", "plies_left_out"][:len(net(data))]
    if dynamo:
        if dynamic:
            given["dynamic_shapes"] = {"x": {0: torch.export.Dim("batch")}}
        torch.onnx.export(net, (data,), path, dynamo=True, opset_version=opset, optimize=fold, external_data=False, verbose=False, **given)
    else:
        if dynamic:
            given["dynamic_axes"] = {n: {0: "batch"} for n in given.get("input_names", []) + given.get("output_names", [])}
        torch.onnx.export(net, (data,), path, dynamo=False, opset_version=opset, do_constant_folding=fold, **given)


# Ways to export: dynamo, operator set, batch of any size, constants folded.
WAYS = list(itertools.product([False], [11, 13, 17], [True, False], [True, False])) + \
    list(itertools.product([True], [18, 20, 23], [True, False], [True, False]))


def name_of(net, way, names=True):
    dynamo, opset, dynamic, fold = way
    return "-".join([net, "dynamo" if dynamo else "script", str(opset)] + ["fixed"] * (not dynamic) + ["unfolded"] * (not fold) + ["unnamed"] * (not names))


# What is kept in the repository: every net, every exporter, every choice.
KEPT = [
    ("plain", (False, 11, True, True), True), ("plain", (True, 18, False, False), False),
    ("gates", (False, 13, True, False), True), ("gates", (True, 20, True, True), True),
    ("risev1", (False, 17, True, True), True), ("risev1", (True, 18, True, True), False),
    ("risev2", (False, 17, True, False), True), ("risev2", (False, 11, False, True), False),
    ("risev3", (False, 13, True, True), True), ("risev3", (True, 18, True, False), True),
    ("mixed", (False, 17, True, True), True), ("mixed", (True, 23, True, True), True),
    ("acts", (False, 17, True, True), True), ("acts", (True, 20, True, True), True),
]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--all", action="store_true")
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(1)
    data = (random.random((2, 34, 8, 8)) < 0.1).astype("<f4")
    for plane in [12, 13, *range(14, 24), 27, 28, *range(29, 34)]:  # which are constant
        data[:, plane] = random.random((2, 1, 1)).round(2)
    data.tofile(a.out / "inputs.bin")
    for net, way, names in [(n, w, True) for w in WAYS for n in NETS] if a.all else KEPT:
        torch.manual_seed(1)
        module = NETS[net]().eval()
        path = a.out / (name_of(net, way, names) + ".onnx")
        try:
            export(module, str(path), *way, names=names)
        except Exception as e:  # some operator sets lack operators
            print(f"{path.stem}: not exported: {str(e).splitlines()[0][:100]}")
            continue
        model = onnx.load(path)
        model.ClearField("producer_version")
        for n in model.graph.node:
            n.ClearField("doc_string")
            del n.metadata_props[:]
        del model.graph.metadata_props[:], model.metadata_props[:], model.graph.value_info[:]
        onnx.save(model, path)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        name, batch = session.get_inputs()[0].name, session.get_inputs()[0].shape[0]
        each = 2 if isinstance(batch, str) else batch
        parts = [session.run(None, {name: data[i:i + each]}) for i in range(0, 2, each)]
        out = [numpy.concatenate(o).astype("<f4") for o in zip(*parts)]
        with open(a.out / (net + ".bin"), "wb") as f:
            for o in out:
                f.write(o.reshape(2, -1)[:, ::9].tobytes())
        with torch.no_grad():
            off = max(float((torch.from_numpy(o) - t).abs().max()) for o, t in zip(out, module(torch.from_numpy(data))))
        print(f"{path.stem}: {path.stat().st_size} bytes, {len(model.graph.node)} nodes, off from PyTorch by {off:.1e}")


main()
