package speech

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"parley/api/client"
	"parley/cmd/parley/remote/server"
	"parley/media"
	"parley/media/resample"
	"parley/media/wav"
)

// writeClip writes samples as a WAV file and finishes. A nil output takes nothing.
func writeClip(o *server.Output, samples []int16, rate media.Rate) error {
	if o == nil {
		return nil
	}
	return o.Finish(wav.Encode(o, wav.Clip{Samples: samples, Rate: rate}))
}

// openRecording opens a file to send, "-" for standard input, and says how long it
// is.
func openRecording(cmd *cobra.Command, path string) (r client.Recording, done func(), err error) {
	if path == "-" {
		// The server wants to know the size, and takes no more than this.
		b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), client.MaxUpload+1))
		if err != nil {
			return r, nil, fmt.Errorf("standard input: %w", err)
		}
		return client.Recording{Data: bytes.NewReader(b), Size: int64(len(b))}, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return r, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a file; use - and a pipe", path)
	}
	if err != nil {
		f.Close()
		return r, nil, err
	}
	return client.Recording{Data: f, Size: info.Size()}, func() { f.Close() }, nil
}

// thousandth rounds seconds to milliseconds.
func thousandth(seconds float64) float64 { return float64(int64(seconds*1000+0.5)) / 1000 }

// maxClip bounds the WAV files that commands read.
const maxClip = 64 << 20 // bytes

// readClip reads a WAV file at the rate that is wanted. "-" is standard input, which
// may also be raw samples, Int16 at 16 kHz.
func readClip(cmd *cobra.Command, path string, rate media.Rate) ([]int16, error) {
	f, err := server.OpenInput(cmd, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var clip wav.Clip
	start, err := in.Peek(4)
	switch {
	case path == "-" && err == nil && string(start) != "RIFF":
		var raw []byte
		raw, err = io.ReadAll(io.LimitReader(in, maxClip))
		clip = wav.Clip{Samples: samplesOf(raw), Rate: media.Rate16k}
	default:
		clip, err = wav.Decode(in, maxClip)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if clip.Rate == rate {
		return clip.Samples, nil
	}
	if !resample.Supported(clip.Rate, rate) {
		return nil, fmt.Errorf("%s: %v cannot be converted to %v", path, clip.Rate, rate)
	}
	return resample.All(clip.Samples, clip.Rate, rate), nil
}

// samplesOf reads Int16 little endian; an odd byte at the end is left out.
func samplesOf(raw []byte) []int16 {
	samples := make([]int16, len(raw)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return samples
}
