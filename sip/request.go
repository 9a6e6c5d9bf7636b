package sip

import (
	"cmp"
	"slices"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/transport"
)

// Retry-After values, in seconds. While draining the far end should try
// another server now and this one after a restart; an overload passes sooner.
const (
	retryDraining = 30
	retryOverload = 5
	retryGlare    = 1
)

// dialogKey finds a dialog (RFC 3261 section 12): the far end's tag is checked
// by the call itself, so that a wrong one differs from an unknown call.
type dialogKey struct{ callID, localTag string }

// inviteKey finds an INVITE that came twice over different paths (section 8.2.2.2).
type inviteKey struct {
	callID, remoteTag string
	seq               uint32
}

// received takes each message before it is handled, in the order in which they came. It notes
// a request in its call, and hands an ACK over at once, so that what came
// after it finds the call answered. Where the mailbox is full, request does.
func (u *UserAgent) received(m gosip.Message) {
	header.Unpack(m)
	req, ok := m.(*gosip.Request)
	if !ok || m.CallID() == nil || req.Method == gosip.CANCEL {
		return
	}
	if code, _ := check(req); code != 0 {
		return
	}
	c := u.find(dialogKey{req.CallID().Value(), req.To().Params.GetOr("tag", "")})
	switch {
	case c == nil:
	case req.Method != gosip.ACK:
		c.order.Arrived(req.CSeq().SeqNo)
	default:
		select {
		case c.box <- task{func() { c.handle(req, nil) }, func() {}}:
		default:
		}
	}
}

// request is called for every new incoming request on a goroutine of its own,
// ACKs of 2xx responses included. A CANCEL comes here only when it matches no
// transaction.
func (u *UserAgent) request(req *gosip.Request, tx *gosip.ServerTx) {
	if !u.begin() {
		tx.Terminate()
		return
	}
	// A message that trips over a mistake of ours costs one call, not all. What the handler
	// of a call has begun, its own deferred calls end.
	handled := false
	isolate.Do("sip/request", nil, func() {
		u.handle(req, tx)
		handled = true
	}, func() {
		if !handled {
			u.reply(req, tx, 500, "")
		}
	}, tx.TerminateGracefully, // over UDP this keeps the final response for repetitions of the request
		u.work.Done)
}

// handle is request for one that is taken.
func (u *UserAgent) handle(req *gosip.Request, tx *gosip.ServerTx) {
	if !u.layer.Hears(req) {
		if req.Method != gosip.INVITE { // reply notes those
			u.layer.Rejections.Add(transport.Rejection{Source: transport.Source(req).Addr(), Code: 403, Cause: transport.CauseUnknown}, time.Now())
		}
		u.reply(req, tx, 403, "")
		return
	}
	if u.layer.TooFast(req) {
		u.reply(req, tx, 503, "", header.RetryAfter(retryOverload))
		return
	}
	if code, extra := check(req); code != 0 {
		u.reply(req, tx, code, "", extra...)
		return
	}
	tag := req.To().Params.GetOr("tag", "")
	switch {
	case tag != "":
		u.inDialog(req, tx, tag)
	case req.Method == gosip.INVITE:
		u.invite(req, tx)
	case req.Method == gosip.ACK:
		// An ACK is never answered.
	case req.Method == gosip.OPTIONS && (u.draining.Load() || u.cfg.Away != nil && u.cfg.Away()):
		u.reply(req, tx, 503, "", header.RetryAfter(retryDraining))
	case req.Method == gosip.OPTIONS:
		u.reply(req, tx, 200, "", dialog.Allow(), supported(), gosip.NewHeader("Accept", header.SDP))
	case req.Method == gosip.CANCEL, req.Method == gosip.BYE, req.Method == gosip.UPDATE, req.Method == gosip.PRACK:
		u.reply(req, tx, 481, "")
	default:
		u.reply(req, tx, 405, "", dialog.Allow())
	}
}

// inDialog hands a request to the call it belongs to.
func (u *UserAgent) inDialog(req *gosip.Request, tx *gosip.ServerTx, localTag string) {
	c := u.find(dialogKey{req.CallID().Value(), localTag})
	if c == nil {
		u.reply(req, tx, 481, "")
		return
	}
	if req.Method != gosip.ACK {
		c.order.Await(req.CSeq().SeqNo)
		defer c.order.Handled(req.CSeq().SeqNo)
	}
	if !c.do(func() { c.handle(req, tx) }) {
		u.reply(req, tx, 481, "")
	}
}

