package dashboard_test

import (
	"bytes"
	"context"
	"errors"
	"html"
	"log/slog"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/knowledge"
	"parley/store"
	kept "parley/store/knowledge"
)

// mountKnowledge adds the routes of collections.
func mountKnowledge(s *dashboardtest.Site, a *api.API) {
	knowledge.Mount(a, kept.New(s.DB), func(address string) error {
		if strings.Contains(address, "10.0.0.1") {
			return errors.New("10.0.0.1 is not on the public Internet")
		}
		return nil
	})
}

// readDocuments reads what waits in a collection, as a node does in the background. Addresses answer with 404.
func readDocuments(s *dashboardtest.Site, base string) {
	s.T.Helper()
	library := kept.New(s.DB)
	reader := knowledge.Reader{Store: library, Log: slog.New(slog.DiscardHandler), Fetch: func(context.Context, string, int64) (knowledge.Fetched, error) {
		return knowledge.Fetched{}, errors.New("it answers with status 404")
	}}
	list, err := library.Documents(s.T.Context(), s.Account, base, store.Page{})
	s.OK(err)
	for _, d := range list {
		s.OK(reader.Read(s.T.Context(), s.Account, d.ID))
	}
}

// collection makes one with a document that is found, one that cannot be read, and one that waits.
func (w *world) collection() (base, document string) {
	w.T.Helper()
	ctx, library := w.T.Context(), kept.New(w.DB)
	b, err := library.Create(ctx, w.Account, "Handbook "+hostile, "en")
	w.OK(err)
	d, err := library.Add(ctx, w.Account, b.ID, kept.NewDocument{Title: "Hours " + hostile, Source: strings.Repeat("hours", 30) + ".md", Body: []byte("# Hours " + hostile + "\n\nWe close at noon " + hostile)})
	w.OK(err)
	_, err = library.Add(ctx, w.Account, b.ID, kept.NewDocument{Source: "broken.pdf", Body: []byte("%PDF-1.4 and no more")})
	w.OK(err)
	readDocuments(w.Site, b.ID)
	_, err = library.Add(ctx, w.Account, b.ID, kept.NewDocument{Source: "https://example.com/" + strings.Repeat("long", 100), Web: true})
	w.OK(err)
	return b.ID, d.ID
}

func makesCollection(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#name")
	b.Press("Price list")
	b.TabTo("#language")
	b.Press("S") // Spanish
	b.TabTo("main form .primary")
	b.Press(kb.Enter)
	b.Wait(`location.pathname.startsWith("/app/knowledge/kb_") && document.readyState === "complete"`)
	b.Says("The collection Price list was created.")
	b.Says("Written in es.")
}

func asksDocuments(w *world, b *dashboardtest.Tab) {
	file := filepath.Join(w.T.TempDir(), "repairs.md")
	w.OK(os.WriteFile(file, []byte("# Repairs\n\nA new tyre is put on while you wait."), 0o600))
	b.Skip()
	b.TabTo("#file") // what Enter opens then is the browser's own
	b.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	b.TabTo(`form[action$="/files"] button`)
	b.Press(kb.Enter)
	b.Says("repairs.md was added and will be read.")
	b.Wait(`document.querySelector("tbody tr").textContent.includes("Waiting")`)
	b.Accessible()
	readDocuments(w.Site, w.ids["base"])
	b.Wait(`document.querySelector("tbody tr").textContent.includes("Ready") && document.body.innerText.includes("it answers with status 404")`) // the page looks again by itself
	b.Wait(`!document.querySelector("[hx-get*=documents]")`)
	b.Shot("read")
	b.TabTo("#query")
	b.Press("waiting for tyres", kb.Enter)
	b.Says("A new tyre is put on while you wait.")
	b.Accessible()
	b.Shot("found")
	b.TabTo("#url")
	b.Press("https://10.0.0.1/x", kb.Enter)
	isAt(b, "url")
	b.Says("not on the public Internet")
	b.Press(kb.Delete, "https://example.com/prices", kb.Enter)
	b.Says("The address was added and will be read.")
	b.TabTo(`button[aria-label="Delete repairs.md"]`)
	b.Press(kb.Enter)
	b.TabTo("dialog[open] .danger")
	b.Press(kb.Enter)
	b.Says("The document was deleted.")
	list, err := kept.New(w.DB).Documents(w.T.Context(), w.Account, w.ids["base"], store.Page{})
	w.OK(err)
	if len(list) != 4 || list[0].Source != "https://example.com/prices" {
		w.T.Errorf("%+v", list)
	}
}

