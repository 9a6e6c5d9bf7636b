package socket

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReason(t *testing.T) {
	long := strings.Repeat("é", 100)
	for _, why := range []string{"", "short", long, "x" + long, strings.Repeat("€", 41), strings.Repeat("€", 42)} {
		got := reason(why)
		if len(got) > maxReason || !utf8.ValidString(got) || !strings.HasPrefix(why, got) || len(why) > len(got) && len(got) < maxReason-3 {
			t.Errorf("reason of %d bytes is %q", len(why), got)
		}
	}
}
