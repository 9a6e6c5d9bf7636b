package transcode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
)

// kinds are files as they come, each with the options that make it.
var kinds = []struct {
	name   string
	format Format
	ext    string
	args   []string
}{
	{"mp3", MP3, "mp3", []string{"-c:a", "libmp3lame"}},
	{"mp3 without tags", MP3, "mp3", []string{"-c:a", "libmp3lame", "-id3v2_version", "0", "-write_xing", "0"}},
	{"mp3 at a low rate", MP3, "mp3", []string{"-c:a", "libmp3lame", "-ar", "16000", "-id3v2_version", "0"}},
	{"aac", AAC, "aac", []string{"-c:a", "aac"}},
	{"aac behind a tag", AAC, "aac", []string{"-c:a", "aac", "-write_id3v2", "1"}},
	{"vorbis in ogg", Ogg, "ogg", []string{"-c:a", "libvorbis"}},
	{"opus in ogg", Ogg, "ogg", []string{"-c:a", "libopus", "-ar", "48000"}},
	{"opus in webm", WebM, "webm", []string{"-c:a", "libopus", "-ar", "48000"}},
	{"opus in a live webm", WebM, "webm", []string{"-c:a", "libopus", "-ar", "48000", "-live", "1"}},
	{"mp4 with its index at the end", MP4, "mp4", []string{"-c:a", "aac"}},
	{"mp4 with its index first", MP4, "mp4", []string{"-c:a", "aac", "-movflags", "+faststart"}},
	{"mp4 in fragments", MP4, "mp4", []string{"-c:a", "aac", "-movflags", "+frag_keyframe+empty_moov"}},
	{"flac", FLAC, "flac", []string{"-c:a", "flac"}},
	{"flac of 96 kHz and 24 bits", FLAC, "flac", []string{"-c:a", "flac", "-ar", "96000", "-sample_fmt", "s32"}},
	{"adpcm in wav", WAV, "wav", []string{"-c:a", "adpcm_ima_wav"}},
	{"double in wav", WAV, "wav", []string{"-c:a", "pcm_f64le"}},
	{"wide wav", WAV, "wav", []string{"-c:a", "pcm_s24le", "-ar", "96000"}},
	{"mu-law in wav", WAV, "wav", []string{"-c:a", "pcm_mulaw", "-ar", "8000"}},
}

const (
	toneHz   = 1000
	toneSecs = 1.5
)

// files are those that were made before, by how.
var files = map[string][]byte{}

// made is a file of a tone in both channels, made by ffmpeg. It must not be
// changed.
func made(t testing.TB, ext string, args ...string) []byte {
	t.Helper()
	how := fmt.Sprint(ext, args)
	if files[how] == nil {
		files[how] = source(t, "sine=frequency=1000:sample_rate=44100:duration=1.5", ext, append([]string{"-ac", "2"}, args...)...)
	}
	return files[how]
}

