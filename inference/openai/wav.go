package openai

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"

	"parley/inference"
	"parley/media"
)

// samples finds out what a body of speech holds: bare 16-bit little-endian
// samples, 24 kHz unless the content type says otherwise, or a WAV file, which
// some servers send whatever they were asked for. It returns the samples' bytes.
func (a *answer) samples() (media.Rate, io.Reader, error) {
	kind, parameters, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	wav := false
	switch kind {
	case "", "audio/pcm", "audio/x-pcm", "audio/raw", "application/octet-stream", "binary/octet-stream":
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		wav = true
	default: // compressed audio or a page would be loud noise
		return 0, nil, a.fault(inference.ErrFailed, errors.New("the server sent neither PCM nor WAV"))
	}
	in := bufio.NewReaderSize(a, 4<<10)
	head, err := in.Peek(4)
	if err != nil && err != io.EOF {
		return 0, nil, err
	}
	if wav || bytes.Equal(head, []byte("RIFF")) {
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

func (a *answer) checkRate(rate int, body io.Reader) (media.Rate, io.Reader, error) {
	if rate > int(media.Rate48k) || !media.Rate(rate).Valid() {
		return 0, nil, a.fault(inference.ErrFailed, fmt.Errorf("a sample rate of %d Hz", rate))
	}
	return media.Rate(rate), body, nil
}

// maxHeader bounds what may stand before a WAV file's samples.
const maxHeader = 64 << 10

// wav reads a RIFF header (Microsoft's Multimedia Programming Interface 1.0, and
// WAVE_FORMAT_EXTENSIBLE) up to the samples. A file written while it is spoken
// has a length of 0 or nearly 4 GB and ends with the body.
func (a *answer) wav(in io.Reader) (media.Rate, io.Reader, error) {
	broken := func(err error) (media.Rate, io.Reader, error) {
		var e *inference.Error
		switch {
		case a.ctx.Err() != nil, errors.As(err, &e):
			return 0, nil, err
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return 0, nil, a.fault(inference.ErrFailed, io.ErrUnexpectedEOF)
		}
		return 0, nil, a.fault(inference.ErrFailed, errors.New("a broken WAV header"))
	}
	var b [12]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return broken(err)
	}
	if string(b[:4]) != "RIFF" || string(b[8:]) != "WAVE" {
		return broken(nil)
	}
	rate := 0
	for room := maxHeader; ; {
		if _, err := io.ReadFull(in, b[:8]); err != nil {
			return broken(err)
		}
		name, size := string(b[:4]), binary.LittleEndian.Uint32(b[4:])
		if name == "data" {
			if rate == 0 {
				return broken(nil)
			}
			if size == 0 || size >= 0x7fff0000 {
				return a.checkRate(rate, in)
			}
			return a.checkRate(rate, &exactly{a, in, int64(size)})
		}
		if room -= int(min(size, maxHeader)) + 8; room < 0 {
			return broken(nil)
		}
		field := make([]byte, size+size&1)
		if _, err := io.ReadFull(in, field); err != nil {
			return broken(err)
		}
		if name != "fmt " {
			continue
		}
		if rate = pcmRate(field); rate == 0 {
			return 0, nil, a.fault(inference.ErrFailed, errors.New("WAV audio that is not 16-bit mono PCM"))
		}
	}
}

// pcmRate reads a "fmt " chunk; 0 when it is not 16-bit mono PCM.
func pcmRate(f []byte) int {
	if len(f) < 16 {
		return 0
	}
	code := binary.LittleEndian.Uint16(f)
	if code == 0xfffe && len(f) >= 26 { // extensible: the code is the first part of a GUID
		code = binary.LittleEndian.Uint16(f[24:])
	}
	if code != 1 || binary.LittleEndian.Uint16(f[2:]) != 1 || binary.LittleEndian.Uint16(f[14:]) != 16 {
		return 0
	}
	return int(min(binary.LittleEndian.Uint32(f[4:]), 1<<20))
}

// exactly reads a known number of bytes; fewer are a fault, what follows is not
// looked at.
type exactly struct {
	a    *answer
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
		err = e.a.fault(inference.ErrFailed, io.ErrUnexpectedEOF)
	}
	return n, err
}

// waveFile wraps 16 kHz mono samples in a WAV file.
func waveFile(samples []int16) []byte {
	const head, rate = 44, 16000
	b := make([]byte, head+2*len(samples))
	copy(b, "RIFF")
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	copy(b[8:], "WAVEfmt ")
	binary.LittleEndian.PutUint32(b[16:], 16)
	binary.LittleEndian.PutUint16(b[20:], 1) // PCM
	binary.LittleEndian.PutUint16(b[22:], 1) // mono
	binary.LittleEndian.PutUint32(b[24:], rate)
	binary.LittleEndian.PutUint32(b[28:], rate*2)
	binary.LittleEndian.PutUint16(b[32:], 2)
	binary.LittleEndian.PutUint16(b[34:], 16)
	copy(b[36:], "data")
	binary.LittleEndian.PutUint32(b[40:], uint32(2*len(samples)))
	for i, s := range samples {
		binary.LittleEndian.PutUint16(b[head+2*i:], uint16(s))
	}
	return b
}
