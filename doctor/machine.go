package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/disk"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

const (
	syncs       = 32                    // of a small file
	syncsTime   = 3 * time.Second       // for all of them, about
	slowSync    = 20 * time.Millisecond // the median of a disk that is no longer fit
	falseSync   = 5 * time.Microsecond  // faster than any disk that keeps what it says
	syncBytes   = 4 << 10
	neededRoom  = 4 << 30 // bytes: the games and the stream of the default settings
	neededFiles = 4096
)

// Machine checks this machine: what a role in dir needs of it. Secrets are files beside
// those in dir that only their owner may read.
func (r *Report) Machine(dir string, secrets []string) {
	r.processor()
	r.files()
	r.disk(dir)
	r.secrets(dir, secrets)
}

func (r *Report) processor() {
	best, expected, good := kernel.Best(), "any level", true
	if runtime.GOARCH == "amd64" {
		expected, good = "avx2 or more", best > kernel.Generic
	}
	r.add(good, "processor", fmt.Sprintf("%s, kernels %s, %d threads", runtime.GOARCH, best, runtime.GOMAXPROCS(0)), expected,
		"use a processor with AVX2, or a virtual machine that passes it on; without it nets are several times slower")
}

func (r *Report) files() {
	const check = "open files"
	n, known := fileLimit()
	if !known {
		r.unknown(check, "this system does not say", fmt.Sprintf("%d or more", neededFiles), "look at the limit yourself")
		return
	}
	r.add(n >= neededFiles, check, fmt.Sprintf("at most %d", n), fmt.Sprintf("%d or more", neededFiles),
		"raise the limit: LimitNOFILE= in a systemd unit, ulimit -n in a shell")
}

func (r *Report) disk(dir string) {
	const room, speed = "free disk", "disk sync"
	fast := fmt.Sprintf("%s to %s", timeText(falseSync), timeText(slowSync))
	free, err := disk.Free(dir)
	if err != nil {
		r.add(false, room, err.Error(), "a directory", "give the directory of the role, or one on its disk")
		return
	}
	r.add(free >= neededRoom, room, bytesText(free)+" in "+dir, bytesText(neededRoom)+" or more",
		"free room, or take less: replay.max_bytes and bus.max_bytes")
	times, err := syncTimes(dir)
	if err != nil {
		r.add(false, speed, err.Error(), "a file can be written and synced in "+dir, "make the directory writable for this user")
		return
	}
	slices.Sort(times)
	median := times[len(times)/2]
	do := "put the directory on a local SSD: every game and every message waits for a sync"
	if median < falseSync {
		do = "the disk does not keep what it says it has synced, or is memory: use another for replay, trainer and servers"
	}
	r.add(median >= falseSync && median <= slowSync, speed, fmt.Sprintf("median %s, slowest %s of %d", timeText(median), timeText(times[len(times)-1]), len(times)), fast, do)
}

// syncTimes writes a little to a file and syncs it, some times over.
func syncTimes(dir string) (times []time.Duration, err error) {
	f, err := os.CreateTemp(dir, ".tmp-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, syncBytes)
	for begin := time.Now(); len(times) < syncs && (len(times) == 0 || time.Since(begin) < syncsTime); {
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := f.Sync(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

// secretFiles are those of a role's directory.
var secretFiles = []string{"trainer.key", "actor.json"}

func (r *Report) secrets(dir string, more []string) {
	var paths []string
	for _, name := range secretFiles {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			paths = append(paths, path)
		}
	}
	for _, path := range append(paths, more...) {
		if path == "" {
			continue
		}
		what := "secret " + filepath.Base(path)
		_, err := secret.ReadFile(path)
		switch {
		case err == nil:
			r.add(true, what, "mode 0600 or less", "only its owner may read it", "")
		case errors.Is(err, secret.ErrMode):
			r.add(false, what, err.Error(), "only its owner may read it", "chmod 600 "+path+", as its owner; if others may have read it, replace the secret")
		default:
			r.add(false, what, err.Error(), "a file with a secret, which this user may read", "correct the path, put the file back, or look as the user of the role")
		}
	}
}
