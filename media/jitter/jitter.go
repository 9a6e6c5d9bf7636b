// Package jitter turns the packets of one RTP stream, as the network delivered
// them, into the 20 ms frames that were spoken.
//
// It sorts and fills, but it does not delay: whoever listens is a recogniser,
// which needs order and completeness, not a steady clock. A packet that arrives in
// order is heard at once; behind a gap packets wait no longer than the measured
// jitter makes sensible, then the gap is concealed. Only when a human listens to a
// human is a playout delay worth its price, and that is not done here.
//
//	packets ─▶ admit ─▶ ring of 64 ─▶ unwrap: gaps, pauses ─▶ samples ─▶ frames
//	          (which    (which         (how much time lies     (decode,
//	           stream)   order)         between two packets)    conceal)
//
// Three clocks meet here. Sequence numbers say what was lost. Timestamps say how
// long the far end was silent on purpose. The wall clock bounds both, so that a
// far end whose numbers lie can neither stop the stream nor flood it.
package jitter

import (
	"time"

	"parley/media"
)

// Rate is the clock of timestamps and samples.
const Rate = media.Rate8k

// Bounds of the buffer, in samples where not said otherwise: 8 samples are 1 ms.
const (
	// MaxPayload is the longest audio packet, 60 ms, in samples and bytes.
	MaxPayload = 480

	ringSlots    = 64  // packets: over a second at 20 ms, half of one at 10 ms
	maxJump      = 100 // sequence numbers; beyond it a stream has restarted
	maxTimeJump  = 2 * int64(Rate)
	frameSamples = 160
	// One frame short of a sample, the longest packet and one frame of stretching.
	fifoSamples = frameSamples + MaxPayload + frameSamples

	minWait = 20 * time.Millisecond // W, how long a gap may hold up what follows
	maxWait = 80 * time.Millisecond

	maxGapFill = 500 * ms // concealment and silence for one gap, then resync
	// maxLag is how far the stream is behind the wall clock when silence is put in:
	// a leg may lag 200 ms, and until the next wake-up it falls back a frame more.
	maxLag     = 160 * ms
	maxAhead   = 1000 * ms
	minAnchor  = 20 * ms  // lag that is not worth mending
	driftLag   = 100 * ms // lag that never falls below this for driftWindow is clock drift
	pauseSlack = 60 * ms  // how far a pause may run ahead of the wall clock

	driftWindow = 5 * int64(Rate)

	ms = 8
)

// Kind is what a packet carries.
type Kind uint8

// The kinds of packets that share a stream's sequence numbers.
const (
	Audio Kind = iota + 1
	Noise      // comfort noise: the level of a pause (RFC 3389)
	Event      // a telephone event: silence, since the tone is reported elsewhere (RFC 4733)
)

// Packet is one packet of the stream, with what the order depends on.
type Packet struct {
	Kind      Kind
	SSRC      uint32
	Seq       uint16
	Timestamp uint32
	// Payload is encoded audio, one byte a sample, 1 to MaxPayload, or the level
	// byte of Noise. Push copies it.
	Payload []byte
	// Duration of an Event in samples from Timestamp; Open says that more of it
	// is to come.
	Duration int
	Open     bool
	Arrived  time.Time
}

// Decoder turns encoded audio into as many samples as it has bytes.
type Decoder interface {
	Decode(dst []int16, encoded []byte) int
}

// Stats counts what happened to the stream. All packets are those given to Push.
type Stats struct {
	Received   uint64 // packets, duplicates not included
	Expected   uint64 // packets the far end has sent, by its sequence numbers
	Lost       uint64 // given up after waiting; a late one counts here and as Late
	Bursts     uint64 // runs of lost packets
	Late       uint64 // arrived after they were given up
	Duplicates uint64
	Overruns   uint64 // dropped, oldest first, because the reader or the far end's clock was off
	Resyncs    uint64 // new SSRC, or a jump of sequence or timestamp

	Concealed media.Time // put in for lost packets: concealment, and silence beyond 60 ms
	Filled    media.Time // silence put in because nothing arrived
	Jitter    time.Duration
}

