package openai

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
	"parley/media"
	"parley/media/resample"
)

// liveModels begin the names of models that transcribe while the caller speaks.
var liveModels = []string{"gpt-live-", "gpt-realtime-"}

// Live says whether a model transcribes while the caller speaks, over a WebSocket.
func Live(model string) bool {
	return slices.ContainsFunc(liveModels, func(name string) bool { return strings.HasPrefix(model, name) })
}

// NewLiveASR is recognition over OpenAI's Realtime transcription, by a model that is Live. It checks c and contacts
// nobody. The ends of turns are ours to find.
func NewLiveASR(c remote.Engine) (*recogniser.Engine, error) {
	cl, err := newClient("gpt-live-transcribe", c)
	if err != nil {
		return nil, err
	}
	return recogniser.New(cl.Client, &live{cl}), nil
}

// live is the vendor.
type live struct{ *client }

// Info implements recogniser.Vendor.
func (v *live) Info() inference.Info {
	return inference.Info{Name: v.Engine(), Description: "streaming recognition, model " + v.model, Languages: slices.Clone(heard),
		Latency: 1700 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true, Caps: inference.Caps{Partials: true, ForceEnd: true, Detects: true, Keyterms: 100, In: []inference.Format{recogniser.Telephone}}}
}

// Path implements recogniser.Vendor: the model stands in the first message.
func (v *live) Path(inference.ASRConfig) string { return "/realtime?intent=transcription" }

// Pace implements recogniser.Vendor.
func (v *live) Pace() recogniser.Pace {
	return recogniser.Pace{Chunk: 60 * time.Millisecond, Asked: 150 * time.Millisecond} // OpenAI wants 100, of what the resampler has given
}

// Connect implements recogniser.Vendor.
func (v *live) Connect(c inference.ASRConfig) recogniser.Connection {
	return &liveConnection{live: v, config: c, up: resample.NewStream(media.Rate16k, media.Rate24k), texts: map[string]*item{}}
}

// liveConnection is one socket.
type liveConnection struct {
	recogniser.Plain
	*live
	config inference.ASRConfig
	up     *resample.Stream
	items  []string // that were committed and have no text, the oldest first
	done   int      // items that have one
	texts  map[string]*item
}

// item is the transcript of one piece of audio.
type item struct {
	partial string
	final   *recogniser.Heard // nil: it is not complete
}

type liveSession struct {
	Type    string `json:"type"`
	Session struct {
		Type  string `json:"type"`
		Audio struct {
			Input struct {
				Format struct {
					Type string `json:"type"`
					Rate int    `json:"rate,omitempty"`
				} `json:"format"`
				Transcription struct {
					Model    string   `json:"model"`
					Language string   `json:"language,omitempty"`
					Keywords []string `json:"keywords,omitempty"`
				} `json:"transcription"`
				Turns     *struct{} `json:"turn_detection"`
				Reduction *struct{} `json:"noise_reduction"`
			} `json:"input"`
		} `json:"audio"`
	} `json:"session"`
}

// Begin implements recogniser.Connection.
func (c *liveConnection) Begin() []byte {
	s := liveSession{Type: "session.update"}
	s.Session.Type = "transcription"
	in := &s.Session.Audio.Input
	if in.Format.Type = "audio/pcmu"; c.config.Format.Encoding == inference.PCM16 {
		in.Format.Type, in.Format.Rate = "audio/pcm", int(media.Rate24k)
	}
	in.Transcription.Model, in.Transcription.Language = c.model, c.config.Language
	if strings.HasPrefix(c.model, "gpt-live-") {
		in.Transcription.Keywords = c.config.Hints.Terms
	}
	return encode(s)
}

// Audio implements recogniser.Connection.
func (c *liveConnection) Audio(samples []int16) ([]byte, bool) {
	format := c.config.Format.Encoding
	if format == inference.PCM16 {
		samples = c.up.Convert(nil, samples)
	}
	return encode(map[string]any{"type": "input_audio_buffer.append", "audio": recogniser.Encode(format, samples)}), false
}

// Finish implements recogniser.Connection.
func (*liveConnection) Finish() []byte { return []byte(`{"type":"input_audio_buffer.commit"}`) }

// Idle implements recogniser.Connection.
func (*liveConnection) Idle() ([]byte, time.Duration) { return nil, 10 * time.Second }

// End implements recogniser.Connection. There is no message for it: the socket is closed.
func (*liveConnection) End() []byte { return nil }

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // there is nothing in it that JSON does not know
	}
	return b
}

// Read implements recogniser.Connection.
func (c *liveConnection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Type       string   `json:"type"`
		Item       string   `json:"item_id"`
		Delta      string   `json:"delta"`
		Transcript string   `json:"transcript"`
		Languages  []string `json:"languages"`
		Usage      struct {
			Type   string `json:"type"`
			In     int    `json:"input_tokens"`
			Out    int    `json:"output_tokens"`
			Detail struct {
				Audio int `json:"audio_tokens"`
			} `json:"input_token_details"`
		} `json:"usage"`
		Error remoteError `json:"error"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, c.Fault(inference.ErrFailed, errors.New("a message that is not JSON"))
	}
	switch m.Type {
	case "input_audio_buffer.committed":
		c.items = append(c.items, m.Item)
		c.of(m.Item)
	case "conversation.item.input_audio_transcription.delta":
		t := c.of(m.Item)
		t.partial += m.Delta
		if len(c.items) == 0 || c.items[0] == m.Item {
			return []recogniser.Heard{{Kind: recogniser.Partial, Text: strings.TrimSpace(t.partial), Confidence: -1}}, nil
		}
	case "conversation.item.input_audio_transcription.completed":
		h := &recogniser.Heard{Kind: recogniser.Answer, Text: strings.TrimSpace(m.Transcript), Confidence: -1, Language: recogniser.Most(m.Languages)}
		if u := m.Usage; u.Type == "tokens" {
			h.Tokens = &inference.Usage{In: max(0, u.In), Out: max(0, u.Out), AudioIn: max(0, u.Detail.Audio), Source: inference.UsageProvider}
		}
		c.of(m.Item).final = h
		return c.complete(), nil
	case "conversation.item.input_audio_transcription.failed":
		c.of(m.Item).final = &recogniser.Heard{Kind: recogniser.Answer, Confidence: -1} // what was partial stays
		return c.complete(), nil
	case "error":
		return nil, c.refused(m.Error)
	}
	return nil, nil
}

func (c *liveConnection) of(name string) *item {
	if c.texts[name] == nil {
		c.texts[name] = &item{}
	}
	return c.texts[name]
}

// complete is the texts that are complete, in the order in which their audio was committed: they may come in another.
func (c *liveConnection) complete() (list []recogniser.Heard) {
	for len(c.items) > 0 && c.of(c.items[0]).final != nil {
		h := *c.of(c.items[0]).final
		c.done++
		h.Number = c.done
		list = append(list, h)
		delete(c.texts, c.items[0])
		c.items = c.items[1:]
	}
	return list
}

// remoteError is the part of an error event that counts.
type remoteError struct {
	Type string `json:"type"`
	Code string `json:"code"`
}

// refused is an error event of the Realtime API. Most leave the session as it is.
func (c *client) refused(e remoteError) error {
	switch e.Code {
	case "session_expired":
		return c.Fault(inference.ErrFailed, errors.New("the session has expired"))
	case "insufficient_quota", "invalid_api_key", "account_deactivated", "billing_hard_limit_reached":
		return c.Refused(remote.Named{Code: e.Code})
	}
	return nil
}
