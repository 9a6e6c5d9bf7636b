package calls_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/calls"
	"parley/api/export"
	"parley/api/ticket"
	"parley/api/wire"
	"parley/billing"
	"parley/media/quality"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	card  = billing.DefaultRateCard()
	began = time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Second)
)

// line is a world with the routes, and a node that takes calls.
type line struct {
	*apitest.World
	node store.Node
}

type owner = apitest.Owner

func open(t *testing.T) *line {
	t.Helper()
	o := &line{World: apitest.Open(t, apitest.Options{Began: began, Agent: "Ana"})}
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	o.node, _, err = o.Ledger.RegisterNode(storetest.At(t.Context(), began), "node", "127.0.0.1:1")
	o.OK(err)
	a := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People})
	calls.Mount(a, o.DB, export.New(o.DB))
	o.Serve(a, api.Options{})
	return o
}

func (o *line) get(who owner, target string) (int, string) {
	o.Helper()
	r := o.As(who, http.MethodGet, target, "")
	return r.Status, apitest.Anonymous(string(r.Body))
}

var inbound = billing.Terms{Kind: billing.Inbound, Country: "ES"}

func (o *line) start(who owner, terms billing.Terms, at time.Time) *ledger.Session {
	o.Helper()
	s, err := o.Ledger.StartSession(storetest.At(o.Context(), at), ledger.Start{Node: o.node, Account: who.Account, Terms: terms, Card: card, Agent: who.Agent,
		From: "+34612345678", To: "+34911234567", Verstat: "TN-Validation-Passed-B", Attestation: "B", Headers: map[string]string{"X-Customer-Id": "42: a", "User-to-User": "Order 1"},
		Origin: &store.CallOrigin{DivertedBy: "+34911234569", Diversions: []store.CallDiversion{{Number: "+34911234569", Reason: "no-answer"}}}})
	o.OK(err)
	return s
}

// what tests read of a call.
type seen struct {
	ID, Direction, From, To, Status string
	AgentID                         *string `json:"agent_id"`
	CreatedAt                       time.Time
	AnsweredAt                      *time.Time `json:"answered_at"`
	EndedAt                         *time.Time `json:"ended_at"`
	Duration                        int64
	EndReason                       *string `json:"end_reason"`
	EndDetail                       *string `json:"end_detail"`
	Cost                            billing.Money
	MOS                             *float64
	By                              *string `json:"answered_by"`
	Verstat, Attestation            *string
	Headers                         map[string]string
	Origin                          *wire.CallOrigin
	Transcript                      []struct {
		Role, Text string
		At         float64
	}
	Turns     []map[string]int64
	Functions []wire.CallFunction
}

