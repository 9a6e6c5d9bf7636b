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
	acc, other := f.NewAccount(0), f.NewAccount(0)
	w, secret, err := h.Create(f.Context(), acc, webhook.Webhook{URL: "http://localhost:3000", ListensUntil: new(time.Time)})
	f.OK(err)
	if w.ListensUntil == nil || !w.ListensUntil.Equal(t0.Add(webhook.ListenFor)) {
		t.Errorf("listens until %v", w.ListensUntil)
	}
	sent, _ := f.hooked(h, acc)
	var events []string
	for i := range 3 {
		d, err := h.Test(f.At(t0.Add(time.Duration(i)*time.Second)), acc, w.ID)
		f.OK(err)
		events = append(events, d.Event)
	}
	at := t0.Add(time.Minute)
	_, err = h.Claim(f.At(at))
	f.Is(err, store.ErrNotFound)
	for account, id := range map[string]string{other: w.ID, acc: sent.ID} {
		_, err := h.Take(f.At(at), account, id)
		f.Is(err, store.ErrNotFound)
	}
	f.Is(h.Listen(f.At(at), other, w.ID), store.ErrNotFound)
	f.Is(h.Listen(f.At(at), acc, sent.ID), store.ErrInvalid)
	if _, _, err := h.Asked(f.At(at), acc, w.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("asked who answers a call: %v", err)
	}

	f.OK(h.Listen(f.At(at), acc, w.ID))
	d, err := h.Take(f.At(at), acc, w.ID)
	f.OK(err)
	if d.Event != events[0] || d.Try != 1 || !slices.Equal(d.Secrets, []string{secret}) {
		t.Errorf("%+v", d)
	}
	_, err = h.Take(f.At(at), acc, w.ID)
	f.Is(err, store.ErrNotFound) // the program has one already
	_, err = h.Took(f.At(at), other, w.ID, events[0], webhook.Attempt{At: at, Status: 200})
	f.Is(err, store.ErrNotFound)
	_, err = h.Took(f.At(at), acc, w.ID, "evt_none", webhook.Attempt{At: at, Status: 200})
	f.Is(err, store.ErrNotFound)
	for range 2 { // the second report changes nothing
		got, err := h.Took(f.At(at), acc, w.ID, events[0], webhook.Attempt{At: at, Status: 200, Answer: "ok"})
		f.OK(err)
		if got.State != webhook.Delivered || got.NextAt != nil || got.DoneAt == nil || len(got.Attempts) != 1 || got.Attempts[0].Answer != "ok" {
			t.Errorf("%+v", got)
		}
	}
	// A program that dies with one leaves it to the next, with those behind it.
	for _, wait := range []time.Duration{0, 30 * time.Second} {
		at = at.Add(wait)
		if d, err := h.Take(f.At(at), acc, w.ID); err != nil || d.Event != events[1] && d.Event != events[2] {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	var left []string
	for _, event := range events[1:] {
		got, err := h.Took(f.At(at), acc, w.ID, event, webhook.Attempt{At: at, Status: 500})
		f.OK(err)
		if got.State == webhook.Failed {
			left = append(left, event)
		}
	}
	if len(left) == 0 {
		t.Error("nothing is given up")
	}
	if got, err := h.Get(f.At(at), acc, w.ID); err != nil || !got.Enabled || got.FailingSince != nil {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = h.Retry(f.At(at), acc, w.ID, left[0])
	f.OK(err)
	for range 3 {
		d, err := h.Take(f.At(at), acc, w.ID)
		f.OK(err)
		_, err = h.Took(f.At(at), acc, w.ID, d.Event, webhook.Attempt{At: at, Status: 204})
		f.OK(err)
		if d.Event == left[0] {
			break
		}
	}
	if got := f.delivery(h, acc, w.ID, left[0]); got.State != webhook.Delivered {
		t.Errorf("%+v", got)
	}

	end := t0.Add(time.Minute + webhook.ListenFor)
	for i, want := range []int64{0, 1, 0} {
		if n, err := h.Expire(f.At(end.Add(time.Duration(i-1) * time.Second))); err != nil || n != want {
			t.Errorf("%d: %d went, %v", i, n, err)
		}
	}
	f.Is(h.Listen(f.At(end), acc, w.ID), store.ErrNotFound)
	if _, err := h.Get(f.At(end), acc, sent.ID); err != nil {
		t.Error(err)
	}
}
