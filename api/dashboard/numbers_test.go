package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/dashboard/dashboardtest"
	"parley/api/export"
	"parley/api/manage"
	"parley/api/messages"
	"parley/api/wire"
	"parley/billing"
	"parley/billing/destination"
	"parley/sip/carrier"
	"parley/sip/carrier/simulated"
	"parley/store"
	"parley/store/campaign"
	"parley/store/ledger"
	messagestore "parley/store/messages"
	"parley/store/numbers"
)

// shop is a site that sells numbers and dials, with an agent who answers.
type shop struct {
	*exchange
	agent string
}

// batches checks the orders of a batch as far as these tests need it.
type batches struct{}

func (batches) Check(_ context.Context, _ string, orders []callcenter.Order) (int, error) {
	for i := range orders {
		o := &orders[i]
		o.To = strings.ReplaceAll(o.To, " ", "")
		if !strings.HasPrefix(o.To, "+34") {
			return i, api.ErrDestination
		}
	}
	return 0, nil
}

func (b batches) CheckEach(ctx context.Context, account string, orders []callcenter.Order) ([]error, error) {
	refused := make([]error, len(orders))
	for i := range orders {
		_, refused[i] = b.Check(ctx, account, orders[i:i+1])
	}
	return refused, nil
}

func (batches) Wake() {}

func newShop(t *testing.T) *shop {
	t.Helper()
	x := &shop{exchange: &exchange{}}
	x.Site = dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) {
		a.Remember(s.DB)
		x.mountShop(s, a)
		manage.Mount(a, s.DB, export.New(s.DB), fakeDefinition)
	}})
	x.SignIn()
	agent, err := x.DB.CreateAgent(t.Context(), x.Account, store.Agent{Name: "Ana " + hostile, Voice: "F1", Language: "en"})
	x.OK(err)
	x.agent = agent.ID
	return x
}

// mountShop adds the routes of numbers and of calls out.
func (x *exchange) mountShop(s *dashboardtest.Site, a *api.API) {
	sim, err := simulated.New(simulated.Config{Now: time.Now})
	s.OK(err)
	callcenter.Mount(a, callcenter.New(callcenter.Numbers{Store: s.DB, Carrier: sim, Card: billing.DefaultRateCard, Routing: anyRouting(), Log: slog.New(slog.DiscardHandler)}))
	x.texts = &messages.Desk{Store: messagestore.New(s.DB), Carrier: sim, Classify: classify, Card: billing.DefaultRateCard, Log: slog.New(slog.DiscardHandler)}
	messages.Mount(a, x.texts)
	callcenter.MountCalls(a, s.DB, x, nil)
	callcenter.MountBulk(a, s.DB, billing.DefaultRateCard, batches{})
	callcenter.MountBulkTools(a, s.DB, export.New(s.DB), billing.DefaultRateCard, batches{})
}

// classify sorts destinations as a node with the simulated carrier does.
func classify(number string) (destination.Class, error) {
	c, err := destination.ClassifyFictional(number)
	if err != nil {
		err = api.Detail(api.ErrDestination, err.Error())
	}
	return c, err
}

var forSale = regexp.MustCompile(`/app/numbers/buy\?number=%2[bB](\d+)`)