// A call from its ringing to the day after.
func TestCall(t *testing.T) {
	o := open(t)
	s := o.start(o.A, inbound, began)
	at := "/v1/calls/" + s.ID
	var c seen
	o.Read(o.A, at, &c)
	if c.ID != s.ID || c.Status != "ringing" || c.Direction != "inbound" || c.From != "+34612345678" || c.To != "+34911234567" ||
		*c.AgentID != o.A.Agent || c.AnsweredAt != nil || c.EndedAt != nil || c.Duration != 0 || c.EndReason != nil || c.Cost != 0 || c.MOS != nil || c.By != nil {
		t.Errorf("while it rings: %+v", c)
	}
	if c.Verstat == nil || *c.Verstat != "TN-Validation-Passed-B" {
		t.Errorf("what the carrier said of the caller is %v", c.Verstat)
	}
	if c.Attestation == nil || *c.Attestation != "B" || c.Headers["X-Customer-Id"] != "42: a" || c.Origin == nil || c.Origin.DivertedBy != "+34911234569" ||
		len(c.Origin.Diversions) != 1 || c.Origin.Diversions[0].Reason != "no-answer" {
		t.Errorf("what its INVITE said is %v, %v, %+v", c.Attestation, c.Headers, c.Origin)
	}
	answered := began.Add(2 * time.Second)
	r, err := o.Ledger.Checkpoints(storetest.At(t.Context(), answered), []ledger.Checkpoint{{Session: s, Seq: 1, StartedAt: answered, Usage: billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000}}})
	o.OK(err)
	o.OK(r[0].Err)
	if o.Read(o.A, at, &c); c.Status != "connected" || c.Duration < 3600 || c.Cost == 0 || c.EndedAt != nil {
		t.Errorf("while it lasts: %+v", c)
	}
	o.OK(history.New(o.DB).SaveConversation(t.Context(), o.A.Account, s.ID, history.Conversation{
		Transcript: []history.TranscriptLine{{Role: "agent", Text: "Hola", AtMS: 200}, {Role: "user", Text: "¿Abren?", AtMS: 3150}},
		Functions: []history.FunctionCall{{ID: "call_1_1", Name: "hours", Arguments: `{"day":1}`, Turn: 1, BeganMS: 3200, EndedMS: new(int64(3300)), Outcome: "ok", Result: "9 to 6"},
			{ID: "call_1_2", Name: "look", ByClient: true, Turn: 1, BeganMS: 3250}},
		Turns:      json.RawMessage(`[{"turn":1,"generation":2,"at_ms":4000,"endpoint_ms":400,"model_ms":300,"voice_ms":100,"total_ms":800}]`),
		AnsweredBy: "human"}))
	usage := billing.Usage{billing.AgentTime: 61_500, billing.LineTime: 61_500}
	cost, err := o.Ledger.CloseSession(storetest.At(t.Context(), answered.Add(61500*time.Millisecond)), s, ledger.Closing{Reason: "failed", Detail: "media_timeout", StartedAt: answered, Usage: usage})
	o.OK(err)
	o.OK(history.New(o.DB).SaveWire(t.Context(), o.A.Account, s.ID, history.Wire{Quality: &quality.Report{MOS: 4.25}}))
	o.Read(o.A, at, &c)
	if c.Status != "ended" || c.Duration != 61 || *c.EndReason != "failed" || *c.EndDetail != "media_timeout" || c.Cost != cost || *c.MOS != 4.25 || *c.By != "human" ||
		!c.AnsweredAt.Equal(answered) {
		t.Errorf("after it: %+v", c)
	}
	if len(c.Transcript) != 2 || c.Transcript[1].Text != "¿Abren?" || c.Transcript[1].At != 3.15 || len(c.Turns) != 1 || c.Turns[0]["total_ms"] != 800 {
		t.Errorf("said: %+v %+v", c.Transcript, c.Turns)
	}
	if f := c.Functions; len(f) != 2 || f[0].Name != "hours" || f[0].RunBy != "server" || f[0].StartMS != 3200 || *f[0].EndMS != 3300 || *f[0].Outcome != "ok" || *f[0].Result != "9 to 6" ||
		f[1].RunBy != "client" || f[1].Outcome != nil || f[1].Result != nil || f[1].EndMS != nil {
		t.Errorf("functions: %+v", f)
	}
}

