package remote

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"parley/media"
)

// PCM is 16-bit samples, little endian, which a JSON message has in base64 (RFC 4648 section 4).
// They belong to who reads the message. Half a sample at the end is left out.
type PCM []int16

// UnmarshalJSON decodes the text without a copy of it or of the bytes, which would be most of
// what a server with many calls allocates.
func (p *PCM) UnmarshalJSON(text []byte) error {
	in, quoted := bytes.CutPrefix(bytes.TrimSuffix(text, []byte{'"'}), []byte{'"'})
	if !quoted || bytes.IndexByte(in, '\\') >= 0 { // null, what is no text, or one with escapes, as \/
		var b []byte
		if err := json.Unmarshal(text, &b); err != nil {
			return err
		}
		*p = media.AppendSamples(make([]int16, 0, len(b)/2), b[:len(b)&^1])
		return nil
	}
	const step = 4096 // characters; they are an even number of bytes
	var b [step / 4 * 3]byte
	samples := make([]int16, 0, base64.StdEncoding.DecodedLen(len(in))/2)
	for len(in) > 0 {
		n, err := base64.StdEncoding.Decode(b[:], in[:min(step, len(in))])
		if err != nil {
			return err
		}
		samples = media.AppendSamples(samples, b[:n&^1])
		in = in[min(step, len(in)):]
	}
	*p = samples
	return nil
}
