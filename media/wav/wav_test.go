package wav

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"parley/media"
	"parley/media/mediatest"

	"github.com/zaf/g711"
	"pgregory.net/rapid"
)

const noLimit = 1 << 30

// file builds a WAV file from chunks.
func file(chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func chunk(id string, body []byte) []byte {
	c := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(body)))
	c = append(c, body...)
	if len(body)%2 == 1 {
		c = append(c, 0)
	}
	return c
}

func format(tag, channels, rate, bits int) []byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(tag))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*channels*bits/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(channels*bits/8))
	return binary.LittleEndian.AppendUint16(b, uint16(bits))
}

// extensible is the long form of format.
func extensible(tag, channels, rate, bits int) []byte {
	b := format(tagExtensible, channels, rate, bits)
	b = append(b, 22, 0, byte(bits), 0, 4, 0, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(tag))
	return append(b, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71)
}

func float(vs ...float32) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func TestDecodeEncodings(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		format []byte
		data   []byte
		want   []int16
	}{
		{"8 bit", format(tagPCM, 1, 8000, 8), []byte{0, 0x80, 0xFF}, []int16{-32768, 0, 32512}},
		{"16 bit", format(tagPCM, 1, 8000, 16), []byte{0, 0x80, 1, 0, 0xFF, 0x7F}, []int16{-32768, 1, 32767}},
		{"24 bit", format(tagPCM, 1, 8000, 24), []byte{0, 0, 0x80, 0x80, 1, 0, 0xFF, 0xFF, 0x7F}, []int16{-32768, 2, 32767}},
		{"32 bit", format(tagPCM, 1, 8000, 32), []byte{0, 0, 0, 0x80, 0, 0x80, 1, 0, 0xFF, 0xFF, 0xFF, 0x7F}, []int16{-32768, 2, 32767}},
		{"float", format(tagFloat, 1, 8000, 32), float(-1, 0.5, 1, 7, nan, -1e30), []int16{-32768, 16384, 32767, 32767, 0, -32768}},
		{"A-law", format(tagALaw, 1, 8000, 8), []byte{0xD5, 0xAA}, []int16{8, 32256}},
		{"mu-law", append(format(tagMuLaw, 1, 8000, 8), 0, 0), []byte{0xFF, 0x80, 0x00}, []int16{0, 32124, -32124}},
		{"stereo", format(tagPCM, 2, 8000, 16), []byte{100, 0, 50, 0, 1, 0x80, 1, 0x80}, []int16{75, -32767}},
		{"extensible", extensible(tagPCM, 1, 8000, 16), []byte{5, 0}, []int16{5}},
		{"extensible float", extensible(tagFloat, 1, 8000, 32), float(0.25), []int16{8192}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := file(chunk("LIST", []byte("odd")), chunk("fmt ", c.format), chunk("fact", make([]byte, 4)),
				chunk("data", c.data), chunk("id3 ", []byte("trailing")))
			clip, err := Decode(iotest.OneByteReader(bytes.NewReader(b)), noLimit)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(clip.Samples, c.want) || clip.Rate != 8000 {
				t.Errorf("got %v at %v, want %v", clip.Samples, clip.Rate, c.want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	data := chunk("data", make([]byte, 8))
	for _, c := range []struct {
		name   string
		b      []byte
		reason string
	}{
		{"nothing", nil, "ends before"},
		{"text", []byte(strings.Repeat("hello ", 9)), "RIFF"},
		{"other RIFF", []byte("RIFF\x04\x00\x00\x00AVI "), "RIFF"},
		{"no audio", file(chunk("fmt ", format(tagPCM, 1, 8000, 16))), "ends before"},
		{"audio first", file(data, chunk("fmt ", format(tagPCM, 1, 8000, 16))), "no fmt"},
		{"short fmt", file(chunk("fmt ", make([]byte, 12)), data), "12 bytes"},
		{"ADPCM", file(chunk("fmt ", format(2, 1, 8000, 4)), data), "encoding 2"},
		{"12 bits", file(chunk("fmt ", format(tagPCM, 1, 8000, 12)), data), "12 bits"},
		{"extensible cut short", file(chunk("fmt ", format(tagExtensible, 1, 8000, 16)), data), "encoding 65534"},
		{"no channels", file(chunk("fmt ", format(tagPCM, 0, 8000, 16)), data), "0 channels"},
		{"many channels", file(chunk("fmt ", format(tagPCM, 60000, 8000, 16)), data), "60000 channels"},
		{"rate 0", file(chunk("fmt ", format(tagPCM, 1, 0, 16)), data), "0 samples a second"},
		{"rate 4 billion", file(chunk("fmt ", format(tagPCM, 1, 0xFFFFFFFF, 16)), data), "samples a second"},
		{"endless chunk", file([]byte("junk\xFF\xFF\xFF\xFF")), "ends before"},
	} {
		_, err := Decode(bytes.NewReader(c.b), noLimit)
		f, ok := errors.AsType[*FormatError](err)
		if !ok || !strings.Contains(f.Reason, c.reason) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.reason)
		}
	}
}

func TestDecodeUnknownLength(t *testing.T) {
	b := file(chunk("fmt ", format(tagPCM, 2, 16000, 16)), chunk("data", make([]byte, 10)))
	at := bytes.Index(b, []byte("data")) + 4
	for _, c := range []struct {
		name       string
		riff, data uint32
		want       int
	}{
		{"all known", uint32(len(b) - 8), 10, 2},
		{"0 in both", 0, 0, 2},
		{"all ones in both", math.MaxUint32, math.MaxUint32, 2},
		{"longer than the file", 5000, 4000, 2},
		{"shorter than the file", 40, 4, 1},
		{"empty, then other chunks", uint32(len(b) - 8), 0, 0},
	} {
		binary.LittleEndian.PutUint32(b[4:], c.riff)
		binary.LittleEndian.PutUint32(b[at:], c.data)
		clip, err := Decode(bytes.NewReader(b), noLimit)
		if err != nil || len(clip.Samples) != c.want {
			t.Errorf("%s: %d samples, %v, want %d", c.name, len(clip.Samples), err, c.want)
		}
	}
}

func TestDecodeLimit(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, Clip{make([]int16, 10000), media.Rate8k}); err != nil {
		t.Fatal(err)
	}
	size := int64(b.Len())
	for limit, want := range map[int64]error{0: ErrTooLarge, 10: ErrTooLarge, 5000: ErrTooLarge, size - 1: ErrTooLarge, size: nil} {
		if _, err := Decode(bytes.NewReader(b.Bytes()), limit); err != want {
			t.Errorf("limit %d: %v, want %v", limit, err, want)
		}
	}
	broken := errors.New("connection lost")
	r := io.MultiReader(bytes.NewReader(b.Bytes()[:5000]), iotest.ErrReader(broken))
	if _, err := Decode(r, noLimit); err != broken {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clip := Clip{
			Samples: rapid.SliceOfN(rapid.Int16(), 0, 5000).Draw(t, "samples"),
			Rate:    media.Rate(rapid.Int32Range(minRate, maxRate).Draw(t, "rate")),
		}
		var b bytes.Buffer
		if err := Encode(&b, clip); err != nil {
			t.Fatal(err)
		}
		if b.Len() != HeaderSize+2*len(clip.Samples) {
			t.Fatalf("%d bytes for %d samples", b.Len(), len(clip.Samples))
		}
		got, err := Decode(&b, noLimit)
		if err != nil || got.Rate != clip.Rate || !slices.Equal(got.Samples, clip.Samples) {
			t.Fatalf("%d of %d samples at %v, %v", len(got.Samples), len(clip.Samples), got.Rate, err)
		}
	})
}

