package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/people"
	"parley/store/storetest"
	"parley/store/webhook"
)

const receiver = "https://example.com/parley?key=hunter2"

// hooked is an account with a webhook.
func (f *fixture) hooked(h *webhook.Store, account string, kinds ...string) (*webhook.Webhook, string) {
	f.T.Helper()
	w, secret, err := h.Create(f.Context(), account, webhook.Webhook{URL: receiver, Kinds: kinds})
	f.OK(err)
	return w, secret
}

func (f *fixture) webhooks() *webhook.Store { return webhook.New(f.DB, f.vault(master)) }

const master = "0123456789abcdef0123456789abcdef"

func (f *fixture) vault(key string) *people.Vault {
	f.T.Helper()
	v, err := people.NewVault(f.DB, key)
	f.OK(err)
	return v
}

// TestNumbersAskWebhooks: a number asks a webhook of its own account, for as long as that is there and enabled.
func TestNumbersAskWebhooks(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(20*usd), f.NewAccount(20*usd)
	hooks := f.webhooks()
	hook, secret := f.hooked(hooks, acc)
	foreign, _ := f.hooked(hooks, other)
	agent := f.NewAgent(acc)
	n, err := f.Numbers.Import(f.Context(), acc, mine, agent.ID)
	f.OK(err)
	for name, id := range map[string]string{"another account's": foreign.ID, "none": "wh_x"} {
		if err := f.Numbers.Assign(f.Context(), acc, n.ID, numbers.Assignment{Webhook: &id}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	asks := func(want string) {
		t.Helper()
		r, err := f.Numbers.Route(f.Context(), mine)
		f.OK(err)
		if got := or(r.Webhook); got != want || or(r.Agent) != agent.ID {
			t.Errorf("asks %q, want %q; %q answers", got, want, or(r.Agent))
		}
	}
	asks("")
	f.OK(f.Numbers.Assign(f.Context(), acc, n.ID, numbers.Assignment{Webhook: &hook.ID}))
	asks(hook.ID)
	address, secrets, err := hooks.Asked(f.Context(), acc, hook.ID)
	if err != nil || address != receiver || !slices.Equal(secrets, []string{secret}) {
		t.Errorf("asked at %s, %d secrets, %v", address, len(secrets), err)
	}
	if _, _, err := hooks.Asked(f.Context(), other, hook.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("by another account: %v", err)
	}
	f.OK(f.Numbers.Assign(f.Context(), acc, n.ID, numbers.Assignment{Agent: &agent.ID})) // which leaves the webhook
	asks(hook.ID)
	_, err = hooks.Change(f.Context(), acc, hook.ID, webhook.Change{Enabled: new(false)})
	f.OK(err)
	asks("")
	if got, err := f.Numbers.Number(f.Context(), acc, n.ID); err != nil || or(got.Webhook) != hook.ID {
		t.Errorf("a disabled webhook is shown as %q, %v", or(got.Webhook), err)
	}
	_, err = hooks.Change(f.Context(), acc, hook.ID, webhook.Change{Enabled: new(true)})
	f.OK(err)
	asks(hook.ID)
	f.OK(hooks.Delete(f.Context(), acc, hook.ID))
	asks("")
	if got, err := f.Numbers.Number(f.Context(), acc, n.ID); err != nil || got.Webhook != nil {
		t.Errorf("a deleted webhook is shown: %+v %v", got, err)
	}
	_, err = hooks.Purge(f.Context())
	f.OK(err)
	asks("")
}

func or(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// told are the kinds that a webhook is told of, oldest first.
func (f *fixture) told(h *webhook.Store, account, id string) (kinds []string) {
	f.T.Helper()
	list, err := h.Deliveries(f.Context(), account, id, store.Page{})
	f.OK(err)
	for _, d := range slices.Backward(list) {
		kinds = append(kinds, d.Kind)
	}
	slices.Sort(kinds) // of one millisecond
	return kinds
}

// attempt claims what is due at a time and notes an answer to it.
func (f *fixture) attempt(h *webhook.Store, at time.Time, status int) *webhook.DueDelivery {
	f.T.Helper()
	d, err := h.Claim(f.At(at))
	f.OK(err)
	f.OK(h.Attempted(f.At(at), d, webhook.Attempt{At: at, Status: status, Answer: "ok"}))
	return d
}

func (f *fixture) delivery(h *webhook.Store, account, id, event string) webhook.Delivery {
	f.T.Helper()
	list, err := h.Deliveries(f.Context(), account, id, store.Page{})
	f.OK(err)
	for _, d := range list {
		if d.Event == event {
			return d
		}
	}
	f.T.Fatalf("%s is not among %+v", event, list)
	return webhook.Delivery{}
}

// TestWebhooksAreToldOfCalls: by the transactions that make it so, and of each once,
// however often it is said.
func TestWebhooksAreToldOfCalls(t *testing.T) {
	f := setup(t)
	h := f.webhooks()
	acc, other := f.NewAccount(10*usd), f.NewAccount(10*usd)
	all, _ := f.hooked(h, acc)
	ends, _ := f.hooked(h, acc, store.CallEnded, store.CallEnded)
	theirs, _ := f.hooked(h, other)
	off, _ := f.hooked(h, acc)
	no := false
	_, err := h.Change(f.Context(), acc, off.ID, webhook.Change{Enabled: &no})
	f.OK(err)

	s := f.Start(acc, inboundES)
	f.Start(acc, billing.Terms{Kind: billing.TTS})
	if got := f.told(h, acc, all.ID); !slices.Equal(got, []string{store.CallStarted}) {
		t.Errorf("at the start: %v", got)
	}
	f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 1000})
	f.MustCheckpoint(s, 2, billing.Usage{billing.AgentTime: 2000})
	if got := f.told(h, acc, all.ID); !slices.Equal(got, []string{store.CallAnswered, store.CallStarted}) {
		t.Errorf("after the answer: %v", got)
	}
	for range 2 {
		f.CloseWith(s, billing.Usage{billing.AgentTime: 3000})
	}
	whole := []string{store.CallAnswered, store.CallEnded, store.CallStarted, store.CallTranscript}
	if got := f.told(h, acc, all.ID); !slices.Equal(got, whole) {
		t.Errorf("after the end: %v", got)
	}
	if got := f.told(h, acc, ends.ID); !slices.Equal(got, []string{store.CallEnded}) {
		t.Errorf("who wants ends alone: %v", got)
	}
	if got := append(f.told(h, other, theirs.ID), f.told(h, acc, off.ID)...); len(got) != 0 {
		t.Errorf("others are told %v", got)
	}
	// One that is over before a checkpoint, and one that nobody answers.
	f.CloseWith(f.Start(other, web), billing.Usage{billing.AgentTime: 10})
	if got := f.told(h, other, theirs.ID); !slices.Equal(got, whole) {
		t.Errorf("a short one: %v", got)
	}
	quiet := f.Start(acc, inboundES)
	_, err = f.CloseSession(f.Context(), quiet, ledger.Closing{Reason: "no_answer"})
	f.OK(err)
	if got := f.told(h, acc, all.ID); len(got) != len(whole)+2 {
		t.Errorf("one that nobody answers: %v", got)
	}
	f.Verified()
}

// TestWebhooksAreToldOfCrashes: what a dead node left is told by whoever closes it.
func TestWebhooksAreToldOfCrashes(t *testing.T) {
	f := setup(t)
	h := f.webhooks()
	acc := f.NewAccount(10 * usd)
	w, _ := f.hooked(h, acc, store.CallEnded, string(store.WarnBalanceLow))
	s := f.Start(acc, web)
	f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 1000})
	f.Register("node-a")
	f.Adjust(acc, usd)
	if got := f.told(h, acc, w.ID); !slices.Equal(got, []string{string(store.WarnBalanceLow), store.CallEnded}) {
		t.Errorf("%v", got)
	}
	low := f.warnings(acc, store.WarnBalanceLow)[0]
	if d := f.delivery(h, acc, w.ID, low.ID); d.About != low.ID {
		t.Errorf("%+v", d)
	}
}

