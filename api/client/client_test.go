package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"parley/api/client"
	"parley/api/client/clienttest"
	"parley/api/wire"
)

func open(t *testing.T, url, key string) *client.Client {
	t.Helper()
	c, err := client.New(url, key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t *testing.T, a *client.Audio, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := io.ReadAll(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func speech(text string) client.Speech {
	return client.Speech{Text: text, Voice: "F1", Language: "en"}
}

func TestSynthesize(t *testing.T) {
	s := clienttest.New(t)
	c := open(t, s.URL+"/", clienttest.Key)
	a, err := c.Synthesize(t.Context(), speech("Hello"))
	if b := read(t, a, err); !bytes.Equal(b, clienttest.WAV("Hello")) || a.Size != int64(len(b)) || a.Type != "audio/wav" {
		t.Errorf("%d bytes, said to be %d of %s", len(b), a.Size, a.Type)
	}
	for _, r := range s.Requests() {
		if strings.Contains(r, clienttest.Key) {
			t.Errorf("the key is in an address: %s", r)
		}
	}
}

func TestStream(t *testing.T) {
	s := clienttest.New(t)
	c := open(t, s.URL, clienttest.Key)
	var samples []int16
	chunks := 0
	for k, err := range c.Stream(t.Context(), speech("Hello there, how are you?")) {
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, k...)
		chunks++
	}
	if len(samples) != 25*clienttest.SamplesPerCharacter || samples[1000] != 1000 || chunks < 2 {
		t.Errorf("%d samples in %d chunks", len(samples), chunks)
	}
	for range c.Stream(t.Context(), speech("Hello there, how are you?")) {
		break // leaves nothing behind, and does not hang
	}
	for _, tt := range []struct{ text, want string }{
		{strings.Repeat("x", 5_001), "validation.text_too_long"},
		{"break", "was lost"},
	} {
		var last error
		for _, err := range c.Stream(t.Context(), speech(tt.text)) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), tt.want) {
			t.Errorf("%.10s: %v", tt.text, last)
		}
	}
}

func TestTask(t *testing.T) {
	s := clienttest.New(t)
	c := open(t, s.URL, clienttest.Key)
	text := strings.Repeat("long ", 2_000)
	task, err := c.Submit(t.Context(), speech(text), client.PCM)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Download(t.Context(), task.TaskID); !strings.Contains(err.Error(), "task.not_ready") {
		t.Errorf("a result too early: %v", err)
	}
	// What may mend is asked again.
	s.Refuse("/api/tts/tasks/"+task.TaskID, clienttest.Problem{Status: 503, Code: "service.unavailable", Retryable: true})
	var seen []int
	task, err = c.Await(t.Context(), task.TaskID, func(t *wire.Task) { seen = append(seen, t.Progress) })
	if err != nil || task.Status != client.Completed || *task.Duration != 0.25 || !slices.Equal(seen, []int{50, 100}) {
		t.Fatalf("%+v %v, progress %v", task, err, seen)
	}
	a, err := c.Download(t.Context(), task.TaskID)
	if b := read(t, a, err); !bytes.Equal(b, append([]byte("pcm:"), clienttest.PCM(text)...)) {
		t.Errorf("%d bytes", len(b))
	}
	if err := c.Cancel(t.Context(), task.TaskID); err == nil || !strings.Contains(err.Error(), "task.ended") {
		t.Errorf("cancelled what has ended: %v", err)
	}
	if task, err = c.Submit(t.Context(), speech("fail"), client.WAV); err != nil {
		t.Fatal(err)
	}
	e, ok := errors.AsType[*client.Error](second(c.Await(t.Context(), task.TaskID, nil)))
	if !ok || e.Code != "tts.synthesis_failed" {
		t.Errorf("a task that failed: %v", e)
	}
}

func second[A any](_ A, err error) error { return err }

