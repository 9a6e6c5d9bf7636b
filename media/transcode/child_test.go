package transcode

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stand puts a script in the place of ffmpeg and returns the folder it knows as
// $dir.
func stand(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := "#!/bin/sh\ndir=" + dir + "\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return dir
}

// endless says who it is and then does nothing.
const endless = `: > $dir/pid.$$; exec /bin/sleep 1000`

// born waits for the child and returns its process.
func born(t *testing.T, dir string) string {
	for {
		if names, _ := filepath.Glob(filepath.Join(dir, "pid.*")); len(names) > 0 {
			return strings.TrimPrefix(filepath.Ext(names[0]), ".")
		}
		if t.Context().Err() != nil {
			return ""
		}
		time.Sleep(time.Millisecond)
	}
}

// gone says whether a process is no more, not even as a zombie.
func gone(t *testing.T, pid string) bool {
	t.Helper()
	_, err := os.Stat("/proc/" + pid)
	return errors.Is(err, os.ErrNotExist)
}

var mp3Head = append([]byte("ID3"), make([]byte, 100)...)

func TestCancelled(t *testing.T) {
	dir := stand(t, endless)
	why := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	pid := make(chan string, 1)
	go func() {
		pid <- born(t, dir)
		cancel(why)
	}()
	if _, err := Decode(ctx, mp3Head, Options{}); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	if p := <-pid; !gone(t, p) {
		t.Errorf("process %s is still there", p)
	}
}

func TestTooSlow(t *testing.T) {
	dir := stand(t, endless)
	_, err := Decode(t.Context(), mp3Head, Options{Limits: Limits{Patience: 300 * time.Millisecond}})
	if !errors.Is(err, ErrTooSlow) {
		t.Errorf("%v, want %v", err, ErrTooSlow)
	}
	if p := born(t, dir); !gone(t, p) {
		t.Errorf("process %s is still there", p)
	}
}

// TestEndlessOutput: a child that writes for ever is ended by what it wrote.
func TestEndlessOutput(t *testing.T) {
	dir := stand(t, `: > $dir/pid.$$; exec /bin/cat /dev/zero`)
	_, err := Decode(t.Context(), mp3Head, Options{Limits: Limits{Duration: time.Second}})
	if !errors.Is(err, ErrTooLong) {
		t.Errorf("%v, want %v", err, ErrTooLong)
	}
	if p := born(t, dir); !gone(t, p) {
		t.Errorf("process %s is still there", p)
	}
}

// TestMemory: a child gets 200 MB and not more.
func TestMemory(t *testing.T) {
	for size, want := range map[string]string{"100M": "no audio", "300M": "cannot be decoded"} {
		stand(t, `exec /bin/dd if=/dev/zero of=/dev/null count=1 bs=`+size)
		if _, err := Decode(t.Context(), mp3Head, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", size, err, want)
		}
	}
}

// TestNoFiles: a child writes no files and knows nothing of our environment.
func TestNoFiles(t *testing.T) {
	t.Setenv("SECRET", "s")
	stand(t, `if test -n "$SECRET"; then exit 0; fi; echo x > $dir/file; exit 0`)
	_, err := Decode(t.Context(), mp3Head, Options{})
	if err == nil || !strings.Contains(err.Error(), "cannot be decoded (-1)") { // ended by a signal
		t.Errorf("%v", err)
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