func TestEncodeReportsFailure(t *testing.T) {
	clip := Clip{make([]int16, 3*writeBlock), media.Rate8k}
	for _, room := range []int{0, HeaderSize, HeaderSize + 2*writeBlock} {
		if err := Encode(&brokenDisk{room: room}, clip); err != errDisk {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}

// TestWriter records two channels behind something else in the same file, and
// looks at the file before and after Close.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "call.wav")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteString("prefix")
	w, err := NewWriter(f, media.Rate16k, 2)
	if err != nil {
		t.Fatal(err)
	}
	tone := mediatest.Tone(440, media.Rate16k, 16000, 0.5)
	stereo := make([]int16, 0, 32000)
	for _, s := range tone {
		stereo = append(stereo, s, s)
	}
	for block := range slices.Chunk(stereo, 5000) {
		if err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		clip, err := Decode(bytes.NewReader(b[len("prefix"):]), noLimit)
		if err != nil || clip.Rate != media.Rate16k || !slices.Equal(clip.Samples, tone) {
			t.Errorf("%s: %d samples at %v, %v", when, len(clip.Samples), clip.Rate, err)
		}
	}
	check("before Close")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f.WriteString("what follows is after the audio")
	check("after Close")
	if err := w.Write(tone); err != ErrClosed {
		t.Errorf("Write after Close: %v", err)
	}
	if err := w.Close(); err != ErrClosed {
		t.Errorf("second Close: %v", err)
	}
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	if _, err := NewWriter(&brokenDisk{}, media.Rate8k, 1); err != errDisk {
		t.Errorf("NewWriter: %v", err)
	}
	if _, err := NewWriter(&brokenDisk{room: 999}, media.Rate8k, 3); err == nil {
		t.Error("three channels accepted")
	}
	d := &brokenDisk{room: HeaderSize + 8}
	w, err := NewWriter(d, media.Rate8k, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(make([]int16, 4)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Write(make([]int16, 4)); err != errDisk {
			t.Errorf("Write: %v", err)
		}
	}
	d.room = 999
	if err := w.Close(); err != errDisk {
		t.Errorf("Close: %v", err)
	}
}

func TestWriterDoesNotOutgrowTheFormat(t *testing.T) {
	w, err := NewWriter(&brokenDisk{room: math.MaxInt}, media.Rate48k, 2)
	if err != nil {
		t.Fatal(err)
	}
	w.size = maxData - 2
	if err := w.Write(make([]int16, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(make([]int16, 1)); err != ErrTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestWriterDoesNotAllocate(t *testing.T) {
	w, err := NewWriter(&brokenDisk{room: math.MaxInt}, media.Rate8k, 2)
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]int16, 2*writeBlock+1)
	mediatest.NoAllocs(t, func() { w.Write(samples) })
}

func TestLawsMatchTheirEncoder(t *testing.T) {
	for v := -32000; v <= 32000; v += 997 {
		for tag, b := range map[int]byte{tagALaw: g711.EncodeAlawFrame(int16(v)), tagMuLaw: g711.EncodeUlawFrame(int16(v))} {
			clip, err := Decode(bytes.NewReader(file(chunk("fmt ", format(tag, 1, 8000, 8)), chunk("data", []byte{b}))), noLimit)
			if err != nil || len(clip.Samples) != 1 || math.Abs(float64(int(clip.Samples[0])-v)) > 16+math.Abs(float64(v))/16 {
				t.Errorf("encoding %d of %d gives %v, %v", tag, v, clip.Samples, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	data := chunk("data", make([]byte, 24))
	for _, tag := range []int{tagPCM, tagFloat, tagALaw, tagMuLaw} {
		for _, bits := range []int{8, 16, 24, 32} {
			f.Add(file(chunk("fmt ", format(tag, 2, 44100, bits)), data))
			f.Add(file(chunk("LIST", []byte("x")), chunk("fmt ", extensible(tag, 1, 8000, bits)), data))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		clip, err := Decode(bytes.NewReader(b), 4096)
		if err != nil {
			if _, ok := errors.AsType[*FormatError](err); !ok && err != ErrTooLarge {
				t.Errorf("untyped error %v", err)
			}
			return
		}
		if len(clip.Samples) > len(b) || clip.Rate < minRate || clip.Rate > maxRate {
			t.Errorf("%d samples at %v from %d bytes", len(clip.Samples), clip.Rate, len(b))
		}
	})
}

var errDisk = errors.New("disk full")

// brokenDisk has room for so many bytes and forgets them.
type brokenDisk struct{ room int }

func (d *brokenDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		return 0, errDisk
	}
	d.room -= len(b)
	return len(b), nil
}

func (d *brokenDisk) Seek(int64, int) (int64, error) { return 0, nil }
