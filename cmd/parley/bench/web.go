package bench

import (
	"context"
	"errors"

	"parley/api"
	"parley/api/talk"
	"parley/api/webrtc"
	"parley/api/wsagent"
	"parley/cmd/parley/conversation"
	rtc "parley/media/webrtc"
	"parley/pipeline"
	"parley/pipeline/event"
)

// web serves conversations that the pipeline conducts, over the agent socket or WebRTC.
type web struct {
	anyKey
	traffic // of WebRTC
	agents  agents
	addr    string
	port    uint16 // UDP, of all WebRTC sessions
	close   func() error
}

// newWeb starts a server of agent sockets.
func newWeb(list agents) (*web, error) {
	w := &web{agents: list}
	routes := api.New(w)
	wsagent.Mount(routes, &wsagent.Handler{Agents: w})
	return w, w.serve(routes, func() error { return nil })
}

// newSwitchboard starts a server of WebRTC sessions.
func newSwitchboard(list agents) (*web, error) {
	port, err := rtc.Listen(rtc.Config{Addr: loopback})
	if err != nil {
		return nil, err
	}
	w := &web{agents: list, port: port.Addrs()[0].Port()}
	h := webrtc.New(webrtc.Options{Agents: w})
	h.Listen(port)
	routes := api.New(w)
	webrtc.Mount(routes, h)
	return w, w.serve(routes, h.Close)
}

// serve answers requests; then ends what they have begun.
func (w *web) serve(routes *api.API, then func() error) error {
	addr, stop, err := serve(routes)
	if err != nil {
		return errors.Join(err, then())
	}
	w.addr, w.close = addr, func() error { stop(); return then() }
	return nil
}

// Admit implements talk.Agents.
func (w *web) Admit(_ context.Context, _ api.Principal, agent string) (talk.Conversation, error) {
	return &webCall{web: w, agent: agent}, nil
}

// webCall is one caller's. The callers of a measurement only speak: what
// they could type or press is ignored.
type webCall struct {
	web   *web
	agent string
}

// ID implements talk.Conversation: nobody comes back to a call of a measurement.
func (c *webCall) ID() string { return "" }

func (c *webCall) Cancel() {}

// Fail implements talk.Conversation.
func (c *webCall) Fail()                     {}
func (c *webCall) Type(string)               {}
func (c *webCall) Interrupt()                {}
func (c *webCall) ToolResult(string, string) {}
func (c *webCall) Update(talk.Change)        {}

// Converse implements talk.Conversation. A prompt names the agent.
func (c *webCall) Converse(ctx context.Context, asked talk.Change, leg talk.Leg) {
	if asked.Prompt != nil {
		c.agent = *asked.Prompt
	}
	a := c.web.agents.find(c.agent)
	if a == nil {
		return // the socket is closed
	}
	cfg, err := a.config(leg.Format().In)
	if err != nil {
		return
	}
	cfg.Observe = func(e event.Event) { conversation.Tell(leg, e) }
	call := pipeline.New(cfg)
	if call.Prepare(ctx) != nil {
		return
	}
	leg.Status("prompt_set", 0)
	if l, ok := leg.(counted); ok {
		defer c.web.begin(l)()
	}
	_ = call.Run(leg) // why it ended is the caller's to see
}
