package telnyx_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/sip/carrier"
	"parley/sip/carrier/carriertest"
	"parley/sip/carrier/telnyx"
)

func TestSearchAsksForAllPagesUpToTheOne(t *testing.T) {
	f := newFake(t)
	c, _ := newCarrier(t, f)
	p, err := c.Search(t.Context(), carrier.Query{Country: "GB", Region: "ENG", Locality: "London & Westminster", Page: 2})
	if err != nil || len(p.Offers) != 0 || p.More {
		t.Fatalf("a place without numbers: %+v, %v", p, err)
	}
	want := "GET /available_phone_numbers?filter%5Badministrative_area%5D=ENG&filter%5Bbest_effort%5D=false&" +
		"filter%5Bcountry_code%5D=GB&filter%5Blimit%5D=31&filter%5Blocality%5D=London+%26+Westminster&filter%5Bphone_number_type%5D=local"
	if got := f.asked()[0]; got != want {
		t.Errorf("asked\n%s, want\n%s", got, want)
	}
	p, err = c.Search(t.Context(), carrier.Query{Country: "GB", Page: 3})
	if err != nil || len(p.Offers) != stockSize-2*carrier.PageSize || p.More {
		t.Errorf("the last page: %d offers, more %v, %v", len(p.Offers), p.More, err)
	}
	o := p.Offers[0]
	if o.Monthly != billing.USD || o.Upfront != 10*billing.Cent || o.Region != "ENG" || o.Locality != "London" ||
		o.Country != "GB" || !slices.Equal(o.Features, []string{"fax", "voice"}) {
		t.Errorf("%+v", o)
	}
}

// Costs are exact, and what has none that we understand is not offered.
func TestOffers(t *testing.T) {
	cost := func(monthly, upfront, currency string) doc {
		return doc{"monthly_cost": monthly, "upfront_cost": upfront, "currency": currency}
	}
	for _, c := range []struct {
		name    string
		change  doc
		offered bool
		monthly billing.Money
	}{
		{"exact", doc{"cost_information": cost("0.10001", "0", "USD")}, true, 100_010_000},
		{"large", doc{"cost_information": cost("12.50000", "1", "USD")}, true, 12_500 * billing.USD / 1000},
		{"no voice", doc{"features": []doc{{"name": "sms"}}}, false, 0},
		{"says nothing of features", doc{"features": nil}, true, billing.USD},
		{"euros", doc{"cost_information": cost("1.00000", "1.00000", "EUR")}, false, 0},
		{"no cost", doc{"cost_information": nil}, false, 0},
		{"no number for a cost", doc{"cost_information": cost("free", "0", "USD")}, false, 0},
		{"negative", doc{"cost_information": cost("-1", "0", "USD")}, false, 0},
		{"no exact cost", doc{"cost_information": cost("1e2", "0", "USD")}, false, 0},
	} {
		f := newFake(t)
		number := f.stock[0].number
		for k, v := range c.change {
			f.stock[0].doc[k] = v
		}
		p, _ := newCarrier(t, f)
		o, err := p.Offer(t.Context(), number)
		if c.offered && (err != nil || o.Monthly != c.monthly) || !c.offered && !errors.Is(err, carrier.ErrNotAvailable) {
			t.Errorf("%s: %+v, %v", c.name, o, err)
		}
	}
}

