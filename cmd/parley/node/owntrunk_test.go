package node

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"parley/api/callcenter"
	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/media"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/rtpport"
	"parley/sip/simulated"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/numbers"
	"parley/store/storetest"
	"parley/store/trunks"
)

// quiet conducts a leg whose end of the line says nothing, until it ends.
func quiet(ctx context.Context, leg *sip.Leg) error { return listening(ctx, leg, func() {}) }

// listening is quiet for one that hears frames.
func listening(ctx context.Context, leg *sip.Leg, heard func()) error {
	ended := make(chan error, 1)
	go func() { ended <- leg.Run(ctx) }()
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-leg.Events():
		case now := <-wake.C:
			for _, ok := leg.Read(now); ok; _, ok = leg.Read(now) {
				heard()
			}
			for n := leg.Due(now); n > 0; n-- {
				leg.Write(media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k})
			}
			wake.Reset(time.Until(leg.Next()))
		}
	}
}

// pbx is an exchange of a customer: it takes all calls, and hangs up when it has heard so many frames.
func (d *desk) pbx(at string, frames int) (ua *sip.UserAgent, taken <-chan *sip.Incoming) {
	d.Helper()
	addr, calls := netip.MustParseAddr(at), make(chan *sip.Incoming, 4)
	ports, err := rtpport.New(rtpport.Config{Addr: addr, First: 41000, Last: 41999})
	d.ok(err)
	ua, err = sip.New(sip.Config{Listen: netip.AddrPortFrom(addr, 0), Ports: ports, Allow: netip.Addr.IsLoopback, OnCall: func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err != nil {
			d.Error(err)
			return
		}
		if rate := leg.Format().In; rate != media.Rate16k {
			d.Errorf("the server offers audio at %v first", rate)
		}
		ctx, end := context.WithCancelCause(ctx)
		left := frames
		heard := func() {
			if left--; left < 0 {
				end(&media.Ended{Reason: media.UserHangup})
			}
		}
		heard()
		_ = listening(ctx, leg, heard) // its error is why
		calls <- in
	}})
	d.ok(err)
	ended := make(chan error, 1)
	go func() { ended <- ua.Run(d.Context()) }()
	d.Cleanup(func() { <-ended; ports.Close() })
	return ua, calls
}

// greeted has an exchange call a user of the desk, and hang up once an agent has answered; refused is the code of
// a call that none has.
func (d *desk) greeted(ua *sip.UserAgent, user string) (refused int) {
	d.Helper()
	leg, err := ua.Dial(d.Context(), sip.Target{URI: "sip:" + user + "@" + d.node.phone.Addr().String(), From: header.Identity{Number: "102"}})
	if e, ok := errors.AsType[*sip.NotAnswered](err); ok {
		return e.Code
	}
	d.ok(err)
	ctx, end := context.WithCancelCause(d.Context())
	end(&media.Ended{Reason: media.UserHangup})
	_ = quiet(ctx, leg) // its error is why
	return 0
}

