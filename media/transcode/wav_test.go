package transcode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/resample"
	"parley/media/wav"

	"pgregory.net/rapid"
)

// lie is a WAV file of 16-bit PCM whose header claims any length.
type lie struct {
	riff, data     uint32
	rate, byteRate uint32
	channels       uint16
	align, bits    uint16
	samples        []int16
	more           []byte // behind the samples
}

func (l lie) file() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("RIFF"), l.riff)
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), l.channels)
	b = le.AppendUint32(le.AppendUint32(b, l.rate), l.byteRate)
	b = le.AppendUint16(le.AppendUint16(b, l.align), l.bits)
	b = le.AppendUint32(append(b, "data"...), l.data)
	for _, s := range l.samples {
		b = le.AppendUint16(b, uint16(s))
	}
	return append(b, l.more...)
}

// honest is how such a file should be.
func honest(samples ...int16) lie {
	n := uint32(2 * len(samples))
	return lie{riff: 36 + n, data: n, rate: 8000, byteRate: 16000, channels: 1, align: 2, bits: 16, samples: samples}
}

var lies = []struct {
	name string
	tell func(*lie)
	want []int16 // nil: it cannot be read
}{
	{"none", func(*lie) {}, []int16{1, 2, 3, 4}},
	{"sizes of a stream", func(l *lie) { l.riff, l.data = 0xFFFFFFFF, 0xFFFFFFFF }, []int16{1, 2, 3, 4}},
	{"no sizes", func(l *lie) { l.riff, l.data = 0, 0 }, []int16{1, 2, 3, 4}},
	{"header of a stream without sizes", func(l *lie) { l.riff, l.data = 36, 0 }, []int16{1, 2, 3, 4}},
	{"more than there is", func(l *lie) { l.data = 1 << 30 }, []int16{1, 2, 3, 4}},
	{"less than there is", func(l *lie) { l.data = 4 }, []int16{1, 2}},
	{"an odd length", func(l *lie) { l.data = 5 }, []int16{1, 2}},
	{"half a sample", func(l *lie) { l.data, l.more = 1<<30, []byte{7} }, []int16{1, 2, 3, 4}},
	{"a byte rate out of the air", func(l *lie) { l.byteRate = 0xFFFFFFFF }, []int16{1, 2, 3, 4}},
	{"an alignment of 0", func(l *lie) { l.align = 0 }, []int16{1, 2, 3, 4}},
	{"two channels", func(l *lie) { l.channels = 2 }, []int16{1, 3}},
	{"no channels", func(l *lie) { l.channels = 0 }, nil},
	{"60000 channels", func(l *lie) { l.channels = 60000 }, nil},
	{"rate 0", func(l *lie) { l.rate = 0 }, nil},
	{"rate 1000", func(l *lie) { l.rate = 1000 }, nil},
	{"rate 4 billion", func(l *lie) { l.rate = 0xFFFFFFFF }, nil},
	{"0 bits", func(l *lie) { l.bits = 0 }, nil},
	{"17 bits", func(l *lie) { l.bits = 17 }, nil},
	{"no samples", func(l *lie) { l.samples = nil }, nil},
}

