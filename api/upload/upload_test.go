package upload

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"parley/api"
	"parley/media/transcode"
)

// part is one field of a form.
type part struct{ name, file, kind, value string }

// form is a request's body and its content type.
func form(t *testing.T, parts ...part) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := `form-data; name="` + p.name + `"`
		if p.file != "" {
			disposition += `; filename="` + p.file + `"`
		}
		h.Set("Content-Disposition", disposition)
		if p.kind != "" {
			h.Set("Content-Type", p.kind)
		}
		w, err := m.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, p.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m.FormDataContentType()
}

// readBody passes a body through read, behind a bound of 4,000 bytes as a route has it.
func readBody(body io.Reader, contentType string, most int64) (Audio, error) {
	r := httptest.NewRequest("POST", "/", body)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	r.Body = http.MaxBytesReader(w, r.Body, 4000)
	return read(w, r, most)
}

func TestRawBody(t *testing.T) {
	for _, tt := range []struct {
		contentType string
		size        int
		status      int // 0: taken
	}{
		{"audio/wav", 1000, 0},
		{"audio/wav", 1001, 413},
		{"audio/wav", 0, 0},
		{"Audio/WAV; codec=1", 10, 0},
		{"audio/mpeg", 10, 0},
		{"video/webm;codecs=opus", 10, 0},
		{"application/octet-stream", 10, 0},
		{"", 10, 0},
		{"application/json", 10, 415},
		{"text/plain", 5000, 415},
		{"application/x-www-form-urlencoded", 10, 415},
		{"video/x-flv", 10, 415},
		{"/", 10, 415},
		{"multipart/form-data", 10, 400},
	} {
		for _, known := range []bool{true, false} {
			var body io.Reader = strings.NewReader(strings.Repeat("x", tt.size))
			if !known {
				body = iotest.OneByteReader(body) // sent in chunks
			}
			a, err := readBody(body, tt.contentType, 1000)
			if tt.status == 0 {
				if err != nil || len(a.Data) != tt.size {
					t.Errorf("%q, %d bytes: %d, %v", tt.contentType, tt.size, len(a.Data), err)
				}
			} else if err == nil || api.ProblemOf(err).Status != tt.status {
				t.Errorf("%q, %d bytes: %v, want %d", tt.contentType, tt.size, err, tt.status)
			}
		}
	}
	if a, err := readBody(strings.NewReader("x"), "Audio/WAV; codec=1", MaxFile); err != nil || string(a.Data) != "x" || a.Fields["x"] != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := readBody(iotest.ErrReader(io.ErrUnexpectedEOF), "audio/wav", MaxFile); api.ProblemOf(err).Status != 400 {
		t.Errorf("a body that breaks off: %v", err)
	}
}

func TestForm(t *testing.T) {
	audio := part{"audio", "audio.wav", "audio/webm; codecs=opus", strings.Repeat("x", 1000)}
	many := []part{audio}
	for range 20 {
		many = append(many, part{name: "a", value: "b"})
	}
	for _, tt := range []struct {
		name   string
		parts  []part
		fields map[string]string
		status int
	}{
		{"a file", []part{audio}, map[string]string{}, 0},
		{"fields before and after", []part{{name: "language", value: "en"}, audio, {name: "sample_rate", value: "8000"}},
			map[string]string{"language": "en", "sample_rate": "8000"}, 0},
		{"a field twice", []part{{name: "a", value: "1"}, {name: "a", value: "2"}, audio}, map[string]string{"a": "1"}, 0},
		{"no file", []part{{name: "language", value: "en"}}, nil, 400},
		{"nothing", nil, nil, 400},
		{"two files", []part{audio, audio}, nil, 400},
		{"a large file", []part{{"audio", "a", "", strings.Repeat("x", 1001)}}, nil, 413},
		{"a large field", []part{audio, {name: "a", value: strings.Repeat("x", 1025)}}, nil, 413},
		{"many fields", many, nil, 400},
		{"a large body", []part{audio, {name: "a", value: strings.Repeat("x", 900)}, {name: "b", value: strings.Repeat("x", 900)},
			{name: "c", value: strings.Repeat("x", 900)}, {name: "d", value: strings.Repeat("x", 900)}}, nil, 413},
	} {
		body, contentType := form(t, tt.parts...)
		a, err := readBody(bytes.NewReader(body), contentType, 1000)
		if tt.status != 0 {
			if err == nil || api.ProblemOf(err).Status != tt.status {
				t.Errorf("%s: %v, want %d", tt.name, err, tt.status)
			}
			continue
		}
		if err != nil || string(a.Data) != audio.value || !maps.Equal(a.Fields, tt.fields) {
			t.Errorf("%s: %d bytes, fields %v, %v", tt.name, len(a.Data), a.Fields, err)
		}
	}
	body, contentType := form(t, audio)
	if _, err := readBody(bytes.NewReader(body[:len(body)-30]), contentType, MaxFile); err == nil || api.ProblemOf(err).Status != 400 {
		t.Errorf("half a form: %v", err)
	}
	body, contentType = form(t, part{"file", "a.wav", "audio/wav", "x"})
	if a, err := readBody(bytes.NewReader(body), contentType, MaxFile); err == nil {
		t.Errorf("another field's file: %+v", a)
	}
}

