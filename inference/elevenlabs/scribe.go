package elevenlabs

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
	"parley/media"
)

// ScribeOptions are the settings of recognition that an operator or an agent may give; nil leaves them to ElevenLabs.
type ScribeOptions struct{ Clean, Logging *bool }

// All describes them.
func (o *ScribeOptions) All() remote.Options {
	return remote.Options{
		remote.Flag("no_verbatim", &o.Clean, "Leaves out filler words and false starts."),
		remote.Flag("enable_logging", &o.Logging, "When false ElevenLabs keeps nothing.").Keep(),
	}
}

// scribe is the models that recognise.
type scribe struct {
	name, model string
	options     ScribeOptions
}

// NewASR is recognition by Scribe, in real time. It checks e and contacts nobody. The ends of turns are ours to find.
func NewASR(e remote.Engine) (*recogniser.Engine, error) {
	e.Model = cmp.Or(e.Model, "scribe_v2_realtime")
	e = e.Or(usual)
	v := &scribe{name: e.Name, model: e.Model}
	return recogniser.Of(e, v.options.All(), headers(e.APIKey), v)
}

// Info implements recogniser.Vendor. The latency is what others have measured at the 99th percentile.
func (v *scribe) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "streaming recognition, model " + v.model, Languages: inference.Spoken(),
		Latency: 600 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true,
		Caps: inference.Caps{Partials: true, WordTimes: true, ForceEnd: true, Detects: true, Keyterms: 50, In: []inference.Format{recogniser.Telephone}}}
}

// formats are ElevenLabs' names.
var formats = [...]string{inference.PCM16: "pcm_16000", inference.PCMU: "ulaw_8000"}

// Path implements recogniser.Vendor.
func (v *scribe) Path(c inference.ASRConfig) string {
	q := url.Values{"model_id": {v.model}, "audio_format": {formats[c.Format.Encoding]}, "commit_strategy": {"manual"}, "include_timestamps": {"true"}}
	if c.Language != "" {
		q.Set("language_code", c.Language)
	} else {
		q.Set("include_language_detection", "true")
	}
	for name, on := range map[string]*bool{"no_verbatim": v.options.Clean, "enable_logging": v.options.Logging} {
		if on != nil {
			q.Set(name, strconv.FormatBool(*on))
		}
	}
	for _, term := range c.Hints.Terms {
		q.Add("keyterms", term)
	}
	return "/v1/speech-to-text/realtime?" + q.Encode()
}

// Pace implements recogniser.Vendor. ElevenLabs refuses to commit less than 0.3 s.
func (v *scribe) Pace() recogniser.Pace {
	return recogniser.Pace{Chunk: 60 * time.Millisecond, Asked: 320 * time.Millisecond}
}

// Connect implements recogniser.Vendor.
func (v *scribe) Connect(c inference.ASRConfig) recogniser.Connection {
	k := &scribeConnection{scribe: v, format: c.Format}
	k.alive = k.encode([]byte{}, false)
	return k
}

// scribeConnection is one socket.
type scribeConnection struct {
	recogniser.Plain
	*scribe
	format inference.Format
	alive  []byte // keeps the socket open
	asks   recogniser.Asks
}

// piece is a message: audio, a commit of all audio before it, or neither, which keeps the socket open.
type piece struct {
	Type   string     `json:"message_type"`
	Audio  []byte     `json:"audio_base_64"`
	Commit bool       `json:"commit"`
	Rate   media.Rate `json:"sample_rate"`
}

func (c *scribeConnection) encode(audio []byte, commit bool) []byte {
	b, err := json.Marshal(piece{"input_audio_chunk", audio, commit, c.format.SampleRate()})
	if err != nil {
		return nil // there is nothing in it that JSON does not know
	}
	return b
}

// Audio implements recogniser.Connection.
func (c *scribeConnection) Audio(samples []int16) ([]byte, bool) {
	c.asks.Audio(c.format.SampleRate().Duration(len(samples)).Duration())
	return c.encode(recogniser.Encode(c.format.Encoding, samples), false), false
}

