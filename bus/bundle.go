package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/crazyhouse-rl/selfplay/game"
)

// Beginnings of the messages of the game stream: a bundle, and the game
// records, plain and sealed, that are a message each under protocol 1.
const (
	bundleMagic = "ZHGB"
	recordMagic = "ZHGM"
	sealedMagic = "ZHGS"
)

const (
	bundleVersion = 1

	offBundleVersion = 4
	offBundleCount   = 5 // u16
	offBundleCRC     = 7 // u32, of everything else
	offBundleGames   = 11
	recordOverhead   = 4 // the length before each game

	maxSealBytes = 128 // what a seal adds to a game record, at most

	// MaxGameBytes is the longest game that a bundle holds, its seal
	// included.
	MaxGameBytes = game.MaxRecordBytes + maxSealBytes

	// MaxBundleGames is the largest number of games in a bundle.
	MaxBundleGames = 4096
)

// ErrBundle says that a message of the game stream is neither a bundle nor a
// game record.
var ErrBundle = errors.New("not a bundle of games")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BundleBytes returns the length of the bundle of the games.
func BundleBytes(games ...[]byte) int {
	n := offBundleGames
	for _, g := range games {
		n += recordOverhead + len(g)
	}
	return n
}

// EncodeBundle returns one message with the games, which are not looked at.
// The error wraps ErrBundle unless there are 1 to MaxBundleGames of them and
// none is empty, ErrTooLarge if one is above MaxGameBytes or all are above
// MaxPayload.
func EncodeBundle(games [][]byte) ([]byte, error) {
	if len(games) == 0 || len(games) > MaxBundleGames {
		return nil, fmt.Errorf("%w: %d games, want 1 to %d", ErrBundle, len(games), MaxBundleGames)
	}
	n := BundleBytes(games...)
	if n > MaxPayload {
		return nil, fmt.Errorf("%w: %d games make %d bytes, at most %d", ErrTooLarge, len(games), n, MaxPayload)
	}
	b := make([]byte, offBundleGames, n)
	copy(b, bundleMagic)
	b[offBundleVersion] = bundleVersion
	binary.LittleEndian.PutUint16(b[offBundleCount:], uint16(len(games)))
	for i, g := range games {
		if len(g) == 0 {
			return nil, fmt.Errorf("%w: game %d of %d is empty", ErrBundle, i, len(games))
		}
		if len(g) > MaxGameBytes {
			return nil, fmt.Errorf("%w: game %d of %d has %d bytes, at most %d", ErrTooLarge, i, len(games), len(g), MaxGameBytes)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(g)))
		b = append(b, g...)
	}
	binary.LittleEndian.PutUint32(b[offBundleCRC:], bundleCRC(b))
	return b, nil
}

// DecodeBundle returns the games of a message. They are part of b. A message
// that is one game record counts as a bundle of one. The error wraps
// ErrBundle.
func DecodeBundle(b []byte) ([][]byte, error) {
	if len(b) < len(bundleMagic) {
		return nil, fmt.Errorf("%w: %d bytes, want at least %d", ErrBundle, len(b), len(bundleMagic))
	}
	switch magic := string(b[:len(bundleMagic)]); magic {
	case bundleMagic:
	case recordMagic, sealedMagic:
		return [][]byte{b}, nil
	default:
		return nil, fmt.Errorf("%w: magic %q, want %q, %q or %q", ErrBundle, magic, bundleMagic, recordMagic, sealedMagic)
	}
	if len(b) < offBundleGames {
		return nil, fmt.Errorf("%w: %d bytes, want at least %d", ErrBundle, len(b), offBundleGames)
	}
	if v := b[offBundleVersion]; v != bundleVersion {
		return nil, fmt.Errorf("%w: version %d, want %d", ErrBundle, v, bundleVersion)
	}
	if found, want := bundleCRC(b), binary.LittleEndian.Uint32(b[offBundleCRC:]); found != want {
		return nil, fmt.Errorf("%w: CRC-32C is %08x, want %08x", ErrBundle, found, want)
	}
	count := int(binary.LittleEndian.Uint16(b[offBundleCount:]))
	if count == 0 || count > MaxBundleGames {
		return nil, fmt.Errorf("%w: %d games, want 1 to %d", ErrBundle, count, MaxBundleGames)
	}
	games := make([][]byte, 0, count)
	for rest := b[offBundleGames:]; len(rest) > 0 || len(games) < count; {
		if len(games) == count {
			return nil, fmt.Errorf("%w: %d bytes after the last of %d games", ErrBundle, len(rest), count)
		}
		if len(rest) < recordOverhead {
			return nil, fmt.Errorf("%w: ends within the length of game %d of %d", ErrBundle, len(games), count)
		}
		n := binary.LittleEndian.Uint32(rest)
		rest = rest[recordOverhead:]
		if n == 0 || n > MaxGameBytes || int(n) > len(rest) {
			return nil, fmt.Errorf("%w: game %d of %d has %d bytes, want 1 to %d and %d are left",
				ErrBundle, len(games), count, n, MaxGameBytes, len(rest))
		}
		games = append(games, rest[:n:n])
		rest = rest[n:]
	}
	return games, nil
}

// bundleCRC is the checksum of all of b but the checksum.
func bundleCRC(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:offBundleCRC], castagnoli), castagnoli, b[offBundleGames:])
}