func TestCancelledTaskIsForgotten(t *testing.T) {
	s := clienttest.New(t)
	s.StickTasks()
	c := open(t, s.URL, clienttest.Key)
	task, err := c.Submit(t.Context(), speech("never"), client.WAV)
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err = c.Await(ctx, task.TaskID, func(*wire.Task) { cancel(enough) }); !errors.Is(err, enough) {
		t.Errorf("ended with %v", err)
	}
	if err := c.Cancel(t.Context(), task.TaskID); err != nil {
		t.Error(err)
	}
	e, ok := errors.AsType[*client.Error](second(c.Task(t.Context(), task.TaskID)))
	if !ok || e.Status != 404 {
		t.Errorf("after the end: %v", e)
	}
}

func TestRecordings(t *testing.T) {
	s := clienttest.New(t)
	c := open(t, s.URL, clienttest.Key)
	clip := clienttest.WAV("a recording")
	file := func() client.Recording { return client.Recording{Data: bytes.NewReader(clip), Size: int64(len(clip))} }
	got, err := c.Transcribe(t.Context(), file(), "es")
	if err != nil || got.Text != "what time do you open" || got.Language != "es" || got.Seconds != 1.5 || len(got.Segments) != 1 || got.Segments[0].End != 1.25 {
		t.Errorf("%+v %v", got, err)
	}
	a, err := c.Denoise(t.Context(), file(), "gtcrn")
	if b := read(t, a, err); !bytes.Equal(b, clip) || a.Seconds != 1.5 {
		t.Errorf("%d bytes, %v s", len(b), a.Seconds)
	}
	if asked := s.Requests(); asked[len(asked)-1] != "POST /denoise?engine=gtcrn" {
		t.Errorf("asked %q", asked)
	}
	noise := strings.Repeat("noise", 100)
	e, ok := errors.AsType[*client.Error](second(c.Transcribe(t.Context(), client.Recording{Data: strings.NewReader(noise), Size: 500}, "")))
	if !ok || e.Status != 400 {
		t.Errorf("not audio: %v", e)
	}
	before := len(s.Requests())
	large := client.Recording{Data: strings.NewReader(noise), Size: client.MaxUpload + 1}
	if _, err := c.Denoise(t.Context(), large, ""); !errors.Is(err, client.ErrLargeRecording) {
		t.Errorf("too large: %v", err)
	}
	if _, err := c.Denoise(t.Context(), client.Recording{Data: strings.NewReader("")}, ""); err == nil || len(s.Requests()) != before {
		t.Errorf("empty: %v", err)
	}
}

