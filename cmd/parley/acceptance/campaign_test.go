package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"parley/sip/simulated"

	"parley/store/ledger"
)

// A batch is dialled over real SIP and RTP while the server is killed again and again.

// TestCampaign is the short form of TestSoakCampaign.
func TestCampaign(t *testing.T) {
	t.Parallel()
	campaign(t, 40, 20, 1)
}

func TestSoakCampaign(t *testing.T) {
	soak(t)
	campaign(t, 500, 50, 5)
}

// network is the network at the other end of the trunk, which outlives the server.
type network struct {
	*simulated.Carrier
	mu     sync.Mutex
	rung   map[string]int // calls that came in, by number
	talked map[string]int // those that were answered and are over
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	x := &network{rung: map[string]int{}, talked: map[string]int{}}
	var err error
	if x.Carrier, err = simulated.NewCarrier(simulated.CarrierConfig{Listen: netip.MustParseAddrPort("127.0.0.1:0")}); err != nil {
		t.Fatal(err)
	}
	note := func(into map[string]int, called string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		into[called]++
	}
	x.Count(func(called string) { note(x.rung, called) })
	x.Record(func(h simulated.Heard) { note(x.talked, h.Called) })
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return x
}

// calls is how many calls have come in.
func (x *network) calls() (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, k := range x.rung {
		n += k
	}
	return n
}

