package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"parley/media"
	"parley/media/record"
	"parley/media/transcode"
	"parley/store/blob"
)

// sample is what both sides take at one moment, in bytes.
const sample = 2 * record.Channels

// chunkTime is how much audio a chunk has: what is lost when a node dies for good, besides the
// second that the recorder holds and what is on its way.
const chunkTime = 15 * time.Second

// errFull ends a recording whose node has as much audio that no store takes as it may have.
var errFull = errors.New("recording: too much waits for the store")

// chunk is a part of the raw audio of a call. While a node writes it, and until it is in the store, it
// is a file of that node; nothing else knows of a recording how far it is.
type chunk struct {
	call  string
	rate  media.Rate
	from  int64 // its first sample
	size  int64 // bytes
	path  string
	since time.Time // it waits to be sent, by this machine's clock
	sent  sending
}

// sending is how far a chunk on its way is.
type sending int

const (
	waits sending = iota
	travels
)

// Names of files: a call's identifier, the rate of raw ones, their first sample, what they are.
// Those of earlier versions have all audio of a call, and no sample in their names.
const (
	rawSuffix  = ".raw"
	openSuffix = ".open" // of a chunk that is being written
	partSuffix = ".part"
)

// end is the sample behind its last whole one.
func (c *chunk) end() int64 { return c.from + c.size/sample }

func (c *chunk) name() string {
	return fmt.Sprintf("%s.%d.%010d%s", c.call, int(c.rate), c.from, rawSuffix)
}

// key is under what it is in the store.
func (c *chunk) key() string { return chunksOf(c.call) + strings.TrimPrefix(c.name(), c.call+".") }

// chunksOf is how the keys of a call's chunks begin.
func chunksOf(call string) string { return "raw/" + call + "/" }

// parseChunk reads the name of a chunk's file.
func parseChunk(name string) (c chunk, ok bool) {
	name, ok = strings.CutSuffix(name, rawSuffix)
	parts := strings.Split(name, ".")
	if !ok || len(parts) < 2 || len(parts) > 3 {
		return c, false
	}
	rate, err := strconv.Atoi(parts[1])
	c.call, c.rate = parts[0], media.Rate(rate)
	if len(parts) == 3 && err == nil {
		c.from, err = strconv.ParseInt(parts[2], 10, 64)
	}
	return c, err == nil && c.rate.Valid() && c.from >= 0
}

// stored are the chunks of a call that are in the store, in their order.
func (s *Service) stored(ctx context.Context, call string) (all []chunk, err error) {
	files, err := s.Files.List(ctx, chunksOf(call))
	for _, f := range files {
		if c, ok := parseChunk(call + "." + strings.TrimPrefix(f.Key, chunksOf(call))); ok {
			c.size = f.Size
			all = append(all, c)
		}
	}
	return all, err
}

// extent is the rate and the length of chunks.
func extent(all []chunk) (rate media.Rate, length time.Duration) {
	var end int64
	for _, c := range all {
		rate, end = c.rate, max(end, c.end())
	}
	if rate.Valid() {
		length = rate.Duration(int(end)).Duration()
	}
	return rate, length
}

// assemble writes the audio of chunks into a file without a name, each in its place: one that is
// missing is silence there.
func (s *Service) assemble(ctx context.Context, all []chunk) (raw *os.File, err error) {
	if raw, err = s.unnamed(); err != nil {
		return nil, err
	}
	for _, c := range all {
		if err = s.place(ctx, raw, c); err != nil {
			_ = raw.Close() // the first error says more
			return nil, err
		}
	}
	return raw, nil
}

// place writes one chunk. What a crash left of a last sample is not audio.
func (s *Service) place(ctx context.Context, raw *os.File, c chunk) error {
	body, err := s.Files.Get(ctx, c.key(), 0)
	if err != nil {
		return fmt.Errorf("a chunk: %v", err) // also when it has just gone: it is there, or nobody wants it any more
	}
	defer body.Close()
	_, err = io.CopyN(io.NewOffsetWriter(raw, c.from*sample), body, (c.end()-c.from)*sample)
	return err
}

// unnamed is a new file on this node's disk that ends when it is closed.
func (s *Service) unnamed() (*os.File, error) {
	if err := os.MkdirAll(s.Raw(), 0o700); err != nil {
		return nil, err
	}
	return transcode.Unlinked(s.Raw())
}

// spooler cuts the raw audio of a call into chunks. It belongs to the goroutine of its recorder.
type spooler struct {
	s     *Service
	chunk chunk // that is being written
	file  *os.File
}

// next ends a chunk and begins the one behind it.
func (w *spooler) next() error {
	if err := w.Close(); err != nil {
		return err
	}
	if !w.s.room() {
		return errFull
	}
	c := chunk{call: w.chunk.call, rate: w.chunk.rate, from: w.chunk.end()}
	c.path = filepath.Join(w.s.Raw(), c.name())
	file, err := os.OpenFile(c.path+openSuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w.file, w.chunk = file, c
	return nil
}

// Write implements io.Writer.
func (w *spooler) Write(p []byte) (int, error) {
	full := int64(media.FromDuration(chunkTime).Samples(w.chunk.rate)) * sample
	if w.file == nil || w.chunk.size > 0 && w.chunk.size+int64(len(p)) > full {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	n, err := w.file.Write(p)
	w.chunk.size += int64(n)
	w.s.spooled(int64(n))
	return n, err
}

// Close ends a chunk, and has it sent.
func (w *spooler) Close() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	if err == nil {
		err = os.Rename(w.chunk.path+openSuffix, w.chunk.path)
	}
	if err != nil {
		return err
	}
	w.s.queue(w.chunk)
	return nil
}

// leastFree is what recordings leave free of the disk, in bytes: the database may be there.
const leastFree = 256 << 20

// free is how many bytes of the disk others may have.
func (s *Service) free() (uint64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(s.Raw(), &disk); err != nil {
		return 0, err
	}
	return disk.Bavail * uint64(disk.Bsize), nil
}

// removeRaw removes the chunks of a call from the store.
func (s *Service) removeRaw(ctx context.Context, call string) error {
	return blob.DeleteAll(ctx, s.Files, chunksOf(call))
}
