package callcenter_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/store/ledger"
)

func TestStatusAndAgents(t *testing.T) {
	s := open(t)
	r := s.as(s.a, "GET", "/callcenter/status", "")
	if want := `{"enabled":true,"carrier":"simulated","countries":["US","ES","UK","DE","FR","IT","PT"]}`; strings.TrimSpace(string(r.body)) != want {
		t.Errorf("%d %s", r.status, r.body)
	}
	r = s.as(s.a, "GET", "/callcenter/agents", "")
	if want := `{"agents":[{"id":"` + s.a.agent + `","name":"Ana of A","voice":"F1","language":"es"}]}`; strings.TrimSpace(string(r.body)) != want {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestSearch(t *testing.T) {
	s := open(t)
	seen := map[string]bool{}
	for _, code := range []string{"US", "ES", "UK", "DE", "FR", "IT", "PT"} {
		total := 0
		for page := 1; page <= 4; page++ {
			found := s.offers(fmt.Sprintf("country_code=%s&page=%d", code, page))
			if len(found.Numbers) != 15 || found.Page != page || found.PageSize != 15 || found.HasMore != (page < 4) {
				t.Errorf("%s page %d: %d numbers, %+v", code, page, len(found.Numbers), found)
			}
			for _, o := range found.Numbers {
				if iso := strings.Replace(code, "UK", "GB", 1); seen[o.PhoneNumber] || o.CountryCode != iso || o.NumberType != "local" || o.MonthlyCost <= 0 {
					t.Errorf("%s: %+v", code, o)
				}
				seen[o.PhoneNumber] = true
				total++
			}
		}
		if total != 60 {
			t.Errorf("%s has %d numbers", code, total)
		}
	}
	if found := s.offers("country_code=ES&page=5"); len(found.Numbers) != 0 || found.HasMore {
		t.Errorf("beyond the end: %+v", found)
	}
	if found := s.offers("country_code=ES&page=4000"); len(found.Numbers) != 0 || found.HasMore || found.Page != 4000 {
		t.Errorf("far beyond the end: %+v", found)
	}
	some := s.offers("country_code=ES").Numbers[0]
	for _, o := range s.offers("country_code=ES&locality=" + strings.ReplaceAll(some.Locality, " ", "+")).Numbers {
		if o.Locality != some.Locality {
			t.Errorf("in %s: %+v", some.Locality, o)
		}
	}
	for query, code := range map[string]string{
		"":                         "callcenter.invalid_country",
		"country_code=GB":          "callcenter.invalid_country",
		"country_code=es":          "callcenter.invalid_country",
		"country_code=US%00":       "callcenter.invalid_country",
		"country_code=ES&page=0":   "validation.invalid_request_format",
		"country_code=ES&page=-1":  "validation.invalid_request_format",
		"country_code=ES&page=two": "validation.invalid_request_format",
		"country_code=ES&page=1.5": "validation.invalid_request_format",
		"country_code=ES&locality=" + strings.Repeat("x", 101): "validation.invalid_request_format",
	} {
		s.want(query, s.as(s.a, "GET", "/callcenter/numbers/search?"+query, ""), 400, code)
	}
}

func TestBuyAssignRelease(t *testing.T) {
	s := open(t)
	number := s.ending(prompt)
	r := s.buy(s.a, number)
	s.want("buy", r, 200, "")
	n := s.number(r)
	if n.PhoneNumber != number || n.ID == "" || strings.Contains(n.ID, number[1:]) || *n.AgentID != s.a.agent || *n.AgentName != "Ana of A" ||
		n.Status != "active" || n.CountryCode != "ES" || n.ReleaseAt != nil || n.NextChargeAt == nil || time.Since(n.PurchasedAt) > time.Hour {
		t.Errorf("%s", r.body)
	}
	if !bytes.Contains(r.body, []byte(`"monthly_price":5,`)) || bytes.Contains(r.body, []byte("release_at")) {
		t.Errorf("%s", r.body)
	}
	if listed := s.list(s.a); len(listed) != 1 || listed[0].ID != n.ID {
		t.Errorf("%+v", listed)
	}
	if p := s.pots(s.a); p.Paid != 95*usd || p.Bonus != 5*usd || p.Held != 0 {
		t.Errorf("%+v", p)
	}
	if held := s.sim.Held(); len(held) != 1 || held[0].Number != number || !held[0].Routed {
		t.Errorf("the carrier has %+v", held)
	}
	route, err := ledger.New(s.db).RouteNumber(t.Context(), number)
	s.ok(err)
	if *route.Agent != s.a.agent {
		t.Errorf("%+v", route)
	}

	at := "/callcenter/numbers/" + n.ID
	for _, body := range []string{`{"agent_id":""}`, `{"agent_id":null}`} {
		r = s.as(s.a, "POST", at+"/assign", body)
		if n := s.number(r); r.status != 200 || n.AgentID != nil || n.AgentName != nil {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	for _, body := range []string{`{}`, `{"agent_id":7}`, `[]`, `{`, ``} {
		s.want("assign "+body, s.as(s.a, "POST", at+"/assign", body), 400, "validation.invalid_request_format")
	}
	r = s.as(s.a, "POST", at+"/assign", `{"agent_id":"`+s.a.agent+`"}`)
	if n := s.number(r); r.status != 200 || *n.AgentID != s.a.agent {
		t.Errorf("%d %s", r.status, r.body)
	}

	r = s.as(s.a, "DELETE", at, "")
	if want := `{"id":"` + n.ID + `","phone_number":"` + number + `","released":true}`; r.status != 200 || strings.TrimSpace(string(r.body)) != want {
		t.Errorf("%d %s", r.status, r.body)
	}
	s.want("release again", s.as(s.a, "DELETE", at, ""), 404, "callcenter.not_found")
	s.want("assign afterwards", s.as(s.a, "POST", at+"/assign", `{"agent_id":""}`), 404, "callcenter.not_found")
	s.want("buy afterwards", s.buy(s.b, number), 400, "callcenter.number_not_available")
	if held := s.sim.Held(); len(held) != 0 || len(s.list(s.a)) != 0 {
		t.Errorf("the carrier has %+v", held)
	}
	if _, err := ledger.New(s.db).RouteNumber(t.Context(), number); err == nil {
		t.Error("it is answered")
	}
	s.verified()
}

// TestRefusals is the order of checks: each request has everything wrong that the
// later ones find too.
func TestRefusals(t *testing.T) {
	s := open(t)
	poor := s.owner("poor", 0)
	dear, good := s.ending("9"), s.ending(prompt)
	body := func(number, agent string) string {
		return `{"phone_number":"` + number + `","agent_id":"` + agent + `"}`
	}
	post := func(who owner, body string) reply { return s.as(who, "POST", "/callcenter/numbers", body) }
	s.want("no credential", s.send("POST", "/callcenter/numbers", "{"), 401, "auth.missing_key")
	s.want("a bad one", s.send("POST", "/callcenter/numbers", "{", "X-API-Key", "sk_x"), 401, "auth.invalid_key")
	s.want("another media type", s.send("POST", "/callcenter/numbers", "x", "X-API-Key", poor.key, "Content-Type", "text/csv"), 415, "request.unsupported_media_type")
	s.want("too large", post(poor, `{"phone_number":"`+strings.Repeat("x", 70_000)+`"}`), 413, "request.too_large")
	for _, bad := range []string{"", "{", "[]", "{}", `{"phone_number":null}`, `{"phone_number":34911}`, `{"phone_number":"` + good + `","agent_id":7}`} {
		s.want(bad, post(poor, bad), 400, "validation.invalid_request_format")
	}
	s.want("foreign agent, dear", post(poor, body(dear, s.a.agent)), 404, "agent.not_found")
	s.want("unknown agent, dear", post(poor, body(dear, "ag_x")), 404, "agent.not_found")
	s.want("dear", post(poor, body(dear, poor.agent)), 400, "callcenter.number_price_too_high")
	for _, bad := range []string{"+34910000000", "+12", "any", good[1:], " " + good, good + "0", "sip:" + good, "+34\\u0000"} {
		s.want(bad, post(poor, body(bad, "")), 400, "callcenter.number_not_available")
	}
	s.want("before the first top-up", post(poor, body(good, poor.agent)), 402, "billing.topup_required")
	thin := s.owner("thin", 5*usd-1)
	s.want("too little", post(thin, body(good, "")), 402, "billing.insufficient_balance")
	s.ok(ledger.New(s.db).OpenDispute(t.Context(), poor.account, "pi", time.Now()))
	s.want("disputed", post(poor, body(good, poor.agent)), 402, "billing.account_disputed")
	s.owned(s.a, good)
	s.want("sold", post(poor, body(good, poor.agent)), 400, "callcenter.number_not_available")
	for _, who := range []owner{poor, thin} {
		if p := s.pots(who); p.Held != 0 || len(s.list(who)) != 0 {
			t.Errorf("%+v, %+v", p, s.list(who))
		}
	}
	s.verified()
}

// What belongs to others answers like what does not exist, byte for byte.
func TestForeignLooksUnknown(t *testing.T) {
	s := open(t)
	n, mine := s.owned(s.a, s.ending(prompt)), s.owned(s.b, s.ending(prompt))
	same := func(what string, foreign, unknown reply) {
		t.Helper()
		foreign.header.Del("Date")
		unknown.header.Del("Date")
		if foreign.status != 404 || unknown.status != 404 || !bytes.Equal(foreign.body, unknown.body) || fmt.Sprint(foreign.header) != fmt.Sprint(unknown.header) {
			t.Errorf("%s: %d %s %v\nand %d %s %v", what, foreign.status, foreign.body, foreign.header, unknown.status, unknown.body, unknown.header)
		}
	}
	for _, unknown := range []string{"num_x", "%00", n.PhoneNumber, "num_" + strings.Repeat("0", 26)} {
		same("release", s.as(s.b, "DELETE", "/callcenter/numbers/"+n.ID, ""), s.as(s.b, "DELETE", "/callcenter/numbers/"+unknown, ""))
		for _, body := range []string{`{"agent_id":""}`, `{"agent_id":"` + s.b.agent + `"}`, `{"agent_id":"` + s.a.agent + `"}`} {
			same("assign", s.as(s.b, "POST", "/callcenter/numbers/"+n.ID+"/assign", body), s.as(s.b, "POST", "/callcenter/numbers/"+unknown+"/assign", body))
		}
	}
	for _, unknown := range []string{"ag_x", "\\u0000"} {
		at := "/callcenter/numbers/" + mine.ID + "/assign"
		same("assign to", s.as(s.b, "POST", at, `{"agent_id":"`+s.a.agent+`"}`), s.as(s.b, "POST", at, `{"agent_id":"`+unknown+`"}`))
		buy := func(agent string) reply {
			return s.as(s.b, "POST", "/callcenter/numbers", `{"phone_number":"`+s.ending(prompt)+`","agent_id":"`+agent+`"}`)
		}
		same("buy for", buy(s.a.agent), buy(unknown))
	}
	if l := s.list(s.b); len(l) != 1 || l[0].ID != mine.ID || *l[0].AgentID != s.b.agent {
		t.Errorf("%+v", l)
	}
	if l := s.list(s.a); len(l) != 1 || *l[0].AgentID != s.a.agent {
		t.Errorf("%+v", l)
	}
	s.verified()
}

// Tickets open the routes as keys do, those for one agent do not, and pages of other
// sites may not read the answers.
func TestWhoMayUseTheRoutes(t *testing.T) {
	s := open(t)
	n := s.owned(s.a, s.ending(prompt))
	mint := func(tk api.Ticket) string {
		tk.ID, tk.Expires = "t", time.Now().Add(time.Minute)
		return s.signer.Sign(api.Principal{Account: s.a.account, Key: s.a.keyID, Ticket: &tk})
	}
	open, narrow := mint(api.Ticket{}), mint(api.Ticket{Agent: s.a.agent})
	for _, route := range [][3]string{
		{"GET", "/callcenter/status"}, {"GET", "/callcenter/agents"}, {"GET", "/callcenter/numbers/search?country_code=ES"},
		{"GET", "/callcenter/numbers"}, {"POST", "/callcenter/numbers/" + n.ID + "/assign", `{"agent_id":""}`},
		{"POST", "/callcenter/numbers", `{"phone_number":"` + s.ending(prompt) + `"}`}, {"DELETE", "/callcenter/numbers/" + n.ID},
	} {
		method, path, body := route[0], route[1], route[2]
		s.want(method+" without", s.send(method, path, body), 401, "auth.missing_key")
		s.want(method+" with a conversation's ticket", s.send(method, path, body, "Authorization", "Bearer "+narrow), 403, "auth.ticket_not_allowed")
		r := s.send(method, path, body, "Authorization", "Bearer "+open, "Origin", "https://elsewhere.example")
		s.want(method+" "+path+" with a ticket", r, 200, "")
		if got := r.header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s %s is open to %q", method, path, got)
		}
	}
	in := strings.ReplaceAll(s.server.URL, "http://", "") // the key in the query
	res, err := http.Get("http://" + in + "/callcenter/status?api_key=" + open)
	s.ok(err)
	defer res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("by the query: %d", res.StatusCode)
	}
	s.verified()
}

func TestFiftyPurchasesOfOneNumber(t *testing.T) {
	s := open(t)
	number := s.ending(prompt)
	buyers := []owner{s.a, s.b}
	for i := range 8 {
		buyers = append(buyers, s.owner(fmt.Sprint(i), 50*usd))
	}
	statuses := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			r := s.buy(buyers[i%len(buyers)], number)
			mu.Lock()
			defer mu.Unlock()
			statuses[r.status]++
			if r.status != 200 {
				s.want("late", r, 400, "callcenter.number_not_available")
			}
		})
	}
	wg.Wait()
	sold := 0
	for _, b := range buyers {
		sold += len(s.list(b))
	}
	if statuses[200] != 1 || statuses[400] != 49 || sold != 1 || len(s.sim.Held()) != 1 {
		t.Errorf("%v, %d sold, the carrier has %v", statuses, sold, s.sim.Held())
	}
	s.verified()
}

