package synthesiser

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/inference"
	"parley/media"
	"parley/media/isolate"
)

const (
	// maxText bounds the text of an utterance, in bytes: half an hour of speech.
	maxText = 32 << 10
	// maxAudio bounds its audio.
	maxAudio = 20 * time.Minute
)

// utterance is an inference.Utterance on a lane.
type utterance struct {
	engine *Engine
	voice  inference.VoiceConfig
	path   string
	ctx    context.Context
	cancel context.CancelCauseFunc
	chunks chan inference.Chunk
	more   chan struct{} // holds one: there is a piece, or something to say
	name   string        // of its context on the lane

	// Only run touches these.
	words      []inference.Mark // that wait for audio
	audio      time.Duration
	base       time.Duration // from when the vendor's times count
	flushed    time.Duration // end of what was flushed and spoken
	said       time.Duration // end of the words so far
	last       time.Time     // when the vendor gave something
	characters int           // spoken, without spaces, of vendors that say so
	gave       bool          // audio has come
	done       bool          // the vendor has spoken all

	marked int // Says whose end was marked
	spoken int // of groups

	mu       sync.Mutex
	pieces   []Piece // in order, not handled
	samples  int     // of all so far
	texts    []text  // by the numbers of their Says, less one
	size     int     // bytes in them
	messages []message
	sent     int   // of messages, on this lane
	settled  int   // of messages: the vendor has said what it charges for them
	billed   int   // characters that it charges for them
	groups   []int // of Says that are flushed together: the number of the last
	end      end
}

// end says whether more may be said.
type end uint8

const (
	open end = iota
	ended
	sent // and the vendor knows
)

// text is one Say.
type text struct {
	string
	at      time.Time
	visible int // code points that are no spaces
	found   int // bytes of it in which words were found
}

// message is a text on its way to the vendor.
type message struct {
	text  string
	flush bool
}

func begin(ctx context.Context, e *Engine, v inference.VoiceConfig, path string) *utterance {
	u := &utterance{engine: e, voice: v, path: path, chunks: make(chan inference.Chunk), more: make(chan struct{}, 1)}
	u.ctx, u.cancel = context.WithCancelCause(ctx)
	detach := context.AfterFunc(e.life, func() { u.cancel(e.closed()) })
	isolate.Go("inference/synthesiser/utterance", u.cancel, u.run, func() { u.cancel(inference.ErrUtteranceEnded) },
		func() { detach() }, u.spend, func() { close(u.chunks) }, e.pool.work.Done)
	return u
}

// Say implements inference.Utterance.
func (u *utterance) Say(said string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.end != open || u.ctx.Err() != nil:
		return inference.ErrUtteranceEnded
	case u.size+len(said) > maxText:
		return inference.ErrUtteranceFull
	}
	u.size += len(said)
	rest := said
	for limit := u.engine.vendor.Limits().Text; limit > 0 && utf8.RuneCountInString(rest) > limit; {
		n := cut(rest, limit)
		u.send(message{rest[:n], true})
		rest = rest[n:]
	}
	u.texts = append(u.texts, text{string: said, at: time.Now(), visible: visible(said)})
	u.send(message{rest, endsSentence(rest)})
	return nil
}

// cut is how many bytes of a text that is longer than limit code points go first: whole words, if it has any.
func cut(text string, limit int) int {
	n := len(string([]rune(text)[:limit]))
	if space := strings.LastIndexByte(text[:n], ' '); space >= 0 {
		return space + 1
	}
	return n
}

// send queues a message, under the lock. The Says before it are over when it was flushed and spoken.
func (u *utterance) send(m message) {
	if m.text == "" && !m.flush {
		return
	}
	if u.messages = append(u.messages, m); m.flush {
		u.groups = append(u.groups, len(u.texts))
	}
	u.signal()
}

// visible counts the code points of a text that are no spaces.
func visible(text string) (n int) {
	for _, r := range text {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// endsSentence says whether prosody can be found without what follows.
func endsSentence(text string) bool {
	text = strings.TrimRight(text, " \n\t\"')»”’")
	return text != "" && strings.ContainsAny(text[len(text)-1:], ".!?:;") || strings.HasSuffix(text, "…")
}

// Flush implements inference.Utterance.
func (u *utterance) Flush() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n := len(u.messages); n > 0 && !u.messages[n-1].flush {
		u.send(message{flush: true})
	}
	return nil
}

// End implements inference.Utterance.
func (u *utterance) End() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.end = max(u.end, ended)
	u.signal()
	return nil
}

// Cancel implements inference.Utterance.
func (u *utterance) Cancel() { u.cancel(inference.ErrUtteranceEnded) }

// Chunks implements inference.Utterance.
func (u *utterance) Chunks() <-chan inference.Chunk { return u.chunks }

func (u *utterance) signal() {
	select {
	case u.more <- struct{}{}:
	default:
	}
}

// push takes a piece from the lane. It does not wait: a vendor that gives more than maxAudio fails the utterance.
func (u *utterance) push(p Piece) {
	u.mu.Lock()
	defer u.mu.Unlock()
	most := media.FromDuration(maxAudio).Samples(u.rate())
	if u.samples > most {
		return // it has failed
	}
	if u.samples += len(p.Samples); u.samples > most {
		p = Piece{Err: u.engine.client.Fault(inference.ErrFailed, errors.New("more than 20 minutes of audio"))}
	}
	u.pieces = append(u.pieces, p)
	u.signal()
}

