package trunk

import (
	"testing"
	"testing/synctest"
	"time"
)

// Places are given as fast as the trunk may begin calls, and no faster, whoever asks;
// those who cannot wait go first.
func TestPlacesKeepTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := NewSet([]Config{{Name: "a", Targets: []Target{{Host: "127.0.0.1"}}, CPS: 4, Numbers: []string{"+1"}}}, Options{})
		var taken []time.Duration
		begin := time.Now()
		for len(taken) < 20 {
			p, wait := set.Reserve(Caller{Number: "+1"})
			if p != nil {
				taken = append(taken, time.Since(begin))
				continue
			}
			if wait <= 0 {
				t.Fatal("there is no place, and nothing to wait for")
			}
			time.Sleep(wait)
		}
		for i, at := range taken {
			if i >= 4 && at-taken[i-4] < time.Second {
				t.Errorf("five calls within a second: %v", taken)
			}
		}
		if last := taken[19]; last > 5*time.Second {
			t.Errorf("the last of 20 calls begins after %s, 5 s would do", last)
		}
		// One who waits in Reserve has the next turn.
		got := make(chan error)
		go func() { got <- set.all()[0].Reserve(t.Context()) }()
		synctest.Wait()
		for range 3 {
			if p, _ := set.Reserve(Caller{Number: "+1"}); p != nil {
				t.Error("a place was given that somebody waits for")
			}
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// Channels are those of the trunk; what is given back is there again.
func TestPlacesAreChannels(t *testing.T) {
	set := NewSet([]Config{{Name: "a", Targets: []Target{{Host: "127.0.0.1"}}, Channels: 2}}, Options{Now: time.Now})
	l := set.all()[0]
	one, _ := set.Reserve(Caller{Number: "+1"})
	two, _ := set.Reserve(Caller{Number: "+1"})
	none, wait := set.Reserve(Caller{Number: "+1"})
	if one == nil || two == nil || none != nil || wait <= 0 {
		t.Fatalf("of two channels: %v %v %v, wait %s", one, two, none, wait)
	}
	one.Free()
	one.Free()
	none.Free()
	if two.Use(newTrunk(Config{Name: "b"}, set)) || !two.Use(l) || two.Use(l) {
		t.Error("a place is used once, on its own trunk")
	}
	two.Free()
	if n := l.Calls.Load(); n != 1 {
		t.Errorf("%d channels are taken, want 1", n)
	}
	set = NewSet(nil, Options{})
	if p, wait := set.Reserve(Caller{Number: "+1"}); p != nil || wait != 0 {
		t.Errorf("without a trunk: %v %s", p, wait)
	}
}
