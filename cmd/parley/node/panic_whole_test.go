package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/media/isolate/isolatetest"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
)

// whole is a node to which somebody calls who is transferred, beside a call of another account.
type whole struct {
	*desk
	far            *farEnd
	number, callee string
	beside         string // account of the call beside
	calls          int    // of the account, so far
	rung           int    // callees, so far
}

func newWhole(t *testing.T) *whole {
	t.Helper()
	w := &whole{far: newFarEnd(t, "Sales please."), callee: "+34911234507"}
	w.desk = deskWith(t, storetest.URL(t), func(cfg *config.Config) {
		cfg.Carrier, cfg.SIPAllow = "sip", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		cfg.Trunks = []trunk.Config{{Name: "far", Flags: trunk.NoProbe, Targets: []trunk.Target{{Host: w.far.carrier.Addr().String(), Port: w.far.carrier.Port()}}}}
	})
	w.node.transfers.Attempts = api.NewBuckets(time.Nanosecond, 1)
	w.number, _ = w.calling(`{"speculative_llm":false,"idle_seconds":0,"ring_ms":0,"transfer_to":[{"number":"`+w.callee+`","name":"sales"}]}`,
		inference.ToolCall{Name: "transfer_call", Arguments: `{"to":"sales"}`})
	w.neighbour()
	return w
}

