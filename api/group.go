package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// Group is what the routes of a resource have in common. Its methods describe one route
// each: path, operation id, one line, several lines, and the statuses that it answers with
// beside those that follow from Group and method.
type Group struct {
	Tag    string
	Access Access
	Scope  Scope
	// OwnPagesOnly refuses pages of other sites.
	OwnPagesOnly bool
	// MaxBody bounds the requests' bodies, in bytes; 0: 64 KiB.
	MaxBody int64
	// Missing is the answer to an identifier that names nothing in the account.
	// nil: store.ErrNotFound.
	Missing error
}

// Managed is the group of a resource that is managed with an API key. Keys do not belong
// into pages, so pages of other sites are refused.
func Managed(tag string) Group { return Group{Tag: tag, Access: Management, OwnPagesOnly: true} }

// Get describes a GET route.
func (g Group) Get(path, id, summary, description string, errs ...int) Route {
	return g.route(http.MethodGet, path, id, summary, description, errs)
}

// Post describes a POST route.
func (g Group) Post(path, id, summary, description string, errs ...int) Route {
	return g.route(http.MethodPost, path, id, summary, description, errs)
}

// Put describes a PUT route.
func (g Group) Put(path, id, summary, description string, errs ...int) Route {
	return g.route(http.MethodPut, path, id, summary, description, errs)
}

// Patch describes a PATCH route.
func (g Group) Patch(path, id, summary, description string, errs ...int) Route {
	return g.route(http.MethodPatch, path, id, summary, description, errs)
}

// Delete describes a DELETE route.
func (g Group) Delete(path, id, summary, description string, errs ...int) Route {
	return g.route(http.MethodDelete, path, id, summary, description, errs)
}

func (g Group) route(method, path, id, summary, description string, errs []int) Route {
	return Route{Access: g.Access, Scope: g.Scope, OwnPagesOnly: g.OwnPagesOnly, Missing: g.Missing, Operation: huma.Operation{
		MaxBodyBytes: g.MaxBody, Method: method, Path: path, OperationID: id, Tags: []string{g.Tag}, Summary: summary, Description: description, Errors: errs,
	}}
}

// Created has the route answer 201.
func (r Route) Created() Route {
	r.DefaultStatus = http.StatusCreated
	return r
}

// Accepted has the route answer 202.
func (r Route) Accepted() Route {
	r.DefaultStatus = http.StatusAccepted
	return r
}

// OwnChecks has the handler check the body, to say exactly what is wrong with it; its
// schema is for readers.
func (r Route) OwnChecks() Route {
	r.SkipValidateBody = true
	return r
}

// For changes who may use the route.
func (r Route) For(access Access) Route {
	r.Access = access
	return r
}

// Within bounds the request's body, in bytes.
func (r Route) Within(bytes int64) Route {
	r.MaxBodyBytes = bytes
	return r
}

// Bad is ErrBadRequest with what is wrong, for the client to read.
func Bad(format string, args ...any) error {
	return Detail(ErrBadRequest, fmt.Sprintf(format, args...))
}

// AccountOf is the account of the credential that the request in ctx carried.
func AccountOf(ctx context.Context) string { return PrincipalOf(ctx).Account }

// Storable says whether the database can hold a text: valid UTF-8 without zero characters.
func Storable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// storableQuery says whether the database can hold each value of a request's query.
func storableQuery(r *http.Request) bool {
	for name, values := range r.URL.Query() {
		if !Storable(name) {
			return false
		}
		for _, v := range values {
			if !Storable(v) {
				return false
			}
		}
	}
	return true
}
