package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/api/client/clienttest"
)

// outcome is what a command did.
type outcome struct {
	status      int
	out, errOut string
}

// run executes a command line in this process.
func run(in string, args ...string) outcome {
	var out, errOut bytes.Buffer
	status := execute(args, strings.NewReader(in), &out, &errOut)
	return outcome{status, out.String(), errOut.String()}
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
			sound := o.out
			if tt.file != "" {
				b, _ := os.ReadFile(tt.file)
				sound = string(b)
			}
			asked := s.Requests()
			if o.status != exitDone || sound != tt.sound || asked[len(asked)-1] != tt.path {
				t.Errorf("exit status %d, %d bytes of %d, asked %v\n%s", o.status, len(sound), len(tt.sound), asked, o.errOut)
			}
			if hidden, _ := filepath.Glob(".*"); len(hidden) > 0 {
				t.Errorf("left behind: %v", hidden)
			}
		})
	}
}

func TestSynthSaysWhatItDid(t *testing.T) {
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
		d := json.NewDecoder(strings.NewReader(o.out))
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil || o.status != exitDone || d.Decode(&got) != io.EOF {
			t.Errorf("exit status %d %v: %s%s", o.status, err, o.out, o.errOut)
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
		{"", "denoise in.wav -o out.wav --json", `{"file":"out.wav","seconds":1.5,"bytes":` + strconv.Itoa(len(clip))},
		{"", "transcribe in.wav --json", `{"text":"what time do you open","language":"en","engine":"fake","duration_seconds":1.5,"latency_ms":20,"sample_rate":16000,` +
			`"segments":[{"text":"what time do you open","start":0.25,"end":1.25,"duration":1}]}` + "\n"},
	} {
		if o := run(tt.in, strings.Fields(tt.command)...); o.status != exitDone || !strings.HasPrefix(o.out, tt.out) {
			t.Errorf("%s: exit status %d, %d bytes: %.200s\n%s", tt.command, o.status, len(o.out), o.out, o.errOut)
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
	if o.status != exitDone || o.out != want || !strings.Contains(o.errOut, `{"event":"partial","text":"word word"}`) {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if s.Heard() != 4_800 {
		t.Errorf("the server has heard %d samples", s.Heard())
	}
	clip := string(clienttest.WAV(strings.Repeat("x", 30))) // 300 ms at 44.1 kHz
	if o := run(clip, "transcribe", "-", "--live"); o.status != exitDone || o.out != "word word word\n" || o.errOut != "" {
		t.Errorf("WAV: exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if o := run(raw, "transcribe", "-", "--live", "--language", "ca"); o.status != exitFailed || o.out != "" || !strings.Contains(o.errOut, "stt.language_not_supported") {
		t.Errorf("a language nobody hears: exit status %d: %s%s", o.status, o.out, o.errOut)
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
		command string
		before  func()
		status  int
		word    string
	}{
		{"synth hello -o out.wav", refuse("/tts/synthesize", 402, "billing.insufficient_balance"), exitRefused, "billing.insufficient_balance"},
		{"synth hello -o out.wav", refuse("/tts/synthesize", 429, "limit.concurrency"), exitRefused, "limit.concurrency"},
		{"synth hello -o out.wav", refuse("/tts/synthesize", 403, "auth.time_limited"), exitRefused, "auth.time_limited"},
		{"synth hello -o out.mp3", refuse("/api/tts/tasks/task_1", 404, "request.not_found"), exitNotFound, "request.not_found"},
		{"synth hello -o out.wav", refuse("/tts/synthesize", 503, "service.unavailable"), exitFailed, "service.unavailable"},
		{"synth hello -o out.mp3", refuse("/api/tts/F1/async", 429, "tts.session_limit_reached"), exitRefused, "tts.session_limit_reached"},
		{"synth fail -o out.mp3", nil, exitFailed, "tts.synthesis_failed"},
		{"synth break --stream -o out.pcm", nil, exitFailed, "was lost"},
		{"synth hello -o out.wav --voice Z11", nil, exitFailed, "validation.invalid_voice"},
		{"synth hello -o out.wav --key sk_other", nil, exitFailed, "auth.invalid_key"},
		{"synth hello -o out.wav --url " + nobody, nil, exitFailed, "no server answers at " + nobody},
		{"synth hello --stream -o out.wav --url " + nobody, nil, exitFailed, "no server answers at " + nobody},
		{"talk --agent ag_x --in in.wav --out out.wav --url " + nobody, nil, exitFailed, "no server answers at " + nobody},
		{"synth hello -o nowhere/out.wav", nil, exitFailed, "no such file"},
		{"synth -o out.wav --file nowhere.txt", nil, exitFailed, "nowhere.txt"},
		{"synth -o out.wav", nil, exitUsage, "what is to be spoken"},
		{"synth hello --file in.wav -o out.wav", nil, exitUsage, "not both"},
		{"synth --file in.wav -o out.wav", nil, exitUsage, "UTF-8"},
		{"synth - -o out.wav", nil, exitUsage, "empty"},
		{"synth hello --format ogg -o out.wav", nil, exitUsage, "ulaw"},
		{"synth hello --format wav --stream -o out.wav", nil, exitUsage, "stream"},
		{"synth hello --json", nil, exitUsage, "--out FILE"},
		{"synth hello --speed fast -o out.wav", nil, exitUsage, "speed"},
		{"synth hello world -o out.wav", nil, exitUsage, "arg"},
		{"synth hello -o out.wav --url here", nil, exitUsage, "--url"},
		{"transcribe nowhere.wav", nil, exitFailed, "nowhere.wav"},
		{"transcribe .", nil, exitFailed, "not a file"},
		{"transcribe -", nil, exitFailed, "empty"},
		{"transcribe", nil, exitUsage, "arg"},
		{"denoise in.wav -o out.wav", refuse("/denoise", 402, "billing.topup_required"), exitRefused, "billing.topup_required"},
		{"denoise in.wav --json", nil, exitUsage, "--out FILE"},
		{"completion tcsh", nil, exitUsage, "tcsh"},
	} {
		if tt.before != nil {
			tt.before()
		}
		o := run(" ", strings.Fields(tt.command)...)
		if tt.command == "transcribe -" {
			o = run("", strings.Fields(tt.command)...)
		}
		if o.status != tt.status || !strings.Contains(o.errOut, tt.word) || !strings.HasPrefix(o.errOut, "parley: ") || strings.Count(o.errOut, "\n") != 1 || o.out != "" {
			t.Errorf("%s: exit status %d, want %d: %s%s", tt.command, o.status, tt.status, o.out, o.errOut)
		}
		if strings.Contains(o.errOut, clienttest.Key) || strings.Contains(o.errOut, "sk_other") {
			t.Errorf("%s: shows the key: %s", tt.command, o.errOut)
		}
	}
	if left, _ := filepath.Glob("*out*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Setenv("PARLEY_API_KEY", "")
	for _, command := range []string{"synth hello -o out.wav", "transcribe in.wav", "denoise in.wav -o out.wav", "talk --agent ag_x --in in.wav"} {
		if o := run("", strings.Fields(command)...); o.status != exitUsage || !strings.Contains(o.errOut, "PARLEY_API_KEY") {
			t.Errorf("%s without a key: exit status %d: %s", command, o.status, o.errOut)
		}
	}
}

// TestInterruptCancelsTheTask interrupts the program while the server works.
func TestInterruptCancelsTheTask(t *testing.T) {
	s := clienttest.New(t)
	s.StickTasks()
	cmd := command(t.TempDir(), "synth", "hello", "-o", filepath.Join(t.TempDir(), "out.mp3"))
	cmd.Env = append(cmd.Env, "PARLEY_URL="+s.URL, "PARLEY_API_KEY="+clienttest.Key)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	asked := func(r string) bool { return slices.Contains(s.Requests(), r) }
	eventually(t, "the task is asked about", func() bool { return asked("GET /api/tts/tasks/task_1") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if _, ok := err.(*exec.ExitError); !ok || cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(stderr.String(), "the task was cancelled") {
		t.Errorf("%v: %s", err, &stderr)
	}
	if !asked("DELETE /api/tts/tasks/task_1") {
		t.Errorf("asked %v", s.Requests())
	}
}

// terminal is a pseudo-terminal: what the program sees, and what a person does.
func terminal(t *testing.T) (program, person *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return program, person
}

func TestSoundIsNotWrittenToATerminal(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("in.wav", clienttest.WAV("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	tty, _ := terminal(t)
	for _, line := range []string{"synth hello", "synth hello -o -", "synth hello --stream", "denoise in.wav", "talk --agent ag_x --in in.wav --out -"} {
		var errOut bytes.Buffer
		if status := execute(strings.Fields(line), strings.NewReader(""), tty, &errOut); status != exitUsage || !strings.Contains(errOut.String(), "--out FILE") {
			t.Errorf("%s: exit status %d: %s", line, status, &errOut)
		}
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("paid for what is not heard: %v", asked)
	}
}

func TestProgress(t *testing.T) {
	tty, person := terminal(t)
	for _, tt := range []struct {
		name, noColor string
		out           io.Writer
		json          bool
		want          string
	}{
		{"terminal", "", tty, false, "\rspeaking     \x1b[32m███████████████\x1b[2m░░░░░░░░░░░░░░░\x1b[0m  50 %\r" + strings.Repeat(" ", barWidth+20) + "\r"},
		{"without color", "1", tty, false, "\rspeaking     ███████████████░░░░░░░░░░░░░░░  50 %\r" + strings.Repeat(" ", barWidth+20) + "\r"},
		{"pipe", "", new(bytes.Buffer), false, "speaking: 50 %\n"},
		{"json", "", new(bytes.Buffer), true, `{"event":"progress","percent":50,"step":"speaking"}` + "\n"},
		{"json on a terminal", "", tty, true, `{"event":"progress","percent":50,"step":"speaking"}` + "\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", tt.noColor)
			cmd := newVersionCommand()
			cmd.SetErr(tt.out)
			p := newProgress(cmd, tt.json)
			p.begin("speaking")
			p.set(1, 100) // too early to bother anybody
			p.shown = time.Now().Add(-lineEvery)
			p.set(50, 100)
			p.set(51, 100) // too soon again
			p.end()
			got := ""
			if b, ok := tt.out.(*bytes.Buffer); ok {
				got = b.String()
			} else {
				b := make([]byte, len(tt.want))
				n, err := io.ReadFull(person, b)
				if got = string(b[:n]); err != nil {
					t.Fatal(err)
				}
			}
			if got != tt.want {
				t.Errorf("shows %q, want %q", got, tt.want)
			}
		})
	}
}
