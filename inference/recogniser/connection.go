package recogniser

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/media/isolate"
)

const (
	// Audio that waits is sent in bursts: fourfold real time, which vendors take.
	burst      = 200 * time.Millisecond
	burstEvery = 50 * time.Millisecond
	// ahead is how far audio may be before real time where it has to be sent at that pace.
	ahead = 300 * time.Millisecond
	// Of what has to be sent again at the pace of speech, more than this comes too late.
	realTimeMost = 3 * time.Second
	// Of sockets that break, this many in this time are replaced.
	maxBroken    = 2
	brokenWithin = 10 * time.Second
	// stallAfter is how long a vendor may say nothing at all while it leaves questions unanswered.
	stallAfter = 5 * time.Second
	// endWait is how long the vendor may take to close the socket.
	endWait = time.Second
	// settled is how much of the audio after the end of a turn is not worth a question.
	settled = time.Second
)

// connection is one socket of a stream.
type connection struct {
	Connection
	socket   *remote.Socket
	incoming chan incoming
	pace     Pace
	chunk    int64 // samples of a message
	clock    clock
	audio    []int16   // of a message, used again
	sent     int64     // position of the tape up to which audio was sent
	replayTo int64     // up to here it was sent to another socket before
	lastSent time.Time // audio or what keeps the socket open
	asked    int       // utterance of the latest Finish
	askedTo  int64     // samples on the socket at the latest Finish
	asking   int64     // samples of silence that have asked
	asks     []int     // utterances of those that the vendor was sent, in order
	askedAt  time.Time
	turn     bool  // a turn is open at the vendor's
	turnEnd  int64 // position up to which audio was sent when the latest one ended
}

// incoming is a message of the vendor's, or why there are no more.
type incoming struct {
	data []byte
	err  error
}

// connect opens a socket that begins with the oldest audio without a final result.
func (s *stream) connect() error {
	e := s.engine
	socket, err := e.client.Dial(s.ctx, e.vendor.Path(s.config))
	if err != nil {
		return err
	}
	pace := e.vendor.Pace()
	c := &connection{Connection: e.vendor.Connect(s.config), socket: socket, incoming: make(chan incoming), pace: pace, lastSent: time.Now()}
	c.clock.rate = s.config.Format.SampleRate()
	c.chunk = c.clock.samples(pace.Chunk)
	if s.conn != nil {
		c.replayTo = s.conn.sent
	}
	var to int64
	if c.sent, to = s.span(); pace.RealTime {
		c.sent = max(c.sent, to-c.clock.samples(realTimeMost))
	}
	if first := c.Begin(); first != nil {
		socket.Send(first)
	}
	s.conn, s.openedAt, s.heard = c, time.Now(), time.Now()
	isolate.Go("inference/recogniser/reader", s.cancel, func() { c.read(s.ctx, e.client) }, func() { close(c.incoming) })
	return nil
}

// read passes on what the vendor says until the socket ends.
func (c *connection) read(ctx context.Context, client *remote.Client) {
	for {
		data, binary, err := c.socket.Read()
		if err == io.EOF {
			err = client.Fault(inference.ErrFailed, errors.New("the server has ended the stream"))
		}
		if binary && err == nil {
			continue // no vendor says anything so
		}
		select {
		case c.incoming <- incoming{data, err}:
		case <-ctx.Done(): // only the end of the socket is waited for
		}
		if err != nil {
			return
		}
	}
}

// stale says that an answer is to a Finish that was taken back, or given up.
func (c *connection) stale(h Heard, answered int) (stale, late bool) {
	if h.Number < 1 || h.Number > len(c.asks) {
		return false, false
	}
	of := c.asks[h.Number-1]
	return slices.Contains(c.asks[h.Number:], of), of <= answered
}

// replaying says that the vendor has not been sent again what another socket had.
func (c *connection) replaying() bool { return c.sent < c.replayTo }

