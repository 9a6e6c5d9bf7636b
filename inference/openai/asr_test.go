package openai

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/remote"
	"parley/media"
)

// upload is a transcription request as the server understood it.
type upload struct {
	fields  map[string]string
	rate    int
	samples []int16
}

func readUpload(r *http.Request) (u upload, err error) {
	if err = r.ParseMultipartForm(4 << 20); err != nil {
		return u, err
	}
	u.fields = map[string]string{}
	for k, v := range r.MultipartForm.Value {
		u.fields[k] = strings.Join(v, "|")
	}
	file, head, err := r.FormFile("file")
	if err != nil {
		return u, err
	}
	u.fields["file"] = head.Filename
	b, err := io.ReadAll(file)
	if err != nil || len(b) < 44 || string(b[:4])+string(b[8:16])+string(b[36:40]) != "RIFFWAVEfmt data" ||
		int(binary.LittleEndian.Uint32(b[4:])) != len(b)-8 || int(binary.LittleEndian.Uint32(b[40:])) != len(b)-44 {
		return u, fmt.Errorf("not a WAV file: %v", err)
	}
	u.rate = int(binary.LittleEndian.Uint32(b[24:]))
	u.samples = media.AppendSamples(nil, b[44:])
	return u, nil
}

// scribe is a transcription server that tells how much audio it got.
type scribe struct {
	mu      sync.Mutex
	uploads []upload
	fail    int // status from now on; 0: none
	reply   func(upload) string
}

func (s *scribe) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u, err := readUpload(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || r.URL.Path != "/v1/audio/transcriptions" || s.fail != 0 {
		w.WriteHeader(max(s.fail, 400))
		return
	}
	s.uploads = append(s.uploads, u)
	if s.reply != nil {
		io.WriteString(w, s.reply(u))
		return
	}
	fmt.Fprintf(w, `{"text":" %d samples "}`, len(u.samples))
}

func (s *scribe) all() []upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.uploads)
}

// counting is n samples that count from a start.
func counting(from, n int) []int16 {
	a := make([]int16, n)
	for i := range a {
		a[i] = int16(from + i)
	}
	return a
}

