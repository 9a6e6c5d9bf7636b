package acceptance

import (
	"testing"

	"parley/store/storetest"
)

// TestDatabaseFailsOver kills the primary under conversations and promotes its standby. They go on, the server is ready again by
// itself, and each is charged once for all of its time.
func TestDatabaseFailsOver(t *testing.T) {
	t.Parallel()
	p := storetest.NewPair(t)
	m := newModel()
	t.Cleanup(m.Close)
	s := serveLean(t, noDataDir(t), append(m.env(), "PARLEY_DATABASE_URL="+p.URL))
	who := newCustomer(t, s, "100")
	var talks []*talker
	for range 3 {
		talks = append(talks, connect(t, s, who.key, who.agent))
	}
	for _, c := range talks {
		c.awaitStatus("listening") // the greeting is over
	}
	stored := func(b *books) (least int64) {
		for i, x := range b.live() {
			if i == 0 || x.Checkpoints < least {
				least = x.Checkpoints
			}
		}
		return least
	}
	before := readBooks(t, p.Standby)
	eventually(t, "what each has used is on the standby", func() bool { return stored(before) > 0 })
	p.Kill()
	eventually(t, "the server says that it has no database", func() bool { status, _ := s.get(t, "http", "/readyz"); return status == 503 })
	p.Promote()
	eventually(t, "the server is ready again", func() bool { status, _ := s.get(t, "http", "/readyz"); return status == 200 })
	b := readBooks(t, p.URL)
	mark := stored(b)
	eventually(t, "checkpoints go on", func() bool { return len(b.live()) == len(talks) && stored(b) > mark })
	for _, c := range talks {
		c.send(`{"type":"text","data":"What time do you open on Monday?"}`)
	}
	for _, c := range talks {
		c.awaitLine("agent")
		c.hangUp()
	}
	for _, x := range b.closed(who.account, len(talks)) {
		if x.Reason != "user_hangup" || x.Postings != 1 {
			t.Errorf("session %s ended with %s %s and was posted %d times", x.ID, x.Reason, x.Detail, x.Postings)
		}
		b.checkAmount(x)
	}
	var found verification
	s.answer(t, &found, "admin", "ledger", "verify")
	if !found.OK {
		t.Errorf("the books: %+v", found)
	}
	s.stop(t)
}
