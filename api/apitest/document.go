// Package apitest serves handlers in tests and holds their answers to the OpenAPI
// document that describes them: statuses, headers, media types and the form of JSON.
// Tests of what keeps things in the database begin with a World: accounts, keys, a server.
// Only tests and what helps them import it.
package apitest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"parley/api"
)

// Document is a description of an HTTP interface, ready to judge answers by. It may
// be used from several goroutines.
type Document struct {
	*openapi3.T
	router routers.Router
}

// read makes documents once for each text: servers in tests are many, and most have
// the same routes.
var read struct {
	sync.Mutex
	docs map[[sha256.Size]byte]*Document
}

// Read reads a document, YAML or JSON, and checks that it is OpenAPI.
func Read(text []byte) (*Document, error) {
	read.Lock()
	defer read.Unlock()
	sum := sha256.Sum256(text)
	if d := read.docs[sum]; d != nil {
		return d, nil
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	d := &Document{doc, router}
	if read.docs == nil {
		read.docs = map[[sha256.Size]byte]*Document{}
	}
	read.docs[sum] = d
	return d, nil
}

// Of is the document of an API to which all routes have been added.
func Of(a *api.API) (*Document, error) {
	doc, err := a.Published()
	if err != nil {
		return nil, err
	}
	text, err := doc.YAML()
	if err != nil {
		return nil, err
	}
	return Read(text)
}

// start is where the test binary began: tests may go elsewhere.
var start, startErr = os.Getwd()

// AgentSchema is the JSON Schema of agents, with how people enter them, as a server answers
// GET /v1/agents/schema. A test of package conversation keeps it so.
//
//go:embed agent-schema.json
var AgentSchema []byte

// Published is the document that is in the repository, for tests that run in one of
// its folders.
func Published(t testing.TB) *Document {
	t.Helper()
	if startErr != nil {
		t.Fatal(startErr)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "api", "openapi.yaml"))
		if errors.Is(err, os.ErrNotExist) && dir != filepath.Dir(dir) {
			continue
		}
		if err != nil {
			t.Fatalf("no folder above %s has the document: %v", start, err)
		}
		d, err := Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// Judge says what about an answer the document does not say: nil when it fits. Of
// bodies that are no JSON only the media type counts. What the document does not
// have may only be refused as not there.
func (d *Document) Judge(req *http.Request, resp *http.Response, body []byte) error {
	asked := req
	if req.Method == http.MethodHead { // it is GET without the body
		asked = req.Clone(req.Context())
		asked.Method = http.MethodGet
	}
	route, params, err := d.router.FindRoute(asked)
	if err != nil {
		return d.judgeStranger(req, resp, body, err)
	}
	said := route.Operation.Responses.Status(resp.StatusCode)
	switch {
	case said == nil || said.Value == nil:
		return fmt.Errorf("the document does not say that it may be answered with %d", resp.StatusCode)
	case req.Method == http.MethodHead:
		return nil
	case len(said.Value.Content) == 0 && len(body) > 0:
		return fmt.Errorf("the document has no body for %d", resp.StatusCode)
	}
	kind := resp.Header.Get("Content-Type")
	if len(said.Value.Content) > 0 && said.Value.Content.Get(kind) == nil {
		return fmt.Errorf("the document has no Content-Type %q for %d", kind, resp.StatusCode)
	}
	return openapi3filter.ValidateResponse(req.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true, ExcludeResponseBody: !isJSON(resp.Header)},
	})
}
