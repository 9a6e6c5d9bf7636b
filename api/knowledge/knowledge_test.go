package knowledge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime/multipart"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/api/apitest"
	"parley/api/knowledge"
	"parley/api/ticket"
	"parley/api/wire"
	"parley/store"
	"parley/store/jobs"
	"parley/store/storetest"

	kept "parley/store/knowledge"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// library is a world with the routes, a reader of what they queue, and pages to fetch.
type library struct {
	*apitest.World
	reader knowledge.Reader
	kept   *kept.Store
	queued [][2]string
	// embedding is how often documents were to get vectors.
	embedding int
	pages     map[string]string // by address
}

// Enqueue implements store.Enqueuer.
func (l *library) Enqueue(_ context.Context, _ pgx.Tx, job store.Job, account, id string) error {
	switch job {
	case store.ReadDocument:
		l.queued = append(l.queued, [2]string{account, id})
	case store.EmbedDocuments:
		l.embedding++
	}
	return nil
}

func open(t *testing.T) *library {
	t.Helper()
	l := &library{World: apitest.Open(t, apitest.Options{}), pages: map[string]string{}}
	l.DB.UseQueue(l)
	l.kept = kept.New(l.DB)
	l.reader = knowledge.Reader{Store: l.kept, Log: slog.New(slog.DiscardHandler), Fetch: func(_ context.Context, address string, most int64) (knowledge.Fetched, error) {
		text, there := l.pages[address]
		if !there {
			return knowledge.Fetched{}, errors.New("it answers with status 404")
		}
		return knowledge.Fetched{Body: []byte(text), MediaType: "text/html; charset=utf-8"}, nil
	}}
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	l.OK(err)
	a := api.New(ticket.Keys{Signer: signer, Store: l.DB, People: l.People})
	a.Remember(l.DB)
	knowledge.Mount(a, l.kept, func(address string) error {
		if strings.Contains(address, "10.0.0.1") {
			return errors.New("10.0.0.1 is not on the public Internet")
		}
		return nil
	})
	l.Serve(a, api.Options{Log: slog.New(slog.DiscardHandler)})
	return l
}

// read reads all that was queued.
func (l *library) read() {
	l.Helper()
	for _, q := range l.queued {
		l.OK(l.reader.Read(l.Context(), q[0], q[1]))
	}
	l.queued = nil
}

// ask sends a request, wants a status, and reads the answer into v.
func (l *library) ask(who apitest.Owner, method, path, body string, status int, v any) {
	l.Helper()
	r := l.As(who, method, path, body)
	if r.Status != status {
		l.Fatalf("%s %s: %d %s, want %d", method, path, r.Status, r.Body, status)
	}
	if v != nil {
		l.OK(json.Unmarshal(r.Body, v))
	}
}

