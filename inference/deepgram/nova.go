package deepgram

import (
	"encoding/json"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
)

// nova is the models that recognise and leave turns to us.
type nova struct {
	name, model string
	options     Options
}

// Info implements recogniser.Vendor. The latency is what others have measured at the 99th percentile.
func (v *nova) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "streaming recognition, model " + v.model,
		Languages: []string{"en", "es", "ca", "pt", "fr", "it", "de"}, Latency: 600 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true,
		Caps: inference.Caps{Partials: true, WordTimes: true, ForceEnd: true, Detects: true, Keyterms: 100, In: []inference.Format{recogniser.Telephone}}}
}

// Path implements recogniser.Vendor. The ends of turns are ours to find: no endpointing.
func (v *nova) Path(c inference.ASRConfig) string {
	q := v.options.query(v.model, c)
	language := c.Language
	if language == "" {
		language = "multi"
	}
	q.Set("language", language)
	q.Set("channels", "1")
	q.Set("endpointing", "false")
	for _, on := range []string{"interim_results", "punctuate", "smart_format", "no_delay"} {
		q.Set(on, "true")
	}
	return "/v1/listen?" + q.Encode()
}

// Pace implements recogniser.Vendor.
func (v *nova) Pace() recogniser.Pace { return recogniser.Pace{Chunk: 40 * time.Millisecond} }

// Connect implements recogniser.Vendor.
func (v *nova) Connect(c inference.ASRConfig) recogniser.Connection {
	return &novaConnection{recogniser.Plain{Encoding: c.Format.Encoding}, v}
}

type novaConnection struct {
	recogniser.Plain
	*nova
}

// Finish implements recogniser.Connection.
func (*novaConnection) Finish() []byte { return []byte(`{"type":"Finalize"}`) }

// Idle implements recogniser.Connection. Deepgram ends a stream after 10 s without audio or this.
func (*novaConnection) Idle() ([]byte, time.Duration) {
	return []byte(`{"type":"KeepAlive"}`), 4 * time.Second
}

// End implements recogniser.Connection.
func (*novaConnection) End() []byte { return []byte(`{"type":"CloseStream"}`) }

// Read implements recogniser.Connection. Messages of other types say nothing of the text.
func (c *novaConnection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Type     string  `json:"type"`
		Start    float64 `json:"start"`
		Duration float64 `json:"duration"`
		Final    bool    `json:"is_final"`
		Finished bool    `json:"from_finalize"`
		Channel  struct {
			Alternatives []struct {
				Transcript string  `json:"transcript"`
				Confidence float64 `json:"confidence"`
				Words      []word  `json:"words"`
			} `json:"alternatives"`
		} `json:"channel"`
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(message, &kind) != nil {
		return nil, fault(c.name, errJSON)
	}
	if kind.Type != "Results" {
		return nil, nil // Metadata, SpeechStarted and UtteranceEnd say the channel in another way
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, fault(c.name, errJSON)
	}
	h := recogniser.Heard{End: seconds(m.Start + m.Duration), Confidence: -1}
	if a := m.Channel.Alternatives; len(a) > 0 {
		h.Text, h.Words, h.Language = a[0].Transcript, marks(a[0].Words), recogniser.Most(languages(a[0].Words))
		if h.Text != "" {
			h.Confidence = min(1, a[0].Confidence)
		}
	}
	switch {
	case m.Finished:
		h.Kind = recogniser.Answer
	case m.Final:
		h.Kind = recogniser.Final
	case h.Text == "":
		return nil, nil
	}
	return []recogniser.Heard{h}, nil
}
