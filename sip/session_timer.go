package sip

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip/dialog"
	"parley/sip/header"
)

// Session timers (RFC 4028): a call is confirmed again and again, so that a far
// end that has vanished while nothing is to be heard, on hold for one, does not
// leave a call behind that is paid for.

const (
	// defaultSession is how long a call goes on without a sign that the far end is there, where
	// the far end does not say: what RFC 4028 section 4 recommends. leastSession is the least
	// that it allows: shorter ones would only make traffic, and are refused (422).
	defaultSession = 30 * time.Minute
	leastSession   = 90 * time.Second
	// expiryMargin is how long before the end of a session the BYE goes out
	// (section 10), at most.
	expiryMargin = 32 * time.Second
)

// extensions is our Supported header: session timers and reliable provisional
// responses.
var extensions = []string{"timer", "100rel"}

func supported() gosip.Header { return gosip.NewHeader("Supported", strings.Join(extensions, ", ")) }

// sessionTimer is the state of one call's.
type sessionTimer struct {
	interval time.Duration // 0: not agreed on yet
	least    time.Duration // the largest Min-SE of the far end
	agreed   bool          // the far end knows about it, and ends the call too
	ours     bool          // we refresh

	refresh, expiry *timer
}

func supports(m dialog.Headers, option string) bool {
	return dialog.Listed(m, option, "supported", "k", "require")
}

func inSeconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }

// tooShort says whether a request asks for shorter sessions than we bear, and
// with what to refuse it (422, section 9). A far end without session timers
// could not do anything about that.
func tooShort(req *gosip.Request) (hs []gosip.Header, yes bool) {
	d, _, ok := header.SessionExpires(req)
	if !ok || d >= leastSession || !supports(req, "timer") {
		return nil, false
	}
	return []gosip.Header{gosip.NewHeader("Min-SE", inSeconds(leastSession))}, true
}

// wanted are the headers of a request that begins or refreshes a session.
// Without a refresher the far end chooses (section 7.1).
func (t *sessionTimer) wanted(refresher string) []gosip.Header {
	value := inSeconds(max(cmp.Or(t.interval, defaultSession), t.least))
	if refresher != "" {
		value += ";refresher=" + refresher
	}
	hs := []gosip.Header{gosip.NewHeader("Session-Expires", value)}
	if t.least > leastSession {
		hs = append(hs, gosip.NewHeader("Min-SE", inSeconds(t.least)))
	}
	return hs
}

// lengthen gives an INVITE that was refused (422) the session that is asked for;
// false: it had that.
func (t *sessionTimer) lengthen(req *gosip.Request, res *gosip.Response) bool {
	least := header.MinSE(res)
	d, _, _ := header.SessionExpires(req)
	if least <= d {
		return false
	}
	t.least = least
	for _, name := range []string{"Session-Expires", "Min-SE"} {
		for req.RemoveHeader(name) {
		}
		req.AppendHeader(gosip.NewHeader(name, inSeconds(least)))
	}
	return true
}

// granted agrees on the timer of a session that the far end begins or refreshes
// (section 9), starts it anew, and returns what the 2xx says of it.
func (c *call) granted(req *gosip.Request) []gosip.Header {
	t := &c.modify.session
	t.least = max(t.least, header.MinSE(req))
	knows := supports(req, "timer")
	d, refresher, asked := header.SessionExpires(req)
	if !asked {
		d = cmp.Or(t.interval, defaultSession)
	}
	if !knows || refresher != "uac" && refresher != "uas" {
		refresher = "uas" // table 2: without session timers it cannot refresh
	}
	t.interval, t.agreed, t.ours = max(d, header.MinSE(req), leastSession), knows, refresher == "uas"
	c.startTimer()
	hs := []gosip.Header{gosip.NewHeader("Session-Expires", inSeconds(t.interval)+";refresher="+refresher)}
	if refresher == "uac" {
		hs = append(hs, gosip.NewHeader("Require", "timer"))
	}
	return hs
}

// applySessionExpires takes what the 2xx to an INVITE or UPDATE of ours says (section 7.2).
// A far end that says nothing has no timer; we go on asking whether it lives.
func (c *call) applySessionExpires(res *gosip.Response) {
	t := &c.modify.session
	d, refresher, ok := header.SessionExpires(res)
	if t.agreed, t.ours = ok, refresher != "uas"; ok {
		// Not shorter than the standard has it: an answer must not have us refresh
		// all the time.
		t.interval = max(d, leastSession)
	} else if t.interval == 0 {
		t.interval = max(defaultSession, t.least)
	}
	c.startTimer()
}

// startTimer begins a session now.
func (c *call) startTimer() {
	t := &c.modify.session
	c.timers.stop(t.refresh)
	c.timers.stop(t.expiry)
	if t.ours {
		t.refresh = c.timers.after(t.interval/2, nil, c.refreshSession)
	}
	if t.agreed {
		left := t.interval - min(expiryMargin, t.interval/3)
		t.expiry = c.timers.after(left, nil, func() {
			c.fail(&media.Ended{Reason: media.Failed, Detail: DetailSessionExpired})
		})
	}
}
