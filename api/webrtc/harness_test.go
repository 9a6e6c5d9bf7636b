package webrtc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/webrtc/v4"

	"parley/api"
	"parley/api/talk"
	"parley/api/webrtc"
	"parley/media"
	line "parley/media/webrtc"
	"parley/store"
)

// patience is for what must happen, on a machine that has much else to do.
const patience = 60 * time.Second

const (
	goodKey       = "sk_good"
	otherKey      = "sk_other"
	sessionTicket = "wst_session"
	shortTicket   = "wst_short" // of conversations of ten minutes at most
	longTicket    = "wst_long"  // of five hours, which is more than there is
)

// keys knows two accounts' keys, and one session ticket.
type keys struct{}

func (keys) Authenticate(_ context.Context, secret string) (api.Principal, error) {
	p := api.Principal{Account: "acc_1", Key: "key_1"}
	switch secret {
	case goodKey:
	case otherKey:
		p = api.Principal{Account: "acc_2", Key: "key_2"}
	case sessionTicket:
		p.Ticket = &api.Ticket{ID: "tkt_1", Agent: "ag_1", MaxSessions: 1}
	case shortTicket:
		p.Ticket = &api.Ticket{ID: "tkt_2", Agent: "ag_1", MaxSessions: 1, MaxDuration: 10 * time.Minute}
	case longTicket:
		p.Ticket = &api.Ticket{ID: "tkt_3", Agent: "ag_1", MaxSessions: 1, MaxDuration: 5 * time.Hour}
	default:
		return api.Principal{}, fmt.Errorf("authenticate: %w", store.ErrUnauthorized)
	}
	return p, nil
}

// agents admits conversations that run the given function, or refuses.
type agents struct {
	refuse   error
	converse func(ctx context.Context, c talk.Change, leg talk.Leg)
	told     chan string
}

func (a *agents) Admit(_ context.Context, p api.Principal, agentID string) (talk.Conversation, error) {
	if t := p.Ticket; t != nil && agentID != "" && agentID != t.Agent {
		return nil, api.ErrTicketScope
	}
	if a.refuse != nil {
		return nil, a.refuse
	}
	a.told <- "admit " + p.Account + " " + agentID
	return conversation{a}, nil
}

// conversation is one of agents.
type conversation struct{ a *agents }

func (c conversation) Converse(ctx context.Context, asked talk.Change, leg talk.Leg) {
	prompt := ""
	if asked.Prompt != nil {
		prompt = *asked.Prompt
	}
	c.a.told <- "converse " + prompt
	c.a.converse(ctx, asked, leg)
	c.a.told <- "over"
}

func (c conversation) ID() string                { return "ses_1" }
func (c conversation) Cancel()                   { c.a.told <- "cancel" }
func (c conversation) Fail()                     { c.a.told <- "fail" }
func (c conversation) Type(text string)          { c.a.told <- "type " + text }
func (c conversation) Interrupt()                { c.a.told <- "interrupt" }
func (c conversation) ToolResult(string, string) {}
func (c conversation) Update(talk.Change)        { c.a.told <- "update" }

// attend runs the leg for a conversation that only listens.
func attend(ctx context.Context, _ talk.Change, leg talk.Leg) {
	leg.Status("prompt_set", 0)
	_ = leg.Run(ctx)
}

type server struct {
	*httptest.Server
	t       *testing.T
	agents  *agents
	handler *webrtc.Handler
	addr    netip.AddrPort
}

