// Package knowledge has the pages of collections of documents that agents answer from.
// The templates are the dashboard's, whose tests use the pages in a browser.
package knowledge

import (
	"fmt"
	"net/http"
	"net/url"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store/knowledge"
)

const (
	At             = page.Home + "/knowledge"
	Title          = "Knowledge"
	knowledgeRoute = "/v1/knowledge"
)

func Pages() []page.Page {
	const one = At + "/{id}"
	const document = one + "/documents/{document}"
	return []page.Page{
		{Route: "GET " + At, Serve: knowledgePage},
		{Route: "POST " + At, Form: createCollection},
		{Route: "GET " + one, Serve: collectionPage},
		{Route: "POST " + one, Form: renameCollection},
		{Route: "POST " + one + "/delete", Serve: deleteCollection},
		{Route: "GET " + one + "/documents", Serve: documentsPart},
		{Route: "POST " + one + "/files", Max: maxFilesForm, Serve: addFiles},
		{Route: "POST " + one + "/addresses", Form: addAddress},
		{Route: "POST " + document + "/refresh", Serve: refreshDocument},
		{Route: "POST " + document + "/delete", Serve: deleteDocument},
	}
}

// knowledgeView is the account's collections.
type knowledgeView struct {
	Form *page.Form
	Rows []wire.KnowledgeBase
}

// Languages are what the documents of a new collection may be written in.
func (v *knowledgeView) Languages() page.Field {
	return v.Form.Select("language", "Language", "en", page.LanguageOptions(), "required", "hint=What the documents are written in. It cannot be changed later.")
}

// Size says how large something of so many bytes is.
func (v *knowledgeView) Size(bytes int64) string { return sizeWords(bytes) }

// sizeWords says how large something is.
func sizeWords(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 999_500:
		return fmt.Sprintf("%.0f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// Collections are the account's, the newest first.
func Collections(q *page.Request) ([]wire.KnowledgeBase, error) {
	list, err := page.Read[api.List[wire.KnowledgeBase]](q, fmt.Sprintf("%s?limit=%d", knowledgeRoute, knowledge.MaxBases))
	return list.Data, err
}

func newKnowledgeView(q *page.Request, f *page.Form) (*knowledgeView, error) {
	rows, err := Collections(q)
	return &knowledgeView{f, rows}, err
}

func knowledgePage(q *page.Request) error {
	return q.Show("knowledge", Title)(newKnowledgeView(q, page.NewForm()))
}

func createCollection(q *page.Request, f *page.Form) error {
	in := wire.NewKnowledgeBase{Name: f.Need("name", "Enter a name, such as Handbook."), Language: f.Value("language")}
	again := func() error {
		return q.ShowInvalid("knowledge", "knowledge-form", Title)(newKnowledgeView(q, f))
	}
	var made wire.KnowledgeBase
	if done, err := q.Submit(f, http.MethodPost, knowledgeRoute, in, &made, again); !done {
		return err
	}
	return q.Done(page.Path(At+"/", made.ID), "The collection "+made.Name+" was created. Add documents to it.")
}

// collectionView is one collection, with a part of its documents and what a search has found.
type collectionView struct {
	Base                        wire.KnowledgeBase
	Rename, File, Address, Find *page.Form
	Documents                   []wire.KnowledgeDocument
	Next                        string                // address of older ones
	Found                       *wire.KnowledgeAnswer // nil: nothing was searched for

	cursor string // from which the documents are shown
}

// newCollectionView reads the collection of the path. Forms that came back with mistakes are put
// into it afterwards.
func newCollectionView(q *page.Request) (*collectionView, error) {
	query := q.R.URL.Query()
	base, err := page.Read[wire.KnowledgeBase](q, collectionRoute(q, ""))
	if err != nil {
		return nil, err
	}
	v := &collectionView{Base: base, Rename: page.NewForm("name", base.Name), File: page.NewForm(), Address: page.NewForm(),
		Find: page.NewForm("query", query.Get("query")), cursor: query.Get("cursor")}
	v.Documents, v.Next, err = page.Listed[wire.KnowledgeDocument](q, collectionRoute(q, "/documents"), v.at(""), "cursor", "50", nil)
	return v, err
}

// at is the address of the collection's page, or of what is below it.
func (v *collectionView) at(below string) string {
	return page.Path(At+"/", v.Base.ID) + below
}

// collectionRoute is the API's address of the collection of the path, or of what is below it.
func collectionRoute(q *page.Request, below string) string {
	return page.Path(knowledgeRoute+"/", q.ID("id")) + below
}

func collectionPage(q *page.Request) error {
	v, err := newCollectionView(q)
	if err != nil {
		return err
	}
	if v.Find.Value("query") != "" {
		found := &wire.KnowledgeAnswer{}
		if err := v.Find.Refused(q.Call(http.MethodPost, collectionRoute(q, "/search"), wire.KnowledgeQuestion{Query: v.Find.Value("query")}, found)); err != nil {
			return err
		}
		if v.Find.OK() {
			v.Found = found
		}
	}
	return q.Page("collection", v.Base.Name, v)
}

// Size says how large something of so many bytes is.
func (v *collectionView) Size(bytes int64) string { return sizeWords(bytes) }

// formats are media types of documents in a word.
var formats = map[string]string{
	"application/pdf": "PDF", "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX", "text/html": "HTML",
	"text/markdown": "Markdown", "text/plain": "Text",
}

// Kind says what a document is: a file or an address, and of which format.
func (v *collectionView) Kind(d wire.KnowledgeDocument) string {
	kind := map[string]string{"file": "File", "url": "Address"}[d.Kind]
	if format := formats[d.MediaType]; format != "" && d.Passages > 0 {
		kind += ", " + format
	}
	return kind
}

// Busy says whether one of the documents that are shown is about to change.
func (v *collectionView) Busy() bool {
	for _, d := range v.Documents {
		if d.State == string(knowledge.Queued) || d.State == string(knowledge.Reading) {
			return true
		}
	}
	return false
}

// version is another when other documents are shown.
func (v *collectionView) version() string { return page.VersionOf([]any{v.Base, v.Documents}) }

// Again is what the page asks for next: what differs from what it shows.
func (v *collectionView) Again() string {
	return v.at("/documents?") + url.Values{"cursor": {v.cursor}, "seen": {v.version()}}.Encode()
}

// documentsPart is what the page asks for until all documents were read. Nothing (204) when nothing has changed.
func documentsPart(q *page.Request) error {
	v, err := newCollectionView(q)
	if err == nil && q.R.URL.Query().Get("seen") == v.version() {
		q.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	return q.ShowPart("collection", "documents")(v, err)
}

func renameCollection(q *page.Request, f *page.Form) error {
	in := wire.KnowledgeBaseChange{Name: f.Need("name", "Enter a name.")}
	again := func() error {
		return collectionAgain(q, "collection-rename", func(v *collectionView) { v.Rename = f })
	}
	if done, err := q.Submit(f, http.MethodPatch, collectionRoute(q, ""), in, nil, again); !done {
		return err
	}
	return q.Done(page.Path(At+"/", q.ID("id")), "The collection was renamed.")
}

// collectionAgain shows the page with a form that came back, which is a part of it.
func collectionAgain(q *page.Request, part string, put func(*collectionView)) error {
	v, err := newCollectionView(q)
	if err != nil {
		return err
	}
	put(v)
	return q.Invalid("collection", part, v.Base.Name, v)
}

func deleteCollection(q *page.Request) error {
	return q.Do(http.MethodDelete, collectionRoute(q, ""), nil, At, "The collection and its documents were deleted.")
}
