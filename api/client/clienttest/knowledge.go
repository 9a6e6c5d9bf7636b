package clienttest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"parley/api/wire"
)

// Collection is one of documents that the server has; a document called Unreadable fails.
const (
	Collection = "kb_handbook"
	Unreadable = "picture.pdf"
)

var stocked = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func nothing(w http.ResponseWriter) {
	answer(w, http.StatusNotFound, Problem{http.StatusNotFound, "request.not_found", "There is no such thing.", false, ""})
}

// knowledge serves one collection. Documents are named after their source, and are read when they are looked at.
func (s *Server) knowledge(mux *http.ServeMux) {
	base := func(name, language string) wire.KnowledgeBase {
		return wire.KnowledgeBase{ID: Collection, Name: name, Language: language, Documents: 1, Ready: 1, Passages: 2, Bytes: 3 << 20, CreatedAt: stocked, UpdatedAt: stocked}
	}
	mux.HandleFunc("GET /v1/knowledge", func(w http.ResponseWriter, r *http.Request) {
		answer(w, 200, map[string]any{"data": []any{base("Handbook", "en")}, "has_more": false, "next_cursor": nil})
	})
	mux.HandleFunc("POST /v1/knowledge", func(w http.ResponseWriter, r *http.Request) {
		var in wire.NewKnowledgeBase
		_ = json.NewDecoder(r.Body).Decode(&in) // what is wrong is judged
		answer(w, http.StatusCreated, base(in.Name, in.Language))
	})
	mux.HandleFunc("GET /v1/knowledge/{id}/documents", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.PathValue("id") != Collection:
			nothing(w)
		case r.URL.Query().Get("cursor") == "":
			answer(w, 200, map[string]any{"data": []any{paper("prices.pdf", "Prices", "ready")}, "has_more": true, "next_cursor": "more"})
		default:
			answer(w, 200, map[string]any{"data": []any{paper(Unreadable, Unreadable, "failed")}, "has_more": false, "next_cursor": nil})
		}
	})
	mux.HandleFunc("POST /v1/knowledge/{id}/documents", addDocument)
	mux.HandleFunc("GET /v1/knowledge/{id}/documents/{document}", func(w http.ResponseWriter, r *http.Request) {
		source := strings.TrimPrefix(r.PathValue("document"), "doc_")
		if source == Unreadable {
			answer(w, 200, paper(source, source, "failed"))
			return
		}
		answer(w, 200, paper(source, source, "ready"))
	})
	mux.HandleFunc("POST /v1/knowledge/{id}/documents/{document}/refresh", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusAccepted, paper(strings.TrimPrefix(r.PathValue("document"), "doc_"), "page", "queued"))
	})
	mux.HandleFunc("POST /v1/knowledge/{id}/search", searchDocuments)
	gone := func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != Collection {
			nothing(w)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	mux.HandleFunc("DELETE /v1/knowledge/{id}", gone)
	mux.HandleFunc("DELETE /v1/knowledge/{id}/documents/{document}", gone)
}

func paper(source, title, state string) wire.KnowledgeDocument {
	d := wire.KnowledgeDocument{ID: "doc_" + source, Title: title, Source: source, Kind: "file", MediaType: "application/pdf", Bytes: 1000, State: state, Pages: 3, CreatedAt: stocked, UpdatedAt: stocked}
	switch state {
	case "ready":
		d.Passages, d.ReadAt = 2, &stocked
	case "failed":
		d.Reason = "there is no text in it; pictures of text are not read"
	}
	return d
}

func addDocument(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Collection {
		nothing(w)
		return
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var in wire.NewKnowledgeAddress
		_ = json.NewDecoder(r.Body).Decode(&in) // what is wrong is judged
		answer(w, http.StatusAccepted, paper("page", in.Title, "queued"))
		return
	}
	f, head, err := r.FormFile("file")
	if err != nil {
		answer(w, http.StatusBadRequest, Problem{http.StatusBadRequest, "validation.invalid_request_format", "No file.", false, ""})
		return
	}
	defer f.Close()
	if n, err := io.Copy(io.Discard, f); n == 0 || err != nil {
		answer(w, http.StatusBadRequest, Problem{http.StatusBadRequest, "validation.invalid_request_format", "An empty file.", false, ""})
		return
	}
	answer(w, http.StatusAccepted, paper(head.Filename, r.FormValue("title"), "queued"))
}

func searchDocuments(w http.ResponseWriter, r *http.Request) {
	var in wire.KnowledgeQuestion
	_ = json.NewDecoder(r.Body).Decode(&in) // what is wrong is judged
	found := wire.KnowledgeAnswer{Passages: []wire.KnowledgePassage{}, TookMS: 1.5}
	if strings.Contains(in.Query, "hours") {
		found.Passages = append(found.Passages, wire.KnowledgePassage{DocumentID: "doc_hours.pdf", Title: "Hours", Source: "hours.pdf", Page: 3, Heading: "Weekend", Text: "Closed on Sunday.", Rank: 1.1})
	}
	answer(w, 200, found)
}
