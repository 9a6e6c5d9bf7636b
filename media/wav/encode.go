package wav

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"parley/media"
)

// HeaderSize is how many bytes precede the samples in the files written here.
const HeaderSize = 44

const (
	// maxData keeps the RIFF size, which counts 36 bytes more, within 32 bits.
	maxData = unknownSize - HeaderSize
	// unknownSize in a header means everything up to the end of the file.
	unknownSize = math.MaxUint32
	// writeBlock is how many samples are turned into bytes at a time.
	writeBlock = 2048
)

// header is that of 16-bit PCM with size bytes of samples, which may be unknownSize.
func header(rate media.Rate, channels int, size int64) [HeaderSize]byte {
	var h [HeaderSize]byte
	le := binary.LittleEndian
	copy(h[0:], "RIFF")
	le.PutUint32(h[4:], uint32(min(HeaderSize-8+size, unknownSize)))
	copy(h[8:], "WAVEfmt ")
	le.PutUint32(h[16:], 16)
	le.PutUint16(h[20:], tagPCM)
	le.PutUint16(h[22:], uint16(channels))
	le.PutUint32(h[24:], uint32(rate))
	le.PutUint32(h[28:], uint32(rate)*uint32(channels)*2)
	le.PutUint16(h[32:], uint16(channels)*2)
	le.PutUint16(h[34:], 16)
	copy(h[36:], "data")
	le.PutUint32(h[40:], uint32(size))
	return h
}

// Encode writes a whole clip in 16-bit PCM, 44 bytes longer than its samples.
func Encode(w io.Writer, clip Clip) error {
	if err := WriteHeader(w, clip.Rate, int64(len(clip.Samples))); err != nil {
		return err
	}
	return writeSamples(w, clip.Samples, make([]byte, 0, 2*writeBlock))
}

// WriteHeader begins a file of one channel of 16-bit PCM whose length is known
// before its samples are: they follow in the order of Int16 little endian.
func WriteHeader(w io.Writer, rate media.Rate, samples int64) error {
	if 2*samples > maxData {
		return ErrTooLarge
	}
	h := header(rate, 1, 2*samples)
	_, err := w.Write(h[:])
	return err
}

// writeSamples writes samples through buf, which has room for one at least.
func writeSamples(w io.Writer, samples []int16, buf []byte) error {
	for len(samples) > 0 {
		n := min(len(samples), cap(buf)/2)
		buf = media.AppendPCM(buf[:0], samples[:n])
		if _, err := w.Write(buf); err != nil {
			return err
		}
		samples = samples[n:]
	}
	return nil
}

// Writer writes a recording as it comes, in 16-bit PCM. The header says that the
// length is unknown until Close puts it there, so that what a crash leaves can be
// read. It belongs to one goroutine and does not
// allocate after its creation.
type Writer struct {
	w        io.WriteSeeker
	start    int64 // where in w the file begins
	rate     media.Rate
	channels int
	size     int64 // bytes of samples so far
	buf      []byte
	err      error // the first failure, which stays
}

// NewWriter writes a header for 1 or 2 channels at the present position of w.
func NewWriter(w io.WriteSeeker, rate media.Rate, channels int) (*Writer, error) {
	if channels < 1 || channels > 2 {
		return nil, fmt.Errorf("wav: %d channels", channels)
	}
	start, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	h := header(rate, channels, unknownSize)
	if _, err := w.Write(h[:]); err != nil {
		return nil, err
	}
	return &Writer{
		w: w, start: start, rate: rate, channels: channels,
		buf: make([]byte, 0, 2*writeBlock),
	}, nil
}

// Write appends samples, those of two channels alternating from the left. Any
// error is final.
func (w *Writer) Write(samples []int16) error {
	switch {
	case w.err != nil:
		return w.err
	case w.size+2*int64(len(samples)) > maxData:
		w.err = ErrTooLarge
	default:
		w.err = writeSamples(w.w, samples, w.buf)
	}
	if w.err == nil {
		w.size += 2 * int64(len(samples))
	}
	return w.err
}

// Close puts the length into the header and leaves w, which it does not close, at
// the end of the audio. After a failure the header counts what was written whole.
// It returns the first error of the Writer; a second Close returns ErrClosed.
func (w *Writer) Close() error {
	if w.err == ErrClosed {
		return ErrClosed
	}
	failed := w.err
	w.err = ErrClosed
	h := header(w.rate, w.channels, w.size)
	for _, part := range []struct {
		at    int64
		bytes []byte
	}{{4, h[4:8]}, {40, h[40:]}} {
		if _, err := w.w.Seek(w.start+part.at, io.SeekStart); err != nil {
			return cmp.Or(failed, err)
		}
		if _, err := w.w.Write(part.bytes); err != nil {
			return cmp.Or(failed, err)
		}
	}
	_, err := w.w.Seek(w.start+HeaderSize+w.size, io.SeekStart)
	return cmp.Or(failed, err)
}
