package deepgramtest

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Reasons of close frames.
const (
	noAudio     = "NET-0001: Deepgram did not receive audio data or a text message within the timeout window"
	undecodable = "DATA-0000: The payload cannot be decoded as audio"
)

// novaNulls is what a fault sends as a message full of nulls.
var novaNulls = map[string]any{"type": "Results", "channel": nil, "is_final": nil, "start": nil, "metadata": nil}

// nova is one connection to /v1/listen.
type nova struct {
	*hearingtest.Hearer
	query
	server *Server
	id     string
	out    *loopbacktest.Queue

	from     time.Duration      // until where finals go
	pending  []hearingtest.Word // heard since
	lastWord time.Duration      // its end; 0: none since the last UtteranceEnd
	open     bool               // there were words since the last speech_final
}

// serveNova serves one connection until it ends.
func serveNova(s *Server, k *loopbacktest.Socket, q query, id string) {
	n := &nova{Hearer: s.dialogue.Listen(s, q.coding, q.rate), query: q, server: s, id: id, out: s.Queue(k)}
	k.IdleAfter(s.script.Idle)
	closing := false
	for {
		kind, data, err := k.Read()
		if errors.Is(err, loopbacktest.ErrIdle) {
			s.Violate("Nova got neither audio nor KeepAlive for %v", s.script.Idle)
			k.Close(websocket.CloseInternalServerErr, noAudio)
			return
		}
		if err != nil {
			return
		}
		if closing {
			s.Violate("Nova got a message after CloseStream")
			continue
		}
		if kind == websocket.TextMessage {
			closing = n.control(data)
		} else {
			closing = !n.audio(data)
		}
	}
}

// audio hears a message, unless it is none.
func (n *nova) audio(data []byte) bool {
	var control struct{ Type string }
	switch {
	case json.Unmarshal(data, &control) == nil && control.Type != "":
		n.server.Violate("%s came in a binary message: it is heard as audio", control.Type)
	case len(data) == 0:
		n.server.Violate("an empty message of audio")
	case len(data)%n.coding.Width() != 0:
		n.server.Violate("%d bytes of audio are no whole samples", len(data))
	default:
		n.Hear(data, n.step)
		return true
	}
	n.out.Add(loopbacktest.Outgoing{Code: websocket.ClosePolicyViolation, Reason: undecodable})
	return false
}

// control obeys a text message, and says whether nothing more may come.
func (n *nova) control(data []byte) (closing bool) {
	var m struct{ Type string }
	if err := json.Unmarshal(data, &m); err != nil {
		m.Type = "no JSON"
	}
	switch m.Type {
	case "KeepAlive":
		n.server.Note(func(b *Books) { b.KeepAlives++ })
	case "Finalize":
		n.server.Note(func(b *Books) { b.Finishes++ })
		n.finalize()
	case "CloseStream":
		n.pending = append(n.pending, n.Cut()...)
		n.final(n.Now, "", n.AfterSound(n.server.script.Delays.Final))
		n.out.Add(loopbacktest.Outgoing{Message: map[string]any{"type": "Metadata", "request_id": n.id, "transaction_key": "deprecated", "sha256": n.id,
			"created": time.Now().UTC().Format(time.RFC3339), "duration": seconds(n.Now), "channels": 1}})
		n.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure})
		return true
	default:
		n.server.Violate("Nova knows no text message %q", m.Type)
		n.out.Add(loopbacktest.Outgoing{Code: websocket.ClosePolicyViolation, Reason: undecodable})
		return true
	}
	return false
}

// finalize answers Finalize.
func (n *nova) finalize() {
	n.pending = append(n.pending, n.Cut()...)
	if len(n.pending) == 0 && n.server.script.Traps.FinalizeUnanswered {
		return
	}
	if len(n.pending) > 0 {
		n.lastWord = n.pending[len(n.pending)-1].End
	}
	n.final(n.Now, "from_finalize", n.AfterSound(n.server.script.Delays.Final))
	n.open = false
}

// step says what follows from one frame.
func (n *nova) step(got hearingtest.Heard) {
	if got.Onset && n.nova.vadEvents {
		n.started()
	}
	if len(got.Words) > 0 {
		n.pending = append(n.pending, got.Words...)
		n.open, n.lastWord = true, got.Words[len(got.Words)-1].End
		if n.nova.interim {
			n.out.Add(loopbacktest.Outgoing{Due: n.AfterWord(n.server.script.Delays.Word), Message: n.results(n.pending, n.Now, false, "")})
		}
	}
	switch e := n.nova.endpointing; {
	case e >= 0 && n.open && !got.Loud && n.Quiet >= e && n.Quiet > 0:
		n.open = false
		n.final(n.Now, "speech_final", n.AfterSound(n.server.script.Delays.Final))
	case n.Now-n.from >= n.server.script.FinalEvery:
		n.final(n.Settled(), "", n.AfterWord(n.server.script.Delays.Word))
	}
	if e := n.nova.utteranceEnd; e > 0 && n.lastWord > 0 && !got.Loud && n.Now-n.lastWord >= e {
		n.out.Add(loopbacktest.Outgoing{Message: map[string]any{"type": "UtteranceEnd", "channel": []int{0, 1}, "last_word_end": seconds(n.lastWord)}})
		n.lastWord = 0
	}
}

// started sends SpeechStarted as often as the traps want.
func (n *nova) started() {
	times := 1
	if traps := n.server.script.Traps; traps.SpeechStartedMissing {
		times = 0
	} else if traps.SpeechStartedRepeats {
		times = 2
	}
	for range times {
		at := n.Now - hearingtest.Frame
		n.out.Add(loopbacktest.Outgoing{Message: map[string]any{"type": "SpeechStarted", "channel": []int{0, 1}, "timestamp": seconds(at)}})
	}
}

// final sends what is pending as a final until to. mark is the field that says why: none for
// the next piece of a long utterance.
func (n *nova) final(to time.Duration, mark string, due time.Time) {
	words := n.pending
	n.out.Add(loopbacktest.Outgoing{Due: due, Message: n.results(hearingtest.Shown(words), to, true, mark), Sent: func() { n.server.dialogue.Final(words) }})
	n.from, n.pending = to, nil
}
