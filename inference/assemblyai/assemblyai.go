// Package assemblyai recognises speech by AssemblyAI's streaming service, version 3, which finds the ends of turns.
//
// Its wire is that of AssemblyAI's published description of March 2026.
package assemblyai

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
)

// usual is what AssemblyAI is where an operator does not say otherwise.
var usual = remote.Engine{Name: "assemblyai", BaseURL: "https://streaming.assemblyai.com", Model: "universal-streaming-multilingual"}

// Options are the settings of AssemblyAI that an operator or an agent may give. Zero values leave them to AssemblyAI.
type Options struct {
	MinTurnSilence, MaxTurnSilence int // ms
	Confidence                     float64
}

// All describes them.
func (o *Options) All() remote.Options {
	return remote.Options{
		remote.Whole("min_turn_silence", &o.MinTurnSilence, 10, 10_000, "The silence in ms after which a turn may end."),
		remote.Whole("max_turn_silence", &o.MaxTurnSilence, 100, 20_000, "The silence in ms after which a turn has ended."),
		remote.Number("end_of_turn_confidence_threshold", &o.Confidence, 0, 1, "Of the Universal models: the confidence from which a turn ends with the shorter silence."),
	}
}

type vendor struct {
	name, model string
	options     Options
}

// NewASR checks e and contacts nobody.
func NewASR(e remote.Engine) (*recogniser.Engine, error) {
	e = e.Or(usual)
	v := &vendor{name: e.Name, model: e.Model}
	return recogniser.Of(e, v.options.All(), map[string]string{"Authorization": e.APIKey}, v)
}

// pro says whether the model is of the U3 Pro family.
func (v *vendor) pro() bool {
	return strings.HasPrefix(v.model, "u3") || strings.HasPrefix(v.model, "universal-3")
}

// Info implements recogniser.Vendor.
func (v *vendor) Info() inference.Info {
	languages := []string{"en", "es", "pt", "fr", "it", "de"}
	if strings.HasSuffix(v.model, "english") {
		languages = languages[:1]
	}
	return inference.Info{Name: v.name, Description: "streaming recognition with turns, model " + v.model, Languages: languages,
		Latency: 600 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true,
		Caps: inference.Caps{Partials: true, WordTimes: true, Turns: true, ForceEnd: true, Reconfigure: true, Detects: len(languages) > 1, Keyterms: 100, In: []inference.Format{recogniser.Telephone}}}
}

// encodings are AssemblyAI's names.
var encodings = [...]string{inference.PCM16: "pcm_s16le", inference.PCMU: "pcm_mulaw"}

// Path implements recogniser.Vendor. Texts of the Universal models come as they were said: their formatted form
// follows in a second message, after the turn has ended.
func (v *vendor) Path(c inference.ASRConfig) string {
	q := url.Values{"speech_model": {v.model}, "sample_rate": {strconv.Itoa(int(c.Format.SampleRate()))}, "encoding": {encodings[c.Format.Encoding]}, "format_turns": {strconv.FormatBool(v.pro())}}
	if terms := c.Hints.Terms; len(terms) > 0 {
		if list, err := json.Marshal(terms); err == nil {
			q.Set("keyterms_prompt", string(list))
		}
	}
	if c.Language == "" && len(v.Info().Languages) > 1 {
		q.Set("language_detection", "true")
	}
	t := v.turns(c.Turns)
	if t.Least > 0 {
		q.Set("min_turn_silence", strconv.Itoa(t.Least))
	}
	if t.Most > 0 {
		q.Set("max_turn_silence", strconv.Itoa(t.Most))
	}
	if v.options.Confidence > 0 && !v.pro() {
		q.Set("end_of_turn_confidence_threshold", strconv.FormatFloat(v.options.Confidence, 'g', 4, 64))
	}
	return "/v3/ws?" + q.Encode()
}

// turns are the pauses, in ms, after which a turn may end and has ended.
type turns struct {
	Least int `json:"min_turn_silence,omitempty"`
	Most  int `json:"max_turn_silence,omitempty"`
}