// sendFiles sends a form with files, names and texts in turn, as a browser without scripts does.
func sendFiles(s *dashboardtest.Site, base string, files ...string) dashboardtest.Answer {
	s.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(files); i += 2 {
		part, err := form.CreateFormFile("file", files[i])
		s.OK(err)
		_, err = part.Write([]byte(files[i+1]))
		s.OK(err)
	}
	s.OK(form.Close())
	return s.Ask(s.Client, http.MethodPost, "/app/knowledge/"+base+"/files", body.String(), "Content-Type", form.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
}

// TestFilesAreAdded: several at once; what is refused is named, and the others are kept.
func TestFilesAreAdded(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: mountKnowledge}).SignIn()
	library := kept.New(s.DB)
	b, err := library.Create(t.Context(), s.Account, "Handbook", "en")
	s.OK(err)
	at := "/app/knowledge/" + b.ID
	sources := func() string {
		t.Helper()
		list, err := library.Documents(t.Context(), s.Account, b.ID, store.Page{})
		s.OK(err)
		var out []string
		for _, d := range list {
			out = append(out, d.Source)
		}
		return strings.Join(out, " ")
	}
	large := strings.Repeat("a", kept.MaxBytes+1)
	a := sendFiles(s, b.ID, "one.txt", "One.", "none.txt", "", "large.txt", large, "", "", "two.md", "Two.")
	if page := html.UnescapeString(a.Body); a.Status != http.StatusUnprocessableEntity || !strings.Contains(page, `id="file-error">none.txt: it is empty. large.txt: it is larger than 20 MB.<`) {
		t.Errorf("%d %.3000s", a.Status, a.Body)
	}
	if got := sources(); got != "two.md one.txt" {
		t.Errorf("there are %s", got)
	}
	if a = sendFiles(s, b.ID, "three.txt", "Three.", "four.txt", "Four."); a.Status != http.StatusSeeOther || a.Header.Get("Location") != at {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if page := s.Get(at).Body; !strings.Contains(page, "2 files were added and will be read.") || !strings.Contains(page, "three.txt") {
		t.Errorf("%s", page)
	}
	if a = sendFiles(s, b.ID); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "Choose a file.") {
		t.Errorf("no file: %d", a.Status)
	}
	if a = s.Post(at+"/files", "file", "x"); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "Choose a file.") {
		t.Errorf("another form: %d", a.Status)
	}
	var many []string
	for range 11 {
		many = append(many, "many.txt", "Many.")
	}
	if a = sendFiles(s, b.ID, many...); a.Status != http.StatusUnprocessableEntity || strings.Count(sources(), "many.txt") != 10 {
		t.Errorf("11 files: %d, there are %s", a.Status, sources())
	}
	if a = sendFiles(s, "kb_none", "one.txt", "One."); a.Status != http.StatusNotFound {
		t.Errorf("a collection that there is not: %d", a.Status)
	}
}

