// Package jitter turns the packets of one RTP stream, as the network delivered
// them, into the 20 ms frames that were spoken.
//
// It sorts and conceals, but it does not delay: the listener is a recogniser,
// which needs order and completeness, not a steady clock. A packet that arrives in
// order is heard at once; behind a gap packets wait no longer than the measured
// jitter makes sensible, 80 ms at most, then the gap is concealed (G.711 Appendix I, or
// the codec's own way: libopus goes on with the sound, and takes a lost packet from the
// copy in the next). Only when a human listens to a
// human is a playout delay worth its price, and that is not done here.
//
//	packets ─▶ admit ─▶ ring of 64 ─▶ unwrap: gaps, pauses ─▶ samples ─▶ frames
//	          (which    (which         (how much time lies     (decode,
//	           stream)   order)         between two packets)    conceal)
//
// Time is counted in ticks of 8 kHz whatever the codec: the caller of Push
// converts another clock, and a codec that gives more samples gives a
// whole number of them for each tick.
//
// Three clocks meet here. Sequence numbers say what was lost. Timestamps say how
// long the far end was silent on purpose. The wall clock bounds both, so that a
// far end whose numbers lie can neither stop the stream nor flood it.
package jitter

import (
	"time"

	"parley/media"
)

// Rate is the clock of timestamps and, unless a Codec says otherwise, of samples.
const Rate = media.Rate8k

// Bounds of the buffer, in ticks where not said otherwise: 8 ticks are 1 ms.
const (
	// MaxPayload is the longest audio packet without a Codec, 60 ms, in ticks and bytes.
	MaxPayload = 480
	// MaxCoded is the longest payload of a Codec in bytes: what crosses an Ethernet.
	// MaxCodedTicks is the longest time in one, 120 ms.
	MaxCoded      = 1500
	MaxCodedTicks = 120 * ms

	ringSlots    = 64  // packets: over a second at 20 ms, half of one at 10 ms
	maxJump      = 100 // sequence numbers; beyond it a second packet decides what has happened
	maxTimeJump  = 2 * int64(Rate)
	frameSamples = 160

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
	Audio Kind = iota + 1 // for the Decoder
	Coded                 // audio for the Codec
	Noise                 // comfort noise: the level of a pause (RFC 3389)
	Event                 // a telephone event: silence, since the tone is reported elsewhere (RFC 4733)
)

// Sounds says whether it is audio.
func (k Kind) Sounds() bool { return k == Audio || k == Coded }

// Packet is one packet of the stream, with what the order depends on.
type Packet struct {
	Kind      Kind
	SSRC      uint32
	Seq       uint16
	Timestamp uint32
	// Payload is encoded audio, one byte a tick, 1 to MaxPayload, or Coded, 1 to MaxCoded, what the Codec
	// decodes, or the level byte of Noise. Push copies it.
	Payload []byte
	Type    uint8 // of the payload, for a Decoder
	// Duration in ticks from Timestamp, of an Event, and of what is Coded.
	// Open says that more of an event is to come.
	Duration int
	Open     bool
	Arrived  time.Time
}

// Decoder decodes packets of which each has one byte a tick. dst is as long as the time it stands
// for; all of it is written.
type Decoder interface {
	Decode(dst []int16, payloadType uint8, payload []byte)
}

// Codec is a decoder that fills gaps, better than anybody who sees the samples only. dst is as long as the time it stands for; all of it is written.
type Codec interface {
	// Decode decodes one packet.
	Decode(dst []int16, payload []byte)
	// Recover fills dst with what came just before the packet next: by the
	// redundant copy in next where it has one.
	Recover(dst []int16, next []byte)
	// Conceal goes on with the sound so far.
	Conceal(dst []int16)
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
	Highest    uint32 // extended sequence number received: cycles in the upper half (RFC 3550 6.4.1)

	Concealed media.Time // put in for lost packets: concealment, and silence beyond 60 ms
	Underrun  media.Time // silence put in because nothing arrived
	Jitter    time.Duration
}

// seam is how the packet at the head follows the samples before it.
type seam uint8

const (
	joined seam = iota // its number is the next
	broken             // numbers before it were passed over
	afresh             // nothing leads to it: the wall clock says when it was spoken
)

