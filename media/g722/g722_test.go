package g722_test

import (
	"bytes"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"

	"parley/media/g722"
	"parley/media/mediatest"
	"parley/media/wav"
)

// sweep is a rising triangle with noise on it, loud, faint and silent in turns: whole numbers alone, so
// that it is the same everywhere.
func sweep(n int) []int16 {
	out := make([]int16, n)
	noise, phase, step := uint32(1), int32(0), int32(200)
	for i := range out {
		noise = noise*1664525 + 1013904223
		if phase += step; i%16 == 0 {
			step++
		}
		wave := phase % 65536
		if wave > 32767 {
			wave = 65535 - wave
		}
		v := 2*wave - 32768 + int32(noise>>16)%6000 - 3000
		switch i / 3000 % 4 {
		case 1:
			v /= 64
		case 2:
			v = 0
		}
		out[i] = int16(max(-32768, min(v, 32767)))
	}
	return out
}

// junk are bytes of no encoder's.
func junk(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(uint32(i+1) * 2654435761 >> 11)
	}
	return out
}

func encode(samples []int16) []byte {
	var e g722.Encoder
	codes := make([]byte, len(samples)/2)
	e.Encode(codes, samples)
	return codes
}

func decode(codes []byte) []int16 {
	var d g722.Decoder
	samples := make([]int16, 2*len(codes))
	d.Decode(samples, codes)
	return samples
}

// raw are samples as little endian bytes.
func raw(samples []int16) []byte {
	out := make([]byte, 0, 2*len(samples))
	for _, s := range samples {
		out = append(out, byte(s), byte(uint16(s)>>8))
	}
	return out
}

// The checksums are those of what FFmpeg makes of the same.
func TestKnownValues(t *testing.T) {
	codes := encode(sweep(48000))
	for name, c := range map[string]struct {
		got  []byte
		want uint32
	}{
		"codes":   {codes, 0xe25b0c56},
		"samples": {raw(decode(codes)), 0x745acba1},
		"junk":    {raw(decode(junk(20000))), 0x4911e321},
	} {
		if got := crc32.ChecksumIEEE(c.got); got != c.want {
			t.Errorf("%s: checksum %#08x, want %#08x", name, got, c.want)
		}
	}
}

// Both directions are FFmpeg's, to the bit, where it is installed.
func TestAgainstFFmpeg(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("there is no ffmpeg")
	}
	run := func(in []byte, args ...string) []byte {
		c := exec.Command("ffmpeg", append(append([]string{"-nostdin", "-v", "error"}, args...), "pipe:1")...)
		c.Stdin = bytes.NewReader(in)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, samples := range map[string][]int16{"sweep": sweep(48000), "speech": speech(t)} {
		samples = samples[:len(samples)/320*320]
		codes := encode(samples)
		theirs := run(raw(samples), "-f", "s16le", "-ar", "16000", "-ac", "1", "-i", "pipe:0", "-c:a", "g722", "-f", "g722")
		if !bytes.Equal(codes, theirs) {
			t.Errorf("%s: the codes differ", name)
		}
		for of, codes := range map[string][]byte{"own": codes, "random": junk(20000)} {
			theirs := run(codes, "-f", "g722", "-i", "pipe:0", "-f", "s16le")
			if !bytes.Equal(raw(decode(codes)), theirs) {
				t.Errorf("%s: the samples of %s codes differ", name, of)
			}
		}
	}
}

func TestTonesOfBothBands(t *testing.T) {
	for hz, want := range map[float64]float64{100: 30, 300: 30, 1000: 35, 3000: 32, 3900: 22, 4500: 12, 5000: 15, 6500: 14} {
		out := decode(encode(mediatest.Tone(hz, g722.Rate, 16000, 0.3)))
		if snr := mediatest.SNR(out[1600:], g722.Rate, hz); snr < want {
			t.Errorf("%v Hz comes back at %.1f dB, want %v", hz, snr, want)
		}
		if level := mediatest.ToneLevel(out[1600:], g722.Rate, hz); math.Abs(level+13.5) > 0.5 {
			t.Errorf("%v Hz at -13.5 dBFS comes back at %.1f", hz, level)
		}
	}
}

