package wsagent

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"parley/media"
)

// Close codes (RFC 6455 section 7.4.1).
const (
	codeNormal      = websocket.CloseNormalClosure
	codeGoingAway   = websocket.CloseGoingAway
	codePolicy      = websocket.ClosePolicyViolation
	codeServerError = websocket.CloseInternalServerErr
)

// Bounds of a socket.
const (
	readLimit = 1 << 20 // bytes a frame; more is answered with 1009
	// queueSize is what may wait for a slow client: some seconds of messages. A
	// client that lets it fill up is disconnected, for text is never dropped.
	queueSize  = 512
	bufferPool = 64 // audio frames in flight: three times the default lead
	writeWait  = 5 * time.Second
	pingEvery  = 20 * time.Second
	readWait   = 60 * time.Second // two pings missed
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
	data [2 * media.MaxFrameSamples]byte
	n    int
}

// socket orders everything that goes to one client: one queue, one writer.
type socket struct {
	conn  *websocket.Conn
	queue chan outgoing
	free  chan *buffer
	epoch atomic.Int64 // audio of an older one is dropped
	gone  chan struct{}

	once  sync.Once
	mu    sync.Mutex
	fault error // why the client was lost; nil for its ordinary goodbye
}

func newSocket(conn *websocket.Conn) *socket {
	s := &socket{conn: conn, queue: make(chan outgoing, queueSize), free: make(chan *buffer, bufferPool), gone: make(chan struct{})}
	for range bufferPool {
		s.free <- &buffer{}
	}
	conn.SetReadLimit(readLimit)
	return s
}

// lost ends the socket; err says why unless the client said goodbye.
func (s *socket) lost(err error) {
	s.once.Do(func() {
		s.mu.Lock()
		s.fault = err
		s.mu.Unlock()
		close(s.gone)
	})
}

func (s *socket) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

var errSlow = &media.Ended{Reason: media.Failed, Detail: "slow_client"}

func (s *socket) put(o outgoing) {
	select {
	case s.queue <- o:
	default:
		s.lost(errSlow)
	}
}

// send queues a message. It never blocks.
func (s *socket) send(m message) {
	b, err := json.Marshal(m)
	if err != nil {
		return // our own types always marshal
	}
	s.put(outgoing{text: b})
}

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

// flush drops the audio that is queued.
func (s *socket) flush() { s.epoch.Add(1) }

// close says goodbye after what is queued and ends the socket.
func (s *socket) close(code int, why string) {
	s.put(outgoing{code: code, why: why})
	select {
	case <-s.gone:
	case <-time.After(writeWait):
		s.lost(nil)
	}
}

// write is the socket's only writer. It returns when the socket has ended.
func (s *socket) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	defer s.conn.Close()
	for {
		var err error
		select {
		case <-s.gone:
			return
		case <-ping.C:
			err = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
		case o := <-s.queue:
			err = s.writeOne(o)
		}
		if err != nil {
			if errors.Is(err, errClosed) {
				err = nil
			}
			s.lost(err)
			return
		}
	}
}

var errClosed = errors.New("closed")

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
	if err != nil {
		return err
	}
	return errClosed
}

// read hands every frame to the handler until the client has gone.
func (s *socket) read(text func([]byte), audio func([]byte)) {
	alive := func(string) error { return s.conn.SetReadDeadline(time.Now().Add(readWait)) }
	s.conn.SetPongHandler(alive)
	_ = alive("")
	for {
		kind, p, err := s.conn.ReadMessage()
		if err != nil {
			s.lost(goodbye(err))
			return
		}
		_ = alive("")
		if kind == websocket.BinaryMessage {
			audio(p)
		} else {
			text(p)
		}
	}
}

// goodbye is nil for the ways in which clients end a conversation, closing the
// connection without a word included.
func goodbye(err error) error {
	if _, ok := errors.AsType[*websocket.CloseError](err); ok {
		return nil
	}
	if errors.Is(err, websocket.ErrReadLimit) {
		return &media.Ended{Reason: media.Failed, Detail: "message_too_large"}
	}
	return nil
}