// neighbour begins the call beside, which is greeted and goes on.
func (w *whole) neighbour() {
	w.Helper()
	db := w.node.db
	a, err := ledger.New(db).CreateAccount(w.Context(), "B", w.node.db.RateCard())
	w.ok(err)
	_, _, err = ledger.New(db).Credit(w.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi:2", Source: "sim"})
	w.ok(err)
	agent, err := db.CreateAgent(w.Context(), a.ID, store.Agent{Name: "Bea", Voice: "F1", Language: "en", FirstMessage: "Good morning.", Settings: json.RawMessage(`{"idle_seconds":0}`)})
	w.ok(err)
	const number = "+34911234569"
	_, err = numbers.New(db).Import(w.Context(), a.ID, number, agent.ID)
	w.ok(err)
	w.beside = a.ID
	reached := isolatetest.Watch(w.T)
	w.far.do("call beside sip:%s@%s silent", number, w.node.phone.Addr())
	eventually(w.T, "the call beside is conducted", func() bool {
		c := w.history(a.ID)
		return len(c) == 1 && c[0].StartedAt != nil && reached()["sip/media"]
	})
}

// history are an account's calls, the newest first.
func (w *whole) history(account string) []history.Call {
	w.Helper()
	list, err := history.New(w.node.db).Calls(w.Context(), account, history.CallPage{Page: store.Page{Limit: 100}})
	w.ok(err)
	return list
}

// round is one call that comes in and is transferred; the caller hangs up when they talk with
// the callee, unless the call ends before. ringing is called while the first callee is called.
// It returns how both calls ended, and holds what is left to what it was.
func (w *whole) round(t *testing.T, ringing func()) (ends []string) {
	t.Helper()
	answers := func() {
		for ; w.rung < w.far.count("rung "+w.callee); w.rung++ {
			ringing()
			ringing = func() {}
			w.far.do("answer any")
		}
	}
	before := w.account().Pots
	over, left := w.far.count("over main"), w.far.count("left "+w.callee)
	w.far.do("call main sip:%s@%s speak", w.number, w.node.phone.Addr())
	eventually(t, "the caller is connected, or the call ends", func() bool {
		answers()
		if w.far.count("over main") > over {
			return true
		}
		list := w.history(w.who.Account)
		list = list[:len(list)-w.calls]
		up := slices.IndexFunc(list, func(c history.Call) bool {
			return c.Direction == billing.Outbound && c.StartedAt != nil && c.EndReason == nil
		}) >= 0
		return up && !slices.ContainsFunc(list, func(c history.Call) bool { return c.Direction == billing.Inbound && c.EndReason != nil })
	})
	w.far.do("hangup main")
	eventually(t, "the caller's telephone is free", func() bool { return w.far.count("over main") > over })
	eventually(t, "all slots but that of the call beside are free", func() bool {
		answers()
		return w.node.manager.Live() == 1 && w.account().Live == 0 && w.account().Pots.Held == 0 && w.node.phone.Stats().Calls == 1
	})
	list := w.history(w.who.Account)
	list = list[:len(list)-w.calls]
	w.calls += len(list)
	cost, answered := billing.Money(0), 0
	for _, c := range slices.Backward(list) {
		if c.EndReason == nil {
			t.Fatalf("%+v has not ended", c)
		}
		ends = append(ends, fmt.Sprintf("%s %s/%s", c.Direction, *c.EndReason, *c.EndDetail))
		cost += c.Cost
		if c.Direction == billing.Outbound && c.StartedAt != nil {
			answered++
		}
	}
	eventually(t, "callees are hung up on", func() bool { return w.far.count("left "+w.callee) >= left+answered })
	after := w.account().Pots
	if paid := before.Balance() - after.Balance(); paid != cost {
		t.Errorf("%s were paid for calls that cost %s", paid, cost)
	}
	if c := w.history(w.beside); len(c) != 1 || c[0].EndReason != nil {
		t.Fatalf("the call beside: %+v", c)
	}
	return ends
}

// TestPanicEndsWholeCalls is the short form of TestSoakPanicEndsWholeCalls: before the transfer
// and after it, one place whose fault ends a call, and one whose fault ends none.
func TestPanicEndsWholeCalls(t *testing.T) {
	tried := map[string]bool{}
	panicEndsWholeCalls(t, func(when string, site isolatetest.Site) bool {
		kind := fmt.Sprint(when, site.Ends)
		again := tried[kind]
		tried[kind] = true
		return !again
	})
}

// TestSoakPanicEndsWholeCalls over real SIP, with far ends in another process: wherever a call
// that comes in, or the one to whom its caller is transferred, has a fault, it ends as
// failed/internal, nobody is left on a line, nothing stays taken or held, and what was used is
// charged once; a call beside goes on. The places are those that such a call reaches; those
// that both of its legs do fail for either. Each takes a call in real time, and the package of
// each place shows the same of it alone.
func TestSoakPanicEndsWholeCalls(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	panicEndsWholeCalls(t, func(string, isolatetest.Site) bool { return true })
}

// panicEndsWholeCalls has a round for each place that is wanted when it is reached.
func panicEndsWholeCalls(t *testing.T, wanted func(when string, site isolatetest.Site) bool) {
	w := newWhole(t)
	w.round(t, func() {}) // what is made once, as the audio of fixed lines
	early, late := isolatetest.Watch(t), func() map[string]bool { return nil }
	var first map[string]bool
	usual := w.round(t, func() {
		first = early()
		late = isolatetest.Watch(t)
	})
	if len(usual) != 2 || !hungUp(usual) || len(first) == 0 {
		t.Fatalf("without a fault: %q", usual)
	}
	second := late()
	for _, site := range isolatetest.Sites(t, "../../..") {
		if first[site.Name] && wanted("before", site) {
			t.Run("before "+path.Base(site.Name), func(t *testing.T) {
				isolatetest.Inject(t, site.Name)
				w.prove(t, site, func() {})
			})
		}
		if second[site.Name] && (site.Ends || !first[site.Name]) && wanted("transferred", site) {
			t.Run("transferred "+path.Base(site.Name), func(t *testing.T) {
				w.prove(t, site, func() { isolatetest.Inject(t, site.Name) })
			})
		}
	}
	w.far.do("hangup beside")
	eventually(t, "the call beside ends", func() bool {
		c := w.history(w.beside)
		return c[0].EndReason != nil && *c[0].EndReason == "user_hangup" && w.node.manager.Live() == 0
	})
	w.verified()
	w.node.maker.Wait()
	for _, c := range w.history(w.who.Account) {
		wire, err := history.New(w.node.db).Wire(t.Context(), w.who.Account, c.ID)
		if c.Direction != billing.Outbound || errors.Is(err, store.ErrNotFound) { // where storing it was the fault
			continue
		}
		w.ok(err)
		if slices.ContainsFunc(wire.SIP, func(m history.SIPMessage) bool { return !m.Sent && strings.HasPrefix(m.Text, "BYE ") }) {
			t.Errorf("the callee of %s had to hang up", c.ID)
		}
	}
}

// prove has a round end as it must with a fault.
func (w *whole) prove(t *testing.T, site isolatetest.Site, ringing func()) {
	t.Helper()
	ends := w.round(t, ringing)
	failed := slices.ContainsFunc(ends, func(e string) bool { return strings.HasSuffix(e, " failed/internal") })
	switch {
	case len(ends) == 0: // the carrier was refused, before there was a call
	case site.Ends && !failed:
		t.Errorf("ended %q, want one failed/internal", ends)
	case !site.Ends && !hungUp(ends):
		t.Errorf("ended %q, want each hung up", ends)
	}
}

// hungUp says whether each call ended because the caller hung up. The caller hangs up when the callee has answered, just before
// or just after both are connected.
func hungUp(ends []string) bool {
	return !slices.ContainsFunc(ends, func(e string) bool {
		return !strings.HasSuffix(e, " user_hangup/") && !strings.HasSuffix(e, " completed/transferred")
	})
}
