package knowledge

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/upload"
	"parley/api/wire"
	"parley/store/knowledge"
)

const (
	// fileField and titleField are the fields of a form.
	fileField  = "file"
	titleField = "title"
	// maxBody is a file, and the frame that a form puts around it.
	maxBody = knowledge.MaxBytes + 64<<10
	// maxAddress bounds a body that is JSON, in bytes.
	maxAddress = 64 << 10
)

// adding describes the route that adds a document, as a form or in JSON.
func (s *service) adding(schemas huma.Registry, path string) api.Route {
	file := api.Bytes("application/octet-stream")
	file.Description = "PDF, DOCX, HTML, Markdown or plain text, 20 MB at most. Its content decides what it is, and its name between formats of text."
	form := &huma.Schema{Type: "object", Required: []string{fileField}, Properties: map[string]*huma.Schema{
		fileField:  file,
		titleField: {Type: "string", Description: "What the document is called; without it as its file is.", Examples: []any{"Opening hours"}},
	}}
	r := routes.Post(path, "add-knowledge-document", "Add a document to a collection",
		"A file as a form, or an address in JSON. It is read in the background: `state` says how far it is, and `reason` why it could not be read. "+
			"A collection has 500 documents at most. Pictures of text are not read.",
		http.StatusNotFound, http.StatusUnsupportedMediaType)
	r.MaxBodyBytes, r.OwnErrors = maxBody, true
	r.Parameters = []*huma.Param{{Name: "id", In: "path", Required: true, Description: "The collection's identifier.",
		Schema: &huma.Schema{Type: huma.TypeString}, Example: "kb_06er5bt0v9k1o7m2q3s4t5u6v0"}}
	r.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"multipart/form-data": {Schema: form},
		"application/json":    {Schema: schemas.Schema(reflect.TypeFor[wire.NewKnowledgeAddress](), true, "")},
	}}
	r.Responses = map[string]*huma.Response{strconv.Itoa(http.StatusAccepted): {Description: "The document, which will be read",
		Content: map[string]*huma.MediaType{"application/json": {Schema: schemas.Schema(reflect.TypeFor[wire.KnowledgeDocument](), true, "")}}}}
	return r.Repeatable()
}

// add adds a document.
func (s *service) add(w http.ResponseWriter, r *http.Request) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" && kind != "application/json" {
		return api.Detail(api.ErrMediaType, "Send multipart/form-data with a file named file, or application/json with a url.")
	}
	account, id := api.AccountOf(r.Context()), r.PathValue("id")
	if !api.Storable(id) {
		return api.ErrNotFound
	}
	// Before the body is read: a file for a collection that there is not is sent in vain.
	if _, err := s.kept.Get(r.Context(), account, id); err != nil {
		return err
	}
	leave, err := s.gate.Enter(r.Context(), account)
	if err != nil {
		return err
	}
	defer leave()
	var n knowledge.NewDocument
	if kind == "application/json" {
		n, err = s.address(r)
	} else {
		n, err = file(w, r)
	}
	if err != nil {
		return err
	}
	d, err := s.kept.Add(r.Context(), account, id, n)
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusAccepted, viewDocument(d))
	return nil
}

// file is the document of a form.
func file(w http.ResponseWriter, r *http.Request) (knowledge.NewDocument, error) {
	f, err := upload.ReadFile(w, r, fileField, knowledge.MaxBytes)
	if err != nil {
		return knowledge.NewDocument{}, err
	}
	if f.Name == "" {
		return knowledge.NewDocument{}, api.Bad("file: send the file's name with it")
	}
	return knowledge.NewDocument{Title: strings.TrimSpace(f.Fields[titleField]), Source: f.Name, MediaType: f.MediaType, Body: f.Data}, nil
}

// address is the document of a body in JSON.
func (s *service) address(r *http.Request) (n knowledge.NewDocument, err error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAddress+1))
	if err != nil {
		return n, api.ReadError(err)
	}
	if len(text) > maxAddress {
		_, _ = io.Copy(io.Discard, r.Body) // the answer is read once the body is sent
		return n, api.ErrTooLarge
	}
	var in wire.NewKnowledgeAddress
	if err := json.Unmarshal(text, &in); err != nil {
		return n, api.Bad("The body must be a JSON object: url and title are texts.")
	}
	if in.URL == "" {
		return n, api.Bad("url: is missing")
	}
	if err := s.check(in.URL); err != nil {
		return n, api.Bad("url: %v", err)
	}
	return knowledge.NewDocument{Title: strings.TrimSpace(in.Title), Source: in.URL, Web: true}, nil
}
