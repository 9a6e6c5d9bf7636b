package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/api"
	"parley/api/apitest"
	"parley/api/callcenter"
	"parley/api/calls"
	"parley/api/cases"
	"parley/api/export"
	"parley/api/knowledge"
	"parley/api/manage"
	"parley/api/mcp"
	"parley/api/status"
	"parley/api/ticket"
	"parley/api/tts"
	"parley/api/wallet"
	"parley/api/wire"
	"parley/billing"
	"parley/inference/enginetest"
	"parley/sip/carrier/simulated"
	"parley/store"
	keptcases "parley/store/cases"
	"parley/store/history"
	kept "parley/store/knowledge"
	books "parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// office is a world with all routes that are tools, and the endpoint.
type office struct {
	*apitest.World
	signer *ticket.Signer
	phone  *phone
	node   store.Node
	queued int // simulations

	number, call, base, test, simulation string // what A has
}

// definition takes members of agents as they come.
var definition = manage.Definition{
	New: func() store.Agent { return store.Agent{Voice: "F1", Language: "en"} }, Schema: apitest.AgentSchema,
	Apply: func(a *store.Agent, document json.RawMessage) error {
		if bytes.Contains(document, []byte("forbidden")) {
			return api.Bad("settings.goodbye: is forbidden")
		}
		var given struct{ Name, Prompt *string }
		if err := json.Unmarshal(document, &given); err != nil {
			return api.Bad("%v", err)
		}
		if given.Name != nil {
			a.Name = *given.Name
		}
		if given.Prompt != nil {
			a.Prompt = *given.Prompt
		}
		return nil
	},
}

// phone places calls that nobody hears.
type phone struct {
	callcenter.Calls
	own map[string]string // accounts by their calls

	mu     sync.Mutex
	orders []callcenter.Order
	ended  []string
}

func (p *phone) Dial(_ context.Context, who api.Principal, o callcenter.Order) (*wire.Placed, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o.From != "+34911234567" {
		return nil, api.ErrFrom
	}
	p.orders = append(p.orders, o)
	id := fmt.Sprintf("ses_%d", len(p.orders))
	p.own[id] = who.Account
	return &wire.Placed{CallID: id, Status: "dialing", From: o.From, To: o.To, AgentID: o.Agent, CreatedAt: time.Now()}, nil
}

func (p *phone) Hangup(_ context.Context, account, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own[id] != account {
		return store.ErrNotFound
	}
	p.ended = append(p.ended, id)
	return nil
}

// placed are the calls that were ordered.
func (p *phone) placed() []callcenter.Order {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.orders)
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{World: apitest.Open(t, apitest.Options{Paid: 100 * billing.USD}), phone: &phone{own: map[string]string{}}}
	var err error
	o.signer, err = ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)
	carrier, err := simulated.New(simulated.Config{Now: time.Now})
	o.OK(err)
	card := func() *billing.RateCard { return o.Card }
	a, files := api.New(ticket.Keys{Signer: o.signer, Store: o.DB, People: o.People}), export.New(o.DB)
	manage.Mount(a, o.DB, files, definition)
	cases.Mount(a, cases.Options{Store: keptcases.New(o.DB), Runs: func(json.RawMessage) int { return 1 }, Check: func(json.RawMessage) error { return nil },
		Enqueue: func(context.Context, pgx.Tx, string, string) error { o.queued++; return nil },
		Draft:   func(document json.RawMessage) (any, error) { return document, nil }, Stored: func(a *store.Agent) any { return a.Name }})
	wallet.Mount(a, o.DB, files, card)
	calls.Mount(a, o.DB, files)
	knowledge.Mount(a, kept.New(o.DB), func(string) error { return nil })
	callcenter.Mount(a, callcenter.New(callcenter.Numbers{Store: o.DB, Carrier: carrier, Card: card, Routing: callcenter.Routing{Schema: json.RawMessage(`{"type":"object"}`)}, Log: slog.New(slog.DiscardHandler)}))
	callcenter.MountCalls(a, o.DB, o.phone, nil)
	callcenter.MountFollow(a, o.DB, o.phone, nil)
	voice := enginetest.NewFakeTTS()
	voice.FirstAudio = 0
	server := &status.Server{Version: "1.2.3", Engines: []status.Engine{{Kind: status.TTS, Info: voice.Info}},
		Calls: func() int { return 0 }, Load: func() float64 { return 0 }, Counts: new(api.Counts)}
	status.Mount(a, server)
	mcp.Mount(a, &mcp.Tools{Server: server, Voice: tts.New(voice), Books: &ledger{}})
	o.Serve(a, api.Options{})
	o.fill()
	return o
}

