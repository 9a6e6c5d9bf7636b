package outbound

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/metrics"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/statement"
	"parley/store/ledger/verify"
	"parley/store/numbers"
	"parley/store/people"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// number is the desk's.
const number = "+34911234567"

// desk is what a node has to place calls, but for a telephone, and an account that calls.
type desk struct {
	*testing.T
	db        *store.DB
	life      store.Node
	manager   *session.Manager
	counts    *api.Counts
	transfers *Transfers
	batches   *Batches

	account, key, agent string
}

// books are the ledger and the history of calls.
type books struct {
	*store.DB
	*ledger.Ledger
	*history.Store
}

// noLine is a telephone without trunks.
type noLine struct{ Phone }

func (noLine) Reserve(trunk.Caller) (*trunk.Reservation, time.Duration) { return nil, 0 }

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t, db: storetest.New(t), counts: new(api.Counts)}
	log := slog.New(slog.DiscardHandler)
	var err error
	d.ok(d.db.PutRateCard(t.Context(), billing.DefaultRateCard()))
	d.life, _, err = ledger.New(d.db).RegisterNode(t.Context(), "desk", "127.0.0.1:1")
	d.ok(err)
	d.manager = session.NewManager(books{d.db, ledger.New(d.db), history.New(d.db)}, d.life, d.db.RateCard, 0, log)
	maker := &conversation.Maker{Store: d.db, Ledger: ledger.New(d.db), History: history.New(d.db), Metrics: metrics.New(prometheus.NewRegistry(), nil, log), Card: d.db.RateCard, Log: log}
	to := Destinations{Card: d.db.RateCard, Fictional: true}
	d.transfers = &Transfers{Store: d.db, Calls: d.manager, Phone: noLine{}, Maker: maker, Destinations: to, Counts: d.counts, Attempts: NewAttempts(), Log: log}
	dialler := &Dialler{Store: d.db, Numbers: numbers.New(d.db), History: history.New(d.db), Calls: d.manager, Phone: noLine{}, Maker: maker, Transfers: d.transfers, Destinations: to, Log: log}
	d.batches = NewBatches(campaign.New(d.db), dialler, d.life, d.counts)

	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.manager.Run(ctx) }()
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		if err := d.manager.Drain(over); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	a, err := ledger.New(d.db).CreateAccount(t.Context(), "A", d.db.RateCard())
	d.ok(err)
	_, _, err = ledger.New(d.db).Credit(t.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi:1", Source: "sim"})
	d.ok(err)
	k, _, err := people.New(d.db).MakeKey(t.Context(), people.NewKey{Account: a.ID, Name: "first", Role: people.RoleMember})
	d.ok(err)
	speaker, err := d.db.CreateAgent(t.Context(), a.ID, store.Agent{Name: "Ana", Voice: "F1", Language: "en"})
	d.ok(err)
	_, err = numbers.New(d.db).Import(t.Context(), a.ID, number, speaker.ID)
	d.ok(err)
	d.account, d.key, d.agent = a.ID, k.ID, speaker.ID
	return d
}

func (d *desk) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// verified holds the ledger to be in order.
func (d *desk) verified() {
	d.Helper()
	r, err := verify.Whole(d.Context(), d.db)
	d.ok(err)
	for _, v := range r.Violations {
		d.Error(v)
	}
}

// charged names the components of a call's receipt.
func (d *desk) charged(id string) string {
	d.Helper()
	r, err := statement.ReadReceipt(d.Context(), d.db, d.account, id)
	d.ok(err)
	var names []string
	for _, l := range r.Lines {
		if l.Quantity > 0 {
			names = append(names, l.Component)
		}
	}
	return strings.Join(names, " ")
}

