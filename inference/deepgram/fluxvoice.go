package deepgram

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"parley/inference"
	"parley/inference/synthesiser"
)

// fluxVoice is Deepgram's Flux voices over /v2/speak. A sentence is a turn of its own: Deepgram says where the audio of a
// turn ends, and nothing of what is within, while how far an agent was heard must be known to the sentence. It carries
// tone and pace on from one turn of a socket to the next.
type fluxVoice struct{ aura }

// Path implements synthesiser.Vendor. Speeds are 0.5 to 1.5, in steps of 0.05.
func (v *fluxVoice) Path(c inference.VoiceConfig) (string, error) {
	q, err := v.query(c)
	if err != nil {
		return "", err
	}
	if speed := math.Round(min(1.5, max(0.5, cmp.Or(c.Speed, 1)))*20) / 20; speed != 1 {
		q.Set("speed", strconv.FormatFloat(speed, 'f', -1, 64))
	}
	if v.options.Expressivity != 0 {
		q.Set("expressivity", strconv.Itoa(v.options.Expressivity))
	}
	return "/v2/speak?" + q.Encode(), nil
}

// Limits implements synthesiser.Vendor.
func (v *fluxVoice) Limits() synthesiser.Limits {
	return synthesiser.Limits{Age: time.Hour, Contexts: 1, FlushEnds: true, Bye: []byte(`{"type":"Close"}`)}
}

// Start implements synthesiser.Vendor.
func (v *fluxVoice) Start(string, inference.VoiceConfig) synthesiser.Context { return &turns{} }

// turns is one utterance.
type turns struct{ auraContext }

var fluxInterrupt = []byte(`{"type":"Interrupt"}`)

// Cancel implements synthesiser.Context.
func (c *turns) Cancel() [][]byte { return [][]byte{fluxInterrupt} }

// Read implements synthesiser.Vendor.
func (v *fluxVoice) Read(message []byte, binary bool) (p synthesiser.Piece, ok bool, err error) {
	if binary {
		return v.aura.Read(message, binary)
	}
	var m struct {
		Type     string `json:"type"`
		Code     string `json:"code"`
		Billable int    `json:"billable_character_count"`
	}
	if json.Unmarshal(message, &m) != nil {
		return p, false, fault(v.name, errJSON)
	}
	switch {
	case m.Type == "SpeechMetadata":
		p.Flushed, p.Billed = true, max(0, m.Billable)
	case m.Type == "SpeechInterrupted", m.Code == "NO_ACTIVE_SPEECH": // the answers to Interrupt
		p.Done = true
	case m.Code == "NO_AUDIO_GENERATED": // it did not stop
		return p, false, fault(v.name, errors.New("a turn that cannot be interrupted"))
	case m.Type == "Error":
		return p, false, fault(v.name, errors.New("the server reports an error"))
	default:
		return p, false, nil
	}
	return p, true, nil
}
