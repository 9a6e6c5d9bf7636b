package deepgram

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
)

// flux is the models that find the ends of turns.
type flux struct {
	name, model string
	options     Options
}

// Info implements recogniser.Vendor.
func (v *flux) Info() inference.Info {
	languages := []string{"en"}
	if strings.HasSuffix(v.model, "multi") {
		languages = []string{"en", "es", "pt", "fr", "it", "de"}
	}
	return inference.Info{Name: v.name, Description: "streaming recognition with turns, model " + v.model,
		Languages: languages, Latency: 600 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true,
		Caps: inference.Caps{Partials: true, Turns: true, Eager: v.options.Eager > 0, ForceEnd: true, Reconfigure: true, Detects: len(languages) > 1, Keyterms: 100, In: []inference.Format{recogniser.Telephone}}}
}

// Path implements recogniser.Vendor.
func (v *flux) Path(c inference.ASRConfig) string {
	q := v.options.query(v.model, c)
	if c.Language != "" && strings.HasSuffix(v.model, "multi") {
		q.Set("language_hint", c.Language)
	}
	t := v.thresholds(c.Turns)
	if t.Threshold > 0 {
		q.Set("eot_threshold", number(t.Threshold))
	}
	if t.Eager > 0 {
		q.Set("eager_eot_threshold", number(t.Eager))
	}
	if t.TimeoutMS > 0 {
		q.Set("eot_timeout_ms", strconv.Itoa(t.TimeoutMS))
	}
	return "/v2/listen?" + q.Encode()
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// thresholds are those of the call where it has any, within Deepgram's ranges, else those of the options.
type thresholds struct {
	Threshold float64 `json:"eot_threshold,omitempty"`
	Eager     float64 `json:"eager_eot_threshold,omitempty"`
	TimeoutMS int     `json:"eot_timeout_ms,omitempty"`
}

func (v *flux) thresholds(o inference.TurnOptions) thresholds {
	t := thresholds{v.options.Threshold, v.options.Eager, v.options.TimeoutMS}
	if o.Threshold > 0 {
		t.Threshold = min(1, max(0.5, o.Threshold))
	}
	if o.Eager > 0 {
		t.Eager = min(0.9, max(0.3, o.Eager))
	}
	if t.Threshold > 0 && t.Eager > t.Threshold {
		t.Eager = t.Threshold
	}
	if o.Silence > 0 {
		t.TimeoutMS = int(min(time.Minute, max(500*time.Millisecond, o.Silence)).Milliseconds())
	}
	return t
}

// Pace implements recogniser.Vendor: it is Deepgram's recommendation.
func (v *flux) Pace() recogniser.Pace { return recogniser.Pace{Chunk: 80 * time.Millisecond} }

// Connect implements recogniser.Vendor.
func (v *flux) Connect(c inference.ASRConfig) recogniser.Connection {
	return &fluxConnection{Plain: recogniser.Plain{Encoding: c.Format.Encoding}, flux: v}
}

// fluxConnection is one socket.
type fluxConnection struct {
	recogniser.Plain
	*flux
	configuring bool // a Configure is not answered: another one would be refused
}

// Finish implements recogniser.Connection. Without an open turn it is not answered.
func (*fluxConnection) Finish() []byte { return []byte(`{"type":"ForceEndTurn"}`) }

// Configure implements recogniser.Connection.
func (c *fluxConnection) Configure(o inference.TurnOptions) []byte {
	if c.configuring {
		return nil
	}
	message, err := json.Marshal(struct {
		Type       string     `json:"type"`
		Thresholds thresholds `json:"thresholds"`
	}{"Configure", c.thresholds(o)})
	if err != nil {
		return nil // a number that is none
	}
	c.configuring = true
	return message
}

// Idle implements recogniser.Connection. A turn does not end while nothing is sent.
func (*fluxConnection) Idle() ([]byte, time.Duration) { return nil, 500 * time.Millisecond }

// End implements recogniser.Connection.
func (*fluxConnection) End() []byte { return []byte(`{"type":"CloseStream"}`) }

// Read implements recogniser.Connection.
func (c *fluxConnection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Type       string   `json:"type"`
		Event      string   `json:"event"`
		WindowEnd  float64  `json:"audio_window_end"`
		Transcript string   `json:"transcript"`
		Words      []word   `json:"words"`
		Confidence float64  `json:"end_of_turn_confidence"`
		Trigger    string   `json:"trigger"`
		Languages  []string `json:"languages"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, fault(c.name, errJSON)
	}
	switch m.Type {
	case "TurnInfo":
	case "Error":
		return nil, fault(c.name, errors.New("the server reports an error"))
	case "ConfigureSuccess", "ConfigureFailure":
		c.configuring = false
		return nil, nil
	default:
		return nil, nil
	}
	h := recogniser.Heard{Text: m.Transcript, End: seconds(m.WindowEnd), Words: marks(m.Words), Confidence: sure(m.Words), EndProb: min(1, max(0, m.Confidence)), Language: recogniser.Most(m.Languages)}
	switch m.Event {
	case "StartOfTurn":
		list := []recogniser.Heard{{Kind: recogniser.SpeechStart, Confidence: -1}}
		if h.Text == "" {
			return list, nil
		}
		return append(list, h), nil
	case "Update":
		if h.Text == "" {
			return nil, nil
		}
	case "EagerEndOfTurn":
		h.Kind = recogniser.EagerEnd
	case "TurnResumed":
		h.Kind = recogniser.Resumed
	case "EndOfTurn":
		if h.Kind = recogniser.TurnEnd; m.Trigger == "manual" {
			h.Kind = recogniser.Answer
		}
	default:
		return nil, nil
	}
	return []recogniser.Heard{h}, nil
}
