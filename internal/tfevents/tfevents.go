// Package tfevents writes scalars as the event files that TensorBoard shows.
//
// A file is a sequence of TFRecords, integers little-endian:
//
//	length uint64, masked CRC-32C of the length uint32
//	data [length], masked CRC-32C of the data uint32
//
// with mask(c) = (c rotated right by 15 bits) + 0xa282ead8, and the data an Event
// of protocol buffers. Of its fields these are used, by number:
//
//	Event       1 wall_time double, 2 step int64, 3 file_version string,
//	            5 summary Summary, 7 session_log SessionLog
//	Summary     1 value Value, repeated
//	Value       1 tag string, 2 simple_value float
//	SessionLog  1 status enum, 1 being START
//
// Sources: tensorflow/core/lib/io/record_writer, tensorflow/core/util/event.proto
// and framework/summary.proto of TensorFlow.
package tfevents

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"time"
)

// version is the text that begins every file.
const version = "brain.Event:2"

// Writer writes one event file. It is not safe for concurrent use.
type Writer struct {
	f   *os.File
	now func() time.Time
	buf []byte
}

// Scalar is the value of one curve.
type Scalar struct {
	Tag   string // "loss/train": curves of the same first word stand together
	Value float64
}

// Create makes a new event file in dir for a run that goes on after step. Of what
// older files in dir say of later steps TensorBoard shows nothing then. now gives
// the times of the events.
func Create(dir string, step uint64, now func() time.Time) (*Writer, error) {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d", now().Unix(), host, os.Getpid(), step)
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, now: now}
	err = w.event(0, func(b []byte) []byte { return appendBytes(b, 3, []byte(version)) })
	if err == nil && step > 0 {
		start := []byte{1 << 3, 1} // status: START
		err = w.event(step+1, func(b []byte) []byte { return appendBytes(b, 7, start) })
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Write adds the values of some curves at a step. They are in the file, though
// not necessarily on the disk, when it returns.
func (w *Writer) Write(step uint64, values ...Scalar) error {
	return w.event(step, func(b []byte) []byte {
		var summary, value []byte
		for _, v := range values {
			value = appendBytes(value[:0], 1, []byte(v.Tag))
			value = append(value, 2<<3|5)
			value = binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(v.Value)))
			summary = appendBytes(summary, 1, value)
		}
		return appendBytes(b, 5, summary)
	})
}

// Close closes the file.
func (w *Writer) Close() error { return w.f.Close() }

// event writes a record of an event to which what adds its content.
func (w *Writer) event(step uint64, what func([]byte) []byte) error {
	const head = 12
	b := append(w.buf[:0], make([]byte, head)...)
	b = append(b, 1<<3|1)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(w.now().UnixNano())/1e9))
	b = append(b, 2<<3)
	b = binary.AppendUvarint(b, step)
	b = what(b)
	binary.LittleEndian.PutUint64(b, uint64(len(b)-head))
	binary.LittleEndian.PutUint32(b[8:], masked(b[:8]))
	b = binary.LittleEndian.AppendUint32(b, masked(b[head:]))
	w.buf = b
	_, err := w.f.Write(b)
	return err
}

// appendBytes adds a field of bytes.
func appendBytes(b []byte, field int, data []byte) []byte {
	b = append(b, byte(field<<3|2))
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked is the checksum of TFRecords.
func masked(data []byte) uint32 {
	return bits.RotateLeft32(crc32.Checksum(data, castagnoli), -15) + 0xa282ead8
}
