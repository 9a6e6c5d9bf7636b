package sip

import (
	"strconv"
	"strings"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/sdp"
)

// maxForks bounds the early dialogs of one INVITE. A proxy rings a few telephones
// at once; those beyond the bound ring too, but what they send reliably is not
// confirmed.
const maxForks = 16

// fork is an early dialog of an INVITE of ours (RFC 3261 section 12.1): each
// telephone that a proxy rings has one, with its own tag.
type fork struct {
	dialog    dialog.Dialog
	rseq      uint32       // of the last reliable response; 0: none
	body      []byte       // a description that came, for a 200 without one
	sdp       *sdp.Session // its own once a reliable response has answered our offer
	remoteSeq uint32       // of its requests
}

// forks are the early dialogs of an INVITE of ours.
type forks struct {
	seq   uint32           // CSeq of the INVITE
	byTag map[string]*fork // by the far end's tag
}

func newForks(invite *gosip.Request) forks { return forks{invite.CSeq().SeqNo, map[string]*fork{}} }

// fork finds the early dialog that a response belongs to, or begins it; nil:
// there are too many.
func (c *call) fork(res *gosip.Response) *fork {
	tag := res.To().Params.GetOr("tag", "")
	f := c.forks.byTag[tag]
	if f == nil {
		if len(c.forks.byTag) >= maxForks {
			return nil
		}
		f = &fork{dialog: c.dialog}
		c.forks.byTag[tag] = f
	}
	f.dialog.Join(res)
	return f
}

// onProvisional takes a provisional response other than 100.
func (c *call) onProvisional(res *gosip.Response) {
	f := c.fork(res)
	if f == nil || c.state != calling {
		return
	}
	c.learn(res)
	reliable := dialog.Listed(res, "100rel", "require")
	if reliable && !c.prack(f, res) {
		return
	}
	if header.ContentType(res) != header.SDP || len(res.Body()) == 0 {
		return
	}
	f.body = res.Body()
	if reliable && f.sdp == nil {
		// The answer to our offer, and the only one (RFC 3262 section 5).
		s := *c.audio.SDP
		if _, err := s.Accept(f.body); err == nil {
			f.sdp = &s
		}
	}
}

// prack confirms a reliable provisional response (RFC 3262 section 4); false: it
// is a repetition, or came before one that is still missing.
func (c *call) prack(f *fork, res *gosip.Response) bool {
	h := res.GetHeader("rseq")
	if h == nil {
		return false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(h.Value()), 10, 32)
	if err != nil || n == 0 || f.rseq != 0 && uint32(n) != f.rseq+1 {
		return false
	}
	f.rseq = uint32(n)
	req := c.within(f, gosip.PRACK)
	req.AppendHeader(gosip.NewHeader("RAck", h.Value()+" "+strconv.Itoa(int(c.forks.seq))+" INVITE"))
	// Whatever its result, the call is decided by the INVITE's final response.
	c.request(req, func(*gosip.Request, *gosip.Response, error) {})
	return true
}

// within builds a request of an early dialog. All of them count on one CSeq: it
// only has to rise in each.
func (c *call) within(f *fork, method gosip.RequestMethod) *gosip.Request {
	f.dialog.LocalSeq = c.dialog.LocalSeq
	req := f.dialog.Request(method)
	c.dialog.LocalSeq = f.dialog.LocalSeq
	return req
}

// chosen makes the early dialog of a 2xx, if there was one, the call's. It
// returns the description that a 2xx without one stands for.
func (c *call) chosen(res *gosip.Response) (body []byte) {
	f := c.forks.byTag[res.To().Params.GetOr("tag", "")]
	c.dialog.Join(res)
	c.learn(res)
	if f == nil && len(c.forks.byTag) == 1 {
		for _, only := range c.forks.byTag { // a gateway that changes its tag with the answer
			return only.body
		}
	}
	if f == nil {
		return nil
	}
	c.dialog.RemoteSeq, c.dialog.HasRemoteSeq = f.remoteSeq, f.remoteSeq > 0
	if f.sdp != nil {
		c.audio.SDP = f.sdp
	}
	return f.body
}

// handleEarly takes a request in an early dialog of our INVITE; false: it belongs
// to none.
func (c *call) handleEarly(req *gosip.Request, tx *gosip.ServerTx) bool {
	f := c.forks.byTag[req.From().Params.GetOr("tag", "")]
	if c.state != calling || f == nil {
		return false
	}
	if seq := req.CSeq().SeqNo; seq <= f.remoteSeq {
		c.refuse(req, tx, 500)
		return true
	}
	f.remoteSeq = req.CSeq().SeqNo
	switch {
	case req.Method == gosip.OPTIONS:
		c.respond(req, tx, 200, dialog.Allow())
	case req.Method != gosip.UPDATE:
		c.refuse(req, tx, 481) // the callee does not decide by requests
	case len(req.Body()) == 0:
		f.dialog.Retarget(req.Contact())
		_ = tx.Respond(c.success(req, nil))
	case f.sdp == nil:
		c.refuse(req, tx, 491) // our own offer has no answer yet (RFC 3311 section 5.2)
	default:
		body, _, err := f.sdp.Answer(req.Body())
		if err != nil {
			c.respond(req, tx, offerCode(err))
			return true
		}
		f.dialog.Retarget(req.Contact())
		_ = tx.Respond(c.success(req, body))
	}
	return true
}