// TestNumberPages searches, buys, assigns and releases a number.
func TestNumberPages(t *testing.T) {
	s := newShop(t)
	if page := s.Get("/app/numbers"); !strings.Contains(page.Body, "No numbers yet") || !strings.Contains(page.Body, "$5.00") {
		t.Error("an account without numbers")
	}
	if page := s.Get("/app/dial"); !strings.Contains(page.Body, "You need a number first") {
		t.Error("a call without a number")
	}
	page := s.Get("/app/numbers/search?country=ES")
	found := forSale.FindStringSubmatch(page.Body)
	if found == nil {
		t.Fatalf("nothing for sale: %s", page.Body)
	}
	number := "+" + found[1]
	if page := s.Get("/app/numbers/search?country=XX"); page.Status != http.StatusUnprocessableEntity {
		t.Errorf("a country that is none: %d", page.Status)
	}
	if page := s.Get("/app/numbers/buy?number=%2B" + found[1]); !strings.Contains(page.Body, "$5.00 are charged now") || strings.Contains(page.Body, "<script>alert") {
		t.Error("the price is not named before the purchase")
	}
	if page := s.Post("/app/numbers", "number", number, "agent_id", s.agent); page.Status != http.StatusSeeOther {
		t.Fatalf("bought: %d %s", page.Status, page.Body)
	}
	all, err := numbers.New(s.DB).Numbers(t.Context(), s.Account, store.Page{})
	if err != nil || len(all) != 1 || all[0].E164 != number || *all[0].AgentID != s.agent {
		t.Fatalf("%+v %v", all, err)
	}
	if page := s.Get("/app/numbers"); !strings.Contains(page.Body, found[1]) {
		t.Error("the number is not listed")
	}
	at := "/app/numbers/" + all[0].ID
	if page := s.Post(at+"/assign", "agent_id-"+all[0].ID, ""); page.Status != http.StatusSeeOther {
		t.Errorf("assigned: %d", page.Status)
	}
	if n, err := numbers.New(s.DB).Number(t.Context(), s.Account, all[0].ID); err != nil || n.AgentID != nil {
		t.Errorf("somebody still answers: %+v %v", n, err)
	}
	if page := s.Get("/app/numbers"); strings.Contains(page.Body, "webhook_id-") {
		t.Error("there is a choice of webhooks, of which there are none")
	}
	if page := s.Post("/app/webhooks", "url", "https://example.com/incoming", "events", "call.incoming"); page.Status != http.StatusOK {
		t.Fatalf("webhook: %d %s", page.Status, page.Body)
	}
	hook := regexp.MustCompile(`value="(wh_[a-z0-9]+)"`).FindStringSubmatch(s.Get("/app/numbers").Body)
	if hook == nil {
		t.Fatal("there is no choice of webhooks")
	}
	if page := s.Post(at+"/assign", "agent_id-"+all[0].ID, "", "webhook_id-"+all[0].ID, hook[1]); page.Status != http.StatusSeeOther {
		t.Errorf("asks the webhook: %d", page.Status)
	}
	if n, err := numbers.New(s.DB).Number(t.Context(), s.Account, all[0].ID); err != nil || n.Webhook == nil || *n.Webhook != hook[1] {
		t.Errorf("the webhook is not asked: %+v %v", n, err)
	}
	if page := s.Post("/app/numbers", "number", number); page.Status != http.StatusUnprocessableEntity {
		t.Errorf("bought twice: %d", page.Status)
	}
	if page := s.Get(at + "/release"); !strings.Contains(page.Body, "cannot be had again") || !strings.Contains(page.Body, "$5.00 a month") {
		t.Error("the release does not name the price")
	}
	if page := s.Post(at+"/release", "number", "yes"); page.Status != http.StatusUnprocessableEntity {
		t.Errorf("released without its number: %d", page.Status)
	}
	if page := s.Post(at+"/release", "number", number); page.Status != http.StatusSeeOther {
		t.Errorf("released: %d", page.Status)
	}
	if left, err := numbers.New(s.DB).Numbers(t.Context(), s.Account, store.Page{}); err != nil || len(left) != 0 {
		t.Errorf("%d numbers are left, %v", len(left), err)
	}
	for _, path := range []string{"/release", "/assign"} {
		if page := s.Post("/app/numbers/num_of_others"+path, "number", "+1"); page.Status != http.StatusNotFound {
			t.Errorf("a foreign number%s: %d", path, page.Status)
		}
	}
}

// buy gives the account a number.
func (s *shop) buy() string {
	s.T.Helper()
	n, err := numbers.New(s.DB).Import(s.T.Context(), s.Account, "+34911234567", s.agent)
	s.OK(err)
	return n.E164
}

// hidden is the name of what a page's form asks for.
func hidden(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile(`name="once" value="(\w+)"`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the form has no name: %s", page)
	}
	return found[1]
}

// TestOnce: a form that comes twice is taken once; one that was changed, or of a page that
// was loaded again, asks for something else.
func TestOnce(t *testing.T) {
	s := newShop(t)
	from := s.buy()
	post := func(path string, fields ...string) (location string) {
		t.Helper()
		page := s.Post(path, fields...)
		if page.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", path, page.Status, page.Body)
		}
		return page.Header.Get("Location")
	}
	s.lasts = "ses_1"
	once := hidden(t, s.Get("/app/dial").Body)
	for i, c := range []struct{ once, to string }{{once, "+34912345678"}, {once, "+34912345678"}, {once, "+34912345679"}, {hidden(t, s.Get("/app/dial").Body), "+34912345678"}} {
		post("/app/dial", "from", from, "to", c.to, "agent_id", s.agent, "consent", "on", "once", c.once)
		if n := s.dialled.Load(); n != []int64{1, 1, 2, 3}[i] {
			t.Errorf("%d calls after form %d", n, i)
		}
	}
	batch := []string{"name", "Friday", "from", from, "agent_id", s.agent, "on_machine", "continue", "consent", "on"}
	const list = "34912345678\n"
	once = hidden(t, s.Post("/app/bulk/review", append(batch, "list", list)...).Body)
	first := post("/app/bulk", append(batch, "list", list, "once", once)...)
	if again := post("/app/bulk", append(batch, "list", list, "once", once)...); again != first {
		t.Errorf("there are two batches: %s, %s", first, again)
	}
	if other := post("/app/bulk", append(batch, "list", list+"34912345679\n", "once", once)...); other == first {
		t.Error("the list that was changed is not queued")
	}
}