func openStream(t *testing.T, c remote.Engine, a inference.ASRConfig) (*ASR, inference.Recognition) {
	t.Helper()
	e, err := NewASR(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Open(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return e, r
}

func TestUpload(t *testing.T) {
	s := &scribe{}
	srv := newServer(t, s.ServeHTTP)
	c := srv.config()
	c.Model = "large"
	_, r := openStream(t, c, inference.ASRConfig{Language: "es", Hints: inference.Hints{Terms: append([]string{"  Hola \n mesa ", " "}, slices.Repeat([]string{"ñandú"}, 200)...), Context: "Casa Lola, good day", Prompt: "private"}})
	defer r.Close()
	r.Write(counting(0, 5000))
	r.Finish()
	if x := <-r.Results(); !reflect.DeepEqual(x, inference.Result{Utterance: 1, Text: "5000 samples", Final: true, Last: true, Confidence: -1}) {
		t.Errorf("result %+v", x)
	}
	u := s.all()[0]
	prompt := u.fields["prompt"]
	delete(u.fields, "prompt")
	want := map[string]string{"model": "large", "language": "es", "response_format": "verbose_json", "file": "audio.wav"}
	if !reflect.DeepEqual(u.fields, want) || u.rate != 16000 || !slices.Equal(u.samples, counting(0, 5000)) {
		t.Errorf("fields %v, %d samples at %d", u.fields, len(u.samples), u.rate)
	}
	if n := len([]rune(prompt)); n > 600 || n < 590 || prompt != "Hola mesa"+strings.Repeat(", ñandú", (n-9)/7) {
		t.Errorf("prompt of %d: %q", n, prompt)
	}
	r.Finish()
	r.Write(counting(0, 1000)) // too short to say anything
	r.Finish()
	for n := 2; n <= 3; n++ {
		if x := <-r.Results(); x.Utterance != n || x.Text != "" || !x.Last {
			t.Errorf("result %+v", x)
		}
	}
	if len(s.all()) != 1 {
		t.Error("silence was sent")
	}
}

// TestNothingToExpect: where an agent has no terms, nothing of it is sent.
func TestNothingToExpect(t *testing.T) {
	s := &scribe{}
	_, r := openStream(t, newServer(t, s.ServeHTTP).config(), inference.ASRConfig{Hints: inference.Hints{Context: "Casa Lola, good day", Prompt: "private"}})
	defer r.Close()
	r.Write(counting(0, 5000))
	r.Finish()
	<-r.Results()
	if prompt, given := s.all()[0].fields["prompt"]; given {
		t.Errorf("the prompt %q was sent", prompt)
	}
}

// TestPlainServer: one that refuses segments is asked for text alone, from its first answer on by every stream.
func TestPlainServer(t *testing.T) {
	var formats []string // one request comes after the other
	s := &scribe{}
	srv := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		r.ParseMultipartForm(1 << 20)
		formats = append(formats, r.FormValue("response_format"))
		if r.FormValue("response_format") != "json" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.ServeHTTP(w, r)
	})
	e, r := openStream(t, srv.config(), inference.ASRConfig{})
	defer r.Close()
	other, err := e.Open(t.Context(), inference.ASRConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, r := range []inference.Recognition{r, r, other} {
		r.Write(counting(0, 5000))
		r.Finish()
		if x := <-r.Results(); x.Text != "5000 samples" || x.Confidence != -1 || x.Err != nil {
			t.Errorf("result %+v", x)
		}
	}
	if want := []string{"verbose_json", "json", "json", "json"}; !slices.Equal(formats, want) {
		t.Errorf("asked for %q, want %q", formats, want)
	}
}

// TestRefusedServer: one that refuses text alone, too, refuses something else, and is asked for segments again.
func TestRefusedServer(t *testing.T) {
	s := &scribe{fail: http.StatusForbidden}
	e, r := openStream(t, newServer(t, s.ServeHTTP).config(), inference.ASRConfig{})
	defer r.Close()
	r.Write(counting(0, 5000))
	r.Finish()
	if x := <-r.Results(); inference.FaultOf(x.Err) != inference.ErrRefused {
		t.Errorf("result %+v", x)
	}
	s.mu.Lock()
	s.fail = 0
	s.mu.Unlock()
	again, err := e.Open(t.Context(), inference.ASRConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.Write(counting(0, 5000))
	again.Finish()
	if x := <-again.Results(); x.Text != "5000 samples" || s.all()[0].fields["response_format"] != "verbose_json" {
		t.Errorf("result %+v, asked for %v", x, s.all()[0].fields)
	}
}

// TestDetection: without a language none is sent, nor where the caller may change it and the server says which it was. One that
// does not is told the one that is expected.
func TestDetection(t *testing.T) {
	for _, c := range []struct {
		language, answer string
		detect           bool
		sent, heard      string
	}{
		{"", `{"text":"Si","language":"italian","segments":[{"text":"Si"}]}`, false, "", "it"},
		{"es", `{"text":"Si","language":"it","segments":[{"text":"Si"}]}`, true, "", "it"},
		{"es", `{"text":"Sí","segments":[{"text":"Sí"}]}`, false, "es", ""},
		{"es", `{"text":"Sí"}`, true, "", ""},
		{"es", "", true, "es", ""},
	} {
		s := &scribe{reply: func(upload) string { return c.answer }}
		e, err := NewASR(newServer(t, s.ServeHTTP).config())
		if err != nil {
			t.Fatal(err)
		}
		if c.answer == "" { // it is known to
			s.reply = func(upload) string { return `{"text":"Sí"}` }
			e.plain.Store(true)
		}
		r, err := e.Open(t.Context(), inference.ASRConfig{Language: c.language, Detect: c.detect})
		if err != nil {
			t.Fatal(err)
		}
		r.Write(counting(0, 5000))
		r.Finish()
		if x := <-r.Results(); x.Err != nil || x.Language != c.heard || s.all()[0].fields["language"] != c.sent {
			t.Errorf("%+v: sent %v, heard %+v", c, s.all()[0].fields, x)
		}
		if e.Info().Caps.Detects == (c.answer == "") {
			t.Errorf("%+v: %+v", c, e.Info().Caps)
		}
		r.Close()
	}
}

func TestTranscripts(t *testing.T) {
	for name, c := range map[string]struct {
		answer     string
		text       string
		confidence string
		fault      inference.Fault
	}{
		"json":    {`{"text":" Two, please.\n","usage":{"type":"duration"}}`, "Two, please.", "-1.00", 0},
		"verbose": {`{"text":"x","segments":[{"text":" Two,","avg_logprob":-0.1,"no_speech_prob":0.01},{"text":" please","avg_logprob":-0.1}]}`, "Two, please", "0.90", 0},
		"timed":   {`{"text":"x","segments":[{"text":" Two, please","avg_logprob":-0.1,"words":[{"word":" Two,","start":0.25,"end":0.5},{"word":" please","start":0.5,"end":1e300}]}]}`, "Two, please", "0.90", 0},
		"silence": {`{"text":"Thank you.","segments":[{"text":"Thank you.","avg_logprob":-1.4,"no_speech_prob":0.9}]}`, "", "-1.00", 0},
		"unsure":  {`{"text":"Two","segments":[{"text":"Two","avg_logprob":-2,"no_speech_prob":0.1}]}`, "Two", "0.14", 0},
		"likely":  {`{"text":"Two","segments":[{"text":"Two","avg_logprob":-0.5,"no_speech_prob":0.9}]}`, "Two", "0.61", 0},
		"partly":  {`{"text":"x","segments":[{"text":" Two.","avg_logprob":-0.1},{"text":" Thank you.","avg_logprob":-1.4,"no_speech_prob":0.9}]}`, "Two.", "0.90", 0},
		"unrated": {`{"text":"x","segments":[{"text":" Two,"},{"text":" please","no_speech_prob":0.9}]}`, "Two, please", "-1.00", 0},
		"text":    {`Two, please.`, "", "-1.00", inference.ErrFailed},
		"empty":   {``, "", "-1.00", inference.ErrFailed},
		"huge":    {`{"text":"` + strings.Repeat("x", 2<<20) + `"}`, "", "-1.00", inference.ErrFailed},
		"partial": {`{"text":"Two`, "", "-1.00", inference.ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scribe{reply: func(upload) string { return c.answer }}
			_, r := openStream(t, newServer(t, s.ServeHTTP).config(), inference.ASRConfig{})
			defer r.Close()
			r.Write(counting(0, 5000))
			r.Finish()
			x := <-r.Results()
			if x.Text != c.text || fmt.Sprintf("%.2f", x.Confidence) != c.confidence || inference.FaultOf(x.Err) != c.fault {
				t.Errorf("result %+v", x)
			}
			if timed := name == "timed"; timed != (len(x.Words) == 2) || timed && (x.Words[0].Text != "Two," || x.Words[0].Start != 250*time.Millisecond || x.Words[1].End < x.Words[1].Start) {
				t.Errorf("words %+v", x.Words)
			}
			if c.fault != 0 {
				if _, open := <-r.Results(); open {
					t.Error("the stream goes on after a fault")
				}
			}
		})
	}
}

// TestFaultEndsStream: and a failover brings the audio to another server.
func TestFaultEndsStream(t *testing.T) {
	bad, well := &scribe{fail: 503}, &scribe{}
	a, _ := NewASR(newServer(t, bad.ServeHTTP).config())
	b, _ := NewASR(newServer(t, well.ServeHTTP).config())
	r, err := inference.NewFailoverASR(inference.FailoverConfig{}, a, b).Open(t.Context(), inference.ASRConfig{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Write(counting(7, 4000))
	r.Finish()
	if x := <-r.Results(); x.Text != "4000 samples" || x.Utterance != 1 || x.Err != nil {
		t.Errorf("result %+v", x)
	}
	if !slices.Equal(well.all()[0].samples, counting(7, 4000)) {
		t.Error("the audio changed on the way")
	}
}

// TestResumeCancelsRequest: the caller goes on while the server works.
func TestResumeCancelsRequest(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	s := &scribe{}
	var once sync.Once
	srv := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		first := false
		once.Do(func() { first = true })
		if first {
			close(arrived)
			<-r.Context().Done()
			close(gone)
			return
		}
		s.ServeHTTP(w, r)
	})
	_, r := openStream(t, srv.config(), inference.ASRConfig{})
	defer r.Close()
	r.Write(counting(0, 4000))
	r.Finish()
	<-arrived
	r.Resume()
	<-gone
	r.Write(counting(4000, 4000))
	if n := r.Finish(); n != 1 {
		t.Errorf("Finish says %d", n)
	}
	if x := <-r.Results(); x.Text != "8000 samples" || x.Utterance != 1 || !x.Last {
		t.Errorf("result %+v", x)
	}
	if u := s.all(); len(u) != 1 || !slices.Equal(u[0].samples, counting(0, 8000)) {
		t.Errorf("%d requests", len(u))
	}
	// The result is out: the utterance goes on, only the rest is recognised.
	r.Resume()
	r.Write(counting(0, 3000))
	r.Finish()
	if x := <-r.Results(); x.Text != "3000 samples" || x.Utterance != 1 || !x.Last {
		t.Errorf("after a late Resume %+v", x)
	}
}

// TestLongUtterance: parts are sent while the caller still speaks, cut where it
// is quiet, and nothing is lost or sent twice.
func TestLongUtterance(t *testing.T) {
	s := &scribe{}
	srv := newServer(t, s.ServeHTTP)
	e, r := openStream(t, srv.config(), inference.ASRConfig{})
	defer r.Close()
	speech := make([]int16, 30*16000)
	for i := range speech {
		speech[i] = int16(1000 + i%777)
		if i/16000 == 9 || i/16000 == 20 { // two pauses
			speech[i] = int16(i % 3)
		}
	}
	var texts []string
	for at := 0; at < len(speech); at += 16000 {
		r.Write(speech[at : at+16000])
		if second := at/16000 + 1; second == 12 || second == 22 { // real time would wait here
			x := <-r.Results()
			if x.Utterance != 1 || !x.Final || x.Last {
				t.Fatalf("result %+v", x)
			}
			texts = append(texts, x.Text)
		}
	}
	r.Finish()
	for x := range r.Results() {
		texts = append(texts, x.Text)
		if x.Last {
			break
		}
	}
	var heard []int16
	for i, u := range s.all() {
		heard = append(heard, u.samples...)
		if end := len(heard) / 16000; i < 2 && end != []int{9, 20}[i] {
			t.Errorf("part %d was cut in second %d", i, end)
		}
	}
	if !slices.Equal(heard, speech) || len(texts) != 3 || e.Dropped() != 0 {
		t.Errorf("%d samples of %d in %q", len(heard), len(speech), texts)
	}
}

// TestSlowServer: audio that no longer fits is dropped, the oldest first, and
// counted.
func TestSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, end := memory(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		defer end()
		e, r := openStream(t, remote.Engine{BaseURL: "http://memory", HTTPClient: client}, inference.ASRConfig{})
		for range 20 {
			r.Write(make([]int16, 16000))
		}
		r.Finish()
		start := time.Now()
		x := <-r.Results()
		if inference.FaultOf(x.Err) != inference.ErrFailed || time.Since(start) != 10*time.Second {
			t.Errorf("result %+v after %v", x, time.Since(start))
		}
		if e.Dropped() != 5*16000 {
			t.Errorf("%d samples dropped", e.Dropped())
		}
		r.Close()
	})
}

