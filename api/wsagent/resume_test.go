package wsagent_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/apitest"
	sockets "parley/api/socket"
	"parley/api/talk"
	"parley/api/wsagent"
	"parley/media"
	"parley/media/mediatest"
)

// granted is the data of the message session.
type granted struct {
	id, token string
	resumed   bool
}

func (p *peer) wantSession() (g granted) {
	p.t.Helper()
	data, _ := p.want("session").Data.(map[string]any)
	g.id, _ = data["id"].(string)
	g.token, _ = data["resume"].(string)
	g.resumed, _ = data["resumed"].(bool)
	return g
}

// returning is a server whose clients come back, and the leg of one that has said so.
type returning struct {
	*server
	t    *testing.T
	peer *peer
	leg  *lent
	at   granted
	ran  chan error // what the leg's Run returns
	end  context.CancelCauseFunc
}

func newReturning(t *testing.T, resumption *wsagent.Resumption) *returning {
	t.Helper()
	legs := make(chan *lent, 1)
	a := &agents{told: make(chan string, 100), converse: lend(legs)}
	routes := api.New(keys)
	wsagent.Mount(routes, &wsagent.Handler{Agents: a, Resume: resumption})
	s := &returning{server: &server{Server: apitest.Serve(t, apitest.InMemory, routes.Handler(api.Options{})), agents: a}, t: t, ran: make(chan error, 1)}
	s.peer = s.connect(t)
	_ = s.peer.SetReadDeadline(time.Now().Add(5 * time.Minute))
	s.peer.say(`{"type":"features","data":["resume"]}`)
	s.leg = <-legs
	ctx, end := context.WithCancelCause(t.Context())
	s.end = end
	go func() { s.ran <- s.leg.Run(ctx) }()
	t.Cleanup(func() { end(ended(media.APIHangup, "")) })
	s.leg.Status("prompt_set", 0)
	s.at = s.peer.wantSession()
	return s
}

// back opens another socket with a token.
func (s *returning) back(token, credential string) *peer {
	s.t.Helper()
	conn := s.Connect(s.t, "/ws/agent?resume="+url.QueryEscape(token), http.Header{"X-Api-Key": {credential}})
	_ = conn.SetReadDeadline(time.Now().Add(5 * time.Minute)) // pings come for ever
	return &peer{t: s.t, Conn: conn}
}

// lost is a connection that breaks.
func (p *peer) lost() {
	p.NetConn().Close()
	synctest.Wait()
}

func (s *returning) wantEvent(want media.LegEventKind) {
	s.t.Helper()
	select {
	case e := <-s.leg.Events():
		if e.Kind != want {
			s.t.Errorf("event %d, want %d", e.Kind, want)
		}
	case <-time.After(time.Second):
		s.t.Errorf("no event %d", want)
	}
}

func resumption() *wsagent.Resumption {
	return &wsagent.Resumption{Key: "a key", Node: 7, Now: time.Now}
}

// TestComesBack: a conversation whose connection broke is on hold until the client is back, as often as that happens. What
// it was to read meanwhile comes then, behind the same call and a new token, and both hear each other again.
func TestComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReturning(t, resumption())
		if s.at.id != "ses_1" || s.at.token == "" || s.at.resumed {
			t.Fatalf("%+v", s.at)
		}
		p, at := s.peer, s.at
		for n := range 3 {
			s.leg.Status("speaking", n+1)
			p.wantStatus("speaking")
			p.sound([]byte{1}) // the other half of the sample is lost
			p.lost()
			s.wantEvent(media.LegHold)
			s.leg.Transcript("user", "what came meanwhile")
			time.Sleep(time.Duration(n) * 14 * time.Second)
			if due := s.leg.Due(time.Now()); due != 0 {
				t.Errorf("%d frames are due while nobody hears", due)
			}
			p = s.back(at.token, goodKey)
			got := p.wantSession()
			if got.id != at.id || !got.resumed || got.token == "" || n == 1 && got.token == at.token {
				t.Errorf("%+v after %+v", got, at)
			}
			at = got
			if m := p.want("transcript"); m.Data != "what came meanwhile" {
				t.Errorf("%+v", m)
			}
			if m := p.want("status"); m.Data != "speaking" || m.Generation != n+1 {
				t.Errorf("%+v", m)
			}
			if due := s.leg.Due(time.Now()); due != 0 {
				t.Errorf("%d frames are due before it is known that the client is back", due)
			}
			s.wantEvent(media.LegResume)
			if due := s.leg.Due(time.Now()); due == 0 {
				t.Error("nothing is due")
			}
			s.leg.Leg.Write(frame(1))
			if m := p.want("audio"); len(m.audio) != 1764 {
				t.Errorf("%+v", m)
			}
			said := mediatest.Tone(500, wsagent.RateIn, 3200, 0.5)
			p.sound(pcm(said))
			synctest.Wait()
			heard := hear(s.leg, 300*time.Millisecond)
			for len(heard) > 0 && heard[0] == 0 {
				heard = heard[1:]
			}
			if len(heard) < 3000 || heard[0] != said[1] || heard[1000] != said[1001] {
				t.Errorf("heard %d samples, %v", len(heard), heard[:min(4, len(heard))])
			}
		}
	})
}

