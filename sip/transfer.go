package sip

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/trunk"
)

// NotTransferred is why a transfer did not come about. The call goes on, unless
// Err is ErrOver.
type NotTransferred struct {
	Code   int    // what the far end, or whom it called, answered; 0: nothing
	Phrase string // the text with it
	// Accepted says that the far end had agreed to try: then Code is the target's.
	Accepted bool
	Err      error // when Code does not tell
}

func (e *NotTransferred) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("sip: not transferred: %v", e.Err)
	}
	return fmt.Sprintf("sip: not transferred: %d %s", e.Code, e.Phrase)
}

func (e *NotTransferred) Unwrap() error { return e.Err }

// Errors inside of a NotTransferred.
var (
	// ErrOver says that the call was over before what was asked for could be done.
	ErrOver         = dialog.ErrOver
	ErrTransferring = errors.New("sip: another transfer is under way")
	ErrNoOutcome    = errors.New("sip: the far end did not report the outcome")
)

const (
	// referPatience is how long a far end may say nothing of a transfer that it
	// has accepted: as long as a telephone rings. It may ask for more by the
	// expiry of its notices, up to referMost.
	referPatience = time.Minute
	referMost     = 3 * time.Minute
)

// transfer is the subscription that a REFER of ours makes (RFC 3515 section 2.4.4).
// It stays after its end, so that late notices are still taken.
type transfer struct {
	state   transferState
	seq     uint32     // of the REFER
	done    chan error // gets the outcome, once
	timers  *timers    // of the call
	silence *timer     // until the next notice
}

type transferState uint8

const (
	transferAsked    transferState = iota // the REFER has no answer
	transferAccepted                      // the far end tries
	transferEnded                         // its outcome is known, and the far end had not accepted it
	transferNotified                      // its outcome is known, and late notices may come
)

// Refers says whether the far end is to be asked for transfers: trunk.Refer.
func (l *Leg) Refers() bool {
	return l.call.trunk != nil && l.call.trunk.Has(trunk.Refer)
}

// Leads says whether the far end's trunk belongs to an account and has the server of a sip: URI among its targets: then the far end
// finds it.
func (l *Leg) Leads(uri string) bool {
	_, to, err := parseURI(uri)
	return err == nil && l.call.trunk != nil && l.call.trunk.Account != "" && l.call.trunk.Leads(to)
}

// Transfer asks the far end to call target in our place (REFER, RFC 3515) and
// waits for its result. The target is a number, which takes the form that
// the call's trunk wants (trunk.ReferTel: a tel: URI, else a sip: URI at the far
// end's own host), or a whole URI.
//
// It returns nil when the target has answered, or when the far end left after it
// had agreed to try: the caller of Transfer then ends the call. Any other outcome
// is a *NotTransferred, also when ctx ends, which does not take the request back.
// Until then both ends hear each other, unless the far end holds us. Run must be
// running.
func (l *Leg) Transfer(ctx context.Context, target string) error {
	r := &transfer{timers: &l.call.timers, done: make(chan error, 1)}
	err := error(ErrOver)
	l.call.do(func() { err = l.call.refer(r, target) })
	if err != nil {
		return &NotTransferred{Err: err}
	}
	return l.call.outcome(ctx, r.done, &NotTransferred{Err: ErrOver}, func(err error) error {
		err = &NotTransferred{Err: err}
		l.call.do(func() { r.conclude(err) })
		return err
	})
}

// Joins says whether Join may connect the two far ends: ours is to be asked for transfers, both are on one trunk, and that of other,
// which we called, takes another call in place of ours.
func (l *Leg) Joins(other *Leg) bool {
	on, replaceable := (*trunk.Trunk)(nil), false
	other.call.do(func() { on, replaceable = other.call.trunk, other.call.dialog.Replaceable })
	return l.Refers() && on == l.call.trunk && replaceable
}

// Join asks the far end to call that of other, which takes that call in place of ours: the two have each other, and we none of them
// (attended transfer: RFC 5589 section 7, RFC 3891). Its outcome is that of Transfer. Both may have ended by then, and the caller of Join
// ends them otherwise.
func (l *Leg) Join(ctx context.Context, other *Leg) error {
	target, err := "", error(ErrOver)
	other.call.do(func() { target, err = other.call.replacement(), nil })
	if err != nil {
		return &NotTransferred{Err: err}
	}
	return l.Transfer(ctx, target)
}

// replacement is the URI by which somebody is called in place of us. It is the address that we have called, for what the far ends have in
// common can find it; a Contact is often private. The tags are those of whom it names.
func (c *call) replacement() string {
	d := &c.dialog
	u := d.Remote.Uri
	u.Headers = nil
	return u.String() + "?Replaces=" + url.QueryEscape(d.CallID+";to-tag="+d.RemoteTag+";from-tag="+d.LocalTag)
}

