package header

import (
	"strconv"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
)

// longestSession keeps a far end from switching its timer off by a number.
const longestSession = 24 * time.Hour

// SessionExpires reads the header of that name (RFC 4028 section 4), a day at most; refresher is "uac", "uas" or empty. ok is
// false when there is none.
func SessionExpires(m dialog.Headers) (d time.Duration, refresher string, ok bool) {
	d, params, ok := dialog.Seconds(m, "session-expires", "x")
	return min(d, longestSession), strings.ToLower(dialog.Param(params, "refresher")), ok
}

// MinSE reads the header of that name (RFC 4028 section 5), a day at most; 0: there is none.
func MinSE(m dialog.Headers) time.Duration {
	d, _, _ := dialog.Seconds(m, "min-se")
	return min(d, longestSession)
}

// RetryAfter makes the header of that name (RFC 3261 section 20.33).
func RetryAfter(seconds int) gosip.Header {
	return gosip.NewHeader("Retry-After", strconv.Itoa(seconds))
}
