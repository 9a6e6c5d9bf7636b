package node

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/api/wsagent/client"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
	"parley/store/webhook"
)

// cable is a network between a client and one of a site's nodes, which breaks without a word.
type cable struct {
	net.Listener
	running sync.WaitGroup

	mu    sync.Mutex
	node  string // HOST:PORT
	conns []net.Conn
}

func newCable(t *testing.T) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{Listener: l}
	c.running.Go(func() {
		for {
			one, err := l.Accept()
			if err != nil {
				return
			}
			c.running.Go(func() { c.carry(one) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.leadsTo("")
		c.running.Wait()
	})
	return c
}

// leadsTo breaks what there is, and leads to a node from then on.
func (c *cable) leadsTo(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.node = strings.TrimPrefix(url, "http://")
	for _, one := range c.conns {
		one.Close()
	}
	c.conns = nil
}

func (c *cable) carry(one net.Conn) {
	defer one.Close()
	c.mu.Lock()
	other, err := net.Dial("tcp", c.node)
	if err == nil {
		c.conns = append(c.conns, one, other)
	}
	c.mu.Unlock()
	if err != nil {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{one, other}, {other, one}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // it ends with either side
			one.Close()
			other.Close()
		})
	}
	both.Wait()
}

// TestConversationSurvivesTheNetwork: a conversation whose network breaks goes on, also where the client reaches another
// node then: it is one call, with one history, one bill and one webhook. Nobody else gets it.
func TestConversationSurvivesTheNetwork(t *testing.T) {
	s := newSite(t)
	n := s.nodes[0]
	s.ok(n.db.IntroduceNode(t.Context(), n.life, strings.TrimPrefix(s.servers[0].URL, "http://"), "1"))
	_, _, err := n.hooks.Create(t.Context(), s.account, webhook.Webhook{URL: "https://example.com/parley"})
	s.ok(err)
	model := enginetest.NewFakeLLM()
	var mu sync.Mutex
	var shown string
	model.Answer = func(_ int, r inference.Request) []enginetest.Step {
		mu.Lock()
		defer mu.Unlock()
		shown = ""
		for _, m := range r.Messages {
			shown += string(m.Role) + ": " + m.Text + "\n"
		}
		if strings.HasSuffix(shown, "tell me more\n") {
			return enginetest.Sentences(0, "We open at nine. ", "We close at six. ", "Come any time. ", "Dogs are welcome. ", "So are cats.")
		}
		return enginetest.Sentences(0, "All right.")
	}
	told := func() string {
		mu.Lock()
		defer mu.Unlock()
		return shown
	}
	n.engines.TTS, n.engines.LLM = enginetest.NewFakeTTS(), model
	line := newCable(t)
	line.leadsTo(s.servers[0].URL)
	ctx, end := context.WithCancel(t.Context())
	grants, answers := make(chan client.Grant, 10), make(chan string, 10)
	var heard atomic.Int64 // samples
	c := client.NewSession("http://"+line.Addr().String(), s.key, s.agent, client.SessionOptions{Options: client.Options{OnEvent: func(e client.Event) {
		switch {
		case e.Kind == client.Granted:
			grants <- e.Grant
		case e.Kind == client.Transcript && e.Role == "agent":
			answers <- e.Text
		case e.Kind == client.Audio:
			heard.Add(int64(len(e.Samples)))
		}
	}}})
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	first := <-grants
	says := func(text string) {
		t.Helper()
		eventually(t, "the turn is typed", func() bool { return c.SendText(text) == nil })
		if got := <-answers; got != "All right." {
			t.Errorf("it answers %q", got)
		}
	}
	says("My name is Ana.")
	for i, url := range []string{s.servers[0].URL, s.servers[1].URL, s.servers[1].URL, s.servers[0].URL} {
		line.leadsTo(url)
		if g := <-grants; !g.Resumed || g.Call != first.Call {
			t.Fatalf("after cut %d: %+v, first %+v", i, g, first)
		}
		says([]string{"one", "two", "three", "four"}[i])
	}
	before := heard.Load()
	since := func() float64 { return float64(heard.Load()-before) / float64(client.RateOut) }
	s.ok(c.SendText("tell me more"))
	eventually(t, "the agent is in its second sentence", func() bool { return since() > 1.5 })
	line.leadsTo(s.servers[0].URL)
	if g := <-grants; !g.Resumed {
		t.Errorf("%+v", g)
	}
	if got := <-answers; got != "We open at nine. We close at six. Come any time. Dogs are welcome. So are cats." {
		t.Errorf("it says %q", got)
	}
	if got := since(); got < 5.2 || got > 6.5 { // five sentences of a second each, and what was cut
		t.Errorf("the client gets %.1f s of the reply", got)
	}
	if want := "user: My name is Ana.\nagent: All right.\nuser: one\nagent: All right.\nuser: two\nagent: All right.\nuser: three\nagent: All right.\nuser: four\nagent: All right.\nuser: tell me more\n"; !strings.HasSuffix(told(), want) {
		t.Errorf("the model was shown\n%s", told())
	}
	b, err := ledger.New(n.db).CreateAccount(t.Context(), "B", n.db.RateCard())
	s.ok(err)
	_, other, err := people.New(n.db).MakeKey(storetest.At(t.Context(), n.db.Now()), people.NewKey{Account: b.ID, Name: "other", Role: people.RoleMember})
	s.ok(err)
	for i, server := range s.servers {
		foreign, err := client.Dial(t.Context(), server.URL, other, "", client.Options{Resume: first.Token, OnEvent: func(e client.Event) {
			if e.Kind == client.Granted || e.Kind == client.Error && e.Fault.Code != "agent.session_over" {
				t.Errorf("node %d tells another account %s", i, e.Raw)
			}
		}})
		s.ok(err)
		if closed := foreign.Run(t.Context()); closed.Code != 1008 {
			t.Errorf("node %d: %+v", i, closed)
		}
	}
	says("five")
	end()
	s.ok(<-done)

	var call struct {
		EndedAt   *string `json:"ended_at"`
		EndReason string  `json:"end_reason"`
	}
	eventually(t, "the call ends", func() bool { s.read("/v1/calls/"+first.Call, "", &call); return call.EndedAt != nil })
	if call.EndReason != "user_hangup" {
		t.Errorf("it ended by %s", call.EndReason)
	}
	var list struct{ Data []json.RawMessage }
	if s.read("/v1/calls", "", &list); len(list.Data) != 1 {
		t.Errorf("%d calls", len(list.Data))
	}
	count := func(what, query string) {
		t.Helper()
		var n int
		if s.ok(s.nodes[0].db.Pool().QueryRow(t.Context(), query, s.account).Scan(&n)); n != 1 {
			t.Errorf("%d %s", n, what)
		}
	}
	count("sessions", "select count(*) from sessions where account_id = $1")
	count("webhooks", "select count(*) from webhook_deliveries where account_id = $1 and kind = 'call.ended'")
	if strings.Contains(s.log.String(), first.Token) {
		t.Error("a token is logged")
	}
}
