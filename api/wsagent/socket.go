package wsagent

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"parley/media"
)

// Bounds of a socket.
const (
	readLimit = 1 << 20 // bytes a message; a longer one is answered with 1009
	// queueSize is what may wait for a slow client: some seconds of messages. A
	// client that lets it fill up is disconnected, for text is never dropped.
	queueSize  = 512
	bufferPool = 64  // audio frames in flight: four times the default lead
	maxReason  = 123 // bytes of a close reason (RFC 6455 section 5.5)
	writeWait  = 5 * time.Second
	pingEvery  = 20 * time.Second
	readWait   = 60 * time.Second // two pings missed
	// flushWait is how long what is queued may take to be sent before the end,
	// closeWait how long the client may take to answer our goodbye.
	flushWait = 2 * time.Second
	closeWait = time.Second
	// keepRead is the read buffer a socket keeps between messages, in bytes;
	// drainMax bounds what is read after a message that was too long.
	keepRead = 16 << 10
	drainMax = 8 << 20
)

// outgoing is one entry of the writer's queue: a message, audio, or the end.
type outgoing struct {
	text  []byte
	audio *buffer
	epoch int64
	code  int
	why   string
}

// buffer is one 20 ms frame on its way out.
type buffer struct {
	data [2 * int(RateOut) / 50]byte
	n    int
}

// socket orders everything that goes to one client: one queue, one writer.
type socket struct {
	conn  *websocket.Conn
	queue chan outgoing
	free  chan *buffer
	epoch atomic.Int64  // audio of an older one is dropped
	gone  chan struct{} // closed when the goodbye was sent, or the client is lost
	deaf  chan struct{} // closed when nothing is read any more

	once  sync.Once
	fault error // why the client was lost; nil for an ordinary goodbye; set before gone is closed
}

func newSocket(conn *websocket.Conn) *socket {
	s := &socket{conn: conn, queue: make(chan outgoing, queueSize), free: make(chan *buffer, bufferPool),
		gone: make(chan struct{}), deaf: make(chan struct{})}
	for range bufferPool {
		s.free <- &buffer{}
	}
	conn.SetReadLimit(readLimit)
	return s
}

// lost ends the socket; err says why unless somebody said goodbye.
func (s *socket) lost(err error) {
	s.once.Do(func() {
		s.fault = err
		close(s.gone)
	})
}

func (s *socket) over() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

var (
	errSlow   = &media.Ended{Reason: media.Failed, Detail: "slow_client"}
	errTooBig = &media.Ended{Reason: media.Failed, Detail: "message_too_large"}
)

func (s *socket) put(o outgoing) {
	select {
	case s.queue <- o:
	default:
		s.lost(errSlow)
	}
}

// text queues a message, which the socket keeps. It never blocks.
func (s *socket) text(b []byte) { s.put(outgoing{text: b}) }

// buffer is an empty frame to fill, or nil when the client is too slow.
func (s *socket) buffer() *buffer {
	select {
	case b := <-s.free:
		return b
	default:
		s.lost(errSlow)
		return nil
	}
}

func (s *socket) sendAudio(b *buffer) { s.put(outgoing{audio: b, epoch: s.epoch.Load()}) }

// flush drops the audio that is queued. A frame that is being written goes out
// before whatever is queued next.
func (s *socket) flush() { s.epoch.Add(1) }

// close says goodbye after what is queued and ends the socket. It returns when
// the goodbye was sent, at once when the socket has ended already.
func (s *socket) close(code int, why string) {
	if s.over() {
		return
	}
	s.put(outgoing{code: code, why: reason(why)})
	t := time.NewTimer(flushWait)
	defer t.Stop()
	select {
	case <-s.gone:
	case <-t.C:
		s.lost(nil)
	}
}

// reason is why cut to what a close frame holds, between two characters.
func reason(why string) string {
	if len(why) <= maxReason {
		return why
	}
	n := maxReason
	for !utf8.RuneStart(why[n]) {
		n--
	}
	return why[:n]
}

// shut closes the connection: the writer has ended, so nothing is left to be said.
func (s *socket) shut() { _ = s.conn.Close() }

// write is the socket's only writer. It returns when the socket has ended.
func (s *socket) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for !s.over() {
		var err error
		select {
		case <-s.gone:
		case <-ping.C:
			err = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
		case o := <-s.queue:
			err = s.writeOne(o)
		}
		if err != nil {
			s.lost(broken(err))
			return
		}
	}
	s.linger()
}

func (s *socket) writeOne(o outgoing) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	switch {
	case o.audio != nil:
		var err error
		if o.epoch == s.epoch.Load() {
			err = s.conn.WriteMessage(websocket.BinaryMessage, o.audio.data[:o.audio.n])
		}
		s.free <- o.audio
		return err
	case o.text != nil:
		return s.conn.WriteMessage(websocket.TextMessage, o.text)
	}
	err := s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(o.code, o.why), time.Now().Add(writeWait))
	s.lost(nil)
	return err
}

// linger waits briefly for the client's part of the closing handshake. A
// connection closed with something unread in it is reset, and a reset takes from
// the client what it has not read yet: the last words and the reason.
func (s *socket) linger() {
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case <-s.deaf:
	case <-t.C:
	}
}

// broken is why a write has failed: the client does not read, or it has gone,
// which is how many clients end a conversation.
func broken(err error) error {
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return errSlow
	}
	return nil
}

// read hands every message to its handler, which may not keep it, until the
// client has gone or the connection is closed. After the end it only reads.
func (s *socket) read(text func([]byte), audio func([]byte)) {
	alive := func(string) error { return s.conn.SetReadDeadline(time.Now().Add(readWait)) }
	s.conn.SetPongHandler(alive)
	_ = alive("")
	var buf bytes.Buffer
	for {
		kind, r, err := s.conn.NextReader()
		if err == nil {
			buf.Reset()
			_, err = buf.ReadFrom(r)
		}
		if err != nil {
			s.unread(err)
			return
		}
		_ = alive("")
		switch {
		case s.over():
		case kind == websocket.BinaryMessage:
			audio(buf.Bytes())
		default:
			text(buf.Bytes())
		}
		if buf.Cap() > keepRead {
			buf = bytes.Buffer{}
		}
	}
}

// unread ends the socket because nothing more can be read. Clients end a
// conversation in many ways, closing the connection without a word included.
func (s *socket) unread(err error) {
	if !errors.Is(err, websocket.ErrReadLimit) {
		s.lost(nil)
		return
	}
	s.lost(errTooBig) // the close frame with 1009 was sent where this was found
	conn := s.conn.NetConn()
	if conn.SetReadDeadline(time.Now().Add(closeWait)) == nil {
		_, _ = io.CopyN(io.Discard, conn, drainMax) // for linger's reason
	}
}
