package header

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
)

// ReferTo makes the URI of a Refer-To and lets nothing through that could end it. A number becomes a tel: URI, or a sip: URI at
// host, which has its port with it.
func ReferTo(target, host string, tel bool) (string, error) {
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`<>"`, r) }) {
		return "", fmt.Errorf("sip: %q cannot be called", target)
	}
	if scheme, rest, ok := strings.Cut(target, ":"); ok && rest != "" {
		switch strings.ToLower(scheme) {
		case "sip", "sips", "tel":
			return target, nil
		}
	}
	if number := PlainNumber(target); number != "" && strings.Trim(number, "+0123456789") == "" {
		if tel {
			return "tel:" + number, nil
		}
		return "sip:" + number + "@" + host + ";user=phone", nil
	}
	return "", fmt.Errorf("sip: %q is neither a sip: or tel: URI nor a number", target)
}

// SubscriptionState reads the header of that name (RFC 6665 section 8.2.3): its state in lower case, and how long the subscription
// lasts, 0 where that is not said.
func SubscriptionState(req *gosip.Request) (state string, expires time.Duration) {
	h := req.GetHeader("subscription-state")
	if h == nil {
		return "", 0
	}
	state, params, _ := strings.Cut(h.Value(), ";")
	n, _ := strconv.ParseUint(dialog.Param(params, "expires"), 10, 31)
	return strings.ToLower(strings.TrimSpace(state)), time.Duration(n) * time.Second
}

// Sipfrag reads the status line that the body of a notice begins with (RFC 3420); 0: none.
func Sipfrag(body []byte) (code int, phrase string) {
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	version, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if !strings.EqualFold(version, "SIP/2.0") {
		return 0, ""
	}
	number, phrase, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 100 || n > 699 {
		return 0, ""
	}
	return n, phrase
}
