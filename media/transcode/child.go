package transcode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"parley/media"
	"parley/media/sandbox"
)

// program is what decodes and encodes compressed audio.
const program = "ffmpeg"

// Available says whether ffmpeg is on this machine: without it only WAV and PCM
// can be read, and WAV, PCM and ULaw written.
func Available() bool {
	_, err := exec.LookPath(program)
	return err == nil
}

const (
	// maxMemory bounds what a child may allocate, in bytes.
	maxMemory = 200 << 20
	// decodeCPU and encodeCPU bound its processor time; encoding lasts as long as its
	// writer needs, and two hours take about a minute.
	decodeCPU = time.Minute
	encodeCPU = 10 * time.Minute
	// niceness keeps files, which can wait, from delaying the audio of calls.
	niceness = 10
	// pipesClose is how long the pipes of a child that has ended may stay open.
	pipesClose = 5 * time.Second
)

// decoders and encoders bound how many children there are at once, each kind by
// the number of cores: more would only share them.
var (
	decoders = make(chan struct{}, runtime.NumCPU())
	encoders = make(chan struct{}, runtime.NumCPU())
)

// child makes a confined process of the program, or returns ErrNoDecoder. What it has to
// say about a file is not read.
func child(ctx context.Context, cpu time.Duration, args ...string) (*exec.Cmd, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, ErrNoDecoder
	}
	args = append([]string{"-nostdin", "-hide_banner", "-loglevel", "quiet", "-threads", "1"}, args...)
	cmd, err := sandbox.Command(ctx, sandbox.Config{Path: path, Args: args, Nice: niceness, Limits: sandbox.Limits{Memory: maxMemory, CPU: cpu}})
	if err != nil {
		return nil, err
	}
	cmd.WaitDelay = pipesClose
	return cmd, nil
}

// demuxers name the reader of each container. It is always given: a guess by the
// content could end at one that opens other files.
var demuxers = map[Format]string{
	WAV: "wav", MP3: "mp3", AAC: "aac", Ogg: "ogg", WebM: "matroska", MP4: "mov", FLAC: "flac",
}

// decodeByChild decodes a file with ffmpeg into a temporary file.
func decodeByChild(ctx context.Context, body []byte, format Format, o Options) (Clip, error) {
	demuxer, ok := demuxers[format]
	if !ok {
		return nil, ErrUnknownFormat
	}
	if !Available() {
		return nil, ErrNoDecoder
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Limits.Patience, ErrTooSlow)
	defer cancel()
	select {
	case decoders <- struct{}{}:
		defer func() { <-decoders }()
	case <-ctx.Done():
		return nil, waited(ctx)
	}
	out, err := Unlinked(o.Limits.TempDir)
	if err != nil {
		return nil, err
	}
	var c *decoded
	if err = run(ctx, body, format, demuxer, out, o); err == nil {
		c, err = openDecoded(out, o.Limits)
	}
	if err != nil {
		_ = out.Close() // there is nothing in it that anybody wants
		return nil, err
	}
	return c, nil
}

// waited is why a file was not decoded in time.
func waited(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != ErrTooSlow {
		return cause
	}
	return ErrBusy
}

// run decodes body into out, as a WAV file: its header says the rate.
func run(ctx context.Context, body []byte, format Format, demuxer string, out *os.File, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	input, protocol := "pipe:0", "pipe"
	if format == MP4 {
		// The index may be at the end, so the reader must be able to seek: it gets
		// the file as its standard input and opens it by the name of that.
		input, protocol = "/dev/stdin", "file,pipe"
	}
	args := []string{"-filter_threads", "1", "-protocol_whitelist", protocol, "-f", demuxer}
	if format == MP4 {
		args = append(args, "-enable_drefs", "0") // tracks that lie in other files
	}
	longest := strconv.FormatFloat((o.Limits.Duration + time.Second).Seconds(), 'f', 3, 64) // what is longer is not wanted, so it is not decoded
	args = append(args, "-i", input, "-map", "0:a:0", "-map_metadata", "-1", "-ac", "1", "-t", longest)
	if o.Rate != 0 {
		args = append(args, "-ar", strconv.Itoa(int(o.Rate)))
	}
	args = append(args, "-threads", "1", "-c:a", "pcm_s16le", "-flags", "+bitexact", "-fflags", "+bitexact", "-f", "wav", "pipe:1")
	cmd, err := child(ctx, decodeCPU, args...)
	if err != nil {
		return err
	}
	cmd.Stdin = bytes.NewReader(body)
	if format == MP4 {
		in, err := Unlinked(o.Limits.TempDir)
		if err != nil {
			return err
		}
		defer in.Close()
		if _, err := in.Write(body); err != nil {
			return err
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return err
		}
		// The reader opens it again, as another account; it has no name for others.
		if err := in.Chmod(0o444); err != nil {
			return err
		}
		cmd.Stdin = in
	}
	cmd.Stdout = &bounded{w: out, left: maxDecoded(o.Limits.Duration), full: func() { cancel(ErrTooLong) }}
	var said bytes.Buffer // by the sandbox; the decoder is quiet
	cmd.Stderr = &said
	err = cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		if e.ExitCode() == sandbox.NotStarted {
			return fmt.Errorf("transcode: %s", bytes.TrimSpace(said.Bytes()))
		}
		return fault(ErrDamaged, "%s audio that cannot be decoded (%d)", format, e.ExitCode())
	}
	return err
}

// maxDecoded is how many bytes of decoded audio are taken: d at 48 kHz, so that
// higher rates, of which no recording has hours, take no more room.
func maxDecoded(d time.Duration) int64 {
	return int64((d+time.Second).Seconds()*float64(media.Rate48k)) * 2
}

// bounded passes on left bytes at most and calls full at the first that is too
// many. It hides what w can do besides, so that a child never gets a file itself.
type bounded struct {
	w    io.Writer
	left int64
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if int64(len(p)) > b.left {
		b.full()
		return 0, ErrTooLong
	}
	n, err := b.w.Write(p)
	b.left -= int64(n)
	return n, err
}

// Unlinked is a new file in a directory that has no name any more: it goes with its last user,
// whatever happens to this process. The caller closes it. An empty dir is that of temporary files.
func Unlinked(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "audio-*.part")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close() // the first error says more
		return nil, err
	}
	return f, nil
}
