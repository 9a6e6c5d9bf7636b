package webrtc_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	pion "github.com/pion/webrtc/v4"

	"parley/api"
	"parley/api/talk"
	"parley/api/webrtc"
	"parley/media"
	"parley/store"
)

// TestConversation: an offer becomes a conversation, whose configuration, typed turns and
// messages pass on the channel, until the client ends it.
func TestConversation(t *testing.T) {
	s, c := newServer(t, &agents{}, webrtc.Options{}), newCaller(t)
	location, _ := c.begin(s, goodKey, "", c.offer(nil))
	s.told("admit acc_1 ")
	c.say(`{"type":"prompt","data":"Be brief."}`)
	s.told("converse Be brief.")
	c.wantSaid(`"prompt_set"`)
	c.say(`{"type":"text","data":"hello"}`)
	s.told("type hello")
	c.say(`{"type":"prompt","data":"Be long."}`)
	s.told("update")
	c.say(`{"type":`)
	c.wantSaid(`"error"`, `"retryable":true`)
	if res, body := s.ask("DELETE", location, otherKey, "", ""); res.StatusCode != 404 {
		t.Errorf("another account ended it: %d %s", res.StatusCode, body)
	}
	if res, body := s.ask("DELETE", location, goodKey, "", ""); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	s.told("over")
	wait(t, "the end", c.gone)
}

// TestTwoSessionsOnePort: both talk at the same time, and each answer names the one port.
func TestTwoSessionsOnePort(t *testing.T) {
	s := newServer(t, &agents{}, webrtc.Options{})
	port := " " + strconv.Itoa(int(s.addr.Port())) + " typ host"
	for range 2 {
		c := newCaller(t)
		res, answer := s.ask("POST", webrtc.Path+"?agent_id=ag_1", goodKey, sdpType, c.offer(nil))
		if res.StatusCode != 201 || strings.Count(answer, "a=candidate:") != strings.Count(answer, port) || !strings.Contains(answer, port) {
			t.Fatalf("%d, want port %s in %s", res.StatusCode, port, answer)
		}
		c.accept(answer)
		s.told("admit acc_1 ag_1")
		s.told("converse ")
		c.wantSaid("prompt_set")
	}
}

// TestGoodbye: what ends a conversation is the last thing the client hears of it, after
// the code of the limit that it reached.
func TestGoodbye(t *testing.T) {
	for _, tt := range []struct {
		reason       media.EndReason
		detail       media.EndDetail
		limit, close string
	}{
		{media.AgentHangup, "", "", `"code":1000`},
		{media.BalanceExhausted, "", "billing.insufficient_balance", `"code":1008`},
		{media.BalanceExhausted, media.Disputed, "billing.account_disputed", `"code":1008`},
		{media.APIHangup, media.Suspended, "billing.account_disputed", `"code":1008`},
		{media.BalanceExhausted, media.Spending, "limit.spending", `"code":1008`},
		{media.MaxDuration, "", "auth.time_limited", `"code":1008`},
		{media.Failed, "", "", `"code":1011`},
	} {
		s := newServer(t, &agents{converse: func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			leg.Transcript("agent", "Goodbye.")
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(&media.Ended{Reason: tt.reason, Detail: tt.detail})
			_ = leg.Run(ctx)
		}}, webrtc.Options{})
		c := newCaller(t)
		c.begin(s, goodKey, "?agent_id=ag_1", c.offer(nil))
		// The conversation may end before the channel opens, and then says nothing.
		c.say(`{"type":"features","data":[]}`)
		c.wantSaid("Goodbye.")
		if tt.limit != "" {
			c.wantSaid(`"type":"error"`, `"code":"`+tt.limit+`"`)
		}
		c.wantSaid(`"type":"closed"`, tt.close)
		wait(t, "the end", c.gone)
	}
}

