package node

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/statement"
	"parley/store/ledger/verify"
	"parley/store/people"
	"parley/store/storetest"
)

// window is a desk's public side, where every answer is held to the document.
type window struct {
	*desk
	server     *httptest.Server
	key, other string
}

func newWindow(t *testing.T) *window { return windowOf(t, newDesk(t)) }

func windowOf(t *testing.T, d *desk) *window {
	w := &window{desk: d}
	w.server = httptest.NewServer(apitest.Published(t).Around(t, w.node.Handler()))
	t.Cleanup(w.server.Close)
	now := w.node.db.Now()
	_, secret, err := people.New(w.node.db).MakeKey(storetest.At(t.Context(), now), people.NewKey{Account: w.who.Account, Name: "second", Role: people.RoleMember})
	w.ok(err)
	b, err := ledger.New(w.node.db).CreateAccount(t.Context(), "B", w.node.db.RateCard())
	w.ok(err)
	_, others, err := people.New(w.node.db).MakeKey(storetest.At(t.Context(), now), people.NewKey{Account: b.ID, Name: "first", Role: people.RoleMember})
	w.ok(err)
	w.key, w.other = secret, others
	return w
}

// ask sends a request and reads the answer.
func (w *window) ask(key, method, path string, body any, header ...string) (status int, batch wire.BatchDetail, problem struct{ Code, Detail string }) {
	w.Helper()
	var text []byte
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
	default:
		var err error
		text, err = json.Marshal(b)
		w.ok(err)
	}
	req, err := http.NewRequestWithContext(w.Context(), method, w.server.URL+path, bytes.NewReader(text))
	w.ok(err)
	req.Header.Set("Authorization", "Bearer "+key)
	if text != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := w.server.Client().Do(req)
	w.ok(err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	w.ok(err)
	w.ok(json.Unmarshal(got, &batch))
	w.ok(json.Unmarshal(got, &problem))
	return resp.StatusCode, batch, problem
}

type object = map[string]any

// wish is a batch of two rows, with changes; a nil takes the field away.
func (w *window) wish(changes object) object {
	o := object{"name": "Spring", "from": deskNumber, "agent_id": w.agent, "consent_confirmed": true,
		"rows": []object{{"to": "+1 202-555-0101"}, {"to": "+12025550109", "scheduled_at": "2020-01-01T00:00:00Z"}}}
	for k, v := range changes {
		if o[k] = v; v == nil {
			delete(o, k)
		}
	}
	return o
}

// create queues a batch; it waits while the account asks too often.
func (w *window) create(body any, header ...string) (status int, batch wire.BatchDetail, problem struct{ Code, Detail string }) {
	w.Helper()
	eventually(w.T, "it is within the rate", func() bool {
		status, batch, problem = w.ask(w.key, "POST", "/callcenter/bulk-dial", body, header...)
		return problem.Code != "auth.rate_limited"
	})
	return status, batch, problem
}

