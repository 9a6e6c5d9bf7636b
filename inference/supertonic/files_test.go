package supertonic

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/inference/supertonic/supertonictest"
)

func TestFiles(t *testing.T) {
	f, err := ReadFiles(supertonictest.Write(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if f.Channels != 144 || f.Frame != 3072 {
		t.Errorf("%d channels, %d samples a column", f.Channels, f.Frame)
	}
	if ids := f.IDs("né", "fr"); !slices.Equal(ids, []int64{'<', 'f', 'r', '>', 'n', 'e', 0x301, '.', '<', '/', 'f', 'r', '>'}) {
		t.Errorf("ids %v", ids)
	}
	if ids := f.IDs("漢", "en"); ids != nil {
		t.Errorf("ids %v of nothing", ids)
	}
	for _, id := range Voices {
		s, ok := f.Style(id)
		want := supertonictest.VoiceOf(id)
		if !ok || len(s.Sound) != 50*256 || len(s.Pace) != 8*16 || s.Sound[9999] != want.Level || s.Pace[99] != want.Pace {
			t.Errorf("%s: %d and %d values, %v", id, len(s.Sound), len(s.Pace), ok)
		}
	}
	if _, ok := f.Style("X1"); ok {
		t.Error("there is a voice X1")
	}
	for _, c := range []struct {
		seconds          float64
		samples, columns int
	}{{0, 0, 0}, {1, 44100, 15}, {3072.0 / 44100, 3072, 1}, {3073.0001 / 44100, 3073, 2}, {6144.0 / 44100, 6144, 2}, {math.Nextafter(1, 0), 44099, 15}} {
		if n, m := f.Length(c.seconds); n != c.samples || m != c.columns {
			t.Errorf("%v s: %d samples, %d columns", c.seconds, n, m)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	style := func(rows int) map[string]any {
		return map[string]any{"style_ttl": map[string]any{"dims": []int{1, rows, 256}, "data": [][][]float32{{{1}}}}}
	}
	for want, spoil := range map[string]func(dir string) error{
		"onnx/tts.json: ae.sample_rate is 24000; 44100 is needed": func(dir string) error {
			supertonictest.WriteJSON(t, dir, "onnx/tts.json", map[string]any{"ae": map[string]any{"sample_rate": 24000}})
			return nil
		},
		"onnx/tts.json: ae.base_chunk_size": func(dir string) error {
			supertonictest.WriteJSON(t, dir, "onnx/tts.json", map[string]any{"ae": map[string]any{"sample_rate": 44100}})
			return nil
		},
		"onnx/tts.json: json": func(dir string) error {
			supertonictest.WriteJSON(t, dir, "onnx/tts.json", []int{1})
			return nil
		},
		"onnx/unicode_indexer.json: the character '<' is missing": func(dir string) error {
			supertonictest.WriteJSON(t, dir, "onnx/unicode_indexer.json", []int{0, 1})
			return nil
		},
		"voice_styles/F2.json: style_ttl has the dimensions [1 49 256] and 1 values; [1 50 256] is needed": func(dir string) error {
			supertonictest.WriteJSON(t, dir, "voice_styles/F2.json", style(49))
			return nil
		},
		"voice_styles/M5.json: style_ttl has the dimensions [1 50 256] and 1 values": func(dir string) error {
			supertonictest.WriteJSON(t, dir, "voice_styles/M5.json", style(50))
			return nil
		},
		"voice_styles/M3.json: no such file":      func(dir string) error { return os.Remove(filepath.Join(dir, "voice_styles/M3.json")) },
		"onnx/unicode_indexer.json: no such file": func(dir string) error { return os.Remove(filepath.Join(dir, "onnx/unicode_indexer.json")) },
	} {
		dir := supertonictest.Write(t, nil)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFiles(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
