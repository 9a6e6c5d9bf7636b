package fork

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"parley/media"
)

// Track is one side of a call, as the messages name it.
type Track string

// The tracks, in the order of the channels of a monitor.Listener.
const (
	Inbound  Track = "inbound"  // what the person on the line says
	Outbound Track = "outbound" // what they hear
)

// Tracks are all.
func Tracks() []Track { return []Track{Inbound, Outbound} }

// Start is what the receiver learns at the beginning.
type Start struct {
	Stream, Account, Call string            // identifiers
	Tracks                []Track           // nil: all
	Parameters            map[string]string // as who asked for the stream gave them
}

func (s *Start) has(t Track) bool { return s.Tracks == nil || slices.Contains(s.Tracks, t) }

// writer makes the messages of one stream. Numbers are written as texts, as in those it follows. The last one's memory is used
// again by the next.
type writer struct {
	start    Start
	sequence int
	message  []byte
}

// connected is the first message.
func (w *writer) connected() []byte {
	return []byte(`{"event":"connected","protocol":"Call","version":"1.0.0"}`)
}

// started describes the stream.
func (w *writer) started() []byte {
	tracks := w.start.Tracks
	if tracks == nil {
		tracks = Tracks()
	}
	parameters := w.start.Parameters
	if parameters == nil {
		parameters = map[string]string{}
	}
	return w.object(map[string]any{"event": "start", "start": map[string]any{
		"streamSid": w.start.Stream, "accountSid": w.start.Account, "callSid": w.start.Call, "tracks": tracks, "customParameters": parameters,
		"mediaFormat": map[string]any{"encoding": "audio/x-mulaw", "sampleRate": int(media.Rate8k), "channels": 1},
	}})
}

// stopped is the last message.
func (w *writer) stopped() []byte {
	return w.object(map[string]any{"event": "stop", "stop": map[string]any{"accountSid": w.start.Account, "callSid": w.start.Call}})
}

// object writes a message of which there is one in a stream.
func (w *writer) object(m map[string]any) []byte {
	w.sequence++
	m["sequenceNumber"], m["streamSid"] = strconv.Itoa(w.sequence), w.start.Stream
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts and numbers
	}
	return text
}

// media has 20 ms of a track, its chunk-th, that began at from the stream's beginning on.
func (w *writer) media(t Track, chunk int, at media.Time, code []byte) []byte {
	w.sequence++
	b := append(w.message[:0], `{"event":"media","sequenceNumber":"`...)
	b = strconv.AppendInt(b, int64(w.sequence), 10)
	b = append(append(b, `","media":{"track":"`...), t...)
	b = strconv.AppendInt(append(b, `","chunk":"`...), int64(chunk), 10)
	b = strconv.AppendInt(append(b, `","timestamp":"`...), at.Milliseconds(), 10)
	b = base64.StdEncoding.AppendEncode(append(b, `","payload":"`...), code)
	b = append(append(b, `"},"streamSid":"`...), w.start.Stream...)
	w.message = append(b, `"}`...)
	return w.message
}
