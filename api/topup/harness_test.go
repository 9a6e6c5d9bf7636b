package topup_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/ticket"
	"parley/api/topup"
	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/simulated"
	"parley/store/ledger"
	"parley/store/payments"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const usd = billing.USD

var card = billing.DefaultRateCard()

// bank is a world whose server takes simulated payments.
type bank struct {
	*apitest.World
	pays *simulated.Provider
	desk *topup.Service

	mu    sync.Mutex
	ahead time.Duration // of the provider's clock
	heard []heard
	deaf  bool // webhooks get lost
}

type owner = apitest.Owner

// heard is a webhook as it came.
type heard struct {
	header http.Header
	body   string
}

// faulty is a provider whose answers about new pages get lost.
type faulty struct {
	payment.Provider
	lost int   // so many times
	down error // all look-ups fail with it
}

func (f *faulty) Checkout(ctx context.Context, r payment.CheckoutRequest) (payment.Checkout, error) {
	page, err := f.Provider.Checkout(ctx, r)
	if f.lost > 0 {
		f.lost--
		return payment.Checkout{}, payment.ErrUnknown
	}
	return page, err
}

func (f *faulty) Payment(ctx context.Context, id string) (payment.Payment, error) {
	if f.down != nil {
		return payment.Payment{}, f.down
	}
	return f.Provider.Payment(ctx, id)
}

func open(t *testing.T) *bank {
	t.Helper()
	o := &bank{World: apitest.Open(t, apitest.Options{Owners: true})}
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	o.OK(err)

	var handler http.Handler
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.note(handler).ServeHTTP(w, r) }))
	t.Cleanup(o.Server.Close)
	o.pays, err = simulated.New(simulated.Config{PageURL: o.Server.URL + "/simulated/", WebhookURL: o.Server.URL + "/hooks/simulated",
		WebhookSecret: "whsec_for_tests", Now: o.clock})
	o.OK(err)
	a := api.New(ticket.Keys{Signer: signer, Store: o.DB, People: o.People})
	o.desk = &topup.Service{Store: o.DB, Payments: payments.New(o.DB), Provider: o.pays, Hook: "simulated", Home: o.Server.URL,
		Card: func() *billing.RateCard { return card }, Log: slog.New(slog.DiscardHandler)}
	topup.Mount(a, o.desk)
	plain := a.Handler(api.Options{})
	mux := http.NewServeMux()
	mux.Handle("/simulated/", o.pays.Handler())
	mux.Handle("/hooks/", plain) // not in the document
	mux.Handle("/", apitest.Judged(t, a, plain))
	handler = mux
	t.Cleanup(func() { o.Verified() })
	return o
}

// note keeps webhooks, and loses them when it shall.
func (o *bank) note(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/hooks/") {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				o.Error(err)
			}
			o.mu.Lock()
			o.heard = append(o.heard, heard{r.Header.Clone(), string(body)})
			deaf := o.deaf
			o.mu.Unlock()
			if deaf {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		h.ServeHTTP(w, r)
	})
}

func (o *bank) clock() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Now().Add(o.ahead)
}

// pass lets time go by at the provider and delivers what falls due.
func (o *bank) pass(d time.Duration) {
	o.mu.Lock()
	o.ahead += d
	o.mu.Unlock()
	o.pays.Deliver(o.Context())
}

func (o *bank) show(who owner) *ledger.Account {
	o.Helper()
	a, err := o.Ledger.Account(o.Context(), who.Account)
	o.OK(err)
	return a
}

// ask makes a request and returns its status and body.
func (o *bank) ask(who owner, method, path, body string) (int, string) {
	o.Helper()
	r := o.As(who, method, path, body)
	return r.Status, string(r.Body)
}

// view is a top-up in answers; amounts are read exactly.
type view struct {
	ID, State, URL         string
	Amount, Paid, Refunded billing.Money
	Automatic              bool
}

func (o *bank) parse(text string) (v view) {
	o.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		o.Fatalf("%v in %s", err, text)
	}
	return v
}

// begin makes a top-up.
func (o *bank) begin(who owner, amount string) view {
	o.Helper()
	status, text := o.ask(who, "POST", "/v1/topups", `{"amount": `+amount+`}`)
	if status != http.StatusCreated {
		o.Fatalf("%d %s", status, text)
	}
	return o.parse(text)
}

func (o *bank) get(who owner, id string) view {
	o.Helper()
	status, text := o.ask(who, "GET", "/v1/topups/"+id, "")
	if status != http.StatusOK {
		o.Fatalf("%d %s", status, text)
	}
	return o.parse(text)
}

// press is the customer on the page.
func (o *bank) press(v view, action string) {
	o.Helper()
	client := *o.Server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r, err := http.NewRequestWithContext(o.Context(), "POST", v.URL, strings.NewReader(url.Values{"action": {action}}.Encode()))
	o.OK(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(r)
	o.OK(err)
	res.Body.Close()
	if res.StatusCode != http.StatusSeeOther {
		o.Fatalf("%s: %s", action, res.Status)
	}
}

// post delivers a webhook again.
func (o *bank) post(h heard) int {
	r, err := http.NewRequestWithContext(o.Context(), "POST", o.Server.URL+"/hooks/simulated", strings.NewReader(h.body))
	if err != nil {
		o.Error(err)
		return 0
	}
	r.Header = h.header.Clone()
	res, err := o.Server.Client().Do(r)
	if err != nil {
		o.Error(err)
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}