// TestBatchRefusals: each with its code and its row, in the order that is prescribed,
// however fast they come, and nothing is queued.
func TestBatchRefusals(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	rows := func(list ...object) object { return object{"rows": list} }
	good := object{"to": "+12025550101"}
	many := make([]object, 501)
	for i := range many {
		many[i] = good
	}
	window := func(start, end, zone string) object {
		return object{"call_window": object{"start": start, "end": end, "timezone": zone}}
	}
	retry := func(on string, attempts, after int) object {
		return object{"retries": []object{{"on": on, "attempts": attempts, "after_seconds": after}}}
	}
	const malformed = "validation.invalid_request_format"
	for name, tt := range map[string]struct {
		body   any
		status int
		code   string
		detail string // a part of it
	}{
		"no body":                {"{", 400, malformed, ""},
		"no consent":             {w.wish(object{"consent_confirmed": nil}), 400, "callcenter.consent_required", ""},
		"consent as text":        {w.wish(object{"consent_confirmed": "true", "from": "+34911111111"}), 400, "callcenter.consent_required", ""},
		"no rows":                {w.wish(rows()), 400, malformed, "rows"},
		"too many rows":          {w.wish(rows(many...)), 400, "callcenter.batch_too_large", ""},
		"nobody to call":         {w.wish(rows(good, object{"to": " "})), 400, malformed, "rows[1]: to"},
		"no number":              {w.wish(object{"from": nil}), 400, malformed, "rows[0]: from"},
		"no agent":               {w.wish(object{"agent_id": nil}), 400, malformed, "rows[0]: agent_id"},
		"not a time":             {w.wish(rows(good, good, object{"to": "+12025550101", "scheduled_at": "tomorrow"})), 400, malformed, "rows[2]: scheduled_at"},
		"too far ahead":          {w.wish(rows(object{"to": "+12025550101", "scheduled_at": "2999-01-01T00:00:00Z"})), 400, malformed, "rows[0]: scheduled_at"},
		"a long name":            {w.wish(object{"name": strings.Repeat("n", 201)}), 400, malformed, "name"},
		"an unknown policy":      {w.wish(object{"on_machine": "talk"}), 400, malformed, "on_machine"},
		"a message for nobody":   {w.wish(object{"message": "Hello."}), 400, malformed, "message"},
		"a short ring":           {w.wish(object{"ring_timeout_seconds": 4}), 400, malformed, "ring_timeout_seconds"},
		"half a window":          {w.wish(object{"call_window": object{"start": "09:00"}}), 400, malformed, "call_window"},
		"an empty window":        {w.wish(window("09:00", "09:00", "destination")), 400, malformed, "call_window"},
		"no time of day":         {w.wish(window("9:00", "25:00", "destination")), 400, malformed, "call_window"},
		"an unknown zone":        {w.wish(window("09:00", "20:00", "Europe/Atlantis")), 400, malformed, "call_window.timezone"},
		"the server's zone":      {w.wish(window("09:00", "20:00", "Local")), 400, malformed, "call_window.timezone"},
		"a number of nobody":     {w.wish(rows(good, object{"to": "+351912345678", "from": "+34911111111", "agent_id": "ag_0"})), 403, "callcenter.from_not_owned", "rows[1]"},
		"an agent of nobody":     {w.wish(rows(object{"to": "+351912345678"}, object{"to": "+12025550101", "agent_id": "ag_0"})), 404, "agent.not_found", "rows[1]"},
		"a mobile in Portugal":   {w.wish(rows(good, object{"to": "+351912345678"})), 400, "callcenter.destination_not_allowed", "rows[1]: "},
		"a premium number":       {w.wish(rows(object{"to": "+19005551234"})), 400, "callcenter.destination_not_allowed", "rows[0]: "},
		"an emergency number":    {w.wish(rows(good, object{"to": "911"})), 400, "callcenter.emergency_number", "rows[1]"},
		"an unknown variable":    {w.wish(rows(good, object{"to": "+12025550101", "variables": object{"nam": "Ana"}})), 400, malformed, "rows[1]: variables.nam"},
		"a bad name of metadata": {w.wish(object{"metadata": object{"a b": "c"}}), 400, malformed, "metadata"},
		"metadata of a row":      {w.wish(rows(good, object{"to": "+12025550101", "metadata": object{"a": strings.Repeat("a", 501)}})), 400, malformed, "rows[1]: metadata.a"},
		"headers of a row":       {w.wish(rows(good, object{"to": "+12025550101", "headers": object{"To": "x"}})), 400, malformed, "rows[1]: headers"},
		"an unknown outcome":     {w.wish(retry("completed", 2, 60)), 400, malformed, "retries[0].on"},
		"one call in all":        {w.wish(retry("busy", 1, 60)), 400, malformed, "retries[0].attempts"},
		"again at once":          {w.wish(retry("busy", 2, 59)), 400, malformed, "retries[0].after_seconds"},
		"again after weeks":      {w.wish(retry("busy", 2, 604_801)), 400, malformed, "retries[0].after_seconds"},
		"two rules for one":      {w.wish(object{"retries": []object{{"on": "busy", "attempts": 2, "after_seconds": 60}, {"on": "busy", "attempts": 3, "after_seconds": 60}}}), 400, malformed, "retries[1].on"},
		"a zone that is missing": {w.wish(window("09:00", "20:00", "")), 400, malformed, "call_window.timezone"},
	} {
		status, _, p := w.ask(w.key, "POST", "/callcenter/bulk-dial", tt.body)
		if status != tt.status || p.Code != tt.code || !strings.Contains(p.Detail, tt.detail) {
			t.Errorf("%s: %d %+v, want %d %s %s", name, status, p, tt.status, tt.code, tt.detail)
		}
	}
	w.ok(ledger.New(w.node.db).OpenDispute(t.Context(), w.who.Account, "pi_1"))
	if status, _, p := w.create(w.wish(nil)); status != 402 || p.Code != "billing.account_disputed" {
		t.Errorf("in a dispute: %d %+v", status, p)
	}
	if list, err := campaign.New(w.node.db).Campaigns(t.Context(), w.who.Account, store.Page{}); err != nil || len(list) != 0 {
		t.Errorf("queued was %+v, %v", list, err)
	}
}

