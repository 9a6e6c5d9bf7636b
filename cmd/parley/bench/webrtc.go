package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"parley/api"
	"parley/api/talk"
	"parley/api/webrtc"
	"parley/media/stream"
	rtc "parley/media/webrtc"
	"parley/pipeline"
)

// runWebRTC measures sessions over WebRTC, and telephone calls beside them.
func (c Call) runWebRTC(ctx context.Context) ([]Row, error) {
	floor, err := c.floor(ctx)
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	rows, cost, err := c.measureWebRTC(ctx)
	if err != nil {
		return nil, err
	}
	beside := c
	beside.Profile = "" // which the sessions have filled
	_, phone, err := beside.measure(ctx)
	if err != nil {
		return nil, fmt.Errorf("telephone calls: %w", err)
	}
	group := rows[0].Group
	// A frame is 20 ms: what share of one processor a call takes.
	share := func(us float64) float64 { return us / float64(frameTime.Microseconds()) * 100 }
	first := []Row{{Group: group, Name: "floor", Value: floor, Unit: "us/frame", Floor: 1},
		{Group: group, Name: "processor time of a call", Value: cost, Unit: "us/frame", Floor: cost / floor},
		{Group: group, Name: "the same on the telephone", Value: phone, Unit: "us/frame", Floor: phone / floor},
		{Group: group, Name: "of one processor, a call", Value: share(cost), Unit: "%"},
		{Group: group, Name: "of one processor, a call on the telephone", Value: share(phone), Unit: "%"}}
	return append(first, rows...), nil
}

// measureWebRTC makes the calls; see measure.
func (c Call) measureWebRTC(ctx context.Context) ([]Row, float64, error) {
	s, err := newSwitchboard(c.agent())
	if err != nil {
		return nil, 0, err
	}
	l, err := c.start(ctx, loadOrder{Calls: c.Calls, WebRTC: s.addr})
	if err != nil {
		return nil, 0, errors.Join(err, s.close())
	}
	cost, err := c.profiled(ctx, s.sent)
	result, stopErr := l.stop()
	full := portDrops(s.port)
	if err := errors.Join(err, stopErr, s.close()); err != nil {
		return nil, 0, err
	}
	group := fmt.Sprintf("%d calls over WebRTC, %s", c.Calls, c.name())
	none := atMost(0)
	return []Row{
		{Group: group, Name: "calls dropped", Value: float64(result.Dropped), Bar: none},
		{Group: group, Name: "packets lost at the caller", Value: float64(result.Lost), Bar: none},
		{Group: group, Name: "packets lost at the server", Value: float64(s.total.Lost), Bar: none},
		{Group: group, Name: "dropped by the system, no room at the port", Value: float64(full)},
		{Group: group, Name: "dropped by the session, nobody took them", Value: float64(s.total.Dropped)},
		{Group: group, Name: "came too late", Value: float64(s.total.Late)},
		{Group: group, Name: "frames skipped by the server", Value: float64(s.total.Skipped)},
		{Group: group, Name: "agent speaking", Value: 100 * float64(result.Audible) / float64(max(1, result.Frames)), Unit: "%"},
		{Group: group, Name: "late packets of the generator", Value: 100 * float64(result.Late) / float64(max(1, result.Sent)), Unit: "%"},
	}, cost, nil
}

// switchboard is a server of WebRTC sessions alone, all with one agent.
type switchboard struct {
	web
	agent   *benchAgent
	port    uint16 // UDP, of all sessions
	handler *webrtc.Handler

	mu    sync.Mutex
	legs  map[*webrtc.Leg]struct{}
	total stream.Stats // of sessions that have ended
}

func newSwitchboard(a *benchAgent) (*switchboard, error) {
	port, err := rtc.Listen(rtc.Config{Addr: loopback})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback.String(), "0"))
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	s := &switchboard{web: web{addr: l.Addr().String(), done: make(chan struct{})}, agent: a, port: port.Addrs()[0].Port(), legs: map[*webrtc.Leg]struct{}{}}
	s.handler = webrtc.New(webrtc.Options{Agents: s})
	s.handler.Listen(port)
	routes := api.New(s)
	webrtc.Mount(routes, s.handler)
	s.server = &http.Server{Handler: routes.Handler(api.Options{}), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(l) // a lost listener shows as callers that cannot connect
	}()
	return s, nil
}

func (s *switchboard) close() error {
	s.web.close()
	return s.handler.Close()
}

// Admit implements talk.Agents.
func (s *switchboard) Admit(context.Context, api.Principal, string) (talk.Conversation, error) {
	return &webrtcCall{conversation{}, s}, nil
}

// webrtcCall is one caller's conversation.
type webrtcCall struct {
	conversation
	s *switchboard
}

// Converse implements talk.Conversation.
func (c *webrtcCall) Converse(ctx context.Context, _ talk.Change, leg talk.Leg) {
	c.leg = leg
	cfg, err := c.s.agent.config(leg.Format().In)
	if err != nil {
		return
	}
	cfg.Observe = c.observe
	call := pipeline.New(cfg)
	if call.Prepare(ctx) != nil {
		return
	}
	leg.Status("prompt_set", 0)
	l := leg.(*webrtc.Leg)
	c.s.mu.Lock()
	c.s.legs[l] = struct{}{}
	c.s.mu.Unlock()
	_ = call.Run(leg) // why it ended is the caller's to see
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.s.legs, l)
	st := l.Stats()
	c.s.total.Lost += st.Lost
	c.s.total.Skipped += st.Skipped
	c.s.total.Late += st.Late
	c.s.total.Dropped += st.Dropped + st.Overruns
}

// sent is how many packets the sessions in progress have sent.
func (s *switchboard) sent() (packets uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.legs {
		packets += l.Stats().Sent
	}
	return packets
}
