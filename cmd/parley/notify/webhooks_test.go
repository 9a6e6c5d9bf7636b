package notify

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/webhook"
)

// receiver is a fake server of a customer's. It takes what is signed by one of its
// secrets, and keeps it.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	secrets []string
	answer  int // 0: 200
	got     []received
}

type received struct {
	ID   string // of the header
	Type string
	Data map[string]any
	Good int // signatures that are good
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	got := received{ID: q.Header.Get("webhook-id"), Good: r.verify(q.Header, body)}
	var e struct {
		ID, Type string
		Data     map[string]any
	}
	if err := json.Unmarshal(body, &e); err != nil || e.ID != got.ID || q.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("%s: %v", body, err)
	}
	got.Type, got.Data = e.Type, e.Data
	r.got = append(r.got, got)
	w.WriteHeader(max(200, r.answer))
}

// verify is what the documentation tells receivers to do.
func (r *receiver) verify(h http.Header, body []byte) (good int) {
	stamp := h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return 0
	}
	for _, secret := range r.secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			r.t.Error(err)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(h.Get("webhook-id") + "." + stamp + "." + string(body)))
		if slices.Contains(strings.Split(h.Get("webhook-signature"), " "), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))) {
			good++
		}
	}
	return good
}

func (r *receiver) set(answer int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// hook has the receiver told by the account's wish.
func (o *post) hook(r *receiver, kinds ...string) *webhook.Webhook {
	o.Helper()
	w, secret, err := o.hooks.Create(o.Context(), o.account, webhook.Webhook{URL: r.URL + "/?key=hunter2", Kinds: kinds})
	o.ok(err)
	r.mu.Lock()
	r.secrets = append(r.secrets, secret)
	r.mu.Unlock()
	o.Cleanup(func() {
		if text := o.log.String(); strings.Contains(text, secret[6:]) || strings.Contains(text, "hunter2") {
			o.Error("a webhook's secret or address is in the log")
		}
	})
	return w
}

func (o *post) tell() { o.Helper(); o.ok(o.webhooks.deliver(o.Context(), webhooks{})) }

const toLoopback = "127.0.0.0/8"

// TestWebhooksOfCall: a receiver that is away, then back; what it gets, and under which
// names.
func TestWebhooksOfCall(t *testing.T) {
	t.Parallel()
	o, r := newPost(t, false, false, toLoopback), newReceiver(t)
	w := o.hook(r)
	r.set(503)
	session, err := o.calls.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: o.account, Terms: billing.Terms{Kind: billing.Web}}})
	o.ok(err)
	session.Begin()
	session.Observe(event.Event{Kind: event.AgentLine, Text: "Hello."})
	session.End(media.Ended{Reason: media.UserHangup})
	o.tell()
	down := r.all()
	r.set(200)
	list, err := o.hooks.Deliveries(t.Context(), o.account, w.ID, store.Page{})
	o.ok(err)
	for _, d := range list {
		if d.State != webhook.Pending || d.Attempts[0].Status != 503 {
			t.Errorf("%+v", d)
		}
		_, err := o.hooks.Retry(t.Context(), o.account, w.ID, d.Event) // rather than wait
		o.ok(err)
	}
	o.tell()
	up := r.all()[len(down):]
	names := map[string]string{}
	data := map[string]map[string]any{}
	for _, e := range down {
		names[e.Type] = e.ID
	}
	for _, e := range up {
		data[e.Type] = e.Data
		if e.Good != 1 || names[e.Type] != e.ID {
			t.Errorf("%+v, before under %s", e, names[e.Type])
		}
	}
	if len(down) != 4 || len(up) != 4 || len(data) != 4 {
		t.Fatalf("%+v, then %+v", down, up)
	}
	for _, d := range data {
		if d["id"] != session.ID() {
			t.Errorf("%v", d)
		}
	}
	ended := data[store.CallEnded]
	if ended["end_reason"] != "user_hangup" || ended["duration"] == nil || ended["cost"] == nil || ended["turn_count"] != 0.0 {
		t.Errorf("%v", ended)
	}
	if lines := data[store.CallTranscript]["transcript"].([]any); len(lines) != 1 || lines[0].(map[string]any)["text"] != "Hello." {
		t.Errorf("%v", lines)
	}
	if begun := data[store.CallStarted]; begun["answered_at"] != nil || begun["created_at"] == nil || data[store.CallAnswered]["answered_at"] == nil {
		t.Errorf("%v", begun)
	}
}

// TestWebhooksByJobs: what happens is told without anybody asking, a warning too, as
// /v1/events shows it; during a rotation with two signatures; and 410 ends it.
func TestWebhooksByJobs(t *testing.T) {
	t.Parallel()
	o, r := newPost(t, false, true, toLoopback), newReceiver(t)
	w := o.hook(r, string(store.WarnDisputeOpened))
	_, second, err := o.hooks.Rotate(t.Context(), o.account, w.ID)
	o.ok(err)
	r.mu.Lock()
	r.secrets = append(r.secrets, second)
	r.mu.Unlock()
	o.ok(ledger.New(o.db).OpenDispute(t.Context(), o.account, "dp_1"))
	o.eventually("the receiver is told", func() bool { return len(r.all()) > 0 })
	got := r.all()[0]
	if e := o.events()[0]; got.Good != 2 || got.ID != e.ID || got.Type != e.Kind || got.Data["message"] != e.Message {
		t.Errorf("%+v, want %+v", got, e)
	}
	r.set(410)
	_, err = o.hooks.Test(t.Context(), o.account, w.ID)
	o.ok(err)
	o.eventually("the webhook is disabled", func() bool {
		got, err := o.hooks.Get(t.Context(), o.account, w.ID)
		o.ok(err)
		return !got.Enabled && got.DisabledReason == "gone"
	})
}

