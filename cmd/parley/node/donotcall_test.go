package node

import (
	"errors"
	"testing"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/outbound"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/session"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/ledger"
)

// TestOptedOut: who asks in a call not to be called is not, however their number is
// written, until they are taken off the list.
func TestOptedOut(t *testing.T) {
	t.Parallel()
	const callee = "+12025550100"
	d := newDesk(t)
	n := d.node
	dial := func() (*wire.Placed, error) {
		return n.dialler.Dial(t.Context(), d.who, callcenter.Order{From: deskNumber, To: "+1 (202) 555-0100", Agent: d.agent})
	}
	s, err := n.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Agent: d.agent, From: callee, To: deskNumber,
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	d.ok(err)
	optOut := func(s *session.Session) error {
		cfg := new(pipeline.Config)
		n.transfers.Functions(s, outbound.Line{Caller: trunk.Caller{Number: deskNumber}}, callee)(cfg, new(conversation.Plan))
		return cfg.OptOut(t.Context())
	}
	for range 2 {
		d.ok(optOut(s))
	}
	s.End(media.Ended{Reason: media.Failed, Detail: "answer"})
	_, err = dial()
	if p := api.ProblemOf(err); !errors.Is(err, store.ErrDoNotCall) || p.Status != 400 || p.Code != "callcenter.do_not_call" || p.Retryable {
		t.Fatalf("dialled: %v, %+v", err, p)
	}
	e, err := n.db.DoNotCall(t.Context(), d.who.Account, callee)
	if err != nil || e.Source != store.ListedByAgent || *e.Call != s.ID() {
		t.Errorf("%+v, %v", e, err)
	}
	evidence, err := ledger.New(n.db).Consents(t.Context(), d.who.Account, 0, 10)
	if err != nil || len(evidence) != 0 {
		t.Errorf("a call that was not placed has evidence: %+v, %v", evidence, err)
	}
	d.ok(n.db.RemoveDoNotCall(t.Context(), d.who.Account, callee))
	placed, err := dial()
	d.ok(err)
	d.ok(n.cluster.Hangup(t.Context(), d.who.Account, placed.CallID))
	d.ended(placed.CallID, nil)

	withheld, err := n.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Agent: d.agent, To: deskNumber,
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	d.ok(err)
	defer withheld.End(media.Ended{Reason: media.Failed, Detail: "answer"})
	if err := optOut(withheld); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without a number: %v", err)
	}
}
