package acceptance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/sip/simulated"
)

// serviceHost is where services of customers listen in tests: the shared servers' requests may go there.
const serviceHost = "127.77.0.1"

// desk is a customer's service that says who answers calls.
type desk struct {
	t      *testing.T
	url    string
	secret string

	mu    sync.Mutex
	asked []incomingEvent
	reply func(w http.ResponseWriter, r *http.Request)
}

type incomingEvent struct {
	ID, Type string
	Data     struct {
		NumberID string `json:"number_id"`
		From, To string
		AgentID  *string `json:"agent_id"`
		Headers  map[string]string
	}
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	l, err := net.Listen("tcp", serviceHost+":0")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: d}}
	s.Start()
	t.Cleanup(s.Close)
	d.url = s.URL
	return d
}

// ServeHTTP implements http.Handler.
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(d.secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.Header.Get("webhook-id") + "." + r.Header.Get("webhook-timestamp") + "."))
	mac.Write(body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); err != nil || r.Header.Get("webhook-signature") != want {
		d.t.Errorf("the question is not signed: %v %v", r.Header, err)
	}
	var e incomingEvent
	if err := json.Unmarshal(body, &e); err != nil || e.ID != r.Header.Get("webhook-id") {
		d.t.Errorf("%s: %v", body, err)
	}
	d.mu.Lock()
	d.asked = append(d.asked, e)
	reply := d.reply
	d.mu.Unlock()
	reply(w, r)
}

// says has the desk answer so from now on.
func (d *desk) says(status int, answer string) {
	d.will(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	})
}

func (d *desk) will(reply func(http.ResponseWriter, *http.Request)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reply = reply
}

// greeter is another agent of the customer's.
const greeter = `name: Greta
voice: F1
language: en
prompt: You greet people.
first_message: Good day {{name}}.
settings:
  idle_seconds: 0
  ring_ms: 200
  variables: {name: stranger}
`

// incomingCall is the newest call of an account, as its history shows it.
type incomingCall struct {
	ID, Status string
	AgentID    *string `json:"agent_id"`
	EndReason  string  `json:"end_reason"`
	EndDetail  string  `json:"end_detail"`
	Cost       float64
	Metadata   map[string]string
	Transcript []struct{ Role, Text string }
	Asked      struct{ Outcome, Error string }
}

// asksDesk calls the customer's number, hangs up when something was said, and returns what history has of it.
func asksDesk(t *testing.T, c dialer, s *server, p *simulated.Phone, response int) (call incomingCall) {
	t.Helper()
	before := newest(c)
	talking, err := dial(t, s, p, c.who.number)
	switch {
	case response != http.StatusOK:
		if err == nil {
			t.Fatal("the call was answered")
		}
		if !strings.Contains(err.Error(), "603") {
			t.Errorf("the refusal is %v", err)
		}
	case err != nil:
		t.Fatal(err)
	default:
		talking.awaitVoice("the first message", 0, 300*time.Millisecond)
		talking.hangUp()
	}
	eventually(t, "the call is in history", func() bool {
		id := newest(c)
		return id != before && c.ask("GET", "/v1/calls/"+id, "", &call) == 200 && call.Status == "ended"
	})
	return call
}

func newest(c dialer) string {
	c.t.Helper()
	var list struct{ Data []struct{ ID string } }
	if status := c.ask("GET", "/v1/calls?limit=1", "", &list); status != 200 {
		c.t.Fatal(status)
	}
	if len(list.Data) == 0 {
		return ""
	}
	return list.Data[0].ID
}