func TestList(t *testing.T) {
	o := open(t)
	var want []string
	for i := range 5 {
		for _, who := range []owner{o.A, o.B} {
			c := o.start(who, inbound, began.Add(time.Duration(i)*time.Second))
			_, err := o.Ledger.CloseSession(storetest.At(t.Context(), began.Add(time.Minute)), c, ledger.Closing{Reason: "user_hangup"})
			o.OK(err)
			if who == o.A {
				want = append([]string{c.ID}, want...)
			}
		}
	}
	var got []string
	for cursor := ""; ; {
		var page struct {
			Data       []seen
			HasMore    bool    `json:"has_more"`
			NextCursor *string `json:"next_cursor"`
		}
		text := o.Read(o.A, "/v1/calls?limit=2"+cursor, &page)
		if strings.Contains(text, "transcript") {
			t.Errorf("the list tells what was said: %s", text)
		}
		for _, c := range page.Data {
			got = append(got, c.ID)
		}
		if !page.HasMore {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("pages hold %v, want %v", got, want)
	}
	for query, want := range map[string]int{"x-customer-ID:42:+a": 5, "X-Customer-Id:+42:+a+": 5, "X-Customer-Id:42": 0, "user-to-user:Order+1": 5, "X-Other:42": 0} {
		var page struct{ Data []seen }
		if o.Read(o.A, "/v1/calls?header="+query, &page); len(page.Data) != want {
			t.Errorf("%s: %d calls, want %d", query, len(page.Data), want)
		}
		if r := o.As(o.A, "GET", "/v1/calls.csv?header="+query, ""); r.Status != 200 || strings.Count(string(r.Body), "ses_") != want {
			t.Errorf("%s as a file: %d, %s", query, r.Status, r.Body)
		}
	}
	for _, query := range []string{"X-Customer-Id", "Subject:hello", ":42", "X-A:" + strings.Repeat("a", 513)} {
		if status, text := o.get(o.A, "/v1/calls?header="+query); status != 400 || !strings.Contains(text, "header") {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=101", "?limit=x", "?cursor=%00", "?cursor=" + strings.Repeat("x", 101)} {
		if status, text := o.get(o.A, "/v1/calls"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

func TestWire(t *testing.T) {
	o := open(t)
	s := o.start(o.A, inbound, began)
	at := "/v1/calls/" + s.ID
	var q map[string]any
	if o.Read(o.A, at+"/quality", &q); q["available"] != false || q["mos"] != 0.0 {
		t.Errorf("quality before the end: %v", q)
	}
	if text := o.Read(o.A, at+"/sip", &q); strings.TrimSpace(text) != `{"data":[],"dropped":0}` {
		t.Errorf("signalling before the end: %s", text)
	}
	r := quality.Report{MOS: 4.2, MOSMin: 3.9, Received: 5, Lost: 4, Late: 3, Loss: 0.25, JitterMS: 1.5, ConcealedMS: 80, Foreign: 2,
		Sent: 9, SentLate: 6, Unsent: 8, RemoteLoss: 0.125, RemoteJitterMS: 2.5, RTTMS: 38.5, Encrypted: true}
	o.OK(history.New(o.DB).SaveWire(t.Context(), o.A.Account, s.ID, history.Wire{Quality: &r, Dropped: 7, SIP: []history.SIPMessage{
		{At: began, Transport: "UDP", From: "192.0.2.7:5060", To: "192.0.2.1:5060", Text: "INVITE sip:1@x SIP/2.0\r\n\r\n"},
		{At: began.Add(time.Millisecond), Sent: true, Transport: "TLS", From: "192.0.2.1:5061", To: "192.0.2.7:5061", Text: "SIP/2.0 100 Trying\r\n\r\n"}}}))
	text := o.Read(o.A, at+"/quality", &q)
	var back quality.Report // the two have the same names
	o.OK(json.Unmarshal([]byte(text), &back))
	if back != r || q["available"] != true {
		t.Errorf("quality %s, want %+v", text, r)
	}
	var trace struct {
		Data []struct {
			At                                      time.Time
			Direction, Transport, From, To, Message string
		}
		Dropped int
	}
	text = o.Read(o.A, at+"/sip", &trace)
	if len(trace.Data) != 2 || trace.Dropped != 7 {
		t.Fatalf("signalling %s", text)
	}
	if m := trace.Data[1]; m.Direction != "sent" || m.Transport != "TLS" || m.From != "192.0.2.1:5061" || m.To != "192.0.2.7:5061" ||
		m.Message != "SIP/2.0 100 Trying\r\n\r\n" || !m.At.Equal(began.Add(time.Millisecond)) || trace.Data[0].Direction != "received" {
		t.Errorf("signalling %s", text)
	}
}

// What is another account's answers exactly like what does not exist, and nobody
// comes in without a key.
func TestForeignIsUnknown(t *testing.T) {
	o := open(t)
	s := o.start(o.A, inbound, began)
	o.OK(history.New(o.DB).SaveWire(t.Context(), o.A.Account, s.ID, history.Wire{Quality: &quality.Report{MOS: 4}}))
	for _, suffix := range []string{"", "/quality", "/sip"} {
		status, mine := o.get(o.B, "/v1/calls/"+s.ID+suffix)
		status2, nobodys := o.get(o.B, "/v1/calls/ses_0"+suffix)
		status3, odd := o.get(o.B, "/v1/calls/%00"+suffix)
		if status != 404 || status2 != 404 || status3 != 404 || mine != nobodys || mine != odd || !strings.Contains(mine, `"request.not_found"`) {
			t.Errorf("%s: foreign %d %s, unknown %d %s, impossible %d %s", suffix, status, mine, status2, nobodys, status3, odd)
		}
		if status, text := o.get(owner{}, "/v1/calls/"+s.ID+suffix); status != 401 {
			t.Errorf("%s without a key: %d %s", suffix, status, text)
		}
	}
	var page struct{ Data []seen }
	if o.Read(o.B, "/v1/calls", &page); len(page.Data) != 0 {
		t.Errorf("B's list holds %+v", page.Data)
	}
}