// TestBulkPages queues a file that a spreadsheet has mangled, once it is right.
func TestBulkPages(t *testing.T) {
	s := newShop(t)
	from := s.buy()
	fields := func(list string, more ...string) []string {
		return append([]string{"list", list, "name", "Friday " + hostile, "from", from, "agent_id", s.agent, "on_machine", "continue"}, more...)
	}
	review := func(want int, list string, says ...string) {
		t.Helper()
		page := s.Post("/app/bulk/review", fields(list)...)
		if page.Status != want {
			t.Errorf("%q: %d", list, page.Status)
		}
		for _, text := range append(says, "Friday &lt;script&gt;") {
			if !strings.Contains(page.Body, text) {
				t.Errorf("%q: no %q in %s", list, text, page.Body)
			}
		}
		if strings.Contains(page.Body, "<script>alert") {
			t.Error("the page holds a script out of a file")
		}
	}
	review(422, "", "Choose a file")
	review(422, "\xff\xfe", "The file is no text")
	review(422, "to\n", "nobody to call")
	review(200, "name;phone\r\n"+hostile+";+44 20 7946 0000\r\nEva;'+34 912 345 678\r\nLuis;34912345678\r\n", "cannot be called", "The same number as an earlier line", ">2<", ">4<")
	good := "\ufeffphone\twho\r\n'+34 912-345-678\tEva\r\n34912345679\tLuis\r\n"
	review(200, good, "Would be called", "2 people")
	if page := s.Post("/app/bulk", fields(good)...); page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "who has not agreed") {
		t.Errorf("without consent: %d", page.Status)
	}
	page := s.Post("/app/bulk", fields(good, "consent", "on")...)
	at := page.Header.Get("Location")
	if page.Status != http.StatusSeeOther || !strings.HasPrefix(at, "/app/bulk/bulk_") {
		t.Fatalf("queued: %d %s %s", page.Status, at, page.Body)
	}
	b, err := campaign.New(s.DB).Campaign(t.Context(), s.Account, strings.TrimPrefix(at, "/app/bulk/"))
	if err != nil || len(b.Rows) != 2 || b.Rows[0].To != "+34912345678" || b.Rows[1].To != "+34912345679" {
		t.Fatalf("%+v %v", b, err)
	}
	if page := s.Get("/app/bulk"); !strings.Contains(page.Body, at) || strings.Contains(page.Body, "<script>alert") {
		t.Error("the batch is not in the list")
	}
	if page := s.Get(at + "/results.csv"); page.Status != 200 || !strings.HasPrefix(page.Body, "to,from,") || !strings.Contains(page.Body, "+34912345679") {
		t.Errorf("the results: %d %s", page.Status, page.Body)
	}
	for _, turn := range []string{"pause", "resume", "cancel"} {
		if page := s.Post(at + "/" + turn); page.Status != http.StatusSeeOther {
			t.Errorf("%s: %d", turn, page.Status)
		}
	}
	if page := s.Get(at + "/progress"); !strings.Contains(page.Body, "cancelled") || !strings.Contains(page.Body, "The batch was cancelled") {
		t.Error("nothing says that the batch is cancelled")
	}
	if page := s.Post(at + "/explode"); page.Status != http.StatusNotFound {
		t.Errorf("a turn that is none: %d", page.Status)
	}
	if page := s.Get("/app/bulk/bulk_of_others"); page.Status != http.StatusNotFound {
		t.Errorf("a foreign batch: %d", page.Status)
	}
}

