package cartesia

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"parley/inference"
	"parley/inference/recogniser"
	"parley/inference/remote"
	"parley/media"
)

// whisper is the models that recognise and leave turns to us.
type whisper struct{ name, model string }

// Info implements recogniser.Vendor. The latency is what others have measured at the 99th percentile.
func (v *whisper) Info() inference.Info {
	return inference.Info{Name: v.name, Description: "streaming recognition, model " + v.model, Languages: inference.Spoken(),
		Latency: 900 * time.Millisecond, Feed: inference.FeedContinuous, Raw: true,
		Caps: inference.Caps{Partials: true, WordTimes: true, ForceEnd: true, In: []inference.Format{recogniser.Telephone}}}
}

// Path implements recogniser.Vendor.
func (v *whisper) Path(c inference.ASRConfig) string {
	q := url.Values{"model": {v.model}, "encoding": {encodings[c.Format.Encoding]}, "sample_rate": {strconv.Itoa(int(c.Format.SampleRate()))}}
	if c.Language != "" {
		q.Set("language", c.Language)
	}
	return "/stt/websocket?" + q.Encode()
}

// Pace implements recogniser.Vendor.
func (v *whisper) Pace() recogniser.Pace {
	return recogniser.Pace{Chunk: 100 * time.Millisecond, RealTime: true}
}

// Connect implements recogniser.Vendor.
func (v *whisper) Connect(c inference.ASRConfig) recogniser.Connection {
	return &whisperConnection{Plain: recogniser.Plain{Encoding: c.Format.Encoding}, whisper: v, rate: c.Format.SampleRate()}
}

// whisperConnection is one socket.
type whisperConnection struct {
	recogniser.Plain
	*whisper
	rate media.Rate
	asks recogniser.Asks
	said time.Duration // the end of the last word
}

// Audio implements recogniser.Connection.
func (c *whisperConnection) Audio(samples []int16) ([]byte, bool) {
	c.asks.Audio(c.rate.Duration(len(samples)).Duration())
	return c.Plain.Audio(samples)
}

// Finish implements recogniser.Connection.
func (c *whisperConnection) Finish() []byte {
	c.asks.Finish()
	return []byte("finalize")
}

// Idle implements recogniser.Connection.
func (*whisperConnection) Idle() ([]byte, time.Duration) { return nil, 5 * time.Second }

// End implements recogniser.Connection.
func (*whisperConnection) End() []byte { return []byte("done") }

// Read implements recogniser.Connection. A text is what was said since the last final one.
func (c *whisperConnection) Read(message []byte) ([]recogniser.Heard, error) {
	var m struct {
		Type   string `json:"type"`
		Final  bool   `json:"is_final"`
		Text   string `json:"text"`
		Status int    `json:"status_code"`
		Words  []struct {
			Word  string  `json:"word"`
			Start float64 `json:"start"`
			End   float64 `json:"end"`
		} `json:"words"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil, fault(c.name, inference.ErrFailed, "a message that is not JSON")
	}
	h := recogniser.Heard{Text: strings.TrimSpace(m.Text), Confidence: -1}
	switch m.Type {
	case "transcript":
	case "flush_done":
		return []recogniser.Heard{c.asks.Answer(recogniser.Heard{End: c.said, Confidence: -1})}, nil
	case "error":
		return nil, refused(c.name, m.Status)
	default:
		return nil, nil
	}
	for _, w := range m.Words {
		h.End = max(h.End, remote.Time(w.End, time.Second))
		h.Words = append(h.Words, inference.Mark{Text: strings.TrimSpace(w.Word), Start: remote.Time(w.Start, time.Second), End: remote.Time(max(w.Start, w.End), time.Second), Char: -1})
	}
	if c.said = max(c.said, h.End); m.Final {
		h.Kind = recogniser.Final
	} else if h.Text == "" {
		return nil, nil
	}
	return []recogniser.Heard{h}, nil
}