// TestDoesNotComeBack: the conversation of a client that stays away ends after 30 s, as that of a lost socket does.
func TestDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReturning(t, resumption())
		began := time.Now()
		s.peer.lost()
		if err := <-s.ran; err != nil || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		s.refused(s.at.token, goodKey, "")
	})
}

// TestSaysGoodbye: a client that ends the conversation has ended it, and one that does not come back, too. A client that
// only went away, as one does whose proxy stops, may come back.
func TestSaysGoodbye(t *testing.T) {
	for name, tt := range map[string]struct {
		code  int
		token bool
		after time.Duration
	}{
		"goodbye": {1000, true, 0}, "another code": {4000, true, 0}, "going away": {1001, true, 30 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newReturning(t, resumption())
			began := time.Now()
			if err := s.peer.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(tt.code, ""), time.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			go s.peer.drain()
			if err := <-s.ran; err != nil || time.Since(began) != tt.after {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
		})
	}
}

// TestEndsWhileAway: a conversation that ends meanwhile ends.
func TestEndsWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReturning(t, resumption())
		s.peer.lost()
		s.end(ended(media.MaxDuration, ""))
		if err := <-s.ran; err != nil {
			t.Error(err)
		}
		s.Wait()
		s.refused(s.at.token, goodKey, "")
	})
}

// TestTooMuchWaits: a client that misses more messages than a slow one may is given up.
func TestTooMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReturning(t, resumption())
		s.peer.lost()
		for range 600 {
			s.leg.Caption("user", "word")
		}
		began := time.Now()
		var e *media.Ended
		if err := <-s.ran; !errors.As(err, &e) || e.Detail != media.SlowClient || time.Since(began) != 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestNewerSocketWins: of two sockets of a conversation the newer has it, and the other one is told not to try again.
func TestNewerSocketWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReturning(t, resumption())
		newer := s.back(s.at.token, goodKey)
		if got := newer.wantSession(); got.id != s.at.id {
			t.Errorf("%+v", got)
		}
		s.wantEvent(media.LegHold)
		s.wantEvent(media.LegResume)
		s.peer.wantClose(1008)
		_ = s.peer.WriteMessage(websocket.TextMessage, []byte(`{"type":"interrupt"}`)) // of the older one, too late
		newer.say(`{"type":"text","data":"of the newer one"}`)
		s.leg.Caption("agent", "hello")
		newer.want("transcript_partial")
		select {
		case err := <-s.ran:
			t.Errorf("it ended: %v", err)
		default:
		}
		s.end(ended(media.AgentHangup, ""))
		newer.wantClose(1000)
	})
}

// refused is a socket that gets no conversation.
func (s *returning) refused(token, credential, detail string) {
	s.t.Helper()
	p := s.back(token, credential)
	data, _ := p.want("error").Data.(map[string]any)
	if data["code"] != "agent.session_over" || data["retryable"] != false || detail != "" && data["detail"] != detail {
		s.t.Errorf("refused with %v", data)
	}
	p.wantClose(1008)
}

// TestForeignTokens: what is no token of the account's conversations opens none, and the conversation goes on.
func TestForeignTokens(t *testing.T) {
	const other, session = "sk_other", "wst_other_agent"
	keys[other] = api.Principal{Account: "acc_2", Key: "key_2"}
	keys[session] = api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{ID: "tkt_2", Agent: "ag_2"}}
	defer delete(keys, other)
	defer delete(keys, session)
	synctest.Test(t, func(t *testing.T) {
		later := time.Duration(0)
		r := resumption()
		r.Now = func() time.Time { return time.Now().Add(later) }
		s := newReturning(t, r)
		s.refused(s.at.token, other, "")
		s.refused(s.at.token, session, "")
		s.refused(s.at.token, sessionTicket, "") // a stranger's, of a conversation that none has begun
		s.refused("x", goodKey, "")
		s.refused(s.at.token[:len(s.at.token)-1]+"-", goodKey, "")
		s.refused(strings.Replace(s.at.token, "ses_1", "ses_2", 1), goodKey, "")
		later = 3 * time.Hour
		s.refused(s.at.token, goodKey, "the token has expired")
		later = 0
		if got := s.back(s.at.token, goodKey).wantSession(); !got.resumed {
			t.Errorf("%+v", got)
		}
	})
}

