package transcode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"

	"parley/media"
	"parley/media/g711"
	"parley/media/wav"
)

// Writer takes samples, one channel, 16 bits. It belongs to one goroutine. Close
// must be called, also after an error: it completes the file, waits for what runs
// beside and frees it. It does not close what was written to.
type Writer interface {
	// Write takes all samples or returns an error, which is final; Close says why.
	Write(samples []int16) error
	Close() error
}

// Encode begins a file of the format WAV, PCM, MP3 or ULaw; the rate is one of a
// call. All but MP3 need no ffmpeg.
//
// WAV has its length in its header, so w must be an io.WriteSeeker; who knows the
// length before uses wav.WriteHeader and PCM. MP3 is of constant bit rate, so that
// players know its length without a header; it is written to w from another
// goroutine until Close returns, and the end of ctx ends it. Waiting for a free
// encoder ends with ctx only.
func Encode(ctx context.Context, w io.Writer, format Format, rate media.Rate) (Writer, error) {
	if !rate.Valid() {
		return nil, fmt.Errorf("transcode: no %s of %v", format, rate)
	}
	switch format {
	case PCM:
		return &plain{w: w, encode: media.AppendPCM}, nil
	case ULaw:
		return &plain{w: w, encode: encodeULaw}, nil
	case WAV:
		seeker, ok := w.(io.WriteSeeker)
		if !ok {
			return nil, fault(ErrNoEncoder, "a WAV file of unknown length must be written where one can seek")
		}
		return wav.NewWriter(seeker, rate, 1)
	case MP3:
		return newMP3(ctx, w, rate)
	}
	return nil, ErrNoEncoder
}

// writeBlock is how many samples are encoded at a time.
const writeBlock = 8 << 10

// plain writes samples without a header.
type plain struct {
	w      io.Writer
	encode func(dst []byte, samples []int16) []byte
	buf    []byte
	err    error
}

func encodeULaw(dst []byte, samples []int16) []byte {
	return dst[:g711.PCMU.Encode(dst[:len(samples)], samples)]
}

func (p *plain) Write(samples []int16) error {
	if p.buf == nil {
		p.buf = make([]byte, 0, 2*writeBlock)
	}
	for len(samples) > 0 && p.err == nil {
		n := min(writeBlock, len(samples))
		_, p.err = p.w.Write(p.encode(p.buf[:0], samples[:n]))
		samples = samples[n:]
	}
	return p.err
}

func (p *plain) Close() error { return p.err }

// mp3 writes through a child.
type mp3 struct {
	plain
	ctx   context.Context
	cmd   *exec.Cmd
	stdin io.Closer
	out   *output
	done  bool
}

// output remembers why w took no more: the child only knows that its pipe broke.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.err = err
	}
	return n, err
}

// outcome is how a child has ended that wrote there: err unless something else was the reason.
func (o *output) outcome(ctx context.Context, err error, what string) error {
	err = cmp.Or(o.err, err)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("transcode: %s: %w", what, err)
	}
	return nil
}

func newMP3(ctx context.Context, w io.Writer, rate media.Rate) (*mp3, error) {
	select {
	case encoders <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	m, err := startMP3(ctx, w, rate)
	if err != nil {
		<-encoders
		return nil, err
	}
	return m, nil
}

// encoder makes a child that encodes raw PCM, or returns ErrNoEncoder. args begin with the codec.
func encoder(ctx context.Context, format string, rate media.Rate, channels int, args ...string) (*exec.Cmd, error) {
	raw := []string{"-protocol_whitelist", "pipe", "-f", "s16le", "-ac", strconv.Itoa(channels), "-ar", strconv.Itoa(int(rate)),
		"-i", "pipe:0", "-threads", "1", "-c:a"}
	cmd, err := child(ctx, encodeCPU, append(raw, args...)...)
	if errors.Is(err, ErrNoDecoder) {
		return nil, fault(ErrNoEncoder, "%s needs ffmpeg", format)
	}
	return cmd, err
}

func startMP3(ctx context.Context, w io.Writer, rate media.Rate) (*mp3, error) {
	bitRate := "64k" // the most that the lowest rates allow, and plenty for speech
	if rate >= media.Rate44k {
		bitRate = "128k"
	}
	cmd, err := encoder(ctx, "MP3", rate, 1, "libmp3lame", "-b:a", bitRate, "-write_xing", "0", "-fflags", "+bitexact", "-f", "mp3", "pipe:1")
	if err != nil {
		return nil, err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out := &output{w: w}
	cmd.Stdout = out // and never a file itself: the child may write none
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	m := &mp3{ctx: ctx, cmd: cmd, stdin: stdin, out: out}
	m.w, m.encode = stdin, media.AppendPCM
	return m, nil
}

func (m *mp3) Close() error {
	if m.done {
		return m.err
	}
	m.done = true
	_ = m.stdin.Close() // the child is gone already: Wait says why
	err := m.cmd.Wait()
	<-encoders
	m.err = cmp.Or(m.out.outcome(m.ctx, err, "encoding"), m.err)
	return m.err
}