func TestLyingHeaders(t *testing.T) {
	t.Setenv("PATH", "") // no second opinion
	for _, tt := range lies {
		l := honest(1, 2, 3, 4)
		tt.tell(&l)
		c, err := Decode(t.Context(), l.file(), Options{})
		if tt.want == nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNoDecoder) {
				t.Errorf("%s: %v, %v", tt.name, c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := all(t, c); !slices.Equal(got, tt.want) || c.Rate() != 8000 {
			t.Errorf("%s: %v at %v, want %v", tt.name, got, c.Rate(), tt.want)
		}
	}
}

// TestOutOfAir: no header makes us take memory for what is not there.
func TestOutOfAir(t *testing.T) {
	l := honest(1, 2, 3, 4)
	l.riff, l.data = 0xFFFFFFFE, 0xFFFFFFFE
	body := l.file()
	if n := testing.AllocsPerRun(10, func() {
		c, err := Decode(t.Context(), body, Options{})
		if err != nil || c.Samples() != 4 {
			t.Fatal(c, err)
		}
	}); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

func TestWithoutHeader(t *testing.T) {
	body := []byte{1, 0, 2, 0, 0xFF, 0xFF, 9}
	for _, tt := range []struct {
		source Source
		want   []int16
		err    error
	}{
		{Source{Rate: 8000}, []int16{1, 2, -1}, nil},
		{Source{Format: PCM, Rate: 16000}, []int16{1, 2, -1}, nil},
		{Source{Format: ULaw, Rate: 8000}, []int16{-31100, -32124, -30076, -32124, 0, 0, -22908}, nil},
		{Source{}, nil, ErrUnknownFormat},
		{Source{Format: PCM}, nil, ErrDamaged},
		{Source{Format: PCM, Rate: 3999}, nil, ErrDamaged},
		{Source{Format: "tape"}, nil, ErrUnknownFormat},
	} {
		c, err := Decode(t.Context(), body, Options{Source: tt.source})
		if !errors.Is(err, tt.err) {
			t.Errorf("%+v: %v, want %v", tt.source, err, tt.err)
		}
		if err == nil {
			if got := all(t, c); !slices.Equal(got, tt.want) {
				t.Errorf("%+v: %v, want %v", tt.source, got, tt.want)
			}
		}
	}
	// What is said to be PCM is not looked at.
	c, err := Decode(t.Context(), honest(1).file(), Options{Source: Source{Format: PCM, Rate: 8000}})
	if err != nil || c.Samples() != 23 {
		t.Errorf("%v, %v", c, err)
	}
}

// TestResampledIsTheWhole: resampling in blocks gives what resampling the whole
// clip gives, to the sample.
func TestResampledIsTheWhole(t *testing.T) {
	rates := []media.Rate{4000, 8000, 11025, 12000, 16000, 22050, 22254, 32000, 44100, 44101, 48000, 96000, 192000}
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(rates).Draw(t, "from")
		to := rapid.SampledFrom([]media.Rate{8000, 16000, 24000, 44100, 48000}).Draw(t, "to")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rng.IntN(3*int(from)) + 1
		samples := make([]int16, n)
		for i := range samples {
			samples[i] = int16(rng.IntN(40000) - 20000)
		}
		var b bytes.Buffer
		if err := wav.Encode(&b, wav.Clip{Samples: samples, Rate: from}); err != nil {
			t.Fatal(err)
		}
		c, err := Decode(t.Context(), b.Bytes(), Options{Rate: to})
		if err != nil {
			t.Fatal(err)
		}
		want := samples
		if from != to {
			want = resample.All(samples, supported(from, to), to)
		}
		got := make([]int16, len(want)+1)
		k, err := 0, error(nil)
		if from == to {
			k, err = c.Open().Read(got)
		} else {
			k, err = newResampled(c.(*memory), 1).Read(got)
		}
		if err != nil || !slices.Equal(got[:k], want) {
			t.Fatalf("%d samples of %v to %v: got %d, %v, want %d", n, from, to, k, err, len(want))
		}
	})
}

func TestStrangeRates(t *testing.T) {
	for _, from := range []media.Rate{4001, 7999, 11111, 22254, 44101, 47999, 191999} {
		samples := mediatest.Tone(700, from, int(from)/2, 0.5)
		var b bytes.Buffer
		if err := wav.Encode(&b, wav.Clip{Samples: samples, Rate: from}); err != nil {
			t.Fatal(err)
		}
		c, err := Decode(t.Context(), b.Bytes(), Options{Rate: 16000})
		if err != nil {
			t.Errorf("%v: %v", from, err)
			continue
		}
		if freq, _ := mediatest.Peak(all(t, c), 16000); freq < 695 || freq > 705 {
			t.Errorf("%v: 700 Hz become %.1f", from, freq)
		}
	}
}

// FuzzDecode reads anything that needs no ffmpeg, and all of it.
func FuzzDecode(f *testing.F) {
	for _, tt := range lies {
		l := honest(1, 2, 3, 4)
		tt.tell(&l)
		f.Add(l.file(), int32(0), uint8(0))
		f.Add(l.file(), int32(8000), uint8(1))
	}
	f.Add([]byte("RIFF\xFF\xFF\xFF\xFFWAVEfmt \xFF\xFF\xFF\xFF"), int32(-1), uint8(2))
	f.Add([]byte{1, 2, 3}, int32(44101), uint8(3))
	f.Setenv("PATH", "")
	f.Fuzz(func(t *testing.T, body []byte, pcm int32, wanted uint8) {
		rate := []media.Rate{0, 8000, 16000, 44100}[wanted%4]
		c, err := Decode(t.Context(), body, Options{Rate: rate, Source: Source{Rate: media.Rate(pcm)}})
		if err != nil {
			return
		}
		if c.Samples() <= 0 || c.Duration() < 0 || c.Samples() > 60*int64(len(body)) {
			t.Errorf("%d samples, %v, of %d bytes", c.Samples(), c.Duration(), len(body))
		}
		all(t, c)
	})
}

// FuzzSniff: whatever the bytes, they are nothing or a format that there is a reader for.
func FuzzSniff(f *testing.F) {
	f.Add([]byte("\xFF\xFB\x90\x00"))
	f.Add([]byte("\xFF\xF1\x50\x80\x00\xFF\xFC"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if format := Sniff(head); format != "" && demuxers[format] == "" {
			t.Errorf("%q", format)
		}
	})
}