// TestDeliveries: a claim is one caller's, and one of a webhook at a time; who dies with
// one leaves it to others; what fails is tried again at its times, under one identifier,
// and given up.
func TestDeliveries(t *testing.T) {
	f := setup(t)
	h := f.webhooks()
	acc := f.NewAccount(0)
	w, secret := f.hooked(h, acc)
	test, err := h.Test(f.Context(), acc, w.ID)
	f.OK(err)
	second, err := h.Test(f.At(t0.Add(time.Second)), acc, w.ID)
	f.OK(err)

	at := t0.Add(time.Minute)
	d, err := h.Claim(f.At(at))
	f.OK(err)
	if d.Event != test.Event || d.URL != receiver || d.Account != acc || d.Try != 1 || !slices.Equal(d.Secrets, []string{secret}) {
		t.Errorf("%+v", d)
	}
	_, err = h.Claim(f.At(at))
	f.Is(err, store.ErrNotFound) // the other waits for this one
	at = at.Add(30 * time.Second)
	again := f.attempt(h, at, 200) // of the other, for the first has its lease until now as well
	if again.Event != second.Event && again.Event != test.Event {
		t.Errorf("%+v", again)
	}
	for f.delivery(h, acc, w.ID, test.Event).State == webhook.Pending {
		f.attempt(h, at, 200)
	}
	// The one that was slow says so after all.
	f.OK(h.Attempted(f.At(at), d, webhook.Attempt{At: at, Failure: "late"}))
	if got := f.delivery(h, acc, w.ID, test.Event); got.State != webhook.Delivered || got.DoneAt == nil || len(got.Attempts) != 2 {
		t.Errorf("%+v", got)
	}

	for f.delivery(h, acc, w.ID, second.Event).State == webhook.Pending {
		f.attempt(h, at, 200)
	}
	third, err := h.Test(f.At(at), acc, w.ID)
	f.OK(err)
	for i, wait := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 0} {
		if d := f.attempt(h, at, 500+i); d.Event != third.Event || d.Try != i+1 {
			t.Fatalf("try %d: %+v", i, d)
		}
		got := f.delivery(h, acc, w.ID, third.Event)
		if wait == 0 {
			if got.State != webhook.Failed || got.NextAt != nil || len(got.Attempts) != 8 || got.Attempts[7].Status != 507 || got.Attempts[0].Answer != "ok" {
				t.Errorf("%+v", got)
			}
			break
		}
		if got.State != webhook.Pending || !got.NextAt.Equal(at.Add(wait)) {
			t.Fatalf("after try %d: %+v", i+1, got)
		}
		_, err := h.Claim(f.At(at.Add(wait - time.Second)))
		f.Is(err, store.ErrNotFound)
		at = at.Add(wait)
	}
	if got, err := h.Get(f.Context(), acc, w.ID); err != nil || got.FailingSince == nil || !got.Enabled {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = h.Retry(f.At(at), acc, w.ID, third.Event)
	f.OK(err)
	f.attempt(h, at, 204)
	if got := f.delivery(h, acc, w.ID, third.Event); got.State != webhook.Delivered || len(got.Attempts) != 9 {
		t.Errorf("%+v", got)
	}
	if got, err := h.Get(f.Context(), acc, w.ID); err != nil || got.FailingSince != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for i, want := range []int64{0, 3} {
		if n, err := h.Forget(f.At(t0.Add(time.Duration(30+i) * 24 * time.Hour))); err != nil || n != want {
			t.Errorf("after %d days: %d, %v", 30+i, n, err)
		}
	}
}

