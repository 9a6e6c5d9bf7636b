package transcode

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"

	"parley/media"
	"parley/media/wav"
)

// opusBitRate is plenty for two voices in two channels.
const opusBitRate = "48k"

// Opus encodes raw PCM of a rate and 1 or 2 channels, Int16 little endian, as Opus in Ogg
// (RFC 7845). Waiting for a free encoder ends with ctx only; ErrNoEncoder without ffmpeg.
// A child reads raw to its end and nothing of w is a file of the child's.
func Opus(ctx context.Context, w io.Writer, raw io.Reader, rate media.Rate, channels int) error {
	select {
	case encoders <- struct{}{}:
		defer func() { <-encoders }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	cmd, err := encoder(ctx, "Opus", rate, channels, "libopus", "-b:a", opusBitRate, "-application", "voip", "-map_metadata", "-1",
		"-flags", "+bitexact", "-fflags", "+bitexact", "-f", "ogg", "pipe:1")
	if err != nil {
		return err
	}
	return through(ctx, cmd, w, raw, "encoding")
}

// OpusToWAV decodes Opus in Ogg to a WAV file of a rate and 1 or 2 channels, which need
// not be the file's. ErrNoDecoder without ffmpeg.
func OpusToWAV(ctx context.Context, w io.WriteSeeker, ogg io.Reader, rate media.Rate, channels int) error {
	select {
	case decoders <- struct{}{}:
		defer func() { <-decoders }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	cmd, err := child(ctx, decodeCPU, "-filter_threads", "1", "-protocol_whitelist", "pipe", "-f", "ogg", "-i", "pipe:0", "-map", "0:a:0", "-map_metadata", "-1",
		"-ac", strconv.Itoa(channels), "-ar", strconv.Itoa(int(rate)), "-threads", "1", "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1")
	if err != nil {
		return err
	}
	return toWAV(w, rate, channels, func(out io.Writer) error { return through(ctx, cmd, out, ogg, "decoding") })
}

// RawToWAV writes raw PCM, Int16 little endian, as a WAV file of 1 or 2 channels.
func RawToWAV(w io.WriteSeeker, raw io.Reader, rate media.Rate, channels int) error {
	return toWAV(w, rate, channels, func(out io.Writer) error {
		_, err := io.Copy(out, raw)
		return err
	})
}

// through has a child turn what r has into what w gets.
func through(ctx context.Context, cmd *exec.Cmd, w io.Writer, r io.Reader, what string) error {
	out := &output{w: w}
	cmd.Stdin, cmd.Stdout = struct{ io.Reader }{r}, out // never files themselves
	return out.outcome(ctx, cmd.Run(), what)
}

// toWAV makes a WAV file of the samples that fill writes as bytes.
func toWAV(w io.WriteSeeker, rate media.Rate, channels int, fill func(io.Writer) error) error {
	file, err := wav.NewWriter(w, rate, channels)
	if err != nil {
		return err
	}
	return errors.Join(fill(&sampler{w: file}), file.Close())
}

// sampler turns bytes into samples.
type sampler struct {
	w    *wav.Writer
	buf  []int16
	half []byte // of a sample
}

func (s *sampler) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.half) > 0 && n > 0 {
		p = append(s.half, p...)
	}
	s.buf = media.AppendSamples(s.buf[:0], p)
	s.half = slices.Clone(p[len(p)&^1:])
	if err := s.w.Write(s.buf); err != nil {
		return 0, err
	}
	return n, nil
}
