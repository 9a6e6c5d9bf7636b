package acceptance

import (
	"sync"
	"testing"
	"time"

	"parley/media/rtp"
)

// TestSoakTelephoneLoad: many calls begin, one after another; each is answered, hears
// the greeting, and goes on until its caller hangs up. TestCampaign has twenty calls at a time.
func TestSoakTelephoneLoad(t *testing.T) {
	soak(t)
	const calls, rate = 200, 50 // rate: a second
	m := newModel()
	t.Cleanup(m.Close)
	// Nobody says a word here, so nobody has to be understood.
	s := serveLean(t, newDataDir(t), append(m.env(), "PARLEY_ASR=openai", "PARLEY_ASR_URL="+m.URL+"/v1"))
	who := newCustomer(t, s, "100")
	admin(t, s.dir, &struct{}{}, "account", "set", who.account, "--concurrency", "250")
	phone := newPhone(t)
	called := make([]*caller, calls)
	var all sync.WaitGroup
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	for i := range calls {
		<-tick.C
		all.Go(func() {
			c, err := dial(t, s, phone, who.number)
			if err != nil {
				t.Errorf("call %d: %v", i, err)
				return
			}
			called[i] = c
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, c := range called {
		c.awaitVoice("the greeting", 0, time.Second)
	}
	if n := s.metric(t, "parley_calls"); n != float64(calls) {
		t.Errorf("%g calls at once, want %d", n, calls)
	}
	var sum rtp.Stats
	for _, c := range called {
		c.hangup(errBye)
	}
	for i, c := range called {
		<-c.over
		if c.fault != nil {
			t.Errorf("call %d ended with %v", i, c.fault)
		}
		st := c.leg.Stats()
		sum.Received, sum.Lost, sum.Late = sum.Received+st.Received, sum.Lost+st.Lost, sum.Late+st.Late
	}
	b := openBooks(t, s)
	var lost, late, received uint64
	for _, x := range b.closed(who.account, calls) {
		if x.Reason != "user_hangup" {
			t.Errorf("%s ended for %s", x.ID, x.Reason)
		}
		q := b.quality(s, who, x.ID)
		received, lost, late = received+q.Received, lost+q.Lost, late+q.Late
	}
	// On loopback nothing is lost; a machine that is too busy may be late.
	if lost > late || sum.Lost > sum.Late {
		t.Errorf("packets lost on the way to the server %d, to the callers %d", lost-late, sum.Lost-sum.Late)
	}
	t.Logf("%d calls at %d a second: the server heard %d packets (%d late), the callers %d (%d late); in %.0f %% of the calls a packet in a thousand left more than 10 ms late",
		calls, rate, received, late, sum.Received, sum.Late, s.sentLate(t))
	checkBooks(t, s.dir)
}

// sentLate is the part of the calls, in percent, whose latest packets in a thousand
// left more than 10 ms late.
func (s *server) sentLate(t *testing.T) float64 {
	t.Helper()
	all := s.metric(t, "parley_rtp_lateness_seconds_count")
	return 100 * (1 - s.metric(t, `parley_rtp_lateness_seconds_bucket{le="0.01"}`)/max(all, 1))
}
