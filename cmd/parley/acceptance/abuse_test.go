package acceptance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/media/transcode"
)

// memory is how much of the server is in memory, in bytes.
func (s *server) memory(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// problemOf asks with a body and returns the status and the code of the answer.
func problemOf(t *testing.T, s *server, key, path, kind string, body io.Reader, size int64) (int, string) {
	t.Helper()
	status, code, err := tryProblem(t, s, key, path, kind, body, size)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return status, code
}

func tryProblem(t *testing.T, s *server, key, path, kind string, body io.Reader, size int64) (int, string, error) {
	t.Helper()
	req, err := http.NewRequest("POST", "http://"+s.addrs["http"]+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Expect", "100-continue")
	resp, err := client(t).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, "", err
	}
	var p struct{ Code, Error string }
	if resp.StatusCode >= 400 && (json.Unmarshal(b, &p) != nil || p.Error == "") {
		t.Errorf("%s: %d without a clear answer: %.200s", path, resp.StatusCode, b)
	}
	return resp.StatusCode, p.Code, nil
}

// endless is a body that never stops by itself.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestHugeBodies: a gigabyte is refused, announced or not, and nothing of it stays.
func TestHugeBodies(t *testing.T) {
	const gigabyte = 1 << 30
	s := serveLean(t, newDataDir(t), nil, "--demo")
	before := s.memory(t)
	for _, tt := range []struct{ path, kind, head string }{
		{"/stt/transcribe", "application/json", `{"audio":"`},
		{"/stt/transcribe", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"audio\"; filename=\"a.wav\"\r\n\r\n"},
		{"/denoise", "audio/wav", "RIFF"}, {"/tts/synthesize", "application/json", `{"text":"`},
		{"/api/tts/F1/async", "application/json", "{"}, {"/mcp", "application/json", "{"}, {"/v1/agents", "application/json", "{"},
	} {
		for _, size := range []int64{gigabyte, -1} {
			var status int
			var code string
			err := errors.New("not asked")
			// The server hangs up half a second after its answer. A client that is so late on a
			// busy machine that it still sends then may lose the answer, once.
			for try := 0; err != nil && try < 2; try++ {
				body := io.MultiReader(strings.NewReader(tt.head), io.LimitReader(endless{}, gigabyte-int64(len(tt.head))))
				status, code, err = tryProblem(t, s, s.guide.key, tt.path, tt.kind, body, size)
			}
			if status != http.StatusRequestEntityTooLarge || code != "request.too_large" {
				t.Errorf("%s %s, announced %d: %d %s %v", tt.path, tt.kind, size, status, code, err)
			}
		}
	}
	if grown := s.memory(t) - before; grown > 200<<20 {
		t.Errorf("%d MiB stayed", grown>>20)
	}
}

// TestDecompressionBomb: hours of silence are a small file. It is refused for its length, or
// for the time it takes, where the machine is too busy to find the length before.
func TestDecompressionBomb(t *testing.T) {
	s := serveLean(t, newDataDir(t), nil, "--demo")
	before := s.memory(t)
	bomb, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "20000", "-f", "flac", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("320 MB of samples in %d bytes", len(bomb))
	for _, path := range []string{"/denoise", "/stt/transcribe"} {
		body, kind := bomb, "audio/flac"
		if path == "/stt/transcribe" {
			body, kind = multipartFile(t, "audio", bomb)
		}
		asked := time.Now()
		if status, code := problemOf(t, s, s.guide.key, path, kind, bytes.NewReader(body), int64(len(body))); status != http.StatusRequestEntityTooLarge && (status != http.StatusBadRequest || time.Since(asked) < transcode.Patience) {
			t.Errorf("%s: %d %s", path, status, code)
		}
	}
	if grown := s.memory(t) - before; grown > 200<<20 {
		t.Errorf("%d MiB stayed", grown>>20)
	}
}

// TestControlCharacters: what nobody can say is said to be so, or left out.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	s := shared(t, laboratory)
	for _, text := range []string{"\x00\x01\x02\x03", "\u200b\u202e\ufeff", "a\x00b\x1b[31m", strings.Repeat("\u0301", 500), "\n\n\t \r", "\U0010ffff\ue000"} {
		body, err := json.Marshal(map[string]any{"text": text, "voice": "F1", "language": "en"})
		if err != nil {
			t.Fatal(err)
		}
		status, code := problemOf(t, s, s.guide.key, "/tts/synthesize", "application/json", bytes.NewReader(body), int64(len(body)))
		if status != 200 && (status != 400 || code != "validation.invalid_request_format") {
			t.Errorf("%q: %d %s", text, status, code)
		}
	}
}

// TestIdleSockets: a thousand sockets with nothing to say cost little, and others
// are served beside them.
func TestIdleSockets(t *testing.T) {
	const sockets, each = 1000, 128 << 10
	s := serveLean(t, newDataDir(t), []string{"PARLEY_RATE_LIMIT=0"}, "--demo")
	before := s.memory(t)
	var open []*websocket.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for i := range sockets {
		path := []string{"/ws/tts", "/ws/stt"}[i%2]
		c, _, err := websocket.DefaultDialer.Dial("ws://"+s.addrs["http"]+path, http.Header{"X-Api-Key": {s.guide.key}})
		if err != nil {
			t.Fatalf("socket %d: %v", i, err)
		}
		open = append(open, c)
	}
	if grown := (s.memory(t) - before) / sockets; grown > each {
		t.Errorf("a socket costs %d KiB", grown>>10)
	} else {
		t.Logf("a socket costs %d KiB", grown>>10)
	}
	body := `{"text":"Still here.","voice":"M1","language":"en"}`
	if status, code := problemOf(t, s, s.guide.key, "/tts/synthesize", "application/json", strings.NewReader(body), int64(len(body))); status != 200 {
		t.Errorf("beside them: %d %s", status, code)
	}
}

// multipartFile is a form with one file.
func multipartFile(t *testing.T, field string, file []byte) (body []byte, kind string) {
	t.Helper()
	const boundary = "boundary-of-the-form"
	var b bytes.Buffer
	fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q; filename=\"audio.wav\"\r\n\r\n", boundary, field)
	b.Write(file)
	fmt.Fprintf(&b, "\r\n--%s--\r\n", boundary)
	return b.Bytes(), "multipart/form-data; boundary=" + boundary
}
