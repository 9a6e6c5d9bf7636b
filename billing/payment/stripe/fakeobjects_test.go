package stripe_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (f *fake) createCustomer(p *params) (int, doc) {
	return http.StatusOK, f.put(doc{"id": f.id("cus"), "object": "customer", "metadata": doc{"account": p.get("metadata[account]")}})
}

func (f *fake) createSession(p *params) (int, doc) {
	topup := p.get("client_reference_id")
	p.want("mode", "payment", "payment_intent_data[setup_future_usage]", "off_session", "payment_method_types[0]", "card",
		"line_items[0][quantity]", "1", "line_items[0][price_data][currency]", "usd", "adaptive_pricing[enabled]", "false",
		"metadata[topup]", topup, "payment_intent_data[metadata][topup]", topup,
		"payment_intent_data[metadata][account]", p.get("metadata[account]"),
		"line_items[0][price_data][product_data][name]", "Prepaid balance",
		"success_url", "https://parley.example/paid", "cancel_url", "https://parley.example/canceled")
	customer := p.get("customer")
	if f.objects[customer] == nil {
		return missing("customer")
	}
	id := f.id("cs_test")
	return http.StatusOK, f.put(doc{
		"id": id, "object": "checkout.session", "mode": "payment", "status": "open", "payment_status": "unpaid",
		"amount_total": p.cents("line_items[0][price_data][unit_amount]"), "currency": "usd", "customer": customer,
		"client_reference_id": topup, "metadata": doc{"account": p.get("metadata[account]"), "topup": topup},
		"payment_intent": nil, "url": "https://checkout.stripe.example/c/pay/" + id,
	})
}

func missing(param string) (int, doc) {
	return http.StatusNotFound, apiError("invalid_request_error", "resource_missing", param, "No such "+param)
}

// try is the customer's attempt on the page, with a card that is good or not.
func (f *fake) try(session string, good bool) {
	s := f.objects[session]
	if s["payment_intent"] == nil {
		pi := f.put(f.intent(s["amount_total"].(int64), s["customer"].(string), s["metadata"].(doc)))
		s["payment_intent"] = pi["id"]
	}
	pi := f.objects[s["payment_intent"].(string)]
	if !good {
		f.decline(pi, "card_declined", "generic_decline")
		return
	}
	f.put(doc{"id": f.id("pm"), "object": "payment_method", "type": "card", "customer": s["customer"]})
	s["status"], s["payment_status"] = "complete", "paid"
	f.succeed(pi)
	f.emit(f.id("evt"), "checkout.session.completed", s, 0)
	f.emit(f.id("evt"), "payment_intent.succeeded", pi, 0)
}

func (f *fake) intent(cents int64, customer string, meta doc) doc {
	return doc{
		"id": f.id("pi"), "object": "payment_intent", "amount": cents, "amount_received": int64(0), "currency": "usd",
		"customer": customer, "metadata": meta, "status": "requires_payment_method", "latest_charge": nil, "last_payment_error": nil,
		"client_secret": "pi_secret_not_for_logs",
	}
}

func (f *fake) succeed(pi doc) {
	charge := f.put(doc{"id": f.id("ch"), "object": "charge", "amount": pi["amount"], "amount_refunded": int64(0),
		"currency": "usd", "payment_intent": pi["id"]})
	pi["status"], pi["amount_received"], pi["latest_charge"], pi["last_payment_error"] = "succeeded", pi["amount"], charge["id"], nil
}

func (f *fake) decline(pi doc, code, decline string) (int, doc) {
	e := doc{"type": "card_error", "code": code, "decline_code": decline, "message": "Your card was declined."}
	pi["last_payment_error"] = maps.Clone(e)
	f.emit(f.id("evt"), "payment_intent.payment_failed", pi, 0)
	e["payment_intent"] = maps.Clone(pi)
	return http.StatusPaymentRequired, doc{"error": e}
}

