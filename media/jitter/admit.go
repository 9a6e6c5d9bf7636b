package jitter

import "time"

type verdict uint8

const (
	admitted  verdict = iota
	begun             // the first of all
	held              // on probation
	restarted         // proves that the one on probation began a new stream
	resumed           // or that it goes on with this one after an outage
)

// admission decides which stream a packet belongs to. A packet that does not
// continue the current one is held until a second with the next sequence number
// confirms it (RFC 3550 A.1): one stray packet must not cut a call.
type admission struct {
	any     bool // a packet was seen
	ssrc    uint32
	seq     uint16 // highest so far
	ts      uint32 // first sample after that packet
	arrived time.Time
	// The far end's clock: its timestamp clock was at clockAt, by its last packet that is no event.
	clock   uint32
	clockAt time.Time

	probing bool
	probe   Packet
	data    []byte // for the probe's payload
}

func (a *admission) judge(p *Packet) verdict {
	if p.Kind == Event {
		a.bound(p)
	}
	if !a.any {
		a.follow(p)
		return begun
	}
	if a.continues(p) {
		// While the old stream lives, another on the same address does not replace it.
		a.probing = false
		if int16(p.Seq-a.seq) > 0 {
			a.follow(p)
		}
		return admitted
	}
	if a.probing && p.SSRC == a.probe.SSRC && p.Seq == a.probe.Seq+1 {
		v := restarted
		if a.outage() {
			v = resumed
		}
		a.follow(p)
		return v
	}
	a.hold(p)
	return held
}

// bound cuts an event to the time that has passed. Its duration says how long it has
// lasted so far (RFC 4733 section 2.3.5), so one that reaches further is false, and what
// is said in that time would be taken for its tone.
func (a *admission) bound(p *Packet) {
	reach := p.Timestamp + pauseSlack // of a clock of which nothing is known
	if a.any && p.SSRC == a.ssrc {
		reach = a.clock + uint32(samples(p.Arrived.Sub(a.clockAt))) + pauseSlack
	}
	over := int(int32(p.Timestamp + uint32(p.Duration) - reach))
	if over <= 0 {
		return
	}
	if over > p.Duration {
		p.Timestamp -= uint32(over - p.Duration)
	}
	p.Duration = max(0, p.Duration-over)
}

// continues says whether p can be of the current stream. A timestamp may jump as
// far as the wall clock did: that is a pause, not a new stream.
func (a *admission) continues(p *Packet) bool {
	if p.SSRC != a.ssrc {
		return false
	}
	step := int(int16(p.Seq - a.seq))
	if step > maxJump || step < -maxJump {
		return false
	}
	if step <= 0 {
		return true
	}
	jump := int64(int32(p.Timestamp - a.ts))
	if p.Kind == Event {
		// Its timestamp stands still while it lasts, for up to 8 s.
		jump += int64(p.Duration)
	}
	off := jump - samples(p.Arrived.Sub(a.arrived))
	return max(jump, -jump) <= maxTimeJump || max(off, -off) <= maxTimeJump
}

// leastPacket is the shortest time of a packet, in ticks: what an outage has lost cannot
// have been more packets than fit into it.
const leastPacket = 10 * ms

// outage says that the packet on probation belongs to the current stream: between them
// packets were lost for as long as the wall clock says. Another stream would begin with
// a random number and timestamp (RFC 3550 5.1).
func (a *admission) outage() bool {
	p := &a.probe
	lost := int64(int16(p.Seq - a.seq))
	jump := int64(int32(p.Timestamp - a.ts))
	off := jump - samples(p.Arrived.Sub(a.arrived))
	return p.SSRC == a.ssrc && lost > maxJump && jump >= (lost-1)*leastPacket && max(off, -off) <= maxTimeJump
}

// follow makes p the newest packet of the current stream.
func (a *admission) follow(p *Packet) {
	if !a.any || p.SSRC != a.ssrc || p.Kind != Event {
		a.clock, a.clockAt = p.Timestamp, p.Arrived
		if p.Kind.Sounds() {
			a.clock += uint32(p.Duration)
		}
	}
	a.any, a.probing = true, false
	a.ssrc, a.seq, a.arrived = p.SSRC, p.Seq, p.Arrived
	a.ts = p.Timestamp
	if p.Kind != Noise {
		a.ts += uint32(p.Duration)
	}
}

func (a *admission) hold(p *Packet) {
	a.probing, a.probe = true, *p
	a.probe.Payload = a.data[:copy(a.data, p.Payload)]
}

// samples is d in ticks, rounded toward zero.
func samples(d time.Duration) int64 { return int64(d) * int64(Rate) / int64(time.Second) }

// estimator measures interarrival jitter as RFC 3550 6.4.1 does.
type estimator struct {
	known   bool
	ts      uint32
	arrived time.Time
	jitter  float64 // samples
}

// maxTransitStep is a change of transit time that is no jitter: the far end
// stopped and its clock did not run on. In samples, half a second.
const maxTransitStep = float64(Rate) / 2

func (e *estimator) observe(arrived time.Time, ts uint32) {
	if e.known {
		d := arrived.Sub(e.arrived).Seconds()*float64(Rate) - float64(int32(ts-e.ts))
		if d = max(d, -d); d <= maxTransitStep {
			e.jitter += (d - e.jitter) / 16
		}
	}
	e.known, e.ts, e.arrived = true, ts, arrived
}

// restart forgets the last packet but keeps the estimate: the network is the same.
func (e *estimator) restart() { e.known = false }

func (e *estimator) value() time.Duration {
	return time.Duration(e.jitter * float64(time.Second) / float64(Rate))
}

// drift notices a far end whose clock is slower than ours: the smallest lag within
// a window grows, which jitter alone cannot do.
type drift struct {
	until    int64 // end of the window, in samples produced
	smallest int64
}

// observe takes the lag after a packet was used and nothing waits. It says true,
// once a window, when the stream should be stretched.
func (d *drift) observe(lag, produced int64) bool {
	d.smallest = min(d.smallest, lag)
	if produced < d.until {
		return false
	}
	stretch := d.until > 0 && d.smallest > driftLag
	d.until, d.smallest = produced+driftWindow, maxLag
	return stretch
}