// end closes the socket as the vendor wants it.
func (c *connection) end() {
	if last := c.End(); last != nil {
		c.socket.Send(last)
	} else {
		c.socket.Close()
	}
	t := time.NewTimer(endWait)
	defer t.Stop()
	for {
		select {
		case _, more := <-c.incoming:
			if more {
				continue
			}
		case <-t.C:
		}
		c.socket.Close()
		for range c.incoming {
		}
		return
	}
}

// run sends and hears until the stream ends.
func (s *stream) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(s.send())
		var err error
		select {
		case <-s.wake:
		case <-timer.C:
			err = s.overdue()
		case m, more := <-s.conn.incoming:
			if err = m.err; err == nil && more {
				err = s.read(m.data)
			}
		case <-s.ctx.Done():
		}
		if s.ctx.Err() == nil && err != nil {
			err = s.again(err)
		}
		if err != nil || s.ctx.Err() != nil {
			s.fail(err)
			return
		}
	}
}

// read takes a message of the vendor's.
func (s *stream) read(message []byte) error {
	heard, err := s.conn.Read(message)
	for _, h := range heard {
		s.take(h)
	}
	return err
}

// send sends what is due, and returns when there is something to do without being asked.
func (s *stream) send() time.Duration {
	s.mu.Lock()
	from, to := s.tape.Span()
	cuts := append([]inference.Cut(nil), s.tape.Waiting()...)
	turns := s.turns
	s.mu.Unlock()
	c := s.conn
	c.sent = max(c.sent, from) // older audio is lost
	if turns != nil {
		s.configure(turns)
	}
	now := time.Now()
	room := to - c.sent // that may be sent at once
	switch {
	case c.pace.RealTime:
		room = min(room, c.clock.samples(now.Sub(s.openedAt)+ahead)+c.asking-c.clock.sent)
	case c.replaying():
		if wait := burstEvery - now.Sub(c.lastSent); wait > 0 && c.clock.sent > 0 {
			return wait
		}
		room = min(room, c.clock.samples(burst))
	}
	for _, cut := range cuts {
		if cut.Utterance <= c.asked {
			continue
		}
		if cut.End-c.sent > room {
			break
		}
		room -= max(0, cut.End-c.sent)
		s.sendAudio(cut.End, now)
		s.ask(cut, cut == cuts[0], now)
	}
	for room >= c.chunk {
		s.sendAudio(c.sent+c.chunk, now)
		room -= c.chunk
	}
	s.mu.Lock()
	s.next = c.sent + c.chunk
	s.mu.Unlock()
	return s.due(now, to)
}

// configure sends the vendor how turns end, once it takes that.
func (s *stream) configure(turns *inference.TurnOptions) {
	message := s.conn.Configure(*turns)
	if message == nil {
		return
	}
	s.conn.socket.Send(message)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config.Turns = *turns // for the next socket
	if s.turns == turns {
		s.turns = nil
	}
}

// sendAudio sends the tape up to a position.
func (s *stream) sendAudio(to int64, now time.Time) {
	c := s.conn
	for c.sent < to {
		before := c.sent
		from, audio := s.samples(c.audio[:0], before, min(to, before+c.chunk))
		c.audio = audio
		n := len(audio)
		if c.sent = from + int64(n); c.sent == before {
			return // there is no more: the tape has let go of audio meanwhile
		}
		if n == 0 {
			continue
		}
		c.clock.audio(from, n)
		if fill := int(c.clock.samples(c.pace.Least)) - n; fill > 0 {
			audio = append(audio, make([]int16, fill)...)
			c.clock.silence(fill)
		}
		c.write(audio)
		c.lastSent = now
	}
}

// write sends samples.
func (c *connection) write(audio []int16) {
	message, binary := c.Audio(audio)
	if binary {
		c.socket.SendBinary(message)
	} else {
		c.socket.Send(message)
	}
}

// silence sends n samples that are not on the tape.
func (c *connection) silence(n int64) {
	for ; n > 0; n -= c.chunk {
		k := int(max(min(n, c.chunk), c.clock.samples(c.pace.Least)))
		c.write(make([]int16, k))
		c.clock.silence(k)
	}
}

