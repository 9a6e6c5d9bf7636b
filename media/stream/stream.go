// Package stream is the audio of one call over RTP, without the network that carries it: what
// media/rtp, over UDP sockets, and media/webrtc, over a peer connection, have in common.
//
// A Stream paces and timestamps what is sent, orders and decodes what arrives, reports keys,
// estimates how far the far end has played, and counts. The transport around it owns sockets,
// encryption and the encoder, and is the media.Leg:
//
//	transport ─▶ Receive, ReceiveEvent ─▶ jitter.Buffer ─▶ Read ─▶ conductor
//	transport ◀─ Slot ◀─────────────────────────── Advance, Wrote ◀────┘
//
// Read stream.go for both directions, then stats.go for what is counted and scored.
package stream

import (
	"math/rand/v2"
	"sync"
	"time"

	"parley/media"
	"parley/media/dtmf"
	"parley/media/jitter"
	"parley/media/quality"
)

// Config is what differs between transports.
type Config struct {
	Codec quality.Codec // of what is heard, for its score
	// Step is how far a timestamp of what is sent advances in 20 ms.
	Step uint32
	// PlayoutDelay is what a far end needs to play a frame besides the network: its jitter
	// buffer, its sound card and the frame itself. MaxPlayout bounds the sum of both.
	PlayoutDelay, MaxPlayout time.Duration
	// Overflow is called when the queue of events is full: the leg must end.
	Overflow func()
}

// Stream is the audio of one call in both directions. Emit, Events, Reported and Stats may be
// called from any goroutine, the rest from the one that conducts the call.
type Stream struct {
	// Counters are what Publish completes and shows. The transport adds what it counts itself.
	Counters Stats

	cfg     Config
	events  chan media.LegEvent
	buffer  *jitter.Buffer // nil before Start
	keys    dtmf.Receiver
	pacer   media.Pacer
	arrived time.Time // of audio since the last Advance; zero: none

	// Outgoing time is counted in slots of 20 ms, one for each deadline of the pacer whether
	// something was sent then or not, so that timestamps keep the wall clock's pace.
	base     uint32 // timestamp of slot 0
	slots    uint32 // deadlines passed so far
	next     uint32 // slot of the next frame
	marker   bool   // the next packet begins a talkspurt
	due      int    // frames that Advance has asked for
	deadline time.Time
	slotDue  time.Time // deadline of the slot taken last; zero: it had none
	playout  media.Playout

	remote   remote
	quality  quality.Meter
	interval time.Time // end of the present interval of the score

	mu     sync.Mutex // guards public
	public Stats
}

// New returns a stream. Its clocks stand still until Start.
func New(cfg Config) *Stream {
	return &Stream{
		cfg: cfg, events: make(chan media.LegEvent, media.EventQueue), quality: quality.Meter{Codec: cfg.Codec},
		// Random, so that it cannot be guessed (RFC 3550 section 5.1).
		base: rand.Uint32(), marker: true,
	}
}

// Start makes the first frame due at now. Buffer b takes what is heard.
func (s *Stream) Start(b *jitter.Buffer, now time.Time) {
	s.buffer, s.pacer, s.interval = b, media.NewPacer(now), now.Add(ReportEvery)
}

// Started says whether Start was called.
func (s *Stream) Started() bool { return s.buffer != nil }

// Events is that of media.Leg.
func (s *Stream) Events() <-chan media.LegEvent { return s.events }

// Retime begins an outgoing stream whose timestamps have another step; it needs an SSRC of its own (RFC 7160 section 4.1). The
// codec is that of what is heard from now on.
func (s *Stream) Retime(step uint32, c quality.Codec) {
	s.cfg.Step, s.quality.Codec = step, c
	s.base, s.marker = rand.Uint32(), true
}

// Emit queues an event.
func (s *Stream) Emit(e media.LegEvent) {
	select {
	case s.events <- e:
	default:
		s.cfg.Overflow()
	}
}

