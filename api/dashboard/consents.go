package dashboard

import (
	"parley/api/dashboard/page"
	"parley/api/wire"
)

const consentsAt = page.Home + "/consents"

func consentPages() []page.Page {
	return []page.Page{{Route: "GET " + consentsAt, Serve: consentsPage}}
}

// consentsView is a part of the evidence, the oldest first, as the seals go.
type consentsView struct {
	Rows []wire.Consent
	Next string
}

func consentsPage(q *page.Request) error {
	rows, next, err := page.Listed[wire.Consent](q, "/v1/consents", consentsAt, "cursor", "50", nil)
	return q.Show("consents", "Consents")(consentsView{rows, next}, err)
}