// source is a file of what ffmpeg generates.
func source(t testing.TB, what, ext string, args ...string) []byte {
	t.Helper()
	if !Available() {
		t.Skip("there is no ffmpeg to make files with")
	}
	file := filepath.Join(t.TempDir(), "a."+ext)
	cmd := exec.Command(program, slices.Concat([]string{"-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", what}, args, []string{file})...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("making %s: %v\n%s", ext, err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// all reads a clip to its end and closes it.
func all(t testing.TB, c Clip) []int16 {
	t.Helper()
	first, second := drain(t, c.Open(), 1000), drain(t, c.Open(), 7777)
	if !slices.Equal(first, second) {
		t.Error("the clip is not the same when it is read again")
	}
	if int64(len(first)) != c.Samples() {
		t.Errorf("%d samples were read, the clip has %d", len(first), c.Samples())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	return first
}

func drain(t testing.TB, r Reader, size int) (samples []int16) {
	t.Helper()
	p := make([]int16, size)
	for {
		n, err := r.Read(p)
		samples = append(samples, p[:n]...)
		if errors.Is(err, io.EOF) {
			return samples
		}
		if err != nil || n == 0 {
			t.Fatalf("Read: %d, %v", n, err)
		}
	}
}

// TestContainers finds the tone again in every kind of file, at its own rate and
// in one of each container at the recogniser's.
func TestContainers(t *testing.T) {
	seen := map[Format]bool{}
	for _, k := range kinds {
		rates := []media.Rate{0, media.Rate16k}
		if seen[k.format] {
			rates = rates[:1]
		}
		seen[k.format] = true
		t.Run(k.name, func(t *testing.T) {
			body := made(t, k.ext, k.args...)
			if got := Sniff(body[:min(len(body), 4<<10)]); got != k.format {
				t.Fatalf("it is taken for %q", got)
			}
			for _, rate := range rates {
				c, err := Decode(t.Context(), body, Options{Rate: rate, Source: Source{Rate: 8000}})
				if err != nil {
					t.Fatal(err)
				}
				if rate != 0 && c.Rate() != rate {
					t.Errorf("rate %v, want %v", c.Rate(), rate)
				}
				if d := c.Duration().Seconds(); math.Abs(d-toneSecs) > 0.12 { // encoders pad
					t.Errorf("%v: %.3f s, want %v", c.Rate(), d, toneSecs)
				}
				at := c.Rate()
				samples := all(t, c)
				freq, level := mediatest.Peak(samples[at/5:at], at)
				if math.Abs(freq-toneHz) > 2 || math.Abs(level+24.1) > 1 { // as ffmpeg spreads it over two channels
					t.Errorf("%v: the tone is at %.1f Hz, %.1f dB", at, freq, level)
				}
			}
		})
	}
}

// TestDamagedContainers: of half a file half is decoded or nothing, and of rubbish
// nothing.
func TestDamagedContainers(t *testing.T) {
	seen := map[Format]bool{}
	for _, k := range kinds {
		if seen[k.format] {
			continue // one of each container will do
		}
		seen[k.format] = true
		t.Run(k.name, func(t *testing.T) {
			body := made(t, k.ext, k.args...)
			c, err := Decode(t.Context(), body[:len(body)/2], Options{})
			switch {
			case err == nil:
				if d := c.Duration(); d > time.Second {
					t.Errorf("%v in half of it", d)
				}
				all(t, c)
			case !errors.Is(err, ErrDamaged):
				t.Errorf("half of it: %v", err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			rubbish := slices.Clone(body)
			for i := 64; i < len(rubbish); i++ {
				rubbish[i] = byte(rng.Uint32())
			}
			c, err = Decode(t.Context(), rubbish, Options{})
			if err == nil {
				all(t, c)
			} else if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnknownFormat) && !errors.Is(err, ErrTooLong) {
				t.Errorf("rubbish: %v", err)
			}
		})
	}
}

// TestNotAudio: nothing that could name other files is ever given to a decoder.
func TestNotAudio(t *testing.T) {
	for _, body := range []string{
		"", "hello", "ffconcat version 1.0\nfile /etc/passwd\n", "#EXTM3U\n#EXTINF:1,\n/etc/passwd\n",
		`<?xml version="1.0"?><MPD/>`, "\xFF\xFB", "\xFF\xFB\x90\x00 and then something else, and more of it",
		string(make([]byte, 5000)), "RIFF\x04\x00\x00\x00AVI LIST", "\x89PNG\r\n\x1a\n0123456789",
	} {
		if c, err := Decode(t.Context(), []byte(body), Options{}); !errors.Is(err, ErrUnknownFormat) {
			t.Errorf("%.20q: %v, %v", body, c, err)
		}
	}
}

// TestTooMuch: an endless file is given up as soon as there is too much of it.
func TestTooMuch(t *testing.T) {
	limits := Limits{Duration: 10 * time.Second}
	bomb := source(t, "anullsrc=r=48000:d=300", "flac") // 29 MB of silence
	slow := source(t, "anullsrc=r=8000:d=12", "mp3")
	t.Logf("5 minutes in %d bytes", len(bomb))
	for _, body := range [][]byte{bomb, slow} {
		if _, err := Decode(t.Context(), body, Options{Limits: limits}); !errors.Is(err, ErrTooLong) {
			t.Errorf("%v, want %v", err, ErrTooLong)
		}
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "decoded"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := run(t.Context(), slow, MP3, demuxers[MP3], out, Options{Limits: Limits{Duration: time.Second}}); err != nil {
		t.Error(err)
	}
	if at, err := out.Seek(0, io.SeekCurrent); err != nil || at > 3*8000*2 {
		t.Errorf("of 12 s %d bytes were decoded (%v), where 1 s is allowed", at, err)
	}
	if _, err := Decode(t.Context(), make([]byte, 8000*2*11), Options{Source: Source{Rate: 8000}, Limits: limits}); !errors.Is(err, ErrTooLong) {
		t.Errorf("PCM: %v, want %v", err, ErrTooLong)
	}
	if _, err := Decode(t.Context(), bomb, Options{Limits: Limits{Bytes: int64(len(bomb)) - 1}}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v, want %v", err, ErrTooLarge)
	}
}

// TestNoDecoder: without ffmpeg WAV and PCM are read, and the rest is refused as
// what it is.
func TestNoDecoder(t *testing.T) {
	compressed := made(t, "mp3")
	plain := made(t, "wav")
	t.Setenv("PATH", "")
	if Available() {
		t.Error("ffmpeg is still there")
	}
	if _, err := Decode(t.Context(), compressed, Options{}); !errors.Is(err, ErrNoDecoder) {
		t.Errorf("%v, want %v", err, ErrNoDecoder)
	}
	c, err := Decode(t.Context(), plain, Options{Rate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all(t, c)); n != toneSecs*16000 {
		t.Errorf("%d samples", n)
	}
	if _, err := Encode(context.Background(), &bytes.Buffer{}, MP3, 44100); !errors.Is(err, ErrNoEncoder) {
		t.Errorf("%v, want %v", err, ErrNoEncoder)
	}
}
