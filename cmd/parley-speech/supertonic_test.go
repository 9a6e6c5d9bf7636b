//go:build cgo

package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parley/inference/onnx/onnxtest"
	"parley/inference/supertonic/supertonictest"
	"parley/inference/worker"
	"parley/media"
)

func startNeural(t *testing.T) *child {
	t.Helper()
	c := start(t, "-library", onnxtest.Library(t), "-model", supertonictest.Write(t, nil), "supertonic")
	c.expect(t, worker.Hello, 0)
	return c
}

func neural(t *testing.T, r worker.Synthesis) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sound reads the speech of a request.
func (c *child) sound(t *testing.T, stream uint32) []int16 {
	t.Helper()
	var samples []int16
	for {
		switch m, err := c.Next(); {
		case err != nil || m.Stream != stream:
			t.Fatalf("message %d of stream %d, %v; %s", m.Kind, m.Stream, err, c.stderr.String())
		case m.Kind == worker.Audio:
			samples = media.AppendSamples(samples, m.Payload)
		case m.Kind == worker.Done:
			return samples
		default:
			t.Fatalf("message %d: %s", m.Kind, m.Payload)
		}
	}
}

// TestCancelEndsTheDenoising between two of its steps, of which there are so many that nobody
// waits for their end.
func TestCancelEndsTheDenoising(t *testing.T) {
	c := startNeural(t)
	c.send(t, worker.Speak, 1, neural(t, worker.Synthesis{Voice: "F1", Language: "en", Speed: 1, Steps: 1 << 40, Text: "Never."}))
	c.send(t, worker.Ping, 0, nil)
	c.expect(t, worker.Pong, 0)
	c.send(t, worker.Cancel, 1, nil)
	c.expect(t, worker.Done, 1) // and no sound before it
	c.send(t, worker.Speak, 2, neural(t, worker.Synthesis{Voice: "F1", Language: "en", Speed: 1, Steps: 1, Text: "Now."}))
	if got, want := len(c.sound(t, 2)), supertonictest.Samples(13, "F1", 1); got != want {
		t.Errorf("%d samples after a Cancel, want %d", got, want)
	}
}

// TestCancelEndsTheSpeech that is on its way: the pipe holds less than a second of it.
func TestCancelEndsTheSpeech(t *testing.T) {
	c := startNeural(t)
	text := strings.Repeat("On and on. ", 100)
	c.send(t, worker.Speak, 1, neural(t, worker.Synthesis{Voice: "F1", Language: "en", Speed: 1, Steps: 1, Text: text}))
	c.expect(t, worker.Audio, 1)
	c.send(t, worker.Cancel, 1, nil)
	if got, whole := len(c.sound(t, 1)), supertonictest.Samples(len(text), "F1", 1); got > whole/4 {
		t.Errorf("%d samples of %d after a Cancel", got, whole)
	}
}

// TestNoise: the same text begins with the same noise, another with other noise. Of an estimator
// that always believes to be at its first step some noise is left.
func TestNoise(t *testing.T) {
	c := start(t, "-library", onnxtest.Library(t), "-model", supertonictest.Write(t, func(all map[string]onnxtest.Graph) {
		all["vector_estimator"].Nodes[7].In[1] = "scale" // a constant near 0 for the number of the step
	}), "supertonic")
	c.expect(t, worker.Hello, 0)
	said := map[string][]int16{}
	for stream, text := range []string{"One.", "Two.", "One."} {
		id := uint32(stream + 1)
		c.send(t, worker.Speak, id, neural(t, worker.Synthesis{Voice: "F1", Language: "en", Speed: 1, Steps: 2, Text: text}))
		samples := c.sound(t, id)
		if before := said[text]; before != nil && !slices.Equal(before, samples) {
			t.Errorf("%s sounds different the second time", text)
		}
		said[text] = samples
	}
	if slices.Equal(said["One."], said["Two."]) {
		t.Error("another text has the same noise")
	}
}

func TestRefusedNeuralRequests(t *testing.T) {
	c := startNeural(t)
	for stream, r := range []worker.Synthesis{
		{Voice: "X1", Language: "en", Speed: 1, Steps: 1, Text: "a"},
		{Voice: "F1", Language: "en", Steps: 1, Text: "a"},
		{Voice: "F1", Language: "en", Speed: -1, Steps: 1, Text: "a"},
		{Voice: "F1", Language: "en", Speed: 1, Text: "a"},
		{Voice: "F1", Language: "en", Speed: 1e-9, Steps: 1, Text: "a"},
	} {
		id := uint32(stream + 1)
		c.send(t, worker.Speak, id, neural(t, r))
		c.expect(t, worker.Failed, id)
	}
	c.send(t, worker.Speak, 9, neural(t, worker.Synthesis{Voice: "F1", Language: "en", Speed: 1, Steps: 1, Text: "a"}))
	if len(c.sound(t, 9)) == 0 {
		t.Error("silent")
	}
}