// TestBatchIsTheAccounts: it is queued, listed, paused and cancelled by its account,
// and for all others it does not exist.
func TestBatchIsTheAccounts(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	later := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	status, b, p := w.create(w.wish(object{"on_machine": "message", "message": "Call back.", "call_window": object{"start": "09:00", "end": "20:00", "timezone": "destination"},
		"rows": []object{{"to": "+1 202-555-0101"}, {"to": "+34 612 345 678", "scheduled_at": later.Format(time.RFC3339)}}}), "Idempotency-Key", "one")
	if status != 200 || b.State != "running" || b.Total != 2 || b.Counts != (wire.Counts{Pending: 2}) || b.Name != "Spring" || b.OnMachine != "message" ||
		b.CallWindow == nil || *b.CallWindow != (wire.CallWindow{Start: "09:00", End: "20:00", Timezone: "destination"}) {
		t.Fatalf("%d %+v %+v", status, p, b)
	}
	if r := b.Rows[1]; r.To != "+34612345678" || r.From != deskNumber || r.AgentID != w.agent || r.Status != "pending" || r.ScheduledAt == nil ||
		!r.ScheduledAt.Equal(later) || r.CallID != nil || r.Summary != nil || r.Error != nil || b.Rows[0].ScheduledAt != nil || b.Rows[0].To != "+12025550101" {
		t.Errorf("the rows are %+v", b.Rows)
	}
	same := w.wish(object{"on_machine": "hangup"})
	if status, _, p := w.create(same, "Idempotency-Key", "one"); status != 409 || p.Code != "request.idempotency_conflict" {
		t.Errorf("the key for another batch: %d %+v", status, p)
	}
	_, first, _ := w.create(same, "Idempotency-Key", "two")
	status, again, _ := w.create(same, "Idempotency-Key", "two")
	if status != 200 || again.ID != first.ID || first.ID == b.ID {
		t.Errorf("sent again it is %d %s, first %s", status, again.ID, first.ID)
	}
	c, err := campaign.New(w.node.db).Campaign(t.Context(), w.who.Account, b.ID)
	w.ok(err)
	if !slices.Equal(c.Rows[0].Zones, []string{"America/New_York"}) || !slices.Equal(c.Rows[1].Zones, []string{"Europe/Madrid"}) || c.IP != "127.0.0.1" || c.Key == "" {
		t.Errorf("stored is %+v", c)
	}
	var list struct{ Batches []wire.Batch }
	listed := func(key string) int {
		resp, err := http.NewRequestWithContext(t.Context(), "GET", w.server.URL+"/callcenter/bulk-dial", nil)
		w.ok(err)
		resp.Header.Set("Authorization", "Bearer "+key)
		got, err := w.server.Client().Do(resp)
		w.ok(err)
		defer got.Body.Close()
		list.Batches = nil
		w.ok(json.NewDecoder(got.Body).Decode(&list))
		return len(list.Batches)
	}
	if n := listed(w.key); n != 2 || list.Batches[0].ID != first.ID || list.Batches[1].ID != b.ID {
		t.Errorf("the list is %+v", list.Batches)
	}
	if n := listed(w.other); n != 0 {
		t.Errorf("another sees %d batches", n)
	}
	for _, path := range []string{"", "/pause", "/resume", "/cancel"} {
		method := map[bool]string{true: "GET", false: "POST"}[path == ""]
		for _, id := range []string{b.ID, "bulk_06er5bt0v9k1o7m2q3s4t5u6v0"} {
			if status, _, p := w.ask(w.other, method, "/callcenter/bulk-dial/"+id+path, nil); status != 404 || p.Code != "request.not_found" {
				t.Errorf("another's %s%s: %d %+v", id, path, status, p)
			}
		}
	}
	for _, tt := range []struct{ verb, state string }{{"pause", "paused"}, {"pause", "paused"}, {"resume", "running"}, {"cancel", "cancelled"}, {"resume", "cancelled"}, {"cancel", "cancelled"}} {
		if status, got, _ := w.ask(w.key, "POST", "/callcenter/bulk-dial/"+b.ID+"/"+tt.verb, nil); status != 200 || got.State != tt.state || len(got.Rows) != 2 {
			t.Errorf("%s: %d %s", tt.verb, status, got.State)
		}
	}
	_, b, _ = w.ask(w.key, "GET", "/callcenter/bulk-dial/"+b.ID, nil)
	if r := b.Rows[0]; b.Counts.Failed != 2 || r.Status != "failed" || r.Error == nil || r.Error.Code != "callcenter.batch_cancelled" {
		t.Errorf("cancelled it is %+v", b)
	}
}

