package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/inference/exchange"
	"parley/inference/remote"
)

// Recorder writes what passes between an engine and its vendor as the lines of an exchange, without words of people and
// the key. It is for one exchange, and safe for use from several goroutines.
type Recorder struct {
	key exchange.Secret

	mu     sync.Mutex
	out    *json.Encoder
	err    error
	began  time.Time
	answer *answer // over HTTP that is in progress; nil: there is none
	over   bool    // the vendor has closed its socket
}

// answer is one over HTTP.
type answer struct {
	status int
	kind   string // Content-Type
	rest   []byte // of an event that is not complete, or of another body
	bytes  int    // of audio
}

// NewRecorder writes to out. key is the engine's; empty: it has none.
func NewRecorder(out io.Writer, key string) *Recorder {
	return &Recorder{key: exchange.Secret(key), out: json.NewEncoder(out)}
}

// Err is the first error of writing.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Take is a remote.Tap.
func (r *Recorder) Take(p remote.Passage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case p.What == remote.Asked:
		if r.began.IsZero() {
			r.began = time.Now()
		}
		r.over = false
		l := exchange.Line{Get: r.key.Path(p.Path)}
		if p.Type != "" {
			r.body(&l, p.Data)
		}
		r.write(exchange.Client, l)
	case p.What == remote.Answered:
		r.answer = &answer{status: p.Status, kind: p.Type}
		if p.Status/100 == 2 {
			r.write(exchange.Vendor, exchange.Line{Status: p.Status})
		}
	case p.What == remote.Said && r.answer != nil:
		r.part(p.Data)
	case p.What == remote.Said && p.Vendor:
		r.write(exchange.Vendor, r.heard(p))
	case p.What == remote.Said:
		r.write(exchange.Client, r.said(p))
	case p.What == remote.Ended && r.answer != nil:
		r.finish()
	case p.What == remote.Ended && p.Vendor:
		r.over = true
		r.write(exchange.Vendor, exchange.Line{Close: p.Code})
	case p.What == remote.Ended && !r.over: // or it only answers the vendor's
		r.write(exchange.Client, exchange.Line{Close: p.Code})
	}
}

func (r *Recorder) write(from string, l exchange.Line) {
	l.From, l.MS = from, int(time.Since(r.began).Milliseconds())
	if err := r.out.Encode(l); err != nil && r.err == nil {
		r.err = err
	}
}

// body puts a text that may be JSON into a line, and else its length.
func (r *Recorder) body(l *exchange.Line, data []byte) {
	if text, ok := r.key.Hidden(data); ok {
		l.Text = text
	} else {
		l.Bytes = len(data)
	}
}

// sounds are the names of the client's fields that hold base64 audio.
var sounds = []string{"audio", "audio_base_64", "data"}

// sound is the base64 audio in a message of the client; nil: there is none.
func sound(v any) []byte {
	object, _ := v.(map[string]any)
	for name, inner := range object {
		if text, ok := inner.(string); ok && slices.Contains(sounds, name) {
			if audio, err := base64.StdEncoding.DecodeString(text); err == nil && len(audio) > 0 {
				return audio
			}
		}
		if audio := sound(inner); audio != nil {
			return audio
		}
	}
	return nil
}

// said is a message of ours. Audio is 16-bit PCM: it is what a trial sends.
func (r *Recorder) said(p remote.Passage) (l exchange.Line) {
	if p.Binary {
		return exchange.Line{Bytes: len(p.Data), Level: level(p.Data)}
	}
	var v any
	if json.Unmarshal(p.Data, &v) == nil {
		if audio := sound(v); audio != nil {
			return exchange.Line{Inside: len(audio), Level: level(audio)}
		}
	}
	return r.text(p.Data)
}

// heard is a message of the vendor's. JSON may come in binary messages, too.
func (r *Recorder) heard(p remote.Passage) exchange.Line {
	masked, err := exchange.Masked(p.Data)
	switch {
	case err == nil:
		return r.text(masked)
	case p.Binary:
		return exchange.Line{Bytes: len(p.Data)}
	}
	return r.text(p.Data)
}

// text is a text message of either side.
func (r *Recorder) text(data []byte) exchange.Line {
	if len(data) == 0 {
		return exchange.Line{Empty: true}
	}
	if text, ok := r.key.Hidden(data); ok {
		return exchange.Line{Text: text}
	}
	return exchange.Line{Plain: r.key.Word(string(data))}
}

// part takes a part of an answer's body: the data of its events come by the line.
func (r *Recorder) part(data []byte) {
	a := r.answer
	switch {
	case strings.HasPrefix(a.kind, "text/event-stream"):
		a.rest = append(a.rest, data...)
		for {
			line, rest, whole := bytes.Cut(a.rest, []byte("\n"))
			if !whole {
				return
			}
			a.rest = rest
			if event, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				r.write(exchange.Vendor, r.heard(remote.Passage{Data: bytes.TrimSpace(event)}))
			}
		}
	case strings.Contains(a.kind, "json"), a.status/100 != 2:
		a.rest = append(a.rest, data...)
	default:
		a.bytes += len(data)
	}
}

// finish writes what an answer was that is no stream of events.
func (r *Recorder) finish() {
	a := r.answer
	r.answer = nil
	l := exchange.Line{Bytes: a.bytes}
	if masked, err := exchange.Masked(a.rest); err == nil {
		r.body(&l, masked)
	} else if l.Bytes == 0 {
		l.Bytes = len(a.rest)
	}
	if a.status/100 != 2 {
		l.Status = a.status
	}
	if l.Bytes > 0 || l.Text != nil || l.Status != 0 {
		r.write(exchange.Vendor, l)
	}
}

// level is that of 16-bit PCM in dBFS; 0: nobody speaks in it.
func level(pcm []byte) int {
	sum, n := 0.0, len(pcm)/2
	for i := range n {
		s := float64(int16(binary.LittleEndian.Uint16(pcm[2*i:])))
		sum += s * s
	}
	rms := math.Sqrt(sum / float64(max(1, n)))
	if rms < quiet/3 {
		return 0
	}
	return min(-1, int(math.Round(20*math.Log10(rms/-math.MinInt16))))
}