// TestSessionTicketsComeBack: a session ticket that was made for the same agent opens a conversation again, though the one
// that has begun it may begin no more.
func TestSessionTicketsComeBack(t *testing.T) {
	const renewed = "wst_renewed"
	keys[renewed] = api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{ID: "tkt_3", Agent: "ag_1", MaxSessions: 1}}
	defer delete(keys, renewed)
	synctest.Test(t, func(t *testing.T) {
		a := &agents{told: make(chan string, 100), converse: attend}
		routes := api.New(keys)
		wsagent.Mount(routes, &wsagent.Handler{Agents: a, Resume: resumption(), Limits: talk.NewConnectLimits(nil)})
		s := &returning{t: t, server: &server{Server: apitest.Serve(t, apitest.InMemory, routes.Handler(api.Options{})), agents: a}}
		p := s.connectWith(t, sessionTicket)
		p.say(`{"type":"features","data":["resume"]}`)
		at := p.wantSession()
		p.lost()
		for _, credential := range []string{renewed, sessionTicket, goodKey} {
			p = s.back(at.token, credential)
			if got := p.wantSession(); !got.resumed || got.id != at.id {
				t.Errorf("%s: %+v", credential, got)
			}
			p.lost()
		}
	})
}

// TestWithoutTheFeature: the conversation of a client that does not come back has no token, and ends with its connection.
func TestWithoutTheFeature(t *testing.T) {
	for _, resume := range []*wsagent.Resumption{nil, resumption()} {
		synctest.Test(t, func(t *testing.T) {
			over := make(chan time.Time, 1)
			a := &agents{told: make(chan string, 100), converse: func(ctx context.Context, _ talk.Change, leg *wsagent.Leg) {
				leg.Status("prompt_set", 0)
				_ = leg.Run(ctx)
				over <- time.Now()
			}}
			routes := api.New(keys)
			wsagent.Mount(routes, &wsagent.Handler{Agents: a, Resume: resume})
			s := &server{Server: apitest.Serve(t, apitest.InMemory, routes.Handler(api.Options{})), agents: a}
			p := s.connect(t)
			if resume == nil {
				p.say(`{"type":"features","data":["resume"]}`)
			}
			for kind := ""; kind != "status"; {
				m, err := p.next()
				if kind = m.Type; err != nil || kind == "session" {
					t.Fatalf("%+v, %v", m, err)
				}
			}
			began := time.Now()
			p.lost()
			if took := (<-over).Sub(began); took != 0 {
				t.Errorf("it ended after %v", took)
			}
		})
	}
}

// others are the other servers, of which one takes what is sent on to it.
type others struct{ to chan int64 }

func (o others) Forward(w http.ResponseWriter, _ *http.Request, node int64) bool {
	o.to <- node
	w.WriteHeader(http.StatusTeapot)
	return true
}

// TestComesBackElsewhere: a token that another server made is sent on to that, and one that nobody made is not.
func TestComesBackElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newReturning(t, resumption())
		r, peers := resumption(), others{make(chan int64, 2)}
		r.Node, r.Peers = 8, peers
		other := newReturning(t, r)
		_, resp, err := other.Dialer.Dial("ws"+strings.TrimPrefix(other.URL, "http")+"/ws/agent?resume="+url.QueryEscape(s.at.token), http.Header{"X-Api-Key": {goodKey}})
		if err == nil || resp == nil || resp.StatusCode != http.StatusTeapot || <-peers.to != 7 {
			t.Errorf("%v, %v", resp, err)
		}
		other.refused(s.at.token+"x", goodKey, "")
		if got := other.back(other.at.token, goodKey).wantSession(); !got.resumed {
			t.Errorf("%+v", got)
		}
	})
}

// TestKeepsItsPlace: among the sockets that an account may have, a conversation has one place until it ends, whether its
// client is there, away or back.
func TestKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agents{told: make(chan string, 100), converse: attend}
		routes := api.New(keys)
		wsagent.Mount(routes, &wsagent.Handler{Agents: a, Resume: resumption(), Open: &sockets.Limits{Most: 1}})
		s := &returning{t: t, server: &server{Server: apitest.Serve(t, apitest.InMemory, routes.Handler(api.Options{})), agents: a}}
		full := func(when string) {
			t.Helper()
			_, resp, err := s.Dialer.Dial(s.url(""), http.Header{"X-Api-Key": {goodKey}})
			if err == nil || resp == nil || resp.StatusCode != http.StatusTooManyRequests {
				t.Errorf("%s another conversation is answered %v, %v", when, resp, err)
			}
		}
		p := s.connect(t)
		p.say(`{"type":"features","data":["resume"]}`)
		at := p.wantSession()
		p.lost()
		full("away")
		p = s.back(at.token, goodKey)
		p.wantSession()
		full("back")
		p.lost()
		time.Sleep(31 * time.Second)
		s.connect(t).wantStatus("prompt_set")
	})
}
