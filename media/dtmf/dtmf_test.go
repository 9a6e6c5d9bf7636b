package dtmf_test

import (
	"testing"
	"time"

	"github.com/pion/rtp"
	"pgregory.net/rapid"

	"parley/media/dtmf"
	"parley/media/mediatest"
)

// packet is one event packet as a test sends it.
type packet struct {
	ssrc, ts uint32
	event    dtmf.Event
	at       time.Duration
}

// typed gives the packets of digits, sent by our own sender from time 0 on.
func typed(digits string) (sent []packet) {
	var s dtmf.Sender
	ts, event := uint32(1000), uint32(0)
	for i := range digits {
		if !s.Start(digits[i]) {
			panic("busy")
		}
		for s.Active() {
			step := s.Next()
			if step.First {
				event = ts
			}
			if step.Send {
				sent = append(sent, packet{1, event, step.Event, time.Duration(ts-1000) * time.Second / 8000})
			}
			ts += 160
		}
	}
	return sent
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func received(packets []packet) (digits string) {
	var r dtmf.Receiver
	for _, p := range packets {
		if d, ok := r.Receive(p.ssrc, p.ts, p.event, epoch.Add(p.at)); ok {
			digits += string(d)
		}
	}
	return digits
}

func TestEveryKeyGoesThrough(t *testing.T) {
	const all = "0123456789*#ABCD1122"
	if got := received(typed(all)); got != all {
		t.Errorf("sent %q, received %q", all, got)
	}
}

// The shape of a key on the wire: 100 ms down in steps of 20 ms, the end three
// times, one timestamp, 200 ms from key to key.
func TestSentShape(t *testing.T) {
	sent := typed("5#")
	if len(sent) != 14 {
		t.Fatalf("%d packets for two keys, want 14", len(sent))
	}
	for i, want := range []dtmf.Event{
		{5, false, 10, 160}, {5, false, 10, 320}, {5, false, 10, 480}, {5, false, 10, 640},
		{5, true, 10, 800}, {5, true, 10, 800}, {5, true, 10, 800},
	} {
		if sent[i].event != want || sent[i].ts != 1000 || sent[i].at != time.Duration(i)*20*time.Millisecond {
			t.Errorf("packet %d: %+v", i, sent[i])
		}
	}
	if sent[7].at != 200*time.Millisecond || sent[7].ts != 1000+1600 || sent[7].event.Code != 11 {
		t.Errorf("second key: %+v", sent[7])
	}
}

func TestSenderRefuses(t *testing.T) {
	var s dtmf.Sender
	for _, d := range []byte{'E', 'a', ' ', 0} {
		if s.Start(d) || dtmf.Valid(d) {
			t.Errorf("%q was taken for a key", d)
		}
	}
	if !s.Start('1') || s.Start('2') {
		t.Error("a second key began before the first was over")
	}
}

// A press is reported once, by whichever of its packets arrives: lost, doubled,
// late beyond the next key.
func TestOncePerPressOnAnyNetwork(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.StringMatching(`[0-9*#A-D]{1,12}`).Draw(rt, "digits")
		sent := typed(want)
		var arrived []packet
		for i := 0; i < len(sent); i += 7 {
			key := sent[i : i+7]
			keep := rapid.IntRange(0, 6).Draw(rt, "the one that arrives")
			for j, p := range key {
				copies := rapid.IntRange(0, 2).Draw(rt, "copies")
				if j == keep {
					copies = max(1, copies)
				}
				for range copies {
					arrived = append(arrived, p)
				}
			}
		}
		// Repetitions of a key may come after the next one has begun.
		for i := 1; i < len(arrived); i++ {
			if arrived[i].ts != arrived[i-1].ts && i >= 2 && arrived[i-2].ts == arrived[i-1].ts && rapid.Bool().Draw(rt, "swap") {
				arrived[i-1], arrived[i] = arrived[i], arrived[i-1]
			}
		}
		if got := received(arrived); got != want {
			rt.Fatalf("sent %q, received %q", want, got)
		}
	})
}

func TestReceive(t *testing.T) {
	const ms = time.Millisecond
	ev := func(code uint8, end bool, duration int) dtmf.Event {
		return dtmf.Event{Code: code, End: end, Duration: uint16(duration)}
	}
	for name, c := range map[string]struct {
		packets []packet
		want    string
	}{
		"the same key twice": {[]packet{{1, 0, ev(5, false, 160), 0}, {1, 0, ev(5, true, 320), 20 * ms}, {1, 1600, ev(5, false, 160), 200 * ms}}, "55"},
		"both ends lost":     {[]packet{{1, 0, ev(5, false, 160), 0}, {1, 1600, ev(5, false, 160), 200 * ms}}, "55"},
		"only the end":       {[]packet{{1, 0, ev(7, true, 800), 0}, {1, 0, ev(7, true, 800), 20 * ms}}, "7"},
		"same timestamp, other source": {[]packet{{1, 0, ev(7, true, 800), 0}, {2, 0, ev(7, true, 800), time.Second}},
			"77"},
		"a flash is no key": {[]packet{{1, 0, ev(16, false, 160), 0}, {1, 0, ev(255, true, 160), 0}}, ""},
		"a key held for 20 s": {[]packet{
			{1, 0, ev(3, false, 0xFFFF-100), 8 * time.Second}, {1, 0xFFFF, ev(3, false, 160), 8*time.Second + 20*ms},
			{1, 0xFFFF, ev(3, false, 0xFFFF-100), 8*time.Second + 40*ms}, {1, 2 * 0xFFFF, ev(3, true, 160), 8*time.Second + 60*ms}}, "3"},
		"the same key 8 s later": {[]packet{{1, 0, ev(3, false, 800), 0}, {1, 0xFFFF, ev(3, false, 160), 8 * time.Second}}, "33"},
	} {
		if got := received(c.packets); got != c.want {
			t.Errorf("%s: received %q, want %q", name, got, c.want)
		}
	}
}

func TestPayload(t *testing.T) {
	want := dtmf.Event{Code: 11, End: true, Volume: 63, Duration: 0xABCD}
	var b [dtmf.PayloadLen]byte
	want.Put(b[:])
	if got, ok := dtmf.Parse(b[:]); !ok || got != want {
		t.Errorf("%+v became %+v", want, got)
	}
	if b != [4]byte{11, 0xBF, 0xAB, 0xCD} {
		t.Errorf("payload % x", b)
	}
	for n := range 4 {
		if _, ok := dtmf.Parse(b[:n]); ok {
			t.Errorf("%d bytes were taken for an event", n)
		}
	}
	// As a packet of another implementation carries it.
	raw, err := (&rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: 101}, Payload: b[:]}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := dtmf.Parse(raw[12:]); !ok || got != want {
		t.Errorf("from a packet: %+v", got)
	}
}

func TestNoAllocations(t *testing.T) {
	var s dtmf.Sender
	var r dtmf.Receiver
	var b [dtmf.PayloadLen]byte
	ts := uint32(0)
	mediatest.NoAllocs(t, func() {
		if !s.Active() {
			s.Start('5')
		}
		step := s.Next()
		step.Event.Put(b[:])
		e, _ := dtmf.Parse(b[:])
		r.Receive(1, ts, e, epoch)
		ts += 160
	})
}

func BenchmarkReceive(b *testing.B) {
	var r dtmf.Receiver
	ts := uint32(0)
	for b.Loop() {
		r.Receive(1, ts, dtmf.Event{Code: 5, End: true}, epoch)
		ts += 160
	}
}