// TestBatchIsDialled: each row as a single call would be, with its outcome, its cost and
// its summary, and what may not be called fails without a call.
func TestBatchIsDialled(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	w.running()
	_, _, err := w.node.db.AddDoNotCall(t.Context(), w.who.Account, store.DoNotCall{Number: "+12025550155", Source: store.ListedByAPI})
	w.ok(err)
	status, b, p := w.create(w.wish(object{"on_machine": "hangup", "max_duration_seconds": 10, "rows": []object{
		{"to": "+12025550101"}, {"to": "+12025550109"}, {"to": "+12025550103"}, {"to": "+12025550106"}, {"to": "+12025550155"},
		{"to": "+12025550104"}, {"to": "+12025550102", "scheduled_at": time.Now().Add(time.Hour).Format(time.RFC3339)}}}))
	if status != 200 {
		t.Fatalf("%d %+v", status, p)
	}
	eventually(t, "the rows end, and the one who was talked to is summarized", func() bool {
		time.Sleep(50 * time.Millisecond) // within the rate
		status, now, _ := w.ask(w.key, "GET", "/callcenter/bulk-dial/"+b.ID, nil)
		if status == 200 {
			b = now
		}
		return b.Counts == wire.Counts{Pending: 1, Sent: 5, Failed: 1} && b.Rows[3].Summary != nil && b.Rows[3].EndedAt != nil && b.Rows[5].EndedAt != nil
	})
	for i, want := range []string{"busy", "failed", "rejected", "user_hangup", "", "voicemail", ""} {
		r := b.Rows[i]
		got := ""
		if r.EndReason != nil {
			got = *r.EndReason
		}
		if answered := i == 3 || i == 5; got != want || (r.Cost > 0) != answered || (r.AnsweredAt != nil) != answered || (r.CallID != nil) != (want != "") ||
			(r.StartedAt != nil) != (want != "") {
			t.Errorf("row %d is %+v, want %s", i, r, want)
		}
	}
	if e := b.Rows[4].Error; e == nil || e.Code != "callcenter.do_not_call" || b.Rows[4].Status != "failed" {
		t.Errorf("a number that is not to be called: %+v", b.Rows[4])
	}
	if d := b.Rows[1].EndDetail; d == nil || *d != "invalid_number" {
		t.Errorf("a number that does not exist: %v", d)
	}
	if by := b.Rows[5].AnsweredBy; by == nil || *by != "machine" {
		t.Errorf("a machine is %v", by)
	}
	if s := *b.Rows[3].Summary; !strings.HasPrefix(s, "Yes I can help.") {
		t.Errorf("the summary is %q", s)
	}
	receipt, err := statement.ReadReceipt(t.Context(), w.node.db, w.who.Account, *b.Rows[3].CallID)
	w.ok(err)
	if n := len(slices.DeleteFunc(receipt.Lines, func(l statement.ReceiptLine) bool { return l.Component != billing.SummaryIn.String() || l.Amount == 0 })); n != 1 {
		t.Errorf("the summary is %d times on the receipt", n)
	}
	evidence, err := ledger.New(w.node.db).Consents(t.Context(), w.who.Account, 0, 100)
	w.ok(err)
	if len(evidence) != 5 || slices.ContainsFunc(evidence, func(e ledger.ConsentRecord) bool { return e.IP != "127.0.0.1" || e.Key == "" }) {
		t.Errorf("the evidence is %+v", evidence)
	}
	w.verified()
}

