package ledger_test

import (
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store/history"
	"parley/store/ledger/ledgertest"
	"parley/store/storetest"
)

// TestPromotedStandbyLosesNothing kills the primary under a node with sessions and promotes its standby. What the node was told
// is stored is on the standby before that, the node goes on there, and each session is charged once.
func TestPromotedStandbyLosesNothing(t *testing.T) {
	const sessions = 4 * sessionsEach
	p := storetest.NewPair(t)
	f := prepare(t, storetest.Open(t, p.URL))
	for range sessions / sessionsEach {
		f.NewAccount(1000 * usd)
	}
	n := startNode(f, p.URL)
	n.until(func() bool { return len(n.sessions) == sessions && n.acks >= 3 })
	p.Kill()
	n.until(func() bool { return n.away > 0 })
	acknowledged := n.acked
	standby := history.New(storetest.Open(t, p.Standby))
	for i, line := range n.sessions {
		account, id, _ := strings.Cut(line, " ")
		least, cost := price(t, killedTerms(i), secondsOf(int64(acknowledged))), billing.Money(0)
		// A commit waits until its log is there, which is applied a moment later.
		for end := time.Now().Add(20 * time.Second); cost < least && time.Now().Before(end); {
			c, err := standby.Call(t.Context(), account, id)
			f.OK(err)
			cost = c.Cost
		}
		if cost < least {
			t.Fatalf("%s costs %s on the standby, acknowledged were %s", id, cost, least)
		}
	}
	p.Promote()
	resumed := n.acks + 2 // one may have been on its way
	n.until(func() bool { return n.acks >= resumed })
	n.kill()
	f.Close() // its connections are to the server that was killed
	f.Books = ledgertest.BooksOf(storetest.Open(t, p.URL))
	lost := n.checkLoss(sessions)
	f.Verified()
	t.Logf("%d s were acknowledged at the promotion and %d s at the end; a session lost %s", acknowledged, n.acked, lost)
}
