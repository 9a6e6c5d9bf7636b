package telnyx_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/sip/carrier"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

const completed = `{"data":{"event_type":"number_order.complete","id":"d578b093","occurred_at":"2026-01-31T11:59:58Z","record_type":"event",` +
	`"payload":{"id":"12ade33a","customer_reference":"num_1","status":"success","phone_numbers":[{"phone_number":"+442079460010","status":"success"}]}},` +
	`"meta":{"attempt":1,"delivered_to":"https://parley.example/hooks/telnyx"}}`

func signed(body string, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h := http.Header{}
	h.Set("telnyx-timestamp", stamp)
	h.Set("telnyx-signature-ed25519", base64.StdEncoding.EncodeToString(ed25519.Sign(signer, []byte(stamp+"|"+body))))
	return h
}

func TestNotice(t *testing.T) {
	c, _ := newCarrier(t, newFake(t))
	for _, age := range []time.Duration{0, 5 * time.Minute, -5 * time.Minute} {
		if ref, err := c.Notice(signed(completed, noon.Add(-age)), []byte(completed), noon); err != nil || ref.Order != "num_1" {
			t.Errorf("%s old: %+v, %v", age, ref, err)
		}
	}
	for _, body := range []string{
		`{"data":{"event_type":"call.initiated","payload":{"call_control_id":"v3:x"}}}`,
		strings.Replace(completed, "num_1", "somebody else's reference", 1),
		strings.Replace(completed, `"customer_reference":"num_1",`, "", 1),
	} {
		if ref, err := c.Notice(signed(body, noon), []byte(body), noon); err != nil || ref != (carrier.Notice{}) {
			t.Errorf("of no interest: %+v, %v", ref, err)
		}
	}
	for _, body := range []string{"", "{", "[]", "{}", `{"data":{"event_type":1}}`} {
		if ref, err := c.Notice(signed(body, noon), []byte(body), noon); !errors.Is(err, carrier.ErrNotice) || ref != (carrier.Notice{}) {
			t.Errorf("%q: %+v, %v", body, ref, err)
		}
	}
}

func TestNoticeRefuses(t *testing.T) {
	c, _ := newCarrier(t, newFake(t))
	refused := func(what string, h http.Header, body string) {
		t.Helper()
		if ref, err := c.Notice(h, []byte(body), noon); !errors.Is(err, carrier.ErrSignature) || ref != (carrier.Notice{}) {
			t.Errorf("%s: %+v, %v", what, ref, err)
		}
	}
	without := func(name string) http.Header {
		h := signed(completed, noon)
		h.Del(name)
		return h
	}
	with := func(name, value string) http.Header {
		h := signed(completed, noon)
		h.Set(name, value)
		return h
	}
	const stamp, signature = "Telnyx-Timestamp", "Telnyx-Signature-Ed25519"
	refused("too old", signed(completed, noon.Add(-5*time.Minute-time.Second)), completed)
	refused("too early", signed(completed, noon.Add(5*time.Minute+time.Second)), completed)
	refused("no time", without(stamp), completed)
	refused("another time", with(stamp, strconv.FormatInt(noon.Unix()+1, 10)), completed)
	refused("a time written otherwise", with(stamp, "0"+strconv.FormatInt(noon.Unix(), 10)), completed)
	refused("no signature", without(signature), completed)
	refused("no base64", with(signature, "!"), completed)
	refused("a short signature", with(signature, "c2hvcnQ="), completed)
	refused("somebody else's signature", with(signature, signed("{}", noon).Get(signature)), completed)
	refused("another body", signed(completed, noon), completed+" ")
	refused("no body", signed(completed, noon), "")
}

func TestNoticeOnce(t *testing.T) {
	c, _ := newCarrier(t, newFake(t))
	h := signed(completed, noon.Add(4*time.Minute)) // its clock is ahead of ours
	for i, now := range []time.Time{noon, noon, noon.Add(time.Minute), noon.Add(9 * time.Minute)} {
		if _, err := c.Notice(h, []byte(completed), now); (i == 0) != (err == nil) || i > 0 && !errors.Is(err, carrier.ErrSignature) {
			t.Errorf("time %d: %v", i, err)
		}
	}
	// Telnyx repeats a webhook with a new time, so with another signature.
	if ref, err := c.Notice(signed(completed, noon.Add(time.Second)), []byte(completed), noon); err != nil || ref.Order != "num_1" {
		t.Errorf("repeated: %+v, %v", ref, err)
	}
}

// However many come, the memory of them is bounded, and new ones are taken.
func TestNoticeMemoryIsBounded(t *testing.T) {
	c, _ := newCarrier(t, newFake(t))
	const body = `{"data":{"event_type":"ping"}}`
	first := signed(body, noon.Add(-time.Minute))
	if _, err := c.Notice(first, []byte(body), noon); err != nil {
		t.Fatal(err)
	}
	for i := range 1100 {
		text := strings.Replace(body, "ping", "ping"+strconv.Itoa(i), 1)
		if _, err := c.Notice(signed(text, noon), []byte(text), noon); err != nil {
			t.Fatalf("webhook %d: %v", i, err)
		}
	}
	if _, err := c.Notice(first, []byte(body), noon); err != nil {
		t.Errorf("the oldest is still remembered: %v", err)
	}
}