func TestTemporaryRefusalsAreRepeated(t *testing.T) {
	after := func(v string) map[string]string { return map[string]string{"Retry-After": v} }
	for _, c := range []struct {
		name    string
		answers []answer
		waits   string
		fails   bool
	}{
		{"busy", []answer{{status: 429, header: after("3")}, {status: 429}}, "[3s 400ms]", false},
		{"asked to wait less than we do", []answer{{status: 503, header: after("0")}}, "[200ms]", false},
		{"faults", []answer{{status: 500}, {status: 502, body: "<html>"}, {status: 504}}, "[200ms 400ms 800ms]", false},
		{"too many faults", []answer{{status: 500}, {status: 500}, {status: 500}, {status: 500}}, "[200ms 400ms 800ms]", true},
		{"busy for long", []answer{{status: 429, header: after("60")}}, "[]", true},
		{"busy until a date", []answer{{status: 429, header: after("Fri, 31 Dec 2100 23:59:59 GMT")}}, "[]", true},
		{"not JSON", []answer{{status: 200, body: "<html>"}}, "[200ms]", false},
		{"cut off", []answer{{status: 200, header: map[string]string{"Content-Length": "100"}, body: `{"data":[]`}}, "[200ms]", false},
		{"endless", []answer{{status: 200, body: `{"data":[]}` + strings.Repeat(" ", 5<<20)}}, "[200ms]", false},
		{"not our key", []answer{{status: 401}}, "[]", true},
		{"not our right", []answer{{status: 403}}, "[]", true},
		{"no credit", []answer{{status: 402}}, "[]", true},
		{"elsewhere", []answer{{status: 302, header: map[string]string{"Location": "/v2/phone_numbers"}}}, "[]", true},
	} {
		f := newFake(t)
		f.answer(c.answers...)
		p, waits := newCarrier(t, f)
		_, err := p.Search(t.Context(), carrier.Query{Country: "GB"})
		if c.fails != errors.Is(err, carrier.ErrUnavailable) || !c.fails && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := fmt.Sprint(*waits); got != c.waits {
			t.Errorf("%s: waited %s, want %s", c.name, got, c.waits)
		}
	}
}

