package payment_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85/webhook"
	"pgregory.net/rapid"

	"parley/billing/payment"
)

const secret = "whsec_test"

var (
	body   = []byte(`{"id":"evt_1"}`)
	signed = time.Unix(1700000000, 0)
)

// vector was computed with openssl dgst -sha256 -hmac over "1700000000." and the body.
const vector = "c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925"

// byHand signs without the code under test.
func byHand(secret, stamp string, body []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(h, "%s.%s", stamp, body)
	return hex.EncodeToString(h.Sum(nil))
}

func TestSignIsTheKnownVector(t *testing.T) {
	if got, want := payment.Sign(secret, body, signed), "t=1700000000,v1="+vector; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestVerify(t *testing.T) {
	old := byHand("whsec_old", "1700000000", body)
	for _, c := range []struct {
		name, header string
		now          time.Time
		good         bool
	}{
		{"good", "t=1700000000,v1=" + vector, signed, true},
		{"spaces", "t=1700000000, v1=" + vector, signed, true},
		{"another scheme beside", "v0=" + old + ",t=1700000000,v1=" + vector + ",v2=x", signed, true},
		{"second of two secrets", "t=1700000000,v1=" + old + ",v1=" + vector, signed, true},
		{"first of two secrets", "t=1700000000,v1=" + vector + ",v1=" + old, signed, true},
		{"one not hexadecimal", "t=1700000000,v1=zz,v1=" + vector, signed, true},
		{"just in time", "t=1700000000,v1=" + vector, signed.Add(payment.Tolerance), true},
		{"our clock behind", "t=1700000000,v1=" + vector, signed.Add(-payment.Tolerance), true},
		{"too old", "t=1700000000,v1=" + vector, signed.Add(payment.Tolerance + time.Second), false},
		{"too far ahead", "t=1700000000,v1=" + vector, signed.Add(-payment.Tolerance - time.Second), false},
		{"wrong secret", "t=1700000000,v1=" + old, signed, false},
		{"other time", "t=1700000001,v1=" + vector, signed, false},
		{"a fresh time before the signed one", "t=1700009999,t=1700000000,v1=" + vector, time.Unix(1700009999, 0), false},
		{"a fresh time after the signed one", "t=1700000000,t=1700009999,v1=" + vector, time.Unix(1700009999, 0), false},
		{"only another scheme", "t=1700000000,v0=" + vector, signed, false},
		{"no time", "v1=" + vector, signed, false},
		{"time not a number", "t=now,v1=" + byHand(secret, "now", body), signed, false},
		{"cut short", "t=1700000000,v1=" + vector[:62], signed, false},
		{"empty signature", "t=1700000000,v1=", signed, false},
		{"missing", "", signed, false},
		{"nonsense", ",,==,", signed, false},
		{"a flood hides it", "t=1700000000" + strings.Repeat(",v1="+old, 1000) + ",v1=" + vector, signed, false},
	} {
		err := payment.Verify(secret, c.header, body, c.now)
		if c.good && err != nil || !c.good && !errors.Is(err, payment.ErrSignature) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := payment.Verify(secret, "t=1700000000,v1="+vector, []byte(`{"id":"evt_2"}`), signed); !errors.Is(err, payment.ErrSignature) {
		t.Errorf("another body: %v", err)
	}
}

// What we sign, Stripe's own code accepts, and the other way round.
func TestSignatureAgreesWithStripe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body, secret := rapid.SliceOf(rapid.Byte()).Draw(t, "body"), rapid.StringN(1, 40, -1).Draw(t, "secret")
		at := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), 0)
		if err := webhook.ValidatePayloadIgnoringTolerance(body, payment.Sign(secret, body, at), secret); err != nil {
			t.Errorf("theirs of ours: %v", err)
		}
		theirs := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at})
		if err := payment.Verify(secret, theirs.Header, body, at); err != nil {
			t.Errorf("ours of theirs: %v", err)
		}
	})
}

func FuzzVerify(f *testing.F) {
	for _, h := range []string{"", "t=1700000000,v1=" + vector, "t=,v1=", "t=9223372036854775807,v1=00"} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if payment.Verify(secret, header, body, signed) == nil && !strings.Contains(strings.ToLower(header), vector) {
			t.Errorf("%q was accepted", header)
		}
	})
}
