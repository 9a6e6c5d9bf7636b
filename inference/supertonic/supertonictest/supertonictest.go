// Package supertonictest writes a tiny model with the files, tensors and shapes of Supertonic 3,
// so that what loads and runs that is tested without its weights. What it says can be computed:
//
//   - a known character lasts 0.07 s, times the Pace of the voice, divided by the speed;
//   - the sound is a sine of 96 samples; its amplitude is 0.25 times the Level of the voice, times
//     the number of steps divided by 8.
//
// The latent sound is noise that each step of denoising brings nearer to that amplitude, and the
// last one exactly there: steps that are wrongly counted leave noise in it.
package supertonictest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"parley/inference/onnx"
	"parley/inference/onnx/onnxtest"
)

const (
	rate     = 44100
	period   = 96
	column   = 512 * 6
	channels = 24 * 6
)

var presets = []string{"F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"}

// Voice is what tells one of the ten voices from another: their levels fall from 1 by 1/16, and
// their paces rise.
type Voice struct{ Level, Pace float32 }

// VoiceOf is the voice F1 to M5; none of others.
func VoiceOf(id string) Voice {
	i := float32(slices.Index(presets, id))
	return Voice{1 - i/16, 1 + i/16}
}

// Samples is how much sound the model makes of so many characters, those of the tag included.
func Samples(characters int, voice string, speed float64) int {
	seconds := float32(characters) * 0.07 * VoiceOf(voice).Pace
	return int(float64(seconds) / speed * rate)
}

// Sample is the sample at i of what a voice says, from -1 to 1.
func Sample(i int, voice string, steps int) float64 {
	return 0.25 * float64(VoiceOf(voice).Level) * float64(steps) / 8 * math.Sin(2*math.Pi*float64(i)/period)
}

// Write writes the model to a directory that workers may read, and returns that. change, if not
// nil, makes other graphs of those by their names.
func Write(t testing.TB, change func(graphs map[string]onnxtest.Graph)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	// A worker is another user, who may not look into directories for temporary files.
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	graphs := Graphs()
	if change != nil {
		change(graphs)
	}
	for name, g := range graphs {
		onnxtest.Write(t, dir, filepath.Join("onnx", name+".onnx"), g)
	}
	WriteJSON(t, dir, "onnx/tts.json", map[string]any{
		"ae":  map[string]any{"sample_rate": rate, "base_chunk_size": 512},
		"ttl": map[string]any{"chunk_compress_factor": 6, "latent_dim": 24},
	})
	WriteJSON(t, dir, "onnx/unicode_indexer.json", indexer())
	for _, id := range presets {
		WriteJSON(t, dir, "voice_styles/"+id+".json", map[string]any{
			"style_ttl": style(VoiceOf(id).Level, 50, 256),
			"style_dp":  style(VoiceOf(id).Pace, 8, 16),
		})
	}
	return dir
}

// WriteJSON writes a file of the model anew.
func WriteJSON(t testing.TB, dir, name string, value any) {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// indexer knows Latin letters, combining marks and the letters of Hangul, by their own numbers.
func indexer() []int {
	ids := make([]int, 0x1200)
	for r := range ids {
		if ids[r] = -1; r >= ' ' && r < 0x370 || r >= 0x1100 {
			ids[r] = r
		}
	}
	return ids
}

// style has one value throughout.
func style(value float32, rows, columns int) map[string]any {
	row := slices.Repeat([]float32{value}, columns)
	return map[string]any{"dims": []int{1, rows, columns}, "data": [][][]float32{slices.Repeat([][]float32{row}, rows)}, "type": "float32"}
}

func float(name string, shape ...int64) onnx.Tensor {
	return onnx.Tensor{Name: name, Type: onnx.Float32, Shape: shape}
}

func number(f float32) onnx.Value { return onnx.Value{Float32: []float32{f}, Shape: []int64{1}} }

func whole(n ...int64) onnx.Value { return onnx.Value{Int64: n, Shape: []int64{int64(len(n))}} }
