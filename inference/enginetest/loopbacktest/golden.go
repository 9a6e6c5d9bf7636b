package loopbacktest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/exchange"
)

// Line is one line of a golden exchange.
type Line = exchange.Line

// replayWait is how long a message may take before a replay fails, and quiet how long the
// server says nothing before a new recording takes it that nothing more comes.
const (
	replayWait = 5 * time.Second
	quiet      = 250 * time.Millisecond
)

// ReadGolden reads the lines of a golden exchange.
func ReadGolden(t testing.TB, path string) (lines []Line) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for scan := bufio.NewScanner(bytes.NewReader(data)); scan.Scan(); {
		var l Line
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		lines = append(lines, l)
	}
	return lines
}

// CompareGolden compares an exchange with its golden file, which PARLEY_GOLDEN=update writes again.
func CompareGolden(t testing.TB, path string, got []Line) {
	t.Helper()
	var text strings.Builder
	for _, l := range got {
		b, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(b, '\n'))
	}
	if Updating() {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := ReadGolden(t, path)
	for i, l := range strings.Split(strings.TrimSpace(text.String()), "\n") {
		w, _ := json.Marshal(Line{})
		if i < len(want) {
			w, _ = json.Marshal(want[i])
		}
		if l != string(w) {
			t.Fatalf("%s:%d:\n got %s\nwant %s", path, i+1, l, w)
		}
	}
}

// Updating says whether golden files are to be written again.
func Updating() bool { return os.Getenv("PARLEY_GOLDEN") == "update" }

// Masked is exchange.Masked of a message that must be JSON.
func Masked(t testing.TB, message []byte) json.RawMessage {
	t.Helper()
	b, err := exchange.Masked(message)
	if err != nil {
		t.Fatalf("%v in %.200s", err, message)
	}
	return b
}

// Replay plays the client's side of a golden exchange over a WebSocket to url, which begins
// with http, and compares what the server says with the other side. audio makes a message with
// so many bytes of audio at a level.
func Replay(t testing.TB, path, url string, header http.Header, audio func(bytes, level int) []byte) {
	t.Helper()
	lines := ReadGolden(t, path)
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(url, "http")+lines[0].Get, header)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := receive(conn)
	got := lines[:1:1]
	for i, l := range lines[1:] {
		switch {
		case l.From == "client":
			send(t, conn, l, audio)
			got = append(got, l)
			for Updating() {
				heard, ok := next(t, in, l.MS, quiet)
				if !ok {
					break
				}
				got = append(got, heard)
			}
		case !Updating():
			heard, ok := next(t, in, l.MS, replayWait)
			if !ok {
				t.Fatalf("%s:%d: nothing came, want %s", path, i+2, l.Text)
			}
			got = append(got, heard)
		}
	}
	CompareGolden(t, path, got)
}

func send(t testing.TB, conn *websocket.Conn, l Line, audio func(bytes, level int) []byte) {
	t.Helper()
	kind, data := websocket.TextMessage, []byte(l.Text)
	switch {
	case l.Bytes > 0:
		kind, data = websocket.BinaryMessage, audio(l.Bytes, l.Level)
	case l.Inside > 0:
		data = audio(l.Inside, l.Level)
	case l.Empty:
		data = nil
	case l.Plain != "":
		data = []byte(l.Plain)
	case l.Close > 0:
		kind, data = websocket.CloseMessage, websocket.FormatCloseMessage(l.Close, "")
	}
	if err := conn.WriteMessage(kind, data); err != nil {
		t.Fatal(err)
	}
}

// received is one message of the server, or how it ended.
type received struct {
	kind int
	data []byte
	err  error
}

// receive hands on what comes until the connection ends.
func receive(conn *websocket.Conn) <-chan received {
	in := make(chan received, 1<<10)
	go func() {
		defer close(in)
		for {
			kind, data, err := conn.ReadMessage()
			in <- received{kind, data, err}
			if err != nil {
				return
			}
		}
	}()
	return in
}

// next is the next message of the server, unless none comes for so long.
func next(t testing.TB, in <-chan received, ms int, wait time.Duration) (Line, bool) {
	t.Helper()
	select {
	case m, ok := <-in:
		var end *websocket.CloseError
		switch {
		case !ok:
			return Line{}, false
		case errors.As(m.err, &end):
			return Line{From: "vendor", MS: ms, Close: end.Code}, true
		case m.err != nil:
			t.Fatal(m.err)
		case m.kind == websocket.BinaryMessage:
			return Line{From: "vendor", MS: ms, Bytes: len(m.data)}, true
		}
		return Line{From: "vendor", MS: ms, Text: Masked(t, m.data)}, true
	case <-time.After(wait):
		return Line{}, false
	}
}
