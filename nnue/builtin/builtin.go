// Package builtin holds the network that the program carries, so that its engine
// plays well without a file.
//
// crazyhouse.nnue.zst is a network file of ours, split and compressed:
//
//	go run ./scripts/splitnet < NET | zstd --ultra -22 --zstd=wlog=24,mml=7 > crazyhouse.nnue.zst
//
// docs/results.md has its recipe and its rating.
package builtin

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// Name is the word by which players and settings name the network.
const Name = "builtin"

//go:embed crazyhouse.nnue.zst
var crazyhouse []byte

// maxBytes bounds the network's file, unpacked.
const maxBytes = 16 << 20

// file is a network and the SHA-256 of its file.
type file struct {
	net *nnue.Network
	id  string
}

var read = sync.OnceValue(func() file {
	f, err := unpack(crazyhouse)
	if err != nil {
		panic(fmt.Sprintf("builtin: %v", err)) // a test reads it
	}
	return f
})

func unpack(packed []byte) (file, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBytes), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return file{}, err
	}
	defer r.Close()
	data, err := r.DecodeAll(packed, nil)
	if err != nil {
		return file{}, err
	}
	data = join(data)
	net, err := nnue.Read(bytes.NewReader(data))
	sum := sha256.Sum256(data)
	return file{net, hex.EncodeToString(sum[:])}, err
}

// Net returns the network for a variant, nil if there is none.
func Net(v *chess.Variant) *nnue.Network {
	if v != chess.Crazyhouse {
		return nil
	}
	return read().net
}

// ID returns the SHA-256 of that network's file in hexadecimal, which is what
// nets are known by elsewhere; "" if there is none.
func ID(v *chess.Variant) string {
	if v != chess.Crazyhouse {
		return ""
	}
	return read().id
}
