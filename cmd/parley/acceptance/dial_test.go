package acceptance

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"parley/store/ledger"
)

// dialer places calls through the API.
type dialer struct {
	t   *testing.T
	url string
	who customer
}

func newDialer(t *testing.T, s *server, topup string) dialer {
	return dialer{t, "http://" + s.addrs["http"], newCustomer(t, s, topup)}
}

// ask sends a request; the answer is held to the document.
func (c dialer) ask(method, path, body string, into any) int {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.who.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client(c.t).Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode
}

// order is a good order to call a number, with changes.
func (c dialer) order(to string, changes map[string]any) string {
	c.t.Helper()
	o := map[string]any{"from": c.who.number, "to": to, "agent_id": c.who.agent, "consent_confirmed": true}
	for k, v := range changes {
		o[k] = v
	}
	b, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// dial calls the callee whom the simulated network plays for the two digits.
func (c dialer) dial(digits string, changes map[string]any) (id string) {
	c.t.Helper()
	var call struct {
		ID     string `json:"call_id"`
		Status string
	}
	if code := c.ask("POST", "/callcenter/dial", c.order("+1 202-555-01"+digits, changes), &call); code != 200 || call.Status != "dialing" {
		c.t.Fatalf("dial is answered with %d: %+v", code, call)
	}
	return call.ID
}

// event is one of the stream's.
type event struct {
	Type, Status, Role, Text string
	Transcript               []struct{ Role, Text string }
	Duration                 int
	Reason                   string `json:"end_reason"`
	Detail                   string `json:"end_detail"`
	By                       string `json:"answered_by"`
}

// follow reads the stream of a call; got is asked after each event whether it is enough.
func (c dialer) follow(id string, got func(event) (enough bool)) {
	c.t.Helper()
	resp, err := http.Get(c.url + "/callcenter/sse/call-monitor?call_id=" + id + "&api_key=" + c.who.key)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		c.t.Fatalf("the stream is answered with %s %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			c.t.Fatal(err)
		}
		if got(e) {
			return
		}
	}
	c.t.Fatalf("the stream of %s ended too early: %v", id, lines.Err())
}

// ended waits for a call's end.
func (c dialer) ended(id string) (last event) {
	c.t.Helper()
	c.follow(id, func(e event) bool { last = e; return e.Type == "ended" })
	return last
}

// TestOutboundCall: an agent calls somebody, who answers, talks and hangs up. It is
// followed from the beginning, billed once, and its consent is on record.
func TestOutboundCall(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	c := newDialer(t, s, "10")
	id := c.dial("05", nil) // rings for three seconds
	var seen []string
	lines := 0
	var last event
	c.follow(id, func(e event) bool {
		last = e
		switch e.Type {
		case "snapshot", "status":
			if e.By == "" { // else it is connected, and now it is known who answered
				seen = append(seen, e.Status)
			}
		case "transcript":
			lines++
		}
		return e.Type == "ended"
	})
	if at := strings.Join(seen, " "); at != "dialing ringing connected" && at != "ringing connected" {
		t.Errorf("its states were %s", at)
	}
	if lines == 0 || len(last.Transcript) < lines || last.Duration == 0 || last.Reason != "user_hangup" && last.Reason != "agent_hangup" {
		t.Errorf("%d lines, and it ended with %+v", lines, last)
	}
	var now event
	if code := c.ask("GET", "/callcenter/call-monitor?call_id="+id, "", &now); code != 200 || now.Status != "ended" || now.Reason != last.Reason {
		t.Errorf("afterwards: %d %+v", code, now)
	}
	b := openBooks(t, s)
	x := b.closed(c.who.account, 1)[0]
	if x.ID != id || x.Terms.Kind != "outbound" || x.Terms.Country != "US" || x.Terms.Mobile {
		t.Errorf("the session is %+v", x)
	}
	b.checkAmount(x)
	evidence, err := ledger.New(b.db).Consents(b.ctx, c.who.account, 0, 10)
	if err != nil || len(evidence) != 1 || evidence[0].Call != id || evidence[0].IP != "127.0.0.1" || evidence[0].Key == "" {
		t.Errorf("the evidence of consent is %+v, %v", evidence, err)
	}
	checkBooks(t, s.dir)
}

// TestOutboundOutcomes: what becomes of calls that nobody answers. They cost nothing.
func TestOutboundOutcomes(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	c := newDialer(t, s, "10")
	ids := map[string]string{}
	for digits, want := range map[string]string{"01": "busy", "03": "rejected/declined", "09": "failed/invalid_number"} {
		ids[c.dial(digits, nil)] = want
	}
	ids[c.dial("02", map[string]any{"ring_timeout_seconds": 5})] = "no_answer"
	given := c.dial("02", nil)
	ids[given] = "api_hangup"
	c.follow(given, func(e event) bool { return e.Status == "ringing" })
	for range 2 { // the second finds it ended
		var hung event
		if code := c.ask("POST", "/callcenter/hangup/"+given, "", &hung); code != 200 || hung.Status != "ended" {
			t.Errorf("hang-up is answered with %d %+v", code, hung)
		}
		c.ended(given)
	}
	for id, want := range ids {
		reason, detail, _ := strings.Cut(want, "/")
		if e := c.ended(id); e.Reason != reason || e.Detail != detail || e.Duration != 0 || len(e.Transcript) != 0 {
			t.Errorf("%s: %+v, want %s", id, e, want)
		}
		var now event
		if code := c.ask("GET", "/callcenter/call-monitor?call_id="+id, "", &now); code != 200 || now.Reason != reason || now.Detail != detail {
			t.Errorf("%s: the monitor answers %d %+v, want %s", id, code, now, want)
		}
	}
	b := openBooks(t, s)
	for _, x := range b.closed(c.who.account, len(ids)) {
		if x.Amount != 0 {
			t.Errorf("%s (%s) costs %s", x.ID, x.Reason, x.Amount)
		}
	}
	checkBooks(t, s.dir)
}

