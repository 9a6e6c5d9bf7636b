package remote

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
)

// run executes a command line of this package.
func run(in string, args ...string) commandtest.Outcome {
	return commandtest.Run(root(), in, args, ExitStatus)
}

// root has the commands of this package.
func root() *cobra.Command {
	root := &cobra.Command{Use: "parley"}
	root.AddCommand(Commands()...)
	return root
}

// fakeServer is one that the commands find.
func fakeServer(t *testing.T) *clienttest.Server {
	t.Helper()
	s := clienttest.New(t)
	t.Setenv("PARLEY_URL", s.URL)
	t.Setenv("PARLEY_API_KEY", clienttest.Key)
	return s
}

func TestSynth(t *testing.T) {
	s := fakeServer(t)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	long := strings.Repeat("línea ", 1_000) // 6,000 characters
	for _, f := range []struct{ name, text string }{{text, "from a file"}, {filepath.Join(dir, "long.txt"), long}} {
		if err := os.WriteFile(f.name, []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wav := func(s string) string { return string(clienttest.WAV(s)) }
	for _, tt := range []struct {
		name  string
		in    string
		args  []string
		file  string // that holds the sound; empty: standard output
		sound string
		path  string // that was asked last
	}{
		{"argument", "", []string{"hello"}, "", wav("hello"), "POST /tts/synthesize"},
		{"standard input", "piped", []string{"-", "-o", "-"}, "", wav("piped"), "POST /tts/synthesize"},
		{"file", "", []string{"--file", text, "-o", "a.wav"}, "a.wav", wav("from a file"), "POST /tts/synthesize"},
		{"other format", "", []string{"hello", "--format", "ulaw", "-o", "a.bin", "--voice", "M3"}, "a.bin", "ulaw:" + string(clienttest.PCM("hello")),
			"GET /api/tts/tasks/task_1/download"},
		{"format by name", "", []string{"hello", "-o", "a.mp3"}, "a.mp3", "mp3:" + string(clienttest.PCM("hello")), "GET /api/tts/tasks/task_2/download"},
		{"long", "", []string{"--file", filepath.Join(dir, "long.txt"), "-o", "b.wav"}, "b.wav", wav(long), "GET /api/tts/tasks/task_3/download"},
		{"stream", "", []string{"hello there", "--stream"}, "", string(clienttest.PCM("hello there")), "GET /ws/tts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(dir)
			o := run(tt.in, append([]string{"synth"}, tt.args...)...)
			sound := o.Out
			if tt.file != "" {
				b, _ := os.ReadFile(tt.file)
				sound = string(b)
			}
			asked := s.Requests()
			if o.Status != command.ExitDone || sound != tt.sound || asked[len(asked)-1] != tt.path {
				t.Errorf("exit status %d, %d bytes of %d, asked %v\n%s", o.Status, len(sound), len(tt.sound), asked, o.ErrOut)
			}
			if hidden, _ := filepath.Glob(".*"); len(hidden) > 0 {
				t.Errorf("left behind: %v", hidden)
			}
		})
	}
}

func TestSynthSaysWhatItDid(t *testing.T) {
	type synthesized struct {
		File       string  `json:"file"`
		Format     string  `json:"format"`
		Characters int     `json:"characters"`
		Seconds    float64 `json:"seconds"`
		Bytes      int64   `json:"bytes"`
		LatencyMS  int64   `json:"latency_ms"`
		TaskID     string  `json:"task_id"`
	}
	fakeServer(t)
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		args []string
		want synthesized
	}{
		{[]string{"¡Buenas!", "-o", "a.wav"}, synthesized{File: "a.wav", Format: "wav", Characters: 8, Seconds: 0.08, Bytes: 44 + 2*8*441}},
		{[]string{"hello", "-o", "a.pcm"}, synthesized{File: "a.pcm", Format: "pcm", Characters: 5, Seconds: 0.25, Bytes: 4 + 2*5*441, TaskID: "task_1"}},
		{[]string{"hello", "--stream", "-o", "b.pcm"}, synthesized{File: "b.pcm", Format: "pcm", Characters: 5, Seconds: 0.05, Bytes: 2 * 5 * 441}},
	} {
		o := run("", append([]string{"synth", "--json"}, tt.args...)...)
		var got synthesized
		d := json.NewDecoder(strings.NewReader(o.Out))
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil || o.Status != command.ExitDone || d.Decode(&got) != io.EOF {
			t.Errorf("exit status %d %v: %s%s", o.Status, err, o.Out, o.ErrOut)
		}
		if got.LatencyMS = 0; got != tt.want {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
}

func TestTranscribeAndDenoise(t *testing.T) {
	fakeServer(t)
	dir := t.TempDir()
	t.Chdir(dir)
	clip := string(clienttest.WAV(strings.Repeat("x", 30)))
	if err := os.WriteFile("in.wav", []byte(clip), 0o600); err != nil {
		t.Fatal(err)
	}
	said := "what time do you open\n"
	for _, tt := range []struct {
		in, command, out string
	}{
		{"", "transcribe in.wav --language en", said},
		{clip, "transcribe -", said},
		{"", "denoise in.wav", clip},
		{clip, "denoise - -o -", clip},
		{"", "denoise in.wav --engine gtcrn", clip},
		{"", "denoise in.wav -o out.wav --json", `{"file":"out.wav","seconds":1.5,"bytes":` + strconv.Itoa(len(clip))},
		{"", "transcribe in.wav --json", `{"text":"what time do you open","language":"en","engine":"fake","duration_seconds":1.5,"latency_ms":20,"sample_rate":16000,` +
			`"segments":[{"text":"what time do you open","start":0.25,"end":1.25,"duration":1}]}` + "\n"},
	} {
		if o := run(tt.in, strings.Fields(tt.command)...); o.Status != command.ExitDone || !strings.HasPrefix(o.Out, tt.out) {
			t.Errorf("%s: exit status %d, %d bytes: %.200s\n%s", tt.command, o.Status, len(o.Out), o.Out, o.ErrOut)
		}
	}
	if b, err := os.ReadFile("out.wav"); err != nil || string(b) != clip {
		t.Errorf("out.wav: %d bytes, %v", len(b), err)
	}
}

func TestTranscribeLive(t *testing.T) {
	s := fakeServer(t)
	raw := string(make([]byte, 2*4_800)) // 300 ms at 16 kHz
	o := run(raw, "transcribe", "-", "--live", "--json")
	want := `{"text":"word word word","utterances":["word word word"],"duration_seconds":0.3}` + "\n"
	if o.Status != command.ExitDone || o.Out != want || !strings.Contains(o.ErrOut, `{"event":"partial","text":"word word"}`) {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if s.Heard() != 4_800 {
		t.Errorf("the server has heard %d samples", s.Heard())
	}
	clip := string(clienttest.WAV(strings.Repeat("x", 30))) // 300 ms at 44.1 kHz
	if o := run(clip, "transcribe", "-", "--live"); o.Status != command.ExitDone || o.Out != "word word word\n" || o.ErrOut != "" {
		t.Errorf("WAV: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if o := run(raw, "transcribe", "-", "--live", "--language", "ca"); o.Status != command.ExitFailed || o.Out != "" || !strings.Contains(o.ErrOut, "stt.language_not_supported") {
		t.Errorf("a language nobody hears: exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
}

// TestCommandsThatAreRefused looks at exit statuses, and that a fault is one line
// on standard error, without the key, and leaves no file behind.
func TestCommandsThatAreRefused(t *testing.T) {
	s := fakeServer(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + ln.Addr().String()
	ln.Close()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("in.wav", clienttest.WAV("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuse := func(path string, status int, code string) func() {
		return func() { s.Refuse(path, clienttest.Problem{Status: status, Code: code, Error: "No."}) }
	}
	for _, tt := range []struct {
		line   string
		before func()
		status int
		word   string
	}{
		{"synth hello -o out.wav", refuse("/tts/synthesize", 402, "billing.insufficient_balance"), command.ExitRefused, "billing.insufficient_balance"},
		{"synth hello -o out.wav", refuse("/tts/synthesize", 429, "limit.concurrency"), command.ExitRefused, "limit.concurrency"},
		{"synth hello -o out.wav", refuse("/tts/synthesize", 403, "auth.time_limited"), command.ExitRefused, "auth.time_limited"},
		{"synth hello -o out.mp3", refuse("/api/tts/tasks/task_1", 404, "request.not_found"), command.ExitNotFound, "request.not_found"},
		{"synth hello -o out.wav", refuse("/tts/synthesize", 503, "service.unavailable"), command.ExitFailed, "service.unavailable"},
		{"synth hello -o out.mp3", refuse("/api/tts/F1/async", 429, "tts.session_limit_reached"), command.ExitRefused, "tts.session_limit_reached"},
		{"synth fail -o out.mp3", nil, command.ExitFailed, "tts.synthesis_failed"},
		{"synth break --stream -o out.pcm", nil, command.ExitFailed, "was lost"},
		{"synth hello -o out.wav --voice Z11", nil, command.ExitFailed, "validation.invalid_voice"},
		{"synth hello -o out.wav --key sk_other", nil, command.ExitFailed, "auth.invalid_key"},
		{"synth hello -o out.wav --url " + nobody, nil, command.ExitFailed, "no server answers at " + nobody},
		{"synth hello --stream -o out.wav --url " + nobody, nil, command.ExitFailed, "no server answers at " + nobody},
		{"talk --agent ag_x --in in.wav --out out.wav --url " + nobody, nil, command.ExitFailed, "no server answers at " + nobody},
		{"synth hello -o nowhere/out.wav", nil, command.ExitFailed, "no such file"},
		{"synth -o out.wav --file nowhere.txt", nil, command.ExitFailed, "nowhere.txt"},
		{"synth -o out.wav", nil, command.ExitUsage, "what is to be spoken"},
		{"synth hello --file in.wav -o out.wav", nil, command.ExitUsage, "not both"},
		{"synth --file in.wav -o out.wav", nil, command.ExitUsage, "UTF-8"},
		{"synth - -o out.wav", nil, command.ExitUsage, "empty"},
		{"synth hello --format ogg -o out.wav", nil, command.ExitUsage, "ulaw"},
		{"synth hello --format wav --stream -o out.wav", nil, command.ExitUsage, "stream"},
		{"synth hello --engine espeak -o out.mp3", nil, command.ExitUsage, "--engine goes with wav"},
		{"synth hello --engine espeak --stream -o out.pcm", nil, command.ExitUsage, "--engine goes with wav"},
		{"synth hello --json", nil, command.ExitUsage, "--out FILE"},
		{"synth hello --speed fast -o out.wav", nil, command.ExitUsage, "speed"},
		{"synth hello world -o out.wav", nil, command.ExitUsage, "arg"},
		{"synth hello -o out.wav --url here", nil, command.ExitUsage, "--url"},
		{"transcribe nowhere.wav", nil, command.ExitFailed, "nowhere.wav"},
		{"transcribe .", nil, command.ExitFailed, "not a file"},
		{"transcribe -", nil, command.ExitFailed, "empty"},
		{"transcribe", nil, command.ExitUsage, "arg"},
		{"denoise in.wav -o out.wav", refuse("/denoise", 402, "billing.topup_required"), command.ExitRefused, "billing.topup_required"},
		{"denoise in.wav --json", nil, command.ExitUsage, "--out FILE"},
	} {
		if tt.before != nil {
			tt.before()
		}
		o := run(" ", strings.Fields(tt.line)...)
		if tt.line == "transcribe -" {
			o = run("", strings.Fields(tt.line)...)
		}
		if o.Status != tt.status || !strings.Contains(o.ErrOut, tt.word) || !strings.HasPrefix(o.ErrOut, "parley: ") || strings.Count(o.ErrOut, "\n") != 1 || o.Out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", tt.line, o.Status, tt.status, o.Out, o.ErrOut)
		}
		if strings.Contains(o.ErrOut, clienttest.Key) || strings.Contains(o.ErrOut, "sk_other") {
			t.Errorf("%s: shows the key: %s", tt.line, o.ErrOut)
		}
	}
	if left, _ := filepath.Glob("*out*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Setenv("PARLEY_API_KEY", "")
	for _, line := range []string{"synth hello -o out.wav", "transcribe in.wav", "denoise in.wav -o out.wav", "talk --agent ag_x --in in.wav"} {
		if o := run("", strings.Fields(line)...); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "PARLEY_API_KEY") {
			t.Errorf("%s without a key: exit status %d: %s", line, o.Status, o.ErrOut)
		}
	}
}

func TestSoundIsNotWrittenToATerminal(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("in.wav", clienttest.WAV("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tty, _ := commandtest.Terminal(t)
	for _, line := range []string{"synth hello", "synth hello -o -", "synth hello --stream", "denoise in.wav", "talk --agent ag_x --in in.wav --out -"} {
		var errOut bytes.Buffer
		root := &cobra.Command{Use: "parley"}
		root.AddCommand(Commands()...)
		if status := command.Execute(root, strings.Fields(line), strings.NewReader(""), tty, &errOut, ExitStatus); status != command.ExitUsage || !strings.Contains(errOut.String(), "--out FILE") {
			t.Errorf("%s: exit status %d: %s", line, status, &errOut)
		}
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("paid for what is not heard: %v", asked)
	}
}
