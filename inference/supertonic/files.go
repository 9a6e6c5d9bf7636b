package supertonic

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Voices are the presets that a model has, in the order in which they are listed.
var Voices = []string{"F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"}

// MaxLength bounds the speech of one chunk, which has 40 s at half speed.
const MaxLength = 2 * time.Minute

// The shapes of a style: of the part that says how a voice sounds, and of that which says how
// fast it speaks.
var (
	SoundShape = []int64{1, 50, 256}
	PaceShape  = []int64{1, 8, 16}
)

// Files are what lies beside the graphs in a model's directory. They may be read from several
// goroutines.
type Files struct {
	Channels int // of the latent sound
	Frame    int // samples that one of its columns becomes
	ids      []int64
	styles   map[string]Style
}

// Style is a voice, row by row.
type Style struct{ Sound, Pace []float32 }

// ReadFiles reads onnx/tts.json, onnx/unicode_indexer.json and voice_styles/F1.json to M5.json in
// dir. The error names the file.
func ReadFiles(dir string) (*Files, error) {
	var config struct {
		AE struct {
			SampleRate    int `json:"sample_rate"`
			BaseChunkSize int `json:"base_chunk_size"`
		} `json:"ae"`
		TTL struct {
			LatentDim           int `json:"latent_dim"`
			ChunkCompressFactor int `json:"chunk_compress_factor"`
		} `json:"ttl"`
	}
	f := &Files{styles: map[string]Style{}}
	if err := readJSON(dir, "onnx/tts.json", &config); err != nil {
		return nil, err
	}
	if config.AE.SampleRate != int(Rate) {
		return nil, fmt.Errorf("onnx/tts.json: ae.sample_rate is %d; %d is needed", config.AE.SampleRate, int(Rate))
	}
	f.Channels = config.TTL.LatentDim * config.TTL.ChunkCompressFactor
	f.Frame = config.AE.BaseChunkSize * config.TTL.ChunkCompressFactor
	const most = 1 << 16 // far above any model's: what is made of them must fit into memory
	if f.Channels <= 0 || f.Channels > most || f.Frame <= 0 || f.Frame > most {
		return nil, fmt.Errorf("onnx/tts.json: ae.base_chunk_size, ttl.latent_dim or ttl.chunk_compress_factor is missing or out of range")
	}
	if err := readJSON(dir, "onnx/unicode_indexer.json", &f.ids); err != nil {
		return nil, err
	}
	for _, r := range "</>. abcdefghijklmnopqrstuvwxyz" { // what Prepare adds, and every language has
		if !f.Known(r) {
			return nil, fmt.Errorf("onnx/unicode_indexer.json: the character %q is missing", r)
		}
	}
	for _, voice := range Voices {
		style, err := readStyle(dir, "voice_styles/"+voice+".json")
		if err != nil {
			return nil, err
		}
		f.styles[voice] = style
	}
	return f, nil
}

func readJSON(dir, name string, to any) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func readStyle(dir, name string) (Style, error) {
	type part struct {
		Dims []int64       `json:"dims"`
		Data [][][]float32 `json:"data"`
	}
	var parts struct {
		Sound part `json:"style_ttl"`
		Pace  part `json:"style_dp"`
	}
	if err := readJSON(dir, name, &parts); err != nil {
		return Style{}, err
	}
	flat := func(field string, p part, shape []int64) ([]float32, error) {
		values := slices.Concat(slices.Concat(p.Data...)...)
		if !slices.Equal(p.Dims, shape) || int64(len(values)) != shape[0]*shape[1]*shape[2] {
			return nil, fmt.Errorf("%s: %s has the dimensions %v and %d values; %v is needed", name, field, p.Dims, len(values), shape)
		}
		return values, nil
	}
	sound, err := flat("style_ttl", parts.Sound, SoundShape)
	if err != nil {
		return Style{}, err
	}
	pace, err := flat("style_dp", parts.Pace, PaceShape)
	return Style{sound, pace}, err
}

// Known says whether the model has a number for a character.
func (f *Files) Known(r rune) bool { return int(r) < len(f.ids) && f.ids[r] >= 0 }

// IDs are the numbers of a text's characters, prepared; none: nothing of it can be spoken.
func (f *Files) IDs(text, language string) []int64 {
	var ids []int64
	for _, r := range Prepare(text, language, f.Known) {
		ids = append(ids, f.ids[r])
	}
	return ids
}

// Style is that of one of Voices.
func (f *Files) Style(voice string) (Style, bool) {
	s, ok := f.styles[voice]
	return s, ok
}

// Length is how many samples speech of so many seconds has, and how many columns the latent sound
// that holds them.
func (f *Files) Length(seconds float64) (samples, columns int) {
	samples = int(seconds * float64(Rate))
	return samples, (samples + f.Frame - 1) / f.Frame
}
