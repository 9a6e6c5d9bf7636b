package jitter_test

import (
	"slices"
	"testing"
	"time"

	"parley/media"
	"parley/media/jitter"
	"parley/media/mediatest"
)

// Silence suppression: the sequence goes on, the timestamp jumps. That is silence
// of the same length, and no loss.
func TestPauseIsNotLoss(t *testing.T) {
	for _, pause := range []int{1, 3, 8, 20, 100, 500} { // packets not sent
		r := newRig(t)
		r.play(1, 5)
		for range pause {
			r.tick()
		}
		for i := 6; i <= 10; i++ {
			p := packet(i)
			p.Timestamp += uint32(pause * 160)
			r.wait(20 * time.Millisecond)
			r.push(p)
			r.read()
		}
		if lag := r.lag(); lag != 0 {
			t.Errorf("pause of %d packets: lags %v afterwards", pause, lag)
		}
		s := r.b.Stats()
		if s.Lost != 0 || s.Concealed != 0 || s.Resyncs != 0 {
			t.Errorf("pause of %d packets: stats %+v", pause, s)
		}
		got := r.numbers()
		if len(got) != 10+pause || got[len(got)-5] != 6 || got[len(got)-1] != 10 {
			t.Errorf("pause of %d packets: heard %v", pause, got)
		}
	}
}

