package mediasession_test

import (
	"strings"
	"testing"

	"parley/sip/mediasession"
)

func TestParseInfo(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		want       byte
	}{
		{"application/dtmf-relay", "Signal=5\r\nDuration=160", '5'}, {"application/dtmf-relay", "Duration=1\r\nsignal = #", '#'},
		{"application/dtmf-relay", "Signal=11", '#'}, {"application/dtmf", "d", 'D'}, {"application/dtmf", " * ", '*'},
		{"application/dtmf", "12", 0}, {"application/dtmf-relay", "Signal=", 0}, {"text/plain", "5", 0},
	} {
		if got, ok := mediasession.ParseInfo(c.kind, []byte(c.body)); got != c.want || ok != (c.want != 0) {
			t.Errorf("%s %q: %q %v", c.kind, c.body, got, ok)
		}
	}
}

func FuzzParseInfo(f *testing.F) {
	f.Add("Signal= *\r\nDuration=160")
	f.Add("5")
	f.Fuzz(func(t *testing.T, body string) {
		for _, kind := range []string{"application/dtmf", "application/dtmf-relay"} {
			if d, ok := mediasession.ParseInfo(kind, []byte(body)); ok && !strings.ContainsRune("0123456789*#ABCD", rune(d)) {
				t.Errorf("digit %q", d)
			}
		}
	})
}
