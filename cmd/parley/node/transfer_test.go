package node

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/simulated"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// keyed gives the desk's account a second number, whose agent has the settings and does
// what the model is told to: the first reply calls a function.
func (d *desk) keyed(settings, function, arguments string) (number string, model *enginetest.FakeLLM) {
	d.Helper()
	number = "+34911234568"
	agent, err := d.node.db.CreateAgent(d.Context(), d.who.Account, store.Agent{Name: "Eva", Voice: "F1", Language: "en",
		FirstMessage: "Hello.", Settings: json.RawMessage(settings)}, time.Now())
	d.ok(err)
	_, err = ledger.New(d.node.db).ImportNumber(d.Context(), d.who.Account, number, agent.ID, time.Now())
	d.ok(err)
	model = enginetest.NewFakeLLM()
	model.Replies = [][]enginetest.Step{
		{{Text: "One moment."}, {Tool: &inference.ToolCall{Name: function, Arguments: arguments}}},
		enginetest.Sentences(0, "That is all."),
	}
	d.node.engines.LLM = model
	d.changed()
	return number, model
}

// calling is keyed with several functions, one after another.
func (d *desk) calling(settings string, steps ...inference.ToolCall) (number string, model *enginetest.FakeLLM) {
	d.Helper()
	number, model = d.keyed(settings, "", "")
	// One that was interrupted is called again.
	model.Answer = func(_ int, r inference.Request) []enginetest.Step {
		done := 0
		for _, m := range r.Messages {
			if m.Role == inference.RoleTool && !strings.Contains(m.Text, "error") && !strings.Contains(m.Text, "pending") {
				done++
			}
		}
		return []enginetest.Step{{Text: "One moment."}, {Tool: &steps[min(done, len(steps)-1)]}}
	}
	d.changed()
	return number, model
}

// phones calls a number of ours from outside, says a sentence and stays.
func (d *desk) phones(number string, cfg simulated.PhoneConfig) *simulated.PhoneResult {
	d.Helper()
	clip, err := flite{d.TempDir()}.say(d.Context(), inference.Speech{Text: "I would like to talk to somebody in sales, please.", VoiceConfig: inference.VoiceConfig{Voice: "M2"}})
	d.ok(err)
	said := make([]int16, 0, len(clip.Samples)/2+3*8000)
	said = append(said, make([]int16, 3*8000)...) // the agent greets first
	for i := 0; i+1 < len(clip.Samples); i += int(clip.Rate / media.Rate8k) {
		said = append(said, clip.Samples[i])
	}
	cfg.URI, cfg.Number, cfg.Play = "sip:"+number+"@"+d.node.phone.Addr().String(), "+34600123456", said
	r, err := simulated.Call(d.Context(), cfg)
	d.ok(err)
	return r
}

// history waits until the account has so many calls that have ended, newest first.
func (d *desk) history(n int) (list []history.Call) {
	d.Helper()
	eventually(d.T, "the calls have ended", func() bool {
		var err error
		list, err = history.New(d.node.db).Calls(d.Context(), d.who.Account, history.CallPage{})
		d.ok(err)
		return len(list) == n && !slices.ContainsFunc(list, func(c history.Call) bool { return c.EndReason == nil })
	})
	return list
}

// charged names the components of a call's receipt.
func (d *desk) charged(id string) string {
	d.Helper()
	r, err := ledger.New(d.node.db).Receipt(d.Context(), d.who.Account, id)
	d.ok(err)
	var names []string
	for _, l := range r.Lines {
		if l.Quantity > 0 {
			names = append(names, l.Component)
		}
	}
	return strings.Join(names, " ")
}

