package main

// floatKernels writes the kernels of training.
func floatKernels() {}
