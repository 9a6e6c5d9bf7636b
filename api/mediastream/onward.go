package mediastream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"parley/api"
	sockets "parley/api/socket"
)

// A carrier that has brought a call asks what comes next when we close its socket: with the document that has the socket it gets the
// address for that. So a call is transferred: the socket is closed, and the answer to the question is a number. To all other
// questions the answer is that the call is over.

// onwardPatience is how long a carrier may take to ask when its socket is closed. It has the caller on the line meanwhile, who hears
// nothing.
const onwardPatience = 3 * time.Second

// Errors of Leg.Transfer.
var (
	// ErrLeft says that the carrier has not asked what comes next: the caller has hung up, or hears nobody any more. The call is over.
	ErrLeft = errors.New("mediastream: the carrier did not ask where the call is to go")
	// ErrTransferring says that the call is on its way to another number already.
	ErrTransferring = errors.New("mediastream: the call is being transferred")
)

// onward is where a call goes after its stream. Its methods may be called from any goroutine.
type onward struct {
	mu     sync.Mutex
	number string        // that the carrier is to call; empty: the call is over
	taken  chan struct{} // closed when the carrier has it
	done   chan struct{} // closed when that is waited for no more
}

// begin gives the carrier a number to ask for. false: it has one.
func (o *onward) begin(number string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.number != "" {
		return false
	}
	o.number, o.taken, o.done = number, make(chan struct{}), make(chan struct{})
	return true
}

// take is the number, once; empty: there is none.
func (o *onward) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.number == "" {
		return ""
	}
	select {
	case <-o.taken:
		return ""
	default:
		close(o.taken)
		return o.number
	}
}

// wait waits until it is known whether the carrier has the number, where it is given one.
func (o *onward) wait() {
	o.mu.Lock()
	done := o.done
	o.mu.Unlock()
	if done != nil {
		<-done
	}
}

// Transfer has the carrier call a number, in E.164, in place of us. It ends the stream, and with it Run, and returns when the
// carrier has the number: nobody reports how the other call goes. After an error the caller is gone (ErrLeft), unless it is
// ErrTransferring. Run must be running.
func (l *Leg) Transfer(ctx context.Context, number string) error {
	if !l.onward.begin(number) {
		return ErrTransferring
	}
	defer close(l.onward.done)
	l.sock.Close(sockets.Normal, "")
	t := time.NewTimer(onwardPatience)
	defer t.Stop()
	select {
	case <-l.onward.taken:
		return nil
	case <-t.C:
	case <-ctx.Done():
	}
	return ErrLeft
}

// next answers a carrier that asks what comes after a stream.
func (h *Handler) next(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return api.ReadError(err)
	}
	trunk, err := h.Trunk(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	d := dialects[trunk.Carrier]
	over, err := d.left(h.question(r, trunk, body))
	if err != nil {
		api.LogOf(r.Context(), h.Log).Warn("a carrier's question after a call was refused", "trunk", trunk.ID, "carrier", trunk.Carrier, "err", err)
		return api.ErrBadRequest
	}
	token := r.PathValue("token")
	r.Body = io.NopCloser(bytes.NewReader(body))
	if epoch, err := strconv.ParseInt(before(token), 10, 64); err == nil && h.Peers != nil && h.Peers.Forward(w, r, epoch) {
		return nil
	}
	document := d.over()
	if c := h.call(token, trunk); c != nil && over {
		if number := c.onward.take(); number != "" {
			document = d.redirect(number, &c.Asked)
		}
	}
	w.Header().Set("Content-Type", d.document())
	_, _ = io.WriteString(w, document) // who has gone asks no more
	return nil
}

// call is one of a trunk that is not over, by its token; nil: there is none.
func (h *Handler) call(token string, on *Trunk) *Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.calls[token]; c != nil && c.trunk.ID == on.ID {
		return c
	}
	return nil
}
