package mediasession

import (
	"strings"

	"parley/media"
)

// The ways that keys come. The first that brings one is believed for the rest of the call: some far ends send every key both ways.
const (
	keysOverRTP  = 1
	keysOverINFO = 2
)

func (s *Stream) keysCome(way uint32) bool {
	return s.keypad.CompareAndSwap(0, way) || s.keypad.Load() == way
}

// InfoDigit reports a key that came by INFO, unless they come by RTP. Any goroutine may call it.
func (s *Stream) InfoDigit(digit byte) {
	if s.keysCome(keysOverINFO) {
		s.emit(media.LegEvent{Kind: media.LegDigit, Digit: digit})
	}
}

// ParseInfo finds the key in the body of an INFO, of a media type in lower case: "Signal=5" lines
// (application/dtmf-relay) or the bare key (application/dtmf).
func ParseInfo(kind string, body []byte) (digit byte, ok bool) {
	value := ""
	switch kind {
	case "application/dtmf-relay":
		for line := range strings.Lines(string(body)) {
			if name, v, ok := strings.Cut(line, "="); ok && strings.EqualFold(strings.TrimSpace(name), "signal") {
				value = strings.TrimSpace(v)
				break
			}
		}
	case "application/dtmf":
		value = strings.TrimSpace(string(body))
	}
	switch value = strings.ToUpper(value); {
	case value == "10":
		return '*', true // some send the RFC 4733 event number
	case value == "11":
		return '#', true
	case len(value) == 1 && strings.Contains("0123456789*#ABCD", value):
		return value[0], true
	}
	return 0, false
}