// trunk is the configuration of a server whose only line goes to the network.
func (x *network) trunk(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.yaml")
	text := fmt.Sprintf("trunks:\n  - name: lab\n    targets:\n      - {host: 127.0.0.1, port: %d, transport: udp}\n    allow: [127.0.0.0/8]\n    cps: 10\n    channels: 100\n", x.Addr().Port())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// queued is a batch as the API shows it.
type queued struct {
	ID, State string
	Counts    struct{ Pending, Dialing, Sent, Failed int }
	Rows      []struct {
		To, Status string
		CallID     *string    `json:"call_id"`
		AnsweredAt *time.Time `json:"answered_at"`
		EndDetail  *string    `json:"end_detail"`
		Cost       float64
		Summary    *string
		Error      *struct{ Code string }
	}
}

func campaign(t *testing.T, rows, lines, kills int) {
	m := newModel()
	t.Cleanup(m.Close)
	x := newNetwork(t)
	// Nobody says a word here, so nobody has to be understood.
	env := append(m.env(), "PARLEY_ASR=openai", "PARLEY_ASR_URL="+m.URL+"/v1", "PARLEY_CARRIER=sip", "PARLEY_PAYMENTS=none", "PARLEY_CONFIG="+x.trunk(t))
	dir := newDataDir(t)
	s := serveLean(t, dir, env)
	c := newDialer(t, s, "1000")
	admin(t, dir, &struct{}{}, "account", "set", c.who.account, "--concurrency", fmt.Sprint(lines+1))
	admin(t, dir, &struct{}{}, "agent", "update", "--account", c.who.account, c.who.agent, "--first-message", "Hello.")

	wish := map[string]any{"from": c.who.number, "agent_id": c.who.agent, "consent_confirmed": true, "name": t.Name()}
	var list []map[string]any
	for i := range rows { // each rings for a second, and hangs up five seconds after the answer
		list = append(list, map[string]any{"to": fmt.Sprintf("+1202%d0106", 200+i)})
	}
	wish["rows"] = list
	body, err := json.Marshal(wish)
	if err != nil {
		t.Fatal(err)
	}
	var b queued
	if code := c.ask("POST", "/callcenter/bulk-dial", string(body), &b); code != 200 || b.Counts.Pending+b.Counts.Dialing != rows {
		t.Fatalf("the batch is answered with %d: %+v", code, b.Counts)
	}
	for k := range kills {
		enough := rows * (2*k + 1) / (2*kills + 2)
		progress(t, x, fmt.Sprintf("%d calls", enough), func() bool { return x.calls() >= enough })
		time.Sleep(time.Duration(k*700) * time.Millisecond) // any moment will do; each time another
		s.kill()
		s = serveLean(t, dir, env)
		c.url = "http://" + s.addrs["http"]
	}
	progress(t, x, "the end of the batch", func() bool {
		c.ask("GET", "/callcenter/bulk-dial/"+b.ID, "", &b)
		return b.State == "done"
	})
	checkRows(t, s, c, x, &b, rows-kills*lines)
	s.stop(t)
}

// progress waits as long as calls come in.
func progress(t *testing.T, x *network, what string, done func() bool) {
	t.Helper()
	last, end := -1, time.Now()
	for !done() {
		if n := x.calls(); n != last {
			last, end = n, time.Now().Add(2*patience)
		}
		if time.Now().After(end) {
			t.Fatalf("gave up waiting for %s after %d calls", what, last)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// checkRows holds the batch to the network and to the books; so many rows at least were
// not touched by any crash.
func checkRows(t *testing.T, s *server, c dialer, x *network, b *queued, unharmed int) {
	books := openBooks(t, s)
	bills := map[string]bill{}
	for _, one := range books.closed(c.who.account, len(b.Rows)) {
		books.checkAmount(one)
		if most := 2; one.Postings > most || (one.Postings > 0) != (one.Amount > 0) { // the call, and its summary
			t.Errorf("session %s was posted %d times", one.ID, one.Postings)
		}
		bills[one.ID] = one
	}
	eventually(t, "somebody's call is summarized", func() bool {
		c.ask("GET", "/callcenter/bulk-dial/"+b.ID, "", b)
		for _, r := range b.Rows {
			if r.Summary != nil {
				return true
			}
		}
		return false
	})
	// Who was talked to when the server died may still be saying goodbye to nobody.
	lost := func(call *string) bool { return call != nil && bills[*call].Detail == "node_lost" }
	eventually(t, "everybody else who was talked to has hung up", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, r := range b.Rows {
			if r.AnsweredAt != nil && x.talked[r.To] == 0 && !lost(r.CallID) {
				return false
			}
		}
		return true
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	sent, answered := 0, 0
	for i, r := range b.Rows {
		if r.CallID == nil {
			t.Errorf("row %d was lost: %+v", i, r)
			continue
		}
		cut := lost(r.CallID)
		bill, known := bills[*r.CallID]
		delete(bills, *r.CallID)
		if !known || (bill.Amount > 0) != (r.AnsweredAt != nil) || (r.Cost > 0) != (r.AnsweredAt != nil) {
			t.Errorf("row %d (%+v) and its bill %+v do not agree", i, r, bill)
		}
		if x.rung[r.To] > 1 {
			t.Errorf("row %d was dialled %d times", i, x.rung[r.To])
		}
		if r.AnsweredAt != nil {
			answered++
			if n := x.talked[r.To]; n > 1 || n == 0 && !cut {
				t.Errorf("row %d was charged, and answered %d times", i, n)
			}
		}
		switch {
		case r.Status == "sent" && x.rung[r.To] == 1:
			sent++
		case r.Status != "failed" || r.Error == nil || r.Error.Code != "callcenter.not_placed" || !cut:
			t.Errorf("row %d is %+v, its session ended with %s %s, it rang %d times", i, r, bill.Reason, bill.Detail, x.rung[r.To])
		}
	}
	if len(bills) != 0 {
		t.Errorf("calls without a row: %+v", bills)
	}
	if len(x.rung) > len(b.Rows) || sent < unharmed || answered < unharmed {
		t.Errorf("%d numbers rang, %d rows are sent, %d were answered; at least %d of %d must be", len(x.rung), sent, answered, unharmed, len(b.Rows))
	}
	if evidence, err := ledger.New(books.db).Consents(books.ctx, c.who.account, 0, 1000); err != nil || len(evidence) != len(b.Rows) {
		t.Errorf("there is evidence of %d consents, %v", len(evidence), err)
	}
	checkBooks(t, s.dir)
	t.Logf("%d rows: %d sent, %d answered, %d not placed", len(b.Rows), sent, answered, len(b.Rows)-sent)
}
