// Package knowledge serves what agents of an account look things up in, under /v1/knowledge: collections, their
// documents, and a search of them. Documents are read in the background (Reader): files as they were sent, addresses
// by a function that is passed in, for where requests may go is decided elsewhere.
package knowledge

import (
	"context"
	"net/http"
	"time"

	"parley/api"
	"parley/api/upload"
	"parley/api/wire"
	"parley/store/knowledge"
)

// Check says why requests may not go to an address, in a sentence for its owner.
type Check func(address string) error

const (
	// atOnce bounds the files in memory, of 20 MB each.
	atOnce = 4
	// gateWait is how long a request waits for room before it is refused.
	gateWait = 10 * time.Second
)

// Mount adds the routes.
func Mount(a *api.API, kept *knowledge.Store, check Check) {
	s := &service{kept, check, upload.NewGate(atOnce, gateWait)}
	const all, one = "/v1/knowledge", "/v1/knowledge/{id}"
	const documents, document = one + "/documents", one + "/documents/{document}"
	api.Register(a, routes.Get(all, "list-knowledge-bases", "List the account's collections", "The newest first."), s.list)
	api.Register(a, routes.Post(all, "create-knowledge-base", "Create a collection",
		"An account has 50 at most, with 200 MB of documents together. Agents name it in `settings.knowledge_bases`.").Created().Repeatable(), s.create)
	api.Register(a, routes.Get(one, "get-knowledge-base", "Read a collection", "With how many documents it has.", http.StatusNotFound), s.get)
	api.Register(a, routes.Patch(one, "update-knowledge-base", "Rename a collection", "Its language stays.", http.StatusNotFound), s.change)
	api.Register(a, routes.Delete(one, "delete-knowledge-base", "Delete a collection", "With its documents. Agents that name it find nothing in it any more.", http.StatusNotFound), s.remove)
	api.Register(a, routes.Get(documents, "list-knowledge-documents", "List a collection's documents", "The newest first.", http.StatusNotFound), s.documents)
	a.Handle(s.adding(a.Document().Components.Schemas, documents), api.HandlerFunc(s.add))
	api.Register(a, routes.Get(document, "get-knowledge-document", "Read a document", "What is known of it, and whether it is found.", http.StatusNotFound), s.document)
	api.Register(a, routes.Delete(document, "delete-knowledge-document", "Delete a document", "With its passages.", http.StatusNotFound), s.removeDocument)
	api.Register(a, routes.Post(document+"/refresh", "refresh-knowledge-document", "Fetch an address again",
		"What it said before is found until then, and stays when it cannot be fetched. A file is read once.", http.StatusNotFound).Accepted(), s.refresh)
	api.Register(a, routes.Post(one+"/search", "search-knowledge-base", "Search a collection",
		"As agents do in calls. Passages with all of the words come first; where they are few, passages with any of the words follow. "+
			"Where the server has an embeddings engine, those that are nearest by what they mean are merged with them. It is free.", http.StatusNotFound), s.search)
}

var routes = api.Managed("Knowledge")

// service serves the routes.
type service struct {
	kept  *knowledge.Store
	check Check
	gate  *upload.Gate
}

func view(b *knowledge.Base) wire.KnowledgeBase {
	return wire.KnowledgeBase{ID: b.ID, Name: b.Name, Language: b.Language, Documents: b.Documents, Ready: b.Ready, Passages: b.Passages, Bytes: b.Bytes,
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt}
}

func viewDocument(d *knowledge.Document) wire.KnowledgeDocument {
	kind := "file"
	if d.Web {
		kind = "url"
	}
	return wire.KnowledgeDocument{ID: d.ID, Title: d.Title, Source: d.Source, Kind: kind, MediaType: d.MediaType, Bytes: d.Bytes, State: string(d.State), Reason: d.Reason,
		Pages: d.Pages, Passages: d.Passages, Hash: d.Hash, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, ReadAt: d.ReadAt}
}