// TestOutboundHangup hangs up while people talk.
func TestOutboundHangup(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	c := newDialer(t, s, "10")
	id := c.dial("00", nil)
	c.follow(id, func(e event) bool { return e.Status == "connected" })
	var hung event
	if code := c.ask("POST", "/callcenter/hangup/"+id, "", &hung); code != 200 {
		t.Errorf("hang-up is answered with %d", code)
	}
	if e := c.ended(id); e.Reason != "api_hangup" {
		t.Errorf("%+v", e)
	}
	checkBooks(t, s.dir)
}

// TestDialRefusals: each with its code, in the order that the specification gives, and
// nothing of another account to be found out.
func TestDialRefusals(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	c, other, poor := newDialer(t, s, "10"), newDialer(t, s, "10"), newDialer(t, s, "")
	const landline, listed = "+12025550100", "+12025550101"
	if status := poor.ask("POST", "/v1/do-not-call", `{"number":"`+listed+`"}`, &struct{}{}); status != 200 {
		t.Fatalf("a number cannot be put on the list: %d", status)
	}
	for _, tt := range []struct {
		name    string
		c       dialer
		to      string
		changes map[string]any
		status  int
		code    string
	}{
		{"no consent", c, landline, map[string]any{"consent_confirmed": nil}, 400, "callcenter.consent_required"},
		{"consent as text", c, landline, map[string]any{"consent_confirmed": "true", "from": "+34911111111"}, 400, "callcenter.consent_required"},
		{"a machine's unknown policy", c, landline, map[string]any{"on_machine": "talk"}, 400, "validation.invalid_request_format"},
		{"no message for a machine", c, landline, map[string]any{"on_machine": "message", "message": " "}, 400, "validation.invalid_request_format"},
		{"a message for nobody", c, landline, map[string]any{"on_machine": "hangup", "message": "Hello."}, 400, "validation.invalid_request_format"},
		{"a long message", c, landline, map[string]any{"on_machine": "message", "message": strings.Repeat("ñ", 1001)}, 400, "validation.invalid_request_format"},
		{"a header of the call itself", c, landline, map[string]any{"headers": map[string]string{"From": "<sip:1@h>"}}, 400, "validation.invalid_request_format"},
		{"a header with a line break", c, landline, map[string]any{"headers": map[string]string{"X-A": "1\r\nFrom: <sip:1@h>"}}, 400, "validation.invalid_request_format"},
		{"a long header", c, landline, map[string]any{"headers": map[string]string{"X-A": strings.Repeat("a", 513)}}, 400, "validation.invalid_request_format"},
		{"a header twice", c, landline, map[string]any{"headers": map[string]string{"X-A": "1", "x-a": "2"}}, 400, "validation.invalid_request_format"},
		{"nothing to call", c, "", nil, 400, "validation.invalid_request_format"},
		{"somebody's number", c, landline, map[string]any{"from": other.who.number, "agent_id": "ag_0"}, 403, "callcenter.from_not_owned"},
		{"nobody's number", c, landline, map[string]any{"from": "+34911111111"}, 403, "callcenter.from_not_owned"},
		{"somebody's agent", c, "+351912345678", map[string]any{"agent_id": other.who.agent}, 404, "agent.not_found"},
		{"nobody's agent", c, "+351912345678", map[string]any{"agent_id": "ag_06er5bt0v9k1o7m2q3s4t5u6v0"}, 404, "agent.not_found"},
		{"a mobile in Portugal", poor, "+351912345678", nil, 400, "callcenter.destination_not_allowed"},
		{"a premium number", c, "+19005551234", nil, 400, "callcenter.destination_not_allowed"},
		{"a satellite", c, "+881612345678", nil, 400, "callcenter.destination_not_allowed"},
		{"no number", c, "nobody", nil, 400, "callcenter.destination_not_allowed"},
		{"an emergency number", c, "112", nil, 400, "callcenter.emergency_number"},
		{"one behind its country's code", poor, "+34 091", nil, 400, "callcenter.emergency_number"},
		{"a number on the list", poor, listed, nil, 400, "callcenter.do_not_call"},
		{"welcome credit", poor, landline, nil, 402, "billing.topup_required"},
	} {
		var p struct{ Code, Detail string }
		status := tt.c.ask("POST", "/callcenter/dial", tt.c.order(tt.to, tt.changes), &p)
		if status != tt.status || p.Code != tt.code {
			t.Errorf("%s: %d %+v, want %d %s", tt.name, status, p, tt.status, tt.code)
		}
	}
	theirs := other.dial("02", nil)
	for _, id := range []string{theirs, "ses_06er5bt0v9k1o7m2q3s4t5u6v0"} {
		var e event
		if code := c.ask("GET", "/callcenter/call-monitor?call_id="+id, "", &e); code != 200 || e.Status != "ended" || e.Reason != "unknown" || e.Duration != 0 {
			t.Errorf("the monitor of %s: %d %+v", id, code, e)
		}
		if e := c.ended(id); e.Reason != "unknown" {
			t.Errorf("the stream of %s: %+v", id, e)
		}
		var p struct{ Code string }
		if code := c.ask("POST", "/callcenter/hangup/"+id, "", &p); code != 404 || p.Code != "request.not_found" {
			t.Errorf("hang-up of %s: %d %+v", id, code, p)
		}
	}
	var e event
	other.ask("POST", "/callcenter/hangup/"+theirs, "", &e)
	if e := other.ended(theirs); e.Reason != "api_hangup" {
		t.Errorf("%+v", e)
	}
}

