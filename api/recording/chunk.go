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

// sample is the size of one sample of both sides, in bytes.
const sample = 2 * record.Channels

// chunkTime is the length of a chunk. When a node dies for good, that much audio is lost, and besides it the second
// that the recorder holds and the chunks that were being sent.
const chunkTime = 15 * time.Second

// errFull ends a recording when too much audio waits for the store on the node's disk.
var errFull = errors.New("recording: too much waits for the store")

// chunk is a part of the raw audio of a call. Until it is in the store it is a file of the node that writes it.
type chunk struct {
	call  string
	rate  media.Rate
	from  int64 // its first sample
	size  int64 // bytes
	path  string
	since time.Time // when it began to wait, by this machine's clock
	sent  sending
}

// sending says whether a chunk waits or is being sent.
type sending int

const (
	waits sending = iota
	travels
)

// A raw file's name has the call's identifier, the sample rate, and the number of its first sample. Files of earlier
// versions hold a whole call, and their names have no sample.
const (
	rawSuffix  = ".raw"
	openSuffix = ".open" // of a chunk that is being written
	partSuffix = ".part"
)

// end is the number of the sample after its last whole one.
func (c *chunk) end() int64 { return c.from + c.size/sample }

func (c *chunk) name() string {
	return fmt.Sprintf("%s.%d.%010d%s", c.call, int(c.rate), c.from, rawSuffix)
}

// key is its key in the store.
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

// assemble writes chunks into a file without a name, each at its place. A missing chunk becomes silence.
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

// place writes one chunk. A last sample that a crash has cut is left out.
func (s *Service) place(ctx context.Context, raw *os.File, c chunk) error {
	body, err := s.Files.Get(ctx, c.key(), 0)
	if err != nil {
		return fmt.Errorf("a chunk: %v", err) // not as fs.ErrNotExist: a chunk that has just gone is not a recording without audio
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

// next ends a chunk and begins the next.
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

// leastFree is how much of the disk recordings leave free, in bytes: the database may be on it.
const leastFree = 256 << 20

// free is how many bytes of the disk are free.
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