// TestTicketsOfOneAgent: a session ticket opens its own agent and changes nothing of it,
// and ends no session of anybody else's.
func TestTicketsOfOneAgent(t *testing.T) {
	s := newServer(t, &agents{}, webrtc.Options{})
	first := newCaller(t)
	location, _ := first.begin(s, goodKey, "?agent_id=ag_1", first.offer(nil))
	s.told("admit acc_1 ag_1")
	s.told("converse ")

	c := newCaller(t)
	offer := c.offer(nil)
	res, body := s.ask("POST", webrtc.Path+"?agent_id=ag_2", sessionTicket, sdpType, offer)
	s.wantRefused(res, body, 403, "auth.ticket_not_allowed")
	if res, body := s.ask("DELETE", location, sessionTicket, "", ""); res.StatusCode != 404 {
		t.Errorf("a ticket ended another's session: %d %s", res.StatusCode, body)
	}
	own, _ := c.begin(s, sessionTicket, "", offer)
	s.told("admit acc_1 ")
	c.say(`{"type":"prompt","data":"Be rude."}`)
	s.told("converse ")
	if res, body := s.ask("DELETE", own+"?api_key="+sessionTicket, "", "", ""); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	s.told("over")
}

// TestRefusals: in the order in which all routes refuse, and nothing is admitted for what
// cannot be answered.
func TestRefusals(t *testing.T) {
	s := newServer(t, &agents{}, webrtc.Options{})
	offer := newCaller(t).offer(nil)
	silent := strings.Split(offer, "m=application")[0]
	for _, tt := range []struct {
		name, key, kind, query, body string
		status                       int
		code                         string
	}{
		{"no key", "", sdpType, "", offer, 401, "auth.missing_key"},
		{"wrong key", "sk_x", sdpType, "", offer, 401, "auth.invalid_key"},
		{"JSON", goodKey, "application/json", "", "{}", 415, "request.unsupported_media_type"},
		{"no type", goodKey, "", "", offer, 415, "request.unsupported_media_type"},
		{"too long", goodKey, sdpType, "", strings.Repeat("x", 64<<10+1), 413, "request.too_large"},
		{"no description", goodKey, sdpType, "", "hello", 400, "validation.invalid_request_format"},
		{"empty", goodKey, sdpType, "", "", 400, "validation.invalid_request_format"},
		{"no audio", goodKey, sdpType, "", strings.Replace(offer, "m=audio", "m=video", 1), 400, "validation.invalid_request_format"},
		{"no Opus", goodKey, sdpType, "", strings.Replace(offer, "opus/48000/2", "speex/16000", 1), 400, "validation.invalid_request_format"},
		{"nowhere to describe the agent", goodKey, sdpType, "", silent, 400, "validation.invalid_request_format"},
		{"no fingerprint", goodKey, sdpType, "?agent_id=ag_1", strings.ReplaceAll(offer, "a=fingerprint", "a=x-fingerprint"), 400, "validation.invalid_request_format"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			res, body := s.ask("POST", webrtc.Path+tt.query, tt.key, tt.kind, tt.body)
			s.wantRefused(res, body, tt.status, tt.code)
		})
	}
	s.told("admit acc_1 ag_1") // of the last, which only the library found wrong
	s.told("cancel")
	if len(s.agents.told) > 0 {
		t.Errorf("admitted: %s", <-s.agents.told)
	}
	for _, err := range []error{store.ErrInsufficientBalance, store.ErrConcurrency, api.ErrNoAgent, api.ErrDraining} {
		s.agents.refuse, s.t = err, t
		res, body := s.ask("POST", webrtc.Path+"?agent_id=ag_1", goodKey, sdpType, offer)
		p := api.ProblemOf(err)
		s.wantRefused(res, body, p.Status, p.Code)
	}
}

// TestConnectLimit: who tries without end is kept out for a while.
func TestConnectLimit(t *testing.T) {
	s := newServer(t, &agents{refuse: store.ErrInsufficientBalance}, webrtc.Options{Limits: talk.NewConnectLimits(nil)})
	offer := newCaller(t).offer(nil)
	for i := range 20 {
		if res, _ := s.ask("POST", webrtc.Path+"?agent_id=ag_1", goodKey, sdpType, offer); res.StatusCode == 429 {
			if i < 10 || res.Header.Get("Retry-After") != "30" {
				t.Errorf("429 after %d tries, Retry-After %q", i, res.Header.Get("Retry-After"))
			}
			return
		}
	}
	t.Error("20 tries were answered")
}