// Some far ends stop sending without letting their timestamps run on. What they say
// after it was said after it.
func TestPauseWithoutTimestamps(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	for range 50 {
		r.tick()
	}
	r.play(6, 60)
	if lag := r.lag(); lag > 20*time.Millisecond {
		t.Errorf("lags %v after the pause", lag)
	}
	if s := r.b.Stats(); s.Lost != 0 || s.Resyncs != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestPauseCannotBeClaimed(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	p := packet(6)
	p.Timestamp += 8000 // a second of pause that did not happen
	r.wait(20 * time.Millisecond)
	r.push(p)
	r.read()
	if ahead := -r.lag(); ahead > 100*time.Millisecond {
		t.Errorf("runs %v ahead of the clock", ahead)
	}
}

func TestComfortNoise(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	cn := packet(6)
	cn.Kind, cn.Payload = jitter.Noise, []byte{50} // -50 dBov
	r.push(cn)
	for range 100 {
		r.tick()
	}
	pause := r.heard[6*160:]
	if level := mediatest.Level(pause); level < -51 || level > -49 {
		t.Errorf("comfort noise of -50 dBov is heard at %.1f dBov", level)
	}
	p := packet(7)
	p.Timestamp += 100 * 160
	r.push(p)
	r.read()
	if s := r.b.Stats(); s.Lost != 0 || s.Concealed != 0 {
		t.Errorf("stats %+v", s)
	}
	if n := r.numbers(); n[len(n)-1] != 7 {
		t.Errorf("heard %v", n)
	}
}

// In a pause that was announced nothing is waited for: the end of a turn is heard as soon as the far end's noise is.
func TestAnnouncedPauseDoesNotLag(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	cn := packet(6)
	cn.Kind, cn.Payload = jitter.Noise, []byte{50}
	r.push(cn)
	for range 100 {
		if r.tick(); r.lag() > 40*time.Millisecond {
			t.Fatalf("lags %v in the pause", r.lag())
		}
	}
	for seq := 7; seq < 60; seq++ { // its timestamps do not run on
		r.wait(20 * time.Millisecond)
		r.push(packet(seq))
		r.read()
	}
	if s := r.b.Stats(); s.Lost != 0 || s.Concealed != 0 || s.Underrun != 0 || s.Resyncs != 0 || r.lag() > 20*time.Millisecond {
		t.Errorf("lags %v, stats %+v", r.lag(), s)
	}
}

// What is lost in a pause that was announced, the next announcement or the first word, leaves the pause as it is: what
// was said before it is long over.
func TestLossInAnAnnouncedPause(t *testing.T) {
	for _, next := range []jitter.Kind{jitter.Noise, jitter.Audio} {
		r := newRig(t)
		r.play(1, 5)
		cn := packet(6)
		cn.Kind, cn.Payload = jitter.Noise, []byte{50}
		r.push(cn)
		for range 50 {
			r.tick()
		}
		p := packet(8) // 7 is lost
		if p.Timestamp += 50 * 160; next == jitter.Noise {
			p.Kind, p.Payload = next, []byte{50}
		}
		r.push(p)
		for range 4 {
			r.tick()
		}
		if s := r.b.Stats(); s.Lost != 1 || s.Concealed != 0 {
			t.Errorf("stats %+v", s)
		}
		pause := r.heard[7*160 : 50*160]
		if level := mediatest.Level(pause); level < -51 || level > -49 {
			t.Errorf("the pause is heard at %.1f dBov", level)
		}
		if n := r.numbers(); slices.Contains(n, 8) != (next == jitter.Audio) {
			t.Errorf("heard %v", n)
		}
	}
}

// A pause whose announcement was lost sounds like the last one that was announced;
// the time of a key is silent all the same.
func TestComfortNoiseGoesOn(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	cn := packet(6)
	cn.Kind, cn.Payload = jitter.Noise, []byte{50} // -50 dBov
	r.push(cn)
	for range 50 {
		r.tick()
	}
	shift := uint32(50 * 160)
	say := func(seq int) {
		p := packet(seq)
		p.Timestamp += shift
		r.push(p)
		r.tick()
	}
	for seq := 7; seq < 17; seq++ {
		say(seq)
	}
	for range 40 { // the far end stops sending
		r.tick()
	}
	shift += 40 * 160
	pause := r.heard[len(r.heard)-20*160:]
	if level := mediatest.Level(pause); level < -51 || level > -49 {
		t.Errorf("the pause is heard at %.1f dBov", level)
	}
	for seq := 17; seq < 22; seq++ {
		say(seq)
	}
	for i := range 20 {
		p := packet(22)
		p.Seq += uint16(i)
		p.Kind, p.Payload, p.Timestamp, p.Duration, p.Open = jitter.Event, nil, p.Timestamp+shift, 160*(i+1), i < 19
		r.push(p)
		r.tick()
	}
	key := r.heard[len(r.heard)-15*160 : len(r.heard)-2*160]
	if level := mediatest.Level(key); level > -90 {
		t.Errorf("the time of a key is heard at %.1f dBov", level)
	}
}

// With no packets at all the stream is silence that keeps up with the clock.
func TestNothingArrives(t *testing.T) {
	r := newRig(t)
	for range 500 {
		r.tick()
	}
	for _, s := range r.heard {
		if s != 0 {
			t.Fatal("silence is not silent")
		}
	}
	// The first packet is heard where the clock is, not 160 ms ago: else each
	// later delay of a few ms would put silence into words.
	r.play(1, 100)
	before := r.b.Stats().Underrun
	r.wait(60 * time.Millisecond)
	r.play(101, 120)
	if after := r.b.Stats().Underrun; after != before {
		t.Errorf("a delay of 60 ms put in %v of silence", (after - before).Duration())
	}
}

// A network that stalls and then delivers everything: nothing is lost, and what was
// put in meanwhile is not put in twice.
func TestStallThenBurst(t *testing.T) {
	r := newRig(t)
	r.play(1, 10)
	for range 20 {
		r.tick()
	}
	for i := 11; i <= 30; i++ {
		r.push(packet(i))
	}
	r.read()
	if s := r.b.Stats(); s.Lost != 0 || s.Concealed != 0 || s.Overruns != 0 {
		t.Errorf("stats %+v", s)
	}
	heard := r.numbers()
	for i := range 20 {
		if got := heard[len(heard)-20+i]; got != 11+i {
			t.Fatalf("heard %v", heard)
		}
	}
}

// An outage is concealed for 60 ms, then silent; once it is over the stream goes on
// where the clock is.
func TestOutage(t *testing.T) {
	for _, lost := range []int{2, 5, 15, 40, 90, 105, 150, 1500} {
		r := newRig(t)
		r.play(1, 10)
		for range lost {
			r.tick()
		}
		for i := 11 + lost; i <= 20+lost; i++ {
			p := packet(i)
			p.Payload[80] = byte(i - lost)
			r.wait(20 * time.Millisecond)
			r.push(p)
			r.read()
		}
		for range 10 {
			r.tick()
		}
		s := r.b.Stats()
		if s.Lost != uint64(lost) || s.Bursts != 1 || s.Resyncs != 0 || s.Expected != uint64(20+lost) {
			t.Errorf("outage of %d packets: stats %+v", lost, s)
		}
		if most := max(media.FrameTime*media.Time(lost), 0); s.Concealed > most {
			t.Errorf("outage of %d packets: concealed %v", lost, s.Concealed.Duration())
		}
		if ahead := -r.lag(); ahead > 60*time.Millisecond {
			t.Errorf("outage of %d packets: %v ahead", lost, ahead)
		}
	}
}

// A reader that stays away for longer than the ring holds loses the oldest.
func TestReaderStaysAway(t *testing.T) {
	r := newRig(t)
	for i := 1; i <= 90; i++ {
		r.wait(20 * time.Millisecond)
		r.push(packet(i))
	}
	r.read()
	s := r.b.Stats()
	if s.Overruns != 26 || s.Lost != 0 || s.Received != 90 {
		t.Errorf("stats %+v, want 26 overruns", s)
	}
	if n := r.numbers(); n[len(n)-1] != 90 || n[len(n)-64] != 27 {
		t.Errorf("heard %v", n)
	}
}

// A far end whose clock is slow or fast by a tenth of a percent, for ten minutes.
func TestClockDrift(t *testing.T) {
	for _, step := range []time.Duration{20020 * time.Microsecond, 19980 * time.Microsecond} {
		r := newRig(t)
		for i := range 30_000 {
			p := packet(i % 100)
			p.Seq, p.Timestamp = uint16(i), uint32(i*160)
			r.wait(step)
			r.push(p)
			r.read()
		}
		s := r.b.Stats()
		if lag := r.lag(); lag > 140*time.Millisecond || lag < -time.Second {
			t.Errorf("step %v: lag %v after ten minutes", step, lag)
		}
		if s.Lost != 0 || s.Resyncs != 0 || s.Concealed != 0 || s.Underrun > 600*media.Millisecond || s.Overruns > 0 {
			t.Errorf("step %v: stats %+v", step, s)
		}
	}
}

// A far end that sends at twice the rate cannot run away with the call's time.
func TestFloodIsBounded(t *testing.T) {
	r := newRig(t)
	for i := range 2000 {
		p := packet(i % 100)
		p.Seq, p.Timestamp = uint16(i), uint32(i*160)
		r.wait(10 * time.Millisecond)
		r.push(p)
		r.read()
	}
	if ahead := -r.lag(); ahead > 1100*time.Millisecond {
		t.Errorf("%v ahead of the clock", ahead)
	}
	if s := r.b.Stats(); s.Overruns == 0 || s.Lost != 0 {
		t.Errorf("stats %+v", s)
	}
}

// While a key is held, events take the place of audio: as much silence, at once.
func TestEventsAreSilence(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	seq := packet(6).Seq
	for i := 1; i <= 5; i++ {
		e := jitter.Packet{Kind: jitter.Event, SSRC: 7, Seq: seq, Timestamp: 6 * 160, Duration: i * 160, Open: i < 5}
		r.wait(20 * time.Millisecond)
		r.push(e)
		seq++
		if n := r.read(); n != 1 {
			t.Fatalf("event packet %d: %d frames, want 1", i, n)
		}
	}
	for range 2 { // the end once more, twice
		r.push(jitter.Packet{Kind: jitter.Event, SSRC: 7, Seq: seq, Timestamp: 6 * 160, Duration: 800})
		seq++
		if n := r.read(); n != 0 {
			t.Fatalf("a repeated end gave %d frames", n)
		}
	}
	for i := 11; i <= 13; i++ {
		p := packet(i)
		p.Seq = seq
		seq++
		r.wait(20 * time.Millisecond)
		r.push(p)
		r.read()
	}
	r.wantNumbers(1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 11, 12, 13)
	if s := r.b.Stats(); s.Lost != 0 || s.Concealed != 0 || s.Underrun != 0 {
		t.Errorf("stats %+v", s)
	}
}

// A gateway that sends the tone as audio beside its events is heard as silence
// once, not twice.
func TestAudioBesideEvents(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	seq := packet(6).Seq
	for i := 6; i <= 10; i++ {
		r.wait(20 * time.Millisecond)
		r.push(jitter.Packet{Kind: jitter.Event, SSRC: 7, Seq: seq, Timestamp: 6 * 160, Duration: (i - 5) * 160, Open: i < 10})
		p := packet(i)
		p.Seq = seq + 1
		r.push(p)
		seq += 2
		r.read()
	}
	if lag := r.lag(); lag < -20*time.Millisecond {
		t.Errorf("%v ahead of the clock: the time was counted twice", -lag)
	}
}

// An event covers the time that has passed (RFC 4733 section 2.3.5), whatever it claims:
// what is said beside it or after it is heard.
func TestEventCannotClaimTime(t *testing.T) {
	for _, c := range []struct {
		name     string
		first    bool // nothing came before it
		packets  int  // of the event, one beside each packet of audio
		ended    bool
		ahead    int // of the clock, of its timestamp
		duration int
	}{
		{name: "the longest duration, once", packets: 1, duration: 0xFFFF},
		{name: "the longest duration and an end", packets: 1, ended: true, duration: 0xFFFF},
		{name: "the longest duration for 200 ms", packets: 10, duration: 0xFFFF},
		{name: "one second for 200 ms", packets: 10, duration: 8000},
		{name: "the longest duration, first of all", first: true, packets: 1, duration: 0xFFFF},
		{name: "a timestamp a second ahead", packets: 10, ahead: 8000, duration: 160},
	} {
		r := newRig(t)
		if !c.first {
			r.play(1, 5)
		}
		seq := packet(6).Seq
		for i := 6; i <= 100; i++ {
			r.wait(20 * time.Millisecond)
			if n := i - 5; n <= c.packets {
				r.push(jitter.Packet{Kind: jitter.Event, SSRC: 7, Seq: seq, Timestamp: uint32(6*160 + c.ahead), Duration: c.duration,
					Open: !c.ended || n < c.packets})
				seq++
			}
			p := packet(i)
			p.Seq = seq
			seq++
			r.push(p)
			r.read()
		}
		heard := map[int]bool{}
		for _, n := range r.numbers() {
			heard[n] = true
		}
		for i := 6 + c.packets + 3; i <= 100; i++ { // what may run ahead is 60 ms
			if !heard[i] {
				t.Errorf("%s: packet %d is not heard", c.name, i)
				break
			}
		}
		if lag := r.lag(); lag < -100*time.Millisecond {
			t.Errorf("%s: %v ahead of the clock", c.name, -lag)
		}
		if s := r.b.Stats(); s.Resyncs != 0 || s.Lost != 0 || s.Overruns != 0 {
			t.Errorf("%s: stats %+v", c.name, s)
		}
	}
}

// A key held for longer than the duration can say is a row of events (RFC 4733 section
// 2.5.1.3): silence of that length, and what follows is heard at its time.
func TestLongEvent(t *testing.T) {
	r := newRig(t)
	r.play(1, 5)
	seq := packet(6).Seq
	const held = 600 // packets: 12 s
	for i := 1; i <= held; i++ {
		e := jitter.Packet{Kind: jitter.Event, SSRC: 7, Seq: seq, Timestamp: 6 * 160, Duration: i * 160, Open: i < held}
		if over := i*160 - 0xFFFF; over > 0 {
			e.Timestamp, e.Duration = e.Timestamp+0xFFFF, over
		}
		r.wait(20 * time.Millisecond)
		r.push(e)
		seq++
		if n := r.read(); n != 1 {
			t.Fatalf("event packet %d: %d frames, want 1", i, n)
		}
	}
	for i := 6; i <= 10; i++ {
		p := packet(i)
		p.Seq, p.Timestamp = seq, p.Timestamp+held*160
		seq++
		r.wait(20 * time.Millisecond)
		r.push(p)
		if n := r.read(); n != 1 {
			t.Fatalf("packet %d after it: %d frames, want 1", i, n)
		}
	}
	if s := r.b.Stats(); s.Lost != 0 || s.Concealed != 0 || s.Underrun != 0 || s.Resyncs != 0 {
		t.Errorf("stats %+v", s)
	}
}