func (v *vendor) turns(o inference.TurnOptions) turns {
	t := turns{v.options.MinTurnSilence, v.options.MaxTurnSilence}
	if o.Silence > 0 {
		t.Most = int(min(20*time.Second, max(100*time.Millisecond, o.Silence)).Milliseconds())
	}
	return t
}

// Pace implements recogniser.Vendor.
func (v *vendor) Pace() recogniser.Pace {
	return recogniser.Pace{Chunk: 60 * time.Millisecond, Least: 50 * time.Millisecond, RealTime: true}
}

// Connect implements recogniser.Vendor.
func (v *vendor) Connect(c inference.ASRConfig) recogniser.Connection {
	return &connection{Plain: recogniser.Plain{Encoding: c.Format.Encoding}, vendor: v}
}

// connection is one socket.
type connection struct {
	recogniser.Plain
	*vendor
	open   bool // a turn has begun
	latest int  // number of the latest turn that has ended, plus one
}

// Finish implements recogniser.Connection.
func (*connection) Finish() []byte { return []byte(`{"type":"ForceEndpoint"}`) }

// Configure implements recogniser.Connection.
func (c *connection) Configure(o inference.TurnOptions) []byte {
	message, err := json.Marshal(struct {
		Type string `json:"type"`
		turns
	}{"UpdateConfiguration", c.turns(o)})
	if err != nil {
		return nil // there is nothing in it that JSON does not know
	}
	return message
}

// Idle implements recogniser.Connection.
func (*connection) Idle() ([]byte, time.Duration) { return nil, 500 * time.Millisecond }

// End implements recogniser.Connection. Without it AssemblyAI charges for three hours.
func (*connection) End() []byte { return []byte(`{"type":"Terminate"}`) }

// word is a word with ms from the beginning of the socket's audio.
type word struct {
	Text       string  `json:"text"`
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
	Confidence float64 `json:"confidence"`
}

// Read implements recogniser.Connection. Of a turn's end that comes twice, the first counts.
func (c *connection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Type       string  `json:"type"`
		Order      int     `json:"turn_order"`
		Ended      bool    `json:"end_of_turn"`
		Transcript string  `json:"transcript"`
		Confidence float64 `json:"end_of_turn_confidence"`
		Words      []word  `json:"words"`
		Language   string  `json:"language_code"`
		Error      string  `json:"error"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, c.fault("a message that is not JSON")
	}
	if m.Type == "Error" || m.Error != "" {
		return nil, c.fault("the server reports an error")
	}
	if m.Type != "Turn" || m.Order < c.latest || len(m.Words) == 0 {
		return nil, nil
	}
	h := recogniser.Heard{Confidence: -1, Language: m.Language}
	var text []string
	sum := 0.0
	for _, w := range m.Words {
		text = append(text, w.Text)
		sum += w.Confidence
		h.End = max(h.End, milliseconds(w.End))
		h.Words = append(h.Words, inference.Mark{Text: w.Text, Start: milliseconds(w.Start), End: milliseconds(max(w.Start, w.End)), Char: -1, Confidence: w.Confidence})
	}
	h.Text = strings.Join(text, " ")
	h.Confidence = min(1, sum/float64(len(m.Words)))
	var list []recogniser.Heard
	if !c.open {
		list = append(list, recogniser.Heard{Kind: recogniser.SpeechStart, Confidence: -1})
	}
	if c.open = !m.Ended; m.Ended {
		c.latest = m.Order + 1
		h.Kind, h.EndProb = recogniser.TurnEnd, min(1, max(0, m.Confidence))
		if m.Transcript != "" {
			h.Text = m.Transcript
		}
	}
	return append(list, h), nil
}

func milliseconds(n float64) time.Duration { return remote.Time(n, time.Millisecond) }

func (v *vendor) fault(text string) error {
	return &inference.Error{Engine: v.name, Fault: inference.ErrFailed, Err: errors.New(text)}
}
