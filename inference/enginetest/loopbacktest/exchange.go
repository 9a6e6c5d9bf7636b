package loopbacktest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// Changed is a JSON object with changes; nil takes a field away.
func Changed[M ~map[string]any](object, change M) []byte {
	object = maps.Clone(object)
	maps.Copy(object, change)
	maps.DeleteFunc(object, func(_ string, v any) bool { return v == nil })
	b, err := json.Marshal(object)
	if err != nil {
		panic(err) // a mistake of the test
	}
	return b
}

// Post sends a request and returns its answer, whose body is closed when the test ends.
func Post(ctx context.Context, t testing.TB, url string, header http.Header, body []byte) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Event is one server-sent event. Name is empty when it has none.
type Event struct {
	Name string
	Data []byte
}

// ReadEvents reads a stream to its end. With an error it also returns what came before.
func ReadEvents(body io.Reader) (list []Event, err error) {
	scan := bufio.NewScanner(body)
	scan.Buffer(nil, 2*hugeSize)
	var e Event
	for scan.Scan() {
		line := scan.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			e.Name = name
		} else if data, ok := strings.CutPrefix(line, "data: "); ok {
			e.Data = []byte(data)
		} else if line == "" {
			list, e = append(list, e), Event{}
		}
	}
	return list, scan.Err()
}

// Exchange plays the client's side of a golden exchange over HTTP, each line a request, and
// compares what the server answers with the other side.
func Exchange(t testing.TB, path, url string, header http.Header) {
	t.Helper()
	var got []Line
	for _, l := range ReadGolden(t, path) {
		if l.From != "client" {
			continue
		}
		resp := Post(t.Context(), t, url+l.Get, header, l.Text)
		got = append(got, l, Line{From: "vendor", MS: l.MS, Status: resp.StatusCode})
		if resp.StatusCode != http.StatusOK {
			b, _ := io.ReadAll(resp.Body)
			got[len(got)-1].Text = Masked(t, b)
			continue
		}
		list, err := ReadEvents(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			got = append(got, Line{From: "vendor", MS: l.MS, Text: Masked(t, e.Data)})
		}
	}
	CompareGolden(t, path, got)
}
