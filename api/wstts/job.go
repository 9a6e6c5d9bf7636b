package wstts

import (
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/api/socket"
	"parley/api/tts"
	"parley/billing"
	"parley/media"
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
	work, err := s.Books.Begin(ctx, s.who, api.Job{Kind: billing.TTS, Expected: chars})
	if err != nil {
		return err
	}
	sent, err := int64(0), error(isolate.Internal) // a panic
	defer func() {
		var used int64
		used, err = verdict(ctx, err, sent, chars)
		work.Used(used)
		work.End(err)
		s.failed(ctx, err)
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
		if !s.sock.Deliver(media.AppendPCM(make([]byte, 0, 2*len(c.Samples)), c.Samples)) {
			return sent, context.Canceled
		}
		sent = int64(c.Chars)
		s.sock.SendJSON(p.sent())
		p.waits()
	}
	return sent, nil
}

// since is a time in milliseconds, to the tenth.
func since(t time.Time) float64 { return ms(time.Since(t)) }

func ms(d time.Duration) float64 { return float64(d/(100*time.Microsecond)) / 10 }

// timing is a message about a job's progress.
type timing struct {
	Type   string `json:"type"`
	Timing counts `json:"timing"`
	// TTFB is the time to the first audio, only in the first chunk's message.
	TTFB *float64 `json:"ttfb_ms,omitempty"`
}

// counts are those of a job so far; times in milliseconds.
type counts struct {
	Queue float64 `json:"queue_ms"` // how long it waited for its turn
	Model float64 `json:"model_ms"` // how long it has waited for the engine
	Audio float64 `json:"audio_ms"` // how much audio was sent
	Chunk int     `json:"chunk"`    // chunks sent
}

// progress is where a job stands. Its methods may be called from any goroutine.
type progress struct {
	mu     sync.Mutex
	asked  time.Time
	begun  time.Time
	last   time.Time     // of the last message
	since  time.Time     // the engine is waited for since; zero when it is not
	waited time.Duration // for the engine, before
	audio  int           // samples
	chunks int
}

// newProgress is that of a job that begins now.
func newProgress(asked time.Time) *progress {
	now := time.Now()
	return &progress{asked: asked, begun: now, last: now}
}

// waits notes that the engine is asked for more.
func (p *progress) waits() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = time.Now()
}

// got notes that it has given samples.
func (p *progress) got(samples int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waited += time.Since(p.since)
	p.since = time.Time{}
	p.audio += samples
	p.chunks++
}

// sent is the message about the chunk that was sent.
func (p *progress) sent() timing {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.messageLocked()
	if p.chunks == 1 {
		ttfb := since(p.asked)
		t.TTFB = &ttfb
	}
	return t
}

func (p *progress) messageLocked() timing {
	waited := p.waited
	if !p.since.IsZero() {
		waited += time.Since(p.since)
	}
	p.last = time.Now()
	return timing{Type: "timing", Timing: counts{Queue: ms(p.begun.Sub(p.asked)), Model: ms(waited),
		Audio: ms(tts.Rate.Duration(p.audio).Duration()), Chunk: p.chunks}}
}

// quiet is the message for a client that has heard nothing for long enough; in says
// when to ask again.
func (p *progress) quiet() (t timing, due bool, in time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := keepAliveEvery - time.Since(p.last); left > 0 {
		return t, false, left
	}
	return p.messageLocked(), true, keepAliveEvery
}

// keepAlive sends a message each second in which nothing else is sent, until the
// function it returns is called; nothing more is sent when that has returned.
func (p *progress) keepAlive(sock *socket.Socket) (stop func()) {
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Add(1)
	isolate.Go("api/wstts/keep-alive", nil, func() {
		t := time.NewTimer(keepAliveEvery)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
			}
			message, due, again := p.quiet()
			if due {
				sock.SendJSON(message)
			}
			t.Reset(again)
		}
	}, wg.Done)
	return func() {
		close(done)
		wg.Wait()
	}
}