// refer sends the REFER.
func (c *call) refer(r *transfer, target string) error {
	to, err := c.referred(target)
	switch {
	case err != nil:
		return err
	case c.state != up:
		return ErrOver
	case c.transfer.waits():
		return ErrTransferring
	}
	req := c.dialog.Request(gosip.REFER, gosip.NewHeader("Refer-To", "<"+to+">"),
		gosip.NewHeader("Referred-By", "<"+c.dialog.Local.String()+">"), c.dialog.Contact(), dialog.Allow())
	r.seq = req.CSeq().SeqNo
	c.transfer = r
	c.request(req, func(_ *gosip.Request, res *gosip.Response, err error) { r.onResponse(res, err) })
	return nil
}

// referred is the URI by which the far end calls a target in our place.
func (c *call) referred(target string) (string, error) {
	tel := c.trunk != nil && c.trunk.Has(trunk.ReferTel)
	if c.trunk != nil && !tel && !strings.Contains(target, ":") { // a URI stays as it is
		target = c.trunk.Plan.Dialled(target)
	}
	return header.ReferTo(target, c.network(), tel)
}

// network is where the far end finds numbers, as a URI has it: the trunk's target, else
// the far end's own domain, with its port. Its Contact is where it is, not whom it calls by.
func (c *call) network() string {
	if c.trunk != nil && len(c.trunk.Targets) > 0 {
		u := c.trunk.Targets[0].URI("")
		return hostPort(&u)
	}
	if u := &c.dialog.Remote.Uri; u.Host != "" && !strings.HasSuffix(u.Host, ".invalid") {
		return hostPort(u)
	}
	return hostPort(&c.dialog.Target.Uri)
}

// hostPort is a URI's host, with its port if it has one.
func hostPort(u *gosip.Uri) string {
	if u.Port > 0 {
		return u.Host + ":" + strconv.Itoa(u.Port)
	}
	return u.Host
}

// waits says whether the transfer has no outcome yet.
func (r *transfer) waits() bool { return r != nil && r.state < transferEnded }

// onResponse takes the final response to the REFER, or that there was none.
func (r *transfer) onResponse(res *gosip.Response, err error) {
	switch {
	case res == nil:
		r.conclude(&NotTransferred{Err: errors.Join(ErrNoOutcome, err)})
	case !res.IsSuccess():
		r.conclude(&NotTransferred{Code: res.StatusCode, Phrase: res.Reason, Err: err})
	case r.state != transferAccepted: // a notice may have been faster
		r.tries(referPatience)
	}
}

// onBye takes the far end's BYE: where it had agreed to try, it has left for the other call.
func (r *transfer) onBye() {
	if r != nil && r.state == transferAccepted {
		r.conclude(nil)
	}
}

// tries notes that the far end is at it, and waits for its next notice.
func (r *transfer) tries(patience time.Duration) {
	if r.state >= transferEnded {
		r.state = transferNotified
		return
	}
	r.state = transferAccepted
	r.silence = r.timers.after(patience, r.silence, func() {
		r.conclude(&NotTransferred{Accepted: true, Err: ErrNoOutcome})
	})
}

// conclude decides a transfer, once.
func (r *transfer) conclude(err error) {
	switch r.state {
	case transferAsked:
		r.state = transferEnded
	case transferAccepted:
		r.state = transferNotified
	default:
		return
	}
	r.timers.stop(r.silence)
	r.done <- err
}

// onNotify takes a NOTIFY.
func (c *call) onNotify(req *gosip.Request, tx *gosip.ServerTx) {
	event, id := "", ""
	for _, name := range []string{"event", "o"} {
		if h := req.GetHeader(name); h != nil {
			v, params, _ := strings.Cut(h.Value(), ";")
			event, id = strings.ToLower(strings.TrimSpace(v)), dialog.Param(params, "id")
		}
	}
	switch r := c.transfer; {
	case event != "refer":
		c.respond(req, tx, 489, gosip.NewHeader("Allow-Events", "refer"))
	case r == nil || r.state == transferEnded || id != "" && id != strconv.Itoa(int(r.seq)):
		c.refuse(req, tx, 481)
	default:
		c.respond(req, tx, 200)
		r.onNotice(req)
	}
}

// onNotice takes a NOTIFY of the subscription.
func (r *transfer) onNotice(req *gosip.Request) {
	state, expires := header.SubscriptionState(req)
	code, phrase := header.Sipfrag(req.Body())
	switch {
	case code >= 200 && code < 300:
		r.conclude(nil)
	case code >= 300:
		r.conclude(&NotTransferred{Code: code, Phrase: phrase, Accepted: true})
	case state == "terminated":
		r.conclude(&NotTransferred{Accepted: true, Err: ErrNoOutcome})
	default:
		r.tries(min(max(expires, referPatience), referMost))
	}
}
