package ledger_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"parley/store"
	"parley/store/webhook"
)

// TestListening: events of a webhook that listens go to the program that takes them, one after another, and to nobody else; what is
// not reported is taken again. Without a program the webhook goes after an hour.
func TestListening(t *testing.T) {
	f := setup(t)
	h := f.webhooks()
	acc, other := f.account(0), f.account(0)
	w, secret, err := h.Create(f.ctx(), acc, webhook.Webhook{URL: "http://localhost:3000", ListensUntil: new(time.Time)})
	f.ok(err)
	if w.ListensUntil == nil || !w.ListensUntil.Equal(t0.Add(webhook.ListenFor)) {
		t.Errorf("listens until %v", w.ListensUntil)
	}
	sent, _ := f.hooked(h, acc)
	var events []string
	for i := range 3 {
		d, err := h.Test(f.at(t0.Add(time.Duration(i)*time.Second)), acc, w.ID)
		f.ok(err)
		events = append(events, d.Event)
	}
	at := t0.Add(time.Minute)
	_, err = h.Claim(f.at(at))
	f.is(err, store.ErrNotFound)
	for account, id := range map[string]string{other: w.ID, acc: sent.ID} {
		_, err := h.Take(f.at(at), account, id)
		f.is(err, store.ErrNotFound)
	}
	f.is(h.Listen(f.at(at), other, w.ID), store.ErrNotFound)
	f.is(h.Listen(f.at(at), acc, sent.ID), store.ErrInvalid)
	if _, _, err := h.Asked(f.at(at), acc, w.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("asked who answers a call: %v", err)
	}

	f.ok(h.Listen(f.at(at), acc, w.ID))
	d, err := h.Take(f.at(at), acc, w.ID)
	f.ok(err)
	if d.Event != events[0] || d.Try != 1 || !slices.Equal(d.Secrets, []string{secret}) {
		t.Errorf("%+v", d)
	}
	_, err = h.Take(f.at(at), acc, w.ID)
	f.is(err, store.ErrNotFound) // the program has one already
	_, err = h.Took(f.at(at), other, w.ID, events[0], webhook.Attempt{At: at, Status: 200})
	f.is(err, store.ErrNotFound)
	_, err = h.Took(f.at(at), acc, w.ID, "evt_none", webhook.Attempt{At: at, Status: 200})
	f.is(err, store.ErrNotFound)
	for range 2 { // the second report changes nothing
		got, err := h.Took(f.at(at), acc, w.ID, events[0], webhook.Attempt{At: at, Status: 200, Answer: "ok"})
		f.ok(err)
		if got.State != webhook.Delivered || got.NextAt != nil || got.DoneAt == nil || len(got.Attempts) != 1 || got.Attempts[0].Answer != "ok" {
			t.Errorf("%+v", got)
		}
	}
	// A program that dies with one leaves it to the next, with those behind it.
	for _, wait := range []time.Duration{0, 30 * time.Second} {
		at = at.Add(wait)
		if d, err := h.Take(f.at(at), acc, w.ID); err != nil || d.Event != events[1] && d.Event != events[2] {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	var left []string
	for _, event := range events[1:] {
		got, err := h.Took(f.at(at), acc, w.ID, event, webhook.Attempt{At: at, Status: 500})
		f.ok(err)
		if got.State == webhook.Failed {
			left = append(left, event)
		}
	}
	if len(left) == 0 {
		t.Error("nothing is given up")
	}
	if got, err := h.Get(f.at(at), acc, w.ID); err != nil || !got.Enabled || got.FailingSince != nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = h.Retry(f.at(at), acc, w.ID, left[0])
	f.ok(err)
	for range 3 {
		d, err := h.Take(f.at(at), acc, w.ID)
		f.ok(err)
		_, err = h.Took(f.at(at), acc, w.ID, d.Event, webhook.Attempt{At: at, Status: 204})
		f.ok(err)
		if d.Event == left[0] {
			break
		}
	}
	if got := f.delivery(h, acc, w.ID, left[0]); got.State != webhook.Delivered {
		t.Errorf("%+v", got)
	}

	end := t0.Add(time.Minute + webhook.ListenFor)
	for i, want := range []int64{0, 1, 0} {
		if n, err := h.Expire(f.at(end.Add(time.Duration(i-1) * time.Second))); err != nil || n != want {
			t.Errorf("%d: %d went, %v", i, n, err)
		}
	}
	f.is(h.Listen(f.at(end), acc, w.ID), store.ErrNotFound)
	if _, err := h.Get(f.at(end), acc, sent.ID); err != nil {
		t.Error(err)
	}
}
