// Package tracetest is a fake OpenTelemetry collector on loopback.
package tracetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector takes traces as OTLP over HTTP and keeps them.
type Collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*otlp.Span
	nodes []string
	fails bool
}

// New starts a collector that ends with the test.
func New(t *testing.T) *Collector {
	c := &Collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request collected.ExportTraceServiceRequest
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &request) != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		if !c.take(&request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *Collector) take(request *collected.ExportTraceServiceRequest) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails {
		return false
	}
	for _, resource := range request.ResourceSpans {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.instance.id" {
				c.nodes = append(c.nodes, a.Value.GetStringValue())
			}
		}
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	return true
}

// Fail makes it answer 503, or not any more.
func (c *Collector) Fail(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fails = on
}

// Spans are those that came, by name, and all of them as text.
func (c *Collector) Spans() (byName map[string][]*otlp.Span, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	byName = map[string][]*otlp.Span{}
	for _, s := range c.spans {
		byName[s.Name] = append(byName[s.Name], s)
		text += s.String()
	}
	return byName, text
}

// Nodes are those that sent something, one for each request.
func (c *Collector) Nodes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.nodes...)
}