// TestTrickleAndRestart: PATCH as RFC 9725 has it.
func TestTrickleAndRestart(t *testing.T) {
	s, c := newServer(t, &agents{}, webrtc.Options{}), newCaller(t)
	candidate := regexp.MustCompile(`(?m)^a=(candidate:|end-of-candidates).*\r\n`)
	full := c.offer(nil)
	location, tag := c.begin(s, goodKey, "?agent_id=ag_1", candidate.ReplaceAllString(full, ""))
	s.told("admit acc_1 ag_1")
	late := strings.Join(candidate.FindAllString(full, -1), "")

	refused := func(status int, code, key, kind, body string, header ...string) {
		t.Helper()
		res, answer := s.ask("PATCH", location, key, kind, body, header...)
		s.wantRefused(res, answer, status, code)
	}
	refused(401, "auth.missing_key", "", fragType, late, "If-Match", tag)
	refused(415, "request.unsupported_media_type", goodKey, sdpType, late, "If-Match", tag)
	refused(400, "validation.invalid_request_format", goodKey, fragType, "hello", "If-Match", tag)
	refused(404, "request.not_found", otherKey, fragType, late, "If-Match", tag)
	refused(428, "request.precondition_required", goodKey, fragType, late)
	refused(412, "request.precondition_failed", goodKey, fragType, late, "If-Match", `"stale"`)
	refused(400, "validation.invalid_request_format", goodKey, fragType, late, "If-Match", `"*"`)
	if res, body := s.ask("GET", location, goodKey, "", ""); res.StatusCode != 405 || !strings.Contains(res.Header.Get("Allow"), "PATCH") {
		t.Errorf("GET: %d %s", res.StatusCode, body)
	}
	if res, body := s.ask("PATCH", location, goodKey, fragType, late, "If-Match", tag); res.StatusCode != 204 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	s.told("converse ")

	again := c.offer(&pion.OfferOptions{ICERestart: true})
	res, ours := s.ask("PATCH", location, goodKey, fragType, again, "If-Match", `"*"`)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != fragType || res.Header.Get("ETag") == tag || !strings.Contains(ours, "a=ice-pwd:") {
		t.Fatalf("%d %s", res.StatusCode, ours)
	}
	refused(412, "request.precondition_failed", goodKey, fragType, late, "If-Match", tag)
	if res, body := s.ask("PATCH", location, goodKey, fragType, late, "If-Match", res.Header.Get("ETag")); res.StatusCode != 204 {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// TestPagesOfOtherSites: a browser lets them use it.
func TestPagesOfOtherSites(t *testing.T) {
	s := newServer(t, &agents{}, webrtc.Options{Relays: &webrtc.Relays{URLs: []string{"stun:stun.example.net", "turn:turn.example.net"}, Secret: "s"}})
	for path, accepts := range map[string][2]string{webrtc.Path: {"Accept-Post", sdpType}, webrtc.Path + "/rtc_1": {"Accept-Patch", fragType}} {
		res, _ := s.ask("OPTIONS", path, "", "", "")
		h := res.Header
		if res.StatusCode != 204 || h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "If-Match") ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") {
			t.Errorf("%s: %d %v", path, res.StatusCode, h)
		}
		if h.Get(accepts[0]) != accepts[1] {
			t.Errorf("%s: takes %v", path, h)
		}
		if links := h.Values("Link"); path == webrtc.Path && (len(links) != 1 || links[0] != `<stun:stun.example.net>; rel="ice-server"`) {
			t.Errorf("strangers are told %q", links)
		}
	}
	c := newCaller(t)
	res, _ := s.ask("POST", webrtc.Path+"?agent_id=ag_1", goodKey, sdpType, c.offer(nil))
	for _, name := range []string{"Location", "ETag", "Link"} {
		if !strings.Contains(res.Header.Get("Access-Control-Expose-Headers"), name) {
			t.Errorf("pages cannot read %s", name)
		}
	}
}

