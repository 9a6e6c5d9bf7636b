package apitest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// Transport asks a server and fails the test for every answer that does not fit the
// document. It reads an answer's body to its end before it returns.
type Transport struct {
	T        testing.TB
	Document *Document
	Base     http.RoundTripper // nil: http.DefaultTransport
}

// RoundTrip implements http.RoundTripper.
func (j Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base := j.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err != nil || resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	report(j.T, j.Document, req, resp, body)
	return resp, nil
}

// Client asks servers, and every answer is held to the document.
func Client(t testing.TB, d *Document) *http.Client {
	return &http.Client{Transport: Transport{T: t, Document: d}}
}

// report fails the test when an answer does not fit.
func report(t testing.TB, d *Document, req *http.Request, resp *http.Response, body []byte) {
	if err := d.Judge(req, resp, body); err != nil {
		t.Errorf("%s %s is answered with %d %.300q: %v", req.Method, req.URL.Path, resp.StatusCode, body, err)
	}
}