func TestListen(t *testing.T) {
	s := clienttest.New(t)
	c := open(t, s.URL, clienttest.Key)
	l, err := c.Listen(t.Context(), "en")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Send(make([]int16, 1_600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []client.Heard{{Text: "word "}, {Text: "word word "}, {Text: "word word ", Final: true}} {
		if h, err := l.Next(); err != nil || h != want {
			t.Errorf("heard %+v %v, want %+v", h, err, want)
		}
	}
	if s.Heard() != 3_200 {
		t.Errorf("the server has heard %d samples", s.Heard())
	}
	l.Close()
	if _, err := l.Next(); err != io.EOF {
		t.Errorf("after Close: %v", err)
	}
	if l, err = c.Listen(t.Context(), "ca"); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if e, ok := errors.AsType[*client.Error](second(l.Next())); !ok || e.Code != "stt.language_not_supported" {
		t.Errorf("a language nobody hears: %v", e)
	}
}

func TestAgents(t *testing.T) {
	s := clienttest.New(t)
	list, err := open(t, s.URL, clienttest.Key).Agents(t.Context())
	if err != nil || len(list) != 2 || list[0] != (wire.Agent{ID: "ag_one", Name: "Lola", Voice: "F1", Language: "en"}) {
		t.Errorf("%v %v", list, err)
	}
}

func TestEngineKeys(t *testing.T) {
	s := clienttest.New(t)
	c := open(t, s.URL, clienttest.Key)
	set, err := c.PutEngineKey(t.Context(), "flux", "a-key-of-deepgram")
	if err != nil || set.Engine != "flux" || set.Last4 != "gram" {
		t.Errorf("%+v, %v", set, err)
	}
	if list, err := c.EngineKeys(t.Context()); err != nil || len(list) != 1 || list[0].Refusal == nil {
		t.Errorf("%+v, %v", list, err)
	}
	if found, err := c.TestEngineKey(t.Context(), "flux"); err != nil || found.OK || found.Error.Code != "engine.key_refused" {
		t.Errorf("%+v, %v", found, err)
	}
	if err := c.DeleteEngineKey(t.Context(), "flux"); err != nil {
		t.Error(err)
	}
	for _, r := range s.Requests() {
		if strings.Contains(r, "deepgram") {
			t.Errorf("the key is in an address: %s", r)
		}
	}
}

// everything calls each method once.
func everything(ctx context.Context, c *client.Client) map[string]error {
	clip := client.Recording{Data: strings.NewReader("RIFF"), Size: 4}
	errs := map[string]error{
		"synthesize": second(c.Synthesize(ctx, speech("x"))), "submit": second(c.Submit(ctx, speech("x"), client.WAV)), "task": second(c.Task(ctx, "t")),
		"download": second(c.Download(ctx, "t")), "cancel": c.Cancel(ctx, "t"), "transcribe": second(c.Transcribe(ctx, clip, "")),
		"denoise": second(c.Denoise(ctx, clip, "")), "listen": second(c.Listen(ctx, "en")), "agents": second(c.Agents(ctx)),
		"engine keys": second(c.EngineKeys(ctx)), "put engine key": second(c.PutEngineKey(ctx, "flux", "a-key-of-deepgram")),
		"test engine key": second(c.TestEngineKey(ctx, "flux")), "delete engine key": c.DeleteEngineKey(ctx, "flux"),
	}
	for _, err := range c.Stream(ctx, speech("x")) {
		errs["stream"] = err
	}
	return errs
}

func TestEveryMethodSaysWhatWasWrong(t *testing.T) {
	s := clienttest.New(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + ln.Addr().String()
	ln.Close()
	ended, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }))
	defer page.Close()
	for _, tt := range []struct {
		name, url, key string
		ctx            context.Context
		is             func(error) bool
	}{
		{"wrong key", s.URL, "sk_secret", t.Context(), func(err error) bool {
			e, ok := errors.AsType[*client.Error](err)
			return ok && e.Status == 401 && e.Code == "auth.invalid_key" && !e.Retryable
		}},
		{"nobody there", nobody, "sk_secret", t.Context(), func(err error) bool {
			e, ok := errors.AsType[*client.UnreachableError](err)
			return ok && strings.HasPrefix(err.Error(), "no server answers at "+nobody+": ") && e.Server == nobody
		}},
		{"no JSON", page.URL, "sk_secret", t.Context(), func(err error) bool {
			e, ok := errors.AsType[*client.Error](err)
			return ok && e.Status == 502 && e.Retryable && strings.Contains(err.Error(), "502 Bad Gateway")
		}},
		{"ended", s.URL, "sk_secret", ended, func(err error) bool { return errors.Is(err, enough) }},
	} {
		got := everything(tt.ctx, open(t, tt.url, tt.key))
		if len(got) != 14 {
			t.Errorf("%s: %d methods", tt.name, len(got))
		}
		for method, err := range got {
			if !tt.is(err) || strings.Contains(err.Error(), "sk_secret") {
				t.Errorf("%s, %s: %v", tt.name, method, err)
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	s := clienttest.New(t)
	if err := second(open(t, strings.Replace(s.URL, "http", "ws", 1), clienttest.Key).Agents(t.Context())); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "localhost:8080", "ftp://x", "http://", "http://[::1"} {
		if _, err := client.New(bad, ""); err == nil {
			t.Errorf("%q passes for an address", bad)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for block := []byte(strings.Repeat(" ", 1<<20)); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	if _, err := open(t, endless.URL, "").Agents(t.Context()); !errors.Is(err, client.ErrTooLarge) {
		t.Error(err)
	}
}