// Receive takes a packet of audio or comfort noise from the far end.
func (s *Stream) Receive(p jitter.Packet) {
	if p.Kind.Sounds() {
		s.arrived = p.Arrived
	}
	s.buffer.Push(p)
}

// ReceiveEvent takes a packet with a telephone event. timestamp is the one in the packet; those
// of p are in ticks of the buffer. clock is how many units of the former make a tick.
func (s *Stream) ReceiveEvent(p jitter.Packet, e dtmf.Event, timestamp uint32, clock int) {
	if digit, pressed := s.keys.Receive(p.SSRC, timestamp, e, p.Arrived); pressed {
		s.Counters.Digits++
		s.Emit(media.LegEvent{Kind: media.LegDigit, Digit: digit})
	}
	p.Kind, p.Payload, p.Duration, p.Open = jitter.Event, nil, int(e.Duration)/clock, !e.End
	s.buffer.Push(p)
}

// Read gives out the next frame that was heard, as media.Leg says.
func (s *Stream) Read(now time.Time) (media.Frame, bool) { return s.buffer.Read(now) }

// Next is that of media.Leg: its phase follows the far end's packets.
func (s *Stream) Next() time.Time { return s.pacer.Next() }

// Advance moves past the deadlines up to now and returns how many frames are due: two at most
// after a stall, and the timestamps of the others are skipped. Without sending, on hold or
// without a connection, the far end misses none of them.
func (s *Stream) Advance(now time.Time, sending bool) int {
	deadline, skipped := s.pacer.Next(), s.pacer.Skipped()
	n := s.pacer.Due(now)
	if !s.arrived.IsZero() {
		// Not before Due: a deadline that moved past now would cost a second
		// wake-up for this very frame.
		s.pacer.Observe(s.arrived)
		s.arrived = time.Time{}
	}
	if n == 0 {
		return 0
	}
	skipped = s.pacer.Skipped() - skipped
	s.Counters.Skipped += skipped
	s.slots += uint32(n) + uint32(skipped)
	s.deadline = deadline.Add(time.Duration(skipped) * media.FrameDuration)
	if first := s.slots - uint32(n); int32(first-s.next) > 0 { // slots passed without a frame
		s.next, s.marker = first, true
	}
	s.due = 0
	if sending {
		s.due = n
		s.Counters.Behind.Due(n, now.Sub(s.deadline), skipped)
	}
	return n
}

// Slot takes the next slot. Its packet has this timestamp and, where it begins a talkspurt,
// the marker.
func (s *Stream) Slot() (timestamp uint32, marker bool) {
	s.slotDue = time.Time{}
	if s.due > 0 {
		s.due--
		s.slotDue, s.deadline = s.deadline, s.deadline.Add(media.FrameDuration)
	}
	timestamp, marker = s.base+s.next*s.cfg.Step, s.marker
	s.next++
	s.marker = false
	return timestamp, marker
}

// Mark has the next packet begin a talkspurt.
func (s *Stream) Mark() { s.marker = true }

// Wrote says that a frame of the conductor's went out at now, in the slot taken last.
func (s *Stream) Wrote(now time.Time) {
	s.playout.Add(now)
	if !s.slotDue.IsZero() {
		s.Counters.Lateness.add(now.Sub(s.slotDue))
	}
}

// Timestamp is the outgoing stream's at now, between slots too, for sender reports.
func (s *Stream) Timestamp(now time.Time) uint32 {
	// The pacer's next deadline is that of the slot after those passed.
	ahead := int64(s.pacer.Next().Sub(now)) * int64(s.cfg.Step) / int64(media.FrameDuration)
	return s.base + s.slots*s.cfg.Step - uint32(ahead)
}

// Played is that of media.Leg. It is an estimate: what was sent, less the network's delay and
// what the far end's own buffer holds.
func (s *Stream) Played(now time.Time) media.Time {
	return s.playout.Until(now, min(s.cfg.PlayoutDelay+s.remote.roundTrip()/2, s.cfg.MaxPlayout))
}