// TestBatchCallsAgain: who is busy gets another call, a row of its own, until there were enough.
func TestBatchCallsAgain(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	w.running()
	status, b, p := w.create(w.wish(object{"rows": []object{{"to": "+12025550101"}, {"to": "+12025550103"}},
		"retries": []object{{"on": "busy", "attempts": 2, "after_seconds": 3600}, {"on": "failed", "attempts": 5, "after_seconds": 60}}}))
	if status != 200 || len(b.Retries) != 2 || b.Retries[0] != (wire.Retry{On: "busy", Attempts: 2, After: 3600}) || b.Rows[0].Attempt != 1 || b.Rows[0].RetryOf != nil {
		t.Fatalf("%d %+v %+v", status, p, b)
	}
	counted := func(c wire.Counts) {
		t.Helper()
		eventually(t, "the rows end", func() bool {
			time.Sleep(50 * time.Millisecond) // within the rate
			if status, now, _ := w.ask(w.key, "GET", "/callcenter/bulk-dial/"+b.ID, nil); status == 200 {
				b = now
			}
			return b.Counts == c
		})
	}
	counted(wire.Counts{Pending: 1, Sent: 2})
	if first, again := b.Rows[0], b.Rows[2]; b.State != "running" || again.To != first.To || again.Attempt != 2 || again.RetryOf == nil || *again.RetryOf != first.ID || again.ScheduledAt == nil ||
		again.ScheduledAt.Sub(*first.EndedAt).Round(time.Minute) != time.Hour {
		t.Errorf("the next call is %+v", again)
	}
	_, err := w.node.db.Pool().Exec(t.Context(), "update campaign_rows set due_at = due_at - interval '1 hour' where status = 'pending'") // it is an hour later
	w.ok(err)
	counted(wire.Counts{Sent: 3})
	if r := b.Rows[2]; b.State != "done" || r.EndReason == nil || *r.EndReason != "busy" {
		t.Errorf("the last call is %+v of a batch that is %s", r, b.State)
	}
	w.verified()
}

// TestBatchIsPersonal: everybody on a list hears what their own row says, and each call keeps the metadata
// of the batch and of its row, and has the headers of its row.
func TestBatchIsPersonal(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	w.running()
	a, err := w.node.db.Agent(t.Context(), w.who.Account, w.agent)
	w.ok(err)
	a.FirstMessage, a.Settings = "Good day {{name}}.", json.RawMessage(`{"variables":{"name":"stranger"}}`)
	_, err = w.node.db.UpdateAgent(t.Context(), w.who.Account, *a)
	w.ok(err)
	status, b, p := w.create(w.wish(object{"max_duration_seconds": 10, "metadata": object{"season": "spring", "list": "a"}, "rows": []object{
		{"to": "+12025550106", "variables": object{"name": "Ana"}, "metadata": object{"order": "42", "list": "b"}, "headers": object{"x-order": "42"}}, {"to": "+12025550106"}}}))
	if status != 200 || b.Metadata["season"] != "spring" || b.Rows[0].Vars["name"] != "Ana" || b.Rows[0].Metadata["list"] != "b" || b.Rows[0].Headers["X-Order"] != "42" || b.Rows[1].Vars != nil {
		t.Fatalf("%d %+v: %+v", status, p, b)
	}
	eventually(t, "both have talked", func() bool {
		time.Sleep(50 * time.Millisecond) // within the rate
		if status, now, _ := w.ask(w.key, "GET", "/callcenter/bulk-dial/"+b.ID, nil); status == 200 {
			b = now
		}
		return b.Rows[0].EndedAt != nil && b.Rows[1].EndedAt != nil
	})
	for i, want := range []struct {
		heard string
		kept  map[string]string
	}{{"Good day Ana.", map[string]string{"season": "spring", "list": "b", "order": "42"}}, {"Good day stranger.", map[string]string{"season": "spring", "list": "a"}}} {
		c, err := history.New(w.node.db).Call(t.Context(), w.who.Account, *b.Rows[i].CallID)
		w.ok(err)
		said := slices.ContainsFunc(c.Transcript, func(l history.TranscriptLine) bool { return l.Role == "agent" && strings.Contains(l.Text, want.heard) })
		if !said || !maps.Equal(c.Metadata, want.kept) {
			t.Errorf("row %d: %+v, kept is %v; want %q and %v", i, c.Transcript, c.Metadata, want.heard, want.kept)
		}
		if has := c.Headers["X-Order"] == "42"; has != (i == 0) {
			t.Errorf("row %d: the call's headers are %v", i, c.Headers)
		}
	}
}

// running has the desk's node dial what is queued, and summarize.
func (d *desk) running() {
	d.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, run := range []func(context.Context) error{d.node.batches.Run, d.node.jobs.Run} {
		parts.Go(func() {
			if err := run(ctx); err != nil {
				d.Error(err)
			}
		})
	}
	d.Cleanup(func() { stop(); parts.Wait() })
}

func (d *desk) verified() {
	d.Helper()
	r, err := verify.Whole(d.Context(), d.node.db)
	d.ok(err)
	for _, v := range r.Violations {
		d.Error(v)
	}
}