// Finish implements recogniser.Connection.
func (c *scribeConnection) Finish() []byte {
	c.asks.Finish()
	return c.encode([]byte{}, true)
}

// Idle implements recogniser.Connection. ElevenLabs wants to hear of us each 10 s.
func (c *scribeConnection) Idle() ([]byte, time.Duration) { return c.alive, 8 * time.Second }

// End implements recogniser.Connection. There is no message for it: the socket is closed.
func (*scribeConnection) End() []byte { return nil }

// scribeWord is a word, or a space between two, with seconds from the beginning of the socket's audio.
type scribeWord struct {
	Text    string  `json:"text"`
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Type    string  `json:"type"`
	Logprob float64 `json:"logprob"`
}

// Read implements recogniser.Connection. What is committed comes twice; the second time it has times. Scribe may commit by
// itself, too.
func (c *scribeConnection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Type     string       `json:"message_type"`
		Text     string       `json:"text"`
		Language string       `json:"language_code"`
		Words    []scribeWord `json:"words"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, c.fault(inference.ErrFailed, "a message that is not JSON")
	}
	switch m.Type {
	case "partial_transcript":
		if m.Text != "" {
			return []recogniser.Heard{{Kind: recogniser.Partial, Text: m.Text, Confidence: -1}}, nil
		}
		return nil, nil
	case "committed_transcript_with_timestamps":
		h := spoken(m.Words)
		if h.Language = m.Language; len(m.Words) == 0 {
			h.Text = m.Text
		}
		return []recogniser.Heard{c.asks.Answer(h)}, nil
	case "commit_throttled": // it answers nothing more: what was partial stays
		return []recogniser.Heard{c.asks.Answer(recogniser.Heard{Confidence: -1})}, nil
	}
	return nil, c.failed(m.Type)
}

// spoken is what was said: sounds that are no words are left out.
func spoken(words []scribeWord) (h recogniser.Heard) {
	h.Confidence = -1
	sum := 0.0
	for _, w := range words {
		if w.Type != "audio_event" {
			h.Text += w.Text
		}
		if w.Type != "word" {
			continue
		}
		start, end, sure := remote.Time(w.Start, time.Second), remote.Time(max(w.Start, w.End), time.Second), math.Exp(min(0, w.Logprob))
		h.Words = append(h.Words, inference.Mark{Text: w.Text, Start: start, End: end, Char: -1, Confidence: sure})
		h.End, sum = max(h.End, end), sum+sure
	}
	if n := len(h.Words); n > 0 {
		h.Confidence = sum / float64(n)
	}
	h.Text = strings.Join(strings.Fields(h.Text), " ")
	return h
}

// scribeFaults are the errors after which another socket does not help, or not at once. Others end in "error", too.
var scribeFaults = map[string]inference.Fault{
	"auth_error": inference.ErrRefused, "quota_exceeded": inference.ErrRefused, "quota_exceeded_error": inference.ErrRefused,
	"unaccepted_terms": inference.ErrRefused, "unaccepted_terms_error": inference.ErrRefused, "input_error": inference.ErrRefused,
	"rate_limited": inference.ErrUnavailable, "queue_overflow": inference.ErrUnavailable, "resource_exhausted": inference.ErrUnavailable,
	"session_time_limit_exceeded": inference.ErrFailed,
}

// failed is the error of a message; nil: it is none.
func (c *scribeConnection) failed(kind string) error {
	if f, known := scribeFaults[kind]; known {
		return &inference.Error{Engine: c.name, Fault: f, Err: errors.New(kind), Key: strings.HasPrefix(kind, "auth") || strings.HasPrefix(kind, "quota")}
	}
	if strings.HasSuffix(kind, "error") {
		return c.fault(inference.ErrFailed, "the server reports an error")
	}
	return nil
}

func (v *scribe) fault(f inference.Fault, text string) error {
	return &inference.Error{Engine: v.name, Fault: f, Err: errors.New(text)}
}