// check applies RFC 3261 section 8.2 to any request and returns the code to
// refuse it with, or 0.
func check(req *gosip.Request) (code int, extra []gosip.Header) {
	for _, name := range []string{"from", "to", "call-id", "cseq", "max-forwards", "content-length"} {
		// RFC 4475 section 3.3.9: more than one is an error, not a choice.
		if len(req.GetHeaders(name)) > 1 {
			return 400, nil
		}
	}
	if req.From() == nil || req.To() == nil || req.CallID() == nil || req.CSeq() == nil ||
		!strings.EqualFold(string(req.CSeq().MethodName), string(req.Method)) { // the library has made one upper case
		return 400, nil // From may lack a tag (section 12.1.1)
	}
	if !strings.EqualFold(req.SipVersion, "SIP/2.0") {
		return 505, nil
	}
	if !slices.Contains([]string{"sip", "sips", "tel"}, req.Recipient.Scheme) {
		return 416, nil
	}
	if req.Method == gosip.ACK || req.Method == gosip.CANCEL {
		return 0, nil // section 8.2.2.3: they cannot be refused for an extension
	}
	var unknown []string
	for _, h := range req.GetHeaders("require") {
		for option := range strings.SplitSeq(h.Value(), ",") {
			if option = strings.TrimSpace(option); option != "" && !slices.Contains(extensions, strings.ToLower(option)) {
				unknown = append(unknown, option)
			}
		}
	}
	if len(unknown) > 0 {
		return 420, []gosip.Header{gosip.NewHeader("Unsupported", strings.Join(unknown, ", "))}
	}
	if len(req.Body()) == 0 || req.Method != gosip.INVITE && req.Method != gosip.UPDATE {
		return 0, nil
	}
	if e := req.GetHeader("content-encoding"); header.ContentType(req) != header.SDP || e != nil && !strings.EqualFold(e.Value(), "identity") {
		return 415, []gosip.Header{gosip.NewHeader("Accept", header.SDP), gosip.NewHeader("Accept-Encoding", "identity")}
	}
	return 0, nil
}

// phrases of the responses we give.
var phrases = map[int]string{
	100: "Trying", 180: "Ringing", 200: "OK",
	400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
	407: "Proxy Authentication Required", 415: "Unsupported Media Type", 416: "Unsupported URI Scheme",
	420: "Bad Extension", 422: "Session Interval Too Small", 480: "Temporarily Unavailable", 481: "Call/Transaction Does Not Exist",
	482: "Loop Detected", 486: "Busy Here", 487: "Request Terminated", 488: "Not Acceptable Here",
	489: "Bad Event", 491: "Request Pending", 500: "Server Internal Error", 503: "Service Unavailable",
	504: "Server Time-out",
	505: "Version Not Supported", 603: "Decline",
}

// response builds a response. The tag goes into To when it has none; an empty
// one lets the library draw one, for responses outside of any dialog.
func response(req *gosip.Request, code int, phrase, tag string, extra ...gosip.Header) *gosip.Response {
	res := gosip.NewResponseFromRequest(req, code, cmp.Or(phrase, phrases[code]), nil)
	res.SipVersion = "SIP/2.0" // whatever they speak
	if to := res.To(); to != nil && tag != "" && code != 100 {
		to.Params.Add("tag", tag)
	}
	for _, h := range extra {
		res.AppendHeader(h)
	}
	if code == 488 { // section 21.4.26
		res.AppendHeader(gosip.NewHeader("Warning", `305 parley "Incompatible media format"`))
	}
	res.AppendHeader(gosip.NewHeader("Server", dialog.Product))
	return res
}

// reply sends a response outside of a call. An ACK gets none. That it may not
// arrive is the far end's to notice: it repeats the request.
func (u *UserAgent) reply(req *gosip.Request, tx *gosip.ServerTx, code int, phrase string, extra ...gosip.Header) {
	if req.Method == gosip.ACK {
		return
	}
	if req.Method == gosip.INVITE && code >= 300 {
		u.gate.Record(req, code)
	}
	_ = tx.Respond(response(req, code, phrase, "", extra...))
}