// TestOwnTrunk: a trunk of an account brings calls to its numbers and extensions and to nobody else's, carries those from
// its numbers, as it writes them, at the price of an own line, and ends with its deletion.
func TestOwnTrunk(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) { c.ToolAllow = []string{"127.0.0.6"} })
	n, books, kept := d.node, ledger.New(d.node.db), trunks.New(d.node.db, d.node.secrets)
	ua, taken := d.pbx("127.0.0.6", 0)
	draft, err := n.lines.Draft(d.who.Account, &wire.NewTrunk{Name: "office", TrunkSettings: wire.TrunkSettings{
		Targets: []wire.TrunkTarget{{Host: "127.0.0.6", Port: int(ua.Addr().Port())}}, Allow: []string{"127.0.0.6"}, Country: "ES", NumberForm: "national",
		Extensions: []wire.TrunkExtension{{Match: "1xx", AgentID: d.agent}}}})
	d.ok(err)
	made, err := kept.Create(t.Context(), d.who.Account, draft)
	d.ok(err)
	d.ok(n.lines.Look(t.Context()))

	own, err := numbers.New(n.db).ImportOwn(t.Context(), d.who.Account, made.ID, "+34933333333", d.agent)
	d.ok(err)
	other, err := books.CreateAccount(t.Context(), "B", n.db.RateCard())
	d.ok(err)
	_, err = numbers.New(n.db).Import(t.Context(), other.ID, "+34944444444", "")
	d.ok(err)
	for i, c := range []struct {
		user, to string
		refused  int
	}{
		{"101", "101", 0}, {"933333333", "+34933333333", 0}, {"911234567", deskNumber, 0},
		{"944444444", "", 404}, {"201", "", 404}, {"lola", "", 404},
	} {
		if got := d.greeted(ua, c.user); got != c.refused {
			t.Errorf("%s: answered %d, want %d", c.user, got, c.refused)
			continue
		}
		if c.refused != 0 {
			continue
		}
		call := d.history(i + 1)[0]
		if call.To != c.to || call.From != "102" {
			t.Errorf("%s: the call is from %s to %s", c.user, call.From, call.To)
		}
		d.onOwnTrunk(call.ID)
	}

	// A call from the number goes out on the trunk.
	placed, err := n.dialler.Dial(t.Context(), d.who, callcenter.Order{From: own.E164, To: "+34600123456", Agent: d.agent})
	d.ok(err)
	if end := d.ended(placed.CallID, nil); end.EndReason != "user_hangup" {
		t.Errorf("it ended %s %s", end.EndReason, end.EndDetail)
	}
	if in := <-taken; in.Called != "600123456" || in.From.Number != "933333333" {
		t.Errorf("the exchange was called %s from %s", in.Called, in.From.Number)
	}
	d.onOwnTrunk(placed.CallID)

	status, err := n.lines.Check(t.Context(), made.ID)
	d.ok(err)
	if len(status.Targets) != 1 || !status.Targets[0].Up || status.Error != "" {
		t.Errorf("%+v", status)
	}
	d.ok(numbers.New(n.db).Release(t.Context(), d.who.Account, own.ID))
	d.ok(kept.Delete(t.Context(), d.who.Account, made.ID))
	d.ok(n.lines.Look(t.Context()))
	if got := d.greeted(ua, "101"); got != 404 {
		t.Errorf("after the deletion: answered %d", got)
	}
	found, err := verify.Whole(t.Context(), n.db)
	d.ok(err)
	for _, v := range found.Violations {
		t.Error(v)
	}
}

// TestTransferToAnExtension over real SIP: a caller is connected to an extension of the account's exchange, by its address. That is a
// call on the account's own trunk.
func TestTransferToAnExtension(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) { c.ToolAllow = []string{"127.0.0.6"} })
	ua, taken := d.pbx("127.0.0.6", 50)
	port := int(ua.Addr().Port())
	draft, err := d.node.lines.Draft(d.who.Account, &wire.NewTrunk{Name: "office", TrunkSettings: wire.TrunkSettings{
		Targets: []wire.TrunkTarget{{Host: "127.0.0.6", Port: port}}, Country: "ES", NumberForm: "national"}})
	d.ok(err)
	_, err = trunks.New(d.node.db, d.node.secrets).Create(t.Context(), d.who.Account, draft)
	d.ok(err)
	d.ok(d.node.lines.Look(t.Context()))
	address := "sip:200@127.0.0.6:" + strconv.Itoa(port)
	number, _ := d.calling(`{"speculative_llm":false,"transfer_to":[{"number":"`+address+`","name":"ward"}]}`, inference.ToolCall{Name: "transfer_call", Arguments: `{"to":"ward"}`})
	if r := d.phones(number, simulated.PhoneConfig{Wait: time.Minute, MaxDuration: 2 * time.Minute}); !r.FarEnd {
		t.Error("the person on the ward never hung up")
	}
	if in := <-taken; in.User != "200" || in.From.Number != "911234568" {
		t.Errorf("the exchange was called %s from %s", in.User, in.From.Number)
	}
	for _, c := range d.history(2) {
		if c.Direction == billing.Inbound {
			if *c.EndReason != "completed" || *c.EndDetail != "transferred" {
				t.Errorf("the call ended %s/%s", *c.EndReason, *c.EndDetail)
			}
			continue
		}
		if c.To != address || c.From != number || c.StartedAt == nil {
			t.Errorf("called was %+v", c)
		}
		d.onOwnTrunk(c.ID)
	}
	d.verified()
}

