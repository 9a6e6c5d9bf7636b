package client

import (
	"slices"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
)

func TestAddress(t *testing.T) {
	for _, tt := range []struct{ base, agent, token, want string }{
		{"http://localhost:8080", "", "", "ws://localhost:8080/ws/agent"},
		{"https://voice.example/", "agt_1", "", "wss://voice.example/ws/agent?agent_id=agt_1"},
		{"ws://h/ws/agent?x=1", "a&b", "", "ws://h/ws/agent?agent_id=a%26b&x=1"},
		{"wss://h/behind/a/proxy", "", "", "wss://h/behind/a/proxy"},
		{"https://voice.example/", "agt_1", "ses_1.7.x", "wss://voice.example/ws/agent?resume=ses_1.7.x"},
		{"localhost:8080", "", "", ""},
		{"ftp://h", "", "", ""},
		{"http://\x7f", "", "", ""},
	} {
		got, err := address(tt.base, tt.agent, tt.token)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q, %q: %q, %v, want %q", tt.base, tt.agent, got, err, tt.want)
		}
	}
}

func TestSpeechEnds(t *testing.T) {
	const rate = RateIn
	quiet := func(d time.Duration) []int16 { return make([]int16, media.FromDuration(d).Samples(rate)) }
	word := func(d time.Duration, loud float64) []int16 {
		return mediatest.Tone(300, rate, media.FromDuration(d).Samples(rate), loud)
	}
	const ms = time.Millisecond
	for _, tt := range []struct {
		name string
		clip [][]int16
		want []time.Duration
	}{
		{"nothing", nil, nil},
		{"silence", [][]int16{quiet(time.Second)}, nil},
		{"noise below the floor", [][]int16{word(time.Second, 0.003)}, nil},
		{"a sentence with pauses", [][]int16{quiet(100 * ms), word(200*ms, 0.5), quiet(280 * ms), word(200*ms, 0.1), quiet(time.Second)}, []time.Duration{780 * ms}},
		{"two", [][]int16{word(200*ms, 0.5), quiet(300 * ms), word(100*ms, 0.5)}, []time.Duration{200 * ms, 600 * ms}},
		{"an echo does not count", [][]int16{word(200*ms, 0.9), quiet(400 * ms), word(200*ms, 0.02), quiet(400 * ms)}, []time.Duration{200 * ms}},
		{"a part of a frame", [][]int16{word(210*ms, 0.5)}, []time.Duration{220 * ms}},
	} {
		if got := speechEnds(slices.Concat(tt.clip...)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// chunk is d of audio whose samples are v.
func chunk(v int16, d time.Duration) []int16 {
	s := make([]int16, media.FromDuration(d).Samples(RateOut))
	for i := range s {
		s[i] = v
	}
	return s
}

// runs are the stretches of equal samples, by their length.
func runs(line []int16) (values []int16, lengths []time.Duration) {
	for i, v := range line {
		if i == 0 || v != line[i-1] {
			values, lengths = append(values, v), append(lengths, 0)
		}
		lengths[len(lengths)-1]++
	}
	for i, n := range lengths {
		lengths[i] = RateOut.Duration(int(n)).Duration().Round(time.Millisecond)
	}
	return values, lengths
}

// TestPlayout: audio is heard one chunk after another from when it came, and what
// was cut is not.
func TestPlayout(t *testing.T) {
	const ms = time.Millisecond
	start := time.Now()
	p := newPlayout(start, time.Minute)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	if !p.quietAt().IsZero() {
		t.Error("something was played")
	}
	p.announced(1, at(90*ms))
	p.speaking()
	p.add(chunk(1, 200*ms), at(90*ms)) // heard from 100 to 300
	p.add(chunk(2, 100*ms), at(95*ms)) // to 400
	if got := p.quietAt().Sub(start).Round(ms); got != 400*ms {
		t.Errorf("quiet at %v", got)
	}
	if got := p.reply(at(350 * ms)).Round(ms); got != 250*ms {
		t.Errorf("%v of the reply played", got)
	}
	p.announced(1, at(350*ms)) // again: nothing changes
	p.flush(at(360 * ms))
	p.flush(at(380 * ms))
	p.add(chunk(3, 20*ms), at(590*ms)) // 600 to 620
	p.announced(2, at(610*ms))         // cuts the rest off
	p.speaking()
	p.add(chunk(4, 100*ms), at(690*ms))
	if got := p.reply(at(730 * ms)).Round(ms); got != 30*ms {
		t.Errorf("%v of the second reply played", got)
	}
	values, lengths := runs(p.heard(at(time.Second)))
	if want := []int16{0, 1, 2, 0, 3, 0, 4, 0}; !slices.Equal(values, want) {
		t.Errorf("heard %v, want %v", values, want)
	}
	if want := []time.Duration{100 * ms, 200 * ms, 60 * ms, 240 * ms, 10 * ms, 90 * ms, 100 * ms, 200 * ms}; !slices.Equal(lengths, want) {
		t.Errorf("for %v, want %v", lengths, want)
	}
	if values, _ := runs(p.heard(at(250 * ms))); !slices.Equal(values, []int16{0, 1}) {
		t.Errorf("by 250 ms heard %v", values)
	}
}

func TestPlayoutIsBounded(t *testing.T) {
	start := time.Now()
	p := newPlayout(start, 100*time.Millisecond)
	for range 100 {
		p.add(chunk(1, 20*time.Millisecond), start)
	}
	if n := len(p.heard(start.Add(time.Hour))); n != 4410 || len(p.line) != 4410 {
		t.Errorf("%d samples heard, %d kept", n, len(p.line))
	}
	if got := p.quietAt().Sub(start).Round(time.Millisecond); got != 2010*time.Millisecond {
		t.Errorf("quiet at %v", got)
	}
	p.flush(start.Add(50 * time.Millisecond))
	if len(p.line) != 2205 {
		t.Errorf("%d kept after a cut", len(p.line))
	}
}
