package transcode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stand puts a script in the place of ffmpeg. It is confined like the program: it can use
// nothing but what the shell has built in.
func stand(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	// The shell opens the script as the account that the child has.
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return dir
}

// endless does nothing until it is killed.
const endless = `kill -STOP $$`

// awaitChild returns when a child runs the stand-in of dir.
func awaitChild(t *testing.T, dir string) {
	path := filepath.Join(dir, program)
	for t.Context().Err() == nil {
		names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range names {
			words, _ := os.ReadFile(name) // of a process that has ended meanwhile: empty
			if strings.HasPrefix(string(words), "/bin/sh\x00"+path+"\x00") {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// childless fails the test if this process has a child, even one that is a zombie.
func childless(t *testing.T) {
	t.Helper()
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("there is a child (%d, %v)", pid, err)
	}
}

var mp3Head = append([]byte("ID3"), make([]byte, 100)...)

func TestCancelled(t *testing.T) {
	dir := stand(t, endless)
	why := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		awaitChild(t, dir)
		cancel(why)
	}()
	if _, err := Decode(ctx, mp3Head, Options{}); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	childless(t)
}

func TestTooSlow(t *testing.T) {
	stand(t, endless)
	_, err := Decode(t.Context(), mp3Head, Options{Limits: Limits{Patience: time.Second}})
	if !errors.Is(err, ErrTooSlow) {
		t.Errorf("%v, want %v", err, ErrTooSlow)
	}
	childless(t)
}

// TestEndlessOutput: a child that writes for ever is ended by what it wrote.
func TestEndlessOutput(t *testing.T) {
	stand(t, `while :; do echo "a line of forty characters and a few more"; done`)
	_, err := Decode(t.Context(), mp3Head, Options{Limits: Limits{Duration: time.Second}})
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("%v, want %v", err, ErrTooLong)
	}
	childless(t)
}

// TestMemory: a child gets 200 MB and not more.
func TestMemory(t *testing.T) {
	const double = `x=0123456789abcdef; while [ ${#x} -lt %d ]; do x=$x$x; done`
	for size, want := range map[int]string{16 << 20: "no audio", 256 << 20: "cannot be decoded"} {
		stand(t, fmt.Sprintf(double, size))
		if _, err := Decode(t.Context(), mp3Head, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", size, err, want)
		}
	}
}

// TestConfined: a child writes no files, runs no programs and knows nothing of our environment.
func TestConfined(t *testing.T) {
	t.Setenv("SECRET", "s")
	for script, want := range map[string]string{
		`test -z "$SECRET" || exit 3`: "no audio",
		`echo x > %s/file`:            "cannot be decoded",
		`/bin/true || exit 5`:         "cannot be decoded (5)",
	} {
		open := t.TempDir()
		if err := errors.Join(os.Chmod(open, 0o777), os.Chmod(filepath.Dir(open), 0o755)); err != nil {
			t.Fatal(err)
		}
		stand(t, strings.ReplaceAll(script, "%s", open))
		if _, err := Decode(t.Context(), mp3Head, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", script, err, want)
		}
		if left, err := os.ReadDir(open); err != nil || len(left) != 0 {
			t.Errorf("%s: %v, %v", script, left, err)
		}
	}
}

// TestBusy: there are as many children as cores, and who waits for one in vain is
// told so.
func TestBusy(t *testing.T) {
	stand(t, endless)
	for range cap(decoders) {
		decoders <- struct{}{}
	}
	defer func() {
		for range cap(decoders) {
			<-decoders
		}
	}()
	if _, err := Decode(t.Context(), mp3Head, Options{Limits: Limits{Patience: time.Millisecond}}); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want %v", err, ErrBusy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Decode(ctx, mp3Head, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

// TestTemporaryFiles: what is decoded has no name, and Close gives its room back.
func TestTemporaryFiles(t *testing.T) {
	body := made(t, "m4a", "-c:a", "aac")
	dir := t.TempDir()
	c, err := Decode(t.Context(), body, Options{Limits: Limits{TempDir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("files %v, %v", names, err)
	}
	r := c.Open()
	fd := int(c.(*decoded).f.Fd())
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Read(make([]int16, 10)); err == nil {
		t.Error("a reader of a closed clip reads")
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err == nil && st.Nlink == 0 {
		t.Error("the file is still open")
	}
	if _, err := Decode(t.Context(), body, Options{Limits: Limits{TempDir: filepath.Join(dir, "nowhere")}}); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("no room for the file: %v", err)
	}
}