// TestRelays: clients are told of TURN servers with credentials that those take, for as long as the conversation may last.
func TestRelays(t *testing.T) {
	s := newServer(t, &agents{}, webrtc.Options{Relays: &webrtc.Relays{URLs: []string{"stun:stun.example.net:3478", "turn:turn.example.net:3478?transport=udp"}, Secret: "shared"}})
	const connecting = 30 * time.Second
	for secret, longest := range map[string]time.Duration{goodKey: 2 * time.Hour, sessionTicket: 2 * time.Hour, shortTicket: 10 * time.Minute, longTicket: 2 * time.Hour} {
		before := time.Now()
		res, body := s.ask("POST", webrtc.Path+"?agent_id=ag_1", secret, sdpType, newCaller(t).offer(nil))
		links := res.Header.Values("Link")
		if len(links) != 2 || links[0] != `<stun:stun.example.net:3478>; rel="ice-server"` {
			t.Fatalf("%s: %d %s %q", secret, res.StatusCode, body, links)
		}
		m := regexp.MustCompile(`^<turn:turn.example.net:3478\?transport=udp>; rel="ice-server"; username="(\d+):(\w+)"; credential="(.*)"; credential-type="password"$`).FindStringSubmatch(links[1])
		if m == nil {
			t.Fatalf("%s: %s", secret, links[1])
		}
		until, err := strconv.ParseInt(m[1], 10, 64)
		if life := longest + connecting; err != nil || until < before.Add(life).Unix() || until > time.Now().Add(life).Unix() {
			t.Errorf("%s: they last until %v, of a conversation of %v at most", secret, time.Unix(until, 0), longest)
		}
		mac := hmac.New(sha1.New, []byte("shared"))
		mac.Write([]byte(m[1] + ":" + m[2]))
		if want := base64.StdEncoding.EncodeToString(mac.Sum(nil)); m[3] != want {
			t.Errorf("%s: credential %s, want %s", secret, m[3], want)
		}
	}
}

// TestDrain: who is not connected is given up and costs nothing, nobody new comes in, and
// who talks goes on until the end.
func TestDrain(t *testing.T) {
	s := newServer(t, &agents{}, webrtc.Options{})
	c := newCaller(t)
	c.begin(s, goodKey, "?agent_id=ag_1", c.offer(nil))
	s.told("admit acc_1 ag_1")
	s.told("converse ")
	if res, body := s.ask("POST", webrtc.Path+"?agent_id=ag_2", goodKey, sdpType, newCaller(t).offer(nil)); res.StatusCode != 201 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	s.told("admit acc_1 ag_2") // and its client never connects
	s.handler.Drain()
	s.told("cancel")
	res, body := s.ask("POST", webrtc.Path+"?agent_id=ag_3", goodKey, sdpType, newCaller(t).offer(nil))
	s.wantRefused(res, body, 503, "service.unavailable")
	s.told("admit acc_1 ag_3")
	s.told("cancel")
	c.say(`{"type":"text","data":"still here"}`)
	s.told("type still here")
}

// others are the other servers of a cluster, of which one lives.
type others struct{ lives int64 }

// Forward implements api.Peers.
func (o others) Forward(w http.ResponseWriter, r *http.Request, epoch int64) bool {
	if epoch == o.lives {
		w.Header().Set("Answered", r.Method+" "+r.URL.Path)
	}
	return epoch == o.lives
}

// TestSessionsOfOthers: a change of a session goes to the server that has it, and nowhere when none has.
func TestSessionsOfOthers(t *testing.T) {
	s := newServer(t, &agents{}, webrtc.Options{Node: 71, Peers: others{72}}) // 1z and 20 to the base of 36
	for _, method := range []string{"PATCH", "DELETE"} {
		path := webrtc.Path + "/rtc_ABC_20"
		if res, body := s.ask(method, path, goodKey, fragType, "a fragment"); res.StatusCode != http.StatusOK || res.Header.Get("Answered") != method+" "+path {
			t.Errorf("%s of another's: %d %s, answered %q", method, res.StatusCode, body, res.Header.Get("Answered"))
		}
	}
	for _, id := range []string{"rtc_ABC_1z", "rtc_ABC_21", "rtc_ABC", "rtc_20", "20"} {
		res, body := s.ask("DELETE", webrtc.Path+"/"+id, goodKey, "", "")
		s.wantRefused(res, body, http.StatusNotFound, "request.not_found")
	}
	res, _ := s.ask("POST", webrtc.Path+"?agent_id=ag_1", goodKey, sdpType, newCaller(t).offer(nil))
	if at := res.Header.Get("Location"); !strings.HasSuffix(at, "_1z") {
		t.Errorf("a session of this server is at %s", at)
	}
}