// TestTooManyUtterances: marks are never dropped, the stream fails instead.
func TestTooManyUtterances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, end := memory(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		defer end()
		_, r := openStream(t, remote.Engine{BaseURL: "http://memory", HTTPClient: client}, inference.ASRConfig{})
		r.Write(make([]int16, 4000))
		for range 66 {
			r.Finish()
		}
		var last inference.Result
		for last = range r.Results() {
		}
		if inference.FaultOf(last.Err) != inference.ErrFailed {
			t.Errorf("last result %+v", last)
		}
		r.Close()
	})
}

func TestASRConforms(t *testing.T) {
	s := &scribe{}
	srv := newServer(t, s.ServeHTTP)
	e, err := NewASR(srv.config())
	if err != nil {
		t.Fatal(err)
	}
	heard := func(text string) bool { return text == "16000 samples" }
	enginetest.TestASR(t, e, enginetest.ASROptions{Heard: heard, Busy: srv.working, Hints: inference.Hints{Terms: []string{"a table"}}})
}

func TestWriteDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	_, r := openStream(t, remote.Engine{BaseURL: srv.URL}, inference.ASRConfig{})
	defer r.Close()
	frame := make([]int16, 320)
	if n := testing.AllocsPerRun(500, func() { r.Write(frame) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkWrite(b *testing.B) {
	e, err := NewASR(remote.Engine{BaseURL: "http://127.0.0.1:9"})
	if err != nil {
		b.Fatal(err)
	}
	r, err := e.Open(b.Context(), inference.ASRConfig{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	frame := make([]int16, 320)
	for b.Loop() {
		r.Write(frame)
	}
}
