package openai

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/inference"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
)

const secret = "sk-very-secret-0123456789"

// server is a speech and language server on loopback. It counts the requests it
// is working on and keeps the last body.
type server struct {
	*httptest.Server
	busy atomic.Int32
	mu   sync.Mutex
	body []byte
	auth string
}

func newServer(t *testing.T, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.busy.Add(1)
		defer s.busy.Add(-1)
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.body, s.auth = body, r.Header.Get("Authorization")
		s.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		handler(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) working() int { return int(s.busy.Load()) }

func (s *server) last() (body, auth string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.body), s.auth
}

func (s *server) config() remote.Engine {
	return remote.Engine{BaseURL: s.URL + "/v1/", APIKey: secret}
}

// write sends text at once and reports whether the client is still there.
func write(w http.ResponseWriter, text string) bool {
	if _, err := io.WriteString(w, text); err != nil {
		return false
	}
	return http.NewResponseController(w).Flush() == nil
}

// memory is an HTTP client whose connections are pipes to a handler, so that
// both ends live in one bubble of simulated time. done is called at its end.
func memory(handler http.HandlerFunc) (client *http.Client, done func()) {
	m := loopbacktest.NewMemory(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // a server notices that a client has left only after its body
		handler(w, r)
	}))
	transport := &http.Transport{DisableCompression: true, DialContext: m.Dial}
	return &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		m.Close()
	}
}

// wavHeader is a WAV file's beginning for 16-bit audio.
func wavHeader(rate, channels int, extra string, length uint32) string {
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36+length)
	b = append(b, "WAVE"+extra+"fmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(channels))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(rate*2*channels))
	b = binary.LittleEndian.AppendUint16(b, uint16(2*channels))
	b = binary.LittleEndian.AppendUint16(b, 16)
	return string(binary.LittleEndian.AppendUint32(append(b, "data"...), length))
}

func TestConfig(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:80/v1", "ftp://host/v1", "http://user:" + secret + "@host/v1", "http://host/v1?key=" + secret, "http://%zz" + secret} {
		_, err := NewLLM(remote.Engine{BaseURL: base})
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: error %v", base, err)
		}
	}
	if _, err := NewTTS(remote.Engine{BaseURL: "http://host", APIKey: "a\nb"}); err == nil {
		t.Error("a key with a line break was accepted")
	}
}

// TestRefusals: every status has its fault, and no error repeats what the server
// said about the key or the words.
func TestRefusals(t *testing.T) {
	for status, want := range map[int]inference.Fault{
		307: inference.ErrRefused, 400: inference.ErrRefused, 401: inference.ErrRefused, 403: inference.ErrRefused,
		404: inference.ErrRefused, 408: inference.ErrFailed, 429: inference.ErrUnavailable, 500: inference.ErrFailed,
		502: inference.ErrFailed, 503: inference.ErrUnavailable,
	} {
		s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"message":"%s said Hello","type":%q,"code":"invalid_thing"}}`, secret, secret)
		})
		for name, err := range everyEngine(t, s.config()) {
			if inference.FaultOf(err) != want {
				t.Errorf("%s, status %d: %v", name, status, err)
			}
			if text := fmt.Sprint(err); strings.Contains(text, secret) || strings.Contains(text, "Hello") || !strings.Contains(text, "invalid_thing") {
				t.Errorf("%s, status %d: the error says %q", name, status, text)
			}
		}
		if _, auth := s.last(); auth != "Bearer "+secret {
			t.Errorf("authorization %q", auth)
		}
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for name, err := range everyEngine(t, remote.Engine{BaseURL: "http://" + l.Addr().String(), APIKey: secret}) {
		if inference.FaultOf(err) != inference.ErrUnavailable || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConnectionBreaks(t *testing.T) {
	s := newServer(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, err := range everyEngine(t, s.config()) {
		if inference.FaultOf(err) != inference.ErrFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// everyEngine makes one request with each engine and returns the errors.
func everyEngine(t *testing.T, c remote.Engine) map[string]error {
	t.Helper()
	llm, err1 := NewLLM(c)
	tts, err2 := NewTTS(c)
	asr, err3 := NewASR(c)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	errs := map[string]error{"llm": nil, "tts": nil, "asr": nil}
	for d, err := range llm.Complete(t.Context(), hello) {
		if errs["llm"] = err; err == nil && d.Text != "" {
			t.Errorf("text %q", d.Text)
		}
	}
	for _, err := range tts.Speak(t.Context(), good) {
		errs["tts"] = err
	}
	r, err := asr.Open(t.Context(), inference.ASRConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	r.Write(make([]int16, 8000))
	r.Finish()
	for x := range r.Results() {
		errs["asr"] = x.Err
	}
	r.Close()
	return errs
}
