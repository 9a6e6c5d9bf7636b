package simulated

import (
	"bytes"
	"embed"

	"parley/media"
	"parley/media/wav"
)

// What people say was spoken by flite 2.2, voice rms, and brought to 8 kHz: the embedded
// recogniser does not understand the embedded voices over a telephone. Flite's output is free
// of conditions.
//
//go:embed person/*.wav
var personFiles embed.FS

// Lines of people.
const (
	lineHello   = "Hello?"
	lineYes     = "Yes, that is me."
	lineWorks   = "That works for me, thank you."
	lineGoodbye = "Goodbye."
)

// person is how people answer.
var person = []string{lineHello, lineYes, lineWorks, lineGoodbye}

var personNames = map[string]string{lineHello: "hello", lineYes: "yes", lineWorks: "works", lineGoodbye: "goodbye"}

// Person speaks a line of people's, at 8 kHz; the caller owns the samples. It is false for
// all other texts.
func Person(text string) (samples []int16, ok bool) {
	name, ok := personNames[text]
	if !ok {
		return nil, false
	}
	file, err := personFiles.ReadFile("person/" + name + ".wav")
	if err != nil {
		return nil, false
	}
	clip, err := wav.Decode(bytes.NewReader(file), int64(len(file)))
	if err != nil || clip.Rate != media.Rate8k {
		return nil, false
	}
	return clip.Samples, true
}