// TestDialHeaders: headers of a call go out in its INVITE, are kept with it, and find it.
func TestDialHeaders(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	c := newDialer(t, s, "10")
	id := c.dial("01", map[string]any{"headers": map[string]string{"x-customer-id": " 42 ", "User-to-User": "Order 1"}})
	c.ended(id)
	var call struct{ Headers map[string]string }
	if code := c.ask("GET", "/v1/calls/"+id, "", &call); code != 200 || len(call.Headers) != 2 || call.Headers["X-Customer-Id"] != "42" || call.Headers["User-to-User"] != "Order 1" {
		t.Errorf("%d, kept are %v", code, call.Headers)
	}
	var trace struct {
		Data []struct{ Direction, Message string }
	}
	eventually(t, "the signalling is stored", func() bool { return c.ask("GET", "/v1/calls/"+id+"/sip", "", &trace) == 200 && len(trace.Data) > 0 })
	invite := ""
	for _, m := range trace.Data { // on loopback an answer may stand before its question
		if strings.HasPrefix(m.Message, "INVITE ") {
			invite = m.Message
		}
	}
	if !strings.Contains(invite, "\r\nX-Customer-Id: 42\r\n") || !strings.Contains(invite, "\r\nUser-to-User: 4f726465722031;encoding=hex\r\n") {
		t.Errorf("sent was %s", invite)
	}
	for query, want := range map[string]int{"X-CUSTOMER-ID:42": 1, "X-Customer-Id:4": 0} {
		var page struct{ Data []struct{ ID string } }
		if code := c.ask("GET", "/v1/calls?header="+query, "", &page); code != 200 || len(page.Data) != want || want == 1 && page.Data[0].ID != id {
			t.Errorf("%s: %d %+v", query, code, page.Data)
		}
	}
}

// TestDialOnce: a request that is sent again calls nobody twice.
func TestDialOnce(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	c := newDialer(t, s, "10")
	send := func(to string) (int, string) {
		req, err := http.NewRequest("POST", c.url+"/callcenter/dial", strings.NewReader(c.order(to, nil)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.who.key)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "the same")
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var a struct {
			ID   string `json:"call_id"`
			Code string
		}
		if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, a.ID + a.Code
	}
	_, first := send("+12025550101")
	for range 10 { // more often than calls may be begun
		if code, again := send("+12025550101"); code != 200 || again != first {
			t.Fatalf("again: %d %s, first %s", code, again, first)
		}
	}
	if code, other := send("+12025550109"); code != 409 || other != "request.idempotency_conflict" {
		t.Errorf("for another number: %d %s", code, other)
	}
	c.ended(first)
	openBooks(t, s).closed(c.who.account, 1)
	checkBooks(t, s.dir)
}

// TestDialRate: five calls a second and account. What is refused for another reason says
// so, however often it is asked.
func TestDialRate(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	c, poor := newDialer(t, s, "10"), newDialer(t, s, "")
	var p struct{ Code string }
	for range 30 {
		if status := c.ask("POST", "/callcenter/dial", c.order("+12025550101", map[string]any{"from": "+34911111111"}), &p); status != 403 {
			t.Fatalf("nobody's number: %d %+v", status, p)
		}
		if status := poor.ask("POST", "/callcenter/dial", poor.order("+12025550101", nil), &p); status != 402 {
			t.Fatalf("welcome credit: %d %+v", status, p)
		}
	}
	for range 200 { // a server that takes a fifth of a second for each may never refuse
		switch status := c.ask("POST", "/callcenter/dial", c.order("+12025550101", nil), &p); {
		case status == 429 && p.Code == "auth.rate_limited":
			return
		case status != 200 && p.Code != "limit.concurrency":
			t.Fatalf("%d %+v", status, p)
		}
	}
	t.Error("200 calls were begun without a pause")
}
