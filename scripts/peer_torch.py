"""Trains a plane net with PyTorch, for `selfplay bench train --peer`.

    python3 scripts/peer_torch.py 5x64
    python3 scripts/peer_torch.py 5x64 --layout last --compile

Reads lines "BATCH COUNT", makes COUNT steps of BATCH positions with one thread, and
answers each with a line. BLOCKSxCHANNELS is a residual net with the heads of the
architecture 5x64: two 3x3 convolutions for the policy, 8 channels and 256 neurons
for the value. Positions are random and already tensors; a step is the forward pass,
cross entropy of the policy and squared error of the value, the backward pass and
Adam. --layout last lays the channels of a square together, --compile has PyTorch
compile the net, which needs a C++ compiler. Needs the packages torch and numpy.
"""

import argparse
import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss


def convolution(i, o, size):
    return nn.Conv2d(i, o, size, padding=size // 2, bias=False)


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(convolution(c, c, 3), nn.BatchNorm2d(c), nn.ReLU(inplace=True), convolution(c, c, 3), nn.BatchNorm2d(c))

    def forward(self, x):
        return torch.relu_(self.body(x) + x)


class Net(nn.Module):
    def __init__(self, blocks, c):
        super().__init__()
        self.trunk = nn.Sequential(convolution(34, c, 3), nn.BatchNorm2d(c), nn.ReLU(inplace=True), *[Residual(c) for _ in range(blocks)])
        self.policy = nn.Sequential(convolution(c, c, 3), nn.BatchNorm2d(c), nn.ReLU(inplace=True), convolution(c, 81, 3))
        self.value = nn.Sequential(convolution(c, 8, 1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.Flatten(),
                                   nn.Linear(512, 256), nn.ReLU(inplace=True), nn.Linear(256, 1), nn.Tanh())

    def forward(self, x):
        x = self.trunk(x)
        return self.policy(x).flatten(1), self.value(x).flatten()


parser = argparse.ArgumentParser()
parser.add_argument("net")
parser.add_argument("--layout", choices=["first", "last"], default="first", help="channels of a square together: last")
parser.add_argument("--compile", action="store_true")
arguments = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(1)
layout = torch.channels_last if arguments.layout == "last" else torch.contiguous_format
net = Net(*map(int, arguments.net.split("x"))).to(memory_format=layout)
run = torch.compile(net) if arguments.compile else net
optimiser = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
batches = {}

for line in sys.stdin:
    batch, count = map(int, line.split())
    if batch not in batches:
        data = (torch.rand(batch, 34, 8, 8) < 0.1).float().contiguous(memory_format=layout)
        batches[batch] = data, torch.randint(5184, (batch,)), torch.rand(batch) * 2 - 1
    data, moves, values = batches[batch]
    for _ in range(count):
        policy, value = run(data)
        loss = cross_entropy(policy, moves) + mse_loss(value, values)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print("done", flush=True)
