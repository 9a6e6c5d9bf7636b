package worker

import (
	"encoding/binary"
	"fmt"
)

// Synthesis is what a synthesiser is asked to speak (Speak).
type Synthesis struct {
	Voice string `json:"voice"` // the engine's own name, such as "es+f4"
	Text  string `json:"text"`

	// Of espeak, whose text has no control characters.
	Rate  int `json:"rate,omitempty"`  // words a minute
	Pitch int `json:"pitch,omitempty"` // 0 to 100, 50 is the voice's own
	Range int `json:"range,omitempty"` // likewise

	// Of neural voices.
	Language string  `json:"language,omitempty"` // two letters
	Speed    float64 `json:"speed,omitempty"`    // what predicted lengths are divided by, above 0
	Steps    int     `json:"steps,omitempty"`    // of denoising, at least 1
}

// Event is a word or phoneme that begins in the audio that follows (Marks).
type Event struct {
	Word   bool   `json:"w,omitempty"` // else a phoneme
	Text   string `json:"t,omitempty"` // phoneme: IPA, empty for a pause
	Sample int    `json:"s"`           // from the first sample of the synthesis
	Char   int    `json:"c"`           // index of the word's first code point
}

// EncodeModel is the payload of Open: a language model in ARPA format and the
// pronouncing dictionary of its words. Both empty: the engine's general model.
func EncodeModel(lm, dictionary []byte) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(lm)+len(dictionary)), uint32(len(lm)))
	return append(append(b, lm...), dictionary...)
}

// DecodeModel splits the payload of Open; the results lie in it.
func DecodeModel(payload []byte) (lm, dictionary []byte, err error) {
	if len(payload) < 4 {
		return nil, nil, fmt.Errorf("%w: model of %d bytes", ErrFormat, len(payload))
	}
	n := binary.LittleEndian.Uint32(payload)
	rest := payload[4:]
	if uint64(n) > uint64(len(rest)) {
		return nil, nil, fmt.Errorf("%w: model cut short", ErrFormat)
	}
	return rest[:n], rest[n:], nil
}

// EncodeCount is the payload of Heard.
func EncodeCount(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// DecodeCount reads the payload of Heard; malformed means 0.
func DecodeCount(payload []byte) int {
	if len(payload) != 4 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(payload))
}