// TestFault: each error of reading audio has its answer, and a sentence.
func TestFault(t *testing.T) {
	for err, status := range map[error]int{
		transcode.ErrUnknownFormat: 400, transcode.ErrNoDecoder: 400, transcode.ErrDamaged: 400, transcode.ErrTooSlow: 400,
		transcode.ErrTooLarge: 413, transcode.ErrTooLong: 413, transcode.ErrBusy: 503,
	} {
		if p := api.ProblemOf(Fault(err)); p.Status != status || p.Detail == "" {
			t.Errorf("%v: %+v, want %d", err, p, status)
		}
	}
	p := api.ProblemOf(Fault(&transcode.Error{Fault: transcode.ErrDamaged, Reason: "60000 channels"}))
	if p.Status != 400 || !strings.Contains(p.Detail, "60000 channels") {
		t.Errorf("%+v", p)
	}
	if other := errors.New("x"); Fault(other) != other {
		t.Error("another error was changed")
	}
}

// FuzzRead reads anything as a form.
func FuzzRead(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"audio\"\r\n\r\nx\r\n--b--\r\n"))
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"audio\"\r\nContent-Type: ;;\r\n\r\nx"))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := readBody(bytes.NewReader(body), "multipart/form-data; boundary=b", 100)
		if err == nil && len(a.Data) > 100 {
			t.Errorf("%d bytes", len(a.Data))
		}
		if err != nil && api.ProblemOf(err).Status >= 500 {
			t.Error(err)
		}
	})
}

// TestReadAll: what is within the bound comes whole, with a length or without, and costs
// twice its size at most; a byte more is too large.
func TestReadAll(t *testing.T) {
	const limit = 20 << 20
	sent := make([]byte, limit+1)
	for i := range sent {
		sent[i] = byte(i ^ i>>8 ^ i>>16)
	}
	var before, after runtime.MemStats
	for _, n := range []int{0, 1, 511, 512, 513, maxPiece - 1, 2 * maxPiece, limit - 1, limit, limit + 1} {
		for _, length := range []int64{-1, int64(n)} {
			runtime.ReadMemStats(&before)
			got, err := ReadAll(iotest.DataErrReader(bytes.NewReader(sent[:n])), limit, length)
			runtime.ReadMemStats(&after)
			switch {
			case n > limit && err != api.ErrTooLarge:
				t.Errorf("%d bytes, length %d: %v", n, length, err)
			case n <= limit && (err != nil || !bytes.Equal(got, sent[:n])):
				t.Errorf("%d bytes, length %d: %d came, %v", n, length, len(got), err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > uint64(2*n)+2*maxPiece {
				t.Errorf("%d bytes, length %d: %d allocated", n, length, took)
			}
		}
	}
	torn := io.MultiReader(bytes.NewReader(sent[:1000]), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := ReadAll(torn, limit, -1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a torn body: %v", err)
	}
}
