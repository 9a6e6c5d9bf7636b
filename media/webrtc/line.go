package webrtc

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/jitter"
	"parley/media/opus"
	"parley/media/quality"
)

// RateIn is the rate of what is heard: what recognisers take.
const RateIn = media.Rate16k

// playoutDelay is what a browser needs to play a frame besides the network: its jitter
// buffer, which grows with the network's own, and its sound card.
const (
	playoutDelay = 80 * time.Millisecond
	maxPlayout   = 500 * time.Millisecond
)

// ticks is how many units of an Opus timestamp make one of the jitter buffer's.
const ticks = opus.ClockRate / int(jitter.Rate)

// line is the audio of a session, without the connection that carries it: packets are
// put in its inbox and leave by its sender.
type line struct {
	in     inbox
	types  atomic.Pointer[types]
	out    sender
	events chan media.LegEvent
	gone   chan struct{}
	once   sync.Once
	fault  error // why it has ended; set before gone is closed

	rtt    atomic.Int64 // nanoseconds, as the far end's reports tell; 0: not yet
	loss   atomic.Int32 // of what we send, in percent, as they tell; forgotten slowly
	remote remote

	// Of the conductor alone.
	buffer  *jitter.Buffer
	decoder *opus.Decoder
	pacer   media.Pacer
	start   time.Time
	polled  time.Time
	arrived time.Time // of audio since the last Due; zero: none
	clock   clock
	keys    dtmf.Receiver
	told    media.Playout
	invalid uint64
	report  reporter
	quality quality.Meter
	score   time.Time // when its interval ends
}

// types are the payload types that were agreed on; 0 is none.
type types struct{ audio, keys, keys8k uint8 }

func newLine() (*line, error) {
	d, err := opus.NewDecoder(RateIn)
	if err != nil {
		return nil, err
	}
	l := &line{decoder: d, quality: quality.Meter{Codec: quality.Opus}, events: make(chan media.LegEvent, media.EventQueue), gone: make(chan struct{})}
	l.types.Store(&types{})
	return l, l.out.init()
}

// lost ends the line; err says why unless somebody hung up.
func (l *line) lost(err error) {
	l.once.Do(func() {
		l.fault = err
		close(l.gone)
	})
}

func (l *line) isGone() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// begin starts the clock with the conductor's first look: what came while engines were
// opened is heard in its time, and silence before it is nobody's.
func (l *line) begin(now time.Time) {
	if l.buffer != nil {
		return
	}
	l.start = now
	if p := l.in.peek(); p != nil && p.at.Before(now) {
		l.start = p.at
	}
	l.buffer = jitter.NewCoded(l.decoder, RateIn, l.start)
	l.pacer, l.score = media.NewPacer(now), now.Add(scoreEvery)
}

// Run waits for the end.
func (l *line) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		l.lost(nil)
	case <-l.gone:
	}
	return l.fault
}

// Format implements media.Leg.
func (l *line) Format() media.Format {
	return media.Format{In: RateIn, Out: l.out.rate, Continuous: true}
}

// Next implements media.Leg. Its phase follows the far end's packets.
func (l *line) Next() time.Time {
	l.begin(time.Now())
	return l.pacer.Next()
}

// Events implements media.Leg.
func (l *line) Events() <-chan media.LegEvent { return l.events }

// Flush implements media.Leg. What was written has left: nothing can be recalled.
func (l *line) Flush(time.Time) media.Time { return 0 }

// Played implements media.Leg. It is an estimate: what was sent, less the network's delay
// and what a browser's own buffer holds.
func (l *line) Played(now time.Time) media.Time {
	return l.told.Until(now, min(playoutDelay+time.Duration(l.rtt.Load())/2, maxPlayout))
}

// Read implements media.Leg. The first call at a new now takes what has arrived.
func (l *line) Read(now time.Time) (media.Frame, bool) {
	l.begin(now)
	if !now.Equal(l.polled) {
		l.polled = now
		for p := l.in.peek(); p != nil; p = l.in.peek() {
			l.receive(p)
			l.in.drop()
		}
	}
	return l.buffer.Read(now)
}

// receive takes a packet of the far end.
func (l *line) receive(p *packet) {
	pts := l.types.Load()
	j := jitter.Packet{SSRC: p.ssrc, Seq: p.seq, Payload: p.payload, Arrived: p.at}
	switch {
	case p.pt == pts.audio && pts.audio != 0:
		d, ok := opus.Duration(p.payload)
		if !ok {
			l.invalid++
			return
		}
		j.Kind, j.Duration = jitter.Audio, int(d*time.Duration(jitter.Rate)/time.Second)
		l.arrived = p.at
	case (p.pt == pts.keys || p.pt == pts.keys8k) && p.pt != 0:
		key, ok := dtmf.Parse(p.payload)
		if !ok {
			l.invalid++
			return
		}
		j.Kind, j.Payload, j.Duration, j.Open = jitter.Event, nil, int(key.Duration), !key.End
		if p.pt == pts.keys {
			j.Duration /= ticks
		}
		if digit, pressed := l.keys.Receive(p.ssrc, p.timestamp, key, p.at); pressed {
			l.emit(media.LegEvent{Kind: media.LegDigit, Digit: digit})
		}
	default:
		l.invalid++
		return
	}
	j.Timestamp = l.clock.ticks(p.timestamp)
	l.buffer.Push(j)
}

func (l *line) emit(e media.LegEvent) {
	select {
	case l.events <- e:
	default:
		l.lost(errEventsFull)
	}
}

var errEventsFull = &media.Ended{Reason: media.Failed, Detail: "too_many_keys"}

// clock turns timestamps of 48 kHz, which wrap, into those of 8 kHz, which wrap, too, but
// elsewhere.
type clock struct {
	known bool
	last  uint32
	total int64 // timestamps since long before the first
}

func (c *clock) ticks(timestamp uint32) uint32 {
	if !c.known {
		c.known, c.last, c.total = true, timestamp, int64(ticks)<<40
	}
	c.total += int64(int32(timestamp - c.last))
	c.last = timestamp
	return uint32(c.total / int64(ticks))
}

// Due implements media.Leg. After a stall it asks for two frames at most; the timestamps
// of the others are skipped.
func (l *line) Due(now time.Time) int {
	l.begin(now)
	deadline, skipped := l.pacer.Next(), l.pacer.Skipped()
	n := l.pacer.Due(now)
	if !l.arrived.IsZero() {
		// Not before Due: a deadline that moved past now would cost a second wake-up.
		l.pacer.Observe(l.arrived)
		l.arrived = time.Time{}
	}
	skipped = l.pacer.Skipped() - skipped
	l.out.pass(n, int(skipped), now.Sub(deadline)-time.Duration(skipped)*media.FrameDuration)
	l.judge(now)
	l.show()
	return n
}

// Write implements media.Leg.
func (l *line) Write(f media.Frame) {
	l.out.expect(int(l.loss.Load()))
	l.out.send(f.Samples)
	l.told.Add(time.Now())
}
