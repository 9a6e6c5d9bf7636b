package stripe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/stripe"
)

// schemaJudge is Stripe's own server that knows its schema and nothing else. It is a
// program beside us and no part of this module.
const schemaJudge = "github.com/stripe/stripe-mock@v0.203.0"

// judge passes requests on to the schema's server and keeps what it said. That has no
// state, so what we must find in a payment is put into its answers.
type judge struct {
	next    http.RoundTripper
	said    []string // method, path, status
	refused []string
}

func (j *judge) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := j.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	what := r.Method + " " + r.URL.Path
	j.said = append(j.said, what)
	if resp.StatusCode >= 400 {
		j.refused = append(j.refused, fmt.Sprintf("%s: %d %s", what, resp.StatusCode, body))
	}
	if body, err = ours(r, body); err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", fmt.Sprint(len(body)))
	return resp, nil
}

// ours makes a payment that is read one of ours that has succeeded.
func ours(r *http.Request, body []byte) ([]byte, error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/payment_intents") || r.Method == http.MethodGet && r.URL.Path == "/v1/payment_intents" {
		return body, nil
	}
	var pi map[string]any
	if err := json.Unmarshal(body, &pi); err != nil {
		return nil, err
	}
	pi["status"], pi["amount"], pi["amount_received"] = "succeeded", 2000, 2000
	pi["metadata"] = map[string]string{"account": "acc_1", "key": "key_1"}
	return json.Marshal(pi)
}

// startJudge builds the program outside this module and runs it on a socket.
func startJudge(t *testing.T) *judge {
	t.Helper()
	dir := t.TempDir()
	install := exec.Command("go", "install", schemaJudge)
	install.Dir = dir
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off")
	if out, err := install.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "dial tcp") || strings.Contains(string(out), "GOPROXY=off") || strings.Contains(string(out), "lookup ") {
			t.Skipf("%s cannot be fetched: is this machine offline?", schemaJudge)
		}
		t.Fatalf("go install %s: %v\n%s", schemaJudge, err, out)
	}
	socket := filepath.Join(dir, "s")
	var log bytes.Buffer
	run := exec.Command(filepath.Join(dir, "stripe-mock"), "-http-unix", socket)
	run.Stdout, run.Stderr = &log, &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
		if t.Failed() {
			t.Logf("it said:\n%s", log.String())
		}
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := dial(t.Context(), "", "")
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	transport := &http.Transport{DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &judge{next: transport}
}

// TestSoakParameters: the schema takes every request that we make.
func TestSoakParameters(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	j := startJudge(t)
	p, err := stripe.New(stripe.Config{Key: "sk_test_123", WebhookSecret: hookSecret, Backend: stripego.BackendConfig{
		URL: stripego.String("http://stripe.example"), HTTPClient: &http.Client{Transport: j}, MaxNetworkRetries: stripego.Int64(0)}})
	if err != nil {
		t.Fatal(err)
	}
	order := payment.CheckoutRequest{TopUp: "top_1", Account: "acc_1", Amount: 20 * billing.USD,
		SuccessURL: "https://parley.example/paid", CancelURL: "https://parley.example/canceled"}
	page, err := p.Checkout(t.Context(), order)
	if err != nil || page.ID == "" || page.Customer == "" {
		t.Errorf("checkout: %+v, %v", page, err)
	}
	order.Customer = "cus_123"
	if _, err := p.Checkout(t.Context(), order); err != nil {
		t.Errorf("checkout of a known customer: %v", err)
	}
	charged, err := p.Charge(t.Context(), payment.ChargeRequest{Key: "key_1", Account: "acc_1", Customer: "cus_123", Amount: 20 * billing.USD})
	if err != nil || charged.State != payment.Succeeded {
		t.Errorf("charge: %+v, %v", charged, err)
	}
	if got, err := p.Payment(t.Context(), "pi_123"); err != nil || got.State != payment.Succeeded {
		t.Errorf("payment: %+v, %v", got, err)
	}
	_, _ = p.Payment(t.Context(), "cs_123") // a session that is none of ours; that it was asked for counts
	back, err := p.Refund(t.Context(), payment.RefundRequest{Key: "ref_1", Payment: "pi_123", Amount: 5 * billing.USD})
	if err != nil || back.ID == "" {
		t.Errorf("refund: %+v, %v", back, err)
	}
	for _, refused := range j.refused {
		t.Error("refused: ", refused)
	}
	want := []string{"POST /v1/customers", "POST /v1/checkout/sessions", "GET /v1/checkout/sessions/cs_123", "GET /v1/payment_intents", "GET /v1/payment_methods",
		"POST /v1/payment_intents", "GET /v1/payment_intents/pi_123", "GET /v1/refunds", "POST /v1/refunds"}
	for _, w := range want {
		if !slices.Contains(j.said, w) {
			t.Errorf("%s was not asked for: %q", w, j.said)
		}
	}
	// It can refuse: a parameter that does not exist.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://stripe.example/v1/refunds", strings.NewReader("payment_intent=pi_123&nonsense=1"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer sk_test_123")
	resp, err := (&http.Client{Transport: j}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("nonsense is answered with %d", resp.StatusCode)
	}
}