// TestCollectionsAreTheAccounts: what is another account's is not there.
func TestCollectionsAreTheAccounts(t *testing.T) {
	w := newWorld(t)
	library := kept.New(w.DB)
	foreign, err := library.Create(t.Context(), w.ids["account"], "Foreign", "en")
	w.OK(err)
	if page := w.Get("/app/knowledge").Body; !strings.Contains(page, "Handbook") || strings.Contains(page, "Foreign") {
		t.Errorf("%s", page)
	}
	at := "/app/knowledge/" + foreign.ID
	for _, path := range []string{at, at + "/documents"} {
		if a := w.Get(path); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	for _, path := range []string{at, at + "/delete", at + "/addresses", at + "/documents/" + w.ids["document"] + "/delete"} {
		if a := w.Post(path, "name", "x", "url", "https://example.com/"); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	if a := sendFiles(w.Site, foreign.ID, "a.txt", "A."); a.Status != http.StatusNotFound {
		t.Errorf("a file: %d", a.Status)
	}
	own := "/app/knowledge/" + w.ids["base"]
	if a := w.Post(own, "name", ""); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "Enter a name.") {
		t.Errorf("no name: %d", a.Status)
	}
	w.Post(own, "name", "Staff")
	if page := w.Get(own + "?query=" + strings.Repeat("x", 1001)); page.Status != http.StatusOK || !strings.Contains(page.Body, "<h1>Staff</h1>") || !strings.Contains(page.Body, `class="error" id="query-error"`) {
		t.Errorf("a long question: %d %s", page.Status, page.Body)
	}
	if hits := w.Get("/app/find?q=staff").Body; !strings.Contains(hits, `href="`+own+`"`) {
		t.Errorf("it is not found by its name: %s", hits)
	}
	w.Post(own + "/delete")
	if page := w.Get("/app/knowledge").Body; !strings.Contains(page, "No collections yet") {
		t.Errorf("%s", page)
	}
}

// TestCollectionsAreTicked: an agent gets those of its account, and keeps what is not touched.
func TestCollectionsAreTicked(t *testing.T) {
	s := agentSite(t).SignIn()
	if page := s.Get("/app/agents/new").Body; !strings.Contains(page, "There are no collections yet.") {
		t.Error("nothing says that there are no collections")
	}
	library := kept.New(s.DB)
	var ids []string
	for _, name := range []string{"Prices", "Handbook", "Gone"} {
		b, err := library.Create(t.Context(), s.Account, name, "en")
		s.OK(err)
		ids = append(ids, b.ID)
	}
	lola := lola
	lola.Settings = []byte(`{"knowledge_bases":["` + ids[2] + `","` + ids[0] + `"]}`)
	a := makeAgent(s, s.Account, lola)
	s.OK(library.Delete(t.Context(), s.Account, ids[2]))
	at := "/app/agents/" + a.ID
	settings := func() string {
		t.Helper()
		saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
		s.OK(err)
		return strings.ReplaceAll(string(saved.Settings), " ", "")
	}
	page := s.Get(at).Body
	for _, want := range []string{`value="` + ids[0] + `" checked><span>Prices<`, `value="` + ids[1] + `"><span>Handbook<`, `value="` + ids[2] + `" checked><span>` + ids[2] + ` (deleted)<`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	fields := entries(page)
	s.Post(at, fields...)
	if got := settings(); got != `{"knowledge_bases":["`+ids[2]+`","`+ids[0]+`"]}` {
		t.Errorf("saved as it was shown, it is %s", got)
	}
	var rest []string
	for i := 0; i < len(fields); i += 2 {
		if fields[i] != "knowledge_bases" {
			rest = append(rest, fields[i], fields[i+1])
		}
	}
	s.Post(at, with(append(rest, "knowledge_bases", "", "knowledge_bases", ids[1], "knowledge_bases", ids[0]), "knowledge_mode", "turn")...)
	if got := settings(); got != `{"knowledge_bases":["`+ids[1]+`","`+ids[0]+`"],"knowledge_mode":"turn"}` {
		t.Errorf("with two ticked it is %s", got)
	}
	s.Post(at, with(append(with(rest, "version", "2"), "knowledge_bases", ""), "knowledge_mode", "")...)
	if got := settings(); got != `{}` {
		t.Errorf("with none ticked it is %s", got)
	}
}
