package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"

	"parley/inference"
	"parley/inference/remote"
	"parley/media"
	"parley/media/wav"
)

// speech is a body of audio.
type speech struct {
	*remote.Answer
	usage *inference.Usage // counted, until the server says its own
}

// samples finds out what a body of speech holds: bare 16-bit little-endian
// samples, 24 kHz unless the content type says otherwise, or a WAV file, which
// some servers send whatever they were asked for, or events with the samples in
// them. It returns the samples' bytes.
func (a speech) samples() (media.Rate, io.Reader, error) {
	kind, parameters, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	riff := false
	switch kind {
	case "", "audio/pcm", "audio/x-pcm", "audio/raw", "application/octet-stream", "binary/octet-stream":
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		riff = true
	case "text/event-stream":
		return media.Rate24k, &spoken{a: a, in: remote.NewEvents(a)}, nil
	default: // compressed audio or a page would be loud noise
		return 0, nil, a.Fault(inference.ErrFailed, errors.New("the server sent neither PCM nor WAV"))
	}
	in := bufio.NewReaderSize(a, 4<<10)
	head, err := in.Peek(4)
	if err != nil && err != io.EOF {
		return 0, nil, err
	}
	if riff || bytes.Equal(head, []byte("RIFF")) {
		return a.wav(in)
	}
	rate := int(media.Rate24k)
	if given := parameters["rate"]; given != "" {
		if rate, err = strconv.Atoi(given); err != nil {
			rate = 0
		}
	}
	return a.checkRate(rate, in)
}

func (a speech) checkRate(rate int, body io.Reader) (media.Rate, io.Reader, error) {
	if rate > int(media.Rate48k) || !media.Rate(rate).Valid() {
		return 0, nil, a.Fault(inference.ErrFailed, fmt.Errorf("a sample rate of %d Hz", rate))
	}
	return media.Rate(rate), body, nil
}

// maxHeader bounds what may stand before a WAV file's samples.
const maxHeader = 64 << 10

// wav reads a WAV file up to the samples. A file written while it is spoken has a length of 0
// or nearly 4 GB and ends with the body.
func (a speech) wav(in io.Reader) (media.Rate, io.Reader, error) {
	h, err := wav.ReadHeader(io.LimitReader(in, maxHeader))
	_, ours := errors.AsType[*inference.Error](err)
	switch {
	case err != nil && (ours || a.Context().Err() != nil):
		return 0, nil, err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return 0, nil, a.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
	case err != nil:
		return 0, nil, a.Fault(inference.ErrFailed, errors.New("a broken WAV header"))
	case !h.Plain:
		return 0, nil, a.Fault(inference.ErrFailed, errors.New("WAV audio that is not 16-bit mono PCM"))
	case h.Bytes == 0 || h.Bytes >= 0x7fff0000:
		return a.checkRate(int(h.Rate), in)
	}
	return a.checkRate(int(h.Rate), &exactly{a, in, h.Bytes})
}

// exactly reads a known number of bytes; fewer are a fault, what follows is not
// looked at.
type exactly struct {
	a    speech
	in   io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.in.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = e.a.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
	}
	return n, err
}