// scraped are the values of a collector, by their first label.
func scraped(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(c)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			counted[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	return counted
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestTransferable: a destination is weighed as that of a dial, also for a transfer that
// the far end does, and what is refused is counted.
func TestTransferable(t *testing.T) {
	d := newDesk(t)
	const listed = "+12025550107"
	session, err := d.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.account, Agent: d.agent, From: "+34600123456", To: number,
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	d.ok(err)
	defer session.End(media.Ended{Reason: media.Failed, Detail: "answer"})
	_, _, err = d.db.AddDoNotCall(t.Context(), d.account, store.DoNotCall{Number: listed, Source: store.ListedByAPI})
	d.ok(err)
	c := consultation{transfers: d.transfers, session: session, agent: d.agent, from: Line{Caller: trunk.Caller{Number: number}}}
	for number, want := range map[string]string{"+1 202 555 0106": "+12025550106", "+34911234567": "+34911234567"} {
		if got, err := c.check(t.Context(), number); got != want || err != nil {
			t.Errorf("%s: %q, %v", number, got, err)
		}
	}
	const notSold, notCalled, emergency = "callcenter.destination_not_allowed", "callcenter.do_not_call", "callcenter.emergency_number"
	for number, want := range map[string][2]string{"+351912345678": {"Mobiles in Portugal", notSold}, "+34806123456": {"special number", notSold},
		"911234567": {"international format", notSold}, "112": {"dial the number from a phone", emergency}, "+44 (0)999": {"dial the number from a phone", emergency},
		"+21671234567": {"Tunisia is not open", notSold}, "+1 (202) 555-0107": {"do-not-call list", notCalled},
		"+881612345678": {"network is not open", notSold}, "+19005551234": {"special number", notSold}} {
		before := scraped(t, metrics.Refusals{Counts: d.counts})[want[1]]
		if got, err := c.check(t.Context(), number); err == nil || !strings.Contains(err.Error(), want[0]) {
			t.Errorf("%s: %q, %v", number, got, err)
		}
		if n := scraped(t, metrics.Refusals{Counts: d.counts})[want[1]] - before; n != 1 {
			t.Errorf("%s was counted %v times", number, n)
		}
	}
	// A second leg is refused too, should it ever come to that.
	for number, want := range map[string]error{"112": errNotNow, listed: errListed} {
		if _, _, err := c.call(t.Context(), number); !errors.Is(err, want) {
			t.Errorf("%s was called: %v", number, err)
		}
	}
	// Without the database nobody is asked to call somebody who may be on the list.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := c.check(ctx, "+34911234567"); !errors.Is(err, errNotNow) {
		t.Errorf("unseen: %q, %v", got, err)
	}
}

// leading is a telephone with the trunk of one account.
type leading struct {
	noLine
	account string
	trunk   trunk.Config
}

func (p leading) TrunkTo(account string, server trunk.Target) (trunk.Config, bool) {
	return p.trunk, account == p.account && p.trunk.Leads(server)
}

// TestAddressesToTransferTo: an address of the agent's list is called on a trunk of the account that leads there, at the price of such a
// line. Nobody else's trunk does, and no caller has an address called that is not on the list.
func TestAddressesToTransferTo(t *testing.T) {
	d := newDesk(t)
	const ward, belgian, elsewhere = "sip:200@pbx.example.com", "sip:100@pbx.example.com", "sip:200@elsewhere.example.com"
	d.transfers.Phone = leading{account: d.account, trunk: trunk.Config{Name: "trk_1", Targets: []trunk.Target{{Host: "pbx.example.com"}}, Plan: trunk.DialPlan{Country: "BE"}}}
	session, err := d.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.account, Agent: d.agent, From: "+34600123456", To: number,
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	d.ok(err)
	defer session.End(media.Ended{Reason: media.Failed, Detail: "answer"})
	c := consultation{transfers: d.transfers, session: session, agent: d.agent, from: Line{Caller: trunk.Caller{Number: number, Trunk: "trk_2"}}, listed: []string{ward, belgian, elsewhere}}
	for address, want := range map[string]string{belgian: "dial the number from a phone", elsewhere: "no trunk of the account", "sip:201@pbx.example.com": "international format"} {
		if got, err := c.check(t.Context(), address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	if got, err := c.check(t.Context(), ward); got != ward || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	to, err := c.callee(ward, d.transfers.Destinations.Classify)
	d.ok(err)
	if to.line.Trunk != "trk_1" || to.line.Number != number || !to.line.Own || !to.terms.OwnTrunk || to.terms.Kind != billing.Outbound {
		t.Errorf("%+v", to)
	}
	other := d.transfers.Phone.(leading)
	other.account = "acc_other"
	d.transfers.Phone = other
	if _, _, err := c.call(t.Context(), ward); !errors.Is(err, errNotNow) {
		t.Errorf("called on another account's trunk: %v", err)
	}
}

// TestTransfersAreBounded: a caller who has the agent try number after number comes to an
// end, at numbers outside the agent's list sooner, and so do all callers of an account.
func TestTransfersAreBounded(t *testing.T) {
	d := newDesk(t)
	const sales = "+34911234567"
	d.transfers.Attempts = api.NewBuckets(time.Hour, transfersEach) // none comes back while we look
	call := func(account string) *bridge.Transfer {
		session, err := d.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: account, From: "+34600123456", To: number,
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
		d.ok(err)
		t.Cleanup(func() { session.End(media.Ended{Reason: media.Failed, Detail: "answer"}) })
		cfg, anywhere := new(pipeline.Config), true
		p := conversation.Plan{Settings: agent.Settings{TransferAny: &anywhere, TransferTo: []agent.Destination{{Number: sales}}}}
		d.transfers.Functions(session, Line{Caller: trunk.Caller{Number: number}}, "")(cfg, &p)
		return cfg.Transfer
	}
	try := func(x *bridge.Transfer, number string, want error) {
		t.Helper()
		if _, err := x.Check(t.Context(), number); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", number, err, want)
		}
	}
	one := call(d.account)
	for _, number := range []string{"+34911234568", "+34911234569"} {
		try(one, number, nil)
	}
	try(one, "+34911234570", errTries)
	for range maxTries - maxUnlisted {
		try(one, sales, nil)
	}
	try(one, sales, errTries)
	two := call(d.account)
	for range maxTries {
		try(two, sales, nil)
	}
	try(call(d.account), sales, errOften) // ten in a moment are all there are
	other, err := ledger.New(d.db).CreateAccount(t.Context(), "another", d.db.RateCard())
	d.ok(err)
	try(call(other.ID), sales, nil)
}

// TestReferralsAreCalls: a transfer that the far end does passes what a dial passes, before
// it is asked, and costs a line minute once it was answered.
func TestReferralsAreCalls(t *testing.T) {
	d := newDesk(t)
	admit := func(account string) consultation {
		session, err := d.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: account, From: "+34600123456", To: number,
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
		d.ok(err)
		t.Cleanup(func() { session.End(media.Ended{Reason: media.Failed, Detail: "answer"}) })
		return consultation{transfers: d.transfers, session: session, from: Line{Caller: trunk.Caller{Number: number}}}
	}
	asked := 0
	ask := func(context.Context, string) error { asked++; return nil }
	poor, err := ledger.New(d.db).CreateAccount(t.Context(), "no top-up", d.db.RateCard())
	d.ok(err)
	if err := admit(poor.ID).refer(t.Context(), "+12025550106", ask); !errors.Is(err, errMoney) || asked != 0 {
		t.Errorf("without a top-up: %v, asked %d times", err, asked)
	}
	c, yes := admit(d.account), true
	if err := c.refer(t.Context(), "+12025550106", func(context.Context, string) error { return errors.New("declined") }); err == nil {
		t.Error("a transfer that failed did not")
	}
	if err := c.refer(t.Context(), "+12025550106", ask); err != nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	var costs []string
	eventually(t, "both have ended", func() bool {
		list, err := history.New(d.db).Calls(t.Context(), d.account, history.CallPage{})
		d.ok(err)
		costs = nil
		for _, call := range list {
			if call.To == "+12025550106" && call.EndReason != nil {
				costs = append(costs, *call.EndReason+" "+d.charged(call.ID))
			}
		}
		return len(costs) == 2
	})
	if want := []string{"completed " + billing.LineTime.String(), "no_answer "}; !slices.Equal(costs, want) {
		t.Errorf("%q, want %q", costs, want)
	}
	d.ok(ledger.New(d.db).ChangeAccount(t.Context(), d.account, ledger.AccountChange{Suspended: &yes}))
	if err := c.refer(t.Context(), "+12025550106", ask); err == nil || asked != 1 {
		t.Errorf("suspended: %v, asked %d times", err, asked)
	}
}

// TestWordsForTransfers: the model learns in words what came of one.
func TestWordsForTransfers(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&sip.NotTransferred{Code: 486, Accepted: true}, "busy"},
		{&sip.NotTransferred{Code: 480, Accepted: true}, "nobody answered"},
		{&sip.NotTransferred{Code: 603, Accepted: true}, "declined"},
		{&sip.NotTransferred{Code: 404, Accepted: true}, "no such number"},
		{&sip.NotTransferred{Code: 503, Accepted: true}, "nobody could be reached"},
		{&sip.NotTransferred{Err: sip.ErrNoOutcome, Accepted: true}, "result of the transfer is not known"},
		{&sip.NotTransferred{Err: sip.ErrOver}, "the call is over"},
		{&sip.NotTransferred{Code: 405}, "refused"},
	} {
		got := describeError(c.err)
		if got == nil || !strings.Contains(got.Error(), c.want) || strings.Contains(got.Error(), "sip") {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
		if refused := errors.Is(got, bridge.ErrNoReferral); refused != (c.want == "refused") {
			t.Errorf("%v: somebody else does it: %t", c.err, refused)
		}
	}
	if describeError(nil) != nil {
		t.Error("a transfer that came about has an error")
	}
}