// OneBase names a collection in an address.
type OneBase struct {
	ID string `path:"id" doc:"The collection's identifier." maxLength:"100" example:"kb_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

// OneDocument names a document in an address.
type OneDocument struct {
	OneBase
	Document string `path:"document" doc:"The document's identifier." maxLength:"100" example:"doc_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func (s *service) list(ctx context.Context, in *api.Paging) (*api.Listed[wire.KnowledgeBase], error) {
	return api.Pages(in.Limit, func(b knowledge.Base) string { return b.ID }, view)(s.kept.List(ctx, api.AccountOf(ctx), in.Page()))
}

func (s *service) create(ctx context.Context, in *struct{ Body wire.NewKnowledgeBase }) (*api.Reply[wire.KnowledgeBase], error) {
	return api.Show(view)(s.kept.Create(ctx, api.AccountOf(ctx), in.Body.Name, in.Body.Language))
}

func (s *service) get(ctx context.Context, in *OneBase) (*api.Reply[wire.KnowledgeBase], error) {
	return api.Show(view)(s.kept.Get(ctx, api.AccountOf(ctx), in.ID))
}

type changeInput struct {
	OneBase
	Body wire.KnowledgeBaseChange
}

func (s *service) change(ctx context.Context, in *changeInput) (*api.Reply[wire.KnowledgeBase], error) {
	return api.Show(view)(s.kept.Rename(ctx, api.AccountOf(ctx), in.ID, in.Body.Name))
}

func (s *service) remove(ctx context.Context, in *OneBase) (*struct{}, error) {
	return nil, s.kept.Delete(ctx, api.AccountOf(ctx), in.ID)
}

type documentsInput struct {
	OneBase
	api.Paging
}

func (s *service) documents(ctx context.Context, in *documentsInput) (*api.Listed[wire.KnowledgeDocument], error) {
	return api.Pages(in.Limit, func(d knowledge.Document) string { return d.ID }, viewDocument)(s.kept.Documents(ctx, api.AccountOf(ctx), in.ID, in.Page()))
}

func (s *service) document(ctx context.Context, in *OneDocument) (*api.Reply[wire.KnowledgeDocument], error) {
	return api.Show(viewDocument)(s.kept.Document(ctx, api.AccountOf(ctx), in.ID, in.Document))
}

func (s *service) removeDocument(ctx context.Context, in *OneDocument) (*struct{}, error) {
	return nil, s.kept.DeleteDocument(ctx, api.AccountOf(ctx), in.ID, in.Document)
}

func (s *service) refresh(ctx context.Context, in *OneDocument) (*api.Reply[wire.KnowledgeDocument], error) {
	return api.Show(viewDocument)(s.kept.Refresh(ctx, api.AccountOf(ctx), in.ID, in.Document))
}

type searchInput struct {
	OneBase
	Body wire.KnowledgeQuestion
}

func (s *service) search(ctx context.Context, in *searchInput) (*api.Reply[wire.KnowledgeAnswer], error) {
	account := api.AccountOf(ctx)
	if _, err := s.kept.Get(ctx, account, in.ID); err != nil {
		return nil, err
	}
	limit := in.Body.Limit
	if limit == 0 {
		limit = knowledge.MaxFound
	}
	began := time.Now()
	found, err := s.kept.Search(ctx, account, []string{in.ID}, in.Body.Query, limit)
	if err != nil {
		return nil, err
	}
	out := wire.KnowledgeAnswer{Passages: make([]wire.KnowledgePassage, len(found)), TookMS: float64(time.Since(began).Microseconds()) / 1000}
	for i, f := range found {
		out.Passages[i] = wire.KnowledgePassage{DocumentID: f.Document, Title: f.Title, Source: f.Source, Page: f.Page, Heading: f.Heading, Text: f.Text, Rank: f.Rank}
	}
	return api.Body(out), nil
}
