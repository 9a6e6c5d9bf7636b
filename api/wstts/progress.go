package wstts

import (
	"sync"
	"time"

	"parley/api/socket"
	"parley/api/tts"
	"parley/media/isolate"
)

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
