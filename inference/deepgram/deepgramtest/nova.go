package deepgramtest

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/gorilla/websocket"

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
	*hearer
	id  string
	out *queue

	from     time.Duration // until where finals go
	pending  []word        // heard since
	lastWord time.Duration // its end; 0: none since the last UtteranceEnd
	open     bool          // there were words since the last speech_final
}

// serveNova serves one connection until it ends.
func serveNova(s *Server, k *loopbacktest.Socket, q query, id string) {
	n := &nova{hearer: &hearer{server: s, query: q, next: s.resume()}, id: id, out: newQueue(s, k)}
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
		n.hear(data, n.step)
		return true
	}
	n.out.add(outgoing{code: websocket.ClosePolicyViolation, message: undecodable})
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
		n.pending = append(n.pending, n.cut()...)
		n.final(n.now, "", n.due())
		n.out.add(outgoing{message: map[string]any{"type": "Metadata", "request_id": n.id, "transaction_key": "deprecated", "sha256": n.id,
			"created": time.Now().UTC().Format(time.RFC3339), "duration": seconds(n.now), "channels": 1}})
		n.out.add(outgoing{code: websocket.CloseNormalClosure, message: ""})
		return true
	default:
		n.server.Violate("Nova knows no text message %q", m.Type)
		n.out.add(outgoing{code: websocket.ClosePolicyViolation, message: undecodable})
		return true
	}
	return false
}

// finalize answers Finalize.
func (n *nova) finalize() {
	n.pending = append(n.pending, n.cut()...)
	if len(n.pending) == 0 && n.server.script.Traps.FinalizeUnanswered {
		return
	}
	if len(n.pending) > 0 {
		n.lastWord = n.pending[len(n.pending)-1].end
	}
	n.final(n.now, "from_finalize", n.due())
	n.open = false
}

// step says what follows from one frame.
func (n *nova) step(got heard) {
	if got.onset && n.nova.vadEvents {
		n.started()
	}
	if len(got.words) > 0 {
		n.pending = append(n.pending, got.words...)
		n.open, n.lastWord = true, got.words[len(got.words)-1].end
		if n.nova.interim {
			n.out.add(outgoing{due: n.afterWord(), message: n.results(n.pending, n.now, false, "")})
		}
	}
	switch e := n.nova.endpointing; {
	case e >= 0 && n.open && !got.loud && n.quiet >= e && n.quiet > 0:
		n.open = false
		n.final(n.now, "speech_final", n.due())
	case n.now-n.from >= n.server.script.FinalEvery:
		n.final(n.settled(), "", n.afterWord())
	}
	if e := n.nova.utteranceEnd; e > 0 && n.lastWord > 0 && !got.loud && n.now-n.lastWord >= e {
		n.out.add(outgoing{message: map[string]any{"type": "UtteranceEnd", "channel": []int{0, 1}, "last_word_end": seconds(n.lastWord)}})
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
		at := n.now - 20*time.Millisecond
		n.out.add(outgoing{message: map[string]any{"type": "SpeechStarted", "channel": []int{0, 1}, "timestamp": seconds(at)}})
	}
}

// final sends what is pending as a final until to. mark is the field that says why: none for
// the next piece of a long utterance.
func (n *nova) final(to time.Duration, mark string, due time.Time) {
	words := n.pending
	shown := make([]word, 0, len(words))
	for _, w := range words {
		if !w.of.EmptyFinal {
			shown = append(shown, w)
		}
	}
	n.out.add(outgoing{due: due, message: n.results(shown, to, true, mark), sent: func() { n.server.final(words) }})
	n.from, n.pending = to, nil
}
