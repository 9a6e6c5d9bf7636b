package elevenlabs

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
)

// answer is a message of ElevenLabs'. Names are met in two spellings.
type answer struct {
	Audio     remote.PCM `json:"audio"`
	Context   string     `json:"contextId"`
	Context2  string     `json:"context_id"`
	Final     bool       `json:"isFinal"`
	Final2    bool       `json:"is_final"`
	Alignment *alignment `json:"alignment"`
	Error     string     `json:"error"`
	Code      int        `json:"code"`
}

// alignment says when the characters of a piece are spoken, in ms.
type alignment struct {
	Chars      []string  `json:"chars"`
	Starts     []float64 `json:"charStartTimesMs"`
	Starts2    []float64 `json:"charsStartTimesMs"`
	Durations  []float64 `json:"charDurationsMs"`
	Durations2 []float64 `json:"charsDurationsMs"`
}

// Read implements synthesiser.Vendor.
func (v *vendor) Read(data []byte, _ bool) (p synthesiser.Piece, ok bool, err error) {
	var m answer
	if json.Unmarshal(data, &m) != nil {
		return p, false, v.fault(inference.ErrFailed, "a message that is not JSON")
	}
	if m.Error != "" || m.Code != 0 {
		return p, false, v.failed(m.Error)
	}
	p.Context = m.Context + m.Context2
	p.Samples = m.Audio
	p.Done = m.Final || m.Final2
	if m.Alignment != nil {
		p.Words, p.Characters = m.Alignment.words()
		p.Loose = true
	}
	return p, p.Context != "", nil
}

// words are those whose first characters are in the piece, and the number of its characters without spaces. A word that
// goes on in the next piece comes in two: only its times count then.
func (a *alignment) words() (words []inference.Mark, characters int) {
	starts, durations := a.Starts, a.Durations
	if len(starts) == 0 {
		starts, durations = a.Starts2, a.Durations2
	}
	var word strings.Builder
	var m inference.Mark
	end := func() {
		if word.Len() > 0 {
			m.Text, m.Char = word.String(), -1
			words = append(words, m)
			word.Reset()
		}
	}
	for i := range min(len(a.Chars), len(starts), len(durations)) {
		if r, _ := utf8.DecodeRuneInString(a.Chars[i]); unicode.IsSpace(r) || a.Chars[i] == "" {
			end()
			continue
		}
		characters += utf8.RuneCountInString(a.Chars[i])
		if word.Len() == 0 {
			m = inference.Mark{Start: milliseconds(starts[i])}
		}
		word.WriteString(a.Chars[i])
		m.End = milliseconds(starts[i] + max(0, durations[i]))
	}
	end()
	return words, characters
}

func milliseconds(n float64) time.Duration { return remote.Time(n, time.Millisecond) }

// failed is an error, after which ElevenLabs closes the socket.
func (v *vendor) failed(code string) error {
	fault, key := inference.ErrFailed, strings.Contains(code, "auth") || strings.Contains(code, "quota")
	switch {
	case strings.Contains(code, "max_active"), strings.Contains(code, "too_many"), strings.Contains(code, "busy"):
		fault = inference.ErrUnavailable
	case key, strings.Contains(code, "invalid"), strings.Contains(code, "voice_not_found"):
		fault = inference.ErrRefused
	}
	return &inference.Error{Engine: v.name, Fault: fault, Err: errors.New("the server reports an error"), Key: key && fault == inference.ErrRefused}
}

func (v *vendor) fault(f inference.Fault, text string) error {
	return &inference.Error{Engine: v.name, Fault: f, Err: errors.New(text)}
}