// TestWebhookSaysWhoAnswers: the webhook of a number chooses the agent, its variables and the call's metadata, or refuses the
// call; when it fails the number's own agent answers, and the call says why.
func TestWebhookSaysWhoAnswers(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	phone := newPhone(t)
	c := newDialer(t, s, "")
	d := newDesk(t)
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(greeter), 0o600); err != nil {
		t.Fatal(err)
	}
	var other struct{ ID string }
	admin(t, s.dir, &other, "agent", "create", "--account", c.who.account, "--file", file)
	var own struct{ Numbers []struct{ ID string } }
	if status := c.ask("GET", "/callcenter/numbers", "", &own); status != 200 || len(own.Numbers) != 1 {
		t.Fatalf("%d %+v\n%s", status, own, s.tail(5))
	}
	var hook struct{ ID, Secret string }
	if status := c.ask("POST", "/v1/webhooks", `{"url":"`+d.url+`","events":["call.incoming"]}`, &hook); status != 201 {
		t.Fatalf("%d %+v", status, hook)
	}
	d.secret = hook.Secret
	var bound struct {
		WebhookID string `json:"webhook_id"`
		AgentID   string `json:"agent_id"`
	}
	if status := c.ask("POST", "/callcenter/numbers/"+own.Numbers[0].ID+"/assign", `{"webhook_id":"`+hook.ID+`"}`, &bound); status != 200 || bound.WebhookID != hook.ID || bound.AgentID != c.who.agent {
		t.Fatalf("%d %+v", status, bound)
	}

	d.says(200, `{"agent_id":"`+other.ID+`","variables":{"name":"Ann"},"metadata":{"order":"42"}}`)
	call := asksDesk(t, c, s, phone, 200)
	if call.AgentID == nil || *call.AgentID != other.ID || call.Metadata["order"] != "42" || call.Asked.Outcome != "answered" || call.Asked.Error != "" {
		t.Errorf("as the webhook said: %+v", call)
	}
	if len(call.Transcript) == 0 || !strings.HasPrefix(call.Transcript[0].Text, "Good day Ann") {
		t.Errorf("what was said: %+v", call.Transcript)
	}
	d.mu.Lock()
	if len(d.asked) != 1 || d.asked[0].Type != "call.incoming" || d.asked[0].Data.NumberID != own.Numbers[0].ID || d.asked[0].Data.From != "+34600000001" || d.asked[0].Data.Headers["X-Caller"] != "+34600000001" || d.asked[0].Data.To != c.who.number ||
		d.asked[0].Data.AgentID == nil || *d.asked[0].Data.AgentID != c.who.agent {
		t.Errorf("the webhook was asked %+v", d.asked)
	}
	d.mu.Unlock()

	d.says(200, `{"refuse":true}`)
	if call := asksDesk(t, c, s, phone, 603); call.EndReason != "rejected" || call.EndDetail != "webhook" || call.Asked.Outcome != "refused" || call.Cost != 0 {
		t.Errorf("refused: %+v", call)
	}

	for what, tt := range map[string]struct {
		reply  func(http.ResponseWriter, *http.Request)
		reason string
	}{
		"late":    {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer in time"},
		"broken":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "answered 500"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "yes") }, "not as it should be"},
		"no such agent": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"agent_id":"`+s.guide.agent+`"}`)
		}, "no such agent"},
		"no such name":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"variables":{"age":"7"}}`) }, "no such variable"},
		"wrong metadata": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"metadata":{"a b":"c"}}`) }, "metadata"},
	} {
		d.will(tt.reply)
		call := asksDesk(t, c, s, phone, 200)
		if call.AgentID == nil || *call.AgentID != c.who.agent || call.Asked.Outcome != "failed" || !strings.Contains(call.Asked.Error, tt.reason) || call.EndReason != "user_hangup" {
			t.Errorf("%s: %+v", what, call)
		}
	}

	d.says(204, "")
	if call := asksDesk(t, c, s, phone, 200); call.AgentID == nil || *call.AgentID != c.who.agent || call.Asked.Outcome != "answered" {
		t.Errorf("with an empty answer: %+v", call)
	}
	// A webhook that is switched off is not asked.
	c.ask("PATCH", "/v1/webhooks/"+hook.ID, `{"enabled":false}`, &hook)
	d.says(200, `{"refuse":true}`)
	if call := asksDesk(t, c, s, phone, 200); call.Asked.Outcome != "" {
		t.Errorf("switched off: %+v", call)
	}
}