// TestTransfer over real SIP: the caller's telephone takes no REFER, so the sales desk is
// called on another line and connected.
func TestTransfer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	number, _ := d.calling(`{"speculative_llm":false,"transfer_to":[{"number":"+12025550106","name":"sales"}]}`, inference.ToolCall{Name: "transfer_call", Arguments: `{"to":"sales"}`})
	r := d.phones(number, simulated.PhoneConfig{Wait: time.Minute, MaxDuration: 2 * time.Minute})
	if !r.FarEnd {
		t.Error("the person in sales never hung up")
	}
	select {
	case h := <-d.heard:
		if h.Called != "+12025550106" {
			t.Errorf("%s was called", h.Called)
		}
	case <-time.After(time.Minute):
		t.Fatal("nobody was called")
	}
	list := d.history(2)
	for _, c := range list {
		switch {
		case c.Direction == billing.Inbound:
			if *c.EndReason != "completed" || *c.EndDetail != "transferred" {
				t.Errorf("the call ended %s/%s", *c.EndReason, *c.EndDetail)
			}
		case d.charged(c.ID) != billing.LineTime.String():
			t.Errorf("of the second line %q was charged", d.charged(c.ID))
		case c.To != "+12025550106" || c.From != number || c.StartedAt == nil:
			t.Errorf("called was %+v", c)
		}
	}
}

// TestKeys over real RTP, both ways.
func TestKeys(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	number, model := d.calling(`{"speculative_llm":false,"key_interrupts":false}`, inference.ToolCall{Name: "collect_digits", Arguments: `{"max_digits":4,"first_timeout_seconds":30}`},
		inference.ToolCall{Name: "send_dtmf", Arguments: `{"digits":"12w#"}`}, inference.ToolCall{Name: "end_call"})
	var offered []string
	r := d.phones(number, simulated.PhoneConfig{Digits: "7890", DigitsAfter: 25 * time.Second, Wait: time.Minute, MaxDuration: 2 * time.Minute})
	if r.Digits != "12#" || !r.FarEnd {
		t.Errorf("the agent pressed %q, and hung up: %t", r.Digits, r.FarEnd)
	}
	calls := model.Calls()
	for _, f := range calls[0].Request.Tools {
		offered = append(offered, f.Name)
	}
	if got := strings.Join(offered, " "); got != "end_call send_dtmf collect_digits opt_out" {
		t.Errorf("offered were %s", got)
	}
	told := calls[len(calls)-1].Request.Messages
	if !slices.ContainsFunc(told, func(m inference.Message) bool { return m.Text == `{"digits":"7890","ended_by":"max_digits"}` }) {
		t.Errorf("the model was told %+v", told)
	}
}

