package deepgramtest

import (
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// updateEvery is the audio between two updates of an open turn.
const updateEvery = 250 * time.Millisecond

// fluxShapes are what faults send.
var fluxShapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "TurnInfo", "event": nil, "words": nil, "transcript": nil, "turn_index": nil},
	Fail: func(reason string) any {
		return map[string]any{"type": "Error", "sequence_id": 1, "code": "INTERNAL_SERVER_ERROR", "description": reason}
	},
}

// flux is one connection to /v2/listen.
type flux struct {
	*hearingtest.Hearer
	query
	server *Server
	id     string
	out    *loopbacktest.Queue

	sequence    int
	turn        int
	words       []hearingtest.Word // of the turn
	started     time.Duration      // the turn, in audio
	updated     time.Duration      // the last time it was spoken of
	state       state
	configuring atomic.Bool // a Configure is unanswered
}

// state is how far a turn is.
type state uint8

const (
	idle state = iota // between turns
	speaking
	eager // probably over
)

// serveFlux serves one connection until it ends.
func serveFlux(s *Server, k *loopbacktest.Socket, q query, id string) {
	f := &flux{Hearer: s.dialogue.Listen(s, q.coding, q.rate), query: q, server: s, id: id, out: s.Queue(k)}
	f.send(loopbacktest.Outgoing{}, map[string]any{"type": "Connected"})
	closing := false
	for {
		kind, data, err := k.Read()
		if err != nil {
			return
		}
		switch {
		case closing:
			s.Violate("Flux got a message after CloseStream")
		case kind == websocket.TextMessage:
			closing = f.control(data)
		default:
			closing = !f.audio(data)
		}
	}
}

// send numbers a message and queues it.
func (f *flux) send(o loopbacktest.Outgoing, message map[string]any) {
	message["request_id"], message["sequence_id"] = f.id, f.sequence
	f.sequence++
	o.Message = message
	f.out.Add(o)
}

// fatal reports an error and ends the connection.
func (f *flux) fatal(code, description string) {
	f.send(loopbacktest.Outgoing{}, map[string]any{"type": "Error", "code": code, "description": description})
	f.out.Add(loopbacktest.Outgoing{Code: websocket.ClosePolicyViolation, Reason: code})
}

// audio hears a message, unless it is none.
func (f *flux) audio(data []byte) bool {
	if len(data) == 0 || !f.Whole(data) {
		f.server.Violate("%d bytes of audio are no whole samples", len(data))
		f.fatal("UNPARSABLE_CLIENT_MESSAGE", "the message cannot be decoded as audio")
		return false
	}
	f.Hear(data, f.step)
	return true
}

// control obeys a text message, and says whether nothing more may come.
func (f *flux) control(data []byte) (closing bool) {
	var m struct{ Type string }
	if err := json.Unmarshal(data, &m); err != nil {
		m.Type = "no JSON"
	}
	switch m.Type {
	case "Configure":
		f.configure(data)
	case "ForceEndTurn":
		f.server.Note(func(b *Books) { b.Finishes++ })
		f.force()
	case "CloseStream":
		if f.state == idle {
			f.words = f.Cut()
			f.step(hearingtest.Heard{})
		}
		f.force()
		f.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure})
		return true
	default:
		f.server.Violate("Flux knows no text message %q", m.Type)
		f.fatal("UNPARSABLE_CLIENT_MESSAGE", "unknown message type")
		return true
	}
	return false
}

// force ends an open turn with what was heard of it.
func (f *flux) force() {
	if f.state == idle {
		return
	}
	words := f.Cut()
	if len(words) > 0 && f.state == eager {
		f.info("TurnResumed", .1, f.AfterSound(f.server.script.Delays.Final)) // the text of an eager end does not change without it
	}
	f.words = append(f.words, words...)
	f.end("manual")
}

// step says what follows from one frame.
func (f *flux) step(got hearingtest.Heard) {
	if f.state == eager && got.Loud {
		f.state = speaking
		f.info("TurnResumed", .1, f.AfterWord(f.server.script.Delays.Word))
	}
	f.words = append(f.words, got.Words...)
	silent, t := f.Now-f.LastLoud, f.thresholds
	switch {
	case f.state == idle && len(f.words) > 0:
		f.state, f.started = speaking, f.words[0].Start
		f.info("StartOfTurn", .05, f.AfterWord(f.server.script.Delays.Word))
	case f.state == idle:
		return
	case f.Now-f.updated >= updateEvery:
		f.info("Update", .1, f.AfterWord(f.server.script.Delays.Word))
	}
	if t.Eager > 0 && f.state == speaking && f.Quiet >= f.server.script.EagerAfter {
		f.state = eager
		f.info("EagerEndOfTurn", (t.Eager+t.End)/2, f.AfterSound(f.server.script.Delays.Eager))
	}
	over := f.Over() && f.Quiet >= f.server.script.EndAfter
	if t.End < 1 && (over || silent >= t.timeout()) {
		f.end("model")
	}
}

// end ends the turn.
func (f *flux) end(trigger string) {
	words := f.words
	o := loopbacktest.Outgoing{Due: f.AfterSound(f.server.script.Delays.Final), Sent: func() { f.server.dialogue.Final(words) }}
	m := f.turnInfo("EndOfTurn", (f.thresholds.End+1)/2)
	m["trigger"] = trigger
	f.send(o, m)
	f.words, f.state = nil, idle
	f.turn++
}

// info tells about the turn.
func (f *flux) info(event string, confidence float64, due time.Time) {
	f.updated = f.Now
	f.send(loopbacktest.Outgoing{Due: due}, f.turnInfo(event, confidence))
}

func (f *flux) turnInfo(event string, confidence float64) map[string]any {
	list := []map[string]any{}
	for _, w := range f.words {
		list = append(list, map[string]any{"word": w.Text, "start": seconds(w.Start), "end": seconds(w.End), "confidence": .97})
	}
	m := map[string]any{
		"type": "TurnInfo", "event": event, "turn_index": f.turn, "audio_window_start": seconds(f.started), "audio_window_end": seconds(f.Now),
		"transcript": hearingtest.Text(f.words, false), "words": list, "end_of_turn_confidence": float64(int(confidence*1000+.5)) / 1000,
	}
	if f.model == multi {
		m["languages"], m["languages_hinted"] = hearingtest.Languages(f.words), append([]string{}, f.hints...)
	}
	return m
}
