package acceptance

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"

	"parley/api/apitest"
)

// perCheck is how many requests one check of the property sends; there are a
// hundred checks unless the command line says more.
const perCheck = 30

// TestGeneratedRequests: whatever is sent to any route, right or wrong in as many
// ways as the document leaves open, is answered as the document says, and never by
// a fault of the server's.
func TestGeneratedRequests(t *testing.T) {
	t.Parallel()
	generated(t)
}

// TestSoakGeneratedRequests goes on with other requests each time.
func TestSoakGeneratedRequests(t *testing.T) {
	soak(t)
	setFlag(t, "rapid.checks", "2000")
	setFlag(t, "rapid.seed", "0") // 0: by the clock
	generated(t)
}

func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	was := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(was) }) // it was allowed before
}

func generated(t *testing.T) {
	d := apitest.Published(t)
	s := serve(t, newDataDir(t), []string{"PARLEY_RATE_LIMIT=100000"}, "--demo")
	who := newCustomer(t, s, "1000")
	g := &generator{Document: d, base: "http://" + s.addrs["http"], key: who.key, ids: []string{who.agent, who.account, "F1", "m3", "x"}}
	g.list()
	web := &http.Client{Timeout: 2 * patience}
	answers := map[int]int{}
	rapid.Check(t, func(rt *rapid.T) {
		for range perCheck {
			req, what := g.request(rt)
			resp, err := web.Do(req)
			if err != nil {
				rt.Fatalf("%s: %v", what, err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				rt.Fatalf("%s: %v", what, err)
			}
			answers[resp.StatusCode]++
			if resp.StatusCode >= 500 && resp.StatusCode != http.StatusServiceUnavailable {
				rt.Fatalf("%s: %d %.300s", what, resp.StatusCode, body)
			}
			if err := d.Judge(req, resp, body); err != nil {
				rt.Fatalf("%s: %d %.300s: %v", what, resp.StatusCode, body, err)
			}
			g.learn(body)
		}
	})
	t.Logf("answers by status: %v", answers)
	if answers[200] == 0 || answers[400] == 0 || answers[401] == 0 || answers[404] == 0 {
		t.Errorf("the requests are not varied enough: %v", answers)
	}
	eventually(t, "the server is ready afterwards", func() bool {
		status, _ := s.get(t, "http", "/readyz")
		return status == 200
	})
	checkBooks(t, s.dir)
}

// generator draws requests from a document.
type generator struct {
	*apitest.Document
	base, key string
	ops       []operation
	ids       []string // identifiers that exist, or existed
}

type operation struct {
	method, path string
	*openapi3.Operation
}

// list takes every operation but those that only upgrade.
func (g *generator) list() {
	for _, path := range slices.Sorted(maps.Keys(g.Paths.Map())) {
		methods := g.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			g.ops = append(g.ops, operation{method, path, methods[method]})
		}
	}
}

// learn keeps identifiers from an answer to ask about later.
func (g *generator) learn(body []byte) {
	var v map[string]any
	if json.Unmarshal(body, &v) != nil || len(g.ids) > 50 {
		return
	}
	for _, name := range []string{"id", "task_id"} {
		if id, ok := v[name].(string); ok {
			g.ids = append(g.ids, id)
		}
	}
}

func (g *generator) request(t *rapid.T) (req *http.Request, what string) {
	op := rapid.SampledFrom(g.ops).Draw(t, "operation")
	path, query, header := op.path, url.Values{}, http.Header{}
	for _, ref := range op.Parameters {
		p := ref.Value
		value := rapid.OneOf(rapid.SampledFrom(g.ids), rapid.Just(inText(draw(t, p.Schema, 0)))).Draw(t, p.Name)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(orSomething(value)))
		case rapid.Bool().Draw(t, "with "+p.Name) && p.In == "query":
			query.Set(p.Name, value)
		case p.In == "header" && !strings.ContainsAny(value, "\r\n\x00") && isPrintable(value):
			header.Set(p.Name, value)
		}
	}
	body, kind := g.body(t, op)
	req, err := http.NewRequest(op.method, g.base+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	g.credential(t, req)
	return req, fmt.Sprintf("%s %s (%s, %d bytes: %.200q)", op.method, req.URL.Path, kind, len(body), body)
}

