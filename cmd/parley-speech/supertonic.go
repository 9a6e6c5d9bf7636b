//go:build cgo

package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"

	"parley/inference/onnx"
	"parley/inference/supertonic"
	"parley/inference/worker"
)

// neural is Supertonic 3: its four graphs and what lies beside them.
type neural struct {
	files                                 *supertonic.Files
	duration, encoder, estimator, vocoder *onnx.Graph
}

// openNeural loads the model in dir, run by the library at path.
func openNeural(path, dir string) (synthesiser, string, error) {
	files, err := supertonic.ReadFiles(dir)
	if err != nil {
		return nil, "", err
	}
	if err := onnx.Load(path); err != nil {
		return nil, "", err
	}
	n := &neural{files: files}
	sound, pace := shaped("style_ttl", supertonic.SoundShape), shaped("style_dp", supertonic.PaceShape)
	ids := onnx.Tensor{Name: "text_ids", Type: onnx.Int64, Shape: []int64{onnx.Any, onnx.Any}}
	textMask, soundMask := float("text_mask", onnx.Any, 1, onnx.Any), float("latent_mask", onnx.Any, 1, onnx.Any)
	text := float("text_emb", onnx.Any, supertonic.SoundShape[2], onnx.Any)
	latent := func(name string) onnx.Tensor { return float(name, onnx.Any, int64(files.Channels), onnx.Any) }
	for _, g := range []struct {
		to      **onnx.Graph
		file    string
		inputs  []onnx.Tensor
		outputs []onnx.Tensor
	}{
		{&n.duration, "duration_predictor", []onnx.Tensor{ids, pace, textMask}, []onnx.Tensor{float("duration", onnx.Any)}},
		{&n.encoder, "text_encoder", []onnx.Tensor{ids, sound, textMask}, []onnx.Tensor{text}},
		{&n.estimator, "vector_estimator", []onnx.Tensor{
			latent("noisy_latent"), text, sound, soundMask, textMask, float("current_step", onnx.Any), float("total_step", onnx.Any),
		}, []onnx.Tensor{latent("denoised_latent")}},
		{&n.vocoder, "vocoder", []onnx.Tensor{latent("latent")}, []onnx.Tensor{float("wav_tts", onnx.Any, onnx.Any)}},
	} {
		*g.to, err = onnx.Open(filepath.Join(dir, "onnx", g.file+".onnx"), onnx.Contract{Inputs: g.inputs, Outputs: g.outputs})
		if err != nil {
			return nil, "", err
		}
	}
	return n, "supertonic 3", nil
}

func float(name string, shape ...int64) onnx.Tensor {
	return onnx.Tensor{Name: name, Type: onnx.Float32, Shape: shape}
}

// shaped is a style, of which a graph takes any number.
func shaped(name string, shape []int64) onnx.Tensor {
	return float(name, append([]int64{onnx.Any}, shape[1:]...)...)
}

// speak synthesises r, which is short: all of its speech is made before the first of it sounds.
func (n *neural) speak(r worker.Synthesis, emit func([]int16, []worker.Event) bool) error {
	style, ok := n.files.Style(r.Voice)
	if !ok || !(r.Speed > 0) || r.Steps < 1 {
		return errors.New("the model has no such voice, speed or number of steps")
	}
	ids := n.files.IDs(r.Text, r.Language)
	if len(ids) == 0 {
		return nil
	}
	latent, samples, err := n.denoise(r, ids, style, func() bool { return emit(nil, nil) })
	if err != nil || latent == nil {
		return err
	}
	wav, err := n.vocoder.Run(*latent)
	if err != nil {
		return err
	}
	made := wav[0].Float32
	if len(made) < samples {
		return fmt.Errorf("vocoder.onnx made %d samples of %d", len(made), samples)
	}
	const piece = int(supertonic.Rate) / 10
	for made = made[:samples]; len(made) > 0; made = made[min(piece, len(made)):] {
		if !emit(pcm(made[:min(piece, len(made))]), nil) {
			return nil
		}
	}
	return nil
}

// denoise makes the latent sound of a text out of noise, which is the same for the same text, and
// says how many samples of it count; nil when there should not be more of it.
func (n *neural) denoise(r worker.Synthesis, ids []int64, style supertonic.Style, more func() bool) (*onnx.Value, int, error) {
	length := int64(len(ids))
	text := onnx.Value{Int64: ids, Shape: []int64{1, length}}
	textMask := ones(length)
	sound := onnx.Value{Float32: style.Sound, Shape: supertonic.SoundShape}
	got, err := n.duration.Run(text, onnx.Value{Float32: style.Pace, Shape: supertonic.PaceShape}, textMask)
	if err != nil {
		return nil, 0, err
	}
	if len(got[0].Float32) != 1 {
		return nil, 0, fmt.Errorf("duration_predictor.onnx made %d lengths of one text", len(got[0].Float32))
	}
	seconds := float64(got[0].Float32[0]) / r.Speed
	samples, columns := n.files.Length(seconds)
	if !(seconds <= supertonic.MaxLength.Seconds()) || samples < 1 {
		return nil, 0, fmt.Errorf("duration_predictor.onnx has the speech last %v s", seconds)
	}
	encoded, err := n.encoder.Run(text, sound, textMask)
	if err != nil {
		return nil, 0, err
	}
	x := noise(r.Text, n.files.Channels, columns)
	soundMask := ones(int64(columns))
	for step := range r.Steps {
		if !more() {
			return nil, 0, nil
		}
		got, err := n.estimator.Run(x, encoded[0], sound, soundMask, textMask, number(step), number(r.Steps))
		if err != nil {
			return nil, 0, err
		}
		x = got[0]
	}
	if !more() {
		return nil, 0, nil
	}
	return &x, samples, nil
}

// noise is latent noise of the normal distribution, seeded by the text.
func noise(text string, channels, columns int) onnx.Value {
	seed := fnv.New64a()
	seed.Write([]byte(text))
	random := rand.New(rand.NewPCG(seed.Sum64(), 0))
	x := make([]float32, channels*columns)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return onnx.Value{Float32: x, Shape: []int64{1, int64(channels), int64(columns)}}
}

// ones is the mask of one text or sound: all of it counts.
func ones(length int64) onnx.Value {
	mask := make([]float32, length)
	for i := range mask {
		mask[i] = 1
	}
	return onnx.Value{Float32: mask, Shape: []int64{1, 1, length}}
}

func number(n int) onnx.Value { return onnx.Value{Float32: []float32{float32(n)}, Shape: []int64{1}} }

// pcm clips at full scale; what is no number is silent.
func pcm(wav []float32) []int16 {
	out := make([]int16, len(wav))
	for i, v := range wav {
		if v == v {
			out[i] = int16(max(-1, min(1, v)) * 32767)
		}
	}
	return out
}
