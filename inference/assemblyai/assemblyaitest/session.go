package assemblyaitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Lengths of a message of audio.
const (
	shortest = 50 * time.Millisecond
	longest  = 1000 * time.Millisecond
)

// inactive is why a session ends whose client says nothing.
const inactive = "Session Cancelled: Inactivity timeout"

// lifetime is how long the vendor keeps a session.
const lifetime = 3 * time.Hour

// session is one connection.
type session struct {
	*hearingtest.Hearer
	query
	server *Server
	out    *loopbacktest.Queue
	pace   pace
	begun  time.Time // by the clock

	refused bool               // an error ends the session: what the client had sent does not matter
	order   int                // of the turn
	words   []hearingtest.Word // of the turn
	uttered int                // how many of them an utterance has had
	state   state
	started time.Duration // the speech of the turn, in audio
	told    time.Duration // the latest partial of it; 0: none yet
}

// state is how far a turn is.
type state uint8

const (
	between state = iota // turns
	speech               // without a word so far
	turn
)

// serve serves one session until it ends.
func serve(s *Server, k *loopbacktest.Socket, q query) {
	c := &session{Hearer: s.dialogue.Listen(s, q.coding, q.rate), query: q, server: s, out: s.Queue(k), begun: time.Now()}
	c.send(map[string]any{"type": "Begin", "id": loopbacktest.ID(), "expires_at": c.begun.Add(lifetime).Unix()})
	if q.idle > 0 && s.script.Idle > 0 {
		c.idle = s.script.Idle
	}
	k.IdleAfter(c.idle)
	closing := false
	for {
		kind, data, err := k.Read()
		switch {
		case errors.Is(err, loopbacktest.ErrIdle):
			s.Violate("there was neither audio nor KeepAlive for %v", c.idle)
			_ = k.Write(failure(codeServer, inactive))
			k.Close(codeServer, inactive)
			return
		case err != nil:
			return
		case c.refused:
		case closing:
			s.Violate("a message after Terminate")
		case kind == websocket.TextMessage:
			closing = c.control(data)
		default:
			c.audio(data)
		}
	}
}

func (c *session) send(message any) { c.out.Add(loopbacktest.Outgoing{Message: message}) }

// fail ends the session for a mistake of the client.
func (c *session) fail(code int, text string) {
	c.server.Violate("%s", text)
	c.refused = true
	c.send(failure(code, text))
	c.out.Add(loopbacktest.Outgoing{Code: code, Reason: text})
}

// audio hears a message, unless it is refused.
func (c *session) audio(data []byte) {
	if !c.Whole(data) {
		c.fail(codeAudio, fmt.Sprintf("Input Duration Error: %d bytes are no whole samples", len(data)))
		return
	}
	length := time.Duration(len(data)/c.coding.Width()) * time.Second / time.Duration(c.rate)
	if length < shortest || length > longest {
		c.fail(codeAudio, fmt.Sprintf("Input Duration Error: Input Duration Violation: %.1f ms. Expected between 50 and 1000 ms", length.Seconds()*1000))
		return
	}
	received := c.Now + length
	if burst := c.server.script.Burst; burst >= 0 && !c.pace.allows(length, burst, time.Now()) {
		c.fail(codeAudio, fmt.Sprintf("Audio Transmission Rate Exceeded: Received %.2f sec. audio in %.2f sec",
			received.Seconds(), time.Since(c.begun).Seconds()))
		return
	}
	c.Hear(data, c.step)
}

// pace is how far ahead of the clock audio comes.
type pace struct {
	ahead time.Duration
	last  time.Time // of a message
}

// allows takes a message of audio into account, and says whether no more than burst is ahead. Time
// in which nothing came is not saved up.
func (p *pace) allows(length, burst time.Duration, now time.Time) bool {
	if !p.last.IsZero() {
		p.ahead = max(0, p.ahead-now.Sub(p.last))
	}
	p.ahead, p.last = p.ahead+length, now
	return p.ahead <= burst
}

// control obeys a text message, and says whether nothing more may come.
func (c *session) control(data []byte) (closing bool) {
	var m struct{ Type string }
	if !json.Valid(data) {
		c.fail(codeMessage, "Invalid JSON")
		return false
	}
	if json.Unmarshal(data, &m) != nil {
		c.fail(codeMessage, "Invalid Message")
		return false
	}
	switch m.Type {
	case "ForceEndpoint":
		c.server.Note(func(b *Books) { b.Finishes++ })
		c.force()
	case "KeepAlive":
		c.server.Note(func(b *Books) { b.KeepAlives++ })
		if c.idle == 0 {
			c.server.Violate("KeepAlive without inactivity_timeout")
		}
	case "UpdateConfiguration":
		if err := c.update(data); err != nil {
			c.fail(codeMessage, "Invalid Message: "+err.Error())
		}
	case "Terminate":
		c.terminate()
		return true
	default:
		c.fail(codeMessage, fmt.Sprintf("Invalid Message Type: %.40q", m.Type))
	}
	return false
}

// update changes what the message names. It is not answered.
func (c *session) update(data []byte) error {
	var m struct {
		Type     string
		Prompt   *string
		Keyterms []string `json:"keyterms_prompt"`
		Least    *int     `json:"min_turn_silence"`
		Most     *int     `json:"max_turn_silence"`
	}
	if err := loopbacktest.Strict(data, &m); err != nil {
		return err
	}
	t := c.turns
	if m.Least != nil {
		t.least = time.Duration(*m.Least) * time.Millisecond
	}
	if m.Most != nil {
		t.most = time.Duration(*m.Most) * time.Millisecond
	}
	if err := errors.Join(t.valid(), checkTerms(m.Keyterms)); err != nil {
		return err
	}
	c.turns = t
	return nil
}

// terminate says the last words, and how long it all was.
func (c *session) terminate() {
	c.force()
	whole := func(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
	c.send(map[string]any{"type": "Termination", "audio_duration_seconds": whole(c.Now), "session_duration_seconds": whole(time.Since(c.begun))})
	c.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure})
}