func FuzzNotice(f *testing.F) {
	f.Add([]byte(completed), "1769860800", "c2hvcnQ=")
	f.Add([]byte(""), "", "")
	c, _ := newCarrier(f, &fake{url: "http://127.0.0.1:1"}) // asks for nothing
	f.Fuzz(func(t *testing.T, body []byte, stamp, signature string) {
		h := http.Header{}
		h.Set("Telnyx-Timestamp", stamp)
		h.Set("Telnyx-Signature-Ed25519", signature)
		if ref, err := c.Notice(h, body, noon); err == nil || ref != (carrier.Notice{}) {
			t.Fatalf("accepted %q", body)
		}
		// Signed, it is read without harm.
		if _, err := c.Notice(signed(string(body), noon), body, noon); err != nil && !errors.Is(err, carrier.ErrNotice) && !errors.Is(err, carrier.ErrSignature) {
			t.Fatal(err)
		}
	})
}

// finalized and received are webhooks of messages, as far as they matter.
const (
	finalized = `{"data":{"event_type":"message.finalized","id":"4ee8c3a6","occurred_at":"2026-01-31T11:59:58.148+00:00","record_type":"event",` +
		`"payload":{"id":"834f3d53-8a3c-4aa0-a733-7f2d682a72df","direction":"outbound","from":{"phone_number":"+13125550100"},` +
		`"to":[{"phone_number":"+14155550100","status":"delivered"}],"text":"Hello","tags":["parley:msg_1"],"parts":1,"errors":[],"received_at":"2026-01-31T11:59:50.000+00:00"}}}`
	received = `{"data":{"event_type":"message.received","id":"bf6307bd","occurred_at":"2026-01-31T11:59:58.574Z","record_type":"event",` +
		`"payload":{"id":"7ee4241c-f127-47e5-9c34-3aac291f8058","direction":"inbound","type":"SMS","from":{"phone_number":"+14155550100","carrier":"X"},` +
		`"to":[{"phone_number":"+13125550100","status":"webhook_delivered"}],"text":"STOP","media":[],"tags":[],"received_at":"2026-01-31T11:59:57.000Z","cost":null}}}`
)

func TestNoticeOfMessages(t *testing.T) {
	c, _ := newCarrier(t, newFake(t))
	notice := func(body string) (carrier.Notice, error) { return c.Notice(signed(body, noon), []byte(body), noon) }
	for status, want := range map[string]carrier.MessageState{"delivered": carrier.Delivered, "delivery_failed": carrier.Undelivered,
		"sending_failed": carrier.Undelivered, "expired": carrier.Undelivered, "delivery_unconfirmed": carrier.Sent, "sent": carrier.Sent} {
		n, err := notice(strings.Replace(finalized, `"status":"delivered"`, `"status":"`+status+`"`, 1))
		if err != nil || n.Delivery == nil || n.Order != "" || n.Received != nil {
			t.Fatalf("%s: %+v, %v", status, n, err)
		}
		if d := n.Delivery; d.ID != "834f3d53-8a3c-4aa0-a733-7f2d682a72df" || d.Reference != "msg_1" || d.State != want || (d.Reason != "") != (want == carrier.Undelivered) {
			t.Errorf("%s: %+v", status, d)
		}
	}
	n, err := notice(received)
	want := carrier.Received{ID: "7ee4241c-f127-47e5-9c34-3aac291f8058", From: "+14155550100", To: "+13125550100", Text: "STOP", At: noon.Add(-3 * time.Second)}
	if err != nil || n.Received == nil || *n.Received != want {
		t.Errorf("%+v, %v", n.Received, err)
	}
	for _, body := range []string{strings.Replace(finalized, "outbound", "inbound", 1), strings.Replace(received, `"7ee4241c-f127-47e5-9c34-3aac291f8058"`, `""`, 1),
		strings.Replace(received, `[{"phone_number":"+13125550100","status":"webhook_delivered"}]`, "[]", 1)} {
		if n, err := notice(body); err != nil || n != (carrier.Notice{}) {
			t.Errorf("of no interest: %+v, %v", n, err)
		}
	}
	if n, err := notice(strings.Replace(received, `"STOP"`, `1`, 1)); !errors.Is(err, carrier.ErrNotice) || n != (carrier.Notice{}) {
		t.Errorf("%+v, %v", n, err)
	}
	refused := signed(received, noon)
	if n, err := c.Notice(refused, []byte(received+" "), noon); !errors.Is(err, carrier.ErrSignature) || n != (carrier.Notice{}) {
		t.Errorf("%+v, %v", n, err)
	}
}
