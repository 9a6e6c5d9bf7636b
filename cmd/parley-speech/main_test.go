//go:build cgo

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"parley/inference/worker"
	"parley/inference/worker/workertest"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

// child is the program as the server runs it.
type child struct {
	*worker.Reader
	*worker.Writer
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(program, args...)}
	c.cmd.Stderr = &c.stderr
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(30*time.Second, func() { c.cmd.Process.Kill() }) // a hang fails the test
	t.Cleanup(func() { guard.Stop(); c.cmd.Process.Kill(); c.cmd.Wait() })
	c.stdin, c.Writer, c.Reader = stdin, worker.NewWriter(stdin), worker.NewReader(bufio.NewReader(stdout))
	return c
}

// expect reads the next message, which must be of a kind and stream.
func (c *child) expect(t *testing.T, kind worker.Kind, stream uint32) worker.Message {
	t.Helper()
	m, err := c.Next()
	if err != nil || m.Kind != kind || m.Stream != stream {
		t.Fatalf("message %d of stream %d (%.40q), %v; want %d of %d; %s", m.Kind, m.Stream, m.Payload, err, kind, stream, c.stderr.String())
	}
	return m
}

func (c *child) send(t *testing.T, kind worker.Kind, stream uint32, payload []byte) {
	t.Helper()
	if err := c.Send(kind, stream, payload); err != nil {
		t.Fatal(err)
	}
}

// exit drains the output and returns the exit status.
func (c *child) exit(t *testing.T) int {
	t.Helper()
	for {
		if _, err := c.Next(); err != nil {
			break
		}
	}
	var status *exec.ExitError
	if err := c.cmd.Wait(); errors.As(err, &status) {
		return status.ExitCode()
	}
	return 0
}

func request(t *testing.T, text string) []byte {
	b, err := json.Marshal(worker.Synthesis{Voice: "en-us+f4", Rate: 175, Pitch: 50, Range: 50, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// samplesUntilDone counts the speech of a request.
func (c *child) samplesUntilDone(t *testing.T, stream uint32) int {
	t.Helper()
	samples := 0
	for {
		m, err := c.Next()
		if err != nil || m.Stream != stream || m.Kind == worker.Failed {
			t.Fatalf("message %d of stream %d: %s, %v", m.Kind, m.Stream, m.Payload, err)
		}
		if m.Kind == worker.Audio {
			samples += len(m.Payload) / 2
		}
		if m.Kind == worker.Done {
			return samples
		}
	}
}

// A Cancel that comes while speech is being made ends it: the pipe holds two
// seconds of speech, so the synthesis cannot be through before the Cancel is read.
func TestCancelEndsTheSynthesis(t *testing.T) {
	c := start(t, "tts")
	c.expect(t, worker.Hello, 0)
	long := request(t, strings.Repeat("Nothing stops me from going on and on. ", 100))
	c.send(t, worker.Speak, 1, long)
	whole := c.samplesUntilDone(t, 1)
	c.send(t, worker.Speak, 2, long)
	c.send(t, worker.Cancel, 2, nil)
	c.send(t, worker.Ping, 0, nil) // its answer waits behind the speech that fills the pipe
	cut := 0
	for pong, done := false, false; !pong || !done; {
		m, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		pong, done = pong || m.Kind == worker.Pong, done || m.Kind == worker.Done
		if m.Kind == worker.Audio {
			cut += len(m.Payload) / 2
		}
	}
	if cut > whole/4 {
		t.Errorf("%d samples of %d after a Cancel at once", cut, whole)
	}
	c.send(t, worker.Cancel, 2, nil) // comes late: the next request is not meant
	c.send(t, worker.Speak, 3, request(t, "hello"))
	if c.samplesUntilDone(t, 3) == 0 {
		t.Error("silent after a Cancel")
	}
}

func TestRefusedRequests(t *testing.T) {
	c := start(t, "tts")
	c.expect(t, worker.Hello, 0)
	c.send(t, worker.Speak, 1, []byte("{"))
	c.expect(t, worker.Failed, 1)
	c.send(t, worker.Speak, 2, []byte(`{"voice":"nobody","text":"a"}`))
	c.expect(t, worker.Failed, 2)
	c.send(t, 99, 3, []byte("of a later version"))
	c.send(t, worker.Speak, 4, request(t, "hello"))
	if c.samplesUntilDone(t, 4) == 0 {
		t.Error("silent")
	}
}

func TestRefusedStreams(t *testing.T) {
	for name, c := range map[string]struct {
		kind    worker.Kind
		payload []byte
	}{
		"malformed model": {worker.Open, []byte{1}},
		"broken model":    {worker.Open, worker.EncodeModel([]byte("not a model"), []byte("a AH\n"))},
		"too much audio":  {worker.Audio, make([]byte, 1<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "asr")
			p.expect(t, worker.Hello, 0)
			if c.kind != worker.Open {
				p.send(t, worker.Open, 1, worker.EncodeModel([]byte(tinyModel), []byte("yes Y EH S\n")))
			}
			p.send(t, c.kind, 1, c.payload)
			p.expect(t, worker.Failed, 1)
			p.send(t, worker.Close, 1, nil) // crossed the failure on its way
			p.send(t, worker.Open, 2, worker.EncodeModel([]byte(tinyModel), []byte("yes Y EH S\n")))
			p.send(t, worker.Finish, 2, nil)
			if m := p.expect(t, worker.Final, 2); len(m.Payload) != 0 {
				t.Errorf("heard %q in nothing", m.Payload)
			}
			p.send(t, worker.Close, 2, nil)
			p.expect(t, worker.Done, 2)
		})
	}
}

const tinyModel = "\\data\\\nngram 1=3\n\n\\1-grams:\n-99\t<s>\t0\n-0.3\t</s>\n-0.3\tyes\n\n\\end\\\n"

// The program ends with its standard input, whatever it is doing.
func TestEndsWithItsInput(t *testing.T) {
	for _, mode := range []string{"tts", "asr"} {
		c := start(t, mode)
		c.expect(t, worker.Hello, 0)
		if mode == "tts" {
			c.send(t, worker.Speak, 1, request(t, strings.Repeat("On and on. ", 2000)))
		}
		c.stdin.Close()
		if status := c.exit(t); status != 0 {
			t.Errorf("%s: exit status %d, %s", mode, status, c.stderr.String())
		}
	}
}

func TestGarbageIsRefused(t *testing.T) {
	for _, mode := range []string{"tts", "asr"} {
		c := start(t, mode)
		c.expect(t, worker.Hello, 0)
		c.stdin.Write(bytes.Repeat([]byte{0xff}, 100))
		if status := c.exit(t); status != 1 || !strings.Contains(c.stderr.String(), "malformed") {
			t.Errorf("%s: exit status %d, %s", mode, status, c.stderr.String())
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{}, {"sing"}, {"-loud"}} {
		c := start(t, args...)
		if status := c.exit(t); status != 2 || !strings.Contains(c.stderr.String(), "usage") {
			t.Errorf("%v: exit status %d, %s", args, status, c.stderr.String())
		}
	}
	c := start(t, "-model", "/nonexistent", "asr")
	if status := c.exit(t); status != 1 || !strings.Contains(c.stderr.String(), "pocketsphinx-en-us") {
		t.Errorf("missing model: exit status %d, %s", status, c.stderr.String())
	}
}
