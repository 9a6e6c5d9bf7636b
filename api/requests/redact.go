package requests

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"regexp"
	"strings"
)

// blanked stands for what is not kept.
const blanked = "…"

// private are names of fields and parameters whose values are not kept. It rather blanks a value too many: headers of
// functions may carry any credential, and a secret of an account is sent as its value. What is said, heard, noted or
// searched for may be words of a call, and who has a call deleted means all of them.
var private = regexp.MustCompile(`(?i)key|token|ticket|secret|passw|authorization|credential|cookie|signature|^headers$|^value$|^text$|^audio$|^note$|^q$|^resume$`)

// maxTarget bounds what is kept of an address, in bytes.
const maxTarget = 2000

// target is an address without private values, and as text of PostgreSQL can hold it.
func target(path, query string) string {
	var b strings.Builder
	b.WriteString((&url.URL{Path: path}).EscapedPath())
	sign := byte('?')
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		b.WriteByte(sign)
		sign = '&'
		name, value, is := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		b.WriteString(name)
		if is && (err != nil || private.MatchString(plain)) {
			value = blanked
		}
		if is {
			b.WriteString("=" + value)
		}
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(b.String(), "\x00", ""), "")
	if len(text) > maxTarget {
		text = strings.ToValidUTF8(text[:maxTarget], "") + blanked
	}
	return text
}

// redact is a JSON text, or the beginning of one, with the values of private fields blanked, also when they are objects
// or lists. What is no JSON is not kept at all; not whole: the text ends before its end.
func redact(body []byte) (text string, whole bool) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	w := &writer{}
	err := w.value(d, false)
	if err == nil {
		_, err = d.Token()
		if err == io.EOF {
			return w.String(), true
		}
		return w.String(), false // there is more than one value
	}
	if w.Len() == 0 {
		return "", false
	}
	return w.String() + blanked, false
}

// writer writes a JSON text as its tokens are read.
type writer struct{ bytes.Buffer }

// value copies the next value of d, blank or as it is.
func (w *writer) value(d *json.Decoder, blank bool) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, is := token.(json.Delim)
	if !is {
		if blank {
			token = blanked
		}
		return w.put(token)
	}
	if blank {
		if err := skip(d); err != nil {
			_ = w.put(blanked)
			return err
		}
		return w.put(blanked)
	}
	w.WriteByte(byte(open))
	for first := true; d.More(); first = false {
		if !first {
			w.WriteByte(',')
		}
		hide := false
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			text, _ := name.(string)
			if err := w.put(text); err != nil {
				return err
			}
			w.WriteByte(':')
			hide = private.MatchString(text)
		}
		if err := w.value(d, hide); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err != nil {
		return err
	}
	w.WriteByte(byte(end.(json.Delim))) // More has seen it
	return nil
}

// put writes a token that is no bracket. NUL, which no text of PostgreSQL holds, is left out.
func (w *writer) put(token any) error {
	if text, is := token.(string); is {
		token = strings.ReplaceAll(text, "\x00", "")
	}
	e := json.NewEncoder(&w.Buffer)
	e.SetEscapeHTML(false)
	err := e.Encode(token)
	w.Truncate(w.Len() - 1) // the line's end
	return err
}

// skip reads on to the end of the object or list that has begun.
func skip(d *json.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}