// ask asks for the last result of an utterance, where the vendor can know more than it has said.
func (s *stream) ask(cut inference.Cut, oldest bool, now time.Time) {
	c := s.conn
	s.mu.Lock()
	start := s.starts[cut.Utterance]
	s.mu.Unlock()
	c.asked, c.askedAt = cut.Utterance, now
	over := !c.turn && c.turnEnd > start && cut.End-c.turnEnd < c.clock.samples(settled)
	if oldest && (cut.End-start < c.clock.samples(shortest) || over) {
		s.tell(inference.Result{Text: s.partial, Final: true, Last: true, Confidence: -1})
		s.partial = ""
		return
	}
	if fill := c.clock.samples(max(c.pace.Least, c.pace.Asked)) - (c.clock.sent - c.askedTo); fill > 0 {
		c.silence(fill)
	}
	c.asks, c.askedTo = append(c.asks, cut.Utterance), c.clock.sent
	if message := c.Finish(); message != nil {
		c.socket.Send(message)
		return
	}
	c.asking += c.clock.samples(c.pace.Silence)
	c.silence(c.clock.samples(c.pace.Silence))
}

// due is how long until something has to be done: a burst, an answer that is late, a sign of life.
func (s *stream) due(now time.Time, to int64) time.Duration {
	c := s.conn
	_, idle := c.Idle()
	wait := idle - now.Sub(c.lastSent)
	if to-c.sent >= c.chunk { // it was held back
		wait = min(wait, burstEvery)
	}
	if s.owed() {
		wait = min(wait, s.latency-now.Sub(c.askedAt))
	}
	return max(0, wait)
}

// owed says that an answer to Finish is waited for.
func (s *stream) owed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.tape.Waiting()
	return len(w) > 0 && w[0].Utterance <= s.conn.asked
}

// overdue does what is due: an utterance whose answer is late ends with what is known of it.
func (s *stream) overdue() error {
	c, now := s.conn, time.Now()
	if s.owed() && now.Sub(c.askedAt) >= s.latency {
		if s.unheard++; s.unheard > 1 && now.Sub(s.heard) > stallAfter {
			return s.engine.client.Fault(inference.ErrFailed, inference.ErrStalled)
		}
		s.tell(inference.Result{Text: s.partial, Final: true, Last: true, Confidence: -1})
		s.partial = ""
	}
	if message, after := c.Idle(); now.Sub(c.lastSent) >= after {
		if c.lastSent = now; message != nil {
			c.socket.Send(message)
		} else {
			c.silence(c.chunk)
		}
	}
	return nil
}

// again replaces a socket that has broken, unless the vendor has refused or sockets break too often.
func (s *stream) again(err error) error {
	s.conn.socket.Close()
	now := time.Now()
	s.open, s.openedAt = s.open+now.Sub(s.openedAt), now
	kept := s.broken[:0]
	for _, at := range s.broken {
		if now.Sub(at) < brokenWithin {
			kept = append(kept, at)
		}
	}
	s.broken = append(kept, now)
	if inference.FaultOf(err) != inference.ErrFailed || len(s.broken) > maxBroken {
		return err
	}
	s.retract()
	old := s.conn
	defer func() { // its reader has ended, or ends now
		for range old.incoming {
		}
	}()
	return s.connect()
}

// fail makes the stream's fault its last result. Who has closed the stream learns of none.
func (s *stream) fail(err error) {
	s.mu.Lock()
	if s.failure != nil {
		err = s.failure
	} else if s.ctx.Err() != nil {
		err = nil
	}
	r := inference.Result{Utterance: s.tape.Current(), Confidence: -1, Err: err}
	s.mu.Unlock()
	if err == nil {
		return
	}
	select {
	case s.results <- r:
	default: // full: the reader finds the channel closed
		select {
		case s.results <- r:
		case <-s.ctx.Done():
		}
	}
}
