package sonioxtest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// session is one connection.
type session struct {
	*hearingtest.Hearer // nil: not configured
	configuration
	server *Server
	out    *loopbacktest.Queue

	pending []hearingtest.Word // not final
	final   int64              // ms of audio that is
	spoken  bool               // there were words since the last endpoint
	begun   bool               // there were words at all
	state   state
}

// state is what may still come.
type state uint8

const (
	running  state = iota
	finished       // nothing, after an empty message
	refused        // what the client had sent before it heard of an error
)

// serve serves one connection until it ends.
func serve(s *Server, k *loopbacktest.Socket) {
	c := &session{server: s, out: s.Queue(k)}
	k.IdleAfter(s.script.Idle)
	for {
		kind, data, err := k.Read()
		switch {
		case errors.Is(err, loopbacktest.ErrIdle):
			s.Violate("there was neither audio nor keepalive for %v", s.script.Idle)
			_ = k.Write(failure(http.StatusRequestTimeout, "Request timeout."))
			k.Close(websocket.CloseNormalClosure, "")
			return
		case err != nil:
			return
		case c.state == refused:
		case c.state == finished:
			s.Violate("a message after the empty one")
		case c.Hearer == nil:
			if c.configure(kind, data) {
				defer s.Leave()
			}
		case len(data) == 0:
			c.finish()
		case kind == websocket.TextMessage:
			c.control(data)
		default:
			c.audio(data)
		}
	}
}

// end reports an error and ends the connection.
func (c *session) end(code int, message string) {
	c.state = refused
	c.out.Add(loopbacktest.Outgoing{Message: failure(code, message)})
	c.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure})
}

// fail is end for a mistake of the client, of which more may stand behind a colon.
func (c *session) fail(mistake string) {
	c.server.Violate("%s", mistake)
	message, _, more := strings.Cut(mistake, ".: ")
	if more {
		message += "."
	}
	c.end(http.StatusBadRequest, message)
}

// configure obeys the first message, and says whether the request counts as one.
func (c *session) configure(kind int, data []byte) bool {
	if kind != websocket.TextMessage {
		c.fail("Start request must be a text message.")
		return false
	}
	var mistake string
	if c.configuration, mistake = parse(data); mistake != "" {
		c.fail(mistake)
		return false
	}
	if !c.server.Enter(c.server.script.Sockets) {
		c.end(http.StatusTooManyRequests, "Your organization has exceeded max number of concurrent requests.")
		return false
	}
	c.Hearer = c.server.dialogue.Listen(c.server, codings[c.Format], c.Rate)
	return true
}

// audio hears a message, unless it is none.
func (c *session) audio(data []byte) {
	if !c.Whole(data) {
		c.fail(fmt.Sprintf("Audio decode error.: %d bytes are no whole samples", len(data)))
		return
	}
	c.Hear(data, c.step)
}

// control obeys a text message.
func (c *session) control(data []byte) {
	var m struct {
		Type    string `json:"type"`
		Silence int    `json:"trailing_silence_ms"`
	}
	if err := loopbacktest.Strict(data, &m); err != nil {
		c.fail("Control request is malformed.: " + err.Error())
		return
	}
	switch m.Type {
	case "keepalive":
		c.server.Note(func(b *Books) { b.KeepAlives++ })
	case "finalize":
		c.server.Note(func(b *Books) { b.Finishes++ })
		c.finalize()
	default:
		c.fail(fmt.Sprintf("Control request invalid type.: %.40q", m.Type))
	}
}
