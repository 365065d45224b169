//go:build !(amd64 || arm64) || purego

package kernel

var vectorLevels []vectorLevel

func detect() Level { return Generic }