// Buffer is the jitter buffer of one stream. It belongs to one goroutine. Nothing
// in it allocates after New.
type Buffer struct {
	decoder Decoder
	ring    ring
	admit   admission
	jitter  estimator
	conceal concealer
	noise   noise
	drift   drift
	stats   Stats

	started   bool
	anchor    bool   // align media time with the wall clock at the next packet
	nextTS    uint32 // timestamp of the first sample not yet produced from packets
	eventOpen bool   // the last packet used was an event that goes on

	gap bool // numbers were passed over before the packet at the head

	// filled is how many samples were put in since the last packet was used,
	// because nothing arrived: a gap or a pause need not be filled twice.
	filled int64

	// lost and pause are samples still to be put in before the ring is read again.
	lost, pause int64
	silent      bool // the pause is the time of an event

	start    time.Time
	produced int64 // samples since start, those in fifo included
	fifo     []int16
	given    int // samples of fifo that are in the reader's hands, and go at the next Read
}

// New returns a buffer whose media time begins at start: from then on the stream
// follows the wall clock, with or without packets.
func New(d Decoder, start time.Time) *Buffer {
	b := &Buffer{decoder: d, start: start, anchor: true}
	b.fifo = make([]int16, 0, fifoSamples)
	return b
}

// Push takes a packet from the network.
func (b *Buffer) Push(p Packet) {
	if len(p.Payload) > MaxPayload || (p.Kind == Audio && len(p.Payload) == 0) {
		return
	}
	switch b.admit.judge(&p) {
	case begun:
		b.begin(&p)
	case restarted:
		// What waited behind a gap of the old stream is dropped with it.
		b.stats.Resyncs++
		b.stats.Lost += uint64(b.ring.missing())
		b.stats.Expected += uint64(b.ring.span())
		first := b.admit.probation()
		b.begin(first)
		b.insert(first)
	case held:
		return
	}
	b.insert(&p)
}

// begin expects a stream whose first packet is p.
func (b *Buffer) begin(p *Packet) {
	b.started, b.anchor = true, true
	b.ring.reset(p.Seq)
	b.jitter.restart()
	b.nextTS = p.Timestamp
	b.eventOpen, b.gap = false, false
	b.lost, b.pause = 0, 0
}

// insert puts an admitted packet where its sequence number belongs.
func (b *Buffer) insert(p *Packet) {
	switch b.ring.put(p) {
	case fresh:
		b.stats.Received++
		if p.Kind == Audio {
			b.jitter.observe(p.Arrived, p.Timestamp)
		}
		// A reader that stays away for longer than the ring holds loses the oldest.
		gone, unread := b.ring.evicted()
		b.stats.Overruns += uint64(unread)
		b.giveUp(gone - unread)
		b.gap = b.gap || gone > 0
	case late:
		b.stats.Received++
		b.stats.Late++
	case duplicate:
		b.stats.Duplicates++
	}
}

// giveUp counts n packets that will not be waited for.
func (b *Buffer) giveUp(n int) {
	if n > 0 {
		b.stats.Lost += uint64(n)
		b.stats.Bursts++
	}
}

// Wait is how long a gap now holds up the packets behind it: three times the
// jitter, 20 to 80 ms.
func (b *Buffer) Wait() time.Duration {
	return max(minWait, min(3*b.jitter.value(), maxWait))
}

// Stats reads the counters.
func (b *Buffer) Stats() Stats {
	s := b.stats
	s.Expected += uint64(b.ring.span())
	s.Jitter = b.jitter.value()
	return s
}

// HighestSeq is the extended highest sequence number received: cycles in the upper
// half (RFC 3550 6.4.1).
func (b *Buffer) HighestSeq() uint32 {
	if !b.started {
		return 0
	}
	return b.ring.highest()
}
