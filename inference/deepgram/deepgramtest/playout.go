package deepgramtest

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// playout sends what a voice has to say, in order and each piece after its delay, while the
// socket's reader goes on. It grows with what the client makes it say.
type playout struct {
	server  *Server
	wire    *loopbacktest.Socket
	rate    int
	samples atomic.Int64 // of audio that was sent, or is being sent

	mu      sync.Mutex
	pieces  []*piece
	changed chan struct{} // closed when another piece is the first
}

// piece is some audio, a message, or with a code the end of the connection.
type piece struct {
	speech  *Speech // nil: it belongs to none
	audio   []byte
	samples int
	message func() any // called when it is about to be sent; nil is not sent
	code    int

	delay func() time.Duration // nil: none
	due   time.Time            // zero: the delay has not begun; of the goroutine
}

// newPlayout begins to send until the connection ends.
func newPlayout(s *Server, k *loopbacktest.Socket, rate int) *playout {
	p := &playout{server: s, wire: k, rate: rate, changed: make(chan struct{})}
	s.Go(p.run)
	return p
}

// add queues a piece.
func (p *playout) add(one *piece) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pieces = append(p.pieces, one)
	if len(p.pieces) == 1 {
		p.signalLocked()
	}
}

// tell queues a message.
func (p *playout) tell(message map[string]any) {
	p.add(&piece{message: func() any { return message }})
}

// insert queues a piece before the audio of its speech.
func (p *playout) insert(one *piece) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.pieces, func(other *piece) bool { return other.speech == one.speech && other.audio != nil })
	if i < 0 {
		i = len(p.pieces)
	}
	p.pieces = slices.Insert(p.pieces, i, one)
	if i == 0 {
		p.signalLocked()
	}
}

// cut takes out what was not sent, but for so much audio and the messages before it, which
// have no delay any more.
func (p *playout) cut(late int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kept []*piece
	for _, one := range p.pieces {
		if one.audio != nil {
			if late--; late < 0 {
				break
			}
		} else if late == 0 && slices.ContainsFunc(kept, func(k *piece) bool { return k.audio != nil }) {
			break
		}
		kept = append(kept, &piece{speech: one.speech, audio: one.audio, samples: one.samples, message: one.message, code: one.code})
	}
	p.pieces = kept
	p.signalLocked()
}

func (p *playout) signalLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *playout) run() {
	for p.wire.Context().Err() == nil {
		one, changed := p.first()
		if one == nil {
			select {
			case <-changed:
			case <-p.wire.Context().Done():
			}
			continue
		}
		if one.due.IsZero() {
			one.due = time.Now().Add(loopbacktest.Draw(one.delay))
		}
		if p.wait(time.Until(one.due), changed) && p.take(one) && p.send(one) != nil {
			<-p.wire.Context().Done() // when it only stalls, its speech goes on
		}
	}
}

// first is the piece to be sent next.
func (p *playout) first() (one *piece, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pieces) > 0 {
		one = p.pieces[0]
	}
	return one, p.changed
}

// wait waits for d, and says whether the first piece stayed the same.
func (p *playout) wait(d time.Duration, changed <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-changed:
	case <-p.wire.Context().Done():
	}
	return false
}

// take takes the first piece out, if it is still that.
func (p *playout) take(one *piece) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pieces) == 0 || p.pieces[0] != one {
		return false
	}
	p.pieces = p.pieces[1:]
	return true
}

func (p *playout) send(one *piece) error {
	switch {
	case one.code != 0:
		if one.message != nil {
			one.message()
		}
		p.wire.Close(one.code, "")
	case one.audio != nil:
		p.samples.Add(int64(one.samples)) // before the client can answer it
		if err := p.wire.WriteBinary(one.audio); err != nil {
			return err
		}
		length := time.Duration(one.samples) * time.Second / time.Duration(p.rate)
		p.server.Note(func(b *Books) {
			b.AudioBytes += int64(len(one.audio))
			b.Audio += length
		})
		p.server.note(func() { one.speech.Audio += length })
	default:
		if m := one.message(); m != nil {
			return p.wire.Write(m)
		}
	}
	return nil
}

// sent is how much audio was sent.
func (p *playout) sent() time.Duration {
	return time.Duration(p.samples.Load()) * time.Second / time.Duration(p.rate)
}
