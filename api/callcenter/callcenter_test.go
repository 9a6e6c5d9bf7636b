package callcenter_test

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/store/numbers"
	"parley/store/people"
	"parley/store/storetest"
	"parley/store/webhook"
)

func TestStatusAndAgents(t *testing.T) {
	s := open(t)
	r := s.As(s.A, "GET", "/callcenter/status", "")
	if want := `{"enabled":true,"carrier":"simulated","countries":["US","ES","UK","DE","FR","IT","PT"]}`; strings.TrimSpace(string(r.Body)) != want {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	r = s.As(s.A, "GET", "/callcenter/agents", "")
	if want := `{"agents":[{"id":"` + s.A.Agent + `","name":"Ana of A","voice":"F1","language":"es"}]}`; strings.TrimSpace(string(r.Body)) != want {
		t.Errorf("%d %s", r.Status, r.Body)
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
		s.Want(query, s.As(s.A, "GET", "/callcenter/numbers/search?"+query, ""), 400, code)
	}
}

func TestBuyAssignRelease(t *testing.T) {
	s := open(t)
	number := s.ending(prompt)
	r := s.buy(s.A, number)
	s.Want("buy", r, 200, "")
	n := s.number(r)
	if n.PhoneNumber != number || n.ID == "" || strings.Contains(n.ID, number[1:]) || *n.AgentID != s.A.Agent || *n.AgentName != "Ana of A" ||
		n.Status != "active" || n.CountryCode != "ES" || n.ReleaseAt != nil || n.NextChargeAt == nil || time.Since(n.PurchasedAt) > time.Hour {
		t.Errorf("%s", r.Body)
	}
	if !bytes.Contains(r.Body, []byte(`"monthly_price":5,`)) || bytes.Contains(r.Body, []byte("release_at")) {
		t.Errorf("%s", r.Body)
	}
	if listed := s.list(s.A); len(listed) != 1 || listed[0].ID != n.ID {
		t.Errorf("%+v", listed)
	}
	if p := s.pots(s.A); p.Paid != 95*usd || p.Bonus != 5*usd || p.Held != 0 {
		t.Errorf("%+v", p)
	}
	if held := s.sim.Held(); len(held) != 1 || held[0].Number != number || !held[0].Routed {
		t.Errorf("the carrier has %+v", held)
	}
	route, err := numbers.New(s.DB).Route(t.Context(), number)
	s.OK(err)
	if *route.Agent != s.A.Agent {
		t.Errorf("%+v", route)
	}

	at := "/callcenter/numbers/" + n.ID
	for _, body := range []string{`{"agent_id":""}`, `{"agent_id":null}`} {
		r = s.As(s.A, "POST", at+"/assign", body)
		if n := s.number(r); r.Status != 200 || n.AgentID != nil || n.AgentName != nil {
			t.Errorf("%s: %d %s", body, r.Status, r.Body)
		}
	}
	for _, body := range []string{`{}`, `{"agent_id":7}`, `[]`, `{`, ``} {
		s.Want("assign "+body, s.As(s.A, "POST", at+"/assign", body), 400, "validation.invalid_request_format")
	}
	r = s.As(s.A, "POST", at+"/assign", `{"agent_id":"`+s.A.Agent+`"}`)
	if n := s.number(r); r.Status != 200 || *n.AgentID != s.A.Agent {
		t.Errorf("%d %s", r.Status, r.Body)
	}

	r = s.As(s.A, "DELETE", at, "")
	if want := `{"id":"` + n.ID + `","phone_number":"` + number + `","released":true}`; r.Status != 200 || strings.TrimSpace(string(r.Body)) != want {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	s.Want("release again", s.As(s.A, "DELETE", at, ""), 404, "callcenter.not_found")
	s.Want("assign afterwards", s.As(s.A, "POST", at+"/assign", `{"agent_id":""}`), 404, "callcenter.not_found")
	s.Want("buy afterwards", s.buy(s.B, number), 400, "callcenter.number_not_available")
	if held := s.sim.Held(); len(held) != 0 || len(s.list(s.A)) != 0 {
		t.Errorf("the carrier has %+v", held)
	}
	if _, err := numbers.New(s.DB).Route(t.Context(), number); err == nil {
		t.Error("it is answered")
	}
	s.Verified()
}

// TestRefusals is the order of checks: each request has everything wrong that the
// later ones find too.
func TestRefusals(t *testing.T) {
	s := open(t)
	poor := s.Owner("poor", 0)
	dear, good := s.ending("9"), s.ending(prompt)
	body := func(number, agent string) string {
		return `{"phone_number":"` + number + `","agent_id":"` + agent + `"}`
	}
	post := func(who owner, body string) reply { return s.As(who, "POST", "/callcenter/numbers", body) }
	s.Want("no credential", s.Send("POST", "/callcenter/numbers", "{"), 401, "auth.missing_key")
	s.Want("a bad one", s.Send("POST", "/callcenter/numbers", "{", "X-API-Key", "sk_x"), 401, "auth.invalid_key")
	s.Want("another media type", s.Send("POST", "/callcenter/numbers", "x", "X-API-Key", poor.Key, "Content-Type", "text/csv"), 415, "request.unsupported_media_type")
	s.Want("too large", post(poor, `{"phone_number":"`+strings.Repeat("x", 70_000)+`"}`), 413, "request.too_large")
	for _, bad := range []string{"", "{", "[]", "{}", `{"phone_number":null}`, `{"phone_number":34911}`, `{"phone_number":"` + good + `","agent_id":7}`} {
		s.Want(bad, post(poor, bad), 400, "validation.invalid_request_format")
	}
	s.Want("foreign agent, dear", post(poor, body(dear, s.A.Agent)), 404, "agent.not_found")
	s.Want("unknown agent, dear", post(poor, body(dear, "ag_x")), 404, "agent.not_found")
	s.Want("dear", post(poor, body(dear, poor.Agent)), 400, "callcenter.number_price_too_high")
	for _, bad := range []string{"+34910000000", "+12", "any", good[1:], " " + good, good + "0", "sip:" + good, "+34\\u0000"} {
		s.Want(bad, post(poor, body(bad, "")), 400, "callcenter.number_not_available")
	}
	s.Want("before the first top-up", post(poor, body(good, poor.Agent)), 402, "billing.topup_required")
	thin := s.Owner("thin", 5*usd-1)
	s.Want("too little", post(thin, body(good, "")), 402, "billing.insufficient_balance")
	s.OK(s.Ledger.OpenDispute(t.Context(), poor.Account, "pi"))
	s.Want("disputed", post(poor, body(good, poor.Agent)), 402, "billing.account_disputed")
	s.owned(s.A, good)
	s.Want("sold", post(poor, body(good, poor.Agent)), 400, "callcenter.number_not_available")
	for _, who := range []owner{poor, thin} {
		if p := s.pots(who); p.Held != 0 || len(s.list(who)) != 0 {
			t.Errorf("%+v, %+v", p, s.list(who))
		}
	}
	s.Verified()
}

// What belongs to others answers like what does not exist, byte for byte, but for the name of the request.
func TestForeignLooksUnknown(t *testing.T) {
	s := open(t)
	n, mine := s.owned(s.A, s.ending(prompt)), s.owned(s.B, s.ending(prompt))
	same := func(what string, foreign, unknown reply) {
		t.Helper()
		foreign, unknown = foreign.Anonymous(), unknown.Anonymous()
		if foreign.Status != 404 || unknown.Status != 404 || !bytes.Equal(foreign.Body, unknown.Body) || fmt.Sprint(foreign.Header) != fmt.Sprint(unknown.Header) {
			t.Errorf("%s: %d %s %v\nand %d %s %v", what, foreign.Status, foreign.Body, foreign.Header, unknown.Status, unknown.Body, unknown.Header)
		}
	}
	for _, unknown := range []string{"num_x", "%00", n.PhoneNumber, "num_" + strings.Repeat("0", 26)} {
		same("release", s.As(s.B, "DELETE", "/callcenter/numbers/"+n.ID, ""), s.As(s.B, "DELETE", "/callcenter/numbers/"+unknown, ""))
		for _, body := range []string{`{"agent_id":""}`, `{"agent_id":"` + s.B.Agent + `"}`, `{"agent_id":"` + s.A.Agent + `"}`} {
			same("assign", s.As(s.B, "POST", "/callcenter/numbers/"+n.ID+"/assign", body), s.As(s.B, "POST", "/callcenter/numbers/"+unknown+"/assign", body))
		}
	}
	for _, unknown := range []string{"ag_x", "\\u0000"} {
		at := "/callcenter/numbers/" + mine.ID + "/assign"
		same("assign to", s.As(s.B, "POST", at, `{"agent_id":"`+s.A.Agent+`"}`), s.As(s.B, "POST", at, `{"agent_id":"`+unknown+`"}`))
		buy := func(agent string) reply {
			return s.As(s.B, "POST", "/callcenter/numbers", `{"phone_number":"`+s.ending(prompt)+`","agent_id":"`+agent+`"}`)
		}
		same("buy for", buy(s.A.Agent), buy(unknown))
	}
	if l := s.list(s.B); len(l) != 1 || l[0].ID != mine.ID || *l[0].AgentID != s.B.Agent {
		t.Errorf("%+v", l)
	}
	if l := s.list(s.A); len(l) != 1 || *l[0].AgentID != s.A.Agent {
		t.Errorf("%+v", l)
	}
	s.Verified()
}

// Tickets open the routes as keys do, those for one agent do not, and pages of other
// sites may not read the answers.
func TestWhoMayUseTheRoutes(t *testing.T) {
	s := open(t)
	n := s.owned(s.A, s.ending(prompt))
	mint := func(tk api.Ticket) string {
		tk.ID, tk.Expires = "t", time.Now().Add(time.Minute)
		return s.signer.Sign(api.Principal{Account: s.A.Account, Key: s.A.KeyID, Ticket: &tk})
	}
	open, narrow := mint(api.Ticket{}), mint(api.Ticket{Agent: s.A.Agent})
	for _, route := range [][3]string{
		{"GET", "/callcenter/status"}, {"GET", "/callcenter/agents"}, {"GET", "/callcenter/numbers/search?country_code=ES"},
		{"GET", "/callcenter/numbers"}, {"POST", "/callcenter/numbers/" + n.ID + "/assign", `{"agent_id":""}`},
		{"POST", "/callcenter/numbers", `{"phone_number":"` + s.ending(prompt) + `"}`}, {"DELETE", "/callcenter/numbers/" + n.ID},
	} {
		method, path, body := route[0], route[1], route[2]
		s.Want(method+" without", s.Send(method, path, body), 401, "auth.missing_key")
		s.Want(method+" with a conversation's ticket", s.Send(method, path, body, "Authorization", "Bearer "+narrow), 403, "auth.ticket_not_allowed")
		r := s.Send(method, path, body, "Authorization", "Bearer "+open, "Origin", "https://elsewhere.example")
		s.Want(method+" "+path+" with a ticket", r, 200, "")
		if got := r.Header.Get("Access-Control-Allow-Origin"); got != "" {
			t.Errorf("%s %s is open to %q", method, path, got)
		}
	}
	in := strings.ReplaceAll(s.Server.URL, "http://", "") // the key in the query
	res, err := http.Get("http://" + in + "/callcenter/status?api_key=" + open)
	s.OK(err)
	defer res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("by the query: %d", res.StatusCode)
	}
	s.Verified()
}

func TestFiftyPurchasesOfOneNumber(t *testing.T) {
	s := open(t)
	number := s.ending(prompt)
	buyers := []owner{s.A, s.B}
	for i := range 8 {
		buyers = append(buyers, s.Owner(fmt.Sprint(i), 50*usd))
	}
	statuses := map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			r := s.buy(buyers[i%len(buyers)], number)
			mu.Lock()
			defer mu.Unlock()
			statuses[r.Status]++
			if r.Status != 200 {
				s.Want("late", r, 400, "callcenter.number_not_available")
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
	s.Verified()
}

func TestPastDueNumbersShowIt(t *testing.T) {
	s := open(t)
	poor := s.Owner("poor", 6*usd)
	n := s.owned(poor, s.ending(prompt))
	due := *n.NextChargeAt
	s.OK(s.desk.Months(storetest.At(t.Context(), due)))
	l := s.list(poor)
	if len(l) != 1 || l[0].Status != "past_due" || l[0].ReleaseAt == nil || !l[0].ReleaseAt.Equal(due.Add(numbers.GraceTime)) {
		t.Errorf("%+v", l)
	}
	s.OK(s.desk.Months(storetest.At(t.Context(), due.Add(numbers.GraceTime))))
	if l := s.list(poor); len(l) != 0 {
		t.Errorf("%+v", l)
	}
	s.OK(s.desk.Sweep(storetest.At(t.Context(), due.Add(numbers.GraceTime))))
	if held := s.sim.Held(); len(held) != 0 {
		t.Errorf("the carrier has %+v", held)
	}
	s.Verified()
}

// TestNumbersAskWebhooks: an assignment names an agent, a webhook or both; null is none.
func TestNumbersAskWebhooks(t *testing.T) {
	s := open(t)
	_, err := numbers.New(s.DB).Import(t.Context(), s.A.Account, "+34911234567", s.A.Agent)
	s.OK(err)
	at := "/callcenter/numbers/" + s.list(s.A)[0].ID + "/assign"
	s.Want("an unknown webhook", s.As(s.A, "POST", at, `{"webhook_id":"wh_x"}`), 400, "validation.invalid_request_format")
	s.Want("neither", s.As(s.A, "POST", at, `{}`), 400, "validation.invalid_request_format")
	vault, err := people.NewVault(s.DB, "0123456789abcdef0123456789abcdef")
	s.OK(err)
	hook, _, err := webhook.New(s.DB, vault).Create(t.Context(), s.A.Account, webhook.Webhook{URL: "https://example.com/incoming"})
	s.OK(err)
	id := hook.ID
	for _, tt := range []struct {
		body           string
		agent, webhook *string
	}{
		{`{"webhook_id":"` + id + `"}`, &s.A.Agent, &id}, {`{"agent_id":null}`, nil, &id}, {`{"agent_id":"` + s.A.Agent + `","webhook_id":null}`, &s.A.Agent, nil},
		{`{"agent_id":"","webhook_id":"` + id + `"}`, nil, &id}, {`{"webhook_id":""}`, nil, nil},
	} {
		s.Want(tt.body, s.As(s.A, "POST", at, tt.body), 200, "")
		if n := s.list(s.A)[0]; !reflect.DeepEqual([]*string{n.AgentID, n.WebhookID}, []*string{tt.agent, tt.webhook}) {
			t.Errorf("%s: %+v", tt.body, n)
		}
	}
	s.Want("another account's number", s.As(s.B, "POST", at, `{"webhook_id":""}`), 404, "callcenter.not_found")
}

// TestNumbersKeepPace: how many calls go out from a number in an hour is set and taken back, and the rest of it stays.
func TestNumbersKeepPace(t *testing.T) {
	s := open(t)
	_, err := numbers.New(s.DB).Import(t.Context(), s.A.Account, "+34911234567", s.A.Agent)
	s.OK(err)
	at := "/callcenter/numbers/" + s.list(s.A)[0].ID + "/assign"
	thirty := 30
	for _, tt := range []struct {
		body   string
		status int
		want   *int
	}{
		{`{"calls_per_hour":30}`, 200, &thirty}, {`{"agent_id":"` + s.A.Agent + `"}`, 200, &thirty}, {`{"calls_per_hour":-1}`, 400, &thirty}, {`{"calls_per_hour":3601}`, 400, &thirty},
		{`{"calls_per_hour":"30"}`, 400, &thirty}, {`{"calls_per_hour":0}`, 200, nil},
	} {
		code := ""
		if tt.status != 200 {
			code = "validation.invalid_request_format"
		}
		s.Want(tt.body, s.As(s.A, "POST", at, tt.body), tt.status, code)
		if n := s.list(s.A)[0]; !reflect.DeepEqual(n.CallsPerHour, tt.want) || *n.AgentID != s.A.Agent {
			t.Errorf("%s: %+v", tt.body, n)
		}
	}
	s.Want("another account's number", s.As(s.B, "POST", at, `{"calls_per_hour":1}`), 404, "callcenter.not_found")
}

func TestNumbersByHandAreListed(t *testing.T) {
	s := open(t)
	_, err := numbers.New(s.DB).Import(t.Context(), s.A.Account, "+34911234567", s.A.Agent)
	s.OK(err)
	r := s.As(s.A, "GET", "/callcenter/numbers", "")
	if !regexp.MustCompile(`"status":"active","monthly_price":0,"purchased_at":"[^"]+","next_charge_at":null\}`).Match(r.Body) {
		t.Errorf("%s", r.Body)
	}
	s.Want("release", s.As(s.A, "DELETE", "/callcenter/numbers/"+s.list(s.A)[0].ID, ""), 200, "")
	if len(s.list(s.A)) != 0 {
		t.Error("it is still there")
	}
	s.Verified()
}
