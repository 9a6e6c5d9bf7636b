package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"parley/api/messages"
	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/sip/carrier"
	"parley/sip/carrier/simulated"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/ledger"
	messagestore "parley/store/messages"
	"parley/store/numbers"
)

// TestAgentsText: an agent that may sends its caller a few text messages, from a number that can, and learns why not otherwise.
func TestAgentsText(t *testing.T) {
	d := newDesk(t)
	const bought, caller = "+12125550100", "+14155550177"
	sim, err := simulated.New(simulated.Config{})
	d.ok(err)
	to := Destinations{Card: d.db.RateCard, Fictional: true}
	texts := messagestore.New(d.db)
	d.transfers.Texts = &messages.Desk{Store: texts, Node: d.life, Carrier: sim, Classify: to.Classify, Card: d.db.RateCard, Log: slog.New(slog.DiscardHandler)}
	n, err := numbers.New(d.db).Order(t.Context(), numbers.Order{Account: d.account, E164: bought, Country: "US", Carrier: sim.Name(), Card: d.db.RateCard()})
	d.ok(err)
	_, err = numbers.New(d.db).Reconcile(t.Context(), d.account, n.ID, carrier.Ordered{State: carrier.Active, NumberID: "x"})
	d.ok(err)

	yes, from := true, bought
	call := func(s agent.Settings, other string) (*session.Session, func(context.Context, string) error) {
		talk, err := d.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.account, Agent: d.agent, From: other, To: number,
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
		d.ok(err)
		t.Cleanup(func() { talk.End(media.Ended{Reason: media.Failed, Detail: "answer"}) })
		cfg := new(pipeline.Config)
		d.transfers.Functions(talk, Line{Caller: trunk.Caller{Number: number}}, other)(cfg, &conversation.Plan{ID: d.agent, Settings: s})
		if len(cfg.Functions) == 0 {
			return talk, nil
		}
		return talk, func(ctx context.Context, text string) error {
			arguments, err := json.Marshal(map[string]string{"text": text})
			d.ok(err)
			_, err = cfg.Functions[0].Run(ctx, arguments)
			return err
		}
	}
	if _, send := call(agent.Settings{}, caller); send != nil {
		t.Error("an agent may that was not allowed")
	}
	talk, send := call(agent.Settings{SendSMS: &yes, SMSFrom: &from}, strings.TrimPrefix(caller, "+"))
	for i := range maxTexts + 1 {
		if err := send(t.Context(), "Hello"); i < maxTexts && err != nil || i == maxTexts && !errors.Is(err, errTexts) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	list, err := texts.Messages(t.Context(), d.account, messagestore.Filter{}, store.Page{})
	d.ok(err)
	if len(list) != maxTexts || list[0].Number != bought || list[0].Peer != caller || *list[0].Call != talk.ID() || *list[0].Agent != d.agent {
		t.Errorf("%+v", list)
	}
	_, _, err = d.db.AddDoNotCall(t.Context(), d.account, store.DoNotCall{Number: "+14155550166", Source: store.ListedByAPI})
	d.ok(err)
	for _, tt := range []struct {
		settings    agent.Settings
		other, text string
		want        error
	}{
		{agent.Settings{SendSMS: &yes}, caller, "Hello", errNoTexts}, // the called number came by hand
		{agent.Settings{SendSMS: &yes, SMSFrom: &from}, "", "Hello", errWithheld},
		{agent.Settings{SendSMS: &yes, SMSFrom: &from}, "anonymous", "Hello", errNotTo},
		{agent.Settings{SendSMS: &yes, SMSFrom: &from}, "+19005551234", "Hello", errNotTo},
		{agent.Settings{SendSMS: &yes, SMSFrom: &from}, "+14155550166", "Hello", errListed},
		{agent.Settings{SendSMS: &yes, SMSFrom: &from}, caller, strings.Repeat("a", maxText+1), errTextLong},
		{agent.Settings{SendSMS: &yes, SMSFrom: &from}, caller, strings.Repeat("я", maxText), errTextLong},
	} {
		_, send := call(tt.settings, tt.other)
		if err := send(t.Context(), tt.text); !errors.Is(err, tt.want) {
			t.Errorf("to %q: %v, want %v", tt.other, err, tt.want)
		}
	}
}
