// Package inktest is a fake of Cartesia's streaming recognition on loopback, /stt/turns/websocket, which finds
// turns, and /stt/websocket, whose client does, for tests of its adapter and for measurements.
//
// It hears as package hearingtest does. The times of the protocol are time of audio, so a test may send audio
// as fast as it likes. The clock counts for two things alone: how long a client may say nothing, and the
// delays of the script.
//
// What Cartesia refuses it refuses, and notes each mistake of its client as a violation.
//
// The specification has both addresses with their parameters, ranges and defaults, the messages of both sides,
// and the form of errors. From Cartesia's documentation are: that texts are deltas with the space before them, the
// fields request_id and language, and that words once sent in a turn stay as they are. How the likelihood falls
// with the quiet, that any error ends the connection, with 1008, how long an idle one lives, and the answer to a
// connection too many are assumed.
package inktest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/cartesia/cartesiatest"
	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books and what is heard are those of all fakes. EmptyFinal of an Utterance makes finals and the ends of
// turns empty.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = cartesiatest.DefaultKey

// Script is what a server does. Its zero value hears no words.
type Script struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	// Continue counts the utterances over all connections: a new one goes on with the first
	// word of which no final or end of a turn was sent. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Faults   []Fault
	Traps    Traps
	Expects  []string // parts of the violations that the test means to cause
	Sockets  int      // at a time, more are refused with 429; 0: any number

	Idle       time.Duration // without a message, by the clock; 0: 3 min
	FinalAfter time.Duration // without turns: how old a word is that becomes final while speech goes on; 0: 1 s
}

// Delays are drawn for each message, by the clock, in addition to the time of audio. Nil: none.
type Delays struct {
	Word  func() time.Duration // a word in an update or a transcript that is not final, after its end
	Eager func() time.Duration // an eager end of a turn, after the last sound
	Final func() time.Duration // the end of a turn, or what finalize brings, after the last sound
}

// Traps are what Cartesia may do although no document says so.
type Traps struct {
	FlushUnanswered bool // there is no flush_done when no words are pending
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script   Script
	dialogue *hearingtest.Dialogue
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	script.Idle = cmp.Or(script.Idle, 3*time.Minute)
	script.FinalAfter = cmp.Or(script.FinalAfter, time.Second)
	s := &Server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue)}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{
		"/stt/turns/websocket": func(w http.ResponseWriter, r *http.Request) { s.open(w, r, parseTurns, newTurns) },
		"/stt/websocket":       func(w http.ResponseWriter, r *http.Request) { s.open(w, r, parsePlain, newPlain) },
	})
}

// open answers a handshake and serves the connection.
func (s *Server) open(w http.ResponseWriter, r *http.Request, parse func(url.Values) (query, error), begin func(*session) protocol) {
	fault, ok := cartesiatest.Admit(s.Server, w, r)
	if !ok {
		return
	}
	q, err := parse(r.URL.Query())
	switch {
	case errors.Is(err, errModel):
		cartesiatest.Refuse(w, http.StatusNotFound, err.Error())
		return
	case err != nil:
		s.Violate("%s: %v", r.URL.Path, err)
		cartesiatest.Refuse(w, http.StatusBadRequest, err.Error())
		return
	case !s.Enter(s.script.Sockets):
		cartesiatest.Refuse(w, http.StatusTooManyRequests, "")
		return
	}
	defer s.Leave()
	s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) {
		c := &session{Hearer: s.dialogue.Listen(s, q.coding, q.rate), query: q, server: s, out: s.Queue(k), id: loopbacktest.ID()}
		c.serve(k, begin(c))
	})
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "turn.update", "transcript": nil, "request_id": nil},
	Fail:  func(reason string) any { return cartesiatest.Failure(http.StatusInternalServerError, "", reason) },
}

// session is one connection.
type session struct {
	*hearingtest.Hearer
	query
	server *Server
	out    *loopbacktest.Queue
	id     string

	words []hearingtest.Word // of the turn, or that are not final
	ended bool               // by the client, or by an error: what the client had sent does not matter
}

// protocol is what one of the two is.
type protocol interface {
	// step says what follows from one frame.
	step(hearingtest.Heard)
	// control obeys a text message, and says whether there is such a one.
	control(string) bool
}

// serve reads until the connection ends.
func (c *session) serve(k *loopbacktest.Socket, p protocol) {
	k.IdleAfter(c.server.script.Idle)
	isClosed := false // by the client
	for {
		kind, data, err := k.Read()
		switch {
		case errors.Is(err, loopbacktest.ErrIdle):
			k.Close(websocket.CloseNormalClosure, "connection idle timeout")
			return
		case err != nil:
			return
		case isClosed:
			c.server.Violate("a message after the one that closes")
		case c.ended:
		case kind == websocket.TextMessage:
			if !p.control(string(data)) {
				c.fail(fmt.Sprintf("the text message %.40q is not known", data))
			} else {
				isClosed = c.ended
			}
		case !c.Whole(data):
			c.fail(fmt.Sprintf("%d bytes of audio are no whole samples", len(data)))
		default:
			c.Hear(data, p.step)
		}
	}
}

// send queues a message of a type.
func (c *session) send(o loopbacktest.Outgoing, kind string, fields map[string]any) {
	m := map[string]any{"type": kind, "request_id": c.id}
	maps.Copy(m, fields)
	o.Message = m
	c.out.Add(o)
}

// fail reports a mistake of the client and ends the connection.
func (c *session) fail(mistake string) {
	c.server.Violate("%s", mistake)
	c.ended = true
	c.out.Add(loopbacktest.Outgoing{Message: cartesiatest.Failure(http.StatusBadRequest, "", mistake)})
	c.out.Add(loopbacktest.Outgoing{Code: websocket.ClosePolicyViolation, Reason: mistake})
}

// finish ends the connection as the client wants it.
func (c *session) finish() {
	c.ended = true
	c.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure})
}