func TestPastDueNumbersShowIt(t *testing.T) {
	s := open(t)
	poor := s.owner("poor", 6*usd)
	n := s.owned(poor, s.ending(prompt))
	due := *n.NextChargeAt
	s.ok(s.desk.Months(t.Context(), due))
	l := s.list(poor)
	if len(l) != 1 || l[0].Status != "past_due" || l[0].ReleaseAt == nil || !l[0].ReleaseAt.Equal(due.Add(ledger.NumberGraceTime)) {
		t.Errorf("%+v", l)
	}
	s.ok(s.desk.Months(t.Context(), due.Add(ledger.NumberGraceTime)))
	if l := s.list(poor); len(l) != 0 {
		t.Errorf("%+v", l)
	}
	s.ok(s.desk.Sweep(t.Context(), due.Add(ledger.NumberGraceTime)))
	if held := s.sim.Held(); len(held) != 0 {
		t.Errorf("the carrier has %+v", held)
	}
	s.verified()
}

func TestNumbersByHandAreListed(t *testing.T) {
	s := open(t)
	_, err := ledger.New(s.db).ImportNumber(t.Context(), s.a.account, "+34911234567", s.a.agent, time.Now())
	s.ok(err)
	r := s.as(s.a, "GET", "/callcenter/numbers", "")
	if !regexp.MustCompile(`"status":"active","monthly_price":0,"purchased_at":"[^"]+","next_charge_at":null\}`).Match(r.body) {
		t.Errorf("%s", r.body)
	}
	s.want("release", s.as(s.a, "DELETE", "/callcenter/numbers/"+s.list(s.a)[0].ID, ""), 200, "")
	if len(s.list(s.a)) != 0 {
		t.Error("it is still there")
	}
	s.verified()
}
