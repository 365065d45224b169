//go:build !amd64 || purego

package kernel

func detect() Level { return Generic }