// TestBulkLeavesOut: a file with mistakes is called without them, and somebody who is on it
// twice once.
func TestBulkLeavesOut(t *testing.T) {
	s := newShop(t)
	from := s.buy()
	list := "Teléfono;Hora\r\n34912345678;\r\n+34912345678;\r\n;2027\r\n12345;\r\n34912345679;morgen\r\n34912345670;\r\n"
	fields := []string{"list", list, "from", from, "agent_id", s.agent, "on_machine", "continue", "column_to", "0", "column_at", "1", "consent", "on"}
	page := s.Post("/app/bulk/review", fields...)
	for _, want := range []string{"Call 2 people, leave out 4 lines", "3 wrong, 1 repeated", "There is no number in this line.", "The time is not understood", "The same number as an earlier line."} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("no %q in %s", want, page.Body)
		}
	}
	if page := s.Post("/app/bulk", fields...); page.Status != http.StatusUnprocessableEntity {
		t.Errorf("with the mistakes: %d", page.Status)
	}
	page = s.Post("/app/bulk", append(fields, "leave", "yes")...)
	b, err := campaign.New(s.DB).Campaign(t.Context(), s.Account, strings.TrimPrefix(page.Header.Get("Location"), "/app/bulk/"))
	if err != nil || len(b.Rows) != 2 || b.Rows[0].To != "+34912345678" || b.Rows[1].To != "+34912345670" {
		t.Fatalf("%d %+v %v", page.Status, b, err)
	}
}

// TestBulkVariables: a column that is called like a variable of the agent is shown as one, and each
// call gets the value of its line.
func TestBulkVariables(t *testing.T) {
	s := newShop(t)
	from := s.buy()
	a, err := s.DB.Agent(t.Context(), s.Account, s.agent)
	s.OK(err)
	a.Settings = json.RawMessage(`{"variables":{"who":"nobody","day":"soon"}}`)
	_, err = s.DB.UpdateAgent(t.Context(), s.Account, *a)
	s.OK(err)
	fields := []string{"list", "phone;who;Day\r\n34912345678; Eva;Friday\r\n34912345679\r\n", "from", from, "agent_id", s.agent, "on_machine", "continue", "consent", "on"}
	if page := s.Post("/app/bulk/review", fields...); !strings.Contains(page.Body, "Variables of the agent: <code>who</code>.") {
		t.Errorf("the page does not name the variable: %s", page.Body)
	}
	page := s.Post("/app/bulk", fields...)
	b, err := campaign.New(s.DB).Campaign(t.Context(), s.Account, strings.TrimPrefix(page.Header.Get("Location"), "/app/bulk/"))
	if err != nil || len(b.Rows) != 2 || !maps.Equal(b.Rows[0].Variables, map[string]string{"who": "Eva"}) || b.Rows[1].Variables != nil {
		t.Fatalf("%d %+v %v", page.Status, b, err)
	}
}

// TestBulkHeaders: a column that is called like a header of calls is shown as one, and each call carries the value of
// its line.
func TestBulkHeaders(t *testing.T) {
	s := newShop(t)
	fields := []string{"list", "phone;x-customer-id\r\n34912345678; 42\r\n34912345679;\r\n", "from", s.buy(), "agent_id", s.agent, "on_machine", "continue", "consent", "on"}
	if page := s.Post("/app/bulk/review", fields...); !strings.Contains(page.Body, "Headers of the calls: <code>X-Customer-Id</code>.") {
		t.Errorf("the page does not name the header: %s", page.Body)
	}
	page := s.Post("/app/bulk", fields...)
	b, err := campaign.New(s.DB).Campaign(t.Context(), s.Account, strings.TrimPrefix(page.Header.Get("Location"), "/app/bulk/"))
	if err != nil || len(b.Rows) != 2 || !maps.Equal(b.Rows[0].Headers, map[string]string{"X-Customer-Id": "42"}) || len(b.Rows[1].Headers) != 0 {
		t.Fatalf("%d %+v %v", page.Status, b, err)
	}
}

