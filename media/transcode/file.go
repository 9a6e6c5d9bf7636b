package transcode

import (
	"errors"
	"io"
	"os"
	"time"

	"parley/media"
	"parley/media/wav"
)

// decoded is a clip that waits in a file: the output of a child.
type decoded struct {
	f       *os.File
	start   int64 // of the samples in f
	rate    media.Rate
	samples int64
}

// maxHeader is more than the header that the child writes.
const maxHeader = 256

// openDecoded makes a clip of a WAV file whose header does not know its length.
func openDecoded(f *os.File, l Limits) (*decoded, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head := make([]byte, min(maxHeader, info.Size()))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, err
	}
	audio, err := wav.Parse(head)
	if err != nil {
		return nil, fault(ErrDamaged, "there is no audio in it")
	}
	c := &decoded{f: f, start: int64(audio.Offset), rate: audio.Rate}
	c.samples = (info.Size() - c.start) / 2
	return c, check(c.samples, c.rate, l)
}

func (c *decoded) Rate() media.Rate        { return c.rate }
func (c *decoded) Samples() int64          { return c.samples }
func (c *decoded) Duration() time.Duration { return duration(c.samples, c.rate) }
func (c *decoded) Close() error            { return c.f.Close() }

func (c *decoded) Open() Reader {
	return &fileReader{r: io.NewSectionReader(c.f, c.start, 2*c.samples)}
}

// fileReader reads samples from a file.
type fileReader struct {
	r   io.Reader
	buf []byte
}

// readBlock is how many samples are read from a file at a time.
const readBlock = 32 << 10

func (r *fileReader) Read(p []int16) (int, error) {
	if r.buf == nil {
		r.buf = make([]byte, 2*readBlock)
	}
	done := 0
	for done < len(p) {
		b := r.buf[:2*min(readBlock, len(p)-done)]
		n, err := io.ReadFull(r.r, b)
		media.AppendSamples(p[done:done], b[:n])
		done += n / 2
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return done, err
		case done == 0:
			return 0, io.EOF
		default:
			return done, nil
		}
	}
	return done, nil
}
