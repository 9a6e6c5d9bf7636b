package topup

import (
	"errors"
	"io"
	"net/http"

	"parley/api"
	"parley/billing/payment"

	"parley/store/ledger"
)

// maxEvent bounds a webhook's body, in bytes; providers' own are a few thousand.
const maxEvent = 64 << 10

// receive takes a webhook. The answer is 2xx only when what it led to is stored, so
// that the provider sends it again otherwise; nothing of it is kept before.
func (d *Service) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		api.WriteError(w, api.ReadError(err))
		return
	}
	event, err := d.Provider.Event(r.Header, body, d.Store.Now())
	if err != nil {
		d.Log.Warn("a payment webhook was refused", "err", err)
		what := "the webhook cannot be read"
		if errors.Is(err, payment.ErrSignature) {
			what = "the signature is missing, wrong or too old"
		}
		api.WriteError(w, api.Bad("%s", what))
		return
	}
	if event.Kind != payment.Ignored {
		err = d.apply(r, event)
	}
	if err != nil {
		d.Log.Error("a payment event could not be applied", "event", event.ID, "kind", event.Kind, "err", err)
		api.WriteError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// apply settles what an event is about, unless that was done.
func (d *Service) apply(r *http.Request, event payment.Event) error {
	done, err := ledger.New(d.Store).EventApplied(r.Context(), d.Provider.Name(), event.ID)
	if err != nil || done {
		return err
	}
	t, err := d.look(r.Context(), event.Payment, event)
	if errors.Is(err, errForeign) {
		d.Log.Warn("a payment event is about no top-up of ours", "event", event.ID, "kind", event.Kind)
		return nil
	}
	if err == nil {
		d.Log.Info("payment", "event", event.Kind, "topup", t.ID, "account", t.Account, "state", t.State, "paid", t.Paid.String(), "refunded", t.Refunded.String())
	}
	return err
}
