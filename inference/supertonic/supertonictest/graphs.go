package supertonictest

import (
	"math"
	"slices"

	"parley/inference/onnx"
	"parley/inference/onnx/onnxtest"
)

// Graphs are the four graphs of the model, by their names. They belong to the caller.
func Graphs() map[string]onnxtest.Graph {
	return map[string]onnxtest.Graph{
		"duration_predictor": duration(), "text_encoder": encoder(), "vector_estimator": estimator(), "vocoder": vocoder(),
	}
}

func ids() onnx.Tensor {
	return onnx.Tensor{Name: "text_ids", Type: onnx.Int64, Shape: []int64{1, onnx.Any}}
}

// known is 1 for each character that has a number and counts.
func known() []onnxtest.Node {
	return []onnxtest.Node{
		{Op: "Cast", In: []string{"text_ids"}, Out: []string{"numbers"}, Attributes: map[string]any{"to": onnxtest.Type(onnx.Float32)}},
		{Op: "Min", In: []string{"numbers", "one"}, Out: []string{"numbered"}},
		{Op: "Mul", In: []string{"numbered", "text_mask"}, Out: []string{"known"}},
	}
}

// mean is the mean of a style, whose dimensions stay.
func mean(in, out string) onnxtest.Node {
	return onnxtest.Node{Op: "ReduceMean", In: []string{in}, Out: []string{out}, Attributes: map[string]any{"axes": []int{1, 2}, "keepdims": 1}}
}

func duration() onnxtest.Graph {
	return onnxtest.Graph{
		Inputs:  []onnx.Tensor{ids(), float("style_dp", 1, 8, 16), float("text_mask", 1, 1, onnx.Any)},
		Outputs: []onnx.Tensor{float("duration", 1)},
		Nodes: slices.Concat(known(), []onnxtest.Node{
			{Op: "ReduceSum", In: []string{"known", "last"}, Out: []string{"characters"}, Attributes: map[string]any{"keepdims": 1}},
			{Op: "Mul", In: []string{"characters", "each"}, Out: []string{"usual"}},
			mean("style_dp", "pace"),
			{Op: "Mul", In: []string{"usual", "pace"}, Out: []string{"lasts"}},
			{Op: "Reshape", In: []string{"lasts", "single"}, Out: []string{"duration"}},
		}),
		Constants: map[string]onnx.Value{"one": number(1), "each": number(0.07), "last": whole(2), "single": whole(1)},
	}
}

// encoder writes the level of the voice for each character that is known.
func encoder() onnxtest.Graph {
	return onnxtest.Graph{
		Inputs:  []onnx.Tensor{ids(), float("style_ttl", 1, 50, 256), float("text_mask", 1, 1, onnx.Any)},
		Outputs: []onnx.Tensor{float("text_emb", 1, 256, onnx.Any)},
		Nodes: slices.Concat(known(), []onnxtest.Node{
			mean("style_ttl", "level"),
			{Op: "Mul", In: []string{"known", "level"}, Out: []string{"levels"}},
			{Op: "Mul", In: []string{"levels", "wide"}, Out: []string{"text_emb"}},
		}),
		Constants: map[string]onnx.Value{"one": number(1), "wide": {Float32: slices.Repeat([]float32{1}, 256), Shape: []int64{1, 256, 1}}},
	}
}

// estimator is x += (target - x) / (total - current), where half of the target is due to the text
// and half to the style.
func estimator() onnxtest.Graph {
	return onnxtest.Graph{
		Inputs: []onnx.Tensor{
			float("noisy_latent", 1, channels, onnx.Any), float("text_emb", 1, 256, onnx.Any), float("style_ttl", 1, 50, 256),
			float("latent_mask", 1, 1, onnx.Any), float("text_mask", 1, 1, onnx.Any), float("current_step", 1), float("total_step", 1),
		},
		Outputs: []onnx.Tensor{float("denoised_latent", 1, channels, onnx.Any)},
		Nodes: []onnxtest.Node{
			{Op: "Mul", In: []string{"text_emb", "text_mask"}, Out: []string{"text"}},
			mean("text", "of_text"),
			mean("style_ttl", "of_style"),
			{Op: "Add", In: []string{"of_text", "of_style"}, Out: []string{"twice"}},
			{Op: "Mul", In: []string{"twice", "scale"}, Out: []string{"of_step"}},
			{Op: "Mul", In: []string{"of_step", "total_step"}, Out: []string{"target"}},
			{Op: "Sub", In: []string{"target", "noisy_latent"}, Out: []string{"off"}},
			{Op: "Sub", In: []string{"total_step", "current_step"}, Out: []string{"left"}},
			{Op: "Div", In: []string{"off", "left"}, Out: []string{"part"}},
			{Op: "Add", In: []string{"noisy_latent", "part"}, Out: []string{"nearer"}},
			{Op: "Mul", In: []string{"nearer", "latent_mask"}, Out: []string{"denoised_latent"}},
		},
		Constants: map[string]onnx.Value{"scale": number(0.25 / 2 / 8)},
	}
}

// vocoder makes a tone as loud as the mean of the channels.
func vocoder() onnxtest.Graph {
	tone := make([]float32, column) // whole periods
	for i := range tone {
		tone[i] = float32(math.Sin(2 * math.Pi * float64(i) / period))
	}
	return onnxtest.Graph{
		Inputs:  []onnx.Tensor{float("latent", 1, channels, onnx.Any)},
		Outputs: []onnx.Tensor{float("wav_tts", 1, onnx.Any)},
		Nodes: []onnxtest.Node{
			{Op: "ReduceMean", In: []string{"latent"}, Out: []string{"level"}, Attributes: map[string]any{"axes": []int{1}, "keepdims": 1}},
			{Op: "Transpose", In: []string{"level"}, Out: []string{"columns"}, Attributes: map[string]any{"perm": []int{0, 2, 1}}},
			{Op: "Mul", In: []string{"columns", "tone"}, Out: []string{"sound"}},
			{Op: "Reshape", In: []string{"sound", "flat"}, Out: []string{"wav_tts"}},
		},
		Constants: map[string]onnx.Value{"tone": {Float32: tone, Shape: []int64{1, 1, column}}, "flat": whole(1, -1)},
	}
}