// onOwnTrunk checks that a call is priced as one on the account's own line.
func (d *desk) onOwnTrunk(call string) {
	d.Helper()
	var own bool
	d.ok(d.node.db.Pool().QueryRow(d.Context(), "select own_trunk from sessions where id = $1", call).Scan(&own))
	if !own {
		d.Errorf("%s is charged as a call on the operator's lines", call)
	}
}

// TestGuardOfTrunks: a trunk leads nowhere that the operator does not allow, whether its address is written or found.
func TestGuardOfTrunks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	target := func(host string) *wire.NewTrunk {
		return &wire.NewTrunk{Name: "x", TrunkSettings: wire.TrunkSettings{Targets: []wire.TrunkTarget{{Host: host, Port: 5060}}}}
	}
	if _, err := d.node.lines.Draft(d.who.Account, target("127.0.0.6")); err == nil {
		t.Error("an address of this machine is allowed")
	}
	through := target("sip.carrier.example")
	through.OutboundProxy = &wire.TrunkTarget{Host: "127.0.0.6"}
	if _, err := d.node.lines.Draft(d.who.Account, through); err == nil {
		t.Error("a proxy on this machine is allowed")
	}
	draft, err := d.node.lines.Draft(d.who.Account, target("localhost"))
	d.ok(err)
	kept := trunks.New(d.node.db, d.node.secrets)
	made, err := kept.Create(t.Context(), d.who.Account, draft)
	d.ok(err)
	status, err := d.node.lines.Check(t.Context(), made.ID)
	d.ok(err)
	if len(status.Targets) != 0 || status.Error == "" {
		t.Errorf("%+v", status)
	}
}

// TestOperatorsSourcesStay: an account that names a source of the operator's lines takes none of their calls.
func TestOperatorsSourcesStay(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) {
		c.Trunks = []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.7/32")}}}
		c.ToolAllow = []string{"127.0.0.7"}
	})
	books, kept := ledger.New(d.node.db), trunks.New(d.node.db, d.node.secrets)
	thief, err := books.CreateAccount(t.Context(), "Thief", d.node.db.RateCard())
	d.ok(err)
	_, _, err = books.Credit(t.Context(), ledger.Credit{Account: thief.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi:2", Source: "sim"})
	d.ok(err)
	agent, err := d.node.db.CreateAgent(t.Context(), thief.ID, store.Agent{Name: "Eve", Voice: "F1", Language: "en"})
	d.ok(err)
	draft, err := d.node.lines.Draft(thief.ID, &wire.NewTrunk{Name: "catch", TrunkSettings: wire.TrunkSettings{Allow: []string{"127.0.0.7"},
		Extensions: []wire.TrunkExtension{{Match: "*", AgentID: agent.ID}}}})
	d.ok(err)
	_, err = kept.Create(t.Context(), thief.ID, draft)
	d.ok(err)
	d.ok(d.node.lines.Look(t.Context()))
	ua, _ := d.pbx("127.0.0.7", 0)
	if refused := d.greeted(ua, deskNumber); refused != 0 {
		t.Errorf("refused with %d", refused)
	}
	d.history(1)
	stolen, err := history.New(d.node.db).Calls(t.Context(), thief.ID, history.CallPage{Page: store.Page{Limit: 10}})
	d.ok(err)
	if len(stolen) != 0 {
		t.Errorf("%d calls went elsewhere", len(stolen))
	}
}
