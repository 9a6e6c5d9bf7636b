// Package modeltest has models for tests, and a web server on loopback that has their files and serves them badly.
package modeltest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/inference/model"
)

// Model is a model for a test. What is empty has a value that does no harm.
type Model struct {
	ID, Version, Engine string
	Stage               string            // empty: turn
	Licence             string            // YAML, in one line
	Files               map[string]string // content by path
	Bases               []string          // of the addresses: BASE/PATH
}

// Tiny is a model of two files at a base.
func Tiny(bases ...string) Model {
	return Model{ID: "tiny", Version: "1", Engine: "onnx/tiny", Licence: "{name: MIT}", Bases: bases,
		Files: map[string]string{"model.onnx": strings.Repeat("weights ", 8), "voice/a.bin": "the voice of A"}}
}

// YAML is its manifest.
func (m Model) YAML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %s\nversion: %q\nstage: %s\nengine: %s\nlicence: %s\nfiles:\n", m.ID, m.Version, cmp.Or(m.Stage, "turn"), m.Engine, cmp.Or(m.Licence, "{name: MIT}"))
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		var urls []string
		for _, base := range m.Bases {
			urls = append(urls, base+"/"+name)
		}
		fmt.Fprintf(&b, "- {path: %s, bytes: %d, sha256: %q, urls: [%s]}\n", name, len(m.Files[name]), fmt.Sprintf("%x", sha256.Sum256([]byte(m.Files[name]))), strings.Join(urls, ", "))
	}
	return b.String()
}

// Manifest is its manifest, as it was read.
func (m Model) Manifest(t *testing.T) *model.Manifest {
	t.Helper()
	read, err := model.ReadManifest(strings.NewReader(m.YAML()))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// Dir is a directory with its files.
func (m Model) Dir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range m.Files {
		Write(t, filepath.Join(dir, name), content)
	}
	return dir
}

// Write writes a file and what is above it.
func Write(t *testing.T, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Check reports what is not as it should be in a directory where the model is installed.
func (m Model) Check(t *testing.T, dir string) {
	t.Helper()
	for name, want := range m.Files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	err := filepath.WalkDir(dir, func(at string, _ os.DirEntry, err error) error {
		if strings.Contains(at, ".part") {
			t.Errorf("%s is left", at)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Request is one that a Host was asked.
type Request struct {
	Path           string
	Range, IfRange string
	Encodings      string // Accept-Encoding
}

// Host is a web server on loopback that has files. It serves them as net/http does, each with an ETag that is its own, but
// for the requests that Next has a fault for.
type Host struct {
	*httptest.Server

	mu     sync.Mutex
	files  map[string]string
	faults []Fault
	asked  []Request
}

// Fault answers a request badly. well is how it would be answered.
type Fault func(w http.ResponseWriter, r *http.Request, well http.HandlerFunc)

// NewHost starts a server that has the files of a model at its root.
func NewHost(t *testing.T, files map[string]string) *Host {
	h := &Host{files: maps.Clone(files)}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

// Next has the next requests answered badly, each with one of the faults.
func (h *Host) Next(faults ...Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = append(h.faults, faults...)
}

// Put replaces a file.
func (h *Host) Put(name, content string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files[name] = content
}

// Asked returns what it was asked since the last time.
func (h *Host) Asked() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked
	h.asked = nil
	return asked
}

func (h *Host) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked = append(h.asked, Request{r.URL.Path, r.Header.Get("Range"), r.Header.Get("If-Range"), r.Header.Get("Accept-Encoding")})
	var fault Fault
	if len(h.faults) > 0 {
		fault, h.faults = h.faults[0], h.faults[1:]
	}
	content, there := h.files[path.Clean(r.URL.Path)[1:]]
	h.mu.Unlock()
	well := func(w http.ResponseWriter, r *http.Request) {
		if !there {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(content))))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}
	if fault != nil {
		fault(w, r, well)
		return
	}
	well(w, r)
}

// Well is no fault.
func Well(w http.ResponseWriter, r *http.Request, well http.HandlerFunc) { well(w, r) }

// Status answers with a status and nothing else.
func Status(code int) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { w.WriteHeader(code) }
}

// Redirect sends the client elsewhere.
func Redirect(to string) Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		http.Redirect(w, r, to, http.StatusFound)
	}
}

// Body answers with all of another content, of which the client does not learn the size before.
func Body(content string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.(http.Flusher).Flush()
		w.Write([]byte(content))
	}
}

// Without ignores a header of the request: Range, or If-Range.
func Without(header string) Fault {
	return func(w http.ResponseWriter, r *http.Request, well http.HandlerFunc) {
		r.Header.Del(header)
		well(w, r)
	}
}

// Cut closes the connection after so many bytes of the answer with its head, or, below 0, before the last ones.
func Cut(after int) Fault {
	return func(w http.ResponseWriter, r *http.Request, well http.HandlerFunc) {
		answer := whole(r, well)
		if after < 0 {
			answer = answer[:len(answer)+after]
		} else {
			answer = answer[:min(after, len(answer))]
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err) // a mistake of the test
		}
		conn.Write(answer) // the client may be gone
		conn.Close()
	}
}

// Hold sends all but the last bytes, says so on reached, which has room for that, and goes on when release is closed or the
// client gone.
func Hold(last int, reached chan<- struct{}, release <-chan struct{}) Fault {
	return func(w http.ResponseWriter, r *http.Request, well http.HandlerFunc) {
		rec := httptest.NewRecorder()
		well(rec, r)
		maps.Copy(w.Header(), rec.Header())
		w.WriteHeader(rec.Code)
		body := rec.Body.Bytes()
		w.Write(body[:len(body)-last])
		w.(http.Flusher).Flush()
		reached <- struct{}{}
		select {
		case <-release:
			w.Write(body[len(body)-last:])
		case <-r.Context().Done():
		}
	}
}

// whole is a good answer as it goes over the wire.
func whole(r *http.Request, well http.HandlerFunc) []byte {
	rec := httptest.NewRecorder()
	well(rec, r)
	var b bytes.Buffer
	if err := rec.Result().Write(&b); err != nil {
		panic(err) // a buffer takes all
	}
	return b.Bytes()
}
