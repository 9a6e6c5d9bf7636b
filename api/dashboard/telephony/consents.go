package telephony

import (
	"parley/api/dashboard/page"
	"parley/api/wire"
)

const ConsentsAt = page.Home + "/consents"

func consentPages() []page.Page {
	return []page.Page{{Route: "GET " + ConsentsAt, Serve: consentsPage}}
}

// consentsView is a part of the evidence, the oldest first, as the seals go.
type consentsView struct {
	Rows []wire.Consent
	Next string
}

func consentsPage(q *page.Request) error {
	rows, next, err := page.Listed[wire.Consent](q, "/v1/consents", ConsentsAt, "cursor", "50", nil)
	return q.Show("consents", "Consents")(consentsView{rows, next}, err)
}