// TestSlowReceiver holds up nobody else.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	o := newPost(t, false, false, toLoopback)
	asked, release := make(chan struct{}, 10), make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer slow.Close()
	first, _, err := o.hooks.Create(t.Context(), o.account, webhook.Webhook{URL: slow.URL})
	o.ok(err)
	_, err = o.hooks.Test(t.Context(), o.account, first.ID)
	o.ok(err)
	var waiting sync.WaitGroup
	waiting.Go(func() { o.tell() })
	<-asked
	quick := newReceiver(t)
	w := o.hook(quick)
	_, err = o.hooks.Test(t.Context(), o.account, w.ID)
	o.ok(err)
	o.tell()
	if got := quick.all(); len(got) != 1 || got[0].Data["webhook_id"] != w.ID {
		t.Errorf("%+v", got)
	}
	close(release)
	waiting.Wait()
}

// TestEventsThatCannotBeTold: one of which no body can be made, or whose cause is gone, is
// given up, says why, and counts against no receiver; others arrive meanwhile.
func TestEventsThatCannotBeTold(t *testing.T) {
	t.Parallel()
	o, r := newPost(t, false, false, toLoopback), newReceiver(t)
	w, beside := o.hook(r), o.hook(r, store.CallEnded)
	session, err := o.calls.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: o.account, Terms: billing.Terms{Kind: billing.Web}}})
	o.ok(err)
	session.Begin()
	session.End(media.Ended{Reason: media.UserHangup})
	o.ok(history.New(o.db).SaveConversation(t.Context(), o.account, session.ID(), history.Conversation{Turns: json.RawMessage(`{"no":"list"}`)}))
	o.ok(ledger.New(o.db).OpenDispute(t.Context(), o.account, "dp_1"))
	conn, err := pgx.Connect(t.Context(), o.url)
	o.ok(err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "delete from warnings")
	o.ok(err)

	list := func(id string) map[string]webhook.Delivery {
		all, err := o.hooks.Deliveries(t.Context(), o.account, id, store.Page{})
		o.ok(err)
		byKind := map[string]webhook.Delivery{}
		for _, d := range all {
			byKind[d.Kind] = d
		}
		return byKind
	}
	o.tell()
	first := list(w.ID)
	for kind, want := range map[string]webhook.DeliveryState{store.CallStarted: webhook.Delivered, store.CallAnswered: webhook.Delivered,
		store.CallEnded: webhook.Pending, store.CallTranscript: webhook.Pending, string(store.WarnDisputeOpened): webhook.Failed} {
		d := first[kind]
		if d.State != want || len(d.Attempts) != 1 || (want == webhook.Delivered) != (d.Attempts[0].Failure == "") {
			t.Errorf("%s: %+v, want %s", kind, d, want)
		}
	}
	for range 7 {
		for _, id := range []string{w.ID, beside.ID} {
			for _, d := range list(id) {
				if d.State == webhook.Pending {
					_, err := o.hooks.Retry(t.Context(), o.account, id, d.Event) // rather than wait
					o.ok(err)
				}
			}
		}
		o.tell()
	}
	for _, d := range []webhook.Delivery{list(w.ID)[store.CallEnded], list(w.ID)[store.CallTranscript], list(beside.ID)[store.CallEnded]} {
		if d.State != webhook.Failed || len(d.Attempts) != 8 || d.NextAt != nil {
			t.Errorf("%+v", d)
		}
	}
	for _, id := range []string{w.ID, beside.ID} {
		if got, err := o.hooks.Get(t.Context(), o.account, id); err != nil || !got.Enabled || got.FailingSince != nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got := r.all(); len(got) != 2 {
		t.Errorf("received were %+v", got)
	}
}

// TestWebhooksStayOutside: an address inside is refused when it is written down, and
// again when something is to be sent there, for whatever reason it came to be.
func TestWebhooksStayOutside(t *testing.T) {
	t.Parallel()
	o, r := newPost(t, false, false), newReceiver(t)
	q, err := http.NewRequestWithContext(t.Context(), "POST", o.server.URL+"/v1/webhooks", bytes.NewReader([]byte(`{"url":"`+r.URL+`"}`)))
	o.ok(err)
	q.Header.Set("Authorization", "Bearer "+o.key)
	q.Header.Set("Content-Type", "application/json")
	res, err := o.server.Client().Do(q)
	o.ok(err)
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != 400 || !strings.Contains(string(text), "127.0.0.1 is not on the public Internet") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	w := o.hook(r)
	_, err = o.hooks.Test(t.Context(), o.account, w.ID)
	o.ok(err)
	o.tell()
	list, err := o.hooks.Deliveries(t.Context(), o.account, w.ID, store.Page{})
	o.ok(err)
	if a := list[0].Attempts; len(r.all()) != 0 || len(a) != 1 || a[0].Status != 0 || a[0].Failure != "127.0.0.1 is not on the public Internet" {
		t.Errorf("%+v, received %+v", a, r.all())
	}
}