// TestTransferable: a destination is weighed as that of a dial, also for a transfer that
// the far end does, and what is refused is counted.
func TestTransferable(t *testing.T) {
	d := newDesk(t)
	const listed = "+12025550107"
	session, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Agent: d.agent, From: "+34600123456", To: deskNumber,
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	d.ok(err)
	defer session.End(endedBy(errNoRoute))
	_, _, err = d.node.db.AddDoNotCall(t.Context(), d.who.Account, store.DoNotCall{Number: listed, Source: store.ListedByAPI}, time.Now())
	d.ok(err)
	c := consultation{node: d.node, session: session, agent: d.agent, from: deskNumber}
	for number, want := range map[string]string{"+1 202 555 0106": "+12025550106", "+34911234567": "+34911234567"} {
		if got, err := c.check(t.Context(), number); got != want || err != nil {
			t.Errorf("%s: %q, %v", number, got, err)
		}
	}
	const notSold, notCalled = "callcenter.destination_not_allowed", "callcenter.do_not_call"
	for number, want := range map[string][2]string{"+351912345678": {"Mobiles in Portugal", notSold}, "+34806123456": {"special number", notSold},
		"112": {"international format", notSold}, "+21671234567": {"country", notSold}, "+1 (202) 555-0107": {"do-not-call list", notCalled},
		"+881612345678": {"country", notSold}, "+19005551234": {"special number", notSold}} {
		before := scraped(t, refusalMetrics{&d.node.counts})[want[1]]
		if got, err := c.check(t.Context(), number); err == nil || !strings.Contains(err.Error(), want[0]) {
			t.Errorf("%s: %q, %v", number, got, err)
		}
		if n := scraped(t, refusalMetrics{&d.node.counts})[want[1]] - before; n != 1 {
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

// TestTransfersAreBounded: a caller who has the agent try number after number comes to an
// end, at numbers outside the agent's list sooner, and so do all callers of an account.
func TestTransfersAreBounded(t *testing.T) {
	d := newDesk(t)
	const sales = "+34911234567"
	d.node.transfers = api.NewBuckets(time.Hour, transfersEach) // none comes back while we look
	call := func(account string) *pipeline.Transfer {
		session, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: account, From: "+34600123456", To: deskNumber,
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
		d.ok(err)
		t.Cleanup(func() { session.End(endedBy(errNoRoute)) })
		cfg, anywhere := new(pipeline.Config), true
		p := plan{settings: agent.Settings{TransferAny: &anywhere, TransferTo: []agent.Destination{{Number: sales}}}}
		d.node.telephoneFunctions(cfg, p, session, deskNumber)
		return cfg.Transfer
	}
	try := func(x *pipeline.Transfer, number string, want error) {
		t.Helper()
		if _, err := x.Check(t.Context(), number); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", number, err, want)
		}
	}
	one := call(d.who.Account)
	for _, number := range []string{"+34911234568", "+34911234569"} {
		try(one, number, nil)
	}
	try(one, "+34911234570", errTries)
	for range maxTries - maxUnlisted {
		try(one, sales, nil)
	}
	try(one, sales, errTries)
	two := call(d.who.Account)
	for range maxTries {
		try(two, sales, nil)
	}
	try(call(d.who.Account), sales, errOften) // ten in a moment are all there are
	other, err := ledger.New(d.node.db).CreateAccount(t.Context(), "another", d.node.RateCard(), time.Now())
	d.ok(err)
	try(call(other.ID), sales, nil)
}

// TestReferralsAreCalls: a transfer that the far end does passes what a dial passes, before
// it is asked, and costs a line minute once it was answered.
func TestReferralsAreCalls(t *testing.T) {
	d := newDesk(t)
	admit := func(account string) consultation {
		session, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: account, From: "+34600123456", To: deskNumber,
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
		d.ok(err)
		t.Cleanup(func() { session.End(endedBy(errNoRoute)) })
		return consultation{node: d.node, session: session, from: deskNumber}
	}
	asked := 0
	ask := func(context.Context, string) error { asked++; return nil }
	poor, err := ledger.New(d.node.db).CreateAccount(t.Context(), "no top-up", d.node.RateCard(), time.Now())
	d.ok(err)
	if err := admit(poor.ID).refer(t.Context(), "+12025550106", ask); !errors.Is(err, errMoney) || asked != 0 {
		t.Errorf("without a top-up: %v, asked %d times", err, asked)
	}
	c, yes := admit(d.who.Account), true
	if err := c.refer(t.Context(), "+12025550106", func(context.Context, string) error { return errors.New("declined") }); err == nil {
		t.Error("a transfer that failed did not")
	}
	if err := c.refer(t.Context(), "+12025550106", ask); err != nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	var costs []string
	eventually(t, "both have ended", func() bool {
		list, err := history.New(d.node.db).Calls(t.Context(), d.who.Account, history.CallPage{})
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
	d.ok(ledger.New(d.node.db).ChangeAccount(t.Context(), d.who.Account, ledger.AccountChange{Suspended: &yes}, time.Now()))
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
		{&sip.NotTransferred{Err: sip.ErrNoOutcome, Accepted: true}, "not known what came of it"},
		{&sip.NotTransferred{Err: sip.ErrOver}, "the call is over"},
		{&sip.NotTransferred{Code: 405}, "refused"},
	} {
		got := told(c.err)
		if got == nil || !strings.Contains(got.Error(), c.want) || strings.Contains(got.Error(), "sip") {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
		if refused := errors.Is(got, pipeline.ErrNoReferral); refused != (c.want == "refused") {
			t.Errorf("%v: somebody else does it: %t", c.err, refused)
		}
	}
	if told(nil) != nil {
		t.Error("a transfer that came about has an error")
	}
}