// form is a form with a file, and its content type.
func form(t *testing.T, field, name, text string, more ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i+1 < len(more); i += 2 {
		if err := m.WriteField(more[i], more[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	w, err := m.CreateFormFile(field, name)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = m.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), m.FormDataContentType()
}

// TestFormsAreSentAgain: a form with an Idempotency-Key adds its file once, though each sending has a boundary of its own.
func TestFormsAreSentAgain(t *testing.T) {
	l := open(t)
	var base wire.KnowledgeBase
	l.ask(l.A, "POST", "/v1/knowledge", `{"name":"Handbook"}`, 201, &base)
	send := func(text string) apitest.Reply {
		body, kind := form(t, "file", "hours.md", text)
		return l.As(l.A, "POST", "/v1/knowledge/"+base.ID+"/documents", body, "Content-Type", kind, "Idempotency-Key", "hours")
	}
	first, again := send("We open at nine."), send("We open at nine.")
	if first.Status != 202 || again.Status != 202 || string(again.Body) != string(first.Body) {
		t.Errorf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	l.Want("another file", send("We open at ten."), 409, "request.idempotency_conflict")
	if len(l.queued) != 1 {
		t.Errorf("%d documents are to be read", len(l.queued))
	}
	l.ask(l.A, "GET", "/v1/knowledge/"+base.ID, "", 200, &base)
	if base.Documents != 1 {
		t.Errorf("%d documents", base.Documents)
	}
}

// TestKnowledge: a collection gets a file and an address, which are read and found, fetched again and deleted.
func TestKnowledge(t *testing.T) {
	l := open(t)
	var base wire.KnowledgeBase
	l.ask(l.A, "POST", "/v1/knowledge", `{"name":"Handbook"}`, 201, &base)
	if !strings.HasPrefix(base.ID, "kb_") || base.Language != "en" || base.Documents != 0 {
		t.Errorf("%+v", base)
	}
	path := "/v1/knowledge/" + base.ID
	body, kind := form(t, "file", "hours.md", "# Opening hours\n\nWe open at nine and close at noon on Saturdays.", "title", " Hours ")
	r := l.As(l.A, "POST", path+"/documents", body, "Content-Type", kind)
	var file, page wire.KnowledgeDocument
	l.Want("a file", r, 202, "")
	l.OK(json.Unmarshal(r.Body, &file))
	if file.State != "queued" || file.Title != "Hours" || file.Source != "hours.md" || file.Kind != "file" || len(file.Hash) != 64 {
		t.Errorf("%+v", file)
	}
	const address = "https://example.com/repairs"
	l.pages[address] = "<title>Repairs</title><nav>Home</nav><p>Repairs of bicycles take two days."
	l.ask(l.A, "POST", path+"/documents", `{"url":"`+address+`"}`, 202, &page)
	l.read()
	l.ask(l.A, "GET", path+"/documents/"+page.ID, "", 200, &page)
	if page.State != "ready" || page.Title != "Repairs" || page.Kind != "url" || page.MediaType != "text/html" || page.Passages != 1 || page.ReadAt == nil {
		t.Errorf("%+v", page)
	}
	find := func(query string) string {
		t.Helper()
		var found wire.KnowledgeAnswer
		l.ask(l.A, "POST", path+"/search", fmt.Sprintf(`{"query":%q}`, query), 200, &found)
		var out []string
		for _, p := range found.Passages {
			out = append(out, p.Title+"/"+p.Heading)
		}
		return strings.Join(out, " ")
	}
	if got := find("opened on saturday"); got != "Hours/Opening hours" {
		t.Errorf("found %q", got)
	}
	if got := find("repairing bicycles"); got != "Repairs/" {
		t.Errorf("found %q", got)
	}
	l.ask(l.A, "GET", path, "", 200, &base)
	if base.Documents != 2 || base.Ready != 2 || base.Passages != 2 {
		t.Errorf("%+v", base)
	}
	// Fetched again, it is gone, and stays found as it was.
	delete(l.pages, address)
	l.ask(l.A, "POST", path+"/documents/"+page.ID+"/refresh", "", 202, &page)
	l.read()
	l.ask(l.A, "GET", path+"/documents/"+page.ID, "", 200, &page)
	if page.State != "failed" || page.Reason != "it answers with status 404" || find("repairing bicycles") != "Repairs/" {
		t.Errorf("%+v", page)
	}
	l.ask(l.A, "POST", path+"/documents/"+file.ID+"/refresh", "", 400, nil)
	l.ask(l.A, "DELETE", path+"/documents/"+page.ID, "", 204, nil)
	if got := find("repairing bicycles"); got != "" {
		t.Errorf("what was deleted is found: %q", got)
	}
	l.ask(l.A, "PATCH", path, `{"name":"Prices"}`, 200, &base)
	if base.Name != "Prices" {
		t.Errorf("%+v", base)
	}
	l.ask(l.A, "DELETE", path, "", 204, nil)
	l.ask(l.A, "GET", path, "", 404, nil)
}

// TestUnreadable: a document that cannot be read says why.
func TestUnreadable(t *testing.T) {
	l := open(t)
	var base wire.KnowledgeBase
	l.ask(l.A, "POST", "/v1/knowledge", `{"name":"Handbook","language":"pt-BR"}`, 201, &base)
	path := "/v1/knowledge/" + base.ID + "/documents"
	for name, want := range map[string]string{"a.png\x00": "it is no PDF, DOCX, HTML, Markdown or text", "empty.txt": "there is no text in it; pictures of text are not read", "a.pdf": "it is damaged"} {
		text := map[string]string{"a.png\x00": "\x89PNG\r\n\x1a\n\x00", "empty.txt": " \n", "a.pdf": "%PDF-1.4 and no more"}[name]
		body, kind := form(t, "file", strings.TrimSuffix(name, "\x00"), text)
		var d wire.KnowledgeDocument
		r := l.As(l.A, "POST", path, body, "Content-Type", kind)
		l.Want(name, r, 202, "")
		l.OK(json.Unmarshal(r.Body, &d))
		l.read()
		l.ask(l.A, "GET", path+"/"+d.ID, "", 200, &d)
		if d.State != "failed" || d.Reason != want {
			t.Errorf("%q: %s, %s", name, d.State, d.Reason)
		}
	}
}

// TestRefused: what does not fit, and what is another account's.
func TestRefused(t *testing.T) {
	l := open(t)
	var base wire.KnowledgeBase
	l.ask(l.A, "POST", "/v1/knowledge", `{"name":"Handbook"}`, 201, &base)
	path := "/v1/knowledge/" + base.ID
	for _, tt := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/v1/knowledge", `{"name":""}`, 400},
		{"POST", "/v1/knowledge", `{"name":"a","language":"a language"}`, 400},
		{"PATCH", path, `{}`, 400},
		{"POST", path + "/documents", `{}`, 400},
		{"POST", path + "/documents", `{"url":7}`, 400},
		{"POST", path + "/documents", `{"url":"https://10.0.0.1/"}`, 400},
		{"POST", path + "/documents", `{"url":"https://example.com/` + strings.Repeat("x", 2000) + `"}`, 400},
		{"POST", path + "/documents", strings.Repeat(" ", 70<<10), 413},
		{"POST", path + "/search", `{"query":""}`, 400},
		{"POST", path + "/search", `{"query":"a","limit":6}`, 400},
		{"GET", path + "/documents/doc_none", "", 404},
		{"POST", "/v1/knowledge/kb_none/documents", `{"url":"https://example.com/"}`, 404},
		{"POST", "/v1/knowledge/kb_none/search", `{"query":"a"}`, 404},
	} {
		if r := l.As(l.A, tt.method, tt.path, tt.body); r.Status != tt.status {
			t.Errorf("%s %s %.60s: %d %s, want %d", tt.method, tt.path, tt.body, r.Status, r.Body, tt.status)
		}
	}
	for _, tt := range [][3]string{{"GET", path, ""}, {"PATCH", path, `{"name":"mine"}`}, {"DELETE", path, ""}, {"GET", path + "/documents", ""},
		{"POST", path + "/documents", `{"url":"https://example.com/"}`}, {"POST", path + "/search", `{"query":"a"}`}} {
		if r := l.As(l.B, tt[0], tt[1], tt[2]); r.Status != 404 {
			t.Errorf("another account: %s %s: %d %s", tt[0], tt[1], r.Status, r.Body)
		}
	}
	body, kind := form(t, "audio", "a.txt", "a")
	l.Want("another field", l.As(l.A, "POST", path+"/documents", body, "Content-Type", kind), 400, "validation.invalid_request_format")
	body, kind = form(t, "file", "a.txt", strings.Repeat("a", kept.MaxBytes+1))
	l.Want("a large file", l.As(l.A, "POST", path+"/documents", body, "Content-Type", kind), 413, "request.too_large")
	l.Want("another type", l.As(l.A, "POST", path+"/documents", "a", "Content-Type", "text/plain"), 415, "request.unsupported_media_type")
	l.read()
}

// TestGivenUp: a document that the server failed to read again and again says so, and can be read again; also one that has ended
// each process that read it.
func TestGivenUp(t *testing.T) {
	t.Run("fails", func(t *testing.T) { givenUp(t, "max_attempts = 2") })
	t.Run("ends its process", func(t *testing.T) { givenUp(t, "attempt = max_attempts - 1") })
}

// givenUp has a document given up whose job is changed as SQL says.
func givenUp(t *testing.T, job string) {
	l := open(t)
	const address = "https://example.com/repairs"
	l.pages[address] = "<p>Repairs of bicycles take two days."
	fetch := l.reader.Fetch
	l.reader.Fetch = func(context.Context, string, int64) (knowledge.Fetched, error) { panic("a mistake of ours") }
	q := jobs.New(slog.New(slog.DiscardHandler))
	l.reader.Handle(q)
	l.OK(q.Open(t.Context(), l.DB.Pool().Config().ConnString()))
	t.Cleanup(q.Close)
	var base wire.KnowledgeBase
	l.ask(l.A, "POST", "/v1/knowledge", `{"name":"Handbook"}`, 201, &base)
	var d wire.KnowledgeDocument
	l.ask(l.A, "POST", "/v1/knowledge/"+base.ID+"/documents", `{"url":"`+address+`"}`, 202, &d)
	_, err := l.kept.Take(t.Context(), l.queued[0][0], d.ID) // as who dies over it does
	l.OK(err)
	l.OK(l.DB.Tx(t.Context(), "queue", func(tx pgx.Tx) error {
		if err := knowledge.Enqueue(t.Context(), tx, q, l.queued[0][0], d.ID); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "update river.river_job set "+job)
		return err
	}))
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = q.Run(ctx) })
	defer func() { stop(); running.Wait() }()
	at := "/v1/knowledge/" + base.ID + "/documents/" + d.ID
	for deadline := time.Now().Add(time.Minute); d.State != "failed"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is not given up: %+v", d)
		}
		l.ask(l.A, "GET", at, "", 200, &d)
	}
	if !strings.Contains(d.Reason, "tried to read it many times") {
		t.Errorf("%+v", d)
	}
	l.reader.Fetch, l.queued = fetch, nil
	l.ask(l.A, "POST", at+"/refresh", "", 202, nil)
	l.read()
	d = wire.KnowledgeDocument{}
	l.ask(l.A, "GET", at, "", 200, &d)
	if d.State != "ready" || d.Reason != "" {
		t.Errorf("read again: %+v", d)
	}
}