// fill gives A what tools are about.
func (o *office) fill() {
	o.Helper()
	read := func(r apitest.Reply) (v struct{ ID string }) {
		o.Helper()
		if r.Status >= 300 {
			o.Fatalf("%d %s", r.Status, r.Body)
		}
		o.OK(json.Unmarshal(r.Body, &v))
		return v
	}
	var offers struct{ Numbers []wire.Offer }
	o.Read(o.A, "/callcenter/numbers/search?country_code=ES", &offers)
	o.number = read(o.As(o.A, "POST", "/callcenter/numbers", `{"phone_number":"`+offers.Numbers[0].PhoneNumber+`"}`)).ID
	o.base = read(o.As(o.A, "POST", "/v1/knowledge", `{"name":"Menu","language":"en"}`)).ID
	o.test = read(o.As(o.A, "POST", "/v1/agents/"+o.A.Agent+"/cases", `{"name":"Hours","script":{"caller":[{"say":"When?"}]}}`)).ID
	o.simulation = read(o.As(o.A, "POST", "/v1/agents/"+o.A.Agent+"/simulations", `{}`)).ID
	var err error
	o.node, _, err = o.Ledger.RegisterNode(o.Context(), "node", "127.0.0.1:1")
	o.OK(err)
	o.call = o.spoken("I want a refund.")
}

// spoken is a call of A in which the caller has said these lines.
func (o *office) spoken(lines ...string) string {
	o.Helper()
	ctx := storetest.At(o.Context(), time.Now())
	s, err := o.Ledger.StartSession(ctx, books.Start{Node: o.node, Account: o.A.Account, Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}, Card: o.Card,
		Agent: o.A.Agent, From: "+34612345678", To: "+34911234567"})
	o.OK(err)
	said := history.Conversation{Turns: json.RawMessage(`[{"turn":1,"generation":2,"at_ms":4000,"endpoint_ms":400,"model_ms":300,"voice_ms":100,"total_ms":800}]`)}
	for i, line := range lines {
		l := history.TranscriptLine{Role: "user", Text: line, AtMS: int64(i) * 1000}
		for w := range strings.FieldsSeq(line) {
			l.Words = append(l.Words, history.SpokenWord{Text: w, StartMS: l.AtMS, EndMS: l.AtMS + 10})
		}
		said.Transcript = append(said.Transcript, l)
	}
	o.OK(history.New(o.DB).SaveConversation(ctx, o.A.Account, s.ID, said))
	_, err = o.Ledger.CloseSession(ctx, s, books.Closing{Reason: "completed", Usage: billing.Usage{}})
	o.OK(err)
	return s.ID
}

// ticket of A's key.
func (o *office) ticket(scope api.Scope) string {
	return o.signer.Sign(api.Principal{Account: o.A.Account, Key: o.A.KeyID, Ticket: &api.Ticket{Scope: scope, Expires: time.Now().Add(time.Minute)}})
}

// bearer sends a credential with every request.
type bearer struct {
	secret string
	next   http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.secret)
	return b.next.RoundTrip(r)
}

// host is a client of the protocol's own library, with a credential.
type host struct {
	*office
	*sdk.ClientSession
}

func (o *office) host(secret string) host {
	o.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(o.Context(), &sdk.StreamableClientTransport{Endpoint: o.Server.URL + "/mcp",
		HTTPClient: &http.Client{Transport: bearer{secret, o.Server.Client().Transport}}}, nil)
	o.OK(err)
	o.Cleanup(func() { session.Close() })
	return host{o, session}
}

// ask calls a tool: the texts of its result, and whether it refused.
func (h host) ask(tool string, arguments any) (texts []string, result *sdk.CallToolResult) {
	h.Helper()
	result, err := h.CallTool(h.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	h.OK(err)
	for _, c := range result.Content {
		if t, is := c.(*sdk.TextContent); is {
			texts = append(texts, t.Text)
		}
	}
	return texts, result
}

// gets is what a tool answers, which must not refuse.
func (h host) gets(tool string, arguments any) string {
	h.Helper()
	texts, result := h.ask(tool, arguments)
	if result.IsError || len(texts) != 1 {
		h.Fatalf("%s %v: %+v %q", tool, arguments, result, texts)
	}
	var text, structured any
	whole, err := json.Marshal(result.StructuredContent)
	h.OK(err)
	if json.Unmarshal([]byte(texts[0]), &text) != nil || json.Unmarshal(whole, &structured) != nil || fmt.Sprint(text) != fmt.Sprint(structured) {
		h.Errorf("%s: the text is %s, structured is %s", tool, texts[0], whole)
	}
	return texts[0]
}

// refused wants a tool to refuse with a code.
func (h host) refused(tool string, arguments any, code string) (detail string) {
	h.Helper()
	texts, result := h.ask(tool, arguments)
	if !result.IsError || len(texts) == 0 || !strings.HasPrefix(texts[0], code+": ") {
		h.Errorf("%s %v: %+v %q, want %s", tool, arguments, result, texts, code)
		return ""
	}
	if len(texts) > 1 {
		return texts[1]
	}
	return ""
}