// Buffer is the jitter buffer of one stream. It belongs to one goroutine. Nothing
// in it allocates after New.
type Buffer struct {
	decoder Decoder // of one byte a tick; nil: there is no such audio
	codec   Codec   // nil: nothing is Coded
	coded   bool    // the audio used last was the codec's, which goes on with it in a gap
	blind   int64   // ticks that the codec has concealed since its last packet
	scale   int     // samples a tick
	rate    media.Rate
	frame   int // samples of a frame
	longest int // payload of a packet in bytes
	ring    ring
	admit   admission
	jitter  estimator
	conceal *concealer // of what the decoder gave; nil where there is none
	noise   noise
	drift   drift
	stats   Stats

	seam      seam
	nextTS    uint32 // timestamp of the first sample not yet produced from packets
	eventOpen bool   // the last packet used was an event that goes on

	// underrun is how many ticks were put in since the last packet was used, because
	// nothing arrived: they count towards the gap or pause that the next packet shows.
	underrun int64

	// lost and pause are ticks still to be put in before the ring is read again.
	lost, pause int64
	silent      bool // the pause is the time of an event

	start    time.Time
	produced int64 // ticks since start, those in fifo included
	fifo     []int16
	given    int // samples of fifo that are in the reader's hands, and go at the next Read
}

// New returns a buffer of samples at rate, 8 or 16 kHz, whose media time begins at start: from then on
// the stream follows the wall clock, with or without packets.
func New(d Decoder, rate media.Rate, start time.Time) *Buffer {
	b := &Buffer{decoder: d, conceal: newConcealer(rate)}
	b.init(rate, MaxPayload, MaxPayload, start)
	return b
}

// NewCoded is New for a codec that fills gaps by itself, whose samples are at rate, a multiple
// of Rate.
func NewCoded(c Codec, rate media.Rate, start time.Time) *Buffer {
	b := &Buffer{codec: c, coded: true}
	b.init(rate, MaxCoded, MaxCodedTicks, start)
	return b
}

// NewMixed is for a stream whose packets may be of either sort, as a call's that changes its codec. A Codec costs it the room for
// long packets, so it is not for calls that never have one.
func NewMixed(d Decoder, c Codec, rate media.Rate, start time.Time) *Buffer {
	b := &Buffer{decoder: d, codec: c, conceal: newConcealer(rate)}
	b.init(rate, MaxCoded, MaxCodedTicks, start)
	return b
}

func (b *Buffer) init(rate media.Rate, longest, ticks int, start time.Time) {
	b.rate, b.scale, b.frame, b.longest = rate, int(rate/Rate), rate.FrameSamples(), longest
	b.start, b.seam = start, afresh
	b.ring.init(longest)
	b.admit.data = make([]byte, longest)
	// One frame short of a sample, the longest packet and one frame of stretching.
	b.fifo = make([]int16, 0, (frameSamples+ticks+frameSamples)*b.scale)
}

// Push takes a packet from the network.
func (b *Buffer) Push(p Packet) {
	if p.Kind == Audio {
		p.Duration = len(p.Payload)
	}
	if !b.takes(&p) {
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
		first := &b.admit.probe
		b.begin(first)
		b.insert(first)
	case resumed:
		first := &b.admit.probe
		b.giveUp(b.ring.missing() + b.ring.jump(first.Seq))
		b.expect(first)
		b.insert(first)
	case held:
		return
	}
	b.insert(&p)
}

// takes says whether a packet is one that the buffer is for.
func (b *Buffer) takes(p *Packet) bool {
	n := len(p.Payload)
	switch p.Kind {
	case Audio:
		return b.decoder != nil && n > 0 && n <= MaxPayload
	case Coded:
		return b.codec != nil && n > 0 && n <= b.longest && p.Duration > 0 && p.Duration <= MaxCodedTicks
	}
	return n <= b.longest
}

// begin expects a stream whose first packet is p.
func (b *Buffer) begin(p *Packet) {
	b.ring.reset(p.Seq)
	b.expect(p)
}

// expect goes on with p, which nothing that came before leads to.
func (b *Buffer) expect(p *Packet) {
	b.seam = afresh
	b.jitter.restart()
	b.nextTS = p.Timestamp
	b.eventOpen = false
	b.lost, b.pause = 0, 0
}

// insert puts an admitted packet where its sequence number belongs.
func (b *Buffer) insert(p *Packet) {
	switch b.ring.put(p) {
	case fresh:
		b.stats.Received++
		if p.Kind.Sounds() {
			b.jitter.observe(p.Arrived, p.Timestamp)
		}
		// A reader that stays away for longer than the ring holds loses the oldest.
		gone, unread := b.ring.gone, b.ring.goneUnread
		b.stats.Overruns += uint64(unread)
		b.giveUp(gone - unread)
		if gone > 0 {
			b.seam = broken
		}
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
	if b.admit.any {
		s.Highest = b.ring.highest()
	}
	return s
}
