package socket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// write is the only writer. Answers to pings go before whatever is queued. It
// returns when the socket has ended and the goodbye was said.
func (s *Socket) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var err error
		select {
		case <-s.ctx.Done():
			s.goodbye()
			return
		case text := <-s.pongs:
			err = s.control(websocket.PongMessage, []byte(text), s.wait)
		default:
			select {
			case <-s.ctx.Done():
			case text := <-s.pongs:
				err = s.control(websocket.PongMessage, []byte(text), s.wait)
			case <-ping.C:
				err = s.control(websocket.PingMessage, nil, s.wait)
			case i := <-s.queue:
				err = s.writeOne(i)
			}
		}
		if err != nil {
			s.over(0, "", true, broken(err))
		}
	}
}

func (s *Socket) writeOne(i item) error {
	if i.late != nil {
		defer i.late.Written()
		data, text := i.late.Bytes()
		switch i.data = data; {
		case text:
			i.kind = websocket.TextMessage
		case data != nil:
			i.kind = websocket.BinaryMessage
		}
	}
	if i.kind != 0 {
		if err := s.conn.SetWriteDeadline(time.Now().Add(s.wait)); err != nil {
			return err
		}
		if err := s.conn.WriteMessage(i.kind, i.data); err != nil {
			return err
		}
	}
	if i.mark != nil {
		close(i.mark)
	}
	return nil
}

func (s *Socket) control(kind int, data []byte, wait time.Duration) error {
	return s.conn.WriteControl(kind, data, time.Now().Add(wait))
}

// goodbye sends the close frame, whose answer the reader has some time for. Its failing means that the client has
// gone. Without one the connection is closed, which ends the reader.
func (s *Socket) goodbye() {
	if s.code == 0 {
		s.conn.Close()
		return
	}
	_ = s.control(websocket.CloseMessage, websocket.FormatCloseMessage(s.code, s.why), closeWait)
	_ = s.conn.SetReadDeadline(time.Now().Add(closeWait))
}

// broken is why a write has failed: the client does not read, or it has gone,
// which is how many clients end a job.
func broken(err error) error {
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return ErrSlow
	}
	return context.Canceled
}

// buffers are for messages being read: a socket that waits has none.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keepBuffer is the largest buffer that goes back, in bytes: common messages are
// shorter.
const keepBuffer = 16 << 10

// read hands every message to its taker until the client has gone or the
// connection is closed. It never writes. After the end it only reads on.
func (s *Socket) read(in Incoming) {
	alive := func(string) error {
		if s.ctx.Err() != nil {
			return nil // goodbye has set it
		}
		return s.conn.SetReadDeadline(time.Now().Add(readWait))
	}
	s.conn.SetPongHandler(alive)
	s.conn.SetPingHandler(func(text string) error {
		select {
		case <-s.pongs: // of an earlier ping, which need not be answered any more (RFC 6455 section 5.5.3)
		default:
		}
		s.pongs <- text // only this goroutine puts something in
		return alive("")
	})
	s.conn.SetCloseHandler(func(int, string) error { return nil }) // the writer answers
	for {
		_ = alive("")
		kind, r, err := s.conn.NextReader()
		if err == nil {
			err = s.take(kind, r, in)
		}
		if err != nil {
			s.unread(err)
			return
		}
	}
}

// take reads one message and hands it on.
func (s *Socket) take(kind int, r io.Reader, in Incoming) error {
	limit, taker := cmp.Or(in.MaxText, MaxText), in.Text
	if kind == websocket.BinaryMessage {
		limit, taker = cmp.Or(in.MaxBinary, MaxText), in.Binary
	}
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	_, err := buf.ReadFrom(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
	case int64(buf.Len()) > limit:
		s.end(TooBig, "The message is too long.", ErrTooLong)
	case taker != nil && s.ctx.Err() == nil:
		taker(buf.Bytes())
	}
	if buf.Cap() <= keepBuffer {
		buffers.Put(buf)
	}
	return err
}

// unread ends the socket because nothing more can be read. Clients go in many
// ways, closing the connection without a word included.
func (s *Socket) unread(err error) {
	code := 0
	if c, ok := errors.AsType[*websocket.CloseError](err); ok {
		code = c.Code // it is sent back; 1006, which says that there was none, is sent as nothing
	}
	_, lost := errors.AsType[net.Error](err)
	lost = lost || code == websocket.CloseAbnormalClosure || code == GoingAway
	if code == websocket.CloseAbnormalClosure {
		code = 0
	}
	s.over(code, "", lost, context.Canceled)
}
