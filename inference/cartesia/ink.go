package cartesia

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
)

// InkOptions are the settings of ink-2 that an operator or an agent may give. The likelihood that the caller speaks falls as
// they finish, so the thresholds run downwards.
type InkOptions struct {
	Start, Eager, End float64
	TimeoutMS         int // where the turn is ended here, as much silence is sent, for which Cartesia charges
}

// All describes them.
func (o *InkOptions) All() remote.Options {
	return remote.Options{
		remote.Number("turn_start_threshold", &o.Start, 0.5, 0.9, "Of ink-2, as all of these: the likelihood of speech above which a turn begins; 0.8."),
		remote.Number("turn_eager_end_threshold", &o.Eager, 0.3, 0.6, "Below which a turn is likely over; 0.4. Less than turn_start_threshold."),
		remote.Number("turn_end_threshold", &o.End, 0.05, 0.5, "Below which a turn is over; 0.2. Less than turn_eager_end_threshold."),
		remote.Whole("turn_end_timeout_ms", &o.TimeoutMS, 640, 11_200, "The longest pause in a turn; 960."),
	}
}

// NewASR checks e and contacts nobody.
func NewASR(e remote.Engine) (*recogniser.Engine, error) {
	e.Model = cmp.Or(e.Model, "ink-2")
	e = e.Or(usual)
	options, err := parseInk(e.Name, e.Options)
	if err != nil {
		return nil, err
	}
	var v recogniser.Vendor = &ink{e.Name, e.Model, options}
	if strings.HasPrefix(e.Model, "ink-whisper") {
		v = &whisper{e.Name, e.Model}
	}
	return recogniser.Of(e, options.All(), headers(e.APIKey), v)
}

// parseInk reads options, checks the order of the thresholds, and sets those that count here.
func parseInk(name string, options inference.Options) (InkOptions, error) {
	o := InkOptions{0.8, 0.4, 0.2, 960}
	err := o.All().Read(name, options)
	switch {
	case err != nil:
	case o.Eager >= o.Start:
		err = remote.WrongOption(name, "turn_eager_end_threshold", "less than turn_start_threshold")
	case o.End >= o.Eager:
		err = remote.WrongOption(name, "turn_end_threshold", "less than turn_eager_end_threshold")
	}
	return o, err
}

// ink is the models that find the ends of turns. They cannot be asked to end one: silence does.
type ink struct {
	name, model string
	options     InkOptions
}

// Info implements recogniser.Vendor.
func (v *ink) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "streaming recognition with turns, model " + v.model, Languages: []string{"en"},
		Latency: 900 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true,
		Caps: inference.Caps{Partials: true, Turns: true, Eager: true, Keyterms: 100, In: []inference.Format{recogniser.Telephone}}}
}

// encodings are Cartesia's names.
var encodings = [...]string{inference.PCM16: "pcm_s16le", inference.PCMU: "pcm_mulaw", inference.PCMA: "pcm_alaw"}

// maxTerms is how many characters all terms may have.
const maxTerms = 1200

// Path implements recogniser.Vendor.
func (v *ink) Path(c inference.ASRConfig) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }
	o := v.options
	q := url.Values{"model": {v.model}, "encoding": {encodings[c.Format.Encoding]}, "sample_rate": {strconv.Itoa(int(c.Format.SampleRate()))}, "turn_start_threshold": {number(o.Start)},
		"turn_eager_end_threshold": {number(o.Eager)}, "turn_end_threshold": {number(o.End)}, "turn_end_timeout_ms": {strconv.Itoa(o.TimeoutMS)}}
	room := maxTerms
	for _, term := range c.Hints.Terms {
		if room -= utf8.RuneCountInString(term); room < 0 {
			break
		}
		q.Add("keyterm", term)
	}
	return "/stt/turns/websocket?" + q.Encode()
}

// Pace implements recogniser.Vendor. The silence is a bit longer than any pause in a turn.
func (v *ink) Pace() recogniser.Pace {
	return recogniser.Pace{Chunk: 100 * time.Millisecond, Silence: time.Duration(v.options.TimeoutMS+40) * time.Millisecond, RealTime: true}
}

// Connect implements recogniser.Vendor.
func (v *ink) Connect(c inference.ASRConfig) recogniser.Connection {
	return &inkConnection{Plain: recogniser.Plain{Encoding: c.Format.Encoding}, ink: v}
}

// inkConnection is one socket.
type inkConnection struct {
	recogniser.Plain
	*ink
	open  bool // a turn has begun
	asked int  // Finishes so far
	ends  int  // number of the Finish whose silence ends the open turn; 0: Cartesia does
}

// Finish implements recogniser.Connection.
func (c *inkConnection) Finish() []byte {
	if c.asked++; c.open && c.ends == 0 {
		c.ends = c.asked
	}
	return nil
}

// Idle implements recogniser.Connection. A turn does not end while nothing is sent.
func (*inkConnection) Idle() ([]byte, time.Duration) { return nil, 500 * time.Millisecond }

// End implements recogniser.Connection.
func (*inkConnection) End() []byte { return []byte(`{"type":"close"}`) }

// Read implements recogniser.Connection. Of a turn that is asked about, eager ends say nothing: our silence causes them.
func (c *inkConnection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Type       string `json:"type"`
		Transcript string `json:"transcript"`
		Status     int    `json:"status_code"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, fault(c.name, inference.ErrFailed, "a message that is not JSON")
	}
	h := recogniser.Heard{Text: m.Transcript, Confidence: -1}
	switch m.Type {
	case "turn.start":
		c.open, c.ends = true, 0
		h.Kind = recogniser.SpeechStart
	case "turn.update":
		if h.Text == "" {
			return nil, nil
		}
	case "turn.eager_end":
		if c.ends == 0 {
			h.Kind, h.EndProb = recogniser.EagerEnd, 1-c.options.Eager
		}
	case "turn.resume":
		if c.ends > 0 {
			return nil, nil
		}
		h.Kind = recogniser.Resumed
	case "turn.end":
		h.Kind, h.EndProb = recogniser.TurnEnd, 1-c.options.End
		if c.ends > 0 {
			h.Kind, h.Number = recogniser.Answer, c.ends
		}
		c.open, c.ends = false, 0
	case "error":
		return nil, refused(c.name, m.Status)
	default:
		return nil, nil
	}
	return []recogniser.Heard{h}, nil
}