// What leaves open whether an order was placed is looked up before it is placed again.
func TestOrdersAreLookedUpBeforeTheyAreRepeated(t *testing.T) {
	for _, c := range []struct {
		name string
		a    answer
		want string // the requests from the first order on
	}{
		{"taken, answer lost", answer{lost: true}, "POST /number_orders, GET /number_orders, GET /phone_numbers"},
		{"taken or not", answer{status: 502},
			"POST /number_orders, GET /number_orders, GET /available_phone_numbers, POST /number_orders, GET /phone_numbers"},
		{"busy, so not taken", answer{status: 429}, "POST /number_orders, POST /number_orders, GET /phone_numbers"},
	} {
		f := newFake(t)
		c.a.request = "POST /number_orders"
		f.answer(c.a)
		p, _ := newCarrier(t, f)
		if _, err := p.Order(t.Context(), carrier.Order{Reference: "a", Number: f.Number(t, carriertest.Prompt)}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := f.lines("POST /number_orders"); got != c.want || f.ordered() != 1 {
			t.Errorf("%s: %d orders by\n%s, want\n%s", c.name, f.ordered(), got, c.want)
		}
	}
}

// lines are the requests from the first of a kind on, without their queries.
func (f *fake) lines(from string) string {
	var out []string
	for _, r := range f.asked() {
		if line, _, _ := strings.Cut(r, "?"); len(out) > 0 || line == from {
			out = append(out, line)
		}
	}
	return strings.Join(out, ", ")
}

// An order that was taken and is not in Telnyx's list yet must not look like a number that
// somebody else was faster to buy: nobody would pay for it.
func TestOrderNotListedYet(t *testing.T) {
	f := newFake(t)
	f.lag = true // nobody asks yet
	f.answer(answer{request: "POST /number_orders", lost: true})
	p, _ := newCarrier(t, f)
	order := carrier.Order{Reference: "a", Number: f.Number(t, carriertest.Late)}
	if _, err := p.Order(t.Context(), order); !errors.Is(err, carrier.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	f.Settle(t) // the number is known by its reference before the order is
	if o, err := p.Order(t.Context(), order); err != nil || o.State != carrier.Active {
		t.Errorf("%+v, %v", o, err)
	}
	if n := f.ordered(); n != 1 {
		t.Errorf("%d orders", n)
	}
}

// A number is active when it is listed as active, whatever the order says; an order that
// only contains the reference is another one.
func TestOrderWithoutItsNumber(t *testing.T) {
	f := newFake(t)
	p, _ := newCarrier(t, f)
	o, err := p.Order(t.Context(), carrier.Order{Reference: "ab", Number: f.Number(t, carriertest.Prompt)})
	if err != nil || o.State != carrier.Pending || o.NumberID != "" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := p.Lookup(t.Context(), "a"); !errors.Is(err, carrier.ErrNotFound) {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestDocumentsAreDemanded(t *testing.T) {
	f := newFake(t)
	p, _ := newCarrier(t, f)
	order := carrier.Order{Reference: "a", Number: f.Number(t, carriertest.Failing)}
	o, err := p.Order(t.Context(), order)
	if err != nil || o.State != carrier.Pending || !strings.Contains(o.Reason, "documents") {
		t.Errorf("%+v, %v", o, err)
	}
	f.Settle(t)
	if o, err = p.Lookup(t.Context(), "a"); err != nil || o.State != carrier.Failed || !strings.Contains(o.Reason, "documents") {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestReasonsOfRefusals(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"in words", `{"errors":[{"title":"Invalid","detail":"Deletion lock is on."}]}`, "Invalid: Deletion lock is on."},
		{"with lines and the key", `{"errors":[{"title":"Invalid","detail":"Not\r\n` + apiKey + `"}]}`, "Invalid: Not  [key]"},
		{"long", `{"errors":[{"title":"` + strings.Repeat("ä", 500) + `"}]}`, strings.Repeat("ä", 100) + "..."},
		{"none", `{"errors":[]}`, "Telnyx refused the request."},
		{"no JSON", `<html>`, "Telnyx refused the request."},
	} {
		f := newFake(t)
		p, _ := newCarrier(t, f)
		f.answer(answer{request: "DELETE", status: http.StatusUnprocessableEntity, body: c.body})
		err := p.Release(t.Context(), "1293384261075731499")
		var r *carrier.Refusal
		if !errors.As(err, &r) || r.Reason != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A carrier that does not answer holds nobody up for longer than they want to wait.
func TestSilence(t *testing.T) {
	f := newFake(t)
	f.answer(answer{hang: true})
	p, _ := newCarrier(t, f)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Search(ctx, carrier.Query{Country: "GB"}); !errors.Is(err, carrier.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// Whatever goes wrong, no error holds the key, nor what was asked for.
func TestErrorsKeepTheKey(t *testing.T) {
	f := newFake(t)
	echo := `{"errors":[{"title":"Bad key ` + apiKey + `","detail":"Bearer ` + apiKey + `"}]}`
	for _, a := range []answer{{status: 401, body: echo}, {status: 422, body: echo}, {status: 429, body: echo}, {status: 500, body: echo}, {lost: true}} {
		p, _ := newCarrier(t, f)
		f.answer(slices.Repeat([]answer{a}, 4)...)
		err := p.Route(t.Context(), "1")
		if err == nil || strings.Contains(err.Error(), apiKey) || strings.Contains(err.Error(), f.url) {
			t.Errorf("%+v: %v", a, err)
		}
		f.answer()
	}
	p, err := telnyx.New(telnyx.Config{APIKey: "KEY_of_somebody_else", PublicKey: config(f).PublicKey, ConnectionID: connection, BaseURL: f.url})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Route(t.Context(), "1"); !errors.Is(err, carrier.ErrUnavailable) || strings.Contains(err.Error(), "somebody") {
		t.Errorf("%v", err)
	}
}

func TestConfig(t *testing.T) {
	good := config(newFake(t))
	for name, change := range map[string]func(*telnyx.Config){
		"no key":             func(c *telnyx.Config) { c.APIKey = "" },
		"a key of two lines": func(c *telnyx.Config) { c.APIKey = "KEY_secret\nX" },
		"no public key":      func(c *telnyx.Config) { c.PublicKey = "" },
		"a short public key": func(c *telnyx.Config) { c.PublicKey = "c2VjcmV0" },
		"no base64":          func(c *telnyx.Config) { c.PublicKey = "secret!" },
		"no connection":      func(c *telnyx.Config) { c.ConnectionID = "" },
		"no connection id":   func(c *telnyx.Config) { c.ConnectionID = "secret" },
		"no profile id":      func(c *telnyx.Config) { c.MessagingProfile = "secret" },
	} {
		c := good
		change(&c)
		if _, err := telnyx.New(c); err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}
