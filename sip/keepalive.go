package sip

import (
	"time"

	gosip "github.com/emiago/sipgo/sip"
)

// keepEvery is how often the way to a far end behind an address translator is used: the least that
// RFC 5626 section 4.4.2 recommends over UDP, where translators close a way after half a minute.
const keepEvery = 24 * time.Second

// keepReachable asks a far end behind an address translator now and then whether it is there, while
// the call is up: our BYE would not come through a way that the translator has closed. It is asked,
// for many translators count only what goes out (RFC 4787 section 4.3). Whatever it answers, or
// that it does not, changes nothing. Over a stream the connection has keepalives of its own.
func (c *call) keepReachable() {
	if c.dialog.Transport != "UDP" || !c.dialog.AimsAtPeer() {
		return
	}
	c.timers.after(c.ua.cfg.keepEvery, nil, func() {
		if c.state != up {
			return
		}
		c.request(c.dialog.Request(gosip.OPTIONS), func(*gosip.Request, *gosip.Response, error) { c.keepReachable() })
	})
}