// TestDialHeaders: a call that the form places carries the headers of its lines, and what is none is refused beside them.
func TestDialHeaders(t *testing.T) {
	s := newShop(t)
	fields := []string{"from", s.buy(), "to", "+34912345678", "agent_id", s.agent, "consent", "on"}
	for wrong, want := range map[string]string{"Customer: 7": "Names are X- with letters", "X-Customer": "a colon and the value", "X-A: 1\nx-a: 2": "X-A: given twice"} {
		if page := s.Post("/app/dial", append(fields, "headers", wrong)...); !strings.Contains(page.Body, want) {
			t.Errorf("%q is not refused with %q: %d %s", wrong, want, page.Status, page.Body)
		}
	}
	s.lasts = "ses_1"
	page := s.Post("/app/dial", append(fields, "headers", "x-customer-id: 42\r\n\r\nUser-to-User: Order: 7\r\n")...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if want := (wire.CallHeaders{"X-Customer-Id": "42", "User-to-User": "Order: 7"}); page.Status != http.StatusSeeOther || !maps.Equal(s.headers, want) {
		t.Errorf("%d: the call carries %v, want %v", page.Status, s.headers, want)
	}
}

// TestBulkReadsSpreadsheets: files as they save them in western Europe, and none of their own.
func TestBulkReadsSpreadsheets(t *testing.T) {
	s := newShop(t)
	from := s.buy()
	utf16 := func(text string, low, high int) string {
		out := map[int]string{0: "\xff\xfe", 1: "\xfe\xff"}[low]
		for _, c := range text {
			unit := [2]byte{}
			unit[low], unit[high] = byte(c), byte(c>>8)
			out += string(unit[:])
		}
		return out
	}
	text := "Teléfono;Name\r\n34912345678;José\r\n"
	for name, file := range map[string]struct {
		text string
		want int
	}{
		"UTF-8": {text, 200}, "its mark": {"\ufeff" + text, 200}, "Windows": {"Tel\xe9fono;Name\r\n34912345678;Jos\xe9\r\n", 200},
		"UTF-16": {utf16(text, 0, 1), 200}, "the other UTF-16": {utf16(text, 1, 0), 200}, "a workbook": {"PK\x03\x04\x14\x00\x00\x08\xff", 422},
	} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile("file", "list.csv")
		s.OK(err)
		_, err = part.Write([]byte(file.text))
		s.OK(err)
		for k, v := range map[string]string{"from": from, "agent_id": s.agent, "on_machine": "continue"} {
			s.OK(form.WriteField(k, v))
		}
		s.OK(form.Close())
		page := s.Ask(s.Client, "POST", "/app/bulk/review", body.String(), "Content-Type", form.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
		if page.Status != file.want || page.Status == 200 && !(strings.Contains(page.Body, ">Teléfono<") && strings.Contains(page.Body, "Call 1 person")) {
			t.Errorf("%s: %d %s", name, page.Status, page.Body)
		}
	}
}

// TestMessagesPage: without a bought number there is nothing to send from; with one a message is sent once, and what comes in is shown
// as text.
func TestMessagesPage(t *testing.T) {
	s := newShop(t)
	if page := s.Get("/app/messages"); !strings.Contains(page.Body, "You need a number first") || strings.Contains(page.Body, "<textarea") {
		t.Error("an account without numbers")
	}
	number := "+" + forSale.FindStringSubmatch(s.Get("/app/numbers/search?country=US").Body)[1]
	if page := s.Post("/app/numbers", "number", number); page.Status != http.StatusSeeOther {
		t.Fatalf("bought: %d %s", page.Status, page.Body)
	}
	var err error
	s.texts.Node, _, err = ledger.New(s.DB).RegisterNode(t.Context(), "texts", "127.0.0.1:2")
	s.OK(err)
	for range 2 {
		if page := s.Post("/app/messages", "once", "abc", "from", number, "to", "+14155550177", "text", "Hello "+hostile); page.Status != http.StatusSeeOther {
			t.Fatalf("sent: %d %s", page.Status, page.Body)
		}
	}
	for _, wrong := range [][]string{{"to", ""}, {"text", ""}, {"to", "nobody"}, {"text", strings.Repeat("a", 1531)}} {
		form := map[string]string{"from": number, "to": "+14155550177", "text": "Hello", wrong[0]: wrong[1]}
		if page := s.Post("/app/messages", "from", form["from"], "to", form["to"], "text", form["text"]); page.Status != http.StatusUnprocessableEntity {
			t.Errorf("%q: %d", wrong, page.Status)
		}
	}
	s.OK(s.texts.Notice(t.Context(), carrier.Notice{Received: &carrier.Received{ID: "x1", From: "+14155550178", To: number, Text: "Thanks " + hostile}}))
	plus := strings.NewReplacer("&#43;", "+").Replace
	page := plus(s.Get("/app/messages").Body)
	if strings.Count(page, "+14155550177</td>") != 1 || !strings.Contains(page, "Queued") || !strings.Contains(page, "+14155550178") || strings.Contains(page, "<script>alert") {
		t.Errorf("the list is %s", page)
	}
	if page := plus(s.Get("/app/messages?direction=inbound").Body); strings.Contains(page, "+14155550177</td>") || !strings.Contains(page, "+14155550178") {
		t.Error("the filter does not count")
	}
}