// TestSendersThatDie: a delivery whose attempts come to no end is given up, as one whose
// attempts fail, and others are claimed meanwhile.
func TestSendersThatDie(t *testing.T) {
	f := setup(t)
	h := f.webhooks()
	acc := f.NewAccount(0)
	w, _ := f.hooked(h, acc)
	bad, err := h.Test(f.Context(), acc, w.ID)
	f.OK(err)
	at := t0
	for i, wait := range []time.Duration{30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 14 * time.Hour} {
		if d, err := h.Claim(f.At(at)); err != nil || d.Event != bad.Event || d.Try != i+1 {
			t.Fatalf("try %d: %+v, %v", i+1, d, err)
		}
		good, err := h.Test(f.At(at), acc, w.ID)
		f.OK(err)
		if d := f.attempt(h, at.Add(30*time.Second), 200); wait > 30*time.Second && d.Event != good.Event {
			t.Errorf("after try %d: %+v", i+1, d)
		}
		at = at.Add(wait)
	}
	_, err = h.Claim(f.At(at))
	f.Is(err, store.ErrNotFound)
	if got := f.delivery(h, acc, w.ID, bad.Event); got.State != webhook.Failed || got.NextAt != nil || got.DoneAt == nil || len(got.Attempts) != 1 || got.Attempts[0].Failure == "" {
		t.Errorf("%+v", got)
	}
	if got, err := h.Get(f.Context(), acc, w.ID); err != nil || !got.Enabled || got.FailingSince != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestWebhooksAreDisabled: by 410 at once, by failure after five days; the account is
// warned, which its other webhooks are told of.
func TestWebhooksAreDisabled(t *testing.T) {
	f := setup(t)
	h := f.webhooks()
	for reason, status := range map[string]int{"gone": 410, "failing": 503} {
		acc := f.NewAccount(0)
		w, _ := f.hooked(h, acc)
		other, _ := f.hooked(h, acc)
		at := t0
		_, err := h.Test(f.At(at), acc, w.ID)
		f.OK(err)
		f.attempt(h, at, status)
		if reason == "failing" {
			if got, _ := h.Get(f.Context(), acc, w.ID); !got.Enabled {
				t.Errorf("%s: disabled at once", reason)
			}
			at = at.Add(5 * 24 * time.Hour)
			f.attempt(h, at, status)
		}
		got, err := h.Get(f.Context(), acc, w.ID)
		f.OK(err)
		warnings := f.warnings(acc, store.WarnWebhookDisabled)
		if got.Enabled || got.DisabledReason != reason || len(warnings) != 1 || warnings[0].Data.Webhook != w.ID || warnings[0].Data.Reason != reason {
			t.Fatalf("%s: %+v, %+v", reason, got, warnings)
		}
		if told := f.told(h, acc, other.ID); !slices.Equal(told, []string{string(store.WarnWebhookDisabled)}) {
			t.Errorf("the other is told %v", told)
		}
		f.attempt(h, at, 200) // the other's
		_, err = h.Claim(f.At(at.Add(100 * 24 * time.Hour)))
		f.Is(err, store.ErrNotFound)
		_, err = h.Test(f.At(at), acc, w.ID)
		f.Is(err, store.ErrInvalid)
		_, err = h.Retry(f.At(at), acc, w.ID, f.delivery(h, acc, other.ID, warnings[0].ID).Event)
		f.Is(err, store.ErrInvalid)
		yes := true
		if got, err = h.Change(f.At(at), acc, w.ID, webhook.Change{Enabled: &yes}); err != nil || !got.Enabled || got.DisabledReason != "" || got.FailingSince != nil {
			t.Errorf("%+v, %v", got, err)
		}
		if x := f.warnings(acc, store.WarnWebhookDisabled)[0]; x.ClearedAt == nil {
			t.Error("the warning holds")
		}
	}
	f.Verified()
}

func TestWebhookSecrets(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	h := f.webhooks()
	acc := f.NewAccount(0)
	w, first := f.hooked(h, acc)
	if !strings.HasPrefix(first, "whsec_") || len(first) != len("whsec_")+44 {
		t.Error("a secret is 32 bytes in base64 behind whsec_")
	}
	_, second, err := h.Rotate(f.Context(), acc, w.ID)
	f.OK(err)
	signs := func(at time.Time, want ...string) {
		t.Helper()
		_, err := h.Test(f.At(at), acc, w.ID)
		f.OK(err)
		if d := f.attempt(h, at, 200); !slices.Equal(d.Secrets, want) {
			t.Errorf("at %s %d secrets sign; want %d", at, len(d.Secrets), len(want))
		}
	}
	signs(t0.Add(24*time.Hour-time.Second), second, first)
	signs(t0.Add(24*time.Hour), second)
	conn, err := pgx.Connect(f.Context(), url)
	f.OK(err)
	defer conn.Close(f.Context())
	var rows string
	f.OK(conn.QueryRow(f.Context(), "select encode(sealed, 'escape') || encode(old_sealed, 'escape') from webhooks").Scan(&rows))
	if strings.Contains(rows, first[6:20]) || strings.Contains(rows, second[6:20]) {
		t.Error("the table holds a secret")
	}
	// With another master key nothing opens, and nothing is said.
	_, err = h.Test(f.Context(), acc, w.ID)
	f.OK(err)
	stranger := webhook.New(f.DB, f.vault(strings.Repeat("x", 32)))
	d, err := stranger.Claim(f.Context())
	f.Is(err, store.ErrUnsealed)
	if d == nil || len(d.Secrets) != 0 || strings.Contains(fmt.Sprint(err), "hunter2") {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWebhookBounds(t *testing.T) {
	f := setup(t)
	h := f.webhooks()
	acc, other := f.NewAccount(0), f.NewAccount(0)
	for what, bad := range map[string]webhook.Webhook{
		"no address": {}, "a path": {URL: "/x"}, "ftp": {URL: "ftp://example.com/"}, "a user": {URL: "https://a:b@example.com/"},
		"a fragment": {URL: "https://example.com/#x"}, "long": {URL: "https://example.com/" + strings.Repeat("x", 2000)},
		"no event": {URL: receiver, Kinds: []string{"call.nothing"}}, "a test": {URL: receiver, Kinds: []string{webhook.Test}},
		"a long description": {URL: receiver, Description: strings.Repeat("x", 501)}, "a zero": {URL: receiver, Description: "\x00"},
	} {
		if _, _, err := h.Create(f.Context(), acc, bad); err == nil {
			t.Errorf("%s is taken", what)
		} else if f.Is(err, store.ErrInvalid); strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", what, err)
		}
	}
	w, _ := f.hooked(h, acc)
	for range webhook.Max - 1 {
		f.hooked(h, acc)
	}
	_, _, err := h.Create(f.Context(), acc, webhook.Webhook{URL: receiver})
	f.Is(err, store.ErrInvalid)
	_, _, err = h.Create(f.Context(), "acc_nobody", webhook.Webhook{URL: receiver})
	f.Is(err, store.ErrNotFound)
	test, err := h.Test(f.Context(), acc, w.ID)
	f.OK(err)

	f.hooked(h, other)
	for what, try := range map[string]func(account string) error{
		"get":        func(a string) error { _, err := h.Get(f.Context(), a, w.ID); return err },
		"change":     func(a string) error { _, err := h.Change(f.Context(), a, w.ID, webhook.Change{}); return err },
		"rotate":     func(a string) error { _, _, err := h.Rotate(f.Context(), a, w.ID); return err },
		"test":       func(a string) error { _, err := h.Test(f.Context(), a, w.ID); return err },
		"deliveries": func(a string) error { _, err := h.Deliveries(f.Context(), a, w.ID, store.Page{}); return err },
		"retry":      func(a string) error { _, err := h.Retry(f.Context(), a, w.ID, test.Event); return err },
		"delete":     func(a string) error { return h.Delete(f.Context(), a, w.ID) },
	} {
		f.Is(try(other), store.ErrNotFound)
		if what != "delete" {
			f.OK(try(acc))
		}
	}
	f.OK(h.Delete(f.Context(), acc, w.ID))
	if list, err := h.List(f.Context(), acc, store.Page{}); err != nil || len(list) != webhook.Max-1 {
		t.Errorf("%d, %v", len(list), err)
	}
	_, err = h.Claim(f.Context())
	f.Is(err, store.ErrNotFound)
}
