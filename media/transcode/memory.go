package transcode

import (
	"io"
	"time"

	"parley/media"
	"parley/media/resample"
	"parley/media/wav"
)

// memory is a clip that is decoded from the bytes of its file whenever it is read.
type memory struct {
	audio   wav.Audio
	from    media.Rate // the audio's rate, as it is taken
	rate    media.Rate
	samples int64
}

// inMemory makes a clip of audio in memory.
func inMemory(audio wav.Audio, o Options) (Clip, error) {
	n := int64(audio.Samples())
	if err := check(n, audio.Rate, o.Limits); err != nil {
		return nil, err
	}
	c := &memory{audio: audio, from: audio.Rate, rate: audio.Rate, samples: n}
	if o.Rate == 0 || o.Rate == c.rate {
		return c, nil
	}
	c.rate, c.from = o.Rate, supported(c.from, o.Rate)
	if c.from == 0 {
		return nil, fault(ErrDamaged, "%d samples a second are no rate of a recording", int32(audio.Rate))
	}
	c.samples = max(1, (n*int64(c.rate)+int64(c.from)/2)/int64(c.from))
	return c, nil
}

func (c *memory) Rate() media.Rate        { return c.rate }
func (c *memory) Samples() int64          { return c.samples }
func (c *memory) Duration() time.Duration { return duration(c.samples, c.rate) }
func (c *memory) Close() error            { c.audio = wav.Raw(nil, c.from); return nil }

func (c *memory) Open() Reader {
	if c.rate == c.from {
		return &direct{audio: c.audio}
	}
	return newResampled(c, blockSeconds)
}

// direct reads audio as it is.
type direct struct {
	audio wav.Audio
	at    int
}

func (r *direct) Read(p []int16) (int, error) {
	n := r.audio.ReadAt(p, r.at)
	r.at += n
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// resampled reads audio at another rate, a block of some seconds at a time. A
// block is a whole number of the ratio's cycles and is converted with enough of its
// neighbours that no filter reaches beyond them, so blocks join without a seam.
type resampled struct {
	c            *memory
	block        int     // samples of the audio in a block
	margin       int     // samples before and after it, whole cycles too
	at           int     // where the next block begins
	buf          []int16 // margin, block, margin
	ready        []int16 // converted, not yet read
	given, total int64
}

const (
	blockSeconds = 10 // long enough that making the filter of a strange rate does not count
	// filterReach is more than the filters' half width, in samples of the lower rate.
	filterReach = 64
)

func newResampled(c *memory, seconds int) *resampled {
	from, to := int(c.from), int(c.rate)
	_, cycle := resample.Ratio(c.from, c.rate)
	reach := filterReach * max(1, (from+to-1)/to)
	r := &resampled{c: c, total: c.samples}
	r.block = (min(seconds*from, c.audio.Samples()) + cycle - 1) / cycle * cycle
	r.margin = (reach + cycle - 1) / cycle * cycle
	return r
}

func (r *resampled) Read(p []int16) (int, error) {
	n := 0
	for n < len(p) && r.given < r.total {
		if len(r.ready) == 0 {
			r.convert()
		}
		k := copy(p[n:], r.ready)
		k = int(min(int64(k), r.total-r.given))
		r.ready = r.ready[k:]
		r.given += int64(k)
		n += k
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// convert makes the next block ready. Beyond the clip there is silence.
func (r *resampled) convert() {
	if r.buf == nil {
		r.buf = make([]int16, r.block+2*r.margin)
	}
	clear(r.buf)
	first := r.at - r.margin
	skip := max(0, -first)
	r.c.audio.ReadAt(r.buf[skip:], first+skip)
	out := resample.All(r.buf, r.c.from, r.c.rate)
	head := r.margin * int(r.c.rate) / int(r.c.from)
	r.ready = out[head : head+r.block*int(r.c.rate)/int(r.c.from)]
	r.at += r.block
}