// credential is mostly the right one.
func (g *generator) credential(t *rapid.T, req *http.Request) {
	switch n := rapid.IntRange(0, 19).Draw(t, "credential"); {
	case n == 0:
	case n == 1:
		req.Header.Set("X-API-Key", "sk_"+strings.Repeat("0", 49))
	case n < 6:
		req.Header.Set("X-API-Key", g.key)
	default:
		req.Header.Set("Authorization", "Bearer "+g.key)
	}
}

// body draws a body of one of the operation's media types, or of another.
func (g *generator) body(t *rapid.T, op operation) (body []byte, kind string) {
	if op.RequestBody == nil {
		return nil, ""
	}
	content := op.RequestBody.Value.Content
	kind = rapid.SampledFrom(slices.Sorted(maps.Keys(content))).Draw(t, "media type")
	schema := content[kind].Schema
	switch {
	case rapid.IntRange(0, 19).Draw(t, "fault") == 0:
		return audio(t), rapid.SampledFrom([]string{"text/plain", "application/json", "", "multipart/form-data", "x/;="}).Draw(t, "wrong type")
	case strings.Contains(kind, "json"):
		v := draw(t, schema, 0)
		if m, ok := v.(map[string]any); ok && m["audio"] != nil {
			m["audio"] = base64.StdEncoding.EncodeToString(audio(t))
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b, kind
	case kind == "multipart/form-data":
		return form(t)
	}
	return audio(t), kind
}

func form(t *rapid.T) ([]byte, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	name := rapid.SampledFrom([]string{"audio", "audio", "audio", "file", ""}).Draw(t, "field")
	part, err := w.CreateFormFile(name, "audio.wav")
	if err == nil {
		_, err = part.Write(audio(t))
	}
	if err == nil && rapid.Bool().Draw(t, "more fields") {
		err = w.WriteField(rapid.SampledFrom([]string{"language", "sample_rate", "x"}).Draw(t, "name"), text(t, 20))
	}
	if err == nil && rapid.Bool().Draw(t, "closed") {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), w.FormDataContentType()
}

// audio draws a file: a short true WAV, one whose header lies, another container's
// beginning, or noise.
func audio(t *rapid.T) []byte {
	noise := rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "noise")
	switch rapid.IntRange(0, 4).Draw(t, "audio") {
	case 0:
		return noise
	case 1:
		magic := rapid.SampledFrom([]string{"ID3\x04", "\xff\xfb\x90\x00", "OggS\x00\x02", "\x1a\x45\xdf\xa3", "\x00\x00\x00\x20ftypM4A ", "fLaC\x00", "RIFF"}).Draw(t, "magic")
		return append([]byte(magic), noise...)
	}
	size := uint32(len(noise) &^ 1)
	rate := rapid.SampledFrom([]uint32{8000, 16000, 44100, 48000, 11025, 0, 1, 1 << 31}).Draw(t, "rate")
	channels := rapid.SampledFrom([]uint16{1, 1, 2, 0, 6, 65535}).Draw(t, "channels")
	bits := rapid.SampledFrom([]uint16{16, 16, 16, 8, 24, 32, 0, 7}).Draw(t, "bits")
	said := rapid.SampledFrom([]uint32{size, size, 0, 1<<32 - 1, size * 2, 1 << 30}).Draw(t, "length")
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, said+36)
	b = append(b, "WAVEfmt \x10\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint16(b, rapid.SampledFrom([]uint16{1, 1, 1, 3, 6, 7, 0xfffe, 2}).Draw(t, "format"))
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(channels)*uint32(bits)/8)
	b = binary.LittleEndian.AppendUint16(b, channels*bits/8)
	b = binary.LittleEndian.AppendUint16(b, bits)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, said)
	return append(b, noise...)
}
