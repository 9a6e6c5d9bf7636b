package webrtc

import (
	"context"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/jitter"
	"parley/media/opus"
	"parley/media/quality"
	"parley/media/ring"
	"parley/media/stream"
)

// RateIn is the rate of what is heard: what recognisers take.
const RateIn = media.Rate16k

// playoutDelay is what a browser needs to play a frame besides the network: its jitter
// buffer, which grows with the network's own, and its sound card.
const (
	playoutDelay = 80 * time.Millisecond
	maxPlayout   = 500 * time.Millisecond
)

// audioLeg is the audio of a session, without the connection that carries it: packets are
// put in its inbox and leave by its sender.
type audioLeg struct {
	stream *stream.Stream
	in     inbox
	types  atomic.Pointer[types]
	out    sender
	gone   context.Context         // ends with the leg; its cause says why
	end    context.CancelCauseFunc // ends the leg; nil is a hang-up

	// Of the conductor alone.
	decoder *opus.Decoder
	polled  time.Time
	clock   stream.Clock
}

// types are the payload types that were agreed on; 0 is none.
type types struct{ audio, keys, keys8k uint8 }

func newAudioLeg() (*audioLeg, error) {
	d, err := opus.NewDecoder(RateIn)
	if err != nil {
		return nil, err
	}
	l := &audioLeg{decoder: d, in: inbox{Ring: ring.New[packet](inboxSize)}}
	l.gone, l.end = context.WithCancelCause(context.Background())
	l.types.Store(&types{})
	if err := l.out.init(); err != nil {
		return nil, err
	}
	l.stream = stream.New(stream.Config{Codec: quality.Opus, Step: l.out.step, PlayoutDelay: playoutDelay, MaxPlayout: maxPlayout,
		Overflow: func() { l.end(errEventsFull) }})
	l.publish()
	return l, nil
}

// Fault is why the session has ended; nil while it lasts, and when somebody hung up.
func (l *audioLeg) Fault() error {
	if err := context.Cause(l.gone); err != context.Canceled {
		return err
	}
	return nil
}

func (l *audioLeg) isGone() bool { return l.gone.Err() != nil }

// begin starts the clock with the conductor's first look: what came while engines were
// opened is heard in its time, without silence before it.
func (l *audioLeg) begin(now time.Time) {
	if l.stream.Started() {
		return
	}
	start := now
	if l.in.Len() > 0 && l.in.Peek(0).at.Before(now) {
		start = l.in.Peek(0).at
	}
	l.stream.Start(jitter.NewCoded(l.decoder, RateIn, start), now)
}

// Format implements media.Leg.
func (l *audioLeg) Format() media.Format {
	return media.Format{In: RateIn, Out: l.out.rate, Continuous: true}
}

// Next implements media.Leg. Its phase follows the far end's packets.
func (l *audioLeg) Next() time.Time {
	l.begin(time.Now())
	return l.stream.Next()
}

// Events implements media.Leg.
func (l *audioLeg) Events() <-chan media.LegEvent { return l.stream.Events() }

// Flush implements media.Leg. What was written has left: nothing can be recalled.
func (l *audioLeg) Flush(time.Time) media.Time { return 0 }

// Played implements media.Leg. It is an estimate.
func (l *audioLeg) Played(now time.Time) media.Time { return l.stream.Played(now) }

// Read implements media.Leg. The first call at a new now takes what has arrived.
func (l *audioLeg) Read(now time.Time) (media.Frame, bool) {
	l.begin(now)
	if !now.Equal(l.polled) {
		l.polled = now
		for ; l.in.Len() > 0; l.in.Drop(1) {
			if !l.receive(l.in.Peek(0)) {
				l.stream.Counters.Invalid++
			}
		}
	}
	return l.stream.Read(now)
}

// receive takes a packet of the far end. It says false when that is neither audio nor a key.
func (l *audioLeg) receive(p *packet) bool {
	pts := l.types.Load()
	j := jitter.Packet{Kind: jitter.Coded, SSRC: p.ssrc, Seq: p.seq, Payload: p.payload, Arrived: p.at}
	switch {
	case p.pt == pts.audio && pts.audio != 0:
		d, ok := opus.Duration(p.payload)
		if !ok {
			return false
		}
		j.Timestamp, j.Duration = l.clock.Ticks(p.timestamp), int(d*time.Duration(jitter.Rate)/time.Second)
		l.stream.Receive(j)
	case (p.pt == pts.keys || p.pt == pts.keys8k) && p.pt != 0:
		key, ok := dtmf.Parse(p.payload)
		if !ok {
			return false
		}
		units := 1
		if p.pt == pts.keys {
			units = stream.OpusUnits
		}
		j.Timestamp = l.clock.Ticks(p.timestamp)
		l.stream.ReceiveEvent(j, key, p.timestamp, units)
	default:
		return false
	}
	return true
}

var errEventsFull = &media.Ended{Reason: media.Failed, Detail: "too_many_keys"}

// Due implements media.Leg. After a stall it asks for two frames at most; the timestamps
// of the others are skipped.
func (l *audioLeg) Due(now time.Time) int {
	l.begin(now)
	n := l.stream.Advance(now, l.out.bound.Load() != nil)
	l.stream.CloseInterval(now)
	l.publish()
	return n
}

// Write implements media.Leg.
func (l *audioLeg) Write(f media.Frame) {
	timestamp, marker := l.stream.Slot()
	sent, err := l.out.send(f.Samples, timestamp, marker, l.stream.ExpectedLoss())
	switch {
	case err != nil:
		l.stream.Counters.SendErrors++
	case sent:
		l.stream.Counters.Sent++
	}
	l.stream.Wrote(time.Now())
}

// Stats reads the counters as of the conductor's latest wake-up.
func (l *audioLeg) Stats() stream.Stats { return l.stream.Stats() }

// publish makes the counters visible to Stats.
func (l *audioLeg) publish() {
	l.stream.Counters.Dropped, l.stream.Counters.Encrypted = l.in.dropped.Load(), true
	l.stream.Publish()
}
