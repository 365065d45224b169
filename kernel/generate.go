package kernel

// The assembly and its declarations come from kernel/gen, a module of its own,
// so that nobody who uses this package needs the generator's dependencies.

//go:generate go run -C gen . -set int -out ../int_amd64.s -stubs ../int_stubs_amd64.go -pkg kernel
//go:generate go run -C gen . -set float -out ../float_amd64.s -stubs ../float_stubs_amd64.go -pkg kernel
//go:generate go run -C gen . -set conv -out ../conv_amd64.s -stubs ../conv_stubs_amd64.go -pkg kernel
//go:generate go run -C gen . -set back -out ../conv_back_amd64.s -stubs ../conv_back_stubs_amd64.go -pkg kernel

// Those of arm64 come from kernel/gen/arm64.

//go:generate go run -C gen ./arm64 -set int -out ../int_arm64.s -stubs ../int_stubs_arm64.go
//go:generate go run -C gen ./arm64 -set float -out ../float_arm64.s -stubs ../float_stubs_arm64.go
//go:generate go run -C gen ./arm64 -set conv -out ../conv_arm64.s -stubs ../conv_stubs_arm64.go
//go:generate go run -C gen ./arm64 -set back -out ../conv_back_arm64.s -stubs ../conv_back_stubs_arm64.go
