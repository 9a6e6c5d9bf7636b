package bench

import (
	"context"
	"net"
	"net/http"
	"time"

	"parley/api"
	"parley/api/talk"
	"parley/api/wsagent"
	"parley/pipeline"
)

// web serves agent sockets whose conversations are conducted by the pipeline.
type web struct {
	agents agents
	server *http.Server
	addr   string
	done   chan struct{}
}

// newWeb starts a server; close ends it.
func newWeb(list agents) (*web, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &web{agents: list, addr: l.Addr().String(), done: make(chan struct{})}
	a := api.New(w)
	wsagent.Mount(a, &wsagent.Handler{Agents: w})
	w.server = &http.Server{Handler: a.Handler(api.Options{}), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		defer close(w.done)
		_ = w.server.Serve(l) // a lost listener shows as callers that cannot connect
	}()
	return w, nil
}

func (w *web) close() {
	_ = w.server.Close()
	<-w.done
}

// Authenticate implements api.Keys: any key will do.
func (w *web) Authenticate(context.Context, string) (api.Principal, error) {
	return api.Principal{Account: "bench"}, nil
}

// Admit implements talk.Agents.
func (w *web) Admit(context.Context, api.Principal, string) (talk.Conversation, error) {
	return &conversation{agents: w.agents}, nil
}

// conversation is one caller's. The callers of a measurement only speak: what
// they could type or press is ignored.
type conversation struct {
	agents agents
	leg    talk.Leg
}

func (c *conversation) Cancel() {}

// Fail implements talk.Conversation.
func (c *conversation) Fail()                     {}
func (c *conversation) Type(string)               {}
func (c *conversation) Interrupt()                {}
func (c *conversation) ToolResult(string, string) {}
func (c *conversation) Update(talk.Change)        {}

// Converse implements talk.Conversation. The prompt names the agent.
func (c *conversation) Converse(ctx context.Context, asked talk.Change, leg talk.Leg) {
	c.leg = leg
	name := ""
	if asked.Prompt != nil {
		name = *asked.Prompt
	}
	a := c.agents.find(name)
	if a == nil {
		return // the socket is closed
	}
	cfg, err := a.config(leg.Format().In)
	if err != nil {
		return
	}
	cfg.Observe = c.observe
	call := pipeline.New(cfg)
	if call.Prepare(ctx) != nil {
		return
	}
	leg.Status("prompt_set", 0)
	_ = call.Run(leg) // why it ended is the caller's to see
}

// observe tells the client what a server tells it.
func (c *conversation) observe(e pipeline.Event) {
	switch e.Kind {
	case pipeline.Thinking, pipeline.Speaking:
		c.leg.Status(e.Kind.String(), e.Generation)
	case pipeline.Listening, pipeline.Interrupted:
		c.leg.Status(e.Kind.String(), 0)
	case pipeline.UserPartial:
		c.leg.Caption("user", e.Text)
	case pipeline.AgentPartial:
		c.leg.Caption("agent", e.Text)
	case pipeline.UserLine:
		c.leg.Transcript("user", e.Text)
	case pipeline.AgentLine:
		c.leg.Transcript("agent", e.Text)
	}
}