func newServer(t *testing.T, a *agents, o webrtc.Options) *server {
	t.Helper()
	a.told = make(chan string, 100)
	if a.converse == nil {
		a.converse = attend
	}
	port, err := line.Listen(line.Config{Addr: netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	o.Agents = a
	h := webrtc.New(o)
	h.Listen(port)
	routes := api.New(keys{})
	webrtc.Mount(routes, h)
	s := &server{Server: httptest.NewServer(routes.Handler(api.Options{})), t: t, agents: a, handler: h, addr: port.Addrs()[0]}
	t.Cleanup(func() {
		s.Server.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// told waits for what the conversation is told.
func (s *server) told(want string) {
	s.t.Helper()
	if got := wait(s.t, want, s.agents.told); got != want {
		s.t.Fatalf("the conversation was told %q, want %q", got, want)
	}
}

func wait[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
	}
	return v
}

// ask sends a request with a key.
func (s *server) ask(method, path, key, kind, body string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := s.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(b)
}

// wantRefused sends a request that is refused.
func (s *server) wantRefused(res *http.Response, body string, status int, code string) {
	s.t.Helper()
	var p struct{ Code string }
	if err := json.Unmarshal([]byte(body), &p); err != nil || res.StatusCode != status || p.Code != code {
		s.t.Errorf("%d %s, want %d %s", res.StatusCode, body, status, code)
	}
}

const (
	sdpType  = "application/sdp"
	fragType = "application/trickle-ice-sdpfrag"
)

// caller is a client by the library, over loopback.
type caller struct {
	t      *testing.T
	pc     *pion.PeerConnection
	events *pion.DataChannel
	open   chan struct{}
	said   chan string
	gone   chan struct{}
	voice  *pion.TrackLocalStaticRTP
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	return newCallerBy(t, pion.Configuration{})
}

// newCallerBy is a client with the library's configuration.
func newCallerBy(t *testing.T, cfg pion.Configuration) *caller {
	t.Helper()
	var e pion.SettingEngine
	e.SetIncludeLoopbackCandidate(true)
	e.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() && ip.To4() != nil })
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	m := &pion.MediaEngine{}
	if err := m.RegisterDefaultCodecs(); err != nil {
		t.Fatal(err)
	}
	for pt, rate := range map[pion.PayloadType]uint32{110: 48000} {
		if err := m.RegisterCodec(pion.RTPCodecParameters{PayloadType: pt, RTPCodecCapability: pion.RTPCodecCapability{MimeType: "audio/telephone-event", ClockRate: rate}}, pion.RTPCodecTypeAudio); err != nil {
			t.Fatal(err)
		}
	}
	pc, err := pion.NewAPI(pion.WithSettingEngine(e), pion.WithMediaEngine(m)).NewPeerConnection(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{t: t, pc: pc, open: make(chan struct{}), said: make(chan string, 1000), gone: make(chan struct{})}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	if c.voice, err = pion.NewTrackLocalStaticRTP(pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "mic", "me"); err != nil {
		t.Fatal(err)
	}
	if _, err = pc.AddTrack(c.voice); err != nil {
		t.Fatal(err)
	}
	if c.events, err = pc.CreateDataChannel("events", nil); err != nil {
		t.Fatal(err)
	}
	c.events.OnOpen(func() { close(c.open) })
	c.events.OnMessage(func(m pion.DataChannelMessage) { c.said <- string(m.Data) })
	var once sync.Once
	pc.OnConnectionStateChange(func(s pion.PeerConnectionState) {
		if s == pion.PeerConnectionStateClosed || s == pion.PeerConnectionStateFailed {
			once.Do(func() { close(c.gone) })
		}
	})
	return c
}

func (c *caller) offer(o *pion.OfferOptions) string {
	c.t.Helper()
	offer, err := c.pc.CreateOffer(o)
	if err != nil {
		c.t.Fatal(err)
	}
	done := pion.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(offer); err != nil {
		c.t.Fatal(err)
	}
	<-done
	return c.pc.LocalDescription().SDP
}

func (c *caller) accept(answer string) {
	c.t.Helper()
	if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		c.t.Fatal(err)
	}
}

// begin sends an offer and takes the answer.
func (c *caller) begin(s *server, key, query, offer string) (location, tag string) {
	c.t.Helper()
	res, answer := s.ask("POST", webrtc.Path+query, key, sdpType, offer)
	if res.StatusCode != 201 || res.Header.Get("Content-Type") != sdpType || res.Header.Get(api.RequestHeader) == "" {
		c.t.Fatalf("%d %s", res.StatusCode, answer)
	}
	c.accept(answer)
	return res.Header.Get("Location"), res.Header.Get("ETag")
}

func (c *caller) say(text string) {
	c.t.Helper()
	wait(c.t, "the channel", c.open)
	if err := c.events.SendText(text); err != nil {
		c.t.Fatal(err)
	}
}

// wantSaid reads messages until one has all the parts.
func (c *caller) wantSaid(parts ...string) {
	c.t.Helper()
	for {
		m := wait(c.t, parts[0], c.said)
		found := true
		for _, p := range parts {
			found = found && strings.Contains(m, p)
		}
		if found {
			return
		}
	}
}

// ended is an end of a conversation.
func ended(reason media.EndReason) *media.Ended { return &media.Ended{Reason: reason} }
