package telnyx_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"parley/sip/carrier"
	"parley/sip/carrier/carriertest"
	"parley/sip/carrier/telnyx"
)

const (
	apiKey     = "KEY0123456789ABCDEF_for_tests"
	connection = "1494404757140276705"
	profile    = "4000eba1-a0c0-4563-9925-b25e842a7cb6"
	hook       = "https://parley.example/hooks/telnyx"
)

func TestConformance(t *testing.T) {
	carriertest.Run(t, func(t *testing.T) (carrier.Carrier, carriertest.Controls) {
		f := newFake(t)
		c, _ := newCarrier(t, f)
		return c, f
	})
}

// signer signs the fake's webhooks.
var signer = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func config(f *fake) telnyx.Config {
	public := base64.StdEncoding.EncodeToString(signer.Public().(ed25519.PublicKey))
	return telnyx.Config{APIKey: apiKey, PublicKey: public, ConnectionID: connection, MessagingProfile: profile, Webhook: hook, BaseURL: f.url}
}

// newCarrier makes a client of the fake that notes how long it would wait instead of waiting.
func newCarrier(t testing.TB, f *fake) (*telnyx.Carrier, *[]time.Duration) {
	t.Helper()
	c, err := telnyx.New(config(f))
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	c.SetSleep(func(ctx context.Context, d time.Duration) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		waits = append(waits, d)
		return ctx.Err()
	})
	return c, &waits
}

func (f *fake) Country() string { return "GB" }

func (f *fake) Number(t testing.TB, b carriertest.Behaviour) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == len(f.stock) {
		t.Fatal("sold out")
	}
	number := f.stock[len(f.stock)-1-f.next].number // from the end: some tests buy what a search shows
	f.next++
	f.plans[number] = b
	return number
}

func (f *fake) Settle(testing.TB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.orders {
		switch plan := f.plans[numberOf(o)]; {
		case o["status"] == "pending" && plan == carriertest.Failing:
			f.decideLocked(o, "failure", "")
		case o["status"] == "pending":
			f.decideLocked(o, "success", "active")
		}
	}
	for _, n := range f.numbers {
		if n["status"] == "purchase-pending" {
			n["status"] = "active"
		}
	}
}

func (f *fake) Held(_ testing.TB, id string) (number string, routed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.numberLocked(id)
	if n == nil {
		return "", false
	}
	return n["phone_number"].(string), n["connection_id"] == connection
}

func (f *fake) Count(testing.TB) (count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.numbers {
		if n["status"] == "active" {
			count++
		}
	}
	return count
}

func (f *fake) Network(_ testing.TB, n carriertest.Network) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n {
	case carriertest.Busy:
		f.answers = append(f.answers, answer{status: http.StatusTooManyRequests, header: map[string]string{"Retry-After": "1"},
			body: `{"errors":[{"code":"10011","title":"Too many requests"}]}`})
	case carriertest.AnswerLost:
		f.answers = append(f.answers, answer{request: "POST /number_orders", lost: true})
	case carriertest.Unreachable:
		f.away = true
	case carriertest.Repaired:
		f.away = false
	}
	return true
}

func (f *fake) Owned(t testing.TB, c carrier.Carrier) string {
	t.Helper()
	number := f.Number(t, carriertest.Prompt)
	if _, err := c.Order(t.Context(), carrier.Order{Reference: "owned", Number: number}); err != nil {
		t.Fatal(err)
	}
	f.Settle(t)
	o, err := c.Lookup(t.Context(), "owned")
	if err != nil || o.State != carrier.Active {
		t.Fatalf("%+v, %v", o, err)
	}
	return o.NumberID
}
