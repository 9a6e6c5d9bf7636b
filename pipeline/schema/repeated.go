package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Repeated finds the members of a JSON text's objects that are there more than once: some
// readers take the first, others the last (RFC 8259, section 4). path names the whole of
// it. It stops where the text is no JSON, which is not its business.
func Repeated(path string, text []byte) Mistakes {
	var m Mistakes
	repeated(json.NewDecoder(bytes.NewReader(text)), path, &m)
	return m
}

// repeated looks into the next value of d, and says whether there is one.
func repeated(d *json.Decoder, path string, m *Mistakes) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	switch token {
	case json.Delim('{'):
		times := map[string]int{}
		for d.More() {
			token, err := d.Token()
			name, is := token.(string)
			if err != nil || !is {
				return false
			}
			at := Join(path, clip(name))
			if times[name]++; times[name] == 2 {
				m.Add(at, "is there more than once")
			}
			if !repeated(d, at, m) {
				return false
			}
		}
	case json.Delim('['):
		for i := 0; d.More(); i++ {
			if !repeated(d, fmt.Sprintf("%s[%d]", path, i), m) {
				return false
			}
		}
	default:
		return true
	}
	_, err = d.Token()
	return err == nil
}
