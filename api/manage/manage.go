// Package manage is what the owner of an account keeps there: agents, API keys and the
// numbers that are not called.
// Every query names the account, so that what belongs to somebody else answers
// exactly like what does not exist.
package manage

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/export"
	"parley/store"
)

// Definition is what makes an agent of a document, which only conversations can judge.
type Definition struct {
	// New is an agent of which nothing was said yet.
	New func() store.Agent
	// Apply changes an agent by a JSON object; what is not mentioned stays. Its error is
	// one of the error table, and names every mistake.
	Apply func(a *store.Agent, document json.RawMessage) error
	// Schema is the JSON Schema of such documents.
	Schema json.RawMessage
}

// Mount adds the routes.
func Mount(a *api.API, db *store.DB, files *export.Desk, define Definition) {
	mountAgents(a, agents{db, define})
	mountKeys(a, keys{db})
	mountDoNotCall(a, doNotCall{db, files})
}

// maxBody bounds a request's body, in bytes: an agent's longest texts and lists,
// and room for how JSON writes them.
const maxBody = 1 << 20

// route describes a route of this package. Keys do not belong into pages, so pages
// of other sites have nothing to do here.
func route(method, path, id, tag, summary, description string, errs ...int) api.Route {
	return api.Route{Access: api.Management, OwnPagesOnly: true, Operation: huma.Operation{
		Method: method, Path: path, OperationID: id, Tags: []string{tag}, Summary: summary, Description: description,
		MaxBodyBytes: maxBody, Errors: errs,
	}}
}

// checked says that a route's handler checks the body itself, to name all that is wrong
// with it.
func checked(r api.Route) api.Route {
	r.SkipValidateBody = true
	return r
}

// pageInput is what every list takes.
type pageInput struct {
	Limit  int    `query:"limit" doc:"How many at most." minimum:"1" maximum:"100" default:"20"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; without it the list begins with the newest." maxLength:"100"`
}

// shortInput is pageInput for lists that are short in every account, and were answered whole
// before they had pages: who asks for nothing still gets all.
type shortInput struct {
	Limit  int    `query:"limit" doc:"How many at most." minimum:"1" maximum:"100" default:"100"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before." maxLength:"400"`
}

// page asks for one more than the client wants: whether there is one decides has_more.
func (in pageInput) page() store.Page { return store.Page{After: in.Cursor, Limit: in.Limit + 1} }

// More is the end of every list.
type More struct {
	HasMore    bool    `json:"has_more" doc:"Whether the list goes on."`
	NextCursor *string `json:"next_cursor" doc:"Send it as cursor to read on; null at the end." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

// cut shortens a list to the limit and says what follows.
func cut[T any](in pageInput, list []T, id func(T) string) ([]T, More) {
	if len(list) <= in.Limit {
		return list, More{}
	}
	next := id(list[in.Limit-1])
	return list[:in.Limit], More{HasMore: true, NextCursor: &next}
}

// Explained is the store's refusal with what it says about the request.
func Explained(err error) error {
	if errors.Is(err, store.ErrInvalid) {
		if _, what, ok := strings.Cut(err.Error(), store.ErrInvalid.Error()+": "); ok {
			return api.Detail(api.ErrBadRequest, what)
		}
	}
	return err
}

// ofField is Explained for what the store says about a field.
func ofField(name string, err error) error {
	if p := api.ProblemOf(Explained(err)); p.Detail != "" {
		return bad("%s: %s", name, p.Detail)
	}
	return err
}

// Unknown is the store's answer about an identifier. One that no text can hold is
// nothing's.
func Unknown(err error) error {
	if errors.Is(err, store.ErrInvalid) {
		return store.ErrNotFound
	}
	return err
}

func bad(format string, args ...any) error {
	return api.Detail(api.ErrBadRequest, fmt.Sprintf(format, args...))
}

// etag is a version as HTTP names it (RFC 9110, section 8.8.3).
func etag(version int64) string { return fmt.Sprintf("%q", fmt.Sprint(version)) }

// matches evaluates If-Match (RFC 9110, section 13.1.1); an absent one allows any.
func matches(header string, version int64) bool {
	if header == "" || strings.TrimSpace(header) == "*" {
		return true
	}
	return slices.ContainsFunc(strings.Split(header, ","), func(tag string) bool { return strings.TrimSpace(tag) == etag(version) })
}

// Statuses that several routes answer with.
const (
	notFound = http.StatusNotFound
	stale    = http.StatusPreconditionFailed
)
