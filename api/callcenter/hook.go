package callcenter

import (
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
)

// maxNotice bounds a webhook's body, in bytes.
const maxNotice = 256 << 10

// mountHook adds the webhook of a carrier that has one.
func (d *Numbers) mountHook(a *api.API) {
	if c, ok := d.Carrier.(carrier.Notifier); ok {
		a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
			Method: http.MethodPost, Path: "/hooks/" + c.Name(), OperationID: "receive-carrier-event", Hidden: true, MaxBodyBytes: maxNotice,
		}}, d.notice(c))
	}
}

// notice takes a webhook, which only leads to a look at the order. The answer is 2xx
// when that was done, so that the carrier tells it again otherwise.
func (d *Numbers) notice(c carrier.Notifier) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			api.WriteError(w, api.ReadError(err))
			return
		}
		reference, err := c.Notice(r.Header, body, d.Store.Now())
		if err != nil {
			d.Log.Warn("a carrier's webhook was refused", "carrier", c.Name(), "err", err)
			api.WriteError(w, api.ErrBadRequest)
			return
		}
		if reference != "" {
			n, err := ledger.New(d.Store).OrderedNumber(r.Context(), c.Name(), reference)
			if err == nil {
				err = d.attend(r.Context(), n, false)
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				d.Log.Error("a carrier's webhook could not be followed", "carrier", c.Name(), "err", err)
				api.WriteError(w, api.ErrCarrier)
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	}
}
