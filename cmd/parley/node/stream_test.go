package node

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/mediastream"
	"parley/api/mediastream/mediastreamtest"
	"parley/api/wire"
	"parley/billing"
	"parley/media"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
	"parley/store/trunks"
)

// streamed gives an account a trunk whose calls a carrier brings over a WebSocket, with a number, and returns where the carrier asks.
func (d *desk) streamed(at, account string, c *mediastreamtest.Carrier, number, agent, rules string) (address string) {
	d.Helper()
	draft, err := d.node.lines.Draft(account, &wire.NewTrunk{Name: c.Name, TrunkSettings: wire.TrunkSettings{Stream: c.Name}, InboundPassword: c.Secret()})
	d.ok(err)
	made, err := trunks.New(d.node.db, d.node.secrets).Create(d.Context(), account, draft)
	d.ok(err)
	d.ok(d.node.lines.Look(d.Context()))
	own := numbers.New(d.node.db)
	n, err := own.ImportOwn(d.Context(), account, made.ID, number, agent)
	d.ok(err)
	if rules != "" {
		d.ok(own.SetRules(d.Context(), account, n.ID, json.RawMessage(rules), nil))
	}
	return at + mediastream.Path + made.ID
}

// hears has the caller of a call say nothing until so much more speech was heard.
func (d *desk) hears(c *mediastreamtest.Call, enough time.Duration) {
	d.Helper()
	var heard []int16
	silence := make([]int16, c.Rate().FrameSamples())
	eventually(d.T, "the caller hears somebody", func() bool {
		time.Sleep(15 * time.Millisecond) // with the wait between, the length of a frame
		c.Send(silence)
		heard = append(heard, c.Receive()...)
		return voiced(heard) >= enough*time.Duration(c.Rate())/8000 // it counts at 8 kHz
	})
}

// TestCallsOverStreams: a caller of a number without a SIP trunk hears its menu, presses a key, is greeted by the agent and hangs up;
// the call is in the history, and charged as one of a number of the account's own.
func TestCallsOverStreams(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	server := httptest.NewServer(d.node.routes().Handler(api.Options{}))
	defer server.Close()
	const caller = "+34600123456"
	for i, name := range mediastreamtest.Names {
		number := "+3493333333" + string(rune('0'+i))
		carrier := mediastreamtest.New(t, name)
		address := d.streamed(server.URL, d.who.Account, carrier, number, "", `{"menu":{"prompt":"Press one for the clinic.","options":[{"key":"1","agent":"`+d.agent+`"}]}}`)
		if a := carrier.Ask(address, "CA0", caller, "+34944444444"); !a.Refused || a.Busy {
			t.Errorf("%s: of a number that the account does not have: %+v", name, a)
		}
		call, _ := carrier.Open(carrier.Ask(address, "CA1", caller, number))
		d.hears(call, 300*time.Millisecond)
		call.Digit('1')
		d.hears(call, time.Second)
		call.Hangup()
		in := d.history(i + 1)[0]
		if in.From != caller || in.To != number || in.Agent == nil || *in.Agent != d.agent || *in.EndReason != "user_hangup" || in.Cost == 0 {
			t.Errorf("%s: %+v", name, in)
		}
		d.onOwnTrunk(in.ID)
		if said := d.said(in.ID); said == "" {
			t.Errorf("%s: the agent said nothing", name)
		}
	}
	d.verified()
}