// speech is a sentence at 16 kHz.
func speech(t *testing.T) []int16 {
	t.Helper()
	file, err := os.ReadFile("../../testdata/speech/opening-hours.wav")
	if err != nil {
		t.Fatal(err)
	}
	clip, err := wav.Decode(bytes.NewReader(file), int64(len(file)))
	if err != nil || clip.Rate != g722.Rate {
		t.Fatalf("%v, %v", clip, err)
	}
	return clip.Samples
}

// filterDelay is that of both pairs of filters.
const filterDelay = 22

func TestSpeech(t *testing.T) {
	said := speech(t)
	heard := decode(encode(said))[filterDelay:]
	var signal, noise float64
	for i, h := range heard {
		s := float64(said[i])
		signal += s * s
		noise += (s - float64(h)) * (s - float64(h))
	}
	if snr := 10 * math.Log10(signal/noise); snr < 18 {
		t.Errorf("speech comes back at %.1f dB", snr)
	}
}

// A stream may be coded in pieces, and a new Encoder or Decoder is at the start of one.
func TestMemory(t *testing.T) {
	samples := sweep(16000)
	whole := encode(samples)
	var e g722.Encoder
	var d g722.Decoder
	var codes []byte
	var heard []int16
	for piece := range slices.Chunk(samples, 320) {
		code, back := make([]byte, 160), make([]int16, 320)
		e.Encode(code, piece)
		d.Decode(back, code)
		codes, heard = append(codes, code...), append(heard, back...)
	}
	if !bytes.Equal(codes, whole) || !slices.Equal(heard, decode(whole)) {
		t.Error("pieces give something else than the whole")
	}
	again := make([]byte, len(whole))
	if e.Encode(again, samples); bytes.Equal(again, whole) {
		t.Error("the encoder has no memory")
	}
	e = g722.Encoder{}
	if e.Encode(again, samples); !bytes.Equal(again, whole) {
		t.Error("the encoder remembers what was before its reset")
	}
}

// A decoder that has missed something, or was given what is no audio, soon hears right again.
func TestDecoderFindsBack(t *testing.T) {
	codes := encode(mediatest.Tone(1000, g722.Rate, 32000, 0.3))
	for name, before := range map[string][]byte{"a gap": codes[:4000], "junk": junk(4000), "zeros": make([]byte, 4000)} {
		var d g722.Decoder
		d.Decode(make([]int16, 8000), before)
		heard := make([]int16, 16000)
		d.Decode(heard, codes[8000:])
		if snr := mediatest.SNR(heard[3200:], g722.Rate, 1000); snr < 34 {
			t.Errorf("200 ms after %s the tone is heard at %.1f dB", name, snr)
		}
	}
}

func TestShortSlices(t *testing.T) {
	var e g722.Encoder
	var d g722.Decoder
	for name, c := range map[string]struct{ got, want int }{
		"few samples": {e.Encode(make([]byte, 9), make([]int16, 7)), 3},
		"few bytes":   {e.Encode(make([]byte, 2), make([]int16, 7)), 2},
		"few codes":   {d.Decode(make([]int16, 9), make([]byte, 3)), 6},
		"no room":     {d.Decode(make([]int16, 5), make([]byte, 3)), 4},
		"nothing":     {e.Encode(nil, nil) + d.Decode(nil, nil), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	var e g722.Encoder
	var d g722.Decoder
	pcm, codes := sweep(320), make([]byte, 160)
	mediatest.NoAllocs(t, func() {
		e.Encode(codes, pcm)
		d.Decode(pcm, codes)
	})
}

// Both are of 20 ms.
func BenchmarkEncode(b *testing.B) {
	var e g722.Encoder
	pcm, codes := sweep(320), make([]byte, 160)
	b.ReportAllocs()
	for b.Loop() {
		e.Encode(codes, pcm)
	}
}

func BenchmarkDecode(b *testing.B) {
	var d g722.Decoder
	pcm, codes := make([]int16, 320), encode(sweep(320))
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(pcm, codes)
	}
}