// createIntent is a charge with nobody present; the cents say how it goes.
func (f *fake) createIntent(p *params) (int, doc) {
	p.want("currency", "usd", "confirm", "true", "off_session", "true", "payment_method_types[0]", "card")
	customer, card := f.objects[p.get("customer")], f.objects[p.get("payment_method")]
	meta := doc{"account": p.get("metadata[account]"), "key": p.get("metadata[key]")}
	if customer == nil || card == nil || card["customer"] != customer["id"] {
		return missing("payment_method")
	}
	cents := p.cents("amount")
	pi := f.put(f.intent(cents, customer["id"].(string), meta))
	switch cents % 100 {
	case 1:
		return f.decline(pi, "card_declined", "generic_decline")
	case 2:
		return f.decline(pi, "card_declined", "insufficient_funds")
	case 3:
		return f.decline(pi, "authentication_required", "authentication_required")
	}
	f.succeed(pi)
	evt := f.id("evt")
	switch cents % 100 {
	case 5:
		f.emit(evt, "payment_intent.succeeded", pi, time.Minute)
	case 6:
		f.emit(evt, "payment_intent.succeeded", pi, 0)
		f.emit(evt, "payment_intent.succeeded", pi, time.Second)
	case 7:
		f.emit(evt, "payment_intent.succeeded", pi, 0)
		f.emit(f.id("evt"), "payment_intent.payment_failed", pi, time.Second)
	case 8:
	default:
		f.emit(evt, "payment_intent.succeeded", pi, 0)
	}
	return http.StatusOK, pi
}

func (f *fake) createRefund(p *params) (int, doc) {
	pi := f.objects[p.get("payment_intent")]
	if pi == nil || pi["latest_charge"] == nil {
		return missing("payment_intent")
	}
	charge, cents := f.objects[pi["latest_charge"].(string)], p.cents("amount")
	left := charge["amount"].(int64) - charge["amount_refunded"].(int64)
	key := p.get("metadata[key]")
	switch {
	case left == 0:
		return http.StatusBadRequest, apiError("invalid_request_error", "charge_already_refunded", "", "Charge has already been refunded.")
	case cents > left:
		return http.StatusBadRequest, apiError("invalid_request_error", "", "amount", "Refund amount is greater than unrefunded amount on charge")
	}
	charge["amount_refunded"] = charge["amount_refunded"].(int64) + cents
	f.emit(f.id("evt"), "charge.refunded", charge, 0)
	return http.StatusOK, f.put(doc{"id": f.id("re"), "object": "refund", "amount": cents, "currency": "usd", "status": "succeeded",
		"payment_intent": pi["id"], "charge": charge["id"], "metadata": doc{"key": key}})
}

// get answers objects by id and lists by owner, expanding what is asked for.
func (f *fake) get(r *http.Request) (int, doc) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	expand := r.Form["expand[0]"]
	switch {
	case path == "payment_intents":
		return f.list("payment_intent", "customer", r.Form.Get("customer"), expand)
	case path == "payment_methods":
		return f.list("payment_method", "customer", r.Form.Get("customer"), nil)
	case path == "refunds":
		return f.list("refund", "payment_intent", r.Form.Get("payment_intent"), nil)
	}
	d := f.objects[path[strings.LastIndex(path, "/")+1:]]
	if d == nil {
		return missing("id")
	}
	return http.StatusOK, f.expanded(d, expand)
}

func (f *fake) list(object, field, owner string, expand []string) (int, doc) {
	if owner == "" || f.objects[owner] == nil {
		return missing(field)
	}
	data := []doc{}
	for _, id := range slices.Backward(f.order) {
		if d := f.objects[id]; d["object"] == object && d[field] == owner {
			data = append(data, f.expanded(d, expand))
		}
	}
	return http.StatusOK, doc{"object": "list", "has_more": false, "url": "/v1/" + object + "s", "data": data}
}

// expanded replaces ids along a dotted path by the objects they name.
func (f *fake) expanded(d doc, expand []string) doc {
	d = maps.Clone(d)
	for _, path := range expand {
		name, rest, more := strings.Cut(strings.TrimPrefix(path, "data."), ".")
		id, ok := d[name].(string)
		if !ok {
			continue
		}
		d[name] = f.objects[id]
		if more {
			d[name] = f.expanded(f.objects[id], []string{rest})
		}
	}
	return d
}
