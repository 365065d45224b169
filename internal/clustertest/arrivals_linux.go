package clustertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// arrivals tells which files come into directories, and misses none: the kernel keeps their
// names until they are asked for, also of files that are gone by then.
type arrivals struct{ inotify int }

// watchArrivals begins to watch directories.
func watchArrivals(dirs []string) (*arrivals, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	a := &arrivals{fd}
	for _, dir := range dirs {
		if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR); err != nil {
			return nil, errors.Join(fmt.Errorf("watch %s: %w", dir, err), a.close())
		}
	}
	return a, nil
}

// names returns the names of the files that have come since it was called last.
func (a *arrivals) names() (names []string, err error) {
	buf := make([]byte, 16<<10)
	for {
		n, failed := unix.Read(a.inotify, buf)
		if failed == unix.EINTR {
			continue
		}
		if failed == unix.EAGAIN { // no more now
			return names, err
		}
		if failed != nil {
			return names, fmt.Errorf("inotify: %w", failed)
		}
		for events := buf[:n]; len(events) > 0; {
			// A watch, a mask, a cookie, the length of the name, and the name with zeros after it.
			mask := binary.NativeEndian.Uint32(events[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
			name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
			events = events[end:]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				err = errors.New("inotify: more files have come than the kernel keeps the names of: some were missed")
			case mask&unix.IN_IGNORED != 0:
				err = errors.New("inotify: a directory that is watched was removed")
			default:
				names = append(names, string(name))
			}
		}
	}
}

func (a *arrivals) close() error {
	err := unix.Close(a.inotify)
	a.inotify = -1 // the number may soon be another file's
	return err
}