// TestStreamsAreRefused: calls are refused in the carrier's words that nobody answers, for which no line is left, or no money; where
// the rules of their number say so the carrier calls another number in place of us.
func TestStreamsAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	server := httptest.NewServer(d.node.routes().Handler(api.Options{}))
	defer server.Close()
	const caller, nobodys, answered, overflowing, closes, other = "+34600123456", "+3493333330", "+34933333332", "+34933333333", "+34933333334", "+34944444444"
	books, own := ledger.New(d.node.db), numbers.New(d.node.db)
	type line struct {
		*mediastreamtest.Carrier
		address string
	}
	var lines []line
	for i, name := range mediastreamtest.Names {
		c := mediastreamtest.New(t, name)
		lines = append(lines, line{c, d.streamed(server.URL, d.who.Account, c, nobodys+string(rune('0'+i)), "", "")})
	}
	asks := func(what, to string, want mediastreamtest.Answer) {
		t.Helper()
		for _, l := range lines {
			if got := l.Ask(l.address, "CA-"+what, caller, to); got.Refused != want.Refused || got.Busy != want.Busy || got.Number != want.Number || got.Socket != "" {
				t.Errorf("%s, %s: %+v", l.Name, what, got)
			}
		}
	}
	asks("without an agent", nobodys+"0", mediastreamtest.Answer{Refused: true})
	_, err := own.Import(t.Context(), d.who.Account, answered, d.agent)
	d.ok(err)
	for number, rules := range map[string]string{overflowing: `{"overflow":{"number":"` + other + `"}}`, closes: closed + `{"number":"` + other + `"}}`} {
		n, err := own.Import(t.Context(), d.who.Account, number, d.agent)
		d.ok(err)
		d.ok(own.SetRules(t.Context(), d.who.Account, n.ID, json.RawMessage(rules), nil))
	}
	asks("closed", closes, mediastreamtest.Answer{Number: other})
	for _, c := range d.history(len(lines)) {
		if c.From != caller || c.To != closes || *c.EndReason != "completed" || *c.EndDetail != "transferred" || c.Cost != 0 {
			t.Errorf("sent on: %+v", c)
		}
	}
	var busy []*session.Session
	for {
		s, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Terms: billing.Terms{Kind: billing.Web}, Agent: d.agent}})
		if errors.Is(err, store.ErrConcurrency) {
			break
		}
		d.ok(err)
		busy = append(busy, s)
	}
	asks("no line", answered, mediastreamtest.Answer{Refused: true, Busy: true})
	asks("no line, overflow", overflowing, mediastreamtest.Answer{Number: other})
	for _, s := range busy {
		s.End(media.Ended{Reason: media.UserHangup})
	}
	d.history(len(lines) + len(busy))
	_, _, err = books.Credit(t.Context(), ledger.Credit{Account: d.who.Account, Kind: ledger.Adjustment, Amount: -24_900 * billing.USD / 1000, Key: "adj:1", Source: "test"})
	d.ok(err)
	asks("no money", answered, mediastreamtest.Answer{Refused: true})
	asks("no money, overflow", overflowing, mediastreamtest.Answer{Number: other})
	d.verified()
}

// TestStreamThroughAnotherNode: the node at which a carrier brings the audio need not be the one that it has asked.
func TestStreamThroughAnotherNode(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	d := deskOn(t, url)
	asked := httptest.NewServer(d.node.Handler())
	t.Cleanup(asked.Close)
	d.ok(d.node.db.IntroduceNode(t.Context(), d.node.life, strings.TrimPrefix(asked.URL, "http://"), "1"))
	node, _ := dialling(t, url, "other", netip.MustParseAddrPort("127.0.0.1:9"))
	other := httptest.NewServer(node.Handler())
	t.Cleanup(other.Close)
	carrier := mediastreamtest.New(t, "twilio")
	a := carrier.Ask(d.streamed(asked.URL, d.who.Account, carrier, "+34933333333", d.agent, ""), "CA1", "+34600123456", "+34933333333")
	a.Socket = strings.Replace(a.Socket, strings.TrimPrefix(asked.URL, "http"), strings.TrimPrefix(other.URL, "http"), 1)
	call, status := carrier.Open(a)
	if call == nil {
		t.Fatalf("it is refused with %d", status)
	}
	d.hears(call, 500*time.Millisecond)
	call.Hangup()
	if in := d.history(1)[0]; *in.EndReason != "user_hangup" {
		t.Errorf("%+v", in)
	}
}