// run speaks until the end, the cancellation or a fault.
func (u *utterance) run() {
	if !u.awaitText() {
		return
	}
	leave, err := u.engine.client.Enter(u.ctx)
	if err != nil {
		u.fail(err)
		return
	}
	defer leave()
	for anew := false; ; anew = true {
		l, fresh, err := u.engine.pool.take(u.ctx, u.path, u, anew)
		if err == nil {
			err = u.speak(l)
			l.part(u, !u.done && err == nil)
			if errors.Is(err, errAgain) && !fresh {
				u.restart()
				continue
			}
		}
		var socket errBroken
		if errors.As(err, &socket) {
			err = socket.error
		}
		u.fail(err)
		return
	}
}

// fail delivers why the utterance ends, unless it was cancelled.
func (u *utterance) fail(err error) {
	if err != nil && u.ctx.Err() == nil {
		u.deliver(inference.Chunk{Err: err})
	}
}

// errBroken is the fault of a socket.
type errBroken struct{ error }

func (errBroken) Is(target error) bool { return target == errAgain }

// errAgain: another socket may do.
var errAgain = errors.New("another connection may do")

// awaitText waits for something to speak; false: there is nothing.
func (u *utterance) awaitText() bool {
	for {
		u.mu.Lock()
		said, over := len(u.messages) > 0, u.end != open
		u.mu.Unlock()
		if said || over {
			return said
		}
		select {
		case <-u.more:
		case <-u.ctx.Done():
			return false
		}
	}
}

// restart forgets what was sent on a lane that has given nothing.
func (u *utterance) restart() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pieces, u.sent, u.settled, u.words, u.spoken, u.characters, u.said = nil, 0, 0, nil, 0, 0, 0
	u.end = min(u.end, ended)
}

// speak says all on a lane and delivers what comes.
func (u *utterance) speak(l *lane) error {
	c := u.engine.vendor.Start(u.name, u.voice)
	quiet := time.NewTimer(u.engine.stall)
	defer quiet.Stop()
	for {
		switch u.tell(l, c) {
		case lapsed:
			u.done = true
			return nil
		case expired:
			if c = u.renew(l); c == nil {
				return errBroken{u.engine.client.Fault(inference.ErrFailed, inference.ErrUtteranceEnded)}
			}
			continue
		case told:
			quiet.Reset(u.engine.stall)
			if u.over() {
				u.done = true
				return nil
			}
		}
		p, ok := u.next()
		if ok {
			quiet.Reset(u.engine.stall)
			u.last = time.Now()
			switch {
			case p.Context == broken && !u.gave:
				return errBroken{p.Err}
			case p.Err != nil:
				return p.Err
			}
			if !u.take(p) {
				u.stop(l, c)
				return nil
			}
			if u.done {
				return nil
			}
			continue
		}
		select {
		case <-u.more:
		case <-quiet.C:
			if u.owed() {
				err := u.engine.client.Fault(inference.ErrFailed, inference.ErrStalled)
				l.retire(err) // a socket that takes text and gives nothing is none for others
				l.end()
				return err
			}
		case <-u.ctx.Done():
			u.stop(l, c)
			return nil
		}
	}
}

// idle says that the vendor has spoken all that it has, so long ago that the context may have ended. The lock is held.
func (u *utterance) idle() bool {
	limit := part(u.engine.vendor.Limits().ContextIdle)
	return limit > 0 && u.sent > 0 && u.marked > 0 && u.spoken >= u.flushes() && time.Since(u.last) > limit
}

// flushes is how many groups the vendor has. The lock is held.
func (u *utterance) flushes() (n int) {
	for _, m := range u.messages[:u.sent] {
		if m.flush {
			n++
		}
	}
	return n
}

// renew goes on in another context; nil: the lane has ended.
func (u *utterance) renew(l *lane) Context {
	l.part(u, false)
	if !l.join(u) {
		return nil
	}
	u.base, u.last = u.audio, time.Now()
	return u.engine.vendor.Start(u.name, u.voice)
}

// stop has the vendor drop the rest.
func (u *utterance) stop(l *lane, c Context) {
	l.send(c.Cancel())
	if u.engine.vendor.Limits().CancelEnds && u.owed() {
		l.abandon()
	}
}

// telling is the outcome of a look at what there is to say.
type telling uint8

const (
	nothing telling = iota // there was nothing
	told
	expired // the vendor has ended the context, or is about to, because nothing was said for too long: more needs another
	lapsed  // the same, and there is no more, so that the end need not be said either
)

// tell sends what was said and not sent, and the end. That the context lives it finds under the same lock.
func (u *utterance) tell(l *lane, c Context) (what telling) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch idle := u.idle(); {
	case idle && u.sent < len(u.messages):
		return expired
	case idle && u.end == ended && u.marked >= len(u.texts):
		return lapsed
	}
	for ; u.sent < len(u.messages) && !u.busy(); u.sent++ {
		m := &u.messages[u.sent]
		if m.flush && !l.flush(false) { // it is spoken with what follows
			n := u.flushes()
			u.groups, m.flush = slices.Delete(u.groups, n, n+1), false
		}
		if m.text != "" || m.flush {
			l.send(c.Say(m.text, m.flush))
			what = told
		}
	}
	if u.end == ended && u.sent == len(u.messages) && !u.busy() {
		u.end, what = sent, told
		l.flush(true)
		l.send(c.End())
	}
	return what
}

// busy says that a flush must wait. The lock is held.
func (u *utterance) busy() bool {
	return u.engine.vendor.Limits().Serial && u.spoken < u.flushes()
}

// next takes the oldest piece.
func (u *utterance) next() (p Piece, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.pieces) == 0 {
		return p, false
	}
	p, u.pieces = u.pieces[0], u.pieces[1:]
	return p, true
}

// owed says that the vendor has text that it has not spoken, or has not said that it is done.
func (u *utterance) owed() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.end == sent || u.spoken < u.flushes()
}
