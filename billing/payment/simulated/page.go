package simulated

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"

	"parley/billing"
	"parley/billing/payment"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// maxForm bounds the form, which holds one word.
const maxForm = 4 << 10

// Handler serves the payment pages; mount it at /simulated/, with that prefix left
// on. The address of a page is enough to pay there, as with the real thing.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /simulated/pay/{checkout}", p.show)
	mux.HandleFunc("POST /simulated/pay/{checkout}", p.act)
	// A foreign site must not press the buttons in a customer's browser.
	return http.NewCrossOriginProtection().Handler(mux)
}

// show is the page: buttons while the payment waits, its state afterwards.
func (p *Provider) show(w http.ResponseWriter, r *http.Request) {
	now, err := p.Payment(r.Context(), r.PathValue("checkout"))
	p.mu.Lock()
	c := p.st.Checkouts[r.PathValue("checkout")]
	p.mu.Unlock()
	if err != nil || c == nil {
		http.Error(w, "SIMULATED payments: there is no such page.", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	page.Execute(w, struct {
		Payment payment.Payment
		Amount  string
		Open    bool
		Back    string
	}{now, dollars(now.Amount), now.State == payment.Pending, c.Request.CancelURL})
}

// act presses a button. Afterwards the customer is sent on, or back to the page
// when there is more to do.
func (p *Provider) act(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	id := r.PathValue("checkout")
	var after payment.Payment
	var err error
	switch action := r.PostFormValue("action"); action {
	case "pay":
		after, err = p.Pay(id)
	case "decline":
		after, err = p.Decline(id)
	case "cancel":
		after, err = p.Cancel(id)
	default:
		http.Error(w, "SIMULATED payments: action is pay, decline or cancel.", http.StatusBadRequest)
		return
	}
	switch {
	case errors.Is(err, payment.ErrNotFound):
		http.Error(w, "SIMULATED payments: there is no such page.", http.StatusNotFound)
		return
	case err != nil:
		p.log.Error("simulated payment", "error", err)
		http.Error(w, "SIMULATED payments: that did not work.", http.StatusServiceUnavailable)
		return
	}
	p.mu.Lock()
	to := p.st.Checkouts[id].Request
	p.mu.Unlock()
	switch after.State {
	case payment.Succeeded:
		http.Redirect(w, r, to.SuccessURL, http.StatusSeeOther)
	case payment.Canceled:
		http.Redirect(w, r, to.CancelURL, http.StatusSeeOther)
	default:
		http.Redirect(w, r, r.URL.Path, http.StatusSeeOther)
	}
}

// dollars shows two decimals, as people expect of a price.
func dollars(m billing.Money) string {
	return fmt.Sprintf("%d.%02d", m/billing.USD, m%billing.USD/billing.Cent)
}
