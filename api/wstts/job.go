package wstts

import (
	"context"
	"encoding/binary"
	"errors"
	"time"
	"unicode/utf8"

	"parley/api/socket"
	"parley/billing"
	"parley/media/isolate"
	"parley/store"
)

// do speaks a request and charges for it. While it lasts the client hears from us
// every second; when it returns nothing more of the job is sent, and its books are
// closed, so that the client's next job finds the place free.
//
// A job that is done costs its whole text, one that the client gives up, or for
// which the balance does not last, the text of the chunks that were written. One
// that fails on our side is free.
func (s *session) do(ctx context.Context, r *request) (err error) {
	p := newProgress(r.at)
	defer p.keepAlive(s.sock)()
	chars := int64(utf8.RuneCountInString(r.Text))
	work, err := s.Books.Begin(ctx, s.who, billing.TTS, chars)
	if err != nil {
		return err
	}
	sent, err := int64(0), error(isolate.Internal) // a panic
	defer func() {
		var used int64
		used, err = verdict(ctx, err, sent, chars)
		work.Used(used)
		work.End(err)
		s.failed(err)
	}()
	sent, err = s.stream(work.Context(), r, p)
	return err
}

// verdict is what a job costs that ended with err, and what to call that. client is
// the socket's context.
func verdict(client context.Context, err error, sent, all int64) (int64, error) {
	switch {
	case err == nil && sent > 0:
		return all, nil
	case err == nil: // nothing in the text can be spoken
		return 0, nil
	case client.Err() != nil && !errors.Is(context.Cause(client), socket.ErrCut):
		return sent, context.Canceled
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrSpending):
		return sent, err
	}
	return 0, err
}

// stream sends the audio of a request, and says how much of the text it had written
// when it ended.
func (s *session) stream(ctx context.Context, r *request, p *progress) (sent int64, err error) {
	p.waits()
	for c, err := range s.Speech.Speak(ctx, r.Request) {
		if err != nil {
			return sent, err
		}
		p.got(len(c.Samples))
		if len(c.Visemes) > 0 {
			s.sock.SendJSON(c.Visemes)
		}
		if !s.sock.Deliver(encode(c.Samples)) {
			return sent, context.Canceled
		}
		sent = int64(c.Chars)
		s.sock.SendJSON(p.sent())
		p.waits()
	}
	return sent, nil
}

// encode is samples as little-endian bytes.
func encode(samples []int16) []byte {
	b := make([]byte, 2*len(samples))
	for i, v := range samples {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	}
	return b
}

// since is a time in milliseconds, to the tenth.
func since(t time.Time) float64 { return ms(time.Since(t)) }

func ms(d time.Duration) float64 { return float64(d/(100*time.Microsecond)) / 10 }
