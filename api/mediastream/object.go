package mediastream

import (
	"bytes"
	"encoding/json"
)

// object reads the members of a JSON object one after another, in place: what carriers send fifty times a second costs no memory.
// What is no JSON ends it early.
type object struct {
	rest       []byte // from "{" or "," on
	key, value []byte // a key without its quotes; a value as it stands
}

// next moves on to the next member.
func (o *object) next() bool {
	o.rest = bytes.TrimLeft(o.rest, space)
	if len(o.rest) == 0 || o.rest[0] != '{' && o.rest[0] != ',' {
		return false
	}
	o.rest = o.rest[1:]
	key := o.take()
	if len(key) < 2 || key[0] != '"' || len(o.rest) == 0 || o.rest[0] != ':' {
		return false
	}
	o.rest = o.rest[1:]
	o.key, o.value = key[1:len(key)-1], o.take()
	return len(o.value) > 0
}

const space = " \t\r\n"

// take takes a value and the space around it; empty: there is none that ends.
func (o *object) take() (value []byte) {
	b := bytes.TrimLeft(o.rest, space)
	n, depth := 0, 0
	for n < len(b) {
		switch c := b[n]; {
		case c == '"':
			text := textEnd(b[n:])
			if text == 0 {
				return nil
			}
			n += text - 1
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			depth--
		case depth == 0 && bytes.IndexByte([]byte(",:}]"+space), c) >= 0:
			o.rest = bytes.TrimLeft(b[n:], space)
			return b[:n]
		}
		n++
	}
	return nil
}

// textEnd is the length of the text that b begins with, quotes included; 0: it does not end.
func textEnd(b []byte) int {
	for n := 1; n < len(b); n++ {
		switch b[n] {
		case '\\':
			n++
		case '"':
			return n + 1
		}
	}
	return 0
}

// text is the text that a value is; empty: it is none.
func text(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var s string // rare: identifiers and base64 need no escapes
	if json.Unmarshal(value, &s) != nil {
		return nil
	}
	return []byte(s)
}

// member is the text that a member of the object in value is; empty: there is none.
func member(value []byte, key string) []byte {
	for o := (object{rest: value}); o.next(); {
		if string(o.key) == key {
			return text(o.value)
		}
	}
	return nil
}
