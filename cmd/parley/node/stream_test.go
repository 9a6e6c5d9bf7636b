package node

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/mediastream"
	"parley/api/mediastream/mediastreamtest"
	"parley/api/wire"
	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/media/wav"
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

// speaks has the caller of a call wait for a second, say something and wait, until the server closes the socket. Once a second they press
// the 4 when press says so.
func (d *desk) speaks(c *mediastreamtest.Call, said wav.Clip, press func() bool) {
	d.Helper()
	closed := make(chan struct{})
	go func() {
		c.Closed()
		close(closed)
	}()
	samples := make([]int16, c.Rate())
	for i := 0; i < len(said.Samples); i += int(said.Rate / c.Rate()) {
		samples = append(samples, said.Samples[i])
	}
	const second = 50 // frames
	frame, late := make([]int16, c.Rate().FrameSamples()), time.After(2*time.Minute)
	tick := time.NewTicker(media.FrameDuration)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-closed:
			return
		case <-late:
			d.Fatal("nobody is transferred")
		case <-tick.C:
		}
		clear(frame)
		samples = samples[copy(frame, samples):]
		c.Send(frame)
		c.Receive()
		if n%second == 0 && press() {
			c.Digit('4')
		}
	}
}

// TestCallsOverStreams: a caller of a number without a SIP trunk hears its menu, presses a key, is greeted by the agent and hangs up;
// the call is in the history, and charged as one of a number of the account's own. By another key the carrier calls a number in place of us.
func TestCallsOverStreams(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	server := httptest.NewServer(d.node.routes().Handler(api.Options{}))
	defer server.Close()
	const caller, other = "+34600123456", "+34955555555"
	for i, name := range mediastreamtest.Names {
		number := "+3493333333" + string(rune('0'+i))
		carrier := mediastreamtest.New(t, name)
		address := d.streamed(server.URL, d.who.Account, carrier, number, "", `{"menu":{"prompt":"Press one for the clinic.","options":[{"key":"1","agent":"`+d.agent+`"},{"key":"2","number":"`+other+`"}]}}`)
		if a := carrier.Ask(address, "CA0", caller, "+34944444444"); !a.Refused || a.Busy {
			t.Errorf("%s: of a number that the account does not have: %+v", name, a)
		}
		call, _ := carrier.Open(carrier.Ask(address, "CA1", caller, number))
		d.hears(call, 300*time.Millisecond)
		call.Digit('1')
		d.hears(call, time.Second)
		call.Hangup()
		in := d.history(2*i + 1)[0]
		if in.From != caller || in.To != number || in.Agent == nil || *in.Agent != d.agent || *in.EndReason != "user_hangup" || in.Cost == 0 {
			t.Errorf("%s: %+v", name, in)
		}
		d.onOwnTrunk(in.ID)
		if said := d.said(in.ID); said == "" {
			t.Errorf("%s: the agent said nothing", name)
		}
		asked := carrier.Ask(address, "CA2", caller, number)
		call, _ = carrier.Open(asked)
		d.hears(call, 300*time.Millisecond)
		call.Digit('2')
		call.Closed()
		if a := carrier.Next(asked); a.Number != other {
			t.Errorf("%s: a key of the menu leads to %+v", name, a)
		}
		if c := d.history(2*i + 2)[0]; *c.EndReason != "completed" || *c.EndDetail != "transferred" {
			t.Errorf("%s: sent on: %+v", name, c)
		}
	}
	d.verified()
}

// TestTransfersOverStreams: the keys of a caller reach the agent, which has the carrier call somebody in its place. The agent presses no keys
// there, and announces nobody. The other call is one on the account's own line.
func TestTransfersOverStreams(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	server := httptest.NewServer(d.node.routes().Handler(api.Options{}))
	defer server.Close()
	const caller, sales = "+34600123456", "+12025550106"
	agents, model := d.calling(`{"speculative_llm":false,"key_interrupts":false,"transfer_to":[{"number":"`+sales+`","name":"sales"},{"number":"sip:200@pbx.example.com","name":"ward"}]}`,
		inference.ToolCall{Name: "collect_digits", Arguments: `{"max_digits":2,"first_timeout_seconds":30}`}, inference.ToolCall{Name: "transfer_call", Arguments: `{"to":"sales"}`})
	route, err := numbers.New(d.node.db).Route(t.Context(), agents)
	d.ok(err)
	speech, err := flite{t.TempDir()}.say(t.Context(), inference.Speech{Text: "I would like to talk to somebody in sales, please.", VoiceConfig: inference.VoiceConfig{Voice: "M2"}})
	d.ok(err)
	for i, name := range mediastreamtest.Names {
		number, carrier := "+3493333333"+string(rune('0'+i)), mediastreamtest.New(t, name)
		asked := carrier.Ask(d.streamed(server.URL, d.who.Account, carrier, number, *route.Agent, ""), "CA1", caller, number)
		call, _ := carrier.Open(asked)
		d.hears(call, 200*time.Millisecond)
		before := len(model.Calls())
		d.speaks(call, speech, func() bool { return len(model.Calls()) > before })
		if next := carrier.Next(asked); next.Number != sales || next.Over {
			t.Errorf("%s: it is to go on with %+v", name, next)
		}
		for _, c := range d.history(2 * (i + 1))[:2] {
			d.onOwnTrunk(c.ID)
			switch {
			case c.Direction == billing.Outbound:
				if c.To != sales || c.From != number || *c.EndReason != "completed" {
					t.Errorf("%s: called was %+v", name, c)
				}
			case *c.EndReason != "completed" || *c.EndDetail != "transferred":
				t.Errorf("%s: the call ended %s/%s", name, *c.EndReason, *c.EndDetail)
			}
		}
		last := model.Calls()[len(model.Calls())-1].Request
		if !slices.ContainsFunc(last.Messages, func(m inference.Message) bool { return m.Text == `{"digits":"44","ended_by":"max_digits"}` }) {
			t.Errorf("%s: the model has read %+v", name, last.Messages)
		}
		for _, f := range last.Tools {
			if f.Name == "send_dtmf" || strings.Contains(string(f.Parameters), "ward") || strings.Contains(string(f.Parameters), "summary") {
				t.Errorf("%s: offered was %s %s", name, f.Name, f.Parameters)
			}
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
